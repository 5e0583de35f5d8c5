/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-preload-memo.h"

#include <string.h>

/* Few native functions are leaves of Python's evaluation loop, so the current
 * Python line distinguishes calls better. */
PreloadMemo *
preload_memo_of (PreloadMemo memos[PRELOAD_MEMOS], const PreloadCall *call)
{
  uint64_t hash =
      call->pc * 0x9e3779b97f4a7c15ull + call->sp * 0xd6e8feb86659fd93ull;

  if (call->python != NULL)
    hash += preload_python_leaf (call->python) * 0xa0761d6478bd642full;
  return &memos[(hash >> 40) % PRELOAD_MEMOS];
}

bool
preload_memo_holds (const PreloadMemo *memo, const PreloadCall *call)
{
  const PreloadPython *python = call->python;

  return memo->generation == call->generation && memo->pc == call->pc &&
         memo->sp == call->sp && (memo->bp == call->bp || !memo->needs_bp) &&
         memo->interpreter == (python ? python->interpreter : NULL) &&
         preload_check_all (memo->checks, memo->n_checks) == 0 &&
         (python == NULL ||
          preload_python_is (
              python, memo->python, memo->codes, memo->n_python));
}

void
preload_memo_set (PreloadMemo *memo,
                  const PreloadCall *call,
                  const PreloadCheck *checks,
                  uint32_t n_checks,
                  bool needs_bp,
                  uint32_t node)
{
  const PreloadPython *python = call->python;
  uint32_t n_python = python != NULL ? python->n_last : 0;

  if (n_checks > PRELOAD_MEMO_CHECKS || n_python > PRELOAD_MEMO_PYTHON)
    return;
  memo->pc = call->pc;
  memo->sp = call->sp;
  memo->bp = call->bp;
  memo->generation = call->generation;
  memo->interpreter = python != NULL ? python->interpreter : NULL;
  memo->node = node;
  memo->needs_bp = needs_bp;
  memo->n_checks = n_checks;
  memo->n_python = n_python;
  memcpy (memo->checks, checks, n_checks * sizeof *checks);
  if (n_python > 0)
    {
      memcpy (memo->python, python->last, n_python * sizeof *memo->python);
      memcpy (memo->codes, python->codes, n_python * sizeof *memo->codes);
    }
}
