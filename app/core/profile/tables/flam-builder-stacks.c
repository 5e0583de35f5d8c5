/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Frames and stacks as they were recorded become those of a profile.
 *
 *   frame without SYMBOLS   one frame; an address gets the function for
 *                           addresses without a name
 *   frame with SYMBOLS      its chain, caller first: first[frame] is the first
 *                           of its rows in SYMBOLS
 *
 * Generated code: an address may belong to one function first and to another
 * later. The frame of the address is recorded once; SYMBOLS have its first
 * function, RENAMES those of later times:
 *
 *   time      ----- 20 ------------- 50 ------>
 *   frame 7   parse | render                        RENAMES (7, 20, render)
 *   frame 9   loop                   | sort         RENAMES (9, 50, sort)
 *   epoch       0   |       1        |    2
 *
 * A stack with such frames becomes one stack for each epoch that it was sampled
 * in, or allocated in; epochs in which none of its frames was renamed share
 * one. Allocations have the time of the recorder's tick (10 ms). */

#include "flam-builder-private.h"

#define STEP 65536

/* No compiler inlines deeper; a crafted file must not multiply its stacks. */
#define CHAIN_MAX 256
#define CHAINS_MAX (64u << 20)
#define STACKS_MAX (4u << 20)

/* --- frames --------------------------------------------------------------- */

void
flam_stack_map_init (FlamStackMap *map)
{
  *map = (FlamStackMap){ 0 };
  flam_column_init (&map->first_symbol, sizeof (guint32));
  flam_column_init (&map->n_symbols, sizeof (guint32));
  flam_column_init (&map->frames, sizeof (FlamId));
  flam_column_init (&map->stacks, sizeof (FlamId));
}

void
flam_stack_map_clear (FlamStackMap *map)
{
  flam_column_clear (&map->first_symbol);
  flam_column_clear (&map->n_symbols);
  flam_column_clear (&map->frames);
  flam_column_clear (&map->stacks);
}

gboolean
flam_stack_map_is_stale (const FlamStackMap *map, const FlamTables *recorded)
{
  for (guint32 i = map->n_rows; i < recorded->symbols.n; i++)
    if (recorded->symbols.frame[i] < map->frames.n)
      return TRUE;
  return FALSE;
}

/* `file` FLAM_NONE: the function's. */
static FlamId
add_frame (FlamBuilder *builder, FlamRecordedFrame frame)
{
  if (frame.file == FLAM_NONE)
    frame.file = builder->tables.profile.functions.file[frame.function];
  return flam_builder_recorded_frame (builder, &frame);
}

static void
index_symbols (FlamStackMap *map, const FlamTables *recorded)
{
  const FlamId *frame = recorded->symbols.frame;

  flam_column_backfill (&map->first_symbol, recorded->profile.frames.n);
  flam_column_backfill (&map->n_symbols, recorded->profile.frames.n);
  for (guint32 i = map->n_rows; i < recorded->symbols.n; i++)
    {
      guint32 *n = &flam_column_at (&map->n_symbols, guint32, frame[i]);

      if (i == 0 || frame[i - 1] != frame[i])
        {
          flam_column_at (&map->first_symbol, guint32, frame[i]) = i;
          *n = 0;
        }
      (*n)++;
    }
  map->n_rows = recorded->symbols.n;
}

static void
map_frames (FlamStackMap *map, const FlamTables *recorded, FlamBuilder *builder)
{
  const FlamFrames *frames = &recorded->profile.frames;

  flam_column_reserve (&map->frames, frames->n);
  for (FlamId i = (FlamId)map->frames.n; i < frames->n; i++)
    {
      FlamId function = frames->function[i];
      FlamId *mapped = flam_column_push (&map->frames);

      *mapped = FLAM_NONE;
      if (flam_column_at (&map->n_symbols, guint32, i) > 0)
        continue;
      if (function == FLAM_NONE)
        function = flam_builder_function_unresolved (builder,
                                                     recorded->frame_module[i]);
      *mapped = add_frame (builder,
                           (FlamRecordedFrame){ FLAM_NONE,
                                                frames->address[i],
                                                function,
                                                frames->file[i],
                                                frames->line[i],
                                                frames->inline_depth[i],
                                                frames->status[i] });
    }
}

/* The same for tables without chains: the rows stay where they are. */
static void
name_frames (FlamBuilder *builder)
{
  const FlamProfile *profile = &builder->tables.profile;

  for (FlamId i = 0; i < profile->frames.n; i++)
    {
      FlamId *function = &cells (builder, FlamId, profile.frames.function)[i];
      FlamId *file = &cells (builder, FlamId, profile.frames.file)[i];

      if (*function == FLAM_NONE)
        *function = flam_builder_function_unresolved (
            builder, builder->tables.frame_module[i]);
      if (*file == FLAM_NONE)
        *file = profile->functions.file[*function];
    }
}

/* --- stacks --------------------------------------------------------------- */

static FlamId
push_frame (FlamStackMap *map,
            const FlamTables *recorded,
            FlamBuilder *builder,
            FlamId prefix,
            FlamId frame)
{
  const FlamSymbolRows *symbols = &recorded->symbols;
  guint32 n = flam_column_at (&map->n_symbols, guint32, frame);

  if (n == 0)
    return flam_builder_stack (
        builder, prefix, flam_column_at (&map->frames, FlamId, frame));
  for (guint32 i = 0; i < MIN (n, CHAIN_MAX); i++)
    {
      guint32 row = flam_column_at (&map->first_symbol, guint32, frame) + i;
      FlamId id = add_frame (
          builder,
          (FlamRecordedFrame){ FLAM_NONE,
                               recorded->profile.frames.address[frame],
                               symbols->function[row],
                               symbols->file[row],
                               symbols->line[row],
                               i,
                               recorded->profile.frames.status[frame] });

      prefix = flam_builder_stack (builder, prefix, id);
      if (map->n_chained++ > CHAINS_MAX)
        break;
    }
  return prefix;
}

gboolean
flam_stack_map_extend (FlamStackMap *map,
                       const FlamTables *recorded,
                       FlamBuilder *builder,
                       const FlamProgress *progress,
                       GError **error)
{
  const FlamStacks *stacks = &recorded->profile.stacks;

  index_symbols (map, recorded);
  map_frames (map, recorded, builder);
  flam_column_reserve (&map->stacks, stacks->n);
  for (FlamId i = (FlamId)map->stacks.n; i < stacks->n; i++)
    {
      FlamId prefix = flam_stack_map_stack (map, stacks->prefix[i]);

      if (i % STEP == 0 &&
          !flam_progress_step (progress, 0.5 * i / stacks->n, error))
        return FALSE;
      flam_column_append (
          &map->stacks,
          FlamId,
          push_frame (map, recorded, builder, prefix, stacks->frame[i]));
    }
  return TRUE;
}

/* --- generated code ------------------------------------------------------- */

typedef struct
{
  FlamBuilder *builder;
  FlamTables recorded; /* SYMBOLS, FRAMES and STACKS as the builder had them */
  FlamStackMap map;    /* in epoch 0 */
  const FlamSymbolRows *renames;

  GArray *order;        /* guint32: rows of RENAMES, by frame, then time */
  GArray *times;        /* gint64: where epochs begin, ascending */
  guint32 *first_named; /* of a frame: its first in `order`, or FLAM_NONE */
  guint8 *changes;      /* of a stack: whether it has such a frame */
  GHashTable *made;     /* stack << 32 | epoch -> stack + 1 */
  guint32 n_made;
} Fold;

static void
fold_init (Fold *fold, FlamBuilder *builder)
{
  *fold = (Fold){ .builder = builder };
  fold->renames = &builder->tables.renames;
  flam_tables_init (&fold->recorded);
  flam_stack_map_init (&fold->map);
  flam_tables_swap (&fold->recorded, &builder->tables, FLAM_TABLE_SYMBOLS);
  for (guint t = FLAM_TABLE_FRAMES; t <= FLAM_TABLE_STACKS; t++)
    {
      flam_tables_drop_extras (&builder->tables, t);
      flam_tables_swap (&fold->recorded, &builder->tables, t);
    }
}

static void
fold_clear (Fold *fold)
{
  flam_tables_clear (&fold->recorded);
  flam_stack_map_clear (&fold->map);
  g_clear_pointer (&fold->order, g_array_unref);
  g_clear_pointer (&fold->times, g_array_unref);
  g_clear_pointer (&fold->made, g_hash_table_unref);
  g_free (fold->first_named);
  g_free (fold->changes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fold, fold_clear)

static int
compare_rows (gconstpointer a, gconstpointer b, gpointer data)
{
  const FlamSymbolRows *renames = data;
  guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;

  if (renames->frame[x] != renames->frame[y])
    return renames->frame[x] < renames->frame[y] ? -1 : 1;
  if (renames->time[x] != renames->time[y])
    return renames->time[x] < renames->time[y] ? -1 : 1;
  return x < y ? -1 : x > y;
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

  return x < y ? -1 : x > y;
}

static void
find_stacks (Fold *fold)
{
  const FlamStacks *stacks = &fold->recorded.profile.stacks;

  fold->changes = g_new0 (guint8, stacks->n + 1);
  for (FlamId i = 0; i < stacks->n; i++)
    fold->changes[i] =
        fold->first_named[stacks->frame[i]] != FLAM_NONE ||
        (stacks->prefix[i] != FLAM_NONE && fold->changes[stacks->prefix[i]]);
}

static void
index_renames (Fold *fold)
{
  guint32 n = fold->renames->n;

  if (n == 0)
    return;
  fold->order = g_array_new (FALSE, FALSE, sizeof (guint32));
  fold->times = g_array_new (FALSE, FALSE, sizeof (gint64));
  fold->first_named = g_new (guint32, fold->recorded.profile.frames.n + 1);
  fold->made =
      g_hash_table_new_full (flam_hash_int64, g_int64_equal, g_free, NULL);
  memset (fold->first_named,
          0xff,
          fold->recorded.profile.frames.n * sizeof (guint32));
  for (guint32 i = 0; i < n; i++)
    g_array_append_val (fold->order, i);
  g_array_append_vals (fold->times, fold->renames->time, n);
  g_array_sort_with_data (fold->order, compare_rows, (gpointer)fold->renames);
  g_array_sort (fold->times, compare_times);
  for (guint32 i = n; i-- > 0;)
    fold->first_named[fold->renames
                          ->frame[g_array_index (fold->order, guint32, i)]] = i;
  find_stacks (fold);
}

/* How many of the times are not after `time`. */
static guint32
epoch_of (const Fold *fold, gint64 time)
{
  guint low = 0, high = fold->times->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      if (g_array_index (fold->times, gint64, middle) <= time)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* The row of RENAMES that applies to a frame at a time, or FLAM_NONE. */
static guint32
last_rename (const Fold *fold, FlamId frame, gint64 time)
{
  guint32 low = fold->first_named[frame], first = low;
  guint32 high = fold->order->len;

  if (first == FLAM_NONE)
    return FLAM_NONE;
  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;
      guint32 row = g_array_index (fold->order, guint32, middle);
      if (fold->renames->frame[row] == frame &&
          fold->renames->time[row] <= time)
        low = middle + 1;
      else
        high = middle;
    }
  return low > first ? g_array_index (fold->order, guint32, low - 1)
                     : FLAM_NONE;
}

static FlamId
push_frame_at (Fold *fold, FlamId prefix, FlamId frame, gint64 time)
{
  guint32 row = last_rename (fold, frame, time);

  if (row == FLAM_NONE)
    return push_frame (
        &fold->map, &fold->recorded, fold->builder, prefix, frame);
  return flam_builder_stack (
      fold->builder,
      prefix,
      add_frame (fold->builder,
                 (FlamRecordedFrame){
                     FLAM_NONE,
                     fold->recorded.profile.frames.address[frame],
                     fold->renames->function[row],
                     fold->renames->file[row],
                     fold->renames->line[row],
                     .status = fold->recorded.profile.frames.status[frame] }));
}

static FlamId
stack_at (Fold *fold, FlamId stack, gint64 time)
{
  guint32 epoch = fold->times != NULL ? epoch_of (fold, time) : 0;
  g_autoptr (GArray) path = NULL;
  FlamId made = FLAM_NONE;

  if (stack == FLAM_NONE)
    return FLAM_NONE;
  if (epoch == 0 || !fold->changes[stack] || fold->n_made > STACKS_MAX)
    return flam_stack_map_stack (&fold->map, stack);
  path = g_array_new (FALSE, FALSE, sizeof (FlamId));
  while (stack != FLAM_NONE)
    {
      gint64 key = (gint64)((guint64)stack << 32 | epoch);
      gpointer known = g_hash_table_lookup (fold->made, &key);

      if (known != NULL || !fold->changes[stack])
        {
          made = known != NULL ? GPOINTER_TO_UINT (known) - 1
                               : flam_stack_map_stack (&fold->map, stack);
          break;
        }
      g_array_append_val (path, stack);
      stack = fold->recorded.profile.stacks.prefix[stack];
    }
  for (guint i = path->len; i-- > 0;)
    {
      FlamId here = g_array_index (path, FlamId, i);
      gint64 key = (gint64)((guint64)here << 32 | epoch);

      made = push_frame_at (
          fold, made, fold->recorded.profile.stacks.frame[here], time);
      g_hash_table_insert (fold->made,
                           g_memdup2 (&key, sizeof key),
                           GUINT_TO_POINTER (made + 1));
      fold->n_made++;
    }
  return made;
}

static void
follow (Fold *fold, guint32 n, const FlamId *stacks, const gint64 *times)
{
  for (guint32 i = 0; i < n; i++)
    flam_cell (stacks, FlamId, i) =
        stack_at (fold, stacks[i], times != NULL ? times[i] : 0);
}

static void
follow_map (const FlamStackMap *map, guint32 n, const FlamId *stacks)
{
  for (guint32 i = 0; i < n; i++)
    flam_cell (stacks, FlamId, i) = flam_stack_map_stack (map, stacks[i]);
}

static gboolean
fold_named (FlamBuilder *builder, const FlamProgress *progress, GError **error)
{
  const FlamProfile *profile = &builder->tables.profile;
  g_auto (Fold) fold;

  fold_init (&fold, builder);
  if (!flam_stack_map_extend (
          &fold.map, &fold.recorded, builder, progress, error))
    return FALSE;
  index_renames (&fold);
  follow (
      &fold, profile->samples.n, profile->samples.stack, profile->samples.time);
  follow (&fold,
          profile->allocations.n,
          profile->allocations.stack,
          profile->allocations.time);
  return TRUE;
}

gboolean
flam_builder_fold_stacks (FlamBuilder *builder,
                          const FlamProgress *progress,
                          GError **error)
{
  const FlamTables *tables = &builder->tables;
  const FlamAllocations *allocations = &tables->profile.allocations;

  if (builder->laid != NULL)
    {
      follow_map (&builder->laid->map, allocations->n, allocations->stack);
      return TRUE;
    }
  if (tables->symbols.n == 0 && tables->renames.n == 0)
    {
      name_frames (builder);
      return TRUE;
    }
  return fold_named (builder, progress, error);
}
