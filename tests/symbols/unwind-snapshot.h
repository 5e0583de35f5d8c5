/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TEST_UNWIND_SNAPSHOT_H
#define FLAM_TEST_UNWIND_SNAPSHOT_H

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

/* From a process in a ptrace stop; up to `max` bytes of its stack. */
gboolean snapshot_take (Snapshot *snapshot, pid_t pid, gsize max);
void snapshot_clear (Snapshot *snapshot);

/* Starts a program, silenced, and takes up to `n` snapshots of its main thread
 * while it runs, one every `interval_us`. It is left stopped by ptrace, so that
 * its mappings can be read, and then killed with snapshot_kill(). NULL if there
 * is no such program; else Snapshots, freed with the array. */
GArray *snapshot_program (
    const char *const *argv, guint n, guint interval_us, gsize max, pid_t *pid);
void snapshot_kill (pid_t pid);

/* The programs for tests and benchmarks: "cc1plus", "python3", "node";
 * g_strfreev() the command line. NULL: not on this machine. */
char **snapshot_command (const char *name);

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

/* Both on every snapshot. `differ` counts stacks that are not the same, except
 * where libdwfl gave up (it reads a register that the epilogue has already
 * popped from below the stack pointer) and ours continues to the root, and
 * where it lacks one frame: in a function without CFI that does not set the
 * frame pointer, such as node's builtins, it follows the caller's frame pointer
 * and leaves the caller out. */
typedef struct
{
  guint n;
  guint differ;
  guint longer;
  guint missed; /* by libdwfl: the caller of such a function */
  guint64 frames;
} Agreement;

Agreement snapshots_compare (Ours *ours, Oracle *oracle, GArray *snapshots);

G_END_DECLS

#endif
