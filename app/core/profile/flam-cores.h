/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CORES_H
#define FLAM_CORES_H

/* Work that several cores share: steps that do not depend on one another. Each
 * core takes the next step that none has taken yet:
 *
 *    steps    0  1  2  3  4  5
 *    caller   0────  2─  3──────
 *    thread   1───────  4─  5─
 *
 * The call returns when all are done. A step may read whatever was written
 * before the call, and writes only what no other step reads or writes. Steps
 * therefore need no locks, and the result is the same on any number of cores.
 */

#include <glib.h>

G_BEGIN_DECLS

#define FLAM_CORES_MAX 64

typedef void (*FlamCoresStep) (gpointer data, guint i);

void flam_cores_run (guint n, FlamCoresStep step, gpointer data);

/* The number of cores for this many rows: 1 if a thread would cost more than it
 * saves. */
guint flam_cores_for (gsize rows);

/* At most this many cores (0: the machine's). For tests: each for at least this
 * many rows (0: as many as are worth a thread). */
void flam_cores_set (guint cores, gsize least_rows);

G_END_DECLS

#endif
