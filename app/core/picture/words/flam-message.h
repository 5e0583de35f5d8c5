/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Translation of texts that were made below the window and the command line
 * (warnings, errors, reasons for missing symbols, names of measures). */

#include <glib.h>

G_BEGIN_DECLS

/* To be called once, in main(), after setlocale(): the catalogues' folder. */
void flam_message_init (const char *folder);

/* `text` is English, with its arguments put in: it was made by this process, or
 * read from a capture that may come from elsewhere. Translated where the text
 * is known; otherwise unchanged. g_free. */
char *flam_message_shown (const char *text);

/* The known texts, for tests: NULL past the last. `many` is NULL where a text
 * has no plural. */
const char *flam_message_known (guint index, const char **many);

G_END_DECLS
