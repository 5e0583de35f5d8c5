/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-table-shape.h"

#include "flam-platform.h"
#include "flam-row-scroll.h"

/* --- width ---------------------------------------------------------------- */

/* The width of a column of figures with enough room and without; 0: hidden
 * without. The widest figure shown so far may need more. */
typedef struct
{
  int wide, tight;
  int needs_wide, needs_tight;
  gboolean wanted;
} Fit;

#define NAME_WIDTH 200

static int
width_of (const Fit *fit, gboolean tight)
{
  if (!tight)
    return MAX (fit->wide, fit->needs_wide);
  return fit->tight > 0 ? MAX (fit->tight, fit->needs_tight) : 0;
}

static void
fit_column (GtkColumnViewColumn *column, const Fit *fit, gboolean tight)
{
  int width = width_of (fit, tight);
  gboolean visible = fit->wanted && width > 0;

  /* A hidden column also keeps its width. */
  gtk_column_view_column_set_fixed_width (column, visible ? width : -1);
  gtk_column_view_column_set_visible (column, visible);
}

static GtkColumnViewColumn *
column_at (GtkColumnView *view, guint position)
{
  GListModel *columns = gtk_column_view_get_columns (view);

  for (guint i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (GtkColumnViewColumn) column =
          g_list_model_get_item (columns, i);

      if (gtk_column_view_column_get_visible (column) && position-- == 0)
        return column;
    }
  return NULL;
}

/* A translated title, or one in large letters, can be wider than its figures.
 * GTK measures the title of a column without a width. */
static void
fit_titles (GtkColumnView *view)
{
  GtkWidget *title = gtk_widget_get_first_child (
      gtk_widget_get_first_child (GTK_WIDGET (view)));
  guint position = 0;

  for (; title != NULL; title = gtk_widget_get_next_sibling (title))
    {
      GtkColumnViewColumn *column;
      const Fit *fit;
      int needs;

      if (!gtk_widget_get_visible (title))
        continue;
      column = column_at (view, position++);
      fit = column != NULL ? g_object_get_data (G_OBJECT (column), "flam-fit")
                           : NULL;
      if (fit == NULL)
        continue;
      gtk_column_view_column_set_fixed_width (column, -1);
      gtk_widget_measure (
          title, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &needs, NULL, NULL);
      gtk_column_view_column_set_fixed_width (
          column, MAX (width_of (fit, FALSE), needs));
    }
}

static Fit *
fit_at (GtkColumnView *view, guint position, GtkColumnViewColumn **column)
{
  *column =
      g_list_model_get_item (gtk_column_view_get_columns (view), position);
  return g_object_get_data (G_OBJECT (*column), "flam-fit");
}

/* Widens columns from the first one on, as long as there is room in `width`:
 * those that can be hidden, or the others. `*used` is the width so far; TRUE:
 * all of them are wide. */
static gboolean
widen_columns (GtkColumnView *view, gboolean hideable, int width, int *used)
{
  guint n = g_list_model_get_n_items (gtk_column_view_get_columns (view));
  gboolean all = TRUE;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GtkColumnViewColumn) column = NULL;
      const Fit *fit = fit_at (view, i, &column);

      if (fit == NULL || (fit->tight == 0) != hideable)
        continue;
      if (fit->wanted)
        {
          int more = width_of (fit, FALSE) - width_of (fit, TRUE);

          all = all && *used + more <= width;
          *used += all ? more : 0;
        }
      fit_column (column, fit, !all);
    }
  return all;
}

/* Names come first: they get 200 pixels before any figure gets more than it
 * needs. Columns that can be hidden go before shares do, the last ones first.
 */
static void
fit_columns (GtkColumnView *view)
{
  guint n = g_list_model_get_n_items (gtk_column_view_get_columns (view));
  GtkAdjustment *across =
      gtk_scrollable_get_hadjustment (GTK_SCROLLABLE (view));
  int width = (int)gtk_adjustment_get_page_size (across);
  int used = NAME_WIDTH;
  gboolean shares, all;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GtkColumnViewColumn) column = NULL;
      const Fit *fit = fit_at (view, i, &column);

      used += fit != NULL && fit->wanted ? width_of (fit, TRUE) : 0;
    }
  if (width <= 1) /* not allocated yet */
    width = G_MAXINT;
  shares = widen_columns (view, FALSE, width, &used);
  all = widen_columns (view, TRUE, shares ? width : 0, &used);
  if (shares && all && width < G_MAXINT)
    fit_titles (view);
}

static gboolean
fit_now (gpointer view)
{
  g_object_set_data (G_OBJECT (view), "flam-fitting", NULL);
  fit_columns (view);
  return G_SOURCE_REMOVE;
}

/* Not while the table is being allocated. */
static void
queue_fit (GtkColumnView *view)
{
  if (g_object_get_data (G_OBJECT (view), "flam-fitting") != NULL)
    return;
  g_object_set_data (G_OBJECT (view), "flam-fitting", view);
  g_idle_add_full (
      G_PRIORITY_HIGH_IDLE, fit_now, g_object_ref (view), g_object_unref);
}

static void
on_adjustment (GtkColumnView *view)
{
  GtkAdjustment *across =
      gtk_scrollable_get_hadjustment (GTK_SCROLLABLE (view));

  if (across != NULL)
    g_signal_connect_object (across,
                             "notify::page-size",
                             G_CALLBACK (queue_fit),
                             view,
                             G_CONNECT_SWAPPED);
}

void
flam_columns_fit (GtkColumnViewColumn *column, int wide, int tight)
{
  Fit *fit = g_new (Fit, 1);

  *fit = (Fit){ .wide = wide, .tight = tight, .wanted = TRUE };
  g_object_set_data_full (G_OBJECT (column), "flam-fit", fit, g_free);
  fit_column (column, fit, FALSE);
}

/* The width of a cell around its child. */
static int
frame_of_cell (GtkWidget *child)
{
  GtkStyleContext *style =
      gtk_widget_get_style_context (gtk_widget_get_parent (child));
  GtkBorder padding, border, margin;

  gtk_style_context_get_padding (style, &padding);
  gtk_style_context_get_border (style, &border);
  gtk_style_context_get_margin (style, &margin);
  return padding.left + padding.right + border.left + border.right +
         margin.left + margin.right;
}

void
flam_columns_set_factory (GtkColumnViewColumn *column,
                          GtkListItemFactory *factory)
{
  g_object_set_data (G_OBJECT (factory), "flam-column", column);
}

static void
measure_cell (GtkWidget *child, GtkColumnViewColumn *column)
{
  int (*part) (GtkWidget *) = g_object_get_data (G_OBJECT (child), "flam-part");
  Fit *fit = g_object_get_data (G_OBJECT (column), "flam-fit");
  GtkColumnView *view = gtk_column_view_column_get_column_view (column);
  int wide, tight, frame;

  g_signal_handlers_disconnect_by_func (child, measure_cell, column);
  if (fit == NULL || view == NULL)
    return;
  frame = frame_of_cell (child);
  gtk_widget_measure (
      child, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &wide, NULL, NULL);
  wide += frame;
  tight = part != NULL ? part (child) + frame : wide;
  if (wide <= fit->needs_wide && tight <= fit->needs_tight)
    return;
  fit->needs_wide = MAX (fit->needs_wide, wide);
  fit->needs_tight = MAX (fit->needs_tight, tight);
  if (fit->needs_wide > fit->wide || fit->needs_tight > fit->tight)
    queue_fit (view);
}

/* A new cell has its style once it is in the table: since GTK 4.12 it is bound
 * before. */
void
flam_columns_need (GtkListItemFactory *factory,
                   GtkWidget *child,
                   int (*part) (GtkWidget *child))
{
  GtkColumnViewColumn *column =
      g_object_get_data (G_OBJECT (factory), "flam-column");

  g_object_set_data (G_OBJECT (child), "flam-part", part);
  g_signal_handlers_disconnect_by_func (child, measure_cell, column);
  if (gtk_widget_get_root (child) != NULL)
    measure_cell (child, column);
  else
    g_signal_connect_object (
        child, "map", G_CALLBACK (measure_cell), column, 0);
}

void
flam_columns_forget_needs (GtkColumnView *view)
{
  GListModel *columns = gtk_column_view_get_columns (view);

  for (guint i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (GtkColumnViewColumn) column =
          g_list_model_get_item (columns, i);
      Fit *fit = g_object_get_data (G_OBJECT (column), "flam-fit");

      if (fit != NULL)
        fit->needs_wide = fit->needs_tight = 0;
    }
  queue_fit (view);
}

void
flam_columns_set_wanted (GtkColumnViewColumn *column, gboolean wanted)
{
  Fit *fit = g_object_get_data (G_OBJECT (column), "flam-fit");

  fit->wanted = wanted;
  fit_columns (gtk_column_view_column_get_column_view (column));
}

/* --- order ---------------------------------------------------------------- */

static gboolean
is_figure (GtkColumnViewColumn *column)
{
  return g_object_get_data (G_OBJECT (column), "flam-largest-first") != NULL;
}

/* The column with the title at `x` of the header; NULL: none. */
static GtkColumnViewColumn *
column_below (GtkColumnView *view, GtkWidget *header, double x)
{
  GtkWidget *title = gtk_widget_get_first_child (header);
  guint position = 0;

  for (; title != NULL; title = gtk_widget_get_next_sibling (title))
    {
      graphene_rect_t box;

      if (!gtk_widget_get_visible (title))
        continue;
      if (gtk_widget_compute_bounds (title, header, &box) &&
          x >= box.origin.x && x < box.origin.x + box.size.width)
        return column_at (view, position);
      position++;
    }
  return NULL;
}

static gboolean
on_query_title (GtkColumnView *view,
                int x,
                int y,
                gboolean by_keyboard,
                GtkTooltip *tooltip,
                GtkWidget *header)
{
  GtkColumnViewColumn *column =
      by_keyboard ? NULL : column_below (view, header, x);
  const char *meaning =
      column != NULL ? g_object_get_data (G_OBJECT (column), "flam-meaning")
                     : NULL;

  gtk_tooltip_set_text (tooltip, meaning);
  return meaning != NULL;
}

/* Figures are sorted largest first: the first click on the title puts the
 * largest on top, the next one reverses the order. "flam-sorted" is the column
 * that has its largest on top. */
static void
on_title (GtkGestureClick *click,
          int n_press,
          double x,
          double y,
          GtkColumnView *view)
{
  GtkWidget *header =
      gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (click));
  GtkColumnViewColumn *column = column_below (view, header, x);

  if (column != NULL && gtk_column_view_column_get_sorter (column) == NULL)
    return;
  /* GTK keeps the previously visible row in view. */
  flam_rows_scroll_to (GTK_WIDGET (view), 0);
  if (column == NULL || !is_figure (column))
    {
      g_object_set_data (G_OBJECT (view), "flam-sorted", NULL);
      return;
    }
  gtk_gesture_set_state (GTK_GESTURE (click), GTK_EVENT_SEQUENCE_CLAIMED);
  if (column != g_object_get_data (G_OBJECT (view), "flam-sorted"))
    flam_columns_sort (view, column);
  else
    {
      g_object_set_data (G_OBJECT (view), "flam-sorted", NULL);
      gtk_column_view_sort_by_column (view, column, GTK_SORT_ASCENDING);
    }
}

void
flam_columns_sort (GtkColumnView *view, GtkColumnViewColumn *column)
{
  g_object_set_data (G_OBJECT (view), "flam-sorted", column);
  gtk_column_view_sort_by_column (view, column, GTK_SORT_DESCENDING);
}

void
flam_columns_largest_first (GtkColumnViewColumn *column)
{
  g_object_set_data (G_OBJECT (column), "flam-largest-first", column);
}

void
flam_columns_set_meaning (GtkColumnViewColumn *column, const char *meaning)
{
  g_object_set_data_full (
      G_OBJECT (column), "flam-meaning", g_strdup (meaning), g_free);
}

void
flam_columns_prepare (GtkColumnView *view)
{
  GtkGesture *click = gtk_gesture_click_new ();
  GtkWidget *header = gtk_widget_get_first_child (GTK_WIDGET (view));

  gtk_event_controller_set_propagation_phase (GTK_EVENT_CONTROLLER (click),
                                              GTK_PHASE_CAPTURE);
  g_signal_connect (click, "released", G_CALLBACK (on_title), view);
  gtk_widget_add_controller (header, GTK_EVENT_CONTROLLER (click));
  gtk_widget_set_has_tooltip (header, TRUE);
  g_signal_connect_object (header,
                           "query-tooltip",
                           G_CALLBACK (on_query_title),
                           view,
                           G_CONNECT_SWAPPED);
  g_signal_connect (
      view, "notify::hadjustment", G_CALLBACK (on_adjustment), NULL);
  on_adjustment (view);
  flam_platform_tab_leaves (GTK_WIDGET (view));
}

/* --- one row -------------------------------------------------------------- */

void
flam_columns_show_row (GtkColumnView *view,
                       GtkSingleSelection *selection,
                       gboolean (*is) (gpointer item, gpointer data),
                       gpointer data)
{
  GListModel *model = G_LIST_MODEL (selection);
  guint n = g_list_model_get_n_items (model);
  guint position = 0;

  for (; position < n; position++)
    {
      g_autoptr (GObject) item = g_list_model_get_item (model, position);

      if (is (item, data))
        break;
    }
  if (position == n)
    position = GTK_INVALID_LIST_POSITION;
  if (position == gtk_single_selection_get_selected (selection))
    return;
  gtk_single_selection_set_selected (selection, position);
  flam_rows_scroll_to (GTK_WIDGET (view), position);
}
