/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Snapshots of a stopped process (registers and copied stack), and two ways to
 * unwind them: ours, and libdwfl's, which is the oracle. */

#include <elfutils/libdwfl.h>
#include <glib.h>

#include "flam-unwind-space.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 regs[FLAM_UNWIND_N_REGS];
  guint64 base;
  guint8 *stack;
  gsize size;
} Snapshot;

/* Of a process that is in a ptrace stop; up to `max` bytes of its stack. */
gboolean snapshot_take (Snapshot *snapshot, pid_t pid, gsize max);
void snapshot_clear (Snapshot *snapshot);

typedef struct
{
  FlamUnwindSpace *space;
  FlamUnwindCache *cache;
  GHashTable *tables; /* path -> FlamUnwindTable */
} Ours;

/* The executable mappings of a live process. */
Ours *ours_new (pid_t pid);
void ours_free (Ours *ours);
guint ours_unwind (Ours *ours,
                   const Snapshot *snapshot,
                   guint64 *pcs,
                   guint limit,
                   FlamUnwindEnd *end);

typedef struct _Oracle Oracle;

Oracle *oracle_new (pid_t pid);
void oracle_free (Oracle *oracle);
guint oracle_unwind (Oracle *oracle,
                     const Snapshot *snapshot,
                     guint64 *pcs,
                     guint limit);

G_END_DECLS
