/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A dialog with a list whose rows can be gone to and taken away, something
 * above it to add one with, and words for when there are none. */

#include "flam-sheet.h"

G_BEGIN_DECLS

#define FLAM_TYPE_LIST_DIALOG (flam_list_dialog_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamListDialog, flam_list_dialog, FLAM, LIST_DIALOG, FlamSheet)

/* `none`: what is said where there are no rows. */
FlamListDialog *flam_list_dialog_new (const char *title, const char *none);
/* Above the list. */
void flam_list_dialog_add_top (FlamListDialog *self, GtkWidget *widget);
/* At the right of the header. */
void flam_list_dialog_add_button (FlamListDialog *self, GtkWidget *button);

/* Signals "go" and "remove" (guint row) say what was done with a row; rows are
 * numbered as they were added since clear(). Only `goes` can be gone to, and
 * only what has words for it removed. */
void flam_list_dialog_clear (FlamListDialog *self);
void flam_list_dialog_add_row (FlamListDialog *self,
                               const char *title,
                               const char *subtitle,
                               gboolean goes,
                               const char *remove);

G_END_DECLS
