/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MEASURE_MENU_H
#define FLAM_MEASURE_MENU_H

/* The CPU|Memory toggle and the menu of the measures of the chosen side, which
 * also has what concerns them: growth, leak suppressions, the meaning of a
 * text's weights. Widgets of another object, which follow the session together
 * and are shown where there is a choice. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_MEASURE_MENU (flam_measure_menu_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamMeasureMenu, flam_measure_menu, FLAM, MEASURE_MENU, GObject)

FlamMeasureMenu *flam_measure_menu_new (FlamSession *session,
                                        GtkWidget *kinds,
                                        GtkToggleButton *cpu,
                                        GtkToggleButton *memory,
                                        GtkMenuButton *button,
                                        GtkLabel *label);

G_END_DECLS

#endif
