/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The counters of a Chrome trace. Each number among the args of an event is a
 * series of its own:
 *
 *    {"ph":"C","pid":1,"ts":18,"name":"pool","args":{"free":3,"used":5}}
 *        "pool free" 3, "pool used" 5
 *    {"ph":"C","pid":1,"ts":18,"name":"rss","id":"x","args":{"bytes":4096}}
 *        "rss[x]" 4096 bytes
 *
 * Where several processes have a counter of one name, the later ones' have the
 * process's number behind it. */

#include "flam-builder.h"
#include "flam-columns.h"
#include "flam-formats.h"
#include "flam-json.h"
#include "flam-strings.h"

G_BEGIN_DECLS

typedef struct
{
  gint64 time, value, pid;
  FlamId name;
  FlamUnit unit;
} FlamTraceCount;

/* Appends a FlamTraceCount for each number in `args`. `id` may be 0. */
void flam_trace_counts_read (FlamColumn *counts,
                             FlamStrings *names,
                             FlamId name,
                             FlamId id,
                             const FlamJsonText *args,
                             FlamTraceCount of);

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

G_END_DECLS
