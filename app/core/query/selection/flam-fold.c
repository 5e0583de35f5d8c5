/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-fold.h"

#include "flam-columns.h"
#include "flam-cut-private.h"
#include "flam-merge-facts.h"
#include "flam-rescale.h"

#include <string.h>

/* The fact with the number of captures. */
#define MERGED "merged"

/* A row of samples: its sums are in the columns of the measures. */
typedef struct
{
  FlamThreadId thread;
  FlamStackId stack;
  guint32 labels;
  guint32 state;
} Key;

/* A row of blocks that are alike. */
typedef struct
{
  FlamThreadId thread;
  FlamStackId stack;
  gint64 size;
  guint8 allocator;
  guint8 freed;
  guint8 temporary;
} BlockKey;

typedef struct
{
  BlockKey key;
  gint64 count;
  gint64 at_peak;
} Block;

/* A measure of samples, or, without a column, of memory. */
typedef struct
{
  FlamMeasure like; /* without strings and weights */
  char *id;
  char *name;
  FlamColumn sums; /* gint64, one per row; it may have fewer */
} Sum;

struct _FlamFold
{
  FlamBuilder *builder;
  GString *commands;
  GArray *sums;    /* Sum */
  FlamColumn rows; /* Key */
  FlamInterner row_hash;
  FlamColumn blocks; /* Block */
  FlamInterner block_hash;
  GHashTable *processes; /* name -> FlamProcessId */
  guint64 n;
  guint n_files; /* that were added here */
  gboolean charged;
  gboolean apart;
};

static void
sum_clear (gpointer data)
{
  Sum *sum = data;

  g_free (sum->id);
  g_free (sum->name);
  flam_column_clear (&sum->sums);
}

FlamFold *
flam_fold_new (gboolean apart)
{
  FlamFold *fold = g_new0 (FlamFold, 1);

  fold->apart = apart;
  fold->builder = flam_builder_new ();
  fold->commands = g_string_new (NULL);
  fold->sums = g_array_new (FALSE, FALSE, sizeof (Sum));
  g_array_set_clear_func (fold->sums, sum_clear);
  flam_column_init (&fold->rows, sizeof (Key));
  flam_column_init (&fold->blocks, sizeof (Block));
  flam_interner_init (&fold->row_hash);
  flam_interner_init (&fold->block_hash);
  fold->processes =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  fold->charged = TRUE;
  return fold;
}

void
flam_fold_free (FlamFold *fold)
{
  flam_builder_free (fold->builder);
  g_string_free (fold->commands, TRUE);
  g_array_unref (fold->sums);
  flam_column_clear (&fold->rows);
  flam_column_clear (&fold->blocks);
  flam_interner_clear (&fold->row_hash);
  flam_interner_clear (&fold->block_hash);
  g_hash_table_unref (fold->processes);
  g_free (fold);
}

guint64
flam_fold_n (const FlamFold *fold)
{
  return fold->n;
}

/* --- measures ------------------------------------------------------------- */

static Sum *
find_sum (const FlamFold *fold,
          const FlamProfile *profile,
          const FlamMeasure *measure)
{
  for (guint i = 0; i < fold->sums->len; i++)
    {
      Sum *sum = &g_array_index (fold->sums, Sum, i);

      if (flam_measure_is_like (&sum->like, measure) &&
          sum->like.source == measure->source &&
          strcmp (sum->id, flam_profile_string (profile, measure->id)) == 0)
        return sum;
    }
  return NULL;
}

static gboolean
shares_measure (const FlamFold *fold, const FlamProfile *profile)
{
  gboolean shared =
      fold->apart || fold->sums->len == 0 || profile->n_measures == 0;

  for (guint i = 0; i < profile->n_measures && !shared; i++)
    shared = find_sum (fold, profile, &profile->measures[i]) != NULL;
  return shared;
}

static void
add_sum (FlamFold *fold, const FlamProfile *profile, const FlamMeasure *measure)
{
  Sum sum = { *measure,
              g_strdup (flam_profile_string (profile, measure->id)),
              g_strdup (flam_profile_string (profile, measure->name)),
              { NULL } };

  sum.like.weight = NULL;
  sum.like.id = sum.like.name = 0;
  flam_column_init (&sum.sums, sizeof (gint64));
  g_array_append_val (fold->sums, sum);
}

/* On a finer scale. */
static gboolean
rescale (Sum *sum, gint64 denominator)
{
  gint64 factor = denominator / sum->like.denominator;

  for (gsize i = 0; i < sum->sums.n; i++)
    {
      gint64 *value = &flam_column_at (&sum->sums, gint64, i);

      if (__builtin_mul_overflow (*value, factor, value))
        return FALSE;
    }
  sum->like.denominator = denominator;
  return TRUE;
}

static gboolean
add_measures (FlamFold *fold, const FlamProfile *profile)
{
  for (guint i = 0; i < profile->n_measures; i++)
    {
      const FlamMeasure *measure = &profile->measures[i];
      Sum *sum = find_sum (fold, profile, measure);
      gint64 common;

      if (sum == NULL)
        {
          add_sum (fold, profile, measure);
          continue;
        }
      common =
          flam_rescale_common (sum->like.denominator, measure->denominator);
      if (common == 0 || !rescale (sum, common))
        return FALSE;
    }
  return TRUE;
}

/* --- threads -------------------------------------------------------------- */

static FlamProcessId
process_named (FlamFold *fold, const char *name)
{
  guint n = g_hash_table_size (fold->processes);
  gpointer known;

  if (g_hash_table_lookup_extended (fold->processes, name, NULL, &known))
    return GPOINTER_TO_UINT (known);
  known = GUINT_TO_POINTER ((guint)flam_builder_process (fold->builder, -1, n));
  flam_builder_set_process_name (fold->builder, GPOINTER_TO_UINT (known), name);
  g_hash_table_insert (fold->processes, g_strdup (name), known);
  return GPOINTER_TO_UINT (known);
}

/* The fold's thread for each of the profile. */
static FlamThreadId *
map_threads (FlamFold *fold, const FlamProfile *profile)
{
  const FlamThreads *threads = &profile->threads;
  FlamThreadId *map = g_new (FlamThreadId, (gsize)threads->n + 1);

  for (FlamId t = 0; t < threads->n; t++)
    {
      const char *name = flam_profile_string (profile, threads->name[t]);
      FlamProcessId process = process_named (
          fold,
          flam_profile_string (profile,
                               profile->processes.name[threads->process[t]]));

      map[t] = flam_builder_thread_keyed (
          fold->builder,
          process,
          flam_builder_string (fold->builder, name, -1));
      flam_builder_set_thread_name (fold->builder, map[t], name);
    }
  return map;
}

/* --- samples -------------------------------------------------------------- */

static gboolean
row_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  return memcmp (&flam_column_at ((const FlamColumn *)table, Key, row),
                 key,
                 sizeof (Key)) == 0;
}

static FlamId
find_row (FlamFold *fold, const Key *key)
{
  guint32 hash = flam_hash_pair (((guint64)key->thread << 32) | key->stack,
                                 ((guint64)key->labels << 32) | key->state);
  FlamSlot *slot =
      flam_interner_find (&fold->row_hash, hash, row_equal, &fold->rows, key);

  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, (FlamId)fold->rows.n };
  fold->row_hash.used++;
  flam_column_append (&fold->rows, Key, *key);
  return slot->id;
}

/* Where the values of a capture's measure of samples are added. */
typedef struct
{
  const FlamMeasure *measure;
  FlamColumn *sums;
  gint64 scale;
} Into;

/* One capture's samples. The rows of the current thread are found without a
 * hash, by stack and state. */
typedef struct
{
  FlamFold *fold;
  FlamCut *cut;
  FlamThreadId *threads;
  GArray *into;   /* Into */
  FlamId *row_of; /* per stack of the profile, and for none, and state */
  GArray *filled; /* the cells of row_of that are set: guint64 */
} Adding;

static void
find_sums (Adding *adding)
{
  const FlamProfile *profile = adding->cut->profile;

  for (guint m = 0; m < profile->n_measures; m++)
    {
      const FlamMeasure *measure = &profile->measures[m];
      Sum *sum = find_sum (adding->fold, profile, measure);
      const Into into = { measure,
                          &sum->sums,
                          sum->like.denominator / measure->denominator };

      if (measure->source == FLAM_FROM_SAMPLES)
        g_array_append_val (adding->into, into);
    }
}

/* The sample's row; FLAM_NONE: its stack is not shown. */
static FlamId
row_of_sample (Adding *adding, FlamThreadId thread, guint32 i)
{
  const FlamProfile *profile = adding->cut->profile;
  const FlamSamples *samples = &profile->samples;
  FlamStackId stack = samples->stack[i];
  Key key = { .thread = adding->threads[thread],
              .labels = flam_cut_find_labels (adding->cut, i),
              .state = samples->state != NULL ? samples->state[i]
                                              : FLAM_STATE_RUNNING };
  guint64 cell = (stack != FLAM_NONE ? (guint64)stack : profile->stacks.n) *
                     FLAM_N_STATES +
                 key.state;
  FlamId to;

  if (key.labels == 0 && adding->row_of[cell] != FLAM_NONE)
    return adding->row_of[cell];
  if (!flam_cut_find_stack (adding->cut, stack, &to))
    return FLAM_NONE;
  key.stack = to;
  to = find_row (adding->fold, &key);
  if (key.labels == 0)
    {
      adding->row_of[cell] = to;
      g_array_append_val (adding->filled, cell);
    }
  return to;
}

/* FALSE: a sum exceeds the largest weight. */
static gboolean
add_sample (const Adding *adding, guint32 i, FlamId row)
{
  const FlamSamples *samples = &adding->cut->profile->samples;
  guint16 event = samples->event != NULL ? samples->event[i] : 0;
  gboolean overflow = FALSE;

  for (guint k = 0; k < adding->into->len; k++)
    {
      const Into *into = &g_array_index (adding->into, Into, k);
      const FlamMeasure *measure = into->measure;
      gint64 weight = measure->weight != NULL ? measure->weight[i] : 1;
      gint64 *to;

      if (measure->event != FLAM_NONE && measure->event != event)
        continue;
      if (into->sums->n <= row)
        flam_column_backfill (into->sums, (gsize)row + 1);
      to = &flam_column_at (into->sums, gint64, row);
      overflow |= __builtin_mul_overflow (weight, into->scale, &weight) ||
                  __builtin_add_overflow (*to, weight, to);
    }
  return !overflow;
}

static void
forget_rows (Adding *adding)
{
  for (guint c = 0; c < adding->filled->len; c++)
    adding->row_of[g_array_index (adding->filled, guint64, c)] = FLAM_NONE;
  g_array_set_size (adding->filled, 0);
}

/* Threads of one name often follow one another, and share their rows. */
static gboolean
add_thread (Adding *adding, FlamThreadId t)
{
  const FlamThreads *threads = &adding->cut->profile->threads;
  gboolean good = TRUE;

  if (t > 0 && adding->threads[t] != adding->threads[t - 1])
    forget_rows (adding);

  for (guint32 k = 0; k < threads->n_samples[t] && good; k++)
    {
      guint32 i = threads->first_sample[t] + k;
      FlamId row = row_of_sample (adding, t, i);

      good = row == FLAM_NONE || add_sample (adding, i, row);
    }
  return good;
}

/* --- memory --------------------------------------------------------------- */

static gboolean
block_equal (gconstpointer table, FlamId row, gconstpointer data)
{
  const BlockKey *a =
      &flam_column_at ((const FlamColumn *)table, Block, row).key;
  const BlockKey *b = data;

  return a->thread == b->thread && a->stack == b->stack && a->size == b->size &&
         a->allocator == b->allocator && a->freed == b->freed &&
         a->temporary == b->temporary;
}

static Block *
find_block (FlamFold *fold, const BlockKey *key)
{
  guint32 hash = flam_hash_pair (
      ((guint64)key->thread << 32) | key->stack,
      flam_hash_mix (
          (guint64)key->size,
          (guint64)(key->allocator << 2 | key->freed << 1 | key->temporary)));
  FlamSlot *slot = flam_interner_find (
      &fold->block_hash, hash, block_equal, &fold->blocks, key);

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, (FlamId)fold->blocks.n };
      fold->block_hash.used++;
      flam_column_append (&fold->blocks, Block, ((Block){ *key, 0, 0 }));
    }
  return &flam_column_at (&fold->blocks, Block, slot->id);
}

static gboolean
add_blocks (Adding *adding)
{
  const FlamCut *cut = adding->cut;
  const FlamAllocations *rows = &cut->profile->allocations;
  g_auto (FlamCutMemory) memory = { 0 };
  gboolean overflow = FALSE;

  if (rows->n == 0 || cut->profile->n_measures == 0)
    return TRUE;
  flam_cut_memory_init (&memory, cut);
  for (FlamId i = 0; i < rows->n && !overflow; i++)
    {
      gboolean freed = rows->freed_at[i] != FLAM_NEVER;
      BlockKey key = {
        .thread = rows->thread[i] != FLAM_NONE
                      ? adding->threads[rows->thread[i]]
                      : FLAM_NONE,
        .size = rows->size[i],
        .allocator = rows->allocator != NULL ? rows->allocator[i]
                                             : FLAM_ALLOCATOR_MALLOC,
        .freed = freed,
        .temporary = rows->distance[i] == 0,
      };
      FlamId stack;
      Block *block;

      if (!flam_cut_find_stack (cut, rows->stack[i], &stack))
        continue;
      key.stack = stack;
      block = find_block (adding->fold, &key);
      overflow = __builtin_add_overflow (
                     block->count, rows->count[i], &block->count) ||
                 __builtin_add_overflow (
                     block->at_peak,
                     flam_allocation_filter_count (&memory.peak, i),
                     &block->at_peak);
    }
  return !overflow;
}

/* --- facts ---------------------------------------------------------------- */

static void
add_facts (FlamFold *fold, const char *name, const FlamFacts *facts)
{
  const char *merged = flam_facts_other (facts, MERGED);
  guint64 n = 1;

  if (merged != NULL)
    g_ascii_string_to_unsigned (merged, 10, 1, G_MAXUINT32, &n, NULL);
  fold->n += n;
  fold->n_files++;
  if (fold->n_files == 1)
    flam_builder_set_format (fold->builder, facts->format);
  flam_merge_add_facts (fold->builder, fold->commands, name, facts);
  fold->charged &= facts->charged_cpu_ns != 0;
  flam_builder_facts (fold->builder)->pages_count |= facts->pages_count;
}

/* --- public functions ----------------------------------------------------- */

static gboolean
add_all (Adding *adding)
{
  const FlamProfile *profile = adding->cut->profile;
  gsize n_cells = ((gsize)profile->stacks.n + 1) * FLAM_N_STATES;
  gboolean good = TRUE;

  adding->row_of = flam_new_cells (FlamId, n_cells);
  memset (adding->row_of, 0xff, n_cells * sizeof *adding->row_of);
  find_sums (adding);
  for (FlamId t = 0; t < profile->threads.n && good; t++)
    good = add_thread (adding, t);
  flam_cells_drop (adding->row_of);
  return good && add_blocks (adding);
}

gboolean
flam_fold_add (FlamFold *fold,
               const char *name,
               const FlamProfile *profile,
               GError **error)
{
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_auto (FlamCut) cut = { profile, all };
  g_autofree FlamThreadId *threads = NULL;
  g_autoptr (GArray) filled = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autoptr (GArray) into = g_array_new (FALSE, FALSE, sizeof (Into));
  Adding adding = { fold, &cut, NULL, into, NULL, filled };
  gboolean good;

  if (!shares_measure (fold, profile))
    return flam_error_set (error,
                           FLAM_ERROR_INVALID,
                           N_ ("%s: it has no measure in common with the "
                               "captures before it"),
                           name);
  cut.builder = fold->builder;
  cut.from = G_MININT64;
  cut.to = G_MAXINT64;
  flam_shown_init (&cut.shown, profile, all, NULL, NULL);
  flam_cut_put_code (&cut);
  adding.threads = threads = map_threads (fold, profile);
  add_facts (fold, name, &profile->facts);
  good = add_measures (fold, profile) && add_all (&adding);
  cut.builder = NULL; /* it is the fold's */
  return good || flam_error_set (error,
                                 FLAM_ERROR_TOO_LARGE,
                                 N_ ("%s: the sum of its weights is too large"),
                                 name);
}

/* Measures with the same id but different units get the unit appended. */
static char *
id_for (const FlamFold *fold, guint index)
{
  const Sum *sum = &g_array_index (fold->sums, Sum, index);

  for (guint i = 0; i < index; i++)
    if (strcmp (g_array_index (fold->sums, Sum, i).id, sum->id) == 0)
      return g_strdup_printf (
          "%s-%s", sum->id, flam_unit_to_string (sum->like.unit));
  return g_strdup (sum->id);
}

static void
put_measures (FlamFold *fold)
{
  for (guint i = 0; i < fold->sums->len; i++)
    {
      const Sum *sum = &g_array_index (fold->sums, Sum, i);
      g_autofree char *id = id_for (fold, i);
      guint measure;

      if (sum->like.source != FLAM_FROM_SAMPLES)
        {
          flam_builder_add_allocation_measure (fold->builder, sum->like.source);
          continue;
        }
      measure = flam_builder_add_measure (
          fold->builder,
          id,
          sum->name,
          sum->like.unit,
          sum->like.kind,
          (int)flam_builder_add_column (fold->builder),
          FLAM_NONE);
      flam_builder_set_denominator (
          fold->builder, measure, sum->like.denominator);
    }
}

static void
put_rows (FlamFold *fold)
{
  g_autofree gint64 *weights = g_new0 (gint64, fold->sums->len + 1);

  for (gsize row = 0; row < fold->rows.n; row++)
    {
      const Key *key = &flam_column_at (&fold->rows, Key, row);
      const FlamSample sample = {
        .thread = key->thread,
        .stack = key->stack,
        .state = (guint8)key->state,
        .labels = key->labels,
      };
      guint n = 0;

      for (guint i = 0; i < fold->sums->len; i++)
        {
          const Sum *sum = &g_array_index (fold->sums, Sum, i);

          if (sum->like.source == FLAM_FROM_SAMPLES)
            weights[n++] = row < sum->sums.n
                               ? flam_column_at (&sum->sums, gint64, row)
                               : 0;
        }
      flam_builder_add_sample (fold->builder, &sample, weights);
    }
}

/* A block that was freed at once is a temporary one. */
static void
put_blocks (FlamFold *fold)
{
  for (gsize i = 0; i < fold->blocks.n; i++)
    {
      const Block *block = &flam_column_at (&fold->blocks, Block, i);
      const FlamAllocation row = {
        .freed_at = block->key.freed ? 1 : FLAM_NEVER,
        .thread = block->key.thread,
        .stack = block->key.stack,
        .size = block->key.size,
        .count = block->count,
        .at_peak = block->at_peak,
        .distance = block->key.temporary ? 0 : G_MAXUINT16,
        .allocator = block->key.allocator,
      };

      flam_builder_add_allocation (fold->builder, &row);
    }
}

FlamProfile *
flam_fold_finish (FlamFold *fold, GError **error)
{
  g_autofree char *n = g_strdup_printf ("%" G_GUINT64_FORMAT, fold->n);

  flam_builder_set_fact (fold->builder, MERGED, n);
  flam_builder_set_command (fold->builder, fold->commands->str);
  if (!fold->charged)
    flam_builder_facts (fold->builder)->charged_cpu_ns = 0;
  put_measures (fold);
  put_rows (fold);
  put_blocks (fold);
  return flam_builder_finish (fold->builder, error);
}
