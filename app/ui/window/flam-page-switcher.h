/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PAGE_SWITCHER_H
#define FLAM_PAGE_SWITCHER_H

/* The pages of a stack as buttons in a row: the most used ones have a button
 * each, all others are in a menu at the end, whose button has the name of the
 * visible one. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_PAGE_SWITCHER (flam_page_switcher_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamPageSwitcher, flam_page_switcher, FLAM, PAGE_SWITCHER, GtkWidget)

void flam_page_switcher_set_stack (FlamPageSwitcher *self, GtkStack *stack);
/* Adds a button for the stack page with this name, in the row or the menu. */
void flam_page_switcher_add (FlamPageSwitcher *self,
                             const char *id,
                             const char *title,
                             gboolean in_menu);
void flam_page_switcher_set_shown (FlamPageSwitcher *self,
                                   const char *id,
                                   gboolean shown);

G_END_DECLS

#endif
