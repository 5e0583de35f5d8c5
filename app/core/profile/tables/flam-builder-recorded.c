/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows that a recorder writes as things happen, and their conversion into
 * those of a profile: frames and stacks, blocks of memory, names and measures.
 */
#include "flam-builder-private.h"

#include "flam-peak-tracker.h"

#include <string.h>

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
static FlamFrameId
add_frame (FlamBuilder *builder, FlamRecordedFrame frame)
{
  if (frame.file == FLAM_NONE)
    frame.file = builder->tables.profile.functions.file[frame.function];
  return flam_builder_recorded_frame (builder, &frame);
}

static void
index_symbols (FlamStackMap *map, const FlamTables *recorded)
{
  const FlamFrameId *frame = recorded->symbols.frame;

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
      FlamFunctionId function = frames->function[i];
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
      FlamFunctionId *function =
          &cells (builder, FlamId, profile.frames.function)[i];
      FlamStringId *file = &cells (builder, FlamId, profile.frames.file)[i];

      if (*function == FLAM_NONE)
        *function = flam_builder_function_unresolved (
            builder, builder->tables.frame_module[i]);
      if (*file == FLAM_NONE)
        *file = profile->functions.file[*function];
    }
}

/* --- stacks --------------------------------------------------------------- */

static FlamStackId
push_frame (FlamStackMap *map,
            const FlamTables *recorded,
            FlamBuilder *builder,
            FlamStackId prefix,
            FlamFrameId frame)
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
      FlamStackId prefix = flam_stack_map_stack (map, stacks->prefix[i]);

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
last_rename (const Fold *fold, FlamFrameId frame, gint64 time)
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
push_frame_at (Fold *fold, FlamStackId prefix, FlamFrameId frame, gint64 time)
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
stack_at (Fold *fold, FlamStackId stack, gint64 time)
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
follow (Fold *fold, guint32 n, const FlamStackId *stacks, const gint64 *times)
{
  for (guint32 i = 0; i < n; i++)
    flam_cell (stacks, FlamId, i) =
        stack_at (fold, stacks[i], times != NULL ? times[i] : 0);
}

static void
follow_map (const FlamStackMap *map, guint32 n, const FlamStackId *stacks)
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

static gboolean
fold_stacks (FlamBuilder *builder, const FlamProgress *progress, GError **error)
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

/* --- blocks -------------------------------------------------------------- */

/* Recorded blocks become allocations: each release is a row, the rest of a row
 * of BLOCKS is another. `at_peak` is the number in AT_PEAK for all equal
 * blocks, assigned first to those most certain to be live at that time. */

static guint32
site_of (FlamPeakTracker *peaks,
         FlamThreadId thread,
         FlamStackId stack,
         gint64 size,
         guint8 allocator)
{
  FlamSiteKey key = { size, stack, thread, 1, allocator };

  return flam_peak_tracker_find_site (peaks, &key);
}

static FlamPeakSite *
peak_of (const FlamPeakTracker *peaks, guint32 site)
{
  return &flam_column_at (&peaks->sites, FlamPeakSite, site);
}

static void
read_peaks (const FlamPeakRows *rows, FlamPeakTracker *peaks)
{
  for (guint32 i = 0; i < rows->n; i++)
    {
      FlamPeakSite *site = peak_of (peaks,
                                    site_of (peaks,
                                             rows->thread[i],
                                             rows->stack[i],
                                             rows->size[i],
                                             rows->allocator[i]));

      if (__builtin_add_overflow (
              site->at_peak, MAX (rows->count[i], 0), &site->at_peak))
        site->at_peak = G_MAXINT64;
    }
}

/* The releases sorted by row, those of one row in their original order: `first`
 * is where the releases of each row begin. */
static guint32 *
order_releases (const FlamReleaseRows *releases, guint32 n, guint32 *first)
{
  guint32 *order = g_new (guint32, releases->n + 1);

  for (guint32 i = 0; i < releases->n; i++)
    if (releases->row[i] >= 0 && releases->row[i] < n)
      first[releases->row[i] + 1]++;
  for (guint32 row = 0; row < n; row++)
    first[row + 1] += first[row];
  for (guint32 i = 0; i < releases->n; i++)
    if (releases->row[i] >= 0 && releases->row[i] < n)
      order[first[releases->row[i]]++] = i;
  memmove (first + 1, first, n * sizeof *first);
  first[0] = 0;
  return order;
}

/* `more` is the rest of that of the BLOCKS row: positive for blocks freed in
 * the tick in which they were allocated, negative for others. */
static void
add (FlamBuilder *builder, FlamAllocation *allocation, gint64 *more)
{
  gboolean at_once = allocation->freed_at <= allocation->time;

  if (allocation->count <= 0)
    return;
  allocation->born_more = at_once ? CLAMP (*more, 0, allocation->count)
                                  : CLAMP (*more, -allocation->count, 0);
  *more -= allocation->born_more;
  if (at_once)
    allocation->died_more = 0;
  flam_builder_add_allocation (builder, allocation);
}

/* Written in the order of the blocks, which is that of their times: there is no
 * need to sort. */
static void
pair_blocks (FlamBuilder *builder)
{
  const FlamBlockRows *blocks = &builder->tables.blocks;
  const FlamReleaseRows *releases = &builder->tables.releases;
  g_autofree guint32 *first = g_new0 (guint32, (gsize)blocks->n + 1);
  g_autofree guint32 *order = order_releases (releases, blocks->n, first);
  gboolean has_peak = builder->tables.at_peak.n > 0 || builder->peak_time >= 0;

  for (guint32 row = 0; row < blocks->n; row++)
    {
      gint64 left = MAX (blocks->count[row], 0);
      gint64 more = blocks->more[row];
      FlamAllocation allocation = {
        .time = blocks->time[row],
        .thread = blocks->thread[row],
        .stack = blocks->stack[row],
        .size = blocks->size[row],
        .at_peak = has_peak ? 0 : -1,
        .allocator = blocks->allocator[row],
      };

      for (guint32 i = first[row]; i < first[row + 1] && left > 0; i++)
        {
          allocation.count = CLAMP (releases->count[order[i]], 0, left);
          allocation.freed_at = releases->time[order[i]];
          allocation.distance = releases->distance[order[i]];
          allocation.died_more =
              CLAMP (releases->more[order[i]], 0, allocation.count);
          left -= allocation.count;
          add (builder, &allocation, &more);
        }
      allocation.count = left;
      allocation.freed_at = FLAM_NEVER;
      allocation.distance = G_MAXUINT16;
      allocation.died_more = 0;
      add (builder, &allocation, &more);
    }
}

/* A row that may have been live at the peak. */
typedef struct
{
  guint32 allocation;
  guint32 site;
  guint certainty;
} Lived;

static void
share_peaks (FlamBuilder *builder, FlamPeakTracker *peaks, guint32 from)
{
  const FlamAllocations *rows = &builder->tables.profile.allocations;
  gint64 peak_time = MAX (builder->peak_time, 0);
  FlamColumn lived;

  flam_column_init (&lived, sizeof (Lived));
  for (guint32 i = from; i < rows->n; i++)
    {
      Lived one = { .allocation = i };

      one.certainty = flam_peak_tracker_certainty (
          rows->time[i], rows->freed_at[i], peak_time);
      if (one.certainty == 0)
        continue;
      one.site = site_of (peaks,
                          rows->thread[i],
                          rows->stack[i],
                          rows->size[i],
                          rows->allocator[i]);
      flam_column_append (&lived, Lived, one);
    }
  for (guint certainty = 3; certainty > 0; certainty--)
    for (gsize i = 0; i < lived.n; i++)
      {
        const Lived *one = &flam_column_at (&lived, Lived, i);

        if (one->certainty == certainty)
          cells (
              builder, gint64, profile.allocations.at_peak)[one->allocation] =
              flam_peak_tracker_share (&peak_of (peaks, one->site)->at_peak,
                                       rows->count[one->allocation]);
      }
  flam_column_clear (&lived);
}

void
flam_builder_map_blocks (FlamBuilder *builder, const FlamStackId *stacks)
{
  FlamTables *tables = &builder->tables;

  for (guint32 i = 0; i < tables->blocks.n; i++)
    cells (builder, FlamId, blocks.stack)[i] = stacks[tables->blocks.stack[i]];
  for (guint32 i = 0; i < tables->at_peak.n; i++)
    cells (builder, FlamId, at_peak.stack)[i] =
        stacks[tables->at_peak.stack[i]];
}

void
flam_builder_fold_memory (FlamBuilder *builder)
{
  static const FlamPeakSite blank = { 0 };
  FlamTables *tables = &builder->tables;
  guint32 from = tables->profile.allocations.n;
  gint64 peak_time = flam_builder_noted_number (builder, FLAM_FACT_PEAK_TIME);
  FlamPeakTracker peaks;

  if (peak_time >= 0)
    flam_builder_set_peak_time (builder, peak_time);
  flam_peak_tracker_init (&peaks, &blank, sizeof blank);
  read_peaks (&tables->at_peak, &peaks);
  flam_builder_reserve_allocations (
      builder, (gsize)tables->blocks.n + tables->releases.n);
  pair_blocks (builder);
  if (peaks.sites.n > 0)
    share_peaks (builder, &peaks, from);
  flam_peak_tracker_clear (&peaks);
  /* In a copy they are scaled already. */
  if (from == 0)
    flam_builder_scale_sampled (builder, from);
  tables->blocks.n = tables->releases.n = tables->at_peak.n = 0;
}

/* --- noting --------------------------------------------------------------- */

#define note(builder, table, ...)                                              \
  flam_tables_add (&(builder)->tables, table, (const gint64[]){ __VA_ARGS__ })

void
flam_builder_note_blocks (FlamBuilder *builder,
                          const FlamRecordedBlocks *blocks)
{
  FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_BLOCKS);

  cells (builder, gint64, blocks.time)[row] = blocks->time;
  cells (builder, FlamId, blocks.thread)[row] = blocks->thread;
  cells (builder, FlamId, blocks.stack)[row] = blocks->stack;
  cells (builder, gint64, blocks.size)[row] = blocks->size;
  cells (builder, gint64, blocks.count)[row] = blocks->count;
  cells (builder, guint8, blocks.allocator)[row] = (guint8)blocks->allocator;
  cells (builder, gint64, blocks.more)[row] = blocks->more;
}

void
flam_builder_note_release (FlamBuilder *builder,
                           gint64 time,
                           guint32 row,
                           gint64 count,
                           guint16 distance,
                           gint64 more)
{
  FlamId release = flam_tables_push (&builder->tables, FLAM_TABLE_RELEASES);

  cells (builder, gint64, releases.time)[release] = time;
  cells (builder, gint64, releases.row)[release] = row;
  cells (builder, gint64, releases.count)[release] = count;
  cells (builder, guint16, releases.distance)[release] = distance;
  cells (builder, gint64, releases.more)[release] = more;
}

void
flam_builder_note_at_peak (FlamBuilder *builder,
                           FlamThreadId thread,
                           FlamStackId stack,
                           gint64 size,
                           FlamAllocator allocator,
                           gint64 count)
{
  note (builder, FLAM_TABLE_AT_PEAK, thread, stack, size, allocator, count);
}

static void
note_name (FlamBuilder *builder,
           FlamNamed what,
           FlamId row,
           gint64 time,
           const char *name)
{
  FlamStringId string = flam_builder_string (builder, name, -1);

  note (builder, FLAM_TABLE_NAMES, what, row, time, string);
}

void
flam_builder_note_process_name (FlamBuilder *builder,
                                FlamProcessId process,
                                gint64 time,
                                const char *name)
{
  note_name (builder, FLAM_NAMED_PROCESS, process, time, name);
}

void
flam_builder_note_thread_name (FlamBuilder *builder,
                               FlamThreadId thread,
                               gint64 time,
                               const char *name)
{
  note_name (builder, FLAM_NAMED_THREAD, thread, time, name);
}

void
flam_builder_note_symbol (FlamBuilder *builder,
                          FlamFrameId frame,
                          FlamFunctionId function,
                          FlamStringId file,
                          guint32 line)
{
  note (builder, FLAM_TABLE_SYMBOLS, frame, function, line, file);
}

void
flam_builder_note_rename (FlamBuilder *builder,
                          FlamFrameId frame,
                          gint64 time,
                          FlamFunctionId function,
                          guint32 line)
{
  note (builder, FLAM_TABLE_RENAMES, frame, time, function, line, FLAM_NONE);
}

void
flam_builder_note_module_symbols (FlamBuilder *builder,
                                  FlamModuleId module,
                                  FlamSymbolState state,
                                  const char *why)
{
  FlamStringId string = flam_builder_string (builder, why, -1);

  note (builder, FLAM_TABLE_MODULE_SYMBOLS, module, state, string);
}

/* --- folding -------------------------------------------------------------- */

static void
fold_module_symbols (FlamBuilder *builder)
{
  const FlamModuleSymbolRows *rows = &builder->tables.module_symbols;

  for (guint32 i = 0; i < rows->n; i++)
    {
      cells (builder, guint8, profile.modules.symbols)[rows->module[i]] =
          rows->state[i];
      cells (builder, FlamId, profile.modules.why)[rows->module[i]] =
          rows->why[i];
    }
}

static gint64 *
new_times (guint32 n)
{
  gint64 *times = g_new (gint64, n + 1);

  for (guint32 i = 0; i < n; i++)
    times[i] = G_MININT64;
  return times;
}

static void
fold_names (FlamBuilder *builder)
{
  const FlamNameRows *rows = &builder->tables.names;
  g_autofree gint64 *process_since =
      new_times (builder->tables.profile.processes.n);
  g_autofree gint64 *thread_since =
      new_times (builder->tables.profile.threads.n);

  for (guint32 i = 0; i < rows->n; i++)
    {
      gboolean of_process = rows->what[i] == FLAM_NAMED_PROCESS;
      FlamId row = rows->row[i];
      gint64 *since = of_process ? &process_since[row] : &thread_since[row];
      gint64 time = rows->time[i];
      g_autofree char *name =
          g_strdup (flam_builder_get_string (builder, rows->name[i]));

      if (*since != G_MININT64 && time <= *since)
        of_process ? flam_builder_set_process_name (builder, row, name)
                   : flam_builder_set_thread_name (builder, row, name);
      else
        of_process ? flam_builder_rename_process (builder, row, time, name)
                   : flam_builder_rename_thread (builder, row, time, name);
      *since = MAX (*since, time);
    }
}

/* A measure of samples is kept if its column exists. For measures of
 * allocations the rows list those that exist, or mean that all do. */
static void
fold_measures (FlamBuilder *builder)
{
  FlamTables *tables = &builder->tables;
  const FlamMeasureRows *rows = &tables->measures;
  const char *spans = flam_builder_noted (builder, FLAM_FACT_SPANS);
  const char *sampled = flam_builder_noted (builder, FLAM_FACT_SAMPLED_SPANS);
  gboolean listed =
      flam_builder_noted_number (builder, FLAM_FACT_MEASURES_LISTED) > 0;
  gboolean done = FALSE;
  guint32 n = rows->n;

  for (guint32 i = 0; i < n && tables->profile.samples.n == 0; i++)
    while (rows->column[i] >= tables->weights->len &&
           tables->weights->len < FLAM_MAX_WEIGHTS)
      flam_builder_add_column (builder);
  for (guint32 i = 0; i < n; i++)
    {
      g_autofree char *id =
          g_strdup (flam_builder_get_string (builder, rows->id[i]));
      g_autofree char *name =
          g_strdup (flam_builder_get_string (builder, rows->name[i]));
      gint64 column = rows->column[i];
      gint64 event = rows->event[i];
      gint64 denominator = rows->denominator[i];
      FlamMeasureSource source = rows->source[i];
      guint measure;

      if (source != FLAM_FROM_SAMPLES)
        {
          if (listed)
            flam_builder_add_allocation_measure_named (
                builder, source, *name != '\0' ? name : NULL);
          else if (!done)
            flam_builder_add_allocation_measures (builder);
          done |= !listed || source < FLAM_N_SOURCES;
          continue;
        }
      if (column >= (gint64)tables->weights->len)
        continue;
      measure = flam_builder_add_measure (
          builder,
          id,
          name,
          rows->unit[i],
          rows->kind[i],
          column < 0 ? -1 : (int)column,
          event < 0 || event > G_MAXUINT16 ? FLAM_NONE : (FlamId)event);
      flam_builder_set_denominator (builder, measure, MAX (denominator, 1));
      if (column >= 0 && g_strcmp0 (spans, id) == 0)
        flam_builder_set_spans (builder, measure, FLAM_SPANS_CALLS);
      if (column >= 0 && g_strcmp0 (sampled, id) == 0)
        flam_builder_set_spans (builder, measure, FLAM_SPANS_SAMPLES);
    }
  if (!done && tables->profile.allocations.n + tables->blocks.n > 0)
    flam_builder_add_allocation_measures (builder);
  flam_tables_drop (tables, FLAM_TABLE_MEASURES, n);
  if (rows->n == 0)
    flam_builder_add_standard_measure (
        builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
}

void
flam_builder_set_recorded (FlamBuilder *builder)
{
  builder->recorded = TRUE;
}

gboolean
flam_builder_fold (FlamBuilder *builder,
                   const FlamProgress *progress,
                   GError **error)
{
  builder->recorded = FALSE;
  flam_builder_fold_facts (builder);
  fold_module_symbols (builder);
  fold_measures (builder);
  flam_builder_fold_memory (builder);
  if (!fold_stacks (builder, progress, error))
    return FALSE;
  fold_names (builder);
  return TRUE;
}
