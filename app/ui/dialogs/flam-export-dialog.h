/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What is selected, written in another format: the document is made first, so
 * that its size can be told, and then saved where a person says. */

#include "flam-session.h"
#include "flam-sheet.h"
#include "flam-window.h"

G_BEGIN_DECLS

#define FLAM_TYPE_EXPORT_DIALOG (flam_export_dialog_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamExportDialog, flam_export_dialog, FLAM, EXPORT_DIALOG, FlamSheet)

/* `share`: begins as a capture for others, personal paths cut. */
FlamExportDialog *flam_export_dialog_new (FlamWindow *window,
                                          FlamSession *session,
                                          gboolean share);

G_END_DECLS
