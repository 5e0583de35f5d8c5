/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-call-tree.h"

/* The calls of one root and below, in their order: callers come first. */
typedef struct
{
  FlamFrameId frame;
  guint32 caller;    /* row; FLAM_NONE: the root */
  gint64 time;       /* -1: unknown */
  gint64 duration;   /* -1: it has not returned */
  gint64 in_callees; /* as far as they are not placed yet */
  gint64 from, to;   /* placed: its self time before `from` is a sample */
  FlamStackId stack;
  gboolean called; /* it has been counted */
} Row;

typedef struct
{
  FlamColumn rows;
  guint32 open; /* row; FLAM_NONE */
  guint depth;
  gint64 end; /* of the root before */
} Lane;

static void
clear_lane (gpointer lane)
{
  flam_column_clear (&((Lane *)lane)->rows);
}

void
flam_call_tree_init (FlamCallTree *tree, FlamLoad *load)
{
  *tree = (FlamCallTree){ .builder = load->builder,
                          .lanes = flam_arena_array (load, Lane) };
  g_array_set_clear_func (tree->lanes, clear_lane);
}

static Lane *
get_lane (FlamCallTree *tree, FlamThreadId thread)
{
  while (tree->lanes->len <= thread)
    {
      Lane lane = { .open = FLAM_NONE };

      flam_column_init (&lane.rows, sizeof (Row));
      g_array_append_val (tree->lanes, lane);
    }
  return &g_array_index (tree->lanes, Lane, thread);
}

static void
begin (FlamCallTree *tree, gboolean timed)
{
  guint measure;

  tree->begun = TRUE;
  tree->timed = timed;
  if (timed)
    flam_builder_set_has_times (tree->builder);
  measure = flam_load_measures (
      tree->builder, FLAM_STANDARD_WALL_TIME, FLAM_STANDARD_CALLS);
  if (timed)
    flam_builder_set_spans (tree->builder, measure, FLAM_SPANS_CALLS);
}

void
flam_call_tree_enter (FlamCallTree *tree,
                      FlamThreadId thread,
                      FlamFrameId frame,
                      gint64 time)
{
  Lane *lane = get_lane (tree, thread);
  Row row = {
    .frame = frame, .caller = lane->open, .time = time, .duration = -1
  };

  if (!tree->begun)
    begin (tree, time >= 0);
  tree->calls++;
  tree->end = MAX (tree->end, time);
  lane->open = lane->rows.n;
  lane->depth++;
  flam_column_append (&lane->rows, Row, row);
}

/* --- rows -> samples ----------------------------------------------------- */

static void
add_up (Row *rows, gsize n)
{
  for (gsize i = n; i-- > 0;)
    {
      rows[i].duration = MAX (rows[i].duration, rows[i].in_callees);
      if (rows[i].caller != FLAM_NONE &&
          __builtin_add_overflow (rows[rows[i].caller].in_callees,
                                  rows[i].duration,
                                  &rows[rows[i].caller].in_callees))
        rows[rows[i].caller].in_callees = G_MAXINT64 / 2;
    }
}

static void
add_piece (FlamCallTree *tree, FlamThreadId thread, Row *row, gint64 until)
{
  FlamSample sample = { .thread = thread,
                        .stack = row->stack,
                        .time = row->from };
  gint64 weights[] = { MAX (until - row->from, 0), !row->called };

  if (weights[0] > 0 || weights[1] > 0)
    flam_builder_add_sample (tree->builder, &sample, weights);
  row->called = TRUE;
  row->from = until;
}

static void
place (Row *row, Row *caller, const Lane *lane)
{
  gint64 latest;

  row->from = caller != NULL ? caller->from : lane->end;
  if (caller == NULL)
    row->from = MAX (row->from, row->time);
  else if (row->time >= 0)
    {
      latest = caller->to - caller->in_callees;
      row->from = MAX (row->from, MIN (row->time, latest));
    }
  if (__builtin_add_overflow (row->from, row->duration, &row->to))
    row->to = G_MAXINT64;
}

/* The root has returned. */
static void
add_samples (FlamCallTree *tree, FlamThreadId thread, Lane *lane)
{
  Row *rows = lane->rows.data;
  guint32 top = FLAM_NONE;

  add_up (rows, lane->rows.n);
  for (guint32 i = 0; i < lane->rows.n; i++)
    {
      Row *row = &rows[i], *caller;

      for (; top != row->caller; top = rows[top].caller)
        add_piece (tree, thread, &rows[top], rows[top].to);
      caller = top != FLAM_NONE ? &rows[top] : NULL;
      place (row, caller, lane);
      row->stack =
          flam_builder_stack (tree->builder,
                              caller != NULL ? caller->stack : FLAM_NONE,
                              row->frame);
      if (caller != NULL)
        {
          add_piece (tree, thread, caller, row->from);
          caller->from = row->to;
          caller->in_callees -= row->duration;
        }
      top = i;
    }
  for (; top != FLAM_NONE; top = rows[top].caller)
    add_piece (tree, thread, &rows[top], rows[top].to);
  if (lane->rows.n > 0)
    lane->end = rows[0].to;
  lane->rows.n = 0;
  lane->open = FLAM_NONE;
  lane->depth = 0;
}

void
flam_call_tree_leave (FlamCallTree *tree, FlamThreadId thread, gint64 duration)
{
  Lane *lane = get_lane (tree, thread);
  gint64 until;
  Row *row;

  if (lane->open == FLAM_NONE)
    {
      tree->bad++;
      return;
    }
  row = &flam_column_at (&lane->rows, Row, lane->open);
  row->duration = duration;
  if (row->time >= 0 && !__builtin_add_overflow (row->time, duration, &until))
    tree->end = MAX (tree->end, until);
  lane->open = row->caller;
  lane->depth--;
  if (lane->open == FLAM_NONE)
    add_samples (tree, thread, lane);
}

void
flam_call_tree_leave_at (FlamCallTree *tree, FlamThreadId thread, gint64 time)
{
  const Lane *lane = get_lane (tree, thread);
  gint64 start = time;

  tree->end = MAX (tree->end, time);
  if (lane->open != FLAM_NONE)
    start = flam_column_at (&lane->rows, Row, lane->open).time;
  flam_call_tree_leave (tree, thread, MAX (time - start, 0));
}

void
flam_call_tree_exit (FlamCallTree *tree, FlamThreadId thread, gint64 time)
{
  while (get_lane (tree, thread)->open != FLAM_NONE)
    flam_call_tree_leave_at (tree, thread, time);
}

guint
flam_call_tree_depth (FlamCallTree *tree, FlamThreadId thread)
{
  return get_lane (tree, thread)->depth;
}

/* The number of calls that are open. */
static guint64
close_calls (const FlamCallTree *tree, Lane *lane)
{
  guint64 open = 0;

  for (gsize i = 0; i < lane->rows.n; i++)
    {
      Row *row = &flam_column_at (&lane->rows, Row, i);

      if (row->duration >= 0)
        continue;
      open++;
      if (row->time >= 0)
        row->duration = tree->end - row->time;
    }
  return open;
}

void
flam_call_tree_finish (FlamCallTree *tree)
{
  guint64 open = 0;

  for (FlamId thread = 0; thread < tree->lanes->len; thread++)
    {
      Lane *lane = &g_array_index (tree->lanes, Lane, thread);

      open += close_calls (tree, lane);
      add_samples (tree, thread, lane);
    }
  flam_builder_warn_count (
      tree->builder,
      tree->bad,
      "%" PRIu64 " call began before the trace and is left out",
      "%" PRIu64 " calls began before the trace and are left out");
  if (tree->timed)
    flam_load_warn_open (tree->builder, open);
  else
    flam_builder_warn_count (
        tree->builder,
        open,
        "%" PRIu64
        " call does not return in the trace: it has the time of its callees",
        "%" PRIu64 " calls do not return in the trace: they have the time of "
        "their callees");
}
