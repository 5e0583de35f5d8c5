/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DIALOG_H
#define FLAM_DIALOG_H

/* A base class for dialogs: inside the window if libadwaita supports it (1.5),
 * a window of its own otherwise. `title` and `default-widget` are the
 * platform's; `body` is the content, `width` and `height` its preferred size.
 * Without a height, it is as high as its body. */

#include <adwaita.h>

G_BEGIN_DECLS

#if ADW_CHECK_VERSION(1, 5, 0)
typedef AdwDialog FlamDialogParent;
typedef AdwDialogClass FlamDialogParentClass;
#define FLAM_DIALOG_PARENT ADW_TYPE_DIALOG
#else
typedef AdwWindow FlamDialogParent;
typedef AdwWindowClass FlamDialogParentClass;
#define FLAM_DIALOG_PARENT ADW_TYPE_WINDOW
#endif

G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamDialogParent, g_object_unref)

#define FLAM_TYPE_DIALOG (flam_dialog_get_type ())
G_DECLARE_DERIVABLE_TYPE (
    FlamDialog, flam_dialog, FLAM, DIALOG, FlamDialogParent)

struct _FlamDialogClass
{
  FlamDialogParentClass parent_class;
};

/* No wider than its parent window. */
void flam_dialog_present (FlamDialog *self, GtkWindow *parent);
void flam_dialog_close (FlamDialog *self);
/* The widget that gets the initial focus. */
void flam_dialog_set_focus (FlamDialog *self, GtkWidget *focus);
/* The window that contains it once it is presented, or the dialog itself. */
GtkWindow *flam_dialog_get_window (FlamDialog *self);

G_END_DECLS

#endif
