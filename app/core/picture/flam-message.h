/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Texts that were made below the window and the command line (warnings, errors,
 * why a module has no symbols, names of measures), in the reader's language. */

#include <glib.h>

G_BEGIN_DECLS

/* Once, in main(), after setlocale(): where the catalogues are. */
void flam_message_init (const char *folder);

/* `text` is English, with its arguments put in: it was made just now, or read
 * from a capture that another made in another language. Translated as far as it
 * is known; else as it is. g_free. */
char *flam_message_shown (const char *text);

/* The texts that are known, for tests: NULL past the last. `many` is NULL where
 * a text has no plural. */
const char *flam_message_known (guint index, const char **many);

G_END_DECLS
