/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-builder-merge.h"
#include "flam-builder-private.h"
#include "flam-union.h"

/* The steps after the merging of names. */
typedef enum
{
  HASH_STACKS,
  FIND_STACKS,
  ASSIGN_STACKS,
  ADD_STACKS,
  N_STEPS
} Step;

/* A part's rows as those of the part that it was merged into. */
typedef struct
{
  FlamId *maps[FLAM_TABLE_THREADS + 1]; /* not for stacks */
} Merged;

struct _FlamBuilderMerge
{
  FlamBuilder **builders;
  Merged *merged;
  guint n;
  guint n_rounds; /* of merging names in pairs */
  FlamFingerprintKey key;
  FlamUnion stacks;
};

/* --- names and code --------------------------------------------------------
 */

/* Adds one builder's rows to another, table by table, referenced tables first:
 *
 *    other   strings  map   builder          other   functions   builder
 *    0 ""              0    0 ""             0  name 1 "main" -> name 7, is
 *    1 "main"          7    7 "main"                             there: 3
 *    2 "poll"         52    52 "poll", new   1  name 2 "poll" -> new: 9
 *
 * Rows of both keep their order. */

static void
merge_strings (FlamBuilder *builder, const FlamStrings *from, FlamId *map)
{
  for (FlamId i = 0; i < from->offsets.n; i++)
    map[i] = flam_builder_string (builder, flam_strings_get (from, i), -1);
}

/* For a process the last name is kept, since it is the current one. For a
 * thread the first is kept: a text that one reader has already met is new to
 * the reader of the next part. */
static void
name_processes (FlamBuilder *builder,
                const FlamProcesses *from,
                const Merged *merged)
{
  const FlamId *rows = merged->maps[FLAM_TABLE_PROCESSES];
  FlamStringId *name = cells (builder, FlamId, profile.processes.name);

  for (FlamId i = 0; i < from->n; i++)
    if (from->name[i] != 0)
      name[rows[i]] = merged->maps[FLAM_TABLE_STRINGS][from->name[i]];
}

static void
merge_names (FlamBuilder *builder, const FlamBuilder *other, Merged *merged)
{
  const FlamTables *from = &other->tables;

  merged->maps[FLAM_TABLE_STRINGS] = g_new (FlamId, from->strings.offsets.n);
  merge_strings (builder, &from->strings, merged->maps[FLAM_TABLE_STRINGS]);
  for (guint t = FLAM_TABLE_MODULES; t <= FLAM_TABLE_THREADS; t++)
    {
      if (t == FLAM_TABLE_STACKS)
        continue;
      merged->maps[t] = g_new (FlamId, (gsize)*flam_tables_n (from, t) + 1);
      flam_tables_merge (&builder->tables, from, t, merged->maps);
    }
  name_processes (builder, &from->profile.processes, merged);
}

static void
merge_pair (FlamBuilderMerge *merge, guint round, guint pair)
{
  guint to = pair << (round + 1);
  guint from = to + (1u << round);

  merge_names (
      merge->builders[to], merge->builders[from], &merge->merged[from]);
}

/* A part is merged into the part whose number has its lowest set bit
 * cleared. */
static FlamId
follow (const FlamBuilderMerge *merge, guint part, FlamTable table, FlamId id)
{
  for (; part > 0 && id != FLAM_NONE; part &= part - 1)
    id = merge->merged[part].maps[table][id];
  return id;
}

/* --- stacks ----------------------------------------------------------------
 */

static const FlamStacks *
stacks_of (const FlamBuilderMerge *merge, guint part)
{
  return &merge->builders[part]->tables.profile.stacks;
}

/* The current ids of a part's frames. */
static FlamId *
map_frames (const FlamBuilderMerge *merge, guint part, guint32 n)
{
  FlamFrameId *frames = g_new (FlamFrameId, (gsize)n + 1);

  for (FlamId i = 0; i < n; i++)
    frames[i] = follow (merge, part, FLAM_TABLE_FRAMES, i);
  return frames;
}

/* A stack's fingerprint is that of the path of its frames. */
static void
hash_stacks (FlamBuilderMerge *merge, guint part)
{
  const FlamStacks *stacks = stacks_of (merge, part);
  FlamFingerprint *prints = flam_union_prints (&merge->stacks, part);
  g_autofree FlamFrameId *frames =
      map_frames (merge, part, merge->builders[part]->tables.profile.frames.n);

  for (FlamId i = 0; i < stacks->n; i++)
    prints[i] = flam_fingerprint_extend (
        &merge->key,
        stacks->prefix[i] != FLAM_NONE ? &prints[stacks->prefix[i]] : NULL,
        frames[stacks->frame[i]]);
  flam_union_split (&merge->stacks, part);
}

/* The rows of the first part are already in place. */
static void
add_stacks (FlamBuilderMerge *merge, guint part)
{
  const FlamStacks *from = stacks_of (merge, part);
  FlamStackId *prefix =
      cells (merge->builders[0], FlamId, profile.stacks.prefix);
  FlamFrameId *frame = cells (merge->builders[0], FlamId, profile.stacks.frame);

  for (FlamId i = 0; i < from->n && part > 0; i++)
    if (flam_union_is_first (&merge->stacks, part, i))
      {
        FlamId id = flam_union_id (&merge->stacks, part, i);

        prefix[id] = flam_builder_merge_stack (merge, part, from->prefix[i]);
        frame[id] = follow (merge, part, FLAM_TABLE_FRAMES, from->frame[i]);
      }
}

/* --- steps -----------------------------------------------------------------
 */

FlamBuilderMerge *
flam_builder_merge_new (FlamBuilder *const *builders, guint n)
{
  FlamBuilderMerge *merge = g_new0 (FlamBuilderMerge, 1);
  g_autofree guint32 *sizes = g_new (guint32, n);

  merge->builders = g_memdup2 (builders, n * sizeof *builders);
  merge->merged = g_new0 (Merged, n);
  merge->n = n;
  while (1u << merge->n_rounds < n)
    merge->n_rounds++;
  flam_fingerprint_key_init (&merge->key);
  for (guint i = 0; i < n; i++)
    sizes[i] = stacks_of (merge, i)->n;
  flam_union_init (&merge->stacks, n, sizes);
  flam_tables_reserve (
      &merge->builders[0]->tables, FLAM_TABLE_STACKS, merge->stacks.offsets[n]);
  return merge;
}

void
flam_builder_merge_free (FlamBuilderMerge *merge)
{
  for (guint i = 0; i < merge->n; i++)
    for (guint t = 0; t <= FLAM_TABLE_THREADS; t++)
      g_free (merge->merged[i].maps[t]);
  flam_union_clear (&merge->stacks);
  g_free (merge->merged);
  g_free (merge->builders);
  g_free (merge);
}

guint
flam_builder_merge_width (const FlamBuilderMerge *merge, guint step)
{
  guint pair = 1u << step;

  if (merge->n == 1)
    return 0;
  if (step < merge->n_rounds)
    return (merge->n + pair - 1) / (2 * pair);
  return step < merge->n_rounds + N_STEPS ? merge->n : 0;
}

void
flam_builder_merge_step (FlamBuilderMerge *merge, guint step, guint core)
{
  if (step < merge->n_rounds)
    {
      merge_pair (merge, step, core);
      return;
    }
  switch ((Step)(step - merge->n_rounds))
    {
    case HASH_STACKS:
      hash_stacks (merge, core);
      break;
    case FIND_STACKS:
      flam_union_find (&merge->stacks, core, NULL, NULL);
      break;
    case ASSIGN_STACKS:
      flam_union_assign (&merge->stacks, core);
      break;
    case ADD_STACKS:
      add_stacks (merge, core);
      break;
    case N_STEPS:
      g_assert_not_reached ();
    }
}

void
flam_builder_merge_finish (FlamBuilderMerge *merge)
{
  if (merge->n > 1)
    *flam_tables_n (&merge->builders[0]->tables, FLAM_TABLE_STACKS) =
        flam_union_n (&merge->stacks);
}

FlamStackId
flam_builder_merge_stack (const FlamBuilderMerge *merge,
                          guint part,
                          FlamStackId stack)
{
  return stack == FLAM_NONE || part == 0
             ? stack
             : flam_union_id (&merge->stacks, part, stack);
}

FlamThreadId
flam_builder_merge_thread (const FlamBuilderMerge *merge,
                           guint part,
                           FlamThreadId thread)
{
  return follow (merge, part, FLAM_TABLE_THREADS, thread);
}
