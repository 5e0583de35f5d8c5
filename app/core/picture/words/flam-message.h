/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MESSAGE_H
#define FLAM_MESSAGE_H

/* Translates texts that were made below the window and the command line
 * (warnings, errors, reasons for missing symbols, names of measures). */

#include <glib.h>

G_BEGIN_DECLS

/* Call once, in main(), after setlocale(): the catalogues' folder. */
void flam_message_init (const char *folder);

/* `text` is English, with its arguments inserted. It was made by this process,
 * or read from a capture that may come from elsewhere. Translated if the text
 * is known, otherwise unchanged. g_free. */
char *flam_message_shown (const char *text);
/* The same where it stands alone: a known text begins with a capital, unless it
 * begins with a name. */
char *flam_message_sentence (const char *text);

G_END_DECLS

#endif
