/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Files of leak suppressions (flam-suppressions.h) that a person has chosen:
 * they are remembered, and count in every capture opened after that, until
 * they are forgotten in the preferences. */

#include "flam-selection.h"

G_BEGIN_DECLS

/* Remembers it. FALSE for a file that cannot be read, or has something else
 * than rules in it. */
gboolean flam_suppression_settings_add (const char *path, GError **error);
/* How many rules are in it. FALSE as above. */
gboolean
flam_suppression_settings_count (const char *path, guint *n, GError **error);
/* Forgets it. */
void flam_suppression_settings_remove (const char *path);
/* Gives the selection the rules of all files. FALSE when one of them is no
 * longer good: the others' rules are in use all the same. */
gboolean flam_suppression_settings_apply (FlamSelection *selection,
                                          GError **error);

G_END_DECLS
