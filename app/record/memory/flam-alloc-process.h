/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* One recorded process: the file in which its threads write what they
 * allocate (preload/flam-alloc-shared.h), read in the order of time.
 *
 *   ring of thread 1   ─ 3 ─ 4 ───────── 9 ─▶
 *   ring of thread 2   ─ 1 ──── 6 ─ 7 ──────▶   ledger: 1 3 4 6 7 ...
 *   ring of thread 3   ──────────────── 8 ──▶
 *
 * Events are taken from one ring for as long as no other has an older one,
 * and only up to the time at which the round began: what is written meanwhile
 * waits for the next. What is in the file is the target's and may be anything:
 * every number is checked. */

#include "flam-alloc-heaps.h"
#include "flam-alloc-session.h"
#include "flam-python-codes.h"

/* What the processes of a recording have in common. */
typedef struct
{
  FlamBuilder *builder;
  FlamAllocOwner owner;
  FlamAllocHeaps *heaps;
  FlamPythonCodes *python;
  gint64 start_ns;      /* CLOCK_MONOTONIC at the capture's time 0 */
  guint64 sample_bytes; /* 0: every allocation */
  guint32 random;
} FlamAllocContext;

typedef struct _FlamAllocProcess FlamAllocProcess;

/* NULL while the file is not complete. `context` must outlive it. */
FlamAllocProcess *flam_alloc_process_open (FlamAllocContext *context,
                                           const char *path);
void flam_alloc_process_free (FlamAllocProcess *process);

const char *flam_alloc_process_path (const FlamAllocProcess *process);
pid_t flam_alloc_process_pid (const FlamAllocProcess *process);
/* Its malloc is somebody else's; `name` is the program's, as it says. */
gboolean flam_alloc_process_is_bypassed (const FlamAllocProcess *process,
                                         char name[17]);
/* Adds what it lost. */
void flam_alloc_process_add_stats (const FlamAllocProcess *process,
                                   FlamAllocStats *stats);

/* Hands what is there to the ledger; how many events. */
guint64 flam_alloc_process_drain (FlamAllocProcess *process);
