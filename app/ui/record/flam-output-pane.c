/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-output-pane.h"

#include "flam-widget.h"

#include <glib/gi18n.h>

#define EVERY_MS 250
#define SHOWN_MAX (256 << 10) /* characters; longer: the end */

struct _FlamOutputPane
{
  GtkWidget parent_instance;

  FlamRecording *recording;
  guint timeout;
  GString *rest; /* the beginning of a character or an escape */

  GtkLabel *title;
  GtkWidget *left_out; /* a note that the beginning was removed */
  GtkTextView *text;
  GtkWidget *input_box;
  GtkEntry *input;
  GtkButton *end_input;
  GtkButton *close;
  gboolean has_content; /* as last reported */
  gboolean offered;     /* shown because the program waits for input */
};

enum
{
  PROP_0,
  PROP_HAS_CONTENT,
  N_PROPERTIES
};
static GParamSpec *properties[N_PROPERTIES];

G_DEFINE_FINAL_TYPE (FlamOutputPane, flam_output_pane, GTK_TYPE_WIDGET)

/* --- text ----------------------------------------------------------------- */

/* Escape sequences, such as terminal colors; 0: the sequence is not complete
 * yet. */
static gsize
escape_length (const char *text)
{
  gsize n = 1;

  if (text[n] == '\0')
    return 0;
  if (text[n] != '[')
    return 2;
  for (n = 2; text[n] != '\0'; n++)
    if (text[n] >= 0x40 && text[n] <= 0x7e)
      return n + 1;
  return n > 64 ? n : 0;
}

/* The complete part; the possible beginning of a sequence is kept. */
static char *
take_whole (GString *raw)
{
  GString *text = g_string_new (NULL);
  gsize i = 0;

  while (i < raw->len)
    {
      const char *at = raw->str + i;
      gunichar c = g_utf8_get_char_validated (at, (gssize)(raw->len - i));
      gsize n = *at == '\033' ? escape_length (at) : 1;

      if (c == (gunichar)-2 || n == 0)
        break;
      if (c == (gunichar)-1)
        g_string_append (text, "\xef\xbf\xbd");
      else if (c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f))
        {
          g_string_append_unichar (text, c);
          n = (gsize)(g_utf8_next_char (at) - at);
        }
      i += n;
    }
  g_string_erase (raw, 0, (gssize)i);
  return g_string_free (text, FALSE);
}

static void
append (FlamOutputPane *self, const char *text)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->text);
  GtkTextIter start, end;
  int n;

  gtk_text_buffer_get_end_iter (buffer, &end);
  gtk_text_buffer_insert (buffer, &end, text, -1);
  n = gtk_text_buffer_get_char_count (buffer);
  if (n > SHOWN_MAX)
    {
      gtk_text_buffer_get_start_iter (buffer, &start);
      gtk_text_buffer_get_iter_at_offset (buffer, &end, n - SHOWN_MAX);
      gtk_text_buffer_delete (buffer, &start, &end);
      gtk_widget_set_visible (self->left_out, TRUE);
    }
  gtk_text_buffer_get_end_iter (buffer, &end);
  gtk_text_buffer_place_cursor (buffer, &end);
  gtk_text_view_scroll_mark_onscreen (self->text,
                                      gtk_text_buffer_get_insert (buffer));
}

/* The keyboard goes to the field, unless somebody writes elsewhere with it. */
static void
offer_input (FlamOutputPane *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));

  self->offered = TRUE;
  gtk_widget_set_visible (GTK_WIDGET (self), TRUE);
  if (root == NULL || !flam_widget_is_written_to (GTK_WIDGET (root)))
    gtk_widget_grab_focus (GTK_WIDGET (self->input));
}

static void
update_content (FlamOutputPane *self)
{
  gboolean takes =
      self->recording != NULL && flam_recording_takes_input (self->recording);
  gboolean has = takes || flam_output_pane_has_text (self);

  gtk_widget_set_visible (self->input_box, takes);
  if (takes && !self->offered &&
      flam_recording_waits_for_input (self->recording))
    offer_input (self);
  if (takes)
    gtk_entry_set_visibility (self->input,
                              !flam_recording_hides_input (self->recording));
  if (has == self->has_content)
    return;
  self->has_content = has;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_HAS_CONTENT]);
}

void
flam_output_pane_update (FlamOutputPane *self)
{
  gboolean left_out = FALSE;
  g_autofree char *raw = NULL;
  g_autofree char *text = NULL;

  g_return_if_fail (FLAM_IS_OUTPUT_PANE (self));
  if (self->recording == NULL)
    return;
  update_content (self);
  raw = flam_recording_take_printed (self->recording, &left_out);
  if (left_out)
    gtk_widget_set_visible (self->left_out, TRUE);
  if (raw == NULL)
    return;
  g_string_append (self->rest, raw);
  text = take_whole (self->rest);
  if (*text != '\0')
    append (self, text);
  update_content (self);
}

gboolean
flam_output_pane_has_text (FlamOutputPane *self)
{
  g_return_val_if_fail (FLAM_IS_OUTPUT_PANE (self), FALSE);
  return gtk_text_buffer_get_char_count (
             gtk_text_view_get_buffer (self->text)) > 0;
}

/* --- recording ------------------------------------------------------------ */

static gboolean
on_timeout (gpointer data)
{
  flam_output_pane_update (data);
  return G_SOURCE_CONTINUE;
}

static void
stop (FlamOutputPane *self)
{
  g_clear_handle_id (&self->timeout, g_source_remove);
  g_clear_object (&self->recording);
}

static void
on_finished (FlamOutputPane *self)
{
  flam_output_pane_update (self);
  stop (self);
  update_content (self);
}

/* --- input ---------------------------------------------------------------- */

static void
on_line (FlamOutputPane *self)
{
  g_autofree char *line = g_strconcat (
      gtk_editable_get_text (GTK_EDITABLE (self->input)), "\n", NULL);
  gboolean hidden;

  if (self->recording == NULL)
    return;
  hidden = flam_recording_hides_input (self->recording);
  flam_recording_send_input (self->recording, line);
  if (!hidden)
    append (self, line);
  gtk_editable_set_text (GTK_EDITABLE (self->input), "");
}

static void
on_end_input (FlamOutputPane *self)
{
  if (self->recording != NULL)
    flam_recording_send_input (self->recording, "\004");
}

void
flam_output_pane_set_recording (FlamOutputPane *self, FlamRecording *recording)
{
  g_autofree char *title = NULL;

  g_return_if_fail (FLAM_IS_OUTPUT_PANE (self));
  stop (self);
  g_string_truncate (self->rest, 0);
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (self->text), "", 0);
  gtk_widget_set_visible (self->left_out, FALSE);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  self->recording = g_object_ref (recording);
  self->offered = FALSE;
  update_content (self);
  self->timeout = g_timeout_add (EVERY_MS, on_timeout, self);
  g_signal_connect_object (
      recording, "finished", G_CALLBACK (on_finished), self, G_CONNECT_SWAPPED);
  /* Translators: the name of a program */
  title = g_strdup_printf (_ ("Output of %s"),
                           flam_recording_get_title (recording));
  gtk_label_set_label (self->title, title);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self->text), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
}

/* --- object --------------------------------------------------------------- */

static void
on_close (FlamOutputPane *self)
{
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}

static void
flam_output_pane_get_property (GObject *object,
                               guint id,
                               GValue *value,
                               GParamSpec *pspec)
{
  g_value_set_boolean (value, FLAM_OUTPUT_PANE (object)->has_content);
}

static void
flam_output_pane_dispose (GObject *object)
{
  FlamOutputPane *self = FLAM_OUTPUT_PANE (object);

  stop (self);
  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_OUTPUT_PANE);
  G_OBJECT_CLASS (flam_output_pane_parent_class)->dispose (object);
}

static void
flam_output_pane_finalize (GObject *object)
{
  g_string_free (FLAM_OUTPUT_PANE (object)->rest, TRUE);
  G_OBJECT_CLASS (flam_output_pane_parent_class)->finalize (object);
}

static void
flam_output_pane_class_init (FlamOutputPaneClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->get_property = flam_output_pane_get_property;
  G_OBJECT_CLASS (klass)->dispose = flam_output_pane_dispose;
  G_OBJECT_CLASS (klass)->finalize = flam_output_pane_finalize;
  properties[PROP_HAS_CONTENT] =
      g_param_spec_boolean ("has-content",
                            NULL,
                            NULL,
                            FALSE,
                            G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (
      G_OBJECT_CLASS (klass), N_PROPERTIES, properties);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-output-pane.ui");
  gtk_widget_class_bind_template_child (class, FlamOutputPane, title);
  gtk_widget_class_bind_template_child (class, FlamOutputPane, left_out);
  gtk_widget_class_bind_template_child (class, FlamOutputPane, text);
  gtk_widget_class_bind_template_child (class, FlamOutputPane, input_box);
  gtk_widget_class_bind_template_child (class, FlamOutputPane, input);
  gtk_widget_class_bind_template_child (class, FlamOutputPane, end_input);
  gtk_widget_class_bind_template_child (class, FlamOutputPane, close);
}

static void
flam_output_pane_init (FlamOutputPane *self)
{
  self->rest = g_string_new (NULL);
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (
      self->close, "clicked", G_CALLBACK (on_close), self);
  g_signal_connect_swapped (
      self->input, "activate", G_CALLBACK (on_line), self);
  g_signal_connect_swapped (
      self->end_input, "clicked", G_CALLBACK (on_end_input), self);
}
