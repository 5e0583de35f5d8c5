/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Profile + selection -> a profile of what is selected alone, which shows
 * without any selection what the first one shows with this: for forms that
 * hold profiles, not trees. The range becomes the whole, spans are cut at its
 * borders, and the stacks are those that are shown. */

#include "flam-shown.h"

G_BEGIN_DECLS

/* The same profile where all of it is selected. A direction and rows of
 * modules or files are no profile's: FLAM_ERROR_INVALID. */
FlamProfile *flam_cut_new (const FlamProfile *profile,
                           const FlamSelection *selection,
                           GError **error);

G_END_DECLS
