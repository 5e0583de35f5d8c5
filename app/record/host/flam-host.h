/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HOST_H
#define FLAM_HOST_H

/* Recording on another machine, or in a container: the same program, options,
 * control line, output file and exit status as of a recording here.
 *
 *   flambeau-cli, window      here                        there
 *   ---- options, control --> flam-host == flam-wire == flam-relay
 *                                │          (ssh)           │
 *                             OUT.flambeau              recorder -> capture
 *
 * The recorder is copied there first, unless it has been before: into
 * ~/.cache/flambeau/recorder-HASH. */

#include "flam-control.h"
#include "flam-record-options.h"

/* The exit status; errors have been reported. `options->host` is set. */
int flam_host_record (FlamRecordOptions *options, FlamControl *control);
/* Removes the recorders that were copied there. */
int flam_host_remove_recorder (const FlamRecordOptions *options,
                               FlamControl *control);

#endif
