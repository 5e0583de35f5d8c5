/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A history's table: texts begin where their titles do. */

#include "flam-fixture.h"
#include "flam-history-table.h"
#include "flam-table-shape.h"

#include <adwaita.h>

static void
add_weight (GPtrArray *captures, const char *name, gint64 day, guint weight)
{
  const FlamFiguresKeep keep = { 10, FALSE };
  g_autofree char *text = g_strdup_printf ("main;parse %u\n", weight);
  g_autoptr (FlamProfile) profile = flam_fixture_profile (text);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  FlamFigures *figures =
      flam_figures_new (name, profile, selection, &keep, NULL, NULL);

  flam_figures_set_file (
      figures, name, (20000 + day) * G_GINT64_CONSTANT (86400000000000), 1);
  g_ptr_array_add (captures, figures);
}

/* Scans the captures: one series per folder. */
static FlamTrend *
plot_of (GPtrArray *captures)
{
  g_auto (FlamHistoryKey) key = { NULL };
  g_autoptr (FlamHistory) history = NULL;

  history = flam_history_new (captures, flam_history_new_refused ());
  g_assert_true (flam_history_key_init (&key, "^([^/]*)/", NULL));
  return flam_trend_new (
      history, &key, &(FlamTrendWhat){ FLAM_TREND_MEASURE, NULL, NULL });
}

static FlamTrend *
new_plot (void)
{
  GPtrArray *captures = flam_history_new_captures ();

  add_weight (captures, "a/1.folded", 0, 100);
  add_weight (captures, "b/1.folded", 1, 100);
  return plot_of (captures);
}

/* The labels below a widget, from the left to the right and down. */
static void
find_labels (GtkWidget *widget, GPtrArray *labels)
{
  if (GTK_IS_LABEL (widget))
    g_ptr_array_add (labels, widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    find_labels (child, labels);
}

/* The start of the text, in the table. */
static double
text_at (GtkLabel *label, GtkWidget *table)
{
  graphene_point_t at;
  int x;

  gtk_label_get_layout_offsets (label, &x, NULL);
  g_assert_true (gtk_widget_compute_point (
      GTK_WIDGET (label), table, &GRAPHENE_POINT_INIT (0, 0), &at));
  return at.x + x;
}

static gboolean
give_up (gpointer given_up)
{
  *(gboolean *)given_up = TRUE;
  return G_SOURCE_REMOVE;
}

/* Waits until the table has been laid out with its cells. */
static void
wait_for_labels (GtkWidget *table, guint n, GPtrArray *labels)
{
  gboolean given_up = FALSE;

  g_timeout_add_seconds (30, give_up, &given_up);
  do
    {
      g_main_context_iteration (NULL, TRUE);
      g_ptr_array_set_size (labels, 0);
      find_labels (table, labels);
    }
  while (!given_up &&
         (labels->len < n || gtk_widget_get_width (labels->pdata[n - 1]) == 0));
  g_assert_cmpuint (labels->len, >=, n);
}

static void
test_alignment (void)
{
  static const gboolean is_text[] = { TRUE, FALSE, FALSE, TRUE, TRUE };
  const guint n = G_N_ELEMENTS (is_text);
  GtkWidget *window = gtk_window_new ();
  GtkWidget *table = gtk_column_view_new (NULL);
  GListStore *rows = flam_history_table_prepare (GTK_COLUMN_VIEW (table));
  g_autoptr (FlamTrend) trend = new_plot ();
  g_autoptr (GPtrArray) labels = g_ptr_array_new ();

  flam_history_table_fill (rows, trend);
  gtk_window_set_default_size (GTK_WINDOW (window), 900, 300);
  gtk_window_set_child (GTK_WINDOW (window), table);
  gtk_window_present (GTK_WINDOW (window));
  wait_for_labels (table, 3 * n, labels);
  for (guint i = 0; i < n; i++)
    {
      GtkLabel *title = labels->pdata[i], *cell = labels->pdata[n + i];
      double ahead = text_at (cell, table) - text_at (title, table);

      g_test_message ("%s: %s, %g",
                      gtk_label_get_label (title),
                      gtk_label_get_label (cell),
                      ahead);
      if (is_text[i])
        g_assert_cmpfloat (ABS (ahead), <, 12);
      else
        g_assert_cmpfloat (gtk_label_get_xalign (cell), ==, 1);
    }
  gtk_window_destroy (GTK_WINDOW (window));
  g_object_unref (rows);
}

/* A column is as wide as its title, whatever its figures need. */
static void
test_titles (void)
{
  GtkWidget *window = gtk_window_new ();
  GtkWidget *table = gtk_column_view_new (NULL);
  GListStore *rows = flam_history_table_prepare (GTK_COLUMN_VIEW (table));
  GListModel *columns = gtk_column_view_get_columns (GTK_COLUMN_VIEW (table));
  guint n = g_list_model_get_n_items (columns);
  g_autoptr (FlamTrend) trend = new_plot ();
  g_autoptr (GPtrArray) labels = g_ptr_array_new ();
  const guint longer = 2;
  g_autoptr (GtkColumnViewColumn) column =
      g_list_model_get_item (columns, longer);
  GtkWidget *content;
  gboolean given_up = FALSE;
  int needs;

  gtk_column_view_column_set_title (
      column, "Nicht mehr freigegeben, und noch ein Wort");
  flam_history_table_fill (rows, trend);
  gtk_window_set_default_size (GTK_WINDOW (window), 1500, 300);
  gtk_window_set_child (GTK_WINDOW (window), table);
  gtk_window_present (GTK_WINDOW (window));
  wait_for_labels (table, 3 * n, labels);
  /* The label is in a box with the arrow, which is in the title. */
  content = gtk_widget_get_parent (labels->pdata[longer]);
  gtk_widget_measure (
      content, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &needs, NULL, NULL);
  g_timeout_add_seconds (10, give_up, &given_up);
  while (!given_up &&
         gtk_widget_get_width (gtk_widget_get_parent (content)) < needs)
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (given_up);
  gtk_window_destroy (GTK_WINDOW (window));
  g_object_unref (rows);
}

/* The captures' names from top to bottom. */
static void
assert_order (GtkColumnView *view, const char *wanted)
{
  g_autofree char *text = flam_history_table_text (view);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) order = g_string_new (NULL);

  for (guint i = 1; lines[i] != NULL && *lines[i] != '\0'; i++)
    g_string_append_printf (
        order, "%s%s", i > 1 ? " " : "", strrchr (lines[i], '\t') + 1);
  g_assert_cmpstr (order->str, ==, wanted);
}

/* Rows are sorted by date; a column of figures with the largest first. */
static void
test_order (void)
{
  GtkWidget *table = g_object_ref_sink (gtk_column_view_new (NULL));
  GtkColumnView *view = GTK_COLUMN_VIEW (table);
  GListStore *rows = flam_history_table_prepare (view);
  GPtrArray *captures = flam_history_new_captures ();
  g_autoptr (FlamTrend) trend = NULL;
  g_autoptr (GtkColumnViewColumn) value = NULL;
  g_autoptr (GtkColumnViewColumn) change = NULL;

  add_weight (captures, "b/2", 3, 900);
  add_weight (captures, "a/2", 2, 50);
  add_weight (captures, "b/1", 1, 300);
  add_weight (captures, "a/1", 0, 100);
  trend = plot_of (captures);
  flam_history_table_fill (rows, trend);
  assert_order (view, "a/1 b/1 a/2 b/2");
  value = g_list_model_get_item (gtk_column_view_get_columns (view), 1);
  flam_columns_sort (view, value);
  assert_order (view, "b/2 b/1 a/1 a/2");
  change = g_list_model_get_item (gtk_column_view_get_columns (view), 2);
  flam_columns_sort (view, change); /* +600, 0, 0, -50 */
  assert_order (view, "b/2 a/1 b/1 a/2");
  gtk_column_view_sort_by_column (view, change, GTK_SORT_ASCENDING);
  assert_order (view, "a/2 a/1 b/1 b/2");
  g_object_unref (rows);
  g_object_unref (table);
}

int
main (int argc, char **argv)
{
  adw_init ();
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/history-table/alignment", test_alignment);
  g_test_add_func ("/history-table/titles", test_titles);
  g_test_add_func ("/history-table/order", test_order);
  return g_test_run ();
}
