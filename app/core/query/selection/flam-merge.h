/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MERGE_H
#define FLAM_MERGE_H

/* Several captures -> one that holds all of them: their weights are added up.
 *
 *    a.pb    cpu-time ns   3 s          cpu-time ns   5 s
 *            samples       30     ──▶   samples       50
 *    b.pb    cpu-time ns   2 s          alloc bytes   1 MB only b.pb
 *            samples       20
 *            alloc bytes   1 MB
 *
 * Measures are the same if their ids, units and kinds are. Functions and stacks
 * are shared; processes and threads are each capture's own, whatever their
 * numbers. Each capture begins at 0: equal times do not mean that things
 * happened together, unless they are aligned by their dates. A peak is the sum
 * of the peaks. */

#include "flam-profile.h"

G_BEGIN_DECLS

typedef struct
{
  const char *name; /* the display name of the file */
  const FlamProfile *profile;
} FlamMergePart;

typedef enum
{
  FLAM_MERGE_APART = 1 << 0,   /* captures need not share a measure */
  FLAM_MERGE_ALIGNED = 1 << 1, /* by the date on which each began */
} FlamMergeHow;

/* FLAM_ERROR_INVALID if a capture shares no measure with the previous ones,
 * unless they are to be apart, or if a sum overflows. */
FlamProfile *flam_merge_new (const FlamMergePart *parts,
                             guint n,
                             FlamMergeHow how,
                             GError **error);

G_END_DECLS

#endif
