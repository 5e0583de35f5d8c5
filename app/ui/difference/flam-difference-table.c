/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-difference-table.h"

#include "flam-difference-words.h"
#include "flam-format.h"
#include "flam-table-shape.h"
#include "flam-words.h"

#include <glib/gi18n.h>

/* --- rows ----------------------------------------------------------------- */

struct _FlamDifferenceRow
{
  GObject parent_instance;
  FlamComparison *comparison;
  const FlamDiffRow *row; /* the comparison's */
};

G_DEFINE_FINAL_TYPE (FlamDifferenceRow, flam_difference_row, G_TYPE_OBJECT)

static void
flam_difference_row_finalize (GObject *object)
{
  flam_comparison_unref (FLAM_DIFFERENCE_ROW (object)->comparison);
  G_OBJECT_CLASS (flam_difference_row_parent_class)->finalize (object);
}

static void
flam_difference_row_class_init (FlamDifferenceRowClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_difference_row_finalize;
}

static void
flam_difference_row_init (FlamDifferenceRow *self)
{
}

FlamDifferenceRow *
flam_difference_row_new (FlamComparison *comparison, guint row)
{
  FlamDifferenceRow *self = g_object_new (FLAM_TYPE_DIFFERENCE_ROW, NULL);

  self->comparison = flam_comparison_ref (comparison);
  self->row = &comparison->rows[row];
  return self;
}

const char *
flam_difference_row_get_name (FlamDifferenceRow *self)
{
  return self->row->name;
}

/* --- columns -------------------------------------------------------------- */

typedef enum
{
  COLUMN_CHANGE,
  COLUMN_RELATIVE,
  COLUMN_BEFORE,
  COLUMN_NOW,
  COLUMN_NAME,
} Column;

static char *
cell_text (const FlamDifferenceRow *self, Column column)
{
  const FlamMeasure measure = flam_tree_measure (self->comparison->fresh->tree);
  const FlamDiffRow *row = self->row;

  switch (column)
    {
    case COLUMN_CHANGE:
      return flam_words_change (&measure, row->delta);
    case COLUMN_RELATIVE:
      return flam_difference_relative (row->base, row->fresh, row->delta);
    case COLUMN_BEFORE:
      return flam_format_weight (&measure, row->base);
    case COLUMN_NOW:
      return flam_format_weight (&measure, row->fresh);
    case COLUMN_NAME:
      return flam_format_folded_name (row->name);
    default:
      g_return_val_if_reached (NULL);
    }
}

/* The largest change first, whichever way it goes; relative ones as well, and
 * what is new before all that grew. */
static double
figure_of (const FlamDifferenceRow *self, Column column)
{
  const FlamDiffRow *row = self->row;

  switch (column)
    {
    case COLUMN_CHANGE:
      return (double)ABS (row->delta);
    case COLUMN_RELATIVE:
      return row->base > 0    ? (double)row->delta / (double)row->base
             : row->delta > 0 ? G_MAXDOUBLE
                              : 0;
    case COLUMN_BEFORE:
      return (double)row->base;
    case COLUMN_NOW:
      return (double)row->fresh;
    case COLUMN_NAME:
    default:
      g_return_val_if_reached (0);
    }
}

static int
compare_rows (gconstpointer a, gconstpointer b, gpointer column)
{
  const FlamDifferenceRow *x = a, *y = b;
  double p, q;

  if (GPOINTER_TO_INT (column) == COLUMN_NAME)
    return g_utf8_collate (x->row->name, y->row->name);
  p = figure_of (x, GPOINTER_TO_INT (column));
  q = figure_of (y, GPOINTER_TO_INT (column));
  return (p > q) - (p < q);
}

static void
cell_setup (GtkListItemFactory *factory, GtkListItem *item, gpointer column)
{
  gboolean is_name = GPOINTER_TO_INT (column) == COLUMN_NAME;
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), is_name ? 0 : 1);
  if (is_name)
    gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  else
    gtk_widget_add_css_class (label, "numeric");
  gtk_list_item_set_child (item, label);
}

static void
cell_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer column)
{
  FlamDifferenceRow *row = gtk_list_item_get_item (item);
  GtkWidget *label = gtk_list_item_get_child (item);
  g_autofree char *text = cell_text (row, GPOINTER_TO_INT (column));

  gtk_label_set_label (GTK_LABEL (label), text);
  if (GPOINTER_TO_INT (column) == COLUMN_NAME)
    gtk_widget_set_tooltip_text (label, row->row->name);
}

static GtkColumnViewColumn *
add_column (GtkColumnView *view, Column which, const char *title, int tight)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_autoptr (GtkColumnViewColumn) column =
      gtk_column_view_column_new (title, factory);
  g_autoptr (GtkSorter) sorter = GTK_SORTER (
      gtk_custom_sorter_new (compare_rows, GINT_TO_POINTER (which), NULL));

  g_signal_connect (
      factory, "setup", G_CALLBACK (cell_setup), GINT_TO_POINTER (which));
  g_signal_connect (
      factory, "bind", G_CALLBACK (cell_bind), GINT_TO_POINTER (which));
  gtk_column_view_column_set_resizable (column, TRUE);
  gtk_column_view_column_set_sorter (column, sorter);
  gtk_column_view_append_column (view, column);
  if (which == COLUMN_NAME)
    gtk_column_view_column_set_expand (column, TRUE);
  else
    {
      flam_columns_fit (column, 104, tight);
      flam_columns_largest_first (column);
    }
  return column;
}

void
flam_difference_table_prepare (GtkColumnView *view)
{
  GtkColumnViewColumn *change;

  flam_columns_prepare (view);
  change = add_column (view, COLUMN_CHANGE, _ ("Change"), 88);
  add_column (view, COLUMN_RELATIVE, _ ("Relative"), 84);
  add_column (view, COLUMN_BEFORE, _ ("Before"), 0);
  add_column (view, COLUMN_NOW, _ ("Now"), 0);
  add_column (view, COLUMN_NAME, _ ("Function"), 0);
  flam_columns_sort (view, change);
}
