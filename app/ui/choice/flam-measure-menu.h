/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The CPU|Memory toggle and the list of measures of the chosen side: three
 * widgets of another object, which follow the session together. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_MEASURE_MENU (flam_measure_menu_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamMeasureMenu, flam_measure_menu, FLAM, MEASURE_MENU, GObject)

FlamMeasureMenu *flam_measure_menu_new (FlamSession *session,
                                        GtkToggleButton *cpu,
                                        GtkToggleButton *memory,
                                        GtkDropDown *list);

G_END_DECLS
