/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SNAPSHOTS_H
#define FLAM_SNAPSHOTS_H

/* Profiles of growing tables, each at the cost of the rows added since the last
 * one.
 *
 *   recorded   STRINGS FUNCTIONS    lent unchanged
 *              FRAMES STACKS    ──▶ mapped row by row ──▶ ours, lent
 *              SAMPLES          ──▶ one lane each   ──▶ ours, lent
 *              the other tables ──▶ copied and finished, they are small
 *
 *   lanes     thread 0        thread 1    thread 0, when it had no room left
 *            |##########     |####       |#############                   |
 *
 * Memory that is lent to a profile is never changed: new rows are appended, and
 * the old memory of a column that moves stays valid for existing profiles.
 *
 * Blocks of memory are paired again each time, and a change of existing rows
 * (symbols and names of generated code at the end of a recording) makes it read
 * everything again, as for an opened file. */

#include "flam-builder.h"

G_BEGIN_DECLS

typedef struct _FlamSnapshots FlamSnapshots;

/* `builder` is that of a recording, and only grows. It must outlive this. */
FlamSnapshots *flam_snapshots_new (FlamBuilder *builder);
void flam_snapshots_free (FlamSnapshots *snapshots);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSnapshots, flam_snapshots_free)

/* The profile of the rows so far; NULL with an error as from finish(). */
FlamProfile *flam_snapshots_take (FlamSnapshots *snapshots, GError **error);

G_END_DECLS

#endif
