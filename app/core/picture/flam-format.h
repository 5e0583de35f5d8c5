/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Numbers -> text for people. g_free the results. Three significant digits;
 * time in ns, µs, ms, s, min; bytes in decimal kB, MB, GB; counts with a thin
 * separator between thousands. */

#include "flam-weights.h"

G_BEGIN_DECLS

char *flam_format_value (gint64 value, FlamUnit unit);
char *flam_format_weight (const FlamMeasure *measure, gint64 weight);
/* "12.3 %"; "0 %" of nothing; "< 0.1 %" for what is not nothing. */
char *flam_format_percent (gint64 part, gint64 whole);
/* "sleep 61.0 %, running 39.0 %": heaviest first; "" of nothing. */
char *flam_format_states (const FlamStateSplit *split);
/* A weight as machines read it: "12" or, with a denominator, "12.5". */
char *flam_format_plain (const FlamMeasure *measure, gint64 weight);
/* A C++ or Rust name without what is least worth reading: parameters, then
 * template arguments, then namespaces, until it has at most `max` characters;
 * then cut in the middle. The end of the function's name stays. */
char *flam_format_short_name (const char *name, guint max);
/* A C++ or Rust name as it is read best where there is room: template arguments
 * are "…" where they are long, inline namespaces (std::__cxx11) and default
 * allocators go. Other languages' names stay as they are. */
char *flam_format_folded_name (const char *name);
/* As it may be written to a terminal: control characters, and what turns the
 * direction of writing, are shown as escapes, "\\n", "\\x1b", "\\u202e". */
char *flam_format_visible (const char *text);
/* One field of a CSV file (RFC 4180). A text that a spreadsheet would take for
 * a formula gets an apostrophe before it. */
char *flam_format_csv (const char *text);

G_END_DECLS
