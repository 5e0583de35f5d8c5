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

/* A code object that was met. */
typedef struct _PreloadCode PreloadCode;

typedef struct
{
  bool met; /* the thread's stack has run through the interpreter */
  uint32_t n;
  uint32_t n_last;
  FlamPythonFrame *frames; /* as they are now, leaf first */
  FlamPythonFrame *last;   /* as they were when they were last kept */
  const PreloadInterpreter *interpreter;
  FlamPythonFrame chains[2][PRELOAD_PYTHON_FRAMES];
  /* Of `last`, but root first; NULL: an entry, or it cannot be read. */
  const PreloadCode *codes[PRELOAD_PYTHON_FRAMES];
} PreloadPython;

/* NULL: there is none, or its frames are not recorded. */
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

/* Reads the thread's chain as it is now. Entries that are on no stack between
 * `low` and `high` are none. */
HIDDEN void preload_python_read (PreloadPython *python,
                                 const PreloadInterpreter *interpreter,
                                 uint64_t low,
                                 uint64_t high);
/* What was read is kept. How many frames from the root on are as they were. */
HIDDEN uint32_t preload_python_keep (PreloadPython *python);
/* Whether what was read is these frames (leaf first) and codes (root first). */
HIDDEN bool preload_python_is (const PreloadPython *python,
                               const FlamPythonFrame *frames,
                               const PreloadCode *const *codes,
                               uint32_t n);
/* Where the innermost function that was read is; 0: there is none. */
static inline uint64_t
preload_python_leaf (const PreloadPython *python)
{
  uint32_t i = python->n > 1 && python->frames[0].code == 0;

  return python->n > 0 ? python->frames[i].pc : 0;
}

/* Of what is kept: where the next run's native frame is; 0: no more. `taken`
 * counts frames from the root on. */
static inline uint64_t
preload_python_next (const PreloadPython *python, uint32_t taken)
{
  const FlamPythonFrame *frame = &python->last[python->n_last - 1 - taken];

  return taken < python->n_last && frame->code == 0 ? frame->pc : 0;
}

/* The next frame of that run, outermost first, as its location, which stands
 * for its pc; 0: the run is over. */
HIDDEN uint64_t preload_python_take (PreloadPython *python, uint32_t *taken);

/* Pcs that are none: a Python frame's. */
static inline bool
preload_is_python (uint64_t pc)
{
  return pc >> 63 != 0;
}
