/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HOST_READ_H
#define FLAM_HOST_READ_H

/* What can be read on another machine without a recording. Both return an exit
 * status; errors have been reported. */

#include "flam-record-options.h"

/* Prints the processes of options->host, or of this machine (flam-process-
 * table.h). */
int flam_host_list (const FlamRecordOptions *options);
/* Copies the regular file options->fetch of options->host, of at most
 * FLAM_FETCH_MAX bytes, to options->output. */
int flam_host_fetch (const FlamRecordOptions *options);

#define FLAM_FETCH_MAX (16 << 20)

#endif
