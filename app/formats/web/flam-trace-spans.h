/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The spans of a trace's threads -> samples with the spans as their stack.
 *
 *    main   |-----------------------|      samples   main        0..4
 *    parse      |--------|                           main;parse  4..13
 *                                                    main        13..24
 *
 * What a span lasts beyond those in it is its own. A span's end may be told by
 * another event than its beginning, and the events may come in any order: an
 * end closes the innermost span of its name, or the innermost at all where it
 * has none, and nothing where no such span is open. A span that nothing closes
 * goes on to the end of the trace, one that outlasts the span around it is cut
 * there. */

#include "flam-builder.h"

G_BEGIN_DECLS

typedef struct
{
  FlamBuilder *builder;
  GArray *spans; /* Span */
  GArray *marks; /* Mark: beginnings and ends */
  guint32 n_events;
  guint32 n_threads, n_names; /* ids that they have are below */
  gint64 end;                 /* ns: the last that happened in the trace */
  guint64 open;               /* spans without an end */
  guint64 bad;                /* ends without a beginning, and the like */
} FlamTraceSpans;

void flam_trace_spans_init (FlamTraceSpans *spans, FlamBuilder *builder);
void flam_trace_spans_clear (FlamTraceSpans *spans);

/* Something happened then. */
void flam_trace_spans_see (FlamTraceSpans *spans, gint64 time);

/* `end` is G_MAXINT64 where it is not known. */
void flam_trace_spans_add (FlamTraceSpans *spans,
                           FlamId thread,
                           FlamId name,
                           gint64 start,
                           gint64 end);
void flam_trace_spans_begin (FlamTraceSpans *spans,
                             FlamId thread,
                             FlamId name,
                             gint64 time);
/* `name` is 0 where the event has none. */
void flam_trace_spans_end (FlamTraceSpans *spans,
                           FlamId thread,
                           FlamId name,
                           gint64 time);

/* After the last event: the number of spans. */
guint flam_trace_spans_close (FlamTraceSpans *spans);
/* Then, if they are to be shown: one column, ns. */
void flam_trace_spans_make_samples (FlamTraceSpans *spans);

G_END_DECLS
