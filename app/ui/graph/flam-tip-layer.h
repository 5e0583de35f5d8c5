/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TIP_LAYER_H
#define FLAM_TIP_LAYER_H

/* A widget that shows a tooltip above the widget that it contains.
 *
 * GTK's tooltips are windows of their own: the display server has to make,
 * place and show one each time, 3.5 of the 5 ms of CPU that a hovered box cost
 * without a GPU. This one is drawn within the window, in the same style, and
 * stays within its edges. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_TIP_LAYER (flam_tip_layer_get_type ())
G_DECLARE_FINAL_TYPE (FlamTipLayer, flam_tip_layer, FLAM, TIP_LAYER, GtkWidget)

GtkWidget *flam_tip_layer_new (GtkWidget *child);

/* Shows a tooltip in the layer that is around `owner`, if there is one: below
 * an area of the owner, or above it where there is no room. `text` is for
 * screen readers. If the content is already shown, it is only moved. */
void flam_tip_show (GtkWidget *owner,
                    GtkWidget *content,
                    const char *text,
                    const GdkRectangle *area);
/* Hides the tooltip of `owner`; FALSE: it shows none. */
gboolean flam_tip_hide (GtkWidget *owner);

G_END_DECLS

#endif
