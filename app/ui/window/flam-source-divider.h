/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SOURCE_DIVIDER_H
#define FLAM_SOURCE_DIVIDER_H

/* Around the GtkPaned with the pages and the source pane: gives the source pane
 * the width that it had last, or its part of a narrow window, before both are
 * allocated. A divider that is placed after that needs another frame, in which
 * everything is laid out and drawn again. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_SOURCE_DIVIDER (flam_source_divider_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamSourceDivider, flam_source_divider, FLAM, SOURCE_DIVIDER, GtkWidget)

/* `small`: the source pane is below the pages. */
void flam_source_divider_set_narrow (FlamSourceDivider *divider,
                                     gboolean narrow,
                                     gboolean small);

G_END_DECLS

#endif
