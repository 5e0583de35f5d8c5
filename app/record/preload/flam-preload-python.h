/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The Python frames of the calling thread, in the interpreter's own memory.
 *
 *   leaf first, as the interpreter has them; a bar is an entry:
 *
 *   key | rank main <module> |        taken from the right, run by run, as the
 *         ◀────── taken ──────        stack is gone through from the root on
 *
 * A thread looks only at its own chain: nobody else changes it, and it is whole
 * whenever the interpreter calls malloc. */

#include "flam-preload.h"
#include "flam-python-frames.h"

#define PRELOAD_PYTHON_FRAMES 4096

/* An interpreter: found when a stack first runs through its code. */
typedef struct
{
  FlamPythonLayout layout;
  void *(*this_thread) (void);
  uint64_t start; /* all that is mapped of its file */
  uint64_t end;
  uint64_t code; /* there it was met */
  uint32_t module;
  bool late; /* it may be unloaded */
} PreloadInterpreter;

typedef struct
{
  bool met; /* the thread's stack has run through the interpreter */
  uint32_t n;
  uint32_t same; /* so many from the root on are as they were the last time */
  const FlamPythonFrame *frames; /* leaf first */
  const PreloadInterpreter *interpreter;
  uint32_t turn;
  FlamPythonFrame chains[2][PRELOAD_PYTHON_FRAMES]; /* now and last */
} PreloadPython;

/* NULL: there is none, or its frames are not wanted. */
HIDDEN extern PreloadInterpreter *_Atomic preload_interpreter;
/* A stack runs through a module for the first time: is Python in it? */
HIDDEN void preload_python_meet (const PreloadModule *module);
/* Around dlclose() and the look at what is left: until then nothing is called
 * that might be gone. */
HIDDEN void preload_python_may_go (void);
HIDDEN void preload_python_may_stay (void);
/* A forked child writes into a file of its own. */
HIDDEN void preload_python_reset (void);
/* Whether code that may be unloaded can be called now. */
HIDDEN bool preload_python_is_safe (void);

/* The thread's chain as it is now. Entries that are on no stack between `low`
 * and `high` are none. */
HIDDEN void preload_python_read (PreloadPython *python,
                                 const PreloadInterpreter *interpreter,
                                 uint64_t low,
                                 uint64_t high);
/* Where the next run's native frame is; 0: no more. `taken` counts frames from
 * the root on. */
HIDDEN uint64_t preload_python_next (const PreloadPython *python,
                                     uint32_t taken);
/* The next frame of that run, outermost first, as its place, which stands for
 * its pc; 0: the run is over. */
HIDDEN uint64_t preload_python_take (const PreloadPython *python,
                                     uint32_t *taken);

/* Pcs that are none: a Python frame's. */
static inline bool
preload_is_python (uint64_t pc)
{
  return pc >> 63 != 0;
}
