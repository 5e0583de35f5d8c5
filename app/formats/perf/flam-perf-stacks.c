/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-stacks.h"
#include "flam-unwind-rows.h"

#include "flam-load.h"

#define CACHE_BITS 14
/* enum perf_callchain_context: values from here on are marks in a chain. */
#define CONTEXT_FIRST ((guint64)-4095)
#define CONTEXT_USER ((guint64)-512)
#define CONTEXT_KERNEL ((guint64)-128)
#define CONTEXT_HYPERVISOR ((guint64)-32)

/* The kernel's place among the generations of address spaces. */
#define OF_KERNEL G_MAXUINT64

/* The frame of an address in a space, valid for the space's generation. */
typedef struct
{
  guint64 pc;
  guint64 generation;
  FlamFrameId frame;
} Entry;

struct _FlamPerfStacks
{
  FlamBuilder *builder;
  FlamPerfModules *modules;
  FlamUnwindCache *cache;
  Entry *entries;
  FlamId unknown; /* the frame "[unknown]" */
  gboolean can_unwind;
  GArray *frames; /* FlamId, leaf first: of the current sample */
  guint64 *pcs;
  guint64 n_truncated;
  guint64 n_foreign; /* copied stacks of other processors */
  guint64 time; /* of the current sample, if jitdumps have the same clock */
};

FlamPerfStacks *
flam_perf_stacks_new (const FlamPerfFile *file,
                      FlamLoad *load,
                      FlamPerfModules *modules)
{
  FlamPerfStacks *stacks = flam_arena_new (load, FlamPerfStacks);

  stacks->builder = load->builder;
  stacks->modules = modules;
  stacks->cache =
      flam_arena_keep (load, flam_unwind_cache_new (), flam_unwind_cache_free);
  stacks->entries = flam_arena_vector (load, Entry, 1 << CACHE_BITS);
  stacks->unknown = FLAM_NONE;
  stacks->can_unwind =
      !file->swap && (!file->arch || g_str_equal (file->arch, "x86_64"));
  stacks->frames = flam_arena_array (load, FlamId);
  stacks->pcs = flam_arena_vector (load, guint64, FLAM_UNWIND_DEFAULT_LIMIT);
  return stacks;
}

guint64
flam_perf_stacks_n_truncated (const FlamPerfStacks *stacks)
{
  return stacks->n_truncated;
}

guint64
flam_perf_stacks_n_foreign (const FlamPerfStacks *stacks)
{
  return stacks->n_foreign;
}

/* --- frames -------------------------------------------------------------- */

static FlamFrameId
unknown_frame (FlamPerfStacks *stacks)
{
  FlamBuilder *builder = stacks->builder;

  if (stacks->unknown == FLAM_NONE)
    stacks->unknown = flam_builder_frame_of (
        builder, &(FlamFunction){ .module = FLAM_NONE }, 0, 0, 0);
  return stacks->unknown;
}

/* `stays`: the frame does not depend on the time. */
static FlamFrameId
find_frame (FlamPerfStacks *stacks,
            FlamUnwindSpace *space,
            guint64 pc,
            gboolean *stays)
{
  const FlamUnwindMap *found = flam_unwind_space_find (space, pc);
  FlamPerfModule *module = found ? found->user : NULL;

  *stays = !module || !module->jitdump;
  if (!module)
    return unknown_frame (stacks);
  if (module->kind == FLAM_PERF_MODULE_FILE ||
      module->kind == FLAM_PERF_MODULE_VDSO)
    pc += found->offset - found->start;
  return flam_perf_modules_frame (stacks->modules, module, pc, stacks->time);
}

static void
add_frame (FlamPerfStacks *stacks, FlamFrameId frame)
{
  GArray *frames = stacks->frames;

  if (frame == stacks->unknown && frames->len > 0 &&
      g_array_index (frames, FlamId, frames->len - 1) == frame)
    return;
  g_array_append_val (frames, frame);
}

static Entry *
find_entry (FlamPerfStacks *stacks, guint64 pc, guint64 generation)
{
  guint64 hash = flam_hash_mix (pc, generation);

  return &stacks->entries[hash >> (64 - CACHE_BITS)];
}

static void
add_user (FlamPerfStacks *stacks, FlamUnwindSpace *space, guint64 pc)
{
  guint64 generation = flam_unwind_space_generation (space);
  Entry *entry = find_entry (stacks, pc, generation);

  if (entry->pc != pc || entry->generation != generation)
    {
      gboolean stays;
      FlamFrameId frame = find_frame (stacks, space, pc, &stays);
      *entry = (Entry){ pc, stays ? generation : 0, frame };
    }
  add_frame (stacks, entry->frame);
}

static void
add_kernel (FlamPerfStacks *stacks, guint64 pc)
{
  Entry *entry = find_entry (stacks, pc, OF_KERNEL);

  if (entry->pc != pc || entry->generation != OF_KERNEL)
    {
      FlamPerfModule *kernel = flam_perf_modules_kernel (stacks->modules);
      FlamFrameId frame =
          flam_perf_modules_frame (stacks->modules, kernel, pc, stacks->time);
      *entry = (Entry){ pc, OF_KERNEL, frame };
    }
  add_frame (stacks, entry->frame);
}

static void
add_by_mode (FlamPerfStacks *stacks,
             FlamUnwindSpace *space,
             guint mode,
             guint64 pc)
{
  if (mode == FLAM_PERF_MISC_USER)
    add_user (stacks, space, pc);
  else if (mode == FLAM_PERF_MISC_KERNEL)
    add_kernel (stacks, pc);
  else
    add_frame (stacks, unknown_frame (stacks));
}

static guint
mode_of_mark (guint64 mark)
{
  if (mark == CONTEXT_KERNEL || mark == CONTEXT_HYPERVISOR)
    return FLAM_PERF_MISC_KERNEL;
  return mark == CONTEXT_USER ? FLAM_PERF_MISC_USER : 0;
}

/* The calls that the processor itself records (--call-graph lbr), newest first:
 * the target of the last one, and the origin of each. The place within the last
 * function is not recorded, so the leaf is at its function's first line, as in
 * perf. Source: perf's resolve_lbr_callchain_sample(). */
static void
add_branches (FlamPerfStacks *stacks,
              FlamUnwindSpace *space,
              const FlamPerfSample *sample)
{
  for (guint64 i = 0; i < sample->n_branches; i++)
    {
      const guint8 *from = sample->branches + FLAM_PERF_BRANCH_SIZE * i;
      const guint8 *to = from + 8;

      if (i == 0)
        add_user (stacks, space, flam_perf_u64 (to, sample->swap));
      add_user (stacks, space, flam_perf_u64 (from, sample->swap));
    }
}

/* They replace the user part of the chain, and are left out if it has none. */
static gboolean
has_branches (const FlamPerfEvent *event, const FlamPerfSample *sample)
{
  return (event->branch_type & FLAM_PERF_BRANCH_CALL_STACK) != 0 &&
         sample->n_branches > 0;
}

/* The first address after a mark is the instruction pointer, the others are
 * return addresses. */
static void
add_chain (FlamPerfStacks *stacks,
           FlamUnwindSpace *space,
           const FlamPerfEvent *event,
           const FlamPerfSample *sample,
           guint mode,
           gboolean with_user)
{
  gboolean exact = TRUE;

  for (guint64 i = 0; i < sample->n_chain; i++)
    {
      guint64 ip = flam_perf_u64 (sample->chain + 8 * i, sample->swap);

      if (ip >= CONTEXT_FIRST)
        {
          mode = mode_of_mark (ip);
          exact = TRUE;
          if (mode == FLAM_PERF_MISC_USER && has_branches (event, sample))
            {
              add_branches (stacks, space, sample);
              return;
            }
          continue;
        }
      if (mode != FLAM_PERF_MISC_USER || with_user)
        add_by_mode (stacks, space, mode, ip - !exact);
      exact = FALSE;
    }
}

/* --- copied stacks ------------------------------------------------------- */

enum
{
  REGS_NEEDED = 7 << 6, /* rbp, rsp, rip */
};

static gboolean
has_copied_stack (const FlamPerfStacks *stacks,
                  const FlamPerfEvent *event,
                  const FlamPerfSample *sample)
{
  return stacks->can_unwind && sample->has_regs &&
         (event->regs_user & REGS_NEEDED) == REGS_NEEDED &&
         (event->sample_type & FLAM_PERF_STACK_USER);
}

static void
add_copied (FlamPerfStacks *stacks,
            FlamUnwindSpace *space,
            const FlamPerfEvent *event,
            const FlamPerfSample *sample)
{
  FlamUnwindMemory memory = { sample->stack,
                              sample->regs[FLAM_UNWIND_SP],
                              sample->stack ? sample->stack_size : 0 };
  FlamUnwindRegs regs = {
    .pc = sample->regs[FLAM_UNWIND_PC],
    .sp = sample->regs[FLAM_UNWIND_SP],
    .bp = sample->regs[FLAM_UNWIND_FP],
    .all = (event->regs_user & FLAM_UNWIND_PERF_MASK) == FLAM_UNWIND_PERF_MASK
               ? sample->regs
               : NULL,
  };
  FlamUnwindEnd end;
  gsize n = flam_unwind_walk (space,
                              stacks->cache,
                              &memory,
                              &regs,
                              stacks->pcs,
                              NULL,
                              FLAM_UNWIND_DEFAULT_LIMIT,
                              &end);

  for (gsize i = 0; i < n; i++)
    add_user (stacks, space, stacks->pcs[i]);
  if (!flam_unwind_is_root (end))
    stacks->n_truncated++;
}

FlamId
flam_perf_stacks_get (FlamPerfStacks *stacks,
                      FlamUnwindSpace *space,
                      const FlamPerfEvent *event,
                      const FlamPerfRecord *record,
                      const FlamPerfSample *sample)
{
  GArray *frames = stacks->frames;
  guint mode = record->misc & FLAM_PERF_MISC_MODE;
  gboolean copied = has_copied_stack (stacks, event, sample);

  stacks->time = event->monotonic ? sample->time : G_MAXUINT64;
  g_array_set_size (frames, 0);
  add_chain (stacks, space, event, sample, mode, !copied);
  if (copied)
    add_copied (stacks, space, event, sample);
  else if (!stacks->can_unwind && sample->stack_size > 0)
    {
      stacks->n_foreign++;
      stacks->n_truncated++;
    }
  if (frames->len == 0 && (event->sample_type & FLAM_PERF_IP))
    add_by_mode (stacks, space, mode, sample->ip);
  return flam_load_stack (stacks->builder, frames);
}
