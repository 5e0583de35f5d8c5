/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRACE_COUNTERS_H
#define FLAM_TRACE_COUNTERS_H

/* The counters and marks of a Chrome trace.
 *
 * Each number among the args of a counter's event is a series of its own:
 *
 *    {"ph":"C","pid":1,"ts":18,"name":"pool","args":{"free":3,"used":5}}
 *        "pool free" 3, "pool used" 5
 *    {"ph":"C","pid":1,"ts":18,"name":"rss","id":"x","args":{"bytes":4096}}
 *        "rss[x]" 4096 bytes
 *
 * If several processes have a counter with the same name, the later ones get
 * their process's number appended.
 *
 * Marks are moments, and spans outside of the threads, as Flambeau writes them.
 * A span's ends are two events with one id:
 *
 *    {"ph":"i","s":"t",…"ts":µs,"name":"a moment"}    s: g, of all threads
 *    {"ph":"b","s":"t","cat":"mark","id":"0x1",…"ts":µs,"name":"frame 7"}
 *    {"ph":"e","s":"t","cat":"mark","id":"0x1",…"ts":µs,"name":"frame 7"} */

#include "flam-core-profile.h"
#include "flam-formats.h"
#include "flam-json.h"

G_BEGIN_DECLS

typedef struct
{
  gint64 time, value, pid;
  FlamId pid_name; /* 0: it is a number */
  FlamStringId name;
  FlamUnit unit;
} FlamTraceCount;

/* Appends a FlamTraceCount for each number in `args`. `id` may be 0. Numbers
 * out of range are limited, and counted in `limited`. */
void flam_trace_counts_read (FlamColumn *counts,
                             FlamStrings *names,
                             FlamStringId name,
                             FlamId id,
                             const FlamJsonText *args,
                             FlamTraceCount of,
                             FlamLimited *limited);

typedef struct
{
  GPtrArray *all;    /* Counter: in the order of the document */
  GHashTable *known; /* pid and name -> one of them */
} FlamTraceCounters;

void flam_trace_counters_init (FlamTraceCounters *counters, FlamLoad *load);
void flam_trace_counters_add (FlamTraceCounters *counters,
                              const FlamColumn *counts,
                              const FlamStrings *names);
void flam_trace_counters_finish (FlamTraceCounters *counters,
                                 FlamBuilder *builder);

typedef enum
{
  FLAM_TRACE_MARK_MOMENT,
  FLAM_TRACE_MARK_BEGIN,
  FLAM_TRACE_MARK_END,
} FlamTraceMarkKind;

typedef struct
{
  gint64 time; /* ns */
  guint32 task;
  FlamStringId name;
  FlamId id; /* a name; for a beginning and its end */
  FlamTraceMarkKind kind;
  gboolean of_all; /* of no thread */
} FlamTraceMark;

typedef struct
{
  GArray *marks;    /* in the order of their beginnings */
  GHashTable *open; /* thread and id -> number of the mark, plus 1 */
  guint64 bad;      /* ends without a beginning */
} FlamTraceMarks;

void flam_trace_marks_init (FlamTraceMarks *marks, FlamLoad *load);
/* For one part: its FlamTraceMark, and its names, which must be valid until
 * flam_trace_marks_finish(); the builder's ids for them and for its tasks. */
void flam_trace_marks_add (FlamTraceMarks *marks,
                           const FlamColumn *events,
                           const FlamStrings *names,
                           const FlamId *name_ids,
                           const FlamThreadId *threads);
void flam_trace_marks_finish (FlamTraceMarks *marks, FlamBuilder *builder);

G_END_DECLS

#endif
