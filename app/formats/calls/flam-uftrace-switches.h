/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_UFTRACE_SWITCHES_H
#define FLAM_UFTRACE_SWITCHES_H

/* When the threads of a folder of uftrace were off the CPU: its files
 * perf-cpu0.dat, perf-cpu1.dat and so on, one per processor, contain the
 * kernel's records as perf_event_open() gives them, without a header:
 *
 *    u32 type 14 (SWITCH)  u16 misc: bit 13 leaves the CPU, bit 14 and would
 *    u16 size              have gone on      u32 pid  u32 tid  u64 ns
 *    u32 type 3 (COMM)     …  u32 pid  u32 tid  name, padded
 *                             u32 pid  u32 tid  u64 ns
 *
 * The clock is that of the calls. Source of facts: perf_event_open(2), and what
 * `uftrace dump` prints of such files. */

#include "flam-load.h"
#include "flam-trace-spans.h"

typedef struct
{
  GArray *rows;      /* by thread, then by time */
  GHashTable *names; /* tid -> its last name */
} FlamUftraceSwitches;

/* Files that are missing or damaged only mean fewer switches. */
void flam_uftrace_switches_read (FlamUftraceSwitches *switches,
                                 const char *folder);
void flam_uftrace_switches_clear (FlamUftraceSwitches *switches);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamUftraceSwitches,
                                  flam_uftrace_switches_clear)

/* Adds the pauses of a thread to the spans. */
void flam_uftrace_switches_pause (const FlamUftraceSwitches *switches,
                                  gint32 tid,
                                  FlamTraceSpans *spans,
                                  FlamThreadId thread);
/* The name that the thread had at its end, or NULL. */
const char *flam_uftrace_switches_name (const FlamUftraceSwitches *switches,
                                        gint32 tid);

#endif
