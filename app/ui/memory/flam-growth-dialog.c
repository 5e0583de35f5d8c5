/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-growth-dialog.h"

#include "flam-allocation-filter.h"
#include "flam-format.h"
#include "flam-help.h"

#include <glib/gi18n.h>

#define MARKS_MAX 1000 /* a list is no place for more */

typedef struct
{
  gint64 time;
  char *name;
} Moment;

struct _FlamGrowthDialog
{
  FlamAlert parent_instance;

  GArray *moments; /* Moment, ascending */
  AdwComboRow *from;
  AdwComboRow *to;
};

static guint chosen_signal;

G_DEFINE_FINAL_TYPE (FlamGrowthDialog, flam_growth_dialog, FLAM_TYPE_ALERT)

/* --- moments -------------------------------------------------------------- */

static void
moment_clear (gpointer data)
{
  g_free (((Moment *)data)->name);
}

static void
add_moment (FlamGrowthDialog *self, gint64 time, const char *name)
{
  g_autofree char *when = flam_format_value (MAX (time, 0), FLAM_UNIT_NS);
  /* Translators: the name of a moment, and when it was */
  Moment moment = { time, g_strdup_printf (_ ("%s (%s)"), name, when) };

  g_array_append_val (self->moments, moment);
}

static int
compare_moments (gconstpointer a, gconstpointer b)
{
  gint64 x = ((const Moment *)a)->time;
  gint64 y = ((const Moment *)b)->time;

  return (x > y) - (x < y);
}

static void
find_moments (FlamGrowthDialog *self,
              const FlamProfile *profile,
              const FlamSelection *selection)
{
  g_autoptr (FlamSelection) whole = flam_selection_copy (selection);

  whole->from = G_MININT64;
  whole->to = G_MAXINT64;
  add_moment (self, 0, _ ("Start"));
  add_moment (
      self, flam_allocation_filter_peak_time (profile, whole) + 1, _ ("Peak"));
  for (FlamId i = 0; i < MIN (profile->marks.n, MARKS_MAX); i++)
    add_moment (self,
                profile->marks.time[i],
                flam_profile_string (profile, profile->marks.name[i]));
  if (selection->from > 0)
    add_moment (self, selection->from, _ ("Range Start"));
  if (selection->to < profile->facts.duration_ns)
    add_moment (self, selection->to, _ ("Range End"));
  add_moment (self, profile->facts.duration_ns + 1, _ ("End"));
  g_array_sort (self->moments, compare_moments);
}

static guint
moment_at (FlamGrowthDialog *self, gint64 time)
{
  for (guint i = 0; i < self->moments->len; i++)
    if (g_array_index (self->moments, Moment, i).time >= time)
      return i;
  return self->moments->len - 1;
}

static gint64
chosen_time (FlamGrowthDialog *self, AdwComboRow *row)
{
  return g_array_index (self->moments, Moment, adw_combo_row_get_selected (row))
      .time;
}

/* --- the dialog ----------------------------------------------------------- */

static void
update_response (FlamGrowthDialog *self)
{
  flam_alert_set_response_enabled ((FlamAlert *)self,
                                   "show",
                                   chosen_time (self, self->from) <
                                       chosen_time (self, self->to));
}

static AdwComboRow *
add_row (FlamGrowthDialog *self, GtkListBox *list, const char *title, guint row)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  GtkWidget *combo = adw_combo_row_new ();

  for (guint i = 0; i < self->moments->len; i++)
    gtk_string_list_append (names,
                            g_array_index (self->moments, Moment, i).name);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (combo), title);
  adw_combo_row_set_model (ADW_COMBO_ROW (combo), G_LIST_MODEL (names));
  adw_combo_row_set_selected (ADW_COMBO_ROW (combo), row);
  g_signal_connect_swapped (
      combo, "notify::selected", G_CALLBACK (update_response), self);
  gtk_list_box_append (list, combo);
  return ADW_COMBO_ROW (combo);
}

static void
flam_growth_dialog_response (FlamAlert *dialog, const char *response)
{
  FlamGrowthDialog *self = FLAM_GROWTH_DIALOG (dialog);

  if (g_strcmp0 (response, "show") == 0)
    g_signal_emit (self,
                   chosen_signal,
                   0,
                   chosen_time (self, self->from),
                   chosen_time (self, self->to));
}

static void
flam_growth_dialog_finalize (GObject *object)
{
  g_array_unref (FLAM_GROWTH_DIALOG (object)->moments);
  G_OBJECT_CLASS (flam_growth_dialog_parent_class)->finalize (object);
}

static void
flam_growth_dialog_class_init (FlamGrowthDialogClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_growth_dialog_finalize;
  FLAM_ALERT_CLASS (klass)->response = flam_growth_dialog_response;
  chosen_signal = g_signal_new ("chosen",
                                FLAM_TYPE_GROWTH_DIALOG,
                                G_SIGNAL_RUN_LAST,
                                0,
                                NULL,
                                NULL,
                                NULL,
                                G_TYPE_NONE,
                                2,
                                G_TYPE_INT64,
                                G_TYPE_INT64);
}

static void
flam_growth_dialog_init (FlamGrowthDialog *self)
{
  self->moments = g_array_new (FALSE, FALSE, sizeof (Moment));
  g_array_set_clear_func (self->moments, moment_clear);
}

FlamGrowthDialog *
flam_growth_dialog_new (FlamSession *session)
{
  FlamGrowthDialog *self =
      g_object_new (FLAM_TYPE_GROWTH_DIALOG,
                    "heading",
                    _ ("Growth Between Two Moments"),
                    "body",
                    _ ("Allocated in the range and still live at its end."),
                    NULL);
  FlamAlert *dialog = (FlamAlert *)self;
  const FlamSelection *selection = flam_session_get_selection (session);
  GtkWidget *list = gtk_list_box_new ();

  flam_help_bind (GTK_WIDGET (self), "leaks");
  find_moments (self, flam_session_get_profile (session), selection);
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  gtk_widget_set_size_request (list, 380, -1);
  flam_alert_add_responses (
      dialog, "cancel", _ ("_Cancel"), "show", _ ("_Show Growth"), NULL);
  flam_alert_set_response_appearance (dialog, "show", ADW_RESPONSE_SUGGESTED);
  flam_alert_set_default_response (dialog, "show");
  flam_alert_set_close_response (dialog, "cancel");
  self->from = add_row (
      self, GTK_LIST_BOX (list), _ ("From"), moment_at (self, selection->from));
  self->to = add_row (
      self, GTK_LIST_BOX (list), _ ("To"), moment_at (self, selection->to));
  flam_alert_set_extra_child (dialog, list);
  update_response (self);
  return self;
}

void
flam_growth_dialog_present (FlamGrowthDialog *self, GtkWindow *parent)
{
  flam_alert_present ((FlamAlert *)self, parent);
}
