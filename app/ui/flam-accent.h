/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The desktop's accent color. Before libadwaita 1.6 there is one, blue. */

#include <adwaita.h>

G_BEGIN_DECLS

/* For lines and marks on the background of a view, which is `dark` or not. */
GdkRGBA flam_accent (gboolean dark, float alpha);
/* Calls `changed (object)` whenever it is another one, as long as the object
 * lives. */
void flam_accent_watch (GObject *object, GCallback changed);

G_END_DECLS
