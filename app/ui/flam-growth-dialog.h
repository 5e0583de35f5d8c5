/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Asks between which two moments of a capture the growth is wanted: its start
 * and end, its marks, its peak, the ends of the selected range.
 *
 * Signal "chosen" (gint64 from, gint64 to), half open, ns. */

#include "flam-session.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define FLAM_TYPE_GROWTH_DIALOG (flam_growth_dialog_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamGrowthDialog, flam_growth_dialog, FLAM, GROWTH_DIALOG, AdwMessageDialog)

FlamGrowthDialog *flam_growth_dialog_new (GtkWindow *parent,
                                          FlamSession *session);

G_END_DECLS
