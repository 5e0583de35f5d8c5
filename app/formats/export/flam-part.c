/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-part.h"

#include "flam-core-query.h"

static guint32
lane_of (const FlamPart *part, FlamId block)
{
  FlamThreadId thread = part->profile->allocations.thread[block];

  return thread != FLAM_NONE ? thread : part->profile->threads.n;
}

/* Blocks are in order of time; the counting sort keeps that in a lane. */
static void
sort_blocks (FlamPart *part)
{
  guint32 n = part->profile->allocations.n;
  g_autofree guint32 *next = g_new (guint32, part->n_lanes + 1);

  part->order = g_new (guint32, n + 1);
  part->starts = g_new0 (guint32, part->n_lanes + 1);
  for (FlamId i = 0; i < n; i++)
    part->starts[lane_of (part, i) + 1]++;
  for (guint32 lane = 0; lane < part->n_lanes; lane++)
    {
      part->starts[lane + 1] += part->starts[lane];
      next[lane] = part->starts[lane];
    }
  for (FlamId i = 0; i < n; i++)
    part->order[next[lane_of (part, i)]++] = i;
}

/* Above the numbers that systems assign. */
#define NUMBER_BASE (G_GINT64_CONSTANT (1) << 30)

/* If the system reused a number, it means another thread there: in a format
 * that identifies threads by their numbers, the later thread gets a new one. */
static void
number_lanes (FlamPart *part)
{
  const FlamThreads *threads = &part->profile->threads;
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (flam_hash_int64, g_int64_equal, g_free, NULL);

  part->unnumbered = FLAM_NONE;
  for (FlamId t = threads->n; t-- > 0;)
    if (part->profile->processes.pid[threads->process[t]] < 0)
      part->unnumbered = threads->process[t];
  part->tids = g_new (gint64, part->n_lanes);
  for (guint32 lane = 0; lane < part->n_lanes; lane++)
    {
      FlamThreadId thread = flam_part_thread (part, lane);
      gint32 tid = thread != FLAM_NONE ? threads->tid[thread] : -1;
      gint64 key = flam_part_pid (part, lane) << 32 | (guint32)tid;

      part->tids[lane] =
          tid >= 0 && g_hash_table_add (seen, g_memdup2 (&key, sizeof key))
              ? tid
              : NUMBER_BASE + lane;
    }
}

gboolean
flam_part_init (FlamPart *part,
                const FlamProfile *profile,
                const FlamSelection *selection,
                GError **error)
{
  *part = (FlamPart){ .profile = flam_cut_new (profile, selection, error) };
  if (part->profile == NULL)
    return FALSE;
  /* The selected measure is the first of a part. */
  part->measure = part->profile == profile ? selection->measure : 0;
  part->n_lanes = part->profile->threads.n + 1;
  part->all = flam_selection_new ();
  part->n_label_sets = flam_sample_labels_n_sets (part->profile);
  number_lanes (part);
  if (part->profile->allocations.n > 0)
    sort_blocks (part);
  return TRUE;
}

void
flam_part_clear (FlamPart *part)
{
  g_clear_pointer (&part->profile, flam_profile_unref);
  g_clear_pointer (&part->all, flam_selection_free);
  g_clear_pointer (&part->tids, g_free);
  g_clear_pointer (&part->order, g_free);
  g_clear_pointer (&part->starts, g_free);
}

const FlamMeasure *
flam_part_measure (const FlamPart *part)
{
  return &part->profile->measures[part->measure];
}

FlamThreadId
flam_part_thread (const FlamPart *part, guint32 lane)
{
  return lane < part->profile->threads.n ? lane : FLAM_NONE;
}

char *
flam_part_lane_name (const FlamPart *part, guint32 lane)
{
  const FlamProfile *profile = part->profile;
  FlamThreadId thread = flam_part_thread (part, lane);
  const char *name = "";

  if (thread != FLAM_NONE)
    name = flam_profile_string (profile, profile->threads.name[thread]);
  if (*name != '\0')
    return g_strdup (name);
  if (thread != FLAM_NONE && profile->threads.tid[thread] >= 0)
    return g_strdup_printf ("%d", profile->threads.tid[thread]);
  return g_strdup ("");
}

/* The first process without a number is 0. */
gint64
flam_part_pid (const FlamPart *part, guint32 lane)
{
  FlamThreadId thread = flam_part_thread (part, lane);
  FlamProcessId process;

  if (thread == FLAM_NONE)
    return 0;
  process = part->profile->threads.process[thread];
  if (part->profile->processes.pid[process] >= 0)
    return part->profile->processes.pid[process];
  return process == part->unnumbered ? 0 : NUMBER_BASE + process;
}

gint64
flam_part_tid (const FlamPart *part, guint32 lane)
{
  return part->tids[lane];
}

FlamPartRows
flam_part_rows (const FlamPart *part, guint measure, guint32 lane)
{
  const FlamThreads *threads = &part->profile->threads;
  FlamPartRows rows = { .part = part,
                        .measure = part->profile->measures + measure };

  if (rows.measure->source != FLAM_FROM_SAMPLES)
    {
      flam_allocation_filter_init (
          &rows.filter, part->profile, part->all, rows.measure->source);
      if (part->starts != NULL)
        {
          rows.at = part->starts[lane];
          rows.end = part->starts[lane + 1];
        }
    }
  else if (lane < threads->n)
    {
      rows.at = threads->first_sample[lane];
      rows.end = rows.at + threads->n_samples[lane];
    }
  rows.first = rows.at;
  return rows;
}

void
flam_part_rows_clear (FlamPartRows *rows)
{
  flam_allocation_filter_clear (&rows->filter);
}

static void
get_block (const FlamPartRows *rows, guint32 at, FlamPartRow *row)
{
  const FlamAllocations *blocks = &rows->part->profile->allocations;
  FlamId i = rows->part->order[at];
  gint64 count = flam_allocation_filter_count (&rows->filter, i);

  *row = (FlamPartRow){
    .time = blocks->time[i],
    .stack = blocks->stack[i],
    .weight = flam_allocation_filter_source_is_bytes (rows->measure->source)
                  ? count * blocks->size[i]
                  : count,
    .state = FLAM_STATE_RUNNING,
  };
}

static void
get_sample (const FlamPartRows *rows, guint32 i, FlamPartRow *row)
{
  const FlamSamples *samples = &rows->part->profile->samples;
  const FlamMeasure *measure = rows->measure;
  guint16 event = samples->event != NULL ? samples->event[i] : 0;
  gint64 weight = measure->weight != NULL ? measure->weight[i] : 1;

  *row = (FlamPartRow){
    .time = samples->time != NULL ? samples->time[i] : i - rows->first,
    .stack = samples->stack[i],
    .weight =
        measure->event != FLAM_NONE && measure->event != event ? 0 : weight,
    .state = samples->state != NULL ? samples->state[i] : FLAM_STATE_RUNNING,
    .labels = flam_sample_label_set (samples, rows->part->n_label_sets, i),
  };
}

gboolean
flam_part_rows_next (FlamPartRows *rows, FlamPartRow *row)
{
  gboolean is_sample = rows->measure->source == FLAM_FROM_SAMPLES;

  while (rows->at < rows->end)
    {
      guint32 at = rows->at++;

      if (is_sample)
        get_sample (rows, at, row);
      else
        get_block (rows, at, row);
      if (row->weight != 0)
        return TRUE;
    }
  return FALSE;
}

gboolean
flam_part_is_empty (const FlamPart *part, guint32 lane)
{
  g_auto (FlamPartRows) rows = flam_part_rows (part, part->measure, lane);
  FlamPartRow row;

  return !flam_part_rows_next (&rows, &row);
}

gint64
flam_part_total (const FlamPart *part, guint32 lane)
{
  g_auto (FlamPartRows) rows = flam_part_rows (part, part->measure, lane);
  FlamPartRow row;
  gint64 total = 0;

  while (flam_part_rows_next (&rows, &row))
    total += row.weight;
  return total;
}

void
flam_part_path (const FlamPart *part, FlamStackId stack, GArray *path)
{
  const FlamStacks *stacks = &part->profile->stacks;
  guint n = 0;

  for (FlamId s = stack; s != FLAM_NONE; s = stacks->prefix[s])
    n++;
  g_array_set_size (path, n);
  for (; stack != FLAM_NONE; stack = stacks->prefix[stack])
    g_array_index (path, FlamId, --n) = stacks->frame[stack];
}
