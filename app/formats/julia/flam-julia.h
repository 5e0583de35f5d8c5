/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_JULIA_H
#define FLAM_JULIA_H

#include "flam-core-profile.h"

#include <string.h>

/* A thread's name is this text and its number, counted from 1. */
#define FLAM_JULIA_THREAD "thread "
/* The key of the label of samples with a known task; its value is the task's
 * address, "0x7f00…". */
#define FLAM_JULIA_TASK "task"

/* The FlamStatus bits of a frame by its name alone, as in FlameGraphs.jl;
 * Julia's libraries use C names with and without the "i". */
static inline guint
flam_julia_status (const char *function, const char *file, gboolean from_c)
{
  const char *name =
      g_str_has_prefix (function, "ijl_") ? function + 1 : function;

  if (!from_c)
    return strcmp (function, "eval_user_input") == 0 &&
                   g_str_has_suffix (file, "REPL.jl")
               ? FLAM_STATUS_REPL
               : 0;
  if (strcmp (name, "jl_invoke") == 0 || strcmp (name, "jl_apply_generic") == 0)
    return FLAM_STATUS_DISPATCH;
  return g_str_has_prefix (name, "jl_gc_") ? FLAM_STATUS_GC : 0;
}

#endif
