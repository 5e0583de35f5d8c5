/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A row is brought into view whatever comes first: the rows, a size, or the
 * wish. */

#include "flam-row-scroll.h"

#include <adwaita.h>

#define N_ROWS 20000
#define SHOWN 8 /* rows that must be seen around the wanted one */

typedef struct
{
  GtkWidget *window;
  GtkStack *stack; /* "list", and another page */
  GtkWidget *list;
  GtkSingleSelection *rows;
} Fixture;

static GListModel *
new_rows (const char *prefix)
{
  GtkStringList *rows = gtk_string_list_new (NULL);

  for (guint i = 0; i < N_ROWS; i++)
    gtk_string_list_take (rows, g_strdup_printf ("%s%u", prefix, i));
  return G_LIST_MODEL (rows);
}

static void
set_rows (Fixture *fixture, const char *prefix)
{
  g_autoptr (GListModel) rows = new_rows (prefix);

  gtk_single_selection_set_model (fixture->rows, rows);
}

static void
setup (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  gtk_list_item_set_child (item, gtk_label_new (NULL));
}

static void
bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkStringObject *row = gtk_list_item_get_item (item);

  gtk_label_set_label (GTK_LABEL (gtk_list_item_get_child (item)),
                       gtk_string_object_get_string (row));
}

static GtkListItemFactory *
new_factory (void)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  g_signal_connect (factory, "setup", G_CALLBACK (setup), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind), NULL);
  return factory;
}

static void
fixture_init (Fixture *fixture, gconstpointer is_table)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkSelectionModel *model;

  fixture->rows = gtk_single_selection_new (NULL);
  gtk_single_selection_set_autoselect (fixture->rows, FALSE);
  model = GTK_SELECTION_MODEL (g_object_ref (fixture->rows));
  if (GPOINTER_TO_INT (is_table))
    {
      g_autoptr (GtkColumnViewColumn) column =
          gtk_column_view_column_new ("Name", new_factory ());

      fixture->list = gtk_column_view_new (model);
      gtk_column_view_append_column (GTK_COLUMN_VIEW (fixture->list), column);
    }
  else
    fixture->list = gtk_list_view_new (model, new_factory ());
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), fixture->list);
  fixture->stack = GTK_STACK (gtk_stack_new ());
  gtk_stack_add_named (fixture->stack, scroller, "list");
  gtk_stack_add_named (fixture->stack, gtk_label_new ("nothing"), "other");
  fixture->window = gtk_window_new ();
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), 300, 400);
  gtk_window_set_child (GTK_WINDOW (fixture->window),
                        GTK_WIDGET (fixture->stack));
}

static void
fixture_clear (Fixture *fixture, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  g_object_unref (fixture->rows);
}

static gboolean
count_frame (GtkWidget *widget, GdkFrameClock *clock, gpointer left)
{
  return --*(guint *)left > 0;
}

static void
run_frames (Fixture *fixture)
{
  guint left = 4;

  gtk_widget_add_tick_callback (fixture->window, count_frame, &left, NULL);
  while (left > 0)
    g_main_context_iteration (NULL, TRUE);
}

/* The rows that can be seen, by their places. */
static void
find_seen (GtkWidget *widget, GtkWidget *list, GHashTable *seen)
{
  graphene_rect_t box;

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    find_seen (child, list, seen);
  if (GTK_IS_LABEL (widget) && gtk_widget_get_mapped (widget) &&
      gtk_widget_compute_bounds (widget, list, &box) && box.origin.y >= 0 &&
      box.origin.y + box.size.height <= gtk_widget_get_height (list))
    g_hash_table_add (seen,
                      g_strdup (gtk_label_get_label (GTK_LABEL (widget))));
}

static void
assert_in_view (Fixture *fixture, const char *prefix, guint position)
{
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint from = MIN (position, N_ROWS - SHOWN / 2) - SHOWN / 2;

  run_frames (fixture);
  find_seen (fixture->list, fixture->list, seen);
  for (guint i = from; i < from + SHOWN; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s%u", prefix, i);

      if (!g_hash_table_contains (seen, name))
        g_error ("%s is not seen; %u are", name, g_hash_table_size (seen));
    }
}

static void
test_rows_last (Fixture *fixture, gconstpointer data)
{
  gtk_window_present (GTK_WINDOW (fixture->window));
  run_frames (fixture);
  set_rows (fixture, "r");
  flam_rows_scroll_to (fixture->list, 19990);
  assert_in_view (fixture, "r", 19990);
}

static void
test_wish_first (Fixture *fixture, gconstpointer data)
{
  flam_rows_scroll_to (fixture->list, 19990);
  gtk_window_present (GTK_WINDOW (fixture->window));
  run_frames (fixture);
  set_rows (fixture, "r");
  assert_in_view (fixture, "r", 19990);
}

static void
test_hidden (Fixture *fixture, gconstpointer data)
{
  gtk_stack_set_visible_child_name (fixture->stack, "other");
  gtk_window_present (GTK_WINDOW (fixture->window));
  run_frames (fixture);
  set_rows (fixture, "r");
  flam_rows_scroll_to (fixture->list, 10000);
  run_frames (fixture);
  gtk_stack_set_visible_child_name (fixture->stack, "list");
  assert_in_view (fixture, "r", 10000);
}

static void
test_other_rows (Fixture *fixture, gconstpointer data)
{
  set_rows (fixture, "a");
  gtk_window_present (GTK_WINDOW (fixture->window));
  flam_rows_scroll_to (fixture->list, 19990);
  assert_in_view (fixture, "a", 19990);
  set_rows (fixture, "b");
  flam_rows_scroll_to (fixture->list, 5000);
  assert_in_view (fixture, "b", 5000);
  gtk_single_selection_set_model (fixture->rows, NULL);
  run_frames (fixture);
  set_rows (fixture, "c");
  flam_rows_scroll_to (fixture->list, 12345);
  flam_rows_scroll_to (fixture->list, 19999);
  assert_in_view (fixture, "c", 19999);
}

/* A row that is in view stays where it is. */
static void
test_in_view (Fixture *fixture, gconstpointer data)
{
  GtkAdjustment *down;
  double before;

  set_rows (fixture, "r");
  gtk_window_present (GTK_WINDOW (fixture->window));
  flam_rows_scroll_to (fixture->list, 300);
  assert_in_view (fixture, "r", 300);
  down = gtk_scrollable_get_vadjustment (GTK_SCROLLABLE (fixture->list));
  before = gtk_adjustment_get_value (down);
  g_assert_cmpfloat (before, >, 0);
  flam_rows_scroll_to (fixture->list, 302);
  run_frames (fixture);
  g_assert_cmpfloat (gtk_adjustment_get_value (down), ==, before);
}

static void
add (const char *name, void (*test) (Fixture *fixture, gconstpointer data))
{
  static const char *const kinds[] = { "list", "table" };

  for (int i = 0; i < 2; i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/row-scroll/%s/%s", kinds[i], name);

      g_test_add (path,
                  Fixture,
                  GINT_TO_POINTER (i),
                  fixture_init,
                  test,
                  fixture_clear);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  adw_init ();
  add ("rows-last", test_rows_last);
  add ("wish-first", test_wish_first);
  add ("hidden", test_hidden);
  add ("other-rows", test_other_rows);
  add ("in-view", test_in_view);
  return g_test_run ();
}
