/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Files of leak suppressions (flam-suppressions.h) that the user has chosen:
 * they are stored, and apply to every capture opened after that, until they are
 * removed in the preferences. */

#include "flam-core-query.h"

G_BEGIN_DECLS

/* Stores it. FALSE for a file that cannot be read, or that contains anything
 * but rules. */
gboolean flam_suppression_settings_add (const char *path, GError **error);
/* The number of its rules. FALSE as above. */
gboolean
flam_suppression_settings_count (const char *path, guint *n, GError **error);
/* Removes it. */
void flam_suppression_settings_remove (const char *path);
/* Gives the selection the rules of all files. FALSE when one of them is no
 * longer valid: the others' rules are in use all the same. */
gboolean flam_suppression_settings_apply (FlamSelection *selection,
                                          GError **error);

G_END_DECLS
