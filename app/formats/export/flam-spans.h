/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SPANS_H
#define FLAM_SPANS_H

/* The rows of a lane -> calls that begin and end, for formats of events:
 *
 *    rows    main;a   main;a   main;b      ....   main;a
 *    weigh   2        2        3                  2
 *            main------------------|              main--|
 *            a-------------| b-----|              a-----|
 *
 * The duration of a row is its weight, which is time. Spans keep their times. A
 * sample begins at the end of the one before, unless it was taken so much later
 * that the thread cannot have run in between: so the sum is the measure's
 * total, to the ns. Samples that all last until the next one (V8's) begin at
 * their times, as spans do. */

#include "flam-part.h"

typedef struct
{
  /* `frame` FLAM_NONE: for a sample without a stack; the innermost open one
   * ends. */
  void (*begin) (gpointer data, FlamFrameId frame, gint64 time);
  void (*end) (gpointer data, FlamFrameId frame, gint64 time);
  gpointer data;
  FlamBy by; /* FLAM_BY_LINE: another line of a function is another call */
} FlamSpanCalls;

void flam_spans_walk (const FlamPart *part,
                      guint32 lane,
                      const FlamSpanCalls *calls);
/* Whether the rows of a lane begin at their times, and not where the previous
 * one ends. */
gboolean flam_spans_begin_at_times (const FlamPart *part, guint32 lane);
/* The start of a row of a lane, if the previous one ends at `end`. */
gint64 flam_spans_start (gboolean at_times,
                         const FlamPart *part,
                         const FlamPartRow *row,
                         gint64 end);
/* FLAM_ERROR_UNSUPPORTED if the measure is not a time. */
gboolean flam_spans_check (const FlamPart *part, GError **error);

#endif
