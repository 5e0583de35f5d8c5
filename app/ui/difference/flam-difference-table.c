/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-difference-table.h"

#include "flam-core-picture.h"
#include "flam-difference-words.h"
#include "flam-text-column.h"
#include "flam-value-text.h"

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
flam_difference_row_get_name (gpointer row)
{
  FlamDifferenceRow *self = row;

  return self->row->name;
}

gboolean
flam_difference_row_is_of (gpointer row, const FlamTree *tree, FlamNodeId node)
{
  const FlamDiffRow *of = FLAM_DIFFERENCE_ROW (row)->row;
  const char *file = "";

  if (of->line == 0)
    return strcmp (of->name, flam_functions_name (tree, node)) == 0;
  return flam_tree_source_line (tree, node, &file) == of->line &&
         strcmp (file, of->name) == 0;
}

FlamId
flam_difference_row_find (gpointer row, const FlamTree *tree)
{
  const FlamDiffRow *of = FLAM_DIFFERENCE_ROW (row)->row;

  if (of->line != 0)
    return flam_lines_find_node (tree, of->name, of->line);
  return strcmp (of->name, flam_functions_name (tree, 0)) == 0
             ? 0
             : flam_tree_find_name (tree, of->name);
}

guint32
flam_difference_row_get_place (gpointer row, const char **file)
{
  const FlamDiffRow *of = FLAM_DIFFERENCE_ROW (row)->row;

  *file = of->line != 0 ? of->name : "";
  return of->line;
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

/* "sort.c:23" */
static char *
short_line (const FlamDiffRow *row)
{
  g_autofree char *file = g_path_get_basename (row->name);

  return g_strdup_printf ("%s:%u", file, row->line);
}

static char *
cell_text (gpointer data, guint column, char **tooltip)
{
  const FlamDifferenceRow *self = data;
  const FlamMeasure measure = flam_tree_measure (self->comparison->fresh->tree);
  const FlamDiffRow *row = self->row;

  switch ((Column)column)
    {
    case COLUMN_CHANGE:
      return flam_value_text_change (
          &measure, row->delta, &row->estimate.delta);
    case COLUMN_RELATIVE:
      return flam_difference_relative (row->base, row->fresh, row->delta);
    case COLUMN_BEFORE:
      return flam_format_estimated (&row->estimate.base, &measure, row->base);
    case COLUMN_NOW:
      return flam_format_estimated (&row->estimate.fresh, &measure, row->fresh);
    case COLUMN_NAME:
      *tooltip = row->line > 0 ? g_strdup_printf ("%s:%u", row->name, row->line)
                               : flam_format_visible (row->name);
      return row->line > 0 ? short_line (row)
                           : flam_format_folded_name (row->name);
    default:
      g_return_val_if_reached (NULL);
    }
}

/* Sorts by the size of the change, up or down; the same for relative changes,
 * with new rows before all others that grew. */
static double
figure_of (gpointer data, guint column)
{
  const FlamDifferenceRow *self = data;
  const FlamDiffRow *row = self->row;

  switch ((Column)column)
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

void
flam_difference_table_prepare (GtkColumnView *view)
{
  static const FlamTextColumns columns = {
    COLUMN_NAME,
    flam_difference_row_get_name,
    cell_text,
    figure_of,
  };
  static const struct
  {
    const char *title;
    int tight;
  } shown[] = {
    [COLUMN_CHANGE] = { N_ ("Change"), 88 },
    [COLUMN_RELATIVE] = { N_ ("Relative"), 84 },
    [COLUMN_BEFORE] = { N_ ("Before"), 0 },
    [COLUMN_NOW] = { N_ ("Now"), 0 },
    [COLUMN_NAME] = { N_ ("Function or Line"), 0 },
  };

  flam_columns_prepare (view);
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    {
      GtkColumnViewColumn *column = flam_text_column_add (
          view, &columns, i, _ (shown[i].title), shown[i].tight);

      if (i == COLUMN_CHANGE)
        flam_columns_sort (view, column);
    }
}
