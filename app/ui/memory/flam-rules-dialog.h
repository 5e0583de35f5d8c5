/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RULES_DIALOG_H
#define FLAM_RULES_DIALOG_H

/* The leak suppression files in use, how much of the capture each hides, and
 * buttons to remove them or add one. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* `add` is called with the parent to add a file. */
void flam_rules_dialog_present (GtkWindow *parent,
                                FlamSession *session,
                                void (*add) (GtkWindow *parent));

G_END_DECLS

#endif
