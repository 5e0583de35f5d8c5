/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRANSFORMS_H
#define FLAM_TRANSFORMS_H

/* The actions on a frame, which are the same in every view: "node.*", their
 * menu and their keys. They act on the session's current frame. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Inserts the action group and the keys into `widget`, above all views. */
void flam_transforms_install (GtkWidget *widget, FlamSession *session);
/* Makes `node` the current frame and shows its menu at x, y of `widget`. */
void flam_transforms_popup (GtkWidget *widget,
                            FlamSession *session,
                            FlamNodeId node,
                            double x,
                            double y);

/* "Focus", "Hide" ...: for chips and menus. */
const char *flam_transforms_label (FlamTransformKind kind);
/* The pattern without the characters that anchor and quote an exact name. */
char *flam_transforms_describe (const FlamTransform *transform);

/* The change between two selections in a few words, for undo; g_free. */
char *flam_transforms_describe_step (const FlamSelection *before,
                                     const FlamSelection *now);

G_END_DECLS

#endif
