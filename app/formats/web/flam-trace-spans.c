/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-trace-spans.h"

#include <string.h>

typedef struct
{
  FlamId thread;
  FlamId name;
  gint64 start, end; /* ns */
  guint32 number;    /* order in the file */
} Span;

typedef struct
{
  FlamId thread;
  FlamId name;
  gint64 time;
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

static void
see_name (FlamTraceSpans *spans, FlamId thread, FlamId name)
{
  spans->n_threads = MAX (spans->n_threads, thread + 1);
  spans->n_names = MAX (spans->n_names, name + 1);
}

void
flam_trace_spans_add (
    FlamTraceSpans *spans, FlamId thread, FlamId name, gint64 start, gint64 end)
{
  Span span = { thread, name, start, end, spans->n_events++ };

  see_name (spans, thread, name);
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
  Mark mark = { thread, name, time, spans->n_events++, begins };

  see_name (spans, thread, name);
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

/* --- order --------------------------------------------------------------- */

/* Spans and marks begin with their thread. Those of one thread stand as they
 * came, which mostly is the order that is wanted, or a few times over: so the
 * rows go to their threads first, and then ascending runs are merged. */
typedef struct
{
  char *rows;
  char *room; /* for as many */
  gsize size;
  GCompareFunc compare;
} Order;

static void
swap_rooms (Order *order)
{
  char *rows = order->rows;

  order->rows = order->room;
  order->room = rows;
}

static void
group_by_thread (const FlamTraceSpans *spans, Order *order, guint n)
{
  g_autofree guint32 *next = g_new0 (guint32, spans->n_threads + 1);

  for (gsize i = 0; i < n; i++)
    next[*(const FlamId *)(order->rows + i * order->size) + 1]++;
  for (FlamId t = 0; t < spans->n_threads; t++)
    next[t + 1] += next[t];
  for (gsize i = 0; i < n; i++)
    {
      const char *row = order->rows + i * order->size;
      gsize to = next[*(const FlamId *)row]++;

      memcpy (order->room + to * order->size, row, order->size);
    }
  swap_rooms (order);
}

/* The end of the ascending run that begins at `from`. */
static gsize
run_end (const Order *order, gsize from, gsize n)
{
  gsize i = from + 1;

  while (i < n && order->compare (order->rows + (i - 1) * order->size,
                                  order->rows + i * order->size) <= 0)
    i++;
  return MIN (i, n);
}

static void
merge_two (const Order *order, gsize from, gsize middle, gsize end)
{
  const char *a = order->rows + from * order->size;
  const char *b = order->rows + middle * order->size;
  const char *a_end = b, *b_end = order->rows + end * order->size;
  char *to = order->room + from * order->size;

  for (; a < a_end && b < b_end; to += order->size)
    {
      const char **least = order->compare (a, b) <= 0 ? &a : &b;

      memcpy (to, *least, order->size);
      *least += order->size;
    }
  memcpy (to, a, a_end - a);
  memcpy (to + (a_end - a), b, b_end - b);
}

static void
merge_runs (Order *order, gsize n)
{
  while (run_end (order, 0, n) < n)
    {
      for (gsize from = 0; from < n;)
        {
          gsize middle = run_end (order, from, n);
          gsize end = middle < n ? run_end (order, middle, n) : n;

          merge_two (order, from, middle, end);
          from = end;
        }
      swap_rooms (order);
    }
}

static void
put_in_order (const FlamTraceSpans *spans, GArray *rows, GCompareFunc compare)
{
  gsize size = g_array_get_element_size (rows);
  g_autofree char *room = g_malloc (MAX (rows->len * size, 1));
  Order order = { rows->data, room, size, compare };

  if (run_end (&order, 0, rows->len) == rows->len)
    return;
  group_by_thread (spans, &order, rows->len);
  merge_runs (&order, rows->len);
  if (order.rows != rows->data)
    memcpy (rows->data, order.rows, rows->len * size);
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

/* The spans of one thread that wait for their end. How many there are of each
 * name is counted, so that an end which fits none is known at once. */
typedef struct
{
  FlamTraceSpans *spans;
  GArray *open;   /* guint32: rows of the spans */
  guint32 *named; /* name -> how many */
} Waiting;

/* The innermost one ends: its name. */
static FlamId
pop_span (Waiting *waiting, gint64 end)
{
  guint32 row = g_array_index (waiting->open, guint32, waiting->open->len - 1);
  Span *span = &g_array_index (waiting->spans->spans, Span, row);

  span->end = end;
  g_array_set_size (waiting->open, waiting->open->len - 1);
  waiting->named[span->name]--;
  return span->name;
}

static void
push_span (Waiting *waiting, const Mark *mark)
{
  Span span = {
    mark->thread, mark->name, mark->time, G_MAXINT64, mark->number
  };
  guint32 row = waiting->spans->spans->len;

  g_array_append_val (waiting->spans->spans, span);
  g_array_append_val (waiting->open, row);
  waiting->named[mark->name]++;
}

static void
use_mark (Waiting *waiting, const Mark *mark)
{
  if (mark->begins)
    push_span (waiting, mark);
  else if (waiting->open->len == 0 ||
           (mark->name != 0 && waiting->named[mark->name] == 0))
    waiting->spans->bad++;
  else
    /* Those within it, which lost their own ends, end with it. */
    while (pop_span (waiting, mark->time) != mark->name && mark->name != 0)
      waiting->spans->bad++;
}

/* The end of what nothing closed is not known. */
static void
leave_thread (Waiting *waiting)
{
  while (waiting->open->len > 0)
    pop_span (waiting, G_MAXINT64);
}

static void
pair_marks (FlamTraceSpans *spans)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint32 *named = g_new0 (guint32, spans->n_names + 1);
  Waiting waiting = { spans, open, named };
  FlamId thread = FLAM_NONE;

  put_in_order (spans, spans->marks, compare_marks);
  for (guint i = 0; i < spans->marks->len; i++)
    {
      const Mark *mark = &g_array_index (spans->marks, Mark, i);

      if (mark->thread != thread)
        leave_thread (&waiting);
      thread = mark->thread;
      use_mark (&waiting, mark);
    }
  leave_thread (&waiting);
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

/* `frames`: by name, as far as they are made. */
static FlamId
span_stack (FlamTraceSpans *spans, FlamId *frames, FlamId prefix, FlamId name)
{
  if (frames[name] == FLAM_NONE)
    frames[name] = flam_builder_frame (
        spans->builder,
        flam_builder_function_named (spans->builder, name, FLAM_KIND_NATIVE),
        0,
        0,
        0);
  return flam_builder_stack (spans->builder, prefix, frames[name]);
}

void
flam_trace_spans_make_samples (FlamTraceSpans *spans)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (Open));
  g_autofree FlamId *frames = g_new (FlamId, spans->n_names + 1);
  FlamId thread = FLAM_NONE;
  gint64 now = 0;

  memset (frames, 0xff, spans->n_names * sizeof *frames);
  put_in_order (spans, spans->spans, compare_spans);
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
      next.stack = span_stack (spans,
                               frames,
                               around != NULL ? around->stack : FLAM_NONE,
                               span->name);
      g_array_append_val (open, next);
      now = span->start;
    }
  close_spans (spans, thread, open, now, G_MAXINT64);
}
