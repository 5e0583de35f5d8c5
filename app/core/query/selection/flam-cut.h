/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CUT_H
#define FLAM_CUT_H

/* Profile + selection -> a profile of only the selected part, which shows
 * without a selection what the original shows with this one. For formats that
 * hold profiles, not trees. The range becomes the whole time, spans are cut at
 * its borders, and the stacks are the shown ones. */

#include "flam-shown.h"

G_BEGIN_DECLS

/* Returns the same profile if everything is selected. A profile cannot have a
 * direction or rows of modules or files: FLAM_ERROR_INVALID. */
FlamProfile *flam_cut_new (const FlamProfile *profile,
                           const FlamSelection *selection,
                           GError **error);

G_END_DECLS

#endif
