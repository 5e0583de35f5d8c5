/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PROCESS_TABLE_H
#define FLAM_PROCESS_TABLE_H

/* The processes of this machine, from /proc, and whether attaching to them is
 * permitted. */

#include "flam-process-line.h"

/* Prints them in the format of flam-process-line.h, kernel threads and this
 * process left out; takes 300 ms, the time over which the shares of the CPU are
 * measured. `every`: again each so many seconds, until nobody reads them; 0:
 * once. FALSE: /proc cannot be read. */
gboolean flam_process_table_print (double every, GError **error);

#endif
