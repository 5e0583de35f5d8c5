/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_PRELOAD_WALK_H
#define FLAM_PRELOAD_WALK_H

#include "flam-preload-memo.h"
#include "flam-unwind-loop.h"

#define PRELOAD_CACHE 2048

/* A frame, and the words that lead to its caller. */
typedef struct
{
  uint64_t pc;
  uint64_t sp;
  uint64_t bp;
  PreloadCheck ra;    /* address NULL: no caller */
  PreloadCheck saved; /* the caller's rbp; address NULL: it is in rbp */
  bool uses_bp;
  bool sp_unknown; /* FlamUnwindRegs.sp_unknown */
} PreloadStep;

/* A kept frame. */
typedef struct
{
  PreloadStep step;
  bool needs_bp; /* if not, step.bp is not valid */
  uint32_t node;
  uint32_t n_checks; /* up to this frame, from the root on */
  uint32_t python;   /* Python frames up to this one, with entries */
} PreloadFrame;

typedef struct
{
  uint64_t pc; /* 0: empty */
  FlamUnwindCode code;
} PreloadCachedRow;

typedef struct
{
  uint64_t pc;
  uint32_t parent;
  uint32_t node; /* 0: empty */
} PreloadCachedNode;

struct _PreloadStack
{
  uint32_t epoch;
  uint32_t generation; /* counts changes of epoch and top */
  uint32_t n;
  bool root;        /* frames[0] is where the thread began */
  uint32_t entered; /* frames up to the first in Python's code; 0 none */
  bool is_read;     /* the Python frames of this call are read */
  uint64_t top;     /* end of the memory with the frames; 0: unknown */
  PreloadCachedRow rows[PRELOAD_CACHE];
  PreloadCachedNode nodes[PRELOAD_CACHE];
  uint32_t limit;
  PreloadFrame *frames; /* limit, root first */
  PreloadCheck *checks; /* 2 limit + 2 */
  PreloadStep *walked;  /* limit, leaf first */
  PreloadPython python;
  PreloadMemo memos[PRELOAD_MEMOS];
};

/* Walks leaf first into `walked` and returns the number of frames. `kept` is
 * the number of kept frames that follow, `root` whether the thread's beginning
 * was reached. */
HIDDEN uint32_t preload_walk (PreloadStack *stack,
                              const FlamUnwindMemory *memory,
                              FlamUnwindRegs *regs,
                              uint32_t *kept,
                              bool *root);

#endif
