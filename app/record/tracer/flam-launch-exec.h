/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Programs that begin under the tracer: the one that is launched or attached
 * to, and whatever a process becomes by exec. */

#include "flam-tracer-state.h"

/* Launches or attaches; the calling thread must call flam_tracer_run() too. */
gboolean flam_launch_exec_start (FlamTracer *tracer, GError **error);
/* The recording of what was attached to begins now. */
void flam_launch_exec_begin_attached (FlamTracer *tracer);
/* `task` has stopped for a sample: reports what is mapped, if that is new and
 * its program is young. */
void flam_launch_exec_look (FlamTracer *tracer, FlamTask *task);
/* `task` has stopped in exec. */
void flam_launch_exec_exec (FlamTracer *tracer, FlamTask *task);
