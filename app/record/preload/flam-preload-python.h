/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_PRELOAD_PYTHON_H
#define FLAM_PRELOAD_PYTHON_H

/* The Python frames of the calling thread, in the interpreter's memory.
 *
 *   leaf first, as in the interpreter; a bar is an entry:
 *
 *   key | rank main <module> |        taken from the right, run by run, as the
 *         ◀────── taken ──────        stack is gone through from the root on
 *
 * A thread reads only its own chain: no other thread changes it, and it is
 * consistent whenever the interpreter calls malloc. */

#include "flam-preload.h"
#include "flam-python-frames.h"

#define PRELOAD_PYTHON_FRAMES 4096

/* An interpreter: found when a stack first runs through its code. */
typedef struct
{
  FlamPythonLayout layout;
  void *(*this_thread) (void);
  uint64_t start; /* the whole mapping of its file */
  uint64_t end;
  uint64_t code; /* the code in which it was found */
  uint32_t module;
  bool late; /* it may be unloaded */
} PreloadInterpreter;

/* A known code object. */
typedef struct _PreloadCode PreloadCode;

typedef struct
{
  bool met; /* the thread's stack has run through the interpreter */
  uint32_t n;
  uint32_t n_last;
  FlamPythonFrame *frames; /* the current ones, leaf first */
  FlamPythonFrame *last;   /* the ones at the last preload_python_keep() */
  const PreloadInterpreter *interpreter;
  FlamPythonFrame chains[2][PRELOAD_PYTHON_FRAMES];
  /* Of `last`, but root first; NULL: an entry, or an unreadable object. */
  const PreloadCode *codes[PRELOAD_PYTHON_FRAMES];
} PreloadPython;

/* NULL: there is none, or its frames are not recorded. */
HIDDEN extern PreloadInterpreter *_Atomic preload_interpreter;
/* Searches a module for Python, when a stack first runs through it. */
HIDDEN void preload_python_meet (const PreloadModule *module);
/* Called before and after dlclose() and the following refresh: in between, no
 * code that might be unloaded is called. */
HIDDEN void preload_python_may_go (void);
HIDDEN void preload_python_may_stay (void);
/* A forked child writes into another file. */
HIDDEN void preload_python_reset (void);
/* Whether code that may be unloaded can be called at this moment. */
HIDDEN bool preload_python_is_safe (void);

/* Reads the thread's current chain. Entries that are on no stack between `low`
 * and `high` are skipped. */
HIDDEN void preload_python_read (PreloadPython *python,
                                 const PreloadInterpreter *interpreter,
                                 uint64_t low,
                                 uint64_t high);
/* Keeps the frames that were read. Returns how many from the root are
 * unchanged. */
HIDDEN uint32_t preload_python_keep (PreloadPython *python);
/* Whether the frames that were read are these (leaf first; codes root
 * first). */
HIDDEN bool preload_python_is (const PreloadPython *python,
                               const FlamPythonFrame *frames,
                               const PreloadCode *const *codes,
                               uint32_t n);
/* The innermost function that was read; 0: there is none. */
static inline uint64_t
preload_python_leaf (const PreloadPython *python)
{
  uint32_t i = python->n > 1 && python->frames[0].code == 0;

  return python->n > 0 ? python->frames[i].pc : 0;
}

/* In the kept frames: the native frame of the next run; 0: no more runs.
 * `taken` counts frames from the root on. */
static inline uint64_t
preload_python_next (const PreloadPython *python, uint32_t taken)
{
  const FlamPythonFrame *frame = &python->last[python->n_last - 1 - taken];

  return taken < python->n_last && frame->code == 0 ? frame->pc : 0;
}

/* The next frame of that run, outermost first, as a location, which is used
 * like a pc; 0: the run is over. */
HIDDEN uint64_t preload_python_take (PreloadPython *python, uint32_t *taken);

/* Whether a pc is the location of a Python frame. */
static inline bool
preload_is_python (uint64_t pc)
{
  return pc >> 63 != 0;
}

#endif
