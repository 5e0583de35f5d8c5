/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SPILL_H
#define FLAM_SPILL_H

/* Memory for tables that grow with the memory of the recorded program. Up to a
 * bound it is ordinary memory; what exceeds the bound is in a file:
 *
 *   parts   1   2   3   4 │ 5   6   7   8   9
 *           ordinary      │ in the file └─ resident
 *
 * Of the file, the newest bytes remain resident, up to the same bound.
 * Other parts are read again when they are used, and are resident until the
 * next flam_spill_trim(). Without a file, or if the disk is full, all memory is
 * ordinary. */

#include "flam-types.h"

G_BEGIN_DECLS

typedef struct _FlamSpill FlamSpill;

/* Takes over the file, which must be empty. Nobody else may write to it. */
FlamSpill *flam_spill_new (int fd, gsize bound);
/* Everything must have been given back. */
void flam_spill_free (FlamSpill *spill);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSpill, flam_spill_free)

/* Zeroed memory; `size` is a multiple of a page's. Pages that are never written
 * to use no memory. `spill` may be NULL: it is ordinary. */
gpointer flam_spill_take (FlamSpill *spill, gsize size);
void flam_spill_give_back (FlamSpill *spill, gpointer data, gsize size);
void flam_spill_trim (FlamSpill *spill);

G_END_DECLS

#endif
