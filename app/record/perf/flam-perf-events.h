/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_EVENTS_H
#define FLAM_PERF_EVENTS_H

/* The events of a recording with this engine, in the order of their numbers:
 *
 *   clock │ switch │ waking │ those of --events
 *           only for wall time
 *
 * If --events has context-switches, that one is the switch: the kernel writes
 * the samples of two such events with the number of one of them. */

#include "flam-perf-rings.h"
#include "flam-record-options.h"

typedef struct
{
  GArray *list;      /* FlamPerfEvent */
  gint switches;     /* the index of that event; -1: none */
  gint waking;       /* the index of that event; -1: none */
  guint waking_pid;  /* where its record has the number of the woken thread */
  guint first_count; /* the index of the first of --events */
} FlamPerfEvents;

/* `why`: a sentence if it is not recorded who wakes threads, g_free; or NULL.
 */
FlamPerfEvents *flam_perf_events_new (const FlamRecordOptions *options,
                                      char **why);
void flam_perf_events_free (FlamPerfEvents *events);
/* The number of the thread that a record of waking is about. */
pid_t flam_perf_events_woken (const FlamPerfEvents *events,
                              const FlamPerfRecord *record);
/* Leaves only those of --events that can be counted here; returns a sentence
 * about the others, g_free, or NULL. */
char *flam_perf_events_limit (FlamRecordOptions *options);

#endif
