/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ACCENT_H
#define FLAM_ACCENT_H

/* The desktop's accent color. Before libadwaita 1.6 it is always blue. */

#include <adwaita.h>

G_BEGIN_DECLS

/* For lines and marks on a view's background, which may be `dark`. */
GdkRGBA flam_accent (gboolean dark, float alpha);
/* Calls `changed (object)` whenever the color changes, for as long as the
 * object lives. */
void flam_accent_watch (GObject *object, GCallback changed);

G_END_DECLS

#endif
