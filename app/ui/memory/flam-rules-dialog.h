/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The files of leak suppressions that are in use, how much each hides of the
 * capture, and a way to take them away or to add one. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* `add` is called with the parent to add another one. */
void flam_rules_dialog_present (GtkWindow *parent,
                                FlamSession *session,
                                void (*add) (GtkWindow *parent));

G_END_DECLS
