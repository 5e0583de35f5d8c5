/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_EXPORT_DIALOG_H
#define FLAM_EXPORT_DIALOG_H

/* Writes the selection in another format: the document is made first, so that
 * its size is known, and then saved at a path that the user chooses. */

#include "flam-session.h"
#include "flam-dialog.h"
#include "flam-window.h"

G_BEGIN_DECLS

#define FLAM_TYPE_EXPORT_DIALOG (flam_export_dialog_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamExportDialog, flam_export_dialog, FLAM, EXPORT_DIALOG, FlamDialog)

FlamExportDialog *flam_export_dialog_new (FlamWindow *window,
                                          FlamSession *session);

G_END_DECLS

#endif
