/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Profile + selection -> a profile of the selected part alone, which without
 * any selection shows what the original shows with this one: for formats that
 * hold profiles, not trees. The range becomes all of time, spans are cut at its
 * borders, and the stacks are those that are shown. */

#include "flam-shown.h"

G_BEGIN_DECLS

/* The same profile where all of it is selected. A direction and rows of modules
 * or files cannot be put into a profile: FLAM_ERROR_INVALID. */
FlamProfile *flam_cut_new (const FlamProfile *profile,
                           const FlamSelection *selection,
                           GError **error);

G_END_DECLS
