/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The data that lines of a source file are compared with: the baseline's
 * weights under the selection that is shown. Immutable, reference counted. */

#include "flam-basis.h"
#include "flam-view-data.h"

G_BEGIN_DECLS

typedef struct
{
  FlamProfile *profile;
  FlamSelection *selection;
  FlamWeights *weights;
  FlamViewData
      *fresh; /* the profile it is compared with, with the same decimals */
  FlamDiffScale factor;
  gboolean self;
} FlamBeside;

/* NULL with an error (cancelled), or if their units differ. */
FlamBeside *flam_beside_new (const FlamBasis *basis,
                             FlamViewData *view_data,
                             const FlamProgress *progress,
                             GError **error);
FlamBeside *flam_beside_ref (FlamBeside *beside);
void flam_beside_unref (FlamBeside *beside);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamBeside, flam_beside_unref)

/* The lines of the baseline's file for `file` of the other side; ascending, `n`
 * rows, g_free. With `function` not FLAM_NONE, only those of the function with
 * its name. */
FlamLineRow *flam_beside_lines (const FlamBeside *beside,
                                const char *file,
                                FlamId function,
                                guint *n);

G_END_DECLS
