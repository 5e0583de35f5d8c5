/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FORMAT_H
#define FLAM_FORMAT_H

/* Numbers -> text for people. g_free the results. Three significant digits;
 * time in ns, µs, ms, s, min; bytes in decimal kB, MB, GB; counts with a thin
 * separator between thousands. */

#include "flam-functions.h"
#include "flam-jumps.h"
#include "flam-memory-summary.h"

G_BEGIN_DECLS

/* ns: for a program that used less CPU time, the recorder's share has little
 * meaning, as most of it is the recorder's start. */
#define FLAM_SHORT_CPU 100000000

char *flam_format_value (gint64 value, FlamUnit unit);
/* FLAM_UNIT_THOUSANDTHS, for documents: "12.5", "-0.034". g_free. */
char *flam_format_thousandths (gint64 value);
/* A moment or a duration of the capture, by its clock: "1.52 s",
 * "2.36 M instructions". */
char *flam_format_moment (FlamClock clock, gint64 moment);
char *flam_format_weight (const FlamMeasure *measure, gint64 weight);
/* "12.3 %"; "0 %" if the whole is 0; "< 0.1 %" for parts that are not 0. */
char *flam_format_percent (gint64 part, gint64 whole);
/* The same with other digits: the number as text. */
char *flam_format_percent_of (const char *number);
/* "+3 s", "−3 s", and "0 s" if it did not change; `figure` is without a sign.
 */
char *flam_format_change (gint64 delta, const char *figure);
/* Whether figures get invisible marks that keep them from left to right, for
 * texts of a language that is written from right to left. */
void flam_format_mark_figures (gboolean marked);
/* A size set by the user, as a power of two: "512 KiB"; others as by
 * flam_format_value(). g_free. */
char *flam_format_power (gint64 size);
/* "sleep 61.0 %, running 39.0 %": heaviest first; "" if there is no weight. */
char *flam_format_states (const FlamStateSplit *split);
/* With its error, if it is an estimate, as described in flam-estimate.h. */
char *flam_format_estimate (const FlamEstimate *estimate,
                            gint64 value,
                            FlamUnit unit);
/* The same in a sentence that flam_format_from_few() ends: without the number
 * of samples. */
char *flam_format_with_error (const FlamEstimate *estimate,
                              gint64 value,
                              FlamUnit unit);
/* "5.05 MB in 40 018 blocks, from 9 samples" if the estimate is from few
 * samples; otherwise the text. Takes ownership of it. */
char *flam_format_from_few (char *text, const FlamEstimate *estimate);
/* A weight of a measure, likewise. */
char *flam_format_estimated (const FlamEstimate *estimate,
                             const FlamMeasure *measure,
                             gint64 weight);
/* A figure of a measure, likewise. */
char *flam_format_figure (const FlamFacts *facts,
                          const FlamMeasure *measure,
                          FlamFigure figure);
/* The figures of a row of the tree. */
char *flam_format_self (const FlamTree *tree, const FlamFunctionRow *row);
char *flam_format_total (const FlamTree *tree, const FlamFunctionRow *row);
/* The total of the tree. */
char *flam_format_whole (const FlamTree *tree);
/* The text of a column of the table of allocations; for temporary ones, the
 * share. */
char *flam_format_amounts (const FlamMemorySummary *memory,
                           const FlamAmounts *amounts,
                           FlamMemoryColumn column);
/* How often jumps were taken: "72/77" of conditional ones, where 77 is how
 * often they were executed; "5" of others; "" if there are none. */
char *flam_format_jump_count (const FlamJumpCount *count);
/* Where to: "b.h:3", or in another function, "cold (b.c:3)". */
char *flam_format_jump_target (const FlamProfile *profile,
                               const FlamJumpRow *row);
/* A weight for machines to read: "12" or, with a denominator, "12.5". */
char *flam_format_plain (const FlamMeasure *measure, gint64 weight);
/* A C++ or Rust name without its least useful parts: parameters, then template
 * arguments, then namespaces go, until it has at most `max` characters; then it
 * is cut in the middle. The end of the function's name stays. Made visible, as
 * below. */
char *flam_format_short_name (const char *name, guint max);
/* A C++ or Rust name in its most readable form if there is enough room: long
 * template arguments become "…", inline namespaces (std::__cxx11) and default
 * allocators are dropped. Names of other languages are not changed. Made
 * visible, as below. */
char *flam_format_folded_name (const char *name);
/* The text made safe for a terminal, and a name made safe for drawing:
 * control characters, and those that change the direction of writing, become
 * escapes, "\\n", "\\x1b", "\\u202e". Letters that are written from right to
 * left stay. */
char *flam_format_visible (const char *text);
/* The title of a counter of a profile, as flam_format_visible(). */
char *flam_format_counter_name (const char *id);
/* Whether it is an invisible character that changes the direction of writing or
 * breaks a line, so that a name could be mistaken for another one. */
gboolean flam_format_turns (gunichar c);
/* The characters that flam_format_visible() escapes. */
gboolean flam_format_is_invisible (gunichar c);
/* One field of a CSV file (RFC 4180). A text that a spreadsheet would read as a
 * formula gets an apostrophe before it. */
char *flam_format_csv (const char *text);

G_END_DECLS

#endif
