/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A base class for dialogs: inside the window if libadwaita supports it (1.5),
 * a window of its own otherwise. `title` and `default-widget` are the
 * platform's; `body` is the content, `width` and `height` its preferred size.
 * Without a height, it is as high as its body. */

#include <adwaita.h>

G_BEGIN_DECLS

#if ADW_CHECK_VERSION(1, 5, 0)
typedef AdwDialog FlamSheetParent;
typedef AdwDialogClass FlamSheetParentClass;
#define FLAM_SHEET_PARENT ADW_TYPE_DIALOG
#else
typedef AdwWindow FlamSheetParent;
typedef AdwWindowClass FlamSheetParentClass;
#define FLAM_SHEET_PARENT ADW_TYPE_WINDOW
#endif

G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSheetParent, g_object_unref)

#define FLAM_TYPE_SHEET (flam_sheet_get_type ())
G_DECLARE_DERIVABLE_TYPE (FlamSheet, flam_sheet, FLAM, SHEET, FlamSheetParent)

struct _FlamSheetClass
{
  FlamSheetParentClass parent_class;
};

/* No wider than its parent window. */
void flam_sheet_present (FlamSheet *self, GtkWindow *parent);
void flam_sheet_close (FlamSheet *self);
/* The widget that gets the initial focus. */
void flam_sheet_set_focus (FlamSheet *self, GtkWidget *focus);
/* The window that contains it once it is presented, or the dialog itself. */
GtkWindow *flam_sheet_get_window (FlamSheet *self);

G_END_DECLS
