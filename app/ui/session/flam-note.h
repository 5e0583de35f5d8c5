/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_NOTE_H
#define FLAM_NOTE_H

/* A user's note about a function or a time range of a capture. Immutable: a
 * changed text makes a new note. */

#include "flam-core-profile.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define FLAM_NOTE_MAX 10000 /* maximum length of a text in bytes */

#define FLAM_TYPE_NOTE (flam_note_get_type ())
G_DECLARE_FINAL_TYPE (FlamNote, flam_note, FLAM, NOTE, GObject)

/* `function`: NULL for a range in ns. */
FlamNote *
flam_note_new (const char *text, const char *function, gint64 from, gint64 to);
const char *flam_note_get_text (FlamNote *note);
/* NULL: the note is about a range. */
const char *flam_note_get_function (FlamNote *note);
void flam_note_get_range (FlamNote *note, gint64 *from, gint64 *to);
/* "paint_row", "1.20 s – 3.40 s": the subject of the note; g_free. */
char *flam_note_describe (FlamNote *note);

/* All notes of a list in a key file (flam-saved-state.h). */
void flam_notes_write (GListModel *notes, GKeyFile *kept);
void flam_notes_read (GListStore *notes, GKeyFile *kept);
/* Adds the notes whose subject is in the capture. */
void flam_notes_take (GListStore *notes, const FlamProfile *profile);
/* The notes about a function, separated by newlines; NULL: none.
 * g_free. */
char *flam_notes_about (GListModel *notes, const char *function);

G_END_DECLS

#endif
