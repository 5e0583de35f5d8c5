/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-walk.h"

#include <string.h>

#include "flam-waits.h"

#define MAPS_PAUSE (500 * 1000ll) /* ns */

/* Belongs to the other stack in the message. */
static bool
read_other (void *data, uint64_t address, uint64_t *value)
{
  FlamMessage *message = data;
  guint64 at = address - message->other_sp;

  if (at >= message->n_other || message->n_other - at < 8)
    return false;
  memcpy (value,
          (const char *)flam_message_stack (message) +
              flam_message_stack_size (message) + at,
          8);
  return true;
}

/* The walk ended where a handler interrupted another stack: the address of that
 * stack's pointer. */
static void
find_interrupted (FlamSampler *sampler,
                  FlamMessage *message,
                  const FlamWalk *walked)
{
  guint64 sp = message->regs[FLAM_UNWIND_SP], saved, at, value;

  if (walked->n < 2 || message->n_other > 0 ||
      walked->last_sp - sp < flam_message_stack_size (message))
    return;
  saved = sampler->sps[walked->n - 2] + FLAM_UNWIND_SAVED_SP;
  at = saved - sp;
  if (at >= flam_message_stack_size (message) ||
      flam_message_stack_size (message) - at < 8)
    return;
  memcpy (&value, (const char *)flam_message_stack (message) + at, 8);
  if (value == walked->last_sp)
    g_atomic_pointer_set (&message->task->hint_interrupted, saved);
}

static FlamUnwindMemory
memory_of (FlamMessage *message)
{
  return (FlamUnwindMemory){ .copy = flam_message_stack (message),
                             .base = message->regs[FLAM_UNWIND_SP],
                             .size = flam_message_stack_size (message),
                             .read = message->n_other > 0 ? read_other : NULL,
                             .data = message };
}

static FlamWalk
walk (FlamSampler *sampler, FlamMessage *message)
{
  FlamProcessMap *map = message->target->map;
  FlamUnwindMemory memory = memory_of (message);
  gboolean asleep = message->kind == FLAM_MESSAGE_ASLEEP;
  FlamUnwindRegs regs = {
    .pc = message->regs[FLAM_UNWIND_PC],
    .sp = message->regs[FLAM_UNWIND_SP],
    .bp = message->regs[FLAM_UNWIND_FP],
    .bx = message->regs[FLAM_UNWIND_BX],
    .bx_state = asleep ? 0 : 1,
    .all = asleep ? NULL : message->regs,
    .bp_unknown = asleep,
  };
  FlamWalk result = { 0 };

  if (asleep)
    regs.bp_unknown =
        !flam_waits_find (message->task->waits, &memory, regs.pc, &regs.bp);
  else if (message->state != FLAM_STATE_RUNNING)
    flam_waits_keep (&message->task->waits, &memory, regs.pc, regs.bp);
  if (sampler->stepper != NULL)
    {
      flam_runtime_stepper_begin (sampler->stepper,
                                  map->names,
                                  message->task->tid,
                                  message->limited,
                                  flam_message_items (message),
                                  message->n_items);
      flam_unwind_space_set_managed (
          map->space, flam_runtime_stepper_step, sampler->stepper);
    }
  result.n = flam_unwind_walk (map->space,
                               sampler->cache,
                               &memory,
                               &regs,
                               sampler->pcs,
                               sampler->sps,
                               FLAM_FRAMES_MAX,
                               &result.end);
  result.last_sp = regs.sp;
  if (!flam_unwind_is_root (result.end))
    find_interrupted (sampler, message, &result);
  return result;
}

static gboolean
runs_out_of_the_map (FlamSampler *sampler,
                     FlamProcessMap *map,
                     const FlamWalk *walked)
{
  return walked->end != FLAM_UNWIND_ROOT && walked->n > 0 &&
         flam_unwind_space_find (map->space, sampler->pcs[walked->n - 1]) ==
             NULL;
}

/* A root that would not be one if the map were old: each such place is checked
 * once. If the process has ended, it cannot be checked and is not accepted. */
static FlamWalk
believe_root (FlamSampler *sampler, FlamMessage *message, FlamWalk walked)
{
  FlamProcessMap *map = message->target->map;
  gpointer pc = GSIZE_TO_POINTER (sampler->pcs[walked.n - 1]);

  if (!g_hash_table_contains (map->roots, pc))
    {
      if (flam_process_map_refresh (map, sampler->binaries, sampler->now))
        walked = walk (sampler, message);
      if (walked.end == FLAM_UNWIND_HANDMADE && map->gone)
        walked.end = FLAM_UNWIND_BAD;
    }
  if (walked.end == FLAM_UNWIND_HANDMADE)
    {
      g_hash_table_add (map->roots,
                        GSIZE_TO_POINTER (sampler->pcs[walked.n - 1]));
      walked.end = FLAM_UNWIND_ROOT;
    }
  return walked;
}

/* Walks, and walks again if the maps turn out to be old. If reading them again
 * did not help, the pause until the next read doubles. */
static FlamWalk
walk_with_maps (FlamSampler *sampler, FlamMessage *message)
{
  FlamProcessMap *map = message->target->map;
  FlamWalk walked;

  if (map->read_at < 0 || sampler->now - map->read_at > map->every)
    flam_process_map_refresh (map, sampler->binaries, sampler->now);
  walked = walk (sampler, message);
  if (walked.end == FLAM_UNWIND_HANDMADE)
    return believe_root (sampler, message, walked);
  if ((walked.end != FLAM_UNWIND_BAD &&
       !runs_out_of_the_map (sampler, map, &walked)) ||
      sampler->now - map->read_at < map->pause)
    return walked;
  if (!flam_process_map_refresh (map, sampler->binaries, sampler->now))
    {
      map->pause = MIN (2 * map->pause + MAPS_PAUSE, map->every);
      return walked;
    }
  map->pause = 0;
  walked = walk (sampler, message);
  return walked.end == FLAM_UNWIND_HANDMADE
             ? believe_root (sampler, message, walked)
             : walked;
}

FlamWalk
flam_walk_message (FlamSampler *sampler, FlamMessage *message)
{
  FlamUnwindMemory memory = memory_of (message);
  FlamWalk walked = { .end = FLAM_UNWIND_ROOT };

  if (message->kernel_only)
    return walked;
  walked = walk_with_maps (sampler, message);

  if (sampler->stepper != NULL)
    walked.managed = flam_runtime_stepper_end (sampler->stepper,
                                               message->target->map->names,
                                               &memory,
                                               &walked.n_managed);
  return walked;
}
