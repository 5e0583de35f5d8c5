/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LIST_DIALOG_H
#define FLAM_LIST_DIALOG_H

/* A dialog with a list of rows that can be opened and removed, a widget above
 * it to add a row, and a text for an empty list. */

#include "flam-dialog.h"

G_BEGIN_DECLS

#define FLAM_TYPE_LIST_DIALOG (flam_list_dialog_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamListDialog, flam_list_dialog, FLAM, LIST_DIALOG, FlamDialog)

/* `none`: the text for an empty list; `topic`: the help page that F1 opens. */
FlamListDialog *
flam_list_dialog_new (const char *title, const char *none, const char *topic);
/* Above the list. */
void flam_list_dialog_add_top (FlamListDialog *self, GtkWidget *widget);
/* A field above the list, with the focus: only rows that contain its text are
 * visible, and Return opens the first of them. */
void flam_list_dialog_add_search (FlamListDialog *self, const char *name);
/* At the right end of the header. */
void flam_list_dialog_add_button (FlamListDialog *self, GtkWidget *button);

/* Signals "go" and "remove" (guint row) report the action on a row; rows are
 * numbered in the order in which they were added since clear(). Only rows with
 * `goes` can be opened, and only rows with a removal text can be removed. */
void flam_list_dialog_clear (FlamListDialog *self);
void flam_list_dialog_add_row (FlamListDialog *self,
                               const char *title,
                               const char *subtitle,
                               gboolean goes,
                               const char *remove);

G_END_DECLS

#endif
