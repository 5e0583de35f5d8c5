/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-history-table.h"

#include "flam-history-words.h"
#include "flam-text-column.h"

#include <glib/gi18n.h>

/* --- rows ----------------------------------------------------------------- */

struct _FlamHistoryRow
{
  GObject parent_instance;
  guint capture;
  gint64 date;
  gint64 amount;
  double growth; /* since the previous point */
  guint order;   /* of the series */
  char *value;
  char *change;
  char *day;
  char *series;
  char *name;
  char *all;
};

G_DEFINE_FINAL_TYPE (FlamHistoryRow, flam_history_row, G_TYPE_OBJECT)

static void
flam_history_row_finalize (GObject *object)
{
  FlamHistoryRow *self = FLAM_HISTORY_ROW (object);

  g_free (self->value);
  g_free (self->change);
  g_free (self->day);
  g_free (self->series);
  g_free (self->name);
  g_free (self->all);
  G_OBJECT_CLASS (flam_history_row_parent_class)->finalize (object);
}

static void
flam_history_row_class_init (FlamHistoryRowClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_history_row_finalize;
}

static void
flam_history_row_init (FlamHistoryRow *self)
{
}

static FlamHistoryRow *
row_new (const FlamTrend *trend, guint s, guint p)
{
  const FlamTrendSeries *series = &trend->series[s];
  const FlamTrendPoint *point = &series->points[p];
  const FlamFigures *figures =
      flam_history_get (trend->history, point->capture);
  FlamHistoryRow *self = g_object_new (FLAM_TYPE_HISTORY_ROW, NULL);

  self->capture = point->capture;
  self->date = figures->date;
  self->amount = point->value;
  self->growth =
      p > 0 ? (double)(point->value - series->points[p - 1].value) : 0;
  self->order = s;
  self->value = flam_history_words_value (trend, point);
  self->change = flam_history_words_change (trend, series, p);
  self->day = flam_history_words_short_date (figures);
  self->series = g_strdup (trend->n > 1 || series->name != NULL
                               ? flam_history_words_series (series->name)
                               : "");
  self->name = g_strdup (figures->name);
  self->all = flam_history_words_point (trend, s, p, "\n");
  return self;
}

guint
flam_history_row_get_capture (FlamHistoryRow *self)
{
  return self->capture;
}

static int
compare_captures (gconstpointer a, gconstpointer b, gpointer data)
{
  guint x = FLAM_HISTORY_ROW ((gpointer)a)->capture;
  guint y = FLAM_HISTORY_ROW ((gpointer)b)->capture;

  return (x > y) - (x < y);
}

void
flam_history_table_fill (GListStore *store, const FlamTrend *trend)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint s = 0; s < trend->n; s++)
    for (guint p = 0; p < trend->series[s].n; p++)
      g_ptr_array_add (rows, row_new (trend, s, p));
  g_list_store_splice (store,
                       0,
                       g_list_model_get_n_items (G_LIST_MODEL (store)),
                       rows->pdata,
                       rows->len);
  g_list_store_sort (store, compare_captures, NULL);
}

/* --- columns -------------------------------------------------------------- */

typedef enum
{
  COLUMN_DATE,
  COLUMN_VALUE,
  COLUMN_CHANGE,
  COLUMN_SERIES,
  COLUMN_NAME,
} Column;

static const struct
{
  const char *title;
  int tight;
} shown[] = {
  [COLUMN_DATE] = { N_ ("Date"), 130 },
  [COLUMN_VALUE] = { N_ ("Value"), 72 },
  [COLUMN_CHANGE] = { N_ ("Change"), 0 },
  [COLUMN_SERIES] = { N_ ("Series"), 0 },
  [COLUMN_NAME] = { N_ ("Capture"), 0 },
};

static const char *
text_of (FlamHistoryRow *self, guint column)
{
  switch ((Column)column)
    {
    case COLUMN_DATE:
      return self->day;
    case COLUMN_VALUE:
      return self->value;
    case COLUMN_CHANGE:
      return self->change;
    case COLUMN_SERIES:
      return self->series;
    case COLUMN_NAME:
    default:
      return self->name;
    }
}

static char *
cell_text (gpointer row, guint column, char **tooltip)
{
  FlamHistoryRow *self = row;

  *tooltip = g_strdup (self->all);
  return g_strdup (text_of (self, column));
}

static double
figure_of (gpointer row, guint column)
{
  const FlamHistoryRow *self = row;

  switch ((Column)column)
    {
    case COLUMN_DATE:
      return (double)self->date;
    case COLUMN_VALUE:
      return (double)self->amount;
    case COLUMN_CHANGE:
      return self->growth;
    case COLUMN_SERIES:
    case COLUMN_NAME:
    default:
      return self->order;
    }
}

static const char *
name_of (gpointer row)
{
  return FLAM_HISTORY_ROW (row)->name;
}

GListStore *
flam_history_table_prepare (GtkColumnView *view)
{
  static const FlamTextColumns columns = {
    COLUMN_NAME,
    name_of,
    cell_text,
    figure_of,
    1u << COLUMN_DATE | 1u << COLUMN_SERIES,
  };

  GListStore *rows = g_list_store_new (FLAM_TYPE_HISTORY_ROW);
  GtkSortListModel *sorted;
  g_autoptr (GtkSingleSelection) selection = NULL;

  flam_columns_prepare (view);
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    {
      GtkColumnViewColumn *column = flam_text_column_add (
          view, &columns, i, _ (shown[i].title), shown[i].tight);

      if (i == COLUMN_DATE)
        flam_columns_fit (column, 190, shown[i].tight);
      else if (i == COLUMN_CHANGE)
        flam_columns_fit (column, 160, shown[i].tight);
    }
  sorted = gtk_sort_list_model_new (
      G_LIST_MODEL (g_object_ref (rows)),
      g_object_ref (gtk_column_view_get_sorter (view)));
  selection = gtk_single_selection_new (G_LIST_MODEL (sorted));
  gtk_single_selection_set_autoselect (selection, FALSE);
  gtk_single_selection_set_can_unselect (selection, TRUE);
  gtk_column_view_set_model (view, GTK_SELECTION_MODEL (selection));
  return rows;
}

char *
flam_history_table_text (GtkColumnView *view)
{
  GListModel *rows = G_LIST_MODEL (gtk_column_view_get_model (view));
  GString *text = g_string_new (NULL);

  for (guint c = 0; c < G_N_ELEMENTS (shown); c++)
    g_string_append_printf (
        text, "%s%s", c > 0 ? "\t" : "", _ (shown[c].title));
  for (guint i = 0; i < g_list_model_get_n_items (rows); i++)
    {
      g_autoptr (FlamHistoryRow) row = g_list_model_get_item (rows, i);

      for (guint c = 0; c < G_N_ELEMENTS (shown); c++)
        g_string_append_printf (
            text, "%s%s", c > 0 ? "\t" : "\n", text_of (row, c));
    }
  g_string_append_c (text, '\n');
  return g_string_free (text, FALSE);
}
