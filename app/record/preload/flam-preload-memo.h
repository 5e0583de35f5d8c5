/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_PRELOAD_MEMO_H
#define FLAM_PRELOAD_MEMO_H

/* Known stacks: a loop calls from the same few places again and again.
 *
 *   pc, sp and Python position of a call ──hash──▶ one memo
 *
 *   memo    pc sp rbp            of the call
 *           checks               every word on the stack that led from there to
 *                                the root: address and value
 *           python, codes        the Python frames
 *           node                 the resulting node
 *
 * A memo is valid if each of its words and frames is unchanged, which a short
 * loop checks without a look-up. A stack that does not fit into a memo is
 * unwound every time. */

#include "flam-preload-python.h"

/* A word on the stack, and its earlier value. */
typedef struct
{
  const uint64_t *address;
  uint64_t value;
} PreloadCheck;

/* Returned as a number, so that several can be combined without branches. */
static inline uint32_t
preload_check (const PreloadCheck *check)
{
  return *check->address == check->value;
}

/* The number of checks, from the root on, up to and including the last one that
 * fails; 0: none fails. */
static inline uint32_t
preload_check_all (const PreloadCheck *checks, uint32_t n)
{
  while (n >= 4 &&
         preload_check (&checks[n - 1]) & preload_check (&checks[n - 2]) &
             preload_check (&checks[n - 3]) & preload_check (&checks[n - 4]))
    n -= 4;
  while (n > 0 && preload_check (&checks[n - 1]))
    n--;
  return n;
}

#define PRELOAD_MEMOS 256
#define PRELOAD_MEMO_CHECKS 128
#define PRELOAD_MEMO_PYTHON 32

/* The position of a call. */
typedef struct
{
  uint64_t pc;
  uint64_t sp;
  uint64_t bp;
  uint32_t generation; /* another number means other code or another stack */
  const PreloadPython *python; /* the current frames; NULL: none */
} PreloadCall;

typedef struct
{
  uint64_t pc;
  uint64_t sp;
  uint64_t bp;
  const PreloadInterpreter *interpreter; /* NULL: no Python */
  uint32_t generation;
  uint32_t node;
  bool needs_bp; /* otherwise rbp is not compared */
  uint32_t n_checks;
  uint32_t n_python;
  PreloadCheck checks[PRELOAD_MEMO_CHECKS];
  FlamPythonFrame python[PRELOAD_MEMO_PYTHON];
  const PreloadCode *codes[PRELOAD_MEMO_PYTHON];
} PreloadMemo;

/* The memo for such a call, whether it is valid or not. */
HIDDEN PreloadMemo *preload_memo_of (PreloadMemo memos[PRELOAD_MEMOS],
                                     const PreloadCall *call);
HIDDEN bool preload_memo_holds (const PreloadMemo *memo,
                                const PreloadCall *call);
/* Called when the call's stack has been followed to its root. */
HIDDEN void preload_memo_set (PreloadMemo *memo,
                              const PreloadCall *call,
                              const PreloadCheck *checks,
                              uint32_t n_checks,
                              bool needs_bp,
                              uint32_t node);

#endif
