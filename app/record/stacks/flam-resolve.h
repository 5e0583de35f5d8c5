/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RESOLVE_H
#define FLAM_RESOLVE_H

/* At the end of a recording: functions, inlined functions and lines of every
 * sampled address are written into the capture, so that it stays correct after
 * the program is rebuilt, and on another machine. For libraries whose debug
 * files were installed by packages only the functions are written: reading
 * those files takes longer than all the rest, and they are found by build id
 * when the capture is opened. */

#include "flam-binary-table.h"

/* `origin`: CLOCK_MONOTONIC of the recording's time 0. */
void
flam_resolve (FlamBuilder *builder, FlamBinaryTable *binaries, gint64 origin);

#endif
