/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PREFERENCES_H
#define FLAM_PREFERENCES_H

/* The dialog of the user's settings. */

#include <adwaita.h>

G_BEGIN_DECLS

#define FLAM_TYPE_PREFERENCES (flam_preferences_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamPreferences, flam_preferences, FLAM, PREFERENCES, AdwPreferencesPage)

/* Shows it transient for `parent`. */
void flam_preferences_show (GtkWindow *parent);

G_END_DECLS

#endif
