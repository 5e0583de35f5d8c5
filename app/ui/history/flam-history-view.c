/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-history-view.h"

#include "flam-core-picture.h"
#include "flam-history-function.h"
#include "flam-history-job.h"
#include "flam-history-legend.h"
#include "flam-history-table.h"
#include "flam-history-words.h"
#include "flam-job.h"
#include "flam-plot-widget.h"
#include "flam-table-shape.h"
#include "flam-widget.h"
#include "flam-wrap-layout.h"

#include <adwaita.h>
#include <glib/gi18n.h>

/* Series are named by folders unless another key is typed. */
#define KEY_FOLDERS "^(.+)/"

struct _FlamHistoryView
{
  GtkWidget parent_instance;

  char *path;
  FlamJob *job;
  FlamHistory *history; /* NULL: nothing read yet */
  GArray *choices;      /* FlamTrendChoice, the history's */
  FlamHistoryKey key;
  GListStore *rows;
  gboolean
      syncing; /* the current capture is being passed between chart and table */
  gboolean filling; /* the controls are being filled */

  GtkStack *stack;
  AdwStatusPage *busy;
  GtkProgressBar *busy_bar;
  AdwStatusPage *none;
  GtkProgressBar *progress;
  GtkDropDown *what;
  FlamHistoryFunction *function;
  GtkDropDown *cost;
  GtkEntry *key_entry;
  GtkLabel *key_error;
  FlamHistoryLegend *legend;
  GtkLabel *details;
  GtkBox *refused;
  GtkLabel *refused_label;
  GtkLabel *refused_list;
  FlamPlotWidget *chart;
  const FlamPlot *plot; /* the chart's; NULL: none */
  GtkColumnView *table;
};

enum
{
  CHANGED,
  GIVEN_UP,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (FlamHistoryView, flam_history_view, GTK_TYPE_WIDGET)

/* --- plotted series ------------------------------------------------------- */

static const FlamTrendChoice *
chosen (FlamHistoryView *self)
{
  guint at = gtk_drop_down_get_selected (self->what);

  return self->choices != NULL && at < self->choices->len
             ? &g_array_index (self->choices, FlamTrendChoice, at)
             : NULL;
}

static FlamTrendWhat
what_of (FlamHistoryView *self, const FlamTrendChoice *choice)
{
  const char *function = flam_history_function_get (self->function);
  gboolean by_self = gtk_drop_down_get_selected (self->cost) == 1;
  FlamTrendKind kind = choice->kind;

  if (kind == FLAM_TREND_MEASURE && function != NULL)
    kind = by_self ? FLAM_TREND_FUNCTION_SELF : FLAM_TREND_FUNCTION_TOTAL;
  return (FlamTrendWhat){ kind, choice->measure, function };
}

static char *
title_of (FlamHistoryView *self, const FlamTrendChoice *choice)
{
  const char *function = flam_history_function_get (self->function);
  const char *what = flam_history_words_choice (choice);

  if (choice->kind != FLAM_TREND_MEASURE || function == NULL)
    return g_strdup (what);
  /* Translators: a measure, and its function */
  return g_strdup_printf (_ ("%s of %s"), what, function);
}

/* --- words ---------------------------------------------------------------- */

static void
show_details (FlamHistoryView *self)
{
  g_autofree char *text = flam_plot_widget_describe (self->chart);

  gtk_label_set_label (self->details,
                       *text != '\0'
                           ? text
                           : _ ("Select two captures to compare them, or "
                                "double-click one to open it"));
}

static void
show_refused (FlamHistoryView *self)
{
  guint n = self->history->refused->len;
  g_autofree char *list = flam_history_words_refused (self->history);
  g_autofree char *text = g_strdup_printf (
      ngettext ("%u file could not be read", "%u files could not be read", n),
      n);

  gtk_widget_set_visible (GTK_WIDGET (self->refused), n > 0);
  gtk_label_set_label (self->refused_label, text);
  gtk_label_set_label (self->refused_list, list);
}

/* --- the plot ------------------------------------------------------------- */

static char *
describe (const FlamPlot *plot, FlamPlotSpot spot, const char *separator)
{
  return flam_history_words_point (
      flam_plot_get_trend (plot), spot.series, spot.point, separator);
}

static guint
current_capture (FlamHistoryView *self)
{
  return self->plot != NULL
             ? flam_plot_capture_at (self->plot,
                                     flam_plot_widget_get_current (self->chart))
             : G_MAXUINT;
}

/* The same captures of a history stay current and marked. */
static void
show_plot (FlamHistoryView *self, FlamPlot *plot)
{
  guint current = current_capture (self);
  guint marked = G_MAXUINT;
  gboolean keep = plot != NULL && self->plot != NULL &&
                  flam_plot_get_trend (plot)->history ==
                      flam_plot_get_trend (self->plot)->history;

  if (self->plot != NULL)
    marked = flam_plot_capture_at (self->plot,
                                   flam_plot_widget_get_marked (self->chart));
  self->plot = NULL;
  flam_plot_widget_set_plot (self->chart, NULL);
  self->plot = plot;
  flam_plot_widget_set_plot (self->chart, plot);
  if (!keep)
    return;
  flam_plot_widget_set_marked (self->chart,
                               flam_plot_find_capture (plot, marked));
  flam_plot_widget_set_current (self->chart,
                                flam_plot_find_capture (plot, current));
}

static void
plot (FlamHistoryView *self)
{
  const FlamTrendChoice *choice = chosen (self);
  FlamTrend *trend;
  FlamTrendWhat what;
  FlamPlot *made;
  guint points;

  if (choice == NULL || self->filling)
    return;
  what = what_of (self, choice);
  trend = flam_trend_new (self->history, &self->key, &what);
  points = trend->n_points;
  flam_history_legend_apply (self->legend, trend);
  self->syncing = TRUE;
  flam_history_table_fill (self->rows, trend);
  self->syncing = FALSE;
  made = flam_plot_of_trend (trend);
  made->title = title_of (self, choice);
  made->describe = describe;
  made->marked = g_strdup (_ ("Marked. Click another one to compare it"));
  made->empty =
      g_strdup (points > 0 ? _ ("All series are hidden")
                           : _ ("None of these captures contains it"));
  show_plot (self, made);
}

/* The list has the functions of the measure; other choices have none. */
static void
on_what (FlamHistoryView *self)
{
  const FlamTrendChoice *choice = chosen (self);
  gboolean measure = choice != NULL && choice->kind == FLAM_TREND_MEASURE;

  if (choice == NULL || self->filling)
    return;
  gtk_widget_set_sensitive (GTK_WIDGET (self->function), measure);
  if (measure)
    {
      g_autoptr (GPtrArray) names =
          flam_history_functions (self->history, choice->measure);

      flam_history_function_set_names (self->function, names);
    }
  gtk_widget_set_visible (
      GTK_WIDGET (self->cost),
      measure && flam_history_function_get (self->function) != NULL);
  plot (self);
}

/* A text that is not a regex, or takes too long, leaves the series
 * unchanged. */
static void
on_key (FlamHistoryView *self)
{
  FlamHistoryKey key;
  g_autoptr (GError) error = NULL;
  gboolean good = flam_history_key_init (
      &key, gtk_editable_get_text (GTK_EDITABLE (self->key_entry)), &error);
  g_autofree char *wrong = NULL;

  if (good && self->history != NULL &&
      !flam_history_key_check (&key, self->history, &error))
    {
      flam_history_key_clear (&key);
      good = FALSE;
    }
  wrong = good ? g_strdup ("") : flam_message_sentence (error->message);
  gtk_widget_set_visible (GTK_WIDGET (self->key_error), !good);
  gtk_label_set_label (self->key_error, wrong);
  gtk_accessible_update_state (GTK_ACCESSIBLE (self->key_entry),
                               GTK_ACCESSIBLE_STATE_INVALID,
                               good ? GTK_ACCESSIBLE_INVALID_FALSE
                                    : GTK_ACCESSIBLE_INVALID_TRUE,
                               -1);
  if (!good)
    {
      gtk_widget_add_css_class (GTK_WIDGET (self->key_entry), "error");
      return;
    }
  gtk_widget_remove_css_class (GTK_WIDGET (self->key_entry), "error");
  flam_history_key_clear (&self->key);
  self->key = key;
  plot (self);
}

/* --- captures read -------------------------------------------------------- */

static void
show_choices (FlamHistoryView *self)
{
  g_autoptr (GtkStringList) list = gtk_string_list_new (NULL);
  const FlamTrendChoice *before = chosen (self);
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->key_entry));
  GArray *choices = flam_trend_choices (self->history);
  guint selected = 0;

  self->filling = TRUE;
  for (guint i = 0; i < choices->len; i++)
    {
      const FlamTrendChoice *choice =
          &g_array_index (choices, FlamTrendChoice, i);

      gtk_string_list_append (list, flam_history_words_choice (choice));
      if (before != NULL && before->kind == choice->kind &&
          g_strcmp0 (before->measure, choice->measure) == 0)
        selected = i;
    }
  gtk_drop_down_set_model (self->what, G_LIST_MODEL (list));
  gtk_drop_down_set_selected (self->what, selected);
  g_clear_pointer (&self->choices, g_array_unref);
  self->choices = choices;
  if (before == NULL && *text == '\0' &&
      flam_history_has_folders (self->history))
    gtk_editable_set_text (GTK_EDITABLE (self->key_entry), KEY_FOLDERS);
  self->filling = FALSE;
}

static void
show_none (FlamHistoryView *self)
{
  g_autofree char *refused = flam_history_words_refused (self->history);
  g_autofree char *escaped = g_markup_escape_text (refused, -1);

  adw_status_page_set_title (self->none,
                             *refused != '\0'
                                 ? _ ("No Capture Could Be Read")
                                 : _ ("No Captures in This Folder"));
  adw_status_page_set_description (
      self->none,
      *refused != '\0' ? escaped
                       : _ ("Captures are recognized by their content. "
                            "Subfolders are searched, too."));
  gtk_stack_set_visible_child_name (self->stack, "none");
}

/* The last history is reused by other tabs and later: files are identified by
 * path, time and size. */
static FlamHistory *last_read;

static void
on_read (gpointer result, const GError *error, gpointer data)
{
  FlamHistoryView *self = data;
  FlamHistory *before = self->history;

  if (result == NULL)
    {
      g_autofree char *why = flam_message_sentence (error->message);
      g_autofree char *escaped = g_markup_escape_text (why, -1);

      adw_status_page_set_title (self->none, _ ("No Capture Could Be Read"));
      adw_status_page_set_description (self->none, escaped);
      gtk_stack_set_visible_child_name (self->stack, "none");
      g_signal_emit (self, signals[CHANGED], 0);
      return;
    }
  self->history = result;
  g_clear_pointer (&last_read, flam_history_unref);
  last_read = flam_history_ref (self->history);
  if (self->history->captures->len == 0)
    show_none (self);
  else
    {
      show_choices (self);
      show_refused (self);
      on_key (self);
      on_what (self);
      gtk_stack_set_visible_child_name (self->stack, "history");
      if (before == NULL && gtk_widget_get_mapped (GTK_WIDGET (self)))
        gtk_widget_grab_focus (GTK_WIDGET (self->chart));
    }
  g_clear_pointer (&before, flam_history_unref);
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
update_progress (FlamHistoryView *self)
{
  double fraction = flam_job_get_fraction (self->job);
  g_autofree char *text = g_strdup_printf (_ ("%d %%"), (int)(fraction * 100));

  gtk_progress_bar_set_fraction (self->busy_bar, fraction);
  gtk_progress_bar_set_text (self->busy_bar, text);
  gtk_progress_bar_set_fraction (self->progress, fraction);
  gtk_widget_set_visible (GTK_WIDGET (self->progress),
                          flam_job_is_slow (self->job));
}

static void
read_folder (FlamHistoryView *self)
{
  flam_job_start (
      self->job,
      flam_history_job_work,
      flam_history_job_input_new (
          self->path, self->history != NULL ? self->history : last_read),
      flam_history_job_input_free,
      (GDestroyNotify)flam_history_unref,
      on_read,
      self);
}

void
flam_history_view_open (FlamHistoryView *self, const char *path)
{
  g_autofree char *name = g_filename_display_basename (path);
  g_autofree char *title = g_strdup_printf (_ ("Reading %s"), name);
  g_autofree char *escaped = g_markup_escape_text (title, -1);

  g_return_if_fail (FLAM_IS_HISTORY_VIEW (self));
  g_free (self->path);
  self->path = g_strdup (path);
  show_plot (self, NULL);
  g_clear_pointer (&self->choices, g_array_unref);
  g_clear_pointer (&self->history, flam_history_unref);
  adw_status_page_set_title (self->busy, escaped);
  gtk_stack_set_visible_child_name (self->stack, "busy");
  read_folder (self);
  g_signal_emit (self, signals[CHANGED], 0);
}

void
flam_history_view_reload (FlamHistoryView *self)
{
  g_return_if_fail (FLAM_IS_HISTORY_VIEW (self));
  if (self->path != NULL)
    read_folder (self);
}

void
flam_history_view_cancel (FlamHistoryView *self)
{
  g_return_if_fail (FLAM_IS_HISTORY_VIEW (self));
  if (!flam_job_is_busy (self->job))
    return;
  flam_job_cancel (self->job);
  g_signal_emit (self, signals[CHANGED], 0);
  if (self->history == NULL)
    g_signal_emit (self, signals[GIVEN_UP], 0);
}

gboolean
flam_history_view_is_busy (FlamHistoryView *self)
{
  g_return_val_if_fail (FLAM_IS_HISTORY_VIEW (self), FALSE);
  return flam_job_is_busy (self->job);
}

const char *
flam_history_view_get_path (FlamHistoryView *self)
{
  g_return_val_if_fail (FLAM_IS_HISTORY_VIEW (self), NULL);
  return self->path;
}

/* --- captures ------------------------------------------------------------- */

static char *
uri_of (FlamHistoryView *self, guint capture)
{
  g_autoptr (GFile) file =
      g_file_new_for_path (flam_history_get (self->history, capture)->path);

  return g_file_get_uri (file);
}

static void
open_capture (FlamHistoryView *self, guint capture)
{
  g_autofree char *uri = uri_of (self, capture);

  gtk_widget_activate_action (GTK_WIDGET (self), "win.open-uri", "s", uri);
}

static void
on_opened (FlamHistoryView *self, guint series, guint point)
{
  open_capture (
      self, flam_plot_capture_at (self->plot, (FlamPlotSpot){ series, point }));
}

/* The earlier one is the baseline. */
static void
on_pair (FlamHistoryView *self, guint s, guint p, guint series, guint point)
{
  guint marked = flam_plot_capture_at (self->plot, (FlamPlotSpot){ s, p });
  guint chosen =
      flam_plot_capture_at (self->plot, (FlamPlotSpot){ series, point });
  g_autofree char *base = uri_of (self, MIN (marked, chosen));
  g_autofree char *uri = uri_of (self, MAX (marked, chosen));

  gtk_widget_activate_action (
      GTK_WIDGET (self), "win.compare-uris", "(ss)", base, uri);
}

/* --- chart and table ------------------------------------------------------ */

static gboolean
is_of_capture (gpointer item, gpointer capture)
{
  return flam_history_row_get_capture (item) == GPOINTER_TO_UINT (capture);
}

static void
on_current (FlamHistoryView *self)
{
  GtkSingleSelection *selection =
      GTK_SINGLE_SELECTION (gtk_column_view_get_model (self->table));
  guint capture = current_capture (self);

  show_details (self);
  if (self->syncing || selection == NULL)
    return;
  self->syncing = TRUE;
  flam_columns_show_row (
      self->table, selection, is_of_capture, GUINT_TO_POINTER (capture));
  self->syncing = FALSE;
}

static void
on_row_selected (FlamHistoryView *self)
{
  GtkSingleSelection *selection =
      GTK_SINGLE_SELECTION (gtk_column_view_get_model (self->table));
  FlamHistoryRow *row = gtk_single_selection_get_selected_item (selection);

  if (self->syncing || row == NULL || self->plot == NULL)
    return;
  self->syncing = TRUE;
  flam_plot_widget_set_current (
      self->chart,
      flam_plot_find_capture (self->plot, flam_history_row_get_capture (row)));
  self->syncing = FALSE;
}

static void
on_row (GtkColumnView *table, guint position, FlamHistoryView *self)
{
  g_autoptr (FlamHistoryRow) row = g_list_model_get_item (
      G_LIST_MODEL (gtk_column_view_get_model (table)), position);

  if (row != NULL)
    open_capture (self, flam_history_row_get_capture (row));
}

static void
copy_table (GtkWidget *widget, const char *name, GVariant *parameter)
{
  g_autofree char *text =
      flam_history_table_text (FLAM_HISTORY_VIEW (widget)->table);

  gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), text);
}

static void
prepare_table (FlamHistoryView *self)
{
  self->rows = flam_history_table_prepare (self->table);
  g_signal_connect_object (gtk_column_view_get_model (self->table),
                           "notify::selected",
                           G_CALLBACK (on_row_selected),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect (self->table, "activate", G_CALLBACK (on_row), self);
}

/* --- the object ----------------------------------------------------------- */

static void
on_map (FlamHistoryView *self)
{
  if (self->history != NULL && self->history->captures->len > 0)
    gtk_widget_grab_focus (GTK_WIDGET (self->chart));
}

static void
flam_history_view_dispose (GObject *object)
{
  FlamHistoryView *self = FLAM_HISTORY_VIEW (object);

  if (self->job != NULL)
    flam_job_cancel (self->job);
  g_clear_object (&self->job);
  if (self->table != NULL)
    gtk_column_view_set_model (self->table, NULL);
  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_HISTORY_VIEW);
  g_clear_object (&self->rows);
  g_clear_pointer (&self->choices, g_array_unref);
  g_clear_pointer (&self->history, flam_history_unref);
  flam_history_key_clear (&self->key);
  g_clear_pointer (&self->path, g_free);
  G_OBJECT_CLASS (flam_history_view_parent_class)->dispose (object);
}

static guint
add_signal (const char *name)
{
  return g_signal_new (name,
                       FLAM_TYPE_HISTORY_VIEW,
                       G_SIGNAL_RUN_LAST,
                       0,
                       NULL,
                       NULL,
                       NULL,
                       G_TYPE_NONE,
                       0);
}

#define BIND(child)                                                            \
  gtk_widget_class_bind_template_child (class, FlamHistoryView, child)

static void
flam_history_view_class_init (FlamHistoryViewClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_history_view_dispose;
  signals[CHANGED] = add_signal ("changed");
  signals[GIVEN_UP] = add_signal ("given-up");
  g_type_ensure (FLAM_TYPE_PLOT_WIDGET);
  g_type_ensure (FLAM_TYPE_HISTORY_FUNCTION);
  g_type_ensure (FLAM_TYPE_HISTORY_LEGEND);
  g_type_ensure (FLAM_TYPE_WRAP_LAYOUT);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-history-view.ui");
  gtk_widget_class_install_action (
      class, "history.copy-table", NULL, copy_table);
  BIND (stack);
  BIND (busy);
  BIND (busy_bar);
  BIND (none);
  BIND (progress);
  BIND (what);
  BIND (function);
  BIND (cost);
  BIND (key_entry);
  BIND (key_error);
  BIND (legend);
  BIND (details);
  BIND (refused);
  BIND (refused_label);
  BIND (refused_list);
  BIND (chart);
  BIND (table);
  gtk_widget_class_bind_template_callback (class, on_what);
  gtk_widget_class_bind_template_callback (class, on_key);
  gtk_widget_class_bind_template_callback (class, plot);
}

static void
flam_history_view_init (FlamHistoryView *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->job = flam_job_new ();
  /* A pattern of signs alone would be reversed otherwise. */
  gtk_widget_set_direction (
      GTK_WIDGET (gtk_editable_get_delegate (GTK_EDITABLE (self->key_entry))),
      GTK_TEXT_DIR_LTR);
  prepare_table (self);
  g_signal_connect_object (self->chart,
                           "current-changed",
                           G_CALLBACK (on_current),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (
      self->chart, "opened", G_CALLBACK (on_opened), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->chart,
                           "pair-chosen",
                           G_CALLBACK (on_pair),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->job,
                           "notify",
                           G_CALLBACK (update_progress),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (adw_style_manager_get_default (),
                           "notify::dark",
                           G_CALLBACK (plot),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect (self, "map", G_CALLBACK (on_map), NULL);
}
