/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-walk.h"

#define MAPS_PAUSE (500 * 1000ll) /* ns */

static FlamWalk
walk (FlamSampler *sampler, FlamMessage *message)
{
  FlamView *view = message->target->view;
  FlamUnwindMemory memory = { .copy = flam_message_stack (message),
                              .base = message->regs[FLAM_UNWIND_RSP],
                              .size = flam_message_stack_size (message) };
  gboolean asleep = message->kind == FLAM_MESSAGE_ASLEEP;
  FlamUnwindRegs regs = {
    .pc = message->regs[FLAM_UNWIND_RIP],
    .sp = message->regs[FLAM_UNWIND_RSP],
    .bp = message->regs[FLAM_UNWIND_RBP],
    .bx = message->regs[FLAM_UNWIND_RBX],
    .bx_state = asleep ? 0 : 1,
    .all = asleep ? NULL : message->regs,
    .bp_unknown = asleep,
  };
  FlamWalk result;

  result.n = flam_unwind_walk (view->space,
                               sampler->cache,
                               &memory,
                               &regs,
                               sampler->pcs,
                               sampler->sps,
                               FLAM_FRAMES_MAX,
                               &result.end);
  result.last_sp = regs.sp;
  return result;
}

static gboolean
runs_out_of_the_map (FlamSampler *sampler,
                     FlamView *view,
                     const FlamWalk *walked)
{
  return walked->end != FLAM_UNWIND_ROOT && walked->n > 0 &&
         flam_unwind_space_find (view->space, sampler->pcs[walked->n - 1]) ==
             NULL;
}

/* A root that would be none if the map were old: whether it is one is asked
 * once for each place. Where the process is gone, nobody knows. */
static FlamWalk
believe_root (FlamSampler *sampler, FlamMessage *message, FlamWalk walked)
{
  FlamView *view = message->target->view;
  gpointer pc = GSIZE_TO_POINTER (sampler->pcs[walked.n - 1]);

  if (!g_hash_table_contains (view->roots, pc))
    {
      if (flam_view_refresh (view, sampler->codes, sampler->now))
        walked = walk (sampler, message);
      if (walked.end == FLAM_UNWIND_HANDMADE && view->gone)
        walked.end = FLAM_UNWIND_BAD;
    }
  if (walked.end == FLAM_UNWIND_HANDMADE)
    {
      g_hash_table_add (view->roots,
                        GSIZE_TO_POINTER (sampler->pcs[walked.n - 1]));
      walked.end = FLAM_UNWIND_ROOT;
    }
  return walked;
}

/* Walks, and once more when maps turn out to be old. Where looking again did
 * not help, the pause until the next look doubles. */
FlamWalk
flam_walk_message (FlamSampler *sampler, FlamMessage *message)
{
  FlamView *view = message->target->view;
  FlamWalk walked;

  if (view->read_at < 0 || sampler->now - view->read_at > view->every)
    flam_view_refresh (view, sampler->codes, sampler->now);
  walked = walk (sampler, message);
  if (walked.end == FLAM_UNWIND_HANDMADE)
    return believe_root (sampler, message, walked);
  if ((walked.end != FLAM_UNWIND_BAD &&
       !runs_out_of_the_map (sampler, view, &walked)) ||
      sampler->now - view->read_at < view->pause)
    return walked;
  if (!flam_view_refresh (view, sampler->codes, sampler->now))
    {
      view->pause = MIN (2 * view->pause + MAPS_PAUSE, view->every);
      return walked;
    }
  view->pause = 0;
  walked = walk (sampler, message);
  return walked.end == FLAM_UNWIND_HANDMADE
             ? believe_root (sampler, message, walked)
             : walked;
}
