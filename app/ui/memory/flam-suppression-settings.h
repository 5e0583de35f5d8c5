/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SUPPRESSION_SETTINGS_H
#define FLAM_SUPPRESSION_SETTINGS_H

/* The leak suppression files (flam-suppressions.h) that the user has chosen.
 * They are stored, and apply to every capture that is opened until they are
 * removed in the preferences. */

#include "flam-core-query.h"

G_BEGIN_DECLS

/* Stores it. FALSE if the file cannot be read or contains anything but
 * rules. */
gboolean flam_suppression_settings_add (const char *path, GError **error);
/* The number of its rules. FALSE as above. */
gboolean
flam_suppression_settings_count (const char *path, guint *n, GError **error);
/* Removes it. */
void flam_suppression_settings_remove (const char *path);
/* Adds the rules of all files to the selection. FALSE if one of the files is no
 * longer valid; the rules of the others are in use nevertheless. */
gboolean flam_suppression_settings_apply (FlamSelection *selection,
                                          GError **error);

G_END_DECLS

#endif
