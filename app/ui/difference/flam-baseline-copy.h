/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BASELINE_COPY_H
#define FLAM_BASELINE_COPY_H

/* A baseline as a value for workers, since the session's own may change
 * meanwhile. */

#include "flam-baseline.h"
#include "flam-core-query.h"

G_BEGIN_DECLS

typedef struct
{
  FlamBaselineKind kind;
  FlamProfile *profile; /* NULL: a part of the capture it is compared with */
  FlamSelection *part;
  FlamScale scale;
  gboolean self;
} FlamBaselineCopy;

/* NULL: none. */
FlamBaselineCopy *flam_baseline_copy_new (FlamBaseline *baseline);
void flam_baseline_copy_free (FlamBaselineCopy *base_copy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamBaselineCopy, flam_baseline_copy_free)

static inline const FlamProfile *
flam_baseline_copy_profile (const FlamBaselineCopy *base_copy,
                            const FlamProfile *own)
{
  return base_copy->profile != NULL ? base_copy->profile : own;
}

/* The selection of the baseline that is compared with `selection` of `profile`,
 * upright; NULL: their units differ. `without`: FlamTransferLoss. */
FlamSelection *flam_baseline_copy_select (const FlamBaselineCopy *base_copy,
                                          const FlamProfile *profile,
                                          const FlamSelection *selection,
                                          guint *without);

/* One side, for its scale. */
typedef struct
{
  gint64 total;
  gint64 length; /* ns; 0: not known */
} FlamBaselineSide;

FlamDiffScale flam_baseline_copy_factor (FlamScale scale,
                                         const FlamBaselineSide *base,
                                         const FlamBaselineSide *fresh);

G_END_DECLS

#endif
