/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Profiles of tables that grow, each at the cost of what is new since the one
 * before.
 *
 *   recorded   STRINGS FUNCTIONS    lent as they are
 *              FRAMES STACKS    ──▶ mapped row by row ──▶ ours, lent
 *              SAMPLES          ──▶ a lane a thread   ──▶ ours, lent
 *              the other tables ──▶ copied and finished, they are small
 *
 *   lanes     thread 0        thread 1    thread 0, when it had no room left
 *            |##########     |####       |#############                   |
 *
 * What is lent to a profile is never changed: new rows lie behind its last one,
 * and a column that moves leaves the old memory to those who have it.
 *
 * Blocks of memory are paired anew each time, and what changes rows that are
 * there (symbols and names of generated code at the end of a recording) is
 * read as a whole, as an opened file is. */

#include "flam-builder.h"

G_BEGIN_DECLS

typedef struct _FlamSnapshots FlamSnapshots;

/* `builder` is a recording's, and only grows. It outlives this. */
FlamSnapshots *flam_snapshots_new (FlamBuilder *builder);
void flam_snapshots_free (FlamSnapshots *snapshots);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSnapshots, flam_snapshots_free)

/* The profile of what there is so far; NULL with an error as finish() says. */
FlamProfile *flam_snapshots_take (FlamSnapshots *snapshots, GError **error);

G_END_DECLS
