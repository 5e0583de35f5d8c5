/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GROWTH_DIALOG_H
#define FLAM_GROWTH_DIALOG_H

/* A dialog for the two moments between which growth is shown: the start and end
 * of the capture, its marks, its peak, the ends of the selected range
 * (preselected), or any other time.
 *
 * Signal "chosen" (gint64 from, gint64 to), half open, ns. */

#include "flam-platform.h"
#include "flam-session.h"

G_BEGIN_DECLS

#define FLAM_TYPE_GROWTH_DIALOG (flam_growth_dialog_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamGrowthDialog, flam_growth_dialog, FLAM, GROWTH_DIALOG, FlamAlert)

FlamGrowthDialog *flam_growth_dialog_new (FlamSession *session);
void flam_growth_dialog_present (FlamGrowthDialog *dialog, GtkWindow *parent);

G_END_DECLS

#endif
