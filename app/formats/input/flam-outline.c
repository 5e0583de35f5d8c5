/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-outline.h"

/* The greatest depth; deeper rows are placed at it. */
#define MAX_DEPTH (1 << 20)

typedef struct
{
  guint depth;
  guint32 row;
} Open;

void
flam_arena_outline (FlamLoad *load, FlamOutline *outline, gboolean own)
{
  *outline = (FlamOutline){ .rows = flam_arena_array (load, FlamOutlineRow),
                            .open = flam_arena_array (load, Open),
                            .own = own };
}

guint32
flam_outline_add (FlamOutline *outline,
                  guint32 caller,
                  FlamThreadId thread,
                  FlamFrameId frame,
                  gint64 weight)
{
  FlamOutlineRow row = { .caller = caller,
                         .frame = frame,
                         .thread = thread,
                         .weight = weight,
                         .stack = FLAM_NONE };

  g_array_append_val (outline->rows, row);
  return outline->rows->len - 1;
}

guint32
flam_outline_add_at (FlamOutline *outline,
                     guint depth,
                     FlamThreadId thread,
                     FlamFrameId frame,
                     gint64 weight)
{
  GArray *open = outline->open;
  Open now = { MIN (depth, MAX_DEPTH), 0 };
  guint32 caller;

  while (open->len > 0 &&
         g_array_index (open, Open, open->len - 1).depth >= now.depth)
    g_array_set_size (open, open->len - 1);
  caller =
      open->len > 0 ? g_array_index (open, Open, open->len - 1).row : FLAM_NONE;
  now.row = flam_outline_add (outline, caller, thread, frame, weight);
  g_array_append_val (open, now);
  return now.row;
}

/* Subtracts the totals of callees from each row's total; self weights stay
 * unchanged. */
static void
subtract_callees (const FlamOutline *outline, GArray *totals)
{
  const FlamOutlineRow *rows =
      (const FlamOutlineRow *)(gconstpointer)outline->rows->data;

  /* Callers come first: each row is subtracted from its caller while it still
   * has its own total. */
  for (guint32 i = 0; !outline->own && i < totals->len; i++)
    if (rows[i].caller != FLAM_NONE &&
        __builtin_sub_overflow (
            g_array_index (totals, gint64, rows[i].caller),
            g_array_index (totals, gint64, i),
            &g_array_index (totals, gint64, rows[i].caller)))
      g_array_index (totals, gint64, rows[i].caller) = 0;
}

void
flam_outline_finish (FlamOutline *outline, FlamBuilder *builder)
{
  FlamOutlineRow *rows = (FlamOutlineRow *)(gpointer)outline->rows->data;
  FlamSample sample = { .event = outline->event };

  if (outline->counts != NULL)
    {
      g_array_set_size (outline->counts, outline->rows->len);
      subtract_callees (outline, outline->counts);
    }
  for (guint32 i = 0; i < outline->rows->len; i++)
    {
      FlamOutlineRow *row = &rows[i];
      FlamOutlineRow *caller =
          row->caller != FLAM_NONE ? &rows[row->caller] : NULL;

      if (caller != NULL)
        row->stack = caller->stack;
      if (row->frame != FLAM_NONE)
        row->stack = flam_builder_stack (builder, row->stack, row->frame);
      if (caller != NULL && !outline->own &&
          __builtin_add_overflow (
              caller->in_callees, row->weight, &caller->in_callees))
        caller->in_callees = G_MAXINT64;
    }
  for (guint32 i = 0; i < outline->rows->len; i++)
    {
      gint64 own[] = { rows[i].weight - rows[i].in_callees, 0 };

      sample.thread = rows[i].thread;
      sample.stack = rows[i].stack;
      outline->excess += own[0] < 0;
      own[0] = MAX (own[0], 0);
      if (outline->counts != NULL)
        own[1] = MAX (g_array_index (outline->counts, gint64, i), 0);
      if (own[0] > 0 || own[1] > 0)
        flam_builder_add_sample (builder, &sample, own);
    }
}
