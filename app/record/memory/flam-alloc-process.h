/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ALLOC_PROCESS_H
#define FLAM_ALLOC_PROCESS_H

/* One recorded process: the file into which its threads write their allocations
 * (preload/flam-alloc-shared.h), read in the order of time.
 *
 *   ring of thread 1   ─ 3 ─ 4 ───────── 9 ─▶
 *   ring of thread 2   ─ 1 ──── 6 ─ 7 ──────▶   ledger: 1 3 4 6 7 ...
 *   ring of thread 3   ──────────────── 8 ──▶
 *
 * Events are taken from one ring while no other ring has an older one, and only
 * up to the time at which the round began: later events wait for the next
 * round. The content of the file is the target's and may be anything: every
 * number is checked. */

#include "flam-alloc-heaps.h"
#include "flam-alloc-session.h"
#include "flam-runtime-functions.h"

/* The data that the processes of a recording share. */
typedef struct
{
  FlamBuilder *builder;
  FlamAllocOwner owner;
  FlamAllocHeaps *heaps;
  FlamRuntimeFunctions *functions;
  gint64 start_ns;      /* CLOCK_MONOTONIC at the capture's time 0 */
  guint64 sample_bytes; /* 0: every allocation */
  guint32 random;
} FlamAllocContext;

typedef struct _FlamAllocProcess FlamAllocProcess;

/* NULL while the file is incomplete. `context` must outlive the process. */
FlamAllocProcess *flam_alloc_process_open (FlamAllocContext *context,
                                           const char *path);
void flam_alloc_process_free (FlamAllocProcess *process);

const char *flam_alloc_process_path (const FlamAllocProcess *process);
pid_t flam_alloc_process_pid (const FlamAllocProcess *process);
/* It uses another malloc; `name` is the program's own name for itself. */
gboolean flam_alloc_process_is_bypassed (const FlamAllocProcess *process,
                                         char name[17]);
/* The message about a heap of the process's language (NULL: none), from the
 * modules loaded since the last call. */
const char *flam_alloc_process_unseen_heap (FlamAllocProcess *process);
/* Adds the counts of lost data. */
void flam_alloc_process_add_stats (const FlamAllocProcess *process,
                                   FlamAllocStats *stats);

/* Passes the available events to the ledger; returns how many. */
guint64 flam_alloc_process_drain (FlamAllocProcess *process);

#endif
