/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Several captures -> one that holds all of them: their weights are added up.
 *
 *    a.pb    cpu-time ns   3 s          cpu-time ns   5 s
 *            samples       30     ──▶   samples       50
 *    b.pb    cpu-time ns   2 s          alloc bytes   1 MB  of b.pb alone
 *            samples       20
 *            alloc bytes   1 MB
 *
 * A measure is the same where its id, unit and kind are. Functions and stacks
 * are shared; processes and threads are each capture's own, whatever their
 * numbers. Each capture begins at 0: equal times do not mean that things
 * happened together. A peak is the sum of the peaks. */

#include "flam-profile.h"

G_BEGIN_DECLS

typedef struct
{
  const char *name; /* of the file, for people */
  const FlamProfile *profile;
} FlamMergePart;

/* FLAM_ERROR_INVALID where a capture shares no measure with those before it,
 * unless `apart`, and where sums overflow. */
FlamProfile *flam_merge_new (const FlamMergePart *parts,
                             guint n,
                             gboolean apart,
                             GError **error);

G_END_DECLS
