/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_NOTES_DIALOG_H
#define FLAM_NOTES_DIALOG_H

/* The notes of a capture: an entry for a new one about the current function or
 * the selected range of time, and a list of all notes, which can be opened and
 * removed. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

void flam_notes_dialog_present (GtkWindow *parent, FlamSession *session);

G_END_DECLS

#endif
