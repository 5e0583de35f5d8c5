/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

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
} FlamBasis;

/* NULL: none. */
FlamBasis *flam_basis_new (FlamBaseline *baseline);
void flam_basis_free (FlamBasis *basis);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamBasis, flam_basis_free)

static inline const FlamProfile *
flam_basis_profile (const FlamBasis *basis, const FlamProfile *own)
{
  return basis->profile != NULL ? basis->profile : own;
}

/* The selection of the basis that is compared with `selection` of `profile`,
 * upright; NULL: their units differ. `without`: FlamCarriedWithout. */
FlamSelection *flam_basis_select (const FlamBasis *basis,
                                  const FlamProfile *profile,
                                  const FlamSelection *selection,
                                  guint *without);

/* One side, for its scale. */
typedef struct
{
  gint64 total;
  gint64 length; /* ns; 0: not known */
} FlamBasisSide;

FlamDiffScale flam_basis_factor (FlamScale scale,
                                 const FlamBasisSide *base,
                                 const FlamBasisSide *fresh);

G_END_DECLS
