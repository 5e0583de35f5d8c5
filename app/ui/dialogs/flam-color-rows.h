/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_COLOR_ROWS_H
#define FLAM_COLOR_ROWS_H

/* The user's color rules (flam-user-colors.h) as a group of the preferences.
 * Changes take effect at once. */

#include <adwaita.h>

G_BEGIN_DECLS

#define FLAM_TYPE_COLOR_ROWS (flam_color_rows_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamColorRows, flam_color_rows, FLAM, COLOR_ROWS, AdwPreferencesGroup)

G_END_DECLS

#endif
