/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-growth-dialog.h"

#include "flam-core-picture.h"
#include "flam-help.h"

#include <glib/gi18n.h>
#include <math.h>

#define MARKS_MAX 1000 /* more would not fit into a list */
#define NS_PER_S 1e9
#define WIDTH 290 /* of the rows; fits into a window of 360 pixels */

typedef struct
{
  gint64 time;
  char *name;
} Moment;

/* One end of the range: a moment by its name, or any time as a number. A moment
 * is exact, while its number is rounded. */
typedef struct
{
  gint64 time;
  AdwComboRow *moment; /* the last row, after the moments: any other time */
  GtkSpinButton *seconds;
} End;

struct _FlamGrowthDialog
{
  FlamAlert parent_instance;

  GArray *moments; /* Moment, ascending */
  guint digits;    /* of seconds */
  End from;
  End to;
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
  g_autofree char *visible = flam_format_visible (name);
  /* Translators: the name and the time of a moment */
  Moment moment = { time, g_strdup_printf (_ ("%s (%s)"), visible, when) };

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

/* --- the dialog ----------------------------------------------------------- */

/* As many digits as a ten-thousandth of the whole needs, but at least
 * milliseconds. */
static guint
digits_for (gint64 duration)
{
  int magnitude = duration > 0 ? (int)floor (log10 ((double)duration)) : 0;

  return (guint)CLAMP (13 - magnitude, 3, 9);
}

static gint64
rounded (FlamGrowthDialog *self, double time)
{
  double unit = pow (10, 9 - (double)self->digits);

  return (gint64)(round (time / unit) * unit);
}

static void
update_response (FlamGrowthDialog *self)
{
  flam_alert_set_response_enabled (
      (FlamAlert *)self, "show", self->from.time < self->to.time);
}

static void on_moment (FlamGrowthDialog *self, GParamSpec *pspec, gpointer row);
static void on_typed (FlamGrowthDialog *self, gpointer seconds);

static void
show_end (FlamGrowthDialog *self, End *end, guint moment, gboolean typed)
{
  g_signal_handlers_block_by_func (end->moment, on_moment, self);
  g_signal_handlers_block_by_func (end->seconds, on_typed, self);
  adw_combo_row_set_selected (end->moment, moment);
  if (!typed)
    gtk_spin_button_set_value (end->seconds, (double)end->time / NS_PER_S);
  g_signal_handlers_unblock_by_func (end->seconds, on_typed, self);
  g_signal_handlers_unblock_by_func (end->moment, on_moment, self);
  update_response (self);
}

static void
set_moment (FlamGrowthDialog *self, End *end, guint moment)
{
  end->time = g_array_index (self->moments, Moment, moment).time;
  show_end (self, end, moment, FALSE);
}

static void
on_moment (FlamGrowthDialog *self, GParamSpec *pspec, gpointer row)
{
  End *end = row == self->from.moment ? &self->from : &self->to;
  guint moment = adw_combo_row_get_selected (end->moment);

  if (moment < self->moments->len)
    set_moment (self, end, moment);
  else
    gtk_widget_grab_focus (GTK_WIDGET (end->seconds));
}

/* Called at every key: a spin button updates its value when it loses the focus,
 * which is after the response. A number with the same text as a moment stands
 * for that moment. */
static void
on_typed (FlamGrowthDialog *self, gpointer seconds)
{
  End *end = seconds == self->from.seconds ? &self->from : &self->to;
  const char *text = gtk_editable_get_text (GTK_EDITABLE (seconds));
  char *rest;
  double value = g_strtod (text, &rest);
  guint moment = adw_combo_row_get_selected (end->moment);

  if (rest == text || !isfinite (value))
    return;
  value = CLAMP (
      value,
      0,
      gtk_adjustment_get_upper (gtk_spin_button_get_adjustment (end->seconds)));
  end->time = rounded (self, value * NS_PER_S);
  for (guint i = 0; i <= self->moments->len; i++)
    {
      /* The selected range comes first. */
      guint at = i == 0 ? moment : i - 1;
      const Moment *known = &g_array_index (self->moments, Moment, at);

      if (at == self->moments->len ||
          rounded (self, (double)known->time) != end->time)
        continue;
      end->time = known->time;
      show_end (self, end, at, TRUE);
      return;
    }
  show_end (self, end, self->moments->len, TRUE);
}

static void
add_moments (FlamGrowthDialog *self,
             End *end,
             GtkListBox *list,
             const char *title)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  for (guint i = 0; i < self->moments->len; i++)
    gtk_string_list_append (names,
                            g_array_index (self->moments, Moment, i).name);
  gtk_string_list_append (names, _ ("Another Time"));
  end->moment = ADW_COMBO_ROW (adw_combo_row_new ());
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (end->moment), title);
  adw_combo_row_set_model (end->moment, G_LIST_MODEL (names));
  g_signal_connect_swapped (
      end->moment, "notify::selected", G_CALLBACK (on_moment), self);
  gtk_list_box_append (list, GTK_WIDGET (end->moment));
}

static void
add_seconds (FlamGrowthDialog *self,
             End *end,
             GtkListBox *list,
             const char *title,
             double last)
{
  double step = pow (10, 1 - (double)self->digits);
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *seconds = gtk_spin_button_new_with_range (0, last, step);

  end->seconds = GTK_SPIN_BUTTON (seconds);
  gtk_spin_button_set_digits (end->seconds, self->digits);
  gtk_spin_button_set_numeric (end->seconds, TRUE);
  gtk_text_set_activates_default (
      GTK_TEXT (gtk_editable_get_delegate (GTK_EDITABLE (seconds))), TRUE);
  gtk_widget_set_valign (seconds, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (seconds, "changed", G_CALLBACK (on_typed), self);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), seconds);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), seconds);
  gtk_list_box_append (list, row);
}

static void
flam_growth_dialog_response (FlamAlert *dialog, const char *response)
{
  FlamGrowthDialog *self = FLAM_GROWTH_DIALOG (dialog);

  if (g_strcmp0 (response, "show") == 0)
    g_signal_emit (self, chosen_signal, 0, self->from.time, self->to.time);
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
                    /* libadwaita 1.7 warns about a heading that does not fit
                     * into one line. */
                    _ ("Growth"),
                    "body",
                    _ ("Allocated in the range and not freed at its end."),
                    NULL);
  FlamAlert *dialog = (FlamAlert *)self;
  const FlamSelection *selection = flam_session_get_selection (session);
  const FlamProfile *profile = flam_session_get_profile (session);
  double last = (double)profile->facts.duration_ns / NS_PER_S;
  GtkWidget *list = gtk_list_box_new ();

  flam_help_bind (GTK_WIDGET (self), "leaks");
  find_moments (self, profile, selection);
  self->digits = digits_for (profile->facts.duration_ns);
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  gtk_widget_set_size_request (list, WIDTH, -1);
  flam_alert_add_responses (
      dialog, "cancel", _ ("_Cancel"), "show", _ ("_Show Growth"), NULL);
  flam_alert_set_response_appearance (dialog, "show", ADW_RESPONSE_SUGGESTED);
  flam_alert_set_default_response (dialog, "show");
  flam_alert_set_close_response (dialog, "cancel");
  add_moments (self, &self->from, GTK_LIST_BOX (list), _ ("From"));
  add_seconds (
      self, &self->from, GTK_LIST_BOX (list), _ ("From, in Seconds"), last);
  add_moments (self, &self->to, GTK_LIST_BOX (list), _ ("To"));
  add_seconds (
      self, &self->to, GTK_LIST_BOX (list), _ ("To, in Seconds"), last);
  set_moment (self, &self->from, moment_at (self, selection->from));
  set_moment (self, &self->to, moment_at (self, selection->to));
  flam_alert_set_extra_child (dialog, list);
  return self;
}

void
flam_growth_dialog_present (FlamGrowthDialog *self, GtkWindow *parent)
{
  flam_alert_present ((FlamAlert *)self, parent);
}
