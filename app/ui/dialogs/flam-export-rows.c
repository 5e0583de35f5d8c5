/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-export-rows.h"

#include <glib/gi18n.h>
#include <math.h>

typedef struct
{
  GtkWidget *row;
  GtkWidget *editor; /* the row itself, or the switch or number inside it */
  double number;     /* the number's value before it changed */
  gboolean had_text; /* it began with text, so emptying it does not unset it */
} Row;

struct _FlamExportRows
{
  AdwExpanderRow parent_instance;

  guint parts;     /* options of the format */
  guint now;       /* those that currently have an effect */
  gboolean silent; /* values are being set by the program */
  Row rows[FLAM_N_EXPORT_OPTIONS];
};

G_DEFINE_FINAL_TYPE (FlamExportRows, flam_export_rows, ADW_TYPE_EXPANDER_ROW)

static guint changed_signal;

/* --- words ---------------------------------------------------------------- */

/* g_free; NULL: the option has its default. */
static char *
word_of (FlamExportRows *self, guint i)
{
  const FlamExportOption *option = &flam_export_options[i];
  const Row *row = &self->rows[i];
  const char *text;
  guint place;
  double number;

  if (row->row == NULL)
    return NULL;
  switch (option->kind)
    {
    case FLAM_OPTION_SWITCH:
      return gtk_switch_get_active (GTK_SWITCH (row->editor)) ? g_strdup ("")
                                                              : NULL;
    case FLAM_OPTION_TEXT:
      text = gtk_editable_get_text (GTK_EDITABLE (row->editor));
      return *text != '\0' || row->had_text ? g_strdup (text) : NULL;
    case FLAM_OPTION_NUMBER:
    case FLAM_OPTION_LEAST:
      number = gtk_spin_button_get_value (GTK_SPIN_BUTTON (row->editor));
      return number > 0 ? g_strdup_printf ("%g", number) : NULL;
    case FLAM_OPTION_CHOICE:
      place = adw_combo_row_get_selected (ADW_COMBO_ROW (row->row));
      if (option->unset != NULL && place-- == 0)
        return NULL;
      return g_strdup (option->words[place].word);
    case FLAM_OPTION_FILE:
    default:
      return NULL;
    }
}

/* The values of the options that have one of `parts`. */
static GPtrArray *
words_of (FlamExportRows *self, guint parts)
{
  GPtrArray *words = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < FLAM_N_EXPORT_OPTIONS; i++)
    g_ptr_array_add (
        words, flam_export_options[i].part & parts ? word_of (self, i) : NULL);
  return words;
}

GPtrArray *
flam_export_rows_get_words (FlamExportRows *self)
{
  g_return_val_if_fail (FLAM_IS_EXPORT_ROWS (self), NULL);
  return words_of (self, self->now);
}

/* --- which rows are there ------------------------------------------------- */

/* With a chart, the shape has no effect; with the first two shapes, the palette
 * leaves the rest without effect. */
static guint
parts_now (FlamExportRows *self)
{
  static const guint deciding[] = { FLAM_PICTURE_STYLE_CHART,
                                    FLAM_PICTURE_STYLE_SHAPE |
                                        FLAM_PICTURE_STYLE_COLORS };
  FlamExportOptions options = { .root = FLAM_ROOT_NONE };
  guint now = self->parts;

  for (guint i = 0; i < G_N_ELEMENTS (deciding); i++)
    {
      g_autoptr (GPtrArray) words = words_of (self, deciding[i] & now);

      flam_export_options_take (
          &options, (const char *const *)words->pdata, self->parts, "", NULL);
      now = flam_export_options_parts (&options, self->parts);
    }
  return now;
}

static void
update (FlamExportRows *self)
{
  gboolean any = FALSE;

  self->now = parts_now (self);
  for (guint i = 0; i < FLAM_N_EXPORT_OPTIONS; i++)
    if (self->rows[i].row != NULL)
      {
        gboolean shown = (flam_export_options[i].part & self->now) != 0;

        gtk_widget_set_visible (self->rows[i].row, shown);
        any |= shown;
      }
  gtk_widget_set_visible (GTK_WIDGET (self), any);
}

void
flam_export_rows_set_parts (FlamExportRows *self, guint parts)
{
  g_return_if_fail (FLAM_IS_EXPORT_ROWS (self));
  self->parts = parts;
  update (self);
}

static void
on_changed (FlamExportRows *self)
{
  if (self->silent)
    return;
  update (self);
  g_signal_emit (self, changed_signal, 0);
}

/* --- words at first ------------------------------------------------------- */

static void
choose (const FlamExportOption *option, AdwComboRow *row, const char *word)
{
  for (guint i = 0; option->words[i].word != NULL; i++)
    if (g_str_equal (option->words[i].word, word))
      adw_combo_row_set_selected (row, i + (option->unset != NULL));
}

void
flam_export_rows_set_word (FlamExportRows *self,
                           const char *name,
                           const char *word)
{
  g_return_if_fail (FLAM_IS_EXPORT_ROWS (self));
  self->silent = TRUE;
  for (guint i = 0; i < FLAM_N_EXPORT_OPTIONS; i++)
    {
      const FlamExportOption *option = &flam_export_options[i];
      Row *row = &self->rows[i];

      if (row->row == NULL || !g_str_equal (option->name, name))
        continue;
      if (option->kind == FLAM_OPTION_CHOICE)
        choose (option, ADW_COMBO_ROW (row->row), word);
      else if (option->kind == FLAM_OPTION_TEXT)
        {
          gtk_editable_set_text (GTK_EDITABLE (row->editor), word);
          row->had_text = *word != '\0';
        }
      else if (option->kind == FLAM_OPTION_SWITCH)
        gtk_switch_set_active (GTK_SWITCH (row->editor), TRUE);
      else
        gtk_spin_button_set_value (GTK_SPIN_BUTTON (row->editor),
                                   g_ascii_strtod (word, NULL));
    }
  self->silent = FALSE;
  update (self);
}

/* --- numbers: none is automatic ------------------------------------------- */

static gboolean
on_output (GtkSpinButton *spin)
{
  if (gtk_spin_button_get_value (spin) > 0)
    return FALSE;
  gtk_editable_set_text (GTK_EDITABLE (spin), _ ("Automatic"));
  return TRUE;
}

static int
on_input (GtkSpinButton *spin, double *number, gpointer data)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (spin));

  if (*text != '\0' && !g_str_equal (text, _ ("Automatic")))
    return FALSE;
  *number = 0;
  return TRUE;
}

/* No values exist between "none" and the minimum. */
static void
on_number (GtkSpinButton *spin, FlamExportRows *self)
{
  guint i = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (spin), "option"));
  double least = flam_export_options[i].least;
  double number = gtk_spin_button_get_value (spin);
  double before = self->rows[i].number;

  self->rows[i].number = number;
  if (number > 0 && number < least)
    gtk_spin_button_set_value (spin, number > before ? least : 0);
  else
    on_changed (self);
}

static GtkWidget *
new_number (FlamExportRows *self, guint i)
{
  const FlamExportOption *option = &flam_export_options[i];
  GtkWidget *spin =
      gtk_spin_button_new_with_range (0, option->most, option->step);
  int digits = option->step < 1 ? 1 : 0;

  gtk_spin_button_set_digits (GTK_SPIN_BUTTON (spin), (guint)digits);
  gtk_editable_set_width_chars (GTK_EDITABLE (spin),
                                (int)g_utf8_strlen (_ ("Automatic"), -1));
  /* Otherwise the word could not be entered. */
  gtk_spin_button_set_numeric (GTK_SPIN_BUTTON (spin), FALSE);
  g_object_set_data (G_OBJECT (spin), "option", GUINT_TO_POINTER (i));
  g_signal_connect (spin, "output", G_CALLBACK (on_output), NULL);
  g_signal_connect (spin, "input", G_CALLBACK (on_input), NULL);
  on_output (GTK_SPIN_BUTTON (spin));
  g_signal_connect (spin, "value-changed", G_CALLBACK (on_number), self);
  return spin;
}

/* --- rows ----------------------------------------------------------------- */

static GtkWidget *
new_combo (const FlamExportOption *option)
{
  g_autoptr (GtkStringList) labels = gtk_string_list_new (NULL);
  g_autoptr (GtkListItemFactory) items =
      gtk_builder_list_item_factory_new_from_resource (
          NULL, "/dev/flambeau/Flambeau/ui/flam-choice-item.ui");
  GtkWidget *row = adw_combo_row_new ();

  adw_combo_row_set_list_factory (ADW_COMBO_ROW (row), items);
  if (option->unset != NULL)
    gtk_string_list_append (labels, _ (option->unset));
  for (const FlamOptionWord *word = option->words; word->word != NULL; word++)
    gtk_string_list_append (labels,
                            word->label != NULL ? _ (word->label) : word->word);
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (labels));
  return row;
}

static GtkWidget *
row_of (GtkWidget *editor)
{
  GtkWidget *row = adw_action_row_new ();

  gtk_widget_set_valign (editor, GTK_ALIGN_CENTER);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), editor);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), editor);
  return row;
}

static void
add_row (FlamExportRows *self, guint i)
{
  const FlamExportOption *option = &flam_export_options[i];
  Row *row = &self->rows[i];
  const char *signal = "changed";

  switch (option->kind)
    {
    case FLAM_OPTION_SWITCH:
      row->editor = gtk_switch_new ();
      row->row = row_of (row->editor);
      signal = "notify::active";
      break;
    case FLAM_OPTION_TEXT:
      row->row = row->editor = adw_entry_row_new ();
      break;
    case FLAM_OPTION_NUMBER:
    case FLAM_OPTION_LEAST:
      row->editor = new_number (self, i);
      row->row = row_of (row->editor);
      signal = NULL;
      break;
    case FLAM_OPTION_CHOICE:
      row->row = row->editor = new_combo (option);
      signal = "notify::selected";
      break;
    case FLAM_OPTION_FILE:
    default:
      return;
    }
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row->row),
                                 _ (option->title));
  if (signal != NULL)
    g_signal_connect_object (
        row->editor, signal, G_CALLBACK (on_changed), self, G_CONNECT_SWAPPED);
  adw_expander_row_add_row (ADW_EXPANDER_ROW (self), row->row);
}

static void
flam_export_rows_class_init (FlamExportRowsClass *klass)
{
  changed_signal = g_signal_new ("changed",
                                 FLAM_TYPE_EXPORT_ROWS,
                                 G_SIGNAL_RUN_LAST,
                                 0,
                                 NULL,
                                 NULL,
                                 NULL,
                                 G_TYPE_NONE,
                                 0);
}

static void
flam_export_rows_init (FlamExportRows *self)
{
  for (guint i = 0; i < FLAM_N_EXPORT_OPTIONS; i++)
    if (flam_export_options[i].title != NULL)
      add_row (self, i);
  update (self);
}
