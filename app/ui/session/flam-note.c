/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-note.h"

#include "flam-core-picture.h"

#define NOTES_MAX 500 /* of a capture */

struct _FlamNote
{
  GObject parent_instance;
  char *text;
  char *function;
  gint64 from, to;
};

G_DEFINE_FINAL_TYPE (FlamNote, flam_note, G_TYPE_OBJECT)

FlamNote *
flam_note_new (const char *text, const char *function, gint64 from, gint64 to)
{
  FlamNote *self = g_object_new (FLAM_TYPE_NOTE, NULL);

  self->text = g_utf8_make_valid (text, MIN (strlen (text), FLAM_NOTE_MAX));
  self->function = g_strdup (function);
  self->from = from;
  self->to = to;
  return self;
}

const char *
flam_note_get_text (FlamNote *self)
{
  return self->text;
}

const char *
flam_note_get_function (FlamNote *self)
{
  return self->function;
}

void
flam_note_get_range (FlamNote *self, gint64 *from, gint64 *to)
{
  *from = self->from;
  *to = self->to;
}

char *
flam_note_describe (FlamNote *self)
{
  g_autofree char *from = flam_format_value (MAX (self->from, 0), FLAM_UNIT_NS);
  g_autofree char *to = flam_format_value (self->to, FLAM_UNIT_NS);

  return self->function != NULL ? flam_format_visible (self->function)
                                : g_strdup_printf ("%s – %s", from, to);
}

void
flam_notes_write (GListModel *notes, GKeyFile *kept)
{
  for (guint i = 0; i < MIN (g_list_model_get_n_items (notes), NOTES_MAX); i++)
    {
      g_autoptr (FlamNote) note = g_list_model_get_item (notes, i);
      g_autofree char *group = g_strdup_printf ("Note %u", i + 1);

      g_key_file_set_string (kept, group, "Text", note->text);
      if (note->function != NULL)
        g_key_file_set_string (kept, group, "Function", note->function);
      else
        {
          g_key_file_set_int64 (kept, group, "From", note->from);
          g_key_file_set_int64 (kept, group, "To", note->to);
        }
    }
}

void
flam_notes_read (GListStore *notes, GKeyFile *kept)
{
  for (guint i = 0; i < NOTES_MAX; i++)
    {
      g_autofree char *group = g_strdup_printf ("Note %u", i + 1);
      g_autofree char *text = g_key_file_get_string (kept, group, "Text", NULL);
      g_autofree char *function =
          g_key_file_get_string (kept, group, "Function", NULL);
      gint64 from = g_key_file_get_int64 (kept, group, "From", NULL);
      gint64 to = g_key_file_get_int64 (kept, group, "To", NULL);
      g_autoptr (FlamNote) note = NULL;

      if (text == NULL)
        return;
      if (function == NULL && from >= to)
        continue;
      note = flam_note_new (text, function, from, to);
      g_list_store_append (notes, note);
    }
}

void
flam_notes_take (GListStore *notes, const FlamProfile *profile)
{
  const FlamNotes *rows = &profile->notes;

  for (guint32 i = 0; i < MIN (rows->n, NOTES_MAX); i++)
    {
      const char *text = flam_profile_string (profile, rows->text[i]);
      const char *function =
          rows->function[i] != FLAM_NONE
              ? flam_profile_string (profile, rows->function[i])
              : NULL;
      g_autoptr (FlamNote) note = NULL;

      if (function == NULL && rows->from[i] >= rows->to[i])
        continue;
      note = flam_note_new (text, function, rows->from[i], rows->to[i]);
      g_list_store_append (notes, note);
    }
}

char *
flam_notes_about (GListModel *notes, const char *function)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < g_list_model_get_n_items (notes); i++)
    {
      g_autoptr (FlamNote) note = g_list_model_get_item (notes, i);

      if (g_strcmp0 (note->function, function) == 0)
        g_string_append_printf (
            text, "%s%s", text->len > 0 ? "\n" : "", note->text);
    }
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

static void
flam_note_finalize (GObject *object)
{
  FlamNote *self = FLAM_NOTE (object);

  g_free (self->text);
  g_free (self->function);
  G_OBJECT_CLASS (flam_note_parent_class)->finalize (object);
}

static void
flam_note_class_init (FlamNoteClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_note_finalize;
}

static void
flam_note_init (FlamNote *self)
{
}
