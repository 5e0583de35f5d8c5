/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-trace-spans.h"

#include "flam-core-profile.h"

#include <string.h>

/* Also a beginning or an end: then `end` is 0, and `number` the moment's,
 * doubled, plus 1 for a beginning. So both are sorted by the same rule. */
typedef struct
{
  gint64 start, end; /* ns */
  FlamStringId name;
  FlamFrameId frame; /* FLAM_NONE: only the name is known */
  guint32 number;    /* order in the file, within the thread */
} Span;

typedef struct
{
  FlamThreadId thread;
  guint32 number;
  FlamColumn *moments;
  const FlamStringId *names; /* NULL: they and the frames are the builder's */
  const FlamFrameId *frames; /* by place */
} Piece;

typedef struct
{
  FlamThreadId thread;
  FlamState state;
  gint64 start, end; /* ns */
} Pause;

static void
clear_lane (gpointer lane)
{
  flam_column_clear (lane);
}

void
flam_trace_spans_init (FlamTraceSpans *spans, FlamLoad *load)
{
  *spans = (FlamTraceSpans){
    .builder = load->builder,
    .lanes = flam_arena_array (load, FlamColumn),
    .pieces = flam_arena_array (load, Piece),
    .pauses = flam_arena_array (load, Pause),
    .end = G_MININT64,
  };
  g_array_set_clear_func (spans->lanes, clear_lane);
}

void
flam_trace_spans_see (FlamTraceSpans *spans, gint64 time)
{
  spans->end = MAX (spans->end, time);
}

static FlamColumn *
get_lane (FlamTraceSpans *spans, FlamThreadId thread)
{
  FlamColumn lane;

  flam_column_init (&lane, sizeof (FlamMoment));
  while (spans->lanes->len <= thread)
    g_array_append_val (spans->lanes, lane);
  return &g_array_index (spans->lanes, FlamColumn, thread);
}

void
flam_trace_spans_add (FlamTraceSpans *spans,
                      FlamThreadId thread,
                      FlamStringId name,
                      gint64 start,
                      gint64 end)
{
  flam_trace_spans_see (spans, start);
  if (end != G_MAXINT64)
    flam_trace_spans_see (spans, end);
  flam_moments_add_span (get_lane (spans, thread), name, 0, start, end);
}

void
flam_trace_spans_begin (FlamTraceSpans *spans,
                        FlamThreadId thread,
                        FlamStringId name,
                        gint64 time)
{
  flam_trace_spans_begin_in (spans, thread, name, FLAM_NONE, time);
}

void
flam_trace_spans_begin_in (FlamTraceSpans *spans,
                           FlamThreadId thread,
                           FlamStringId name,
                           FlamFrameId frame,
                           gint64 time)
{
  flam_trace_spans_see (spans, time);
  flam_moments_add (get_lane (spans, thread),
                    FLAM_MOMENT_BEGIN,
                    name,
                    frame < FLAM_MOMENT_PLACE_MAX ? frame + 1 : 0,
                    time);
}

void
flam_trace_spans_end (FlamTraceSpans *spans,
                      FlamThreadId thread,
                      FlamStringId name,
                      gint64 time)
{
  flam_trace_spans_see (spans, time);
  flam_moments_add (get_lane (spans, thread), FLAM_MOMENT_END, name, 0, time);
}

void
flam_trace_spans_pause (FlamTraceSpans *spans,
                        FlamThreadId thread,
                        FlamState state,
                        gint64 start,
                        gint64 end)
{
  Pause pause = { thread, state, start, end };

  if (end > start)
    g_array_append_val (spans->pauses, pause);
}

void
flam_trace_spans_add_moments (FlamTraceSpans *spans,
                              FlamThreadId thread,
                              FlamColumn *moments,
                              const FlamStringId *names,
                              const FlamFrameId *frames)
{
  Piece piece = { thread, spans->pieces->len, moments, names, frames };

  if (moments->n > 0)
    g_array_append_val (spans->pieces, piece);
}

static int
compare_pieces (gconstpointer a, gconstpointer b)
{
  const Piece *x = a;
  const Piece *y = b;

  if (x->thread != y->thread)
    return x->thread < y->thread ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

guint
flam_trace_spans_close (FlamTraceSpans *spans)
{
  spans->n = 0;
  for (FlamId t = 0; t < spans->lanes->len; t++)
    flam_trace_spans_add_moments (
        spans, t, &g_array_index (spans->lanes, FlamColumn, t), NULL, NULL);
  g_array_sort (spans->pieces, compare_pieces);
  for (guint i = 0; i < spans->pieces->len; i++)
    {
      const FlamColumn *moments =
          g_array_index (spans->pieces, Piece, i).moments;

      for (gsize k = 0; k < moments->n; k++)
        {
          guint32 kind = flam_column_at (moments, FlamMoment, k).kind;
          spans->n += kind == FLAM_MOMENT_BEGIN || kind == FLAM_MOMENT_SPAN;
        }
    }
  return spans->n;
}

/* --- order --------------------------------------------------------------- */

/* The moments of a thread are in the file's order, which mostly is sorted, or a
 * few sorted runs: so ascending runs are merged. */

static inline gboolean
comes_before (const Span *x, const Span *y)
{
  if (x->start != y->start)
    return x->start < y->start;
  if (x->end != y->end)
    return x->end > y->end;
  return x->number < y->number;
}

/* The end of the ascending run that begins at `from`. */
static gsize
run_end (const Span *rows, gsize from, gsize n)
{
  gsize i = from + 1;

  while (i < n && !comes_before (&rows[i], &rows[i - 1]))
    i++;
  return MIN (i, n);
}

static void
merge_two (const Span *a, const Span *b, const Span *end, Span *to)
{
  const Span *a_end = b;

  while (a < a_end && b < end)
    *to++ = comes_before (b, a) ? *b++ : *a++;
  memcpy (to, a, (a_end - a) * sizeof *a);
  memcpy (to + (a_end - a), b, (end - b) * sizeof *b);
}

static void
put_in_order (FlamColumn *column)
{
  gsize n = column->n;
  Span *rows = column->data, *room, *first = rows;

  if (run_end (rows, 0, n) == n)
    return;
  room = g_new (Span, n);
  while (run_end (rows, 0, n) < n)
    {
      Span *other = rows;

      for (gsize from = 0; from < n;)
        {
          gsize middle = run_end (rows, from, n);
          gsize end = middle < n ? run_end (rows, middle, n) : n;

          merge_two (rows + from, rows + middle, rows + end, room + from);
          from = end;
        }
      rows = room;
      room = other;
    }
  if (rows != first)
    memcpy (first, rows, n * sizeof *rows);
  g_free (rows != first ? rows : room);
}

/* --- a thread's moments -> its spans -------------------------------------- */

/* The state for the spans of one thread; the memory is reused for the next. The
 * number of open spans is counted by name, so that an end without a beginning
 * is recognized at once. */
typedef struct
{
  FlamTraceSpans *all;
  FlamColumn spans;   /* Span */
  FlamColumn marks;   /* Span: beginnings and ends that are out of order */
  FlamColumn waiting; /* gsize: rows of the spans */
  guint32 *named;     /* name -> number of open spans */
} Thread;

/* Ends the innermost one; returns its name. */
static FlamId
pop_span (Thread *thread, gint64 end)
{
  gsize row = flam_column_at (&thread->waiting, gsize, --thread->waiting.n);
  Span *span = &flam_column_at (&thread->spans, Span, row);

  span->end = end;
  thread->named[span->name]--;
  return span->name;
}

static void
push_span (Thread *thread, const Span *moment, guint32 number)
{
  Span span = {
    moment->start, G_MAXINT64, moment->name, moment->frame, number
  };

  flam_column_append (&thread->waiting, gsize, thread->spans.n);
  flam_column_append (&thread->spans, Span, span);
  thread->named[span.name]++;
}

static void
end_span (Thread *thread, FlamStringId name, gint64 time)
{
  if (thread->waiting.n == 0 || (name != 0 && thread->named[name] == 0))
    thread->all->bad++;
  else
    /* Inner spans whose own ends are missing end with it. */
    while (pop_span (thread, time) != name && name != 0)
      thread->all->bad++;
}

/* The end of a span that was never closed is unknown. */
static void
add_span (Thread *thread, const Span *span)
{
  flam_column_append (&thread->spans, Span, *span);
  if (span->end != G_MAXINT64)
    return;
  flam_column_at (&thread->spans, Span, thread->spans.n - 1).end =
      thread->all->end;
  thread->all->open++;
}

static void
leave (Thread *thread)
{
  thread->all->open += thread->waiting.n;
  while (thread->waiting.n > 0)
    pop_span (thread, thread->all->end);
}

static gboolean
is_in_order (const Piece *pieces, guint n)
{
  gint64 last = G_MININT64;

  for (guint i = 0; i < n; i++)
    {
      const FlamMoment *moments = pieces[i].moments->data;

      for (gsize k = 0; k < pieces[i].moments->n; k++)
        if (moments[k].kind <= FLAM_MOMENT_END)
          {
            if (moments[k].time < last)
              return FALSE;
            last = moments[k].time;
          }
    }
  return TRUE;
}

static FlamId
frame_of (const Piece *piece, const FlamMoment *moment)
{
  guint32 frame = moment->place - 1u;

  if (moment->place == 0)
    return FLAM_NONE;
  return piece->names != NULL ? piece->frames[frame] : frame;
}

static void
read_piece (Thread *thread, const Piece *piece, gboolean order, guint32 *number)
{
  const FlamMoment *moments = piece->moments->data;

  for (gsize k = 0; k < piece->moments->n; k++, ++*number)
    {
      const FlamMoment *moment = &moments[k];
      gboolean begins = moment->kind == FLAM_MOMENT_BEGIN;
      Span span = { .start = moment->time,
                    .name = piece->names != NULL ? piece->names[moment->name]
                                                 : moment->name,
                    .frame = frame_of (piece, moment),
                    .number = *number };

      if (moment->kind == FLAM_MOMENT_SPAN)
        {
          span.end = moments[k + 1].time;
          add_span (thread, &span);
        }
      else if (moment->kind == FLAM_MOMENT_SPAN_END)
        continue;
      else if (!order)
        {
          span.number = *number * 2 + begins;
          flam_column_append (&thread->marks, Span, span);
        }
      else if (begins)
        push_span (thread, &span, *number);
      else
        end_span (thread, span.name, span.start);
    }
}

static void
read_marks (Thread *thread)
{
  put_in_order (&thread->marks);
  for (gsize i = 0; i < thread->marks.n; i++)
    {
      const Span *mark = &flam_column_at (&thread->marks, Span, i);

      if (mark->number % 2 == 1)
        push_span (thread, mark, mark->number / 2);
      else
        end_span (thread, mark->name, mark->start);
    }
  thread->marks.n = 0;
}

static void
read_thread (Thread *thread, const Piece *pieces, guint n)
{
  gboolean order = is_in_order (pieces, n);
  guint32 number = 0;

  thread->spans.n = 0;
  for (guint i = 0; i < n; i++)
    {
      read_piece (thread, &pieces[i], order, &number);
      flam_column_clear (pieces[i].moments);
    }
  read_marks (thread);
  leave (thread);
}

/* --- spans -> samples ---------------------------------------------------- */

typedef struct
{
  gint64 end;
  FlamStackId stack;
  gboolean called; /* its call has been counted */
} Open;

typedef struct
{
  FlamBuilder *builder;
  FlamThreadId thread;
  const Pause *pauses; /* of the thread, by time */
  gsize n_pauses, pause;
  FlamColumn open;     /* Open */
  FlamColumn apart;    /* Span: the ones that do not fit into the lane */
  FlamFrameId *frames; /* by name, as far as computed */
  gboolean calls;      /* are counted */
  guint lane;
  guint64 n_apart, cut;
} Samples;

/* The lanes of a thread; in the last one, spans are cut. */
#define MAX_LANES 64

/* Tools round their times to the µs: an end that is later by less does not
 * count as later. */
#define ROUNDED 1000

static void
add_piece (
    Samples *samples, Open *open, FlamState state, gint64 from, gint64 to)
{
  FlamSample sample = { .thread = samples->thread,
                        .stack = open->stack,
                        .time = from,
                        .state = (guint8)state };
  gint64 weights[] = { MAX (to - from, 0), samples->calls && !open->called };

  if (weights[0] > 0 || weights[1] > 0)
    flam_builder_add_sample (samples->builder, &sample, weights);
  open->called = TRUE;
}

/* The same, cut where the thread pauses. Later pieces begin later. */
static void
add_pieces (Samples *samples, Open *open, gint64 from, gint64 to)
{
  for (; samples->pause < samples->n_pauses; samples->pause++)
    {
      const Pause *pause = &samples->pauses[samples->pause];

      if (pause->start >= to)
        break;
      if (pause->end <= from)
        continue;
      if (pause->start > from)
        add_piece (samples, open, FLAM_STATE_RUNNING, from, pause->start);
      from = MAX (from, pause->start);
      add_piece (samples, open, pause->state, from, MIN (pause->end, to));
      from = MIN (pause->end, to);
      if (pause->end > to)
        break;
    }
  if (from < to || !open->called)
    add_piece (samples, open, FLAM_STATE_RUNNING, from, to);
}

/* Closes the spans that end by `until`; the time before it belongs to the
 * innermost. */
static gint64
close_spans (Samples *samples, gint64 now, gint64 until)
{
  while (samples->open.n > 0)
    {
      Open *top = &flam_column_at (&samples->open, Open, samples->open.n - 1);
      gint64 to = MIN (top->end, until);

      add_pieces (samples, top, now, to);
      now = MAX (now, to);
      if (top->end > until)
        return now;
      samples->open.n--;
    }
  return until;
}

static FlamStackId
span_stack (Samples *samples, FlamStackId prefix, const Span *span)
{
  FlamFrameId *frames = samples->frames;
  FlamStringId name = span->name;

  if (span->frame != FLAM_NONE)
    return flam_builder_stack (samples->builder, prefix, span->frame);
  if (frames[name] == FLAM_NONE)
    frames[name] = flam_builder_frame (
        samples->builder,
        flam_builder_function_named (samples->builder, name, FLAM_KIND_NATIVE),
        0,
        0,
        0);
  return flam_builder_stack (samples->builder, prefix, frames[name]);
}

/* Whether it ends after the span in which it begins. */
static gboolean
is_apart (const Samples *samples, const Span *span)
{
  for (gsize i = samples->open.n; i-- > 0;)
    {
      gint64 end = flam_column_at (&samples->open, Open, i).end;

      if (end > span->start)
        return span->end > end && span->end - end > ROUNDED;
    }
  return FALSE;
}

static void
add_samples (Samples *samples, const FlamColumn *spans)
{
  gint64 now = 0;

  samples->pause = 0;
  for (gsize i = 0; i < spans->n; i++)
    {
      const Span *span = &flam_column_at (spans, Span, i);
      const Open *around;
      Open next = { span->end, FLAM_NONE, FALSE };

      if (samples->lane < MAX_LANES && is_apart (samples, span))
        {
          flam_column_append (&samples->apart, Span, *span);
          continue;
        }
      now = close_spans (samples, now, span->start);
      around = samples->open.n > 0
                   ? &flam_column_at (&samples->open, Open, samples->open.n - 1)
                   : NULL;
      if (around != NULL && next.end > around->end)
        {
          samples->cut += next.end - around->end > ROUNDED;
          next.end = around->end;
        }
      next.stack = span_stack (
          samples, around != NULL ? around->stack : FLAM_NONE, span);
      flam_column_append (&samples->open, Open, next);
      now = span->start;
    }
  close_spans (samples, now, G_MAXINT64);
}

/* The thread for another lane of the thread `of`. */
static FlamId
lane_of (Samples *samples, FlamId of)
{
  const FlamTables *tables = flam_builder_tables (samples->builder);
  const FlamThreads *threads = &tables->profile.threads;
  g_autofree char *name =
      g_strdup (flam_builder_get_string (samples->builder, threads->name[of]));
  g_autofree char *own = NULL;
  FlamThreadId thread = flam_builder_append_thread (
      samples->builder, threads->process[of], threads->tid[of]);

  if (*name != '\0')
    own = g_strdup_printf ("%s (%u)", name, samples->lane);
  else
    own = g_strdup_printf (
        "thread %d (%u)", (int)threads->tid[of], samples->lane);
  flam_builder_set_thread_name (samples->builder, thread, own);
  return thread;
}

static void
add_lanes (Samples *samples, FlamThreadId thread, FlamColumn *spans)
{
  samples->lane = 1;
  samples->thread = thread;
  add_samples (samples, spans);
  while (samples->apart.n > 0)
    {
      FlamColumn rest = samples->apart;

      samples->n_apart += samples->lane == 1 ? rest.n : 0;
      samples->lane++;
      samples->thread = lane_of (samples, thread);
      flam_column_init (&samples->apart, sizeof (Span));
      add_samples (samples, &rest);
      flam_column_clear (&rest);
    }
}

static int
compare_pauses (gconstpointer a, gconstpointer b)
{
  const Pause *x = a;
  const Pause *y = b;

  if (x->thread != y->thread)
    return x->thread < y->thread ? -1 : 1;
  return x->start < y->start ? -1 : x->start > y->start;
}

/* Those of the thread; called for threads in ascending order. */
static void
find_pauses (Samples *samples, const GArray *pauses, FlamThreadId thread)
{
  gsize first = samples->n_pauses;

  if (pauses->len == 0)
    return;
  if (samples->pauses != NULL)
    first += (gsize)(samples->pauses - (const Pause *)(gpointer)pauses->data);
  while (first < pauses->len &&
         g_array_index (pauses, Pause, first).thread < thread)
    first++;
  samples->pauses = (const Pause *)(gpointer)pauses->data + first;
  samples->n_pauses = 0;
  while (first + samples->n_pauses < pauses->len &&
         samples->pauses[samples->n_pauses].thread == thread)
    samples->n_pauses++;
}

/* --- all threads -----------------------------------------------------------
 */

/* All names of the pieces are below this number. */
static FlamId
count_names (const FlamTraceSpans *spans)
{
  FlamId n = 0;

  for (guint i = 0; i < spans->pieces->len; i++)
    {
      const Piece *piece = &g_array_index (spans->pieces, Piece, i);
      const FlamMoment *moments = piece->moments->data;

      for (gsize k = 0; k < piece->moments->n; k++)
        {
          FlamStringId name = moments[k].name;
          n = MAX (n, (piece->names != NULL ? piece->names[name] : name) + 1);
        }
    }
  return n;
}

static void
go_through (FlamTraceSpans *spans, Samples *samples)
{
  FlamId n_names = count_names (spans);
  g_autofree guint32 *named = g_new0 (guint32, n_names + 1);
  g_autofree FlamFrameId *frames = g_new (FlamFrameId, n_names + 1);
  const Piece *pieces = (const Piece *)(gpointer)spans->pieces->data;
  Thread thread = { .all = spans, .named = named };

  memset (frames, 0xff, n_names * sizeof *frames);
  flam_column_init (&thread.spans, sizeof (Span));
  flam_column_init (&thread.marks, sizeof (Span));
  flam_column_init (&thread.waiting, sizeof (gsize));
  for (guint i = 0, n; i < spans->pieces->len; i += n)
    {
      for (n = 1; i + n < spans->pieces->len &&
                  pieces[i + n].thread == pieces[i].thread;)
        n++;
      read_thread (&thread, &pieces[i], n);
      if (samples == NULL)
        continue;
      put_in_order (&thread.spans);
      samples->frames = frames;
      find_pauses (samples, spans->pauses, pieces[i].thread);
      add_lanes (samples, pieces[i].thread, &thread.spans);
    }
  g_array_set_size (spans->pieces, 0);
  flam_column_clear (&thread.spans);
  flam_column_clear (&thread.marks);
  flam_column_clear (&thread.waiting);
}

void
flam_trace_spans_make_samples (FlamTraceSpans *spans, gboolean calls)
{
  Samples samples = { .builder = spans->builder, .calls = calls };

  flam_column_init (&samples.open, sizeof (Open));
  flam_column_init (&samples.apart, sizeof (Span));
  g_array_sort (spans->pauses, compare_pauses);
  /* A sample ends where a span begins or ends. */
  flam_builder_reserve_samples (spans->builder, (gsize)spans->n * 2);
  go_through (spans, &samples);
  flam_column_clear (&samples.open);
  flam_column_clear (&samples.apart);
  flam_builder_warn_count (
      spans->builder,
      samples.n_apart,
      "%" PRIu64 " span overlaps others of its thread without being called by "
      "them and is shown in a separate lane",
      "%" PRIu64 " spans overlap others of their thread without being called "
      "by them, and are in lanes of their own");
  flam_builder_warn_count (
      spans->builder,
      samples.cut,
      "%" PRIu64 " span ends after the span that contains its start, and is "
      "shown only to the end of that span",
      "%" PRIu64 " spans end after the spans that contain their starts, and "
      "are shown only to the ends of those spans");
}

void
flam_trace_spans_check (FlamTraceSpans *spans)
{
  go_through (spans, NULL);
}
