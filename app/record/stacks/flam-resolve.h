/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* At the end of a recording: functions, inlined ones and lines of every
 * address that was sampled go into the capture, so that it stays true after
 * the program is rebuilt, and on another machine. Of libraries whose debug
 * files were installed by packages only the functions are written: reading
 * those files takes longer than all the rest, and whoever opens the capture
 * finds them by build id. */

#include "flam-binary-table.h"

/* `origin`: CLOCK_MONOTONIC of the recording's time 0. */
void
flam_resolve (FlamBuilder *builder, FlamBinaryTable *binaries, gint64 origin);
