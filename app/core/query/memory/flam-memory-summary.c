/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-memory-summary.h"

#include <string.h>

#define STEP_ROWS (1 << 16)

static const FlamMeasureSource sources[FLAM_MEMORY_N] = {
  [FLAM_MEMORY_ALLOCATED] = FLAM_FROM_ALLOCATED,
  [FLAM_MEMORY_TEMPORARY] = FLAM_FROM_TEMPORARY_BYTES,
  [FLAM_MEMORY_PEAK] = FLAM_FROM_PEAK,
  [FLAM_MEMORY_LEAKED] = FLAM_FROM_LEAKED,
};

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  FlamAllocationFilter blocks[FLAM_MEMORY_N];
  guint8 *in; /* per stack: passes the search, the zoom and the transforms */
  gboolean in_none;        /* the same for rows without a stack */
  FlamAmounts *self;       /* per stack: the amounts of exactly this stack */
  FlamSpread *self_spread; /* theirs; NULL: not sampled */
  FlamMemorySummary *memory;
} Summary;

static void
summary_clear (Summary *summary)
{
  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    flam_allocation_filter_clear (&summary->blocks[part]);
  g_free (summary->in);
  g_free (summary->self);
  g_free (summary->self_spread);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Summary, summary_clear)

/* --- words --------------------------------------------------------------- */

FlamMemoryPart
flam_memory_part_of (FlamMeasureSource source)
{
  FlamMeasureSource other = flam_allocation_filter_other_source (source);

  if (flam_allocation_filter_source_is_peak (source))
    return FLAM_MEMORY_PEAK;
  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    if (sources[part] == source || sources[part] == other)
      return part;
  return FLAM_MEMORY_ALLOCATED;
}

const char *
flam_memory_part_to_string (FlamMemoryPart part)
{
  static const char *const names[] = {
    "allocated", "temporary", "peak", "leaked"
  };

  return names[part];
}

const char *
flam_allocator_to_string (FlamAllocator allocator)
{
  static const char *const names[] = { "malloc",     "calloc", "realloc",
                                       "aligned",    "mmap",   "brk",
                                       "pymalloc",   "other",  "file",
                                       "descriptor", "thread" };

  return names[allocator];
}

static guint
bin_of (gint64 size)
{
  return size <= 0 ? 0 : 64 - (guint)__builtin_clzll ((guint64)size);
}

void
flam_memory_summary_bin_range (guint bin, gint64 *low, gint64 *high)
{
  *low = bin == 0 ? 0 : (gint64)1 << (bin - 1);
  *high = bin == 0 ? 0 : *low + (*low - 1);
}

/* --- selected stacks ----------------------------------------------------- */

/* A weight for every stack that has an amount in any part, so that one tree has
 * a node for each of them. */
static FlamWeights *
weigh_all (const Summary *summary)
{
  const FlamAllocations *rows = &summary->profile->allocations;
  FlamWeights *weights = g_new0 (FlamWeights, 1);

  weights->profile = flam_profile_ref (summary->profile);
  weights->weight = g_new0 (gint64, summary->profile->stacks.n + 1);
  for (FlamId i = 0; i < rows->n; i++)
    if (rows->stack[i] != FLAM_NONE)
      for (guint part = 0; part < FLAM_MEMORY_N; part++)
        if (flam_allocation_filter_count_in_time (&summary->blocks[part], i) !=
            0)
          weights->weight[rows->stack[i]] = 1;
  return weights;
}

static gboolean
needs_a_match (const FlamSelection *selection)
{
  for (guint i = 0; i < selection->transforms->len; i++)
    {
      const FlamTransform *transform = selection->transforms->pdata[i];

      if (transform->kind == FLAM_TRANSFORM_FOCUS ||
          transform->kind == FLAM_TRANSFORM_FILTER)
        return TRUE;
    }
  return FALSE;
}

/* A byte per node: it or a node above it matches. */
static guint8 *
find_below (const FlamTree *tree, FlamRegex *search)
{
  guint8 *below = g_malloc0 (tree->n);

  flam_tree_search (tree, search, below);
  for (FlamNodeId node = 1; node < tree->n; node++)
    below[node] |= below[tree->parent[node]];
  return below;
}

static void
find_in (Summary *summary,
         const FlamTree *tree,
         FlamRegex *search,
         const FlamTree *zoomed,
         FlamNodeId zoom)
{
  guint32 n = summary->profile->stacks.n;
  FlamId top = zoomed != NULL && zoom != 0
                   ? flam_tree_find_path (zoomed, zoom, tree)
                   : 0;
  g_autofree guint8 *below = search != NULL ? find_below (tree, search) : NULL;

  summary->in = g_malloc0 (n + 1);
  summary->in_none =
      zoom == 0 && search == NULL && !needs_a_match (summary->selection);
  for (FlamId s = 0; s < n; s++)
    {
      FlamNodeId node = tree->stack_node[s];

      summary->in[s] = node != FLAM_NONE &&
                       flam_tree_is_ancestor (tree, top, node) &&
                       (below == NULL || below[node]);
    }
}

/* The tree whose functions are listed. The zoomed tree may be inverted. */
static FlamTree *
functions_tree (const Summary *summary,
                FlamWeights *weights,
                const FlamProgress *progress,
                GError **error)
{
  g_autoptr (FlamSelection) upright = flam_selection_copy (summary->selection);

  upright->invert = FALSE;
  upright->by = FLAM_BY_FUNCTION;
  for (FlamId s = 0; s < summary->profile->stacks.n; s++)
    weights->weight[s] *= summary->in[s];
  return flam_tree_new (weights, upright, FLAM_ORDER_NAME, progress, error);
}

static gboolean
choose_stacks (Summary *summary,
               FlamRegex *search,
               const FlamTree *zoomed,
               FlamNodeId zoom,
               const FlamProgress *progress,
               GError **error)
{
  g_autoptr (FlamWeights) weights = weigh_all (summary);
  g_autoptr (FlamSelection) selection =
      flam_selection_copy (summary->selection);
  g_autoptr (FlamTree) tree = NULL;

  if (flam_by_has_tops (selection->by))
    selection->by = FLAM_BY_FUNCTION;
  tree = flam_tree_new (weights, selection, FLAM_ORDER_NAME, progress, error);
  if (tree == NULL)
    return FALSE;
  find_in (summary, tree, search, zoomed, zoom);
  summary->memory->tree = functions_tree (summary, weights, progress, error);
  return summary->memory->tree != NULL;
}

/* --- sums ---------------------------------------------------------------- */

/* Gives each of `n` amounts its spread; returns all of them. */
static FlamSpread *
give_spreads (const FlamProfile *profile, FlamAmounts *amounts, gsize n)
{
  FlamSpread *spreads;

  if (profile->facts.sample_bytes <= 0)
    return NULL;
  spreads = g_new0 (FlamSpread, MAX (n, 1) * FLAM_MEMORY_N);
  for (gsize i = 0; i < n; i++)
    amounts[i].spread = spreads + i * FLAM_MEMORY_N;
  return spreads;
}

static void
keep_spreads (FlamMemorySummary *memory, FlamAmounts *amounts, gsize n)
{
  FlamSpread *spreads = give_spreads (memory->profile, amounts, n);

  if (spreads != NULL)
    g_ptr_array_add (memory->spreads, spreads);
}

static void
grow (const Summary *summary,
      FlamAmounts *amounts,
      FlamMemoryPart part,
      FlamId row,
      gint64 count)
{
  const FlamAllocations *rows = &summary->profile->allocations;
  gint64 size = rows->size[row];

  amounts->part[part].bytes += size * count;
  amounts->part[part].blocks += count;
  if (amounts->spread != NULL)
    flam_spread_add_blocks (&amounts->spread[part],
                            &summary->profile->facts,
                            rows->allocator != NULL ? rows->allocator[row]
                                                    : FLAM_ALLOCATOR_MALLOC,
                            size,
                            count);
}

static void
add_row (Summary *summary, FlamId row, FlamMemoryPart part)
{
  const FlamAllocationFilter *blocks = &summary->blocks[part];
  const FlamAllocations *rows = blocks->rows;
  FlamMemorySummary *memory = summary->memory;
  gint64 count = flam_allocation_filter_count_in_time (blocks, row);
  FlamId rule = flam_allocation_filter_rule (blocks, row);
  gboolean has_kind = flam_allocation_filter_has_kind (blocks, row);
  gboolean has_thread = flam_allocation_filter_has_thread (blocks, row);

  if (count == 0)
    return;
  if (rule != FLAM_NONE)
    {
      if (has_kind && has_thread)
        grow (summary, &memory->rule[rule], FLAM_MEMORY_LEAKED, row, count);
      return;
    }
  if (has_thread)
    grow (summary,
          &memory->kind[rows->allocator != NULL ? rows->allocator[row] : 0],
          part,
          row,
          count);
  if (!has_kind)
    return;
  if (rows->thread[row] != FLAM_NONE)
    grow (summary, &memory->thread[rows->thread[row]], part, row, count);
  if (!has_thread)
    return;
  grow (summary, &memory->all, part, row, count);
  grow (summary, &memory->size[bin_of (rows->size[row])], part, row, count);
  if (rows->stack[row] != FLAM_NONE)
    grow (summary, &summary->self[rows->stack[row]], part, row, count);
}

static gboolean
add_rows (Summary *summary, const FlamProgress *progress, GError **error)
{
  const FlamAllocations *rows = &summary->profile->allocations;
  FlamMemorySummary *memory = summary->memory;

  for (FlamId i = 0; i < rows->n; i++)
    {
      FlamStackId stack = rows->stack[i];

      if (i % STEP_ROWS == 0 &&
          !flam_progress_step (progress, (double)i / rows->n, error))
        return FALSE;
      if (stack == FLAM_NONE ? summary->in_none : summary->in[stack])
        for (guint part = 0; part < FLAM_MEMORY_N; part++)
          add_row (summary, i, part);
    }
  for (guint bin = 0; bin < FLAM_MEMORY_BINS; bin++)
    for (guint part = 0; part < FLAM_MEMORY_N; part++)
      if (memory->size[bin].part[part].blocks != 0)
        {
          if (memory->end_bin == 0)
            memory->first_bin = bin;
          memory->end_bin = bin + 1;
        }
  return TRUE;
}

/* --- functions ----------------------------------------------------------- */

/* One figure of one part, in an array of FlamAmounts, for reading or
 * writing. */
static gint64 *
figure (FlamAmounts *amounts, FlamMemoryPart part, gboolean bytes)
{
  return bytes ? &amounts->part[part].bytes : &amounts->part[part].blocks;
}

static void
add_function_figure (Summary *summary,
                     const FlamId *index,
                     FlamMemoryPart part,
                     gboolean bytes)
{
  FlamMemorySummary *memory = summary->memory;
  const FlamTree *tree = memory->tree;
  guint32 n_stacks = summary->profile->stacks.n;
  guint n = memory->n_functions;
  g_autofree gint64 *weight = g_new (gint64, n_stacks + 1);
  g_autofree gint64 *self = g_new (gint64, tree->n);
  g_autofree gint64 *total = g_new (gint64, tree->n);
  g_autofree gint64 *row_self = g_new (gint64, n + 1);
  g_autofree gint64 *row_total = g_new (gint64, n + 1);

  for (FlamId s = 0; s < n_stacks; s++)
    weight[s] = *figure (&summary->self[s], part, bytes);
  flam_tree_sum (tree, weight, self, total);
  flam_functions_sum (tree, index, n, self, total, row_self, row_total);
  for (guint i = 0; i < n; i++)
    {
      *figure (&memory->function_self[i], part, bytes) = row_self[i];
      *figure (&memory->function_total[i], part, bytes) = row_total[i];
    }
}

static void
add_function_spread (Summary *summary, const FlamId *index, FlamMemoryPart part)
{
  FlamMemorySummary *memory = summary->memory;
  const FlamTree *tree = memory->tree;
  guint32 n_stacks = summary->profile->stacks.n;
  guint n = memory->n_functions;
  g_autofree FlamSpread *of_stack = g_new (FlamSpread, n_stacks + 1);
  g_autofree FlamSpread *self = g_new (FlamSpread, tree->n);
  g_autofree FlamSpread *total = g_new (FlamSpread, tree->n);
  g_autofree FlamSpread *row_self = g_new (FlamSpread, n + 1);
  g_autofree FlamSpread *row_total = g_new (FlamSpread, n + 1);

  for (FlamId s = 0; s < n_stacks; s++)
    of_stack[s] = summary->self[s].spread[part];
  flam_tree_sum_spread (tree, of_stack, self, total);
  flam_functions_sum_spread (tree, index, n, self, total, row_self, row_total);
  for (guint i = 0; i < n; i++)
    {
      memory->function_self[i].spread[part] = row_self[i];
      memory->function_total[i].spread[part] = row_total[i];
    }
}

static void
add_functions (Summary *summary)
{
  FlamMemorySummary *memory = summary->memory;
  g_autofree FlamId *index = NULL;

  memory->function =
      flam_functions_new (memory->tree, FLAM_SORT_SELF, &memory->n_functions);
  memory->function_self = g_new0 (FlamAmounts, memory->n_functions + 1);
  memory->function_total = g_new0 (FlamAmounts, memory->n_functions + 1);
  keep_spreads (memory, memory->function_self, memory->n_functions);
  keep_spreads (memory, memory->function_total, memory->n_functions);
  index = flam_functions_index (
      memory->tree, memory->function, memory->n_functions);
  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    {
      for (guint bytes = 0; bytes < 2; bytes++)
        add_function_figure (summary, index, part, bytes);
      if (summary->self_spread != NULL)
        add_function_spread (summary, index, part);
    }
}

/* --- public functions ---------------------------------------------------- */

gboolean
flam_memory_summary_knows (const FlamMemorySummary *memory,
                           FlamMemoryPart part,
                           gboolean bytes)
{
  FlamMeasureSource source = sources[part];

  if (flam_allocation_filter_source_is_bytes (source) != bytes)
    source = flam_allocation_filter_other_source (source);
  return flam_profile_find_source (memory->profile, source) >= 0;
}

gboolean
flam_memory_summary_knows_sizes (const FlamMemorySummary *memory)
{
  return flam_memory_summary_knows (memory, FLAM_MEMORY_ALLOCATED, FALSE) &&
         flam_memory_summary_of (memory) == FLAM_MEMORY_OF_BLOCKS;
}

FlamMemoryOf
flam_memory_summary_of (const FlamMemorySummary *memory)
{
  guint kinds = memory->kinds_present;

  if (kinds != 0 && (kinds & ~FLAM_ALLOCATORS_RESOURCES) == 0)
    return FLAM_MEMORY_OF_RESOURCES;
  return kinds != 0 && (kinds & ~FLAM_ALLOCATORS_PAGES) == 0
             ? FLAM_MEMORY_OF_PAGES
             : FLAM_MEMORY_OF_BLOCKS;
}

gboolean
flam_memory_summary_has_any (const FlamMemorySummary *memory,
                             const FlamAmounts *amounts)
{
  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    if ((flam_memory_summary_knows (memory, part, FALSE) &&
         amounts->part[part].blocks != 0) ||
        (flam_memory_summary_knows (memory, part, TRUE) &&
         amounts->part[part].bytes != 0))
      return TRUE;
  return FALSE;
}

static const struct
{
  FlamMemoryPart part;
  gboolean bytes;
} columns[FLAM_MEMORY_N_COLUMNS] = {
  [FLAM_MEMORY_COLUMN_ALLOCATED] = { FLAM_MEMORY_ALLOCATED, TRUE },
  [FLAM_MEMORY_COLUMN_BLOCKS] = { FLAM_MEMORY_ALLOCATED, FALSE },
  [FLAM_MEMORY_COLUMN_TEMPORARY] = { FLAM_MEMORY_TEMPORARY, FALSE },
  [FLAM_MEMORY_COLUMN_PEAK] = { FLAM_MEMORY_PEAK, TRUE },
  [FLAM_MEMORY_COLUMN_LEAKED] = { FLAM_MEMORY_LEAKED, TRUE },
};

gboolean
flam_memory_summary_has_column (const FlamMemorySummary *memory,
                                FlamMemoryColumn column)
{
  return flam_memory_summary_knows (
      memory, columns[column].part, columns[column].bytes);
}

/* Mappings and the break are all recorded, sampled or not. */
static gboolean
is_of_pages (const FlamMemorySummary *memory, const FlamAmounts *amounts)
{
  return amounts == &memory->kind[FLAM_ALLOCATOR_MMAP] ||
         amounts == &memory->kind[FLAM_ALLOCATOR_BRK] ||
         (memory->kinds_counted & ~FLAM_ALLOCATORS_PAGES) == 0;
}

FlamEstimate
flam_amounts_estimate (const FlamMemorySummary *memory,
                       const FlamAmounts *amounts,
                       FlamMemoryPart part,
                       gboolean bytes)
{
  const FlamAmount *amount = &amounts->part[part];
  FlamFigure figure = { bytes ? amount->bytes : amount->blocks,
                        bytes ? amount->blocks : amount->bytes,
                        { 0 } };
  FlamMeasureSource source =
      bytes ? sources[part]
            : flam_allocation_filter_other_source (sources[part]);

  if (is_of_pages (memory, amounts))
    return (FlamEstimate){ 0 };
  if (amounts->spread != NULL && figure.weight == 0 &&
      part != FLAM_MEMORY_ALLOCATED)
    {
      amount = &amounts->part[FLAM_MEMORY_ALLOCATED];
      figure = (FlamFigure){ bytes ? amount->bytes : amount->blocks,
                             bytes ? amount->blocks : amount->bytes,
                             amounts->spread[FLAM_MEMORY_ALLOCATED] };
      return flam_estimate_of_none (&memory->profile->facts, source, &figure);
    }
  if (amounts->spread != NULL)
    figure.spread = amounts->spread[part];
  return flam_estimate_of (&memory->profile->facts, source, &figure);
}

FlamEstimate
flam_amounts_churn_estimate (const FlamMemorySummary *memory,
                             const FlamAmounts *amounts)
{
  const FlamAmount *part = amounts->part;
  gint64 temporary = part[FLAM_MEMORY_TEMPORARY].blocks;
  gint64 made = part[FLAM_MEMORY_ALLOCATED].blocks;

  if (is_of_pages (memory, amounts) || amounts->spread == NULL)
    return (FlamEstimate){ 0 };
  return flam_estimate_of_share (&amounts->spread[FLAM_MEMORY_TEMPORARY],
                                 temporary,
                                 &amounts->spread[FLAM_MEMORY_ALLOCATED],
                                 made);
}

FlamMemoryPart
flam_memory_column_part (FlamMemoryColumn column, gboolean *bytes)
{
  *bytes = columns[column].bytes;
  return columns[column].part;
}

FlamMemorySummary *
flam_memory_summary_new (const FlamProfile *profile,
                         const FlamSelection *selection,
                         FlamRegex *search,
                         const FlamTree *zoomed,
                         FlamNodeId zoom,
                         const FlamProgress *progress,
                         GError **error)
{
  g_autoptr (FlamMemorySummary) memory =
      g_atomic_rc_box_new0 (FlamMemorySummary);
  g_auto (Summary) summary = { profile, selection, .memory = memory };

  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    flam_allocation_filter_init (
        &summary.blocks[part], profile, selection, sources[part]);
  memory->peak_time = flam_allocation_filter_peak_time (profile, selection);
  memory->profile = flam_profile_ref (profile);
  memory->kinds_present = flam_allocation_filter_kinds_present (profile);
  memory->kinds_counted =
      flam_allocation_filter_kinds_counted (profile, selection);
  memory->spreads = g_ptr_array_new_with_free_func (g_free);
  memory->thread = g_new0 (FlamAmounts, profile->threads.n + 1);
  keep_spreads (memory, &memory->all, 1);
  keep_spreads (memory, memory->size, FLAM_MEMORY_BINS);
  keep_spreads (memory, memory->kind, FLAM_N_ALLOCATORS);
  keep_spreads (memory, memory->thread, profile->threads.n);
  if (selection->suppressions != NULL)
    {
      memory->suppressions = flam_suppressions_ref (selection->suppressions);
      memory->rule = g_new0 (
          FlamAmounts, flam_suppressions_get_n (selection->suppressions) + 1);
      keep_spreads (memory,
                    memory->rule,
                    flam_suppressions_get_n (selection->suppressions));
    }
  summary.self = g_new0 (FlamAmounts, profile->stacks.n + 1);
  summary.self_spread = give_spreads (profile, summary.self, profile->stacks.n);
  if (!choose_stacks (&summary, search, zoomed, zoom, progress, error) ||
      !add_rows (&summary, progress, error))
    return NULL;
  add_functions (&summary);
  return g_steal_pointer (&memory);
}

FlamMemorySummary *
flam_memory_summary_ref (FlamMemorySummary *memory)
{
  return g_atomic_rc_box_acquire (memory);
}

static void
memory_clear (gpointer data)
{
  FlamMemorySummary *memory = data;

  g_clear_pointer (&memory->profile, flam_profile_unref);
  g_clear_pointer (&memory->suppressions, flam_suppressions_unref);
  g_clear_pointer (&memory->tree, flam_tree_unref);
  g_free (memory->thread);
  g_free (memory->function);
  g_free (memory->function_self);
  g_free (memory->function_total);
  g_free (memory->rule);
  g_clear_pointer (&memory->spreads, g_ptr_array_unref);
}

void
flam_memory_summary_unref (FlamMemorySummary *memory)
{
  g_atomic_rc_box_release_full (memory, memory_clear);
}
