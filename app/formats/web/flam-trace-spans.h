/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRACE_SPANS_H
#define FLAM_TRACE_SPANS_H

/* The spans of a trace's threads -> samples with the spans as their stack.
 *
 *    main   |-----------------------|      samples   main        0..4
 *    parse      |--------|                           main;parse  4..13
 *                                                    main        13..24
 *
 * The duration of a span beyond its inner spans is its self time. The first
 * sample of each span counts its call; it lasts no time if an inner span begins
 * with it, or if the span itself lasts none. A span's end
 * may be another event than its beginning, and the events may have any order:
 * an end closes the innermost span of its name, or the innermost of all if it
 * has no name, or nothing if no such span is open. A span that is never closed
 * lasts to the end of the trace. While its thread pauses, the innermost span
 * has the pause's state. A span that begins within another and ends after it,
 * as work does that a processor has in its queues, is not called by that one:
 * such spans have lanes of their own, threads beside the first
 *
 *    gpu    |--k0--|   |--k2--|
 *    gpu (2)    |--k1--|                                                    */

#include "flam-core-profile.h"
#include "flam-load.h"

G_BEGIN_DECLS

/* A moment in a thread, in the order of the file. A span with a known start and
 * end is two moments, the second with the time of its end. */
typedef enum
{
  FLAM_MOMENT_BEGIN,
  FLAM_MOMENT_END,
  FLAM_MOMENT_SPAN,
  FLAM_MOMENT_SPAN_END,
} FlamMomentKind;

typedef struct
{
  gint64 time; /* ns; G_MAXINT64: an unknown end */
  FlamStringId name;
  guint32 kind : 2;   /* FlamMomentKind */
  guint32 place : 30; /* 0: only the name is known; else 1 + a frame */
} FlamMoment;

#define FLAM_MOMENT_PLACE_MAX ((1u << 30) - 1)

static inline void
flam_moments_add (FlamColumn *moments,
                  FlamMomentKind kind,
                  FlamStringId name,
                  guint32 place,
                  gint64 time)
{
  FlamMoment moment = { time, name, kind, place };

  flam_column_append (moments, FlamMoment, moment);
}

static inline void
flam_moments_add_span (FlamColumn *moments,
                       FlamStringId name,
                       guint32 place,
                       gint64 start,
                       gint64 end)
{
  flam_moments_add (moments, FLAM_MOMENT_SPAN, name, place, start);
  flam_moments_add (moments, FLAM_MOMENT_SPAN_END, name, 0, end);
}

typedef struct
{
  FlamBuilder *builder;
  GArray *lanes;  /* FlamColumn of FlamMoment: by thread */
  GArray *pieces; /* Piece */
  GArray *pauses; /* Pause */
  gint64 end;     /* ns: the time of the last event in the trace */
  guint n;        /* spans, once they are closed */
  guint64 open;   /* spans without an end */
  guint64 bad;    /* ends without a beginning, and similar errors */
} FlamTraceSpans;

void flam_trace_spans_init (FlamTraceSpans *spans, FlamLoad *load);

/* Records that there is an event at this time. */
void flam_trace_spans_see (FlamTraceSpans *spans, gint64 time);

/* `end` is G_MAXINT64 if it is unknown. */
void flam_trace_spans_add (FlamTraceSpans *spans,
                           FlamThreadId thread,
                           FlamStringId name,
                           gint64 start,
                           gint64 end);
void flam_trace_spans_begin (FlamTraceSpans *spans,
                             FlamThreadId thread,
                             FlamStringId name,
                             gint64 time);
/* `frame` is its function, file and line; FLAM_NONE: only the name is known. */
void flam_trace_spans_begin_in (FlamTraceSpans *spans,
                                FlamThreadId thread,
                                FlamStringId name,
                                FlamFrameId frame,
                                gint64 time);
/* `name` is 0 if the event has none. */
void flam_trace_spans_end (FlamTraceSpans *spans,
                           FlamThreadId thread,
                           FlamStringId name,
                           gint64 time);
/* The thread was off the CPU, or ready to run without one, from `start` to
 * `end`; G_MAXINT64: never again on it. */
void flam_trace_spans_pause (FlamTraceSpans *spans,
                             FlamThreadId thread,
                             FlamState state,
                             gint64 start,
                             gint64 end);
/* Adds moments of a thread from another reader, after the ones added before;
 * names[name] are the builder's names, frames[place - 1] its frames. All must
 * live until the samples are made, which takes the moments. */
void flam_trace_spans_add_moments (FlamTraceSpans *spans,
                                   FlamThreadId thread,
                                   FlamColumn *moments,
                                   const FlamStringId *names,
                                   const FlamFrameId *frames);

/* After the last event: returns the number of spans. */
guint flam_trace_spans_close (FlamTraceSpans *spans);
/* Then, once: a column of ns and, with `calls`, one of calls, which the builder
 * has. Sets `open` and `bad`, and warns of spans that others cut. */
void flam_trace_spans_make_samples (FlamTraceSpans *spans, gboolean calls);
/* Is called instead if the spans are not to be shown. */
void flam_trace_spans_check (FlamTraceSpans *spans);

G_END_DECLS

#endif
