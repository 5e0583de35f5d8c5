/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TIPS_H
#define FLAM_TIPS_H

/* Two tips about features that are not visible, each shown once and never
 * again: that a drag over the overview selects a range of time, and that a
 * right click on a box offers more. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Shows the remaining tips, one after the other, at children of `owner`, which
 * has a layout manager; only the first call for an owner has an effect. Escape
 * closes a tip, and so does what it describes, which is done at once: a tip
 * does not take the pointer or the keyboard. A child that is not shown keeps
 * its tip for the next capture. */
void flam_tips_offer (GtkWidget *owner, GtkWidget *overview, GtkWidget *graph);

G_END_DECLS

#endif
