/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-trace-spans.h"

typedef struct
{
  gint64 start, end; /* ns */
  FlamId thread;
  FlamId name;
  guint32 number; /* order in the file */
} Span;

typedef struct
{
  gint64 time;
  FlamId thread;
  FlamId name;
  guint32 number;
  gboolean begins;
} Mark;

void
flam_trace_spans_init (FlamTraceSpans *spans, FlamBuilder *builder)
{
  *spans = (FlamTraceSpans){
    .builder = builder,
    .spans = g_array_new (FALSE, FALSE, sizeof (Span)),
    .marks = g_array_new (FALSE, FALSE, sizeof (Mark)),
    .end = G_MININT64,
  };
}

void
flam_trace_spans_clear (FlamTraceSpans *spans)
{
  g_array_unref (spans->spans);
  g_array_unref (spans->marks);
}

void
flam_trace_spans_see (FlamTraceSpans *spans, gint64 time)
{
  spans->end = MAX (spans->end, time);
}

void
flam_trace_spans_add (
    FlamTraceSpans *spans, FlamId thread, FlamId name, gint64 start, gint64 end)
{
  Span span = { start, end, thread, name, spans->n_events++ };

  flam_trace_spans_see (spans, start);
  if (end != G_MAXINT64)
    flam_trace_spans_see (spans, end);
  g_array_append_val (spans->spans, span);
}

static void
add_mark (FlamTraceSpans *spans,
          FlamId thread,
          FlamId name,
          gint64 time,
          gboolean begins)
{
  Mark mark = { time, thread, name, spans->n_events++, begins };

  flam_trace_spans_see (spans, time);
  g_array_append_val (spans->marks, mark);
}

void
flam_trace_spans_begin (FlamTraceSpans *spans,
                        FlamId thread,
                        FlamId name,
                        gint64 time)
{
  add_mark (spans, thread, name, time, TRUE);
}

void
flam_trace_spans_end (FlamTraceSpans *spans,
                      FlamId thread,
                      FlamId name,
                      gint64 time)
{
  add_mark (spans, thread, name, time, FALSE);
}

/* --- beginnings and ends -> spans ---------------------------------------- */

static int
compare_marks (gconstpointer a, gconstpointer b)
{
  const Mark *x = a;
  const Mark *y = b;

  if (x->thread != y->thread)
    return x->thread < y->thread ? -1 : 1;
  if (x->time != y->time)
    return x->time < y->time ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* The marks of one thread that wait for their end. How many there are of each
 * name is counted, so that an end which fits none is known at once. */
typedef struct
{
  FlamTraceSpans *spans;
  GArray *marks;     /* Mark */
  GHashTable *named; /* name -> how many */
} Waiting;

static guint
count_name (Waiting *waiting, FlamId name, int change)
{
  gpointer key = GUINT_TO_POINTER (name);
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (waiting->named, key));

  if (change != 0)
    g_hash_table_insert (waiting->named, key, GUINT_TO_POINTER (n + change));
  return n + change;
}

/* The innermost one ends: its name. */
static FlamId
pop_mark (Waiting *waiting, gint64 end)
{
  Mark mark = g_array_index (waiting->marks, Mark, waiting->marks->len - 1);
  Span span = { mark.time, end, mark.thread, mark.name, mark.number };

  g_array_append_val (waiting->spans->spans, span);
  g_array_set_size (waiting->marks, waiting->marks->len - 1);
  count_name (waiting, mark.name, -1);
  return mark.name;
}

static void
use_mark (Waiting *waiting, const Mark *mark)
{
  if (mark->begins)
    {
      g_array_append_val (waiting->marks, *mark);
      count_name (waiting, mark->name, 1);
    }
  else if (waiting->marks->len == 0 ||
           (mark->name != 0 && count_name (waiting, mark->name, 0) == 0))
    waiting->spans->bad++;
  else
    /* Those within it, which lost their own ends, end with it. */
    while (pop_mark (waiting, mark->time) != mark->name && mark->name != 0)
      waiting->spans->bad++;
}

static void
pair_marks (FlamTraceSpans *spans)
{
  Waiting waiting = {
    .spans = spans,
    .marks = g_array_new (FALSE, FALSE, sizeof (Mark)),
    .named = g_hash_table_new (NULL, NULL),
  };
  FlamId thread = FLAM_NONE;

  g_array_sort (spans->marks, compare_marks);
  for (guint i = 0; i < spans->marks->len; i++)
    {
      const Mark *mark = &g_array_index (spans->marks, Mark, i);

      if (mark->thread != thread)
        while (waiting.marks->len > 0)
          pop_mark (&waiting, G_MAXINT64);
      thread = mark->thread;
      use_mark (&waiting, mark);
    }
  while (waiting.marks->len > 0)
    pop_mark (&waiting, G_MAXINT64);
  g_array_unref (waiting.marks);
  g_hash_table_unref (waiting.named);
}

guint
flam_trace_spans_close (FlamTraceSpans *spans)
{
  pair_marks (spans);
  for (guint i = 0; i < spans->spans->len; i++)
    {
      Span *span = &g_array_index (spans->spans, Span, i);

      if (span->end != G_MAXINT64)
        continue;
      span->end = spans->end;
      spans->open++;
    }
  return spans->spans->len;
}

/* --- spans -> samples ---------------------------------------------------- */

static int
compare_spans (gconstpointer a, gconstpointer b)
{
  const Span *x = a;
  const Span *y = b;

  if (x->thread != y->thread)
    return x->thread < y->thread ? -1 : 1;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  if (x->end != y->end)
    return x->end > y->end ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

typedef struct
{
  gint64 end;
  FlamId stack;
} Open;

static void
add_piece (
    FlamTraceSpans *spans, FlamId thread, FlamId stack, gint64 from, gint64 to)
{
  FlamSample sample = { .thread = thread, .stack = stack, .time = from };
  gint64 weight = to - from;

  if (weight > 0)
    flam_builder_add_sample (spans->builder, &sample, &weight);
}

/* Closes what ends by `until`; the time before it belongs to the innermost. */
static gint64
close_spans (FlamTraceSpans *spans,
             FlamId thread,
             GArray *open,
             gint64 now,
             gint64 until)
{
  while (open->len > 0)
    {
      const Open *top = &g_array_index (open, Open, open->len - 1);
      gint64 to = MIN (top->end, until);
      add_piece (spans, thread, top->stack, now, to);
      now = MAX (now, to);
      if (top->end > until)
        return now;
      g_array_set_size (open, open->len - 1);
    }
  return until;
}

static FlamId
span_stack (FlamTraceSpans *spans, FlamId prefix, FlamId name)
{
  FlamId function =
      flam_builder_function_named (spans->builder, name, FLAM_KIND_NATIVE);

  return flam_builder_stack (
      spans->builder,
      prefix,
      flam_builder_frame (spans->builder, function, 0, 0, 0));
}

void
flam_trace_spans_make_samples (FlamTraceSpans *spans)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (Open));
  FlamId thread = FLAM_NONE;
  gint64 now = 0;

  g_array_sort (spans->spans, compare_spans);
  for (guint i = 0; i < spans->spans->len; i++)
    {
      const Span *span = &g_array_index (spans->spans, Span, i);
      const Open *around;
      Open next = { span->end, FLAM_NONE };

      if (span->thread != thread)
        {
          close_spans (spans, thread, open, now, G_MAXINT64);
          thread = span->thread;
        }
      now = close_spans (spans, thread, open, now, span->start);
      around =
          open->len > 0 ? &g_array_index (open, Open, open->len - 1) : NULL;
      if (around != NULL)
        next.end = MIN (next.end, around->end);
      next.stack = span_stack (
          spans, around != NULL ? around->stack : FLAM_NONE, span->name);
      g_array_append_val (open, next);
      now = span->start;
    }
  close_spans (spans, thread, open, now, G_MAXINT64);
}
