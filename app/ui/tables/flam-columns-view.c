/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-columns-view.h"

#include "flam-core-picture.h"
#include "flam-cost-cell.h"
#include "flam-frame-drag.h"
#include "flam-transforms.h"
#include "flam-widget.h"

#include <glib/gi18n.h>

FlamTreeRow *
flam_columns_row (gpointer item)
{
  return GTK_IS_TREE_LIST_ROW (item) ? gtk_tree_list_row_get_item (item)
                                     : g_object_ref (item);
}

/* --- right click, drag ---------------------------------------------------- */

/* Rows may belong to another tree than the session's: an upright one, callers
 * and callees. */
static FlamNodeId
session_node (FlamSession *session, FlamTreeRow *row)
{
  const FlamTree *of = flam_tree_row_get_view_data (row)->tree;
  const FlamTree *tree = flam_session_get_tree (session);
  FlamNodeId node = flam_tree_row_get_node (row);

  if (tree == NULL || of == tree)
    return node;
  if (of->profile != tree->profile)
    return FLAM_NONE;
  return of->rooted ? flam_sandwich_find_call (of, node, tree)
                    : flam_sandwich_find (of, node, tree);
}

static void
on_pressed (
    GtkGestureClick *click, int n_press, double x, double y, GtkListItem *item)
{
  GtkWidget *cell =
      gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (click));
  GtkWidget *view = gtk_widget_get_ancestor (cell, GTK_TYPE_COLUMN_VIEW);
  gpointer object = gtk_list_item_get_item (item);
  guint position = gtk_list_item_get_position (item);
  g_autoptr (FlamTreeRow) row = NULL;
  FlamSession *session;

  if (view == NULL || object == NULL)
    return;
  row = flam_columns_row (object);
  gtk_selection_model_select_item (
      gtk_column_view_get_model (GTK_COLUMN_VIEW (view)), position, TRUE);
  session = g_object_get_data (G_OBJECT (view), "flam-session");
  gtk_gesture_set_state (GTK_GESTURE (click), GTK_EVENT_SEQUENCE_CLAIMED);
  gtk_widget_translate_coordinates (cell, view, x, y, &x, &y);
  flam_transforms_popup (view, session, session_node (session, row), x, y);
}

static FlamDraggedFrame
frame_of_row (GtkWidget *cell, gpointer item)
{
  gpointer object = gtk_list_item_get_item (item);
  g_autoptr (FlamTreeRow) row =
      object != NULL ? flam_columns_row (object) : NULL;
  FlamDraggedFrame frame = { .tree = NULL };

  if (row != NULL)
    frame = (FlamDraggedFrame){
      .tree = flam_tree_row_get_view_data (row)->tree,
      .row = *flam_tree_row_get_row (row),
    };
  return frame;
}

static void
add_gestures (GtkWidget *cell, GtkListItem *item)
{
  GtkGesture *click = gtk_gesture_click_new ();

  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (click),
                                 GDK_BUTTON_SECONDARY);
  g_signal_connect (click, "pressed", G_CALLBACK (on_pressed), item);
  gtk_widget_add_controller (cell, GTK_EVENT_CONTROLLER (click));
  flam_frame_drag_add (cell, frame_of_row, item);
}

void
flam_columns_set_session (GtkColumnView *view, FlamSession *session)
{
  g_object_set_data_full (
      G_OBJECT (view), "flam-session", g_object_ref (session), g_object_unref);
}

/* --- cost ----------------------------------------------------------------- */

static void
cost_setup (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkWidget *cell = flam_cost_cell_new ();

  add_gestures (cell, item);
  gtk_list_item_set_child (item, cell);
}

static void
cost_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer cost)
{
  g_autoptr (FlamTreeRow) row =
      flam_columns_row (gtk_list_item_get_item (item));
  GtkWidget *cell = gtk_list_item_get_child (item);
  FlamViewData *view_data = flam_tree_row_get_view_data (row);
  const FlamFunctionRow *figures = flam_tree_row_get_row (row);
  gboolean self = GPOINTER_TO_INT (cost) == FLAM_COST_SELF;

  flam_cost_cell_set (FLAM_COST_CELL (cell),
                      view_data,
                      self ? flam_functions_self (view_data->tree, figures)
                           : flam_functions_total (view_data->tree, figures));
  flam_columns_need (factory, cell, flam_cost_cell_get_value_width);
}

static int
by_self (gconstpointer a, gconstpointer b, gpointer data)
{
  gint64 x = flam_tree_row_get_self ((gpointer)a);
  gint64 y = flam_tree_row_get_self ((gpointer)b);

  return (x > y) - (x < y);
}

static int
by_total (gconstpointer a, gconstpointer b, gpointer data)
{
  gint64 x = flam_tree_row_get_total ((gpointer)a);
  gint64 y = flam_tree_row_get_total ((gpointer)b);

  return (x > y) - (x < y);
}

static void
take_sorter (GtkColumnViewColumn *column, GCompareDataFunc compare)
{
  g_autoptr (GtkSorter) sorter =
      GTK_SORTER (gtk_custom_sorter_new (compare, NULL, NULL));

  gtk_column_view_column_set_sorter (column, sorter);
}

static GtkColumnViewColumn *
add_column (GtkColumnView *view,
            const char *title,
            GCallback setup,
            GCallback bind,
            gpointer data)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_autoptr (GtkColumnViewColumn) column =
      gtk_column_view_column_new (title, factory);

  g_signal_connect (factory, "setup", setup, data);
  g_signal_connect (factory, "bind", bind, data);
  flam_columns_set_factory (column, factory);
  gtk_column_view_column_set_resizable (column, TRUE);
  gtk_column_view_append_column (view, column);
  return column;
}

GtkColumnViewColumn *
flam_columns_add_cost (GtkColumnView *view, FlamCost cost, gboolean sorted)
{
  const char *title = cost == FLAM_COST_SELF ? _ ("Self") : _ ("Total");
  GtkColumnViewColumn *column = add_column (view,
                                            title,
                                            G_CALLBACK (cost_setup),
                                            G_CALLBACK (cost_bind),
                                            GINT_TO_POINTER (cost));

  flam_columns_fit (column, 150, 72);
  flam_columns_set_meaning (column,
                            cost == FLAM_COST_SELF
                                ? _ ("Self excludes the functions it calls")
                                : _ ("Total includes the functions it calls"));
  flam_columns_largest_first (column);
  if (sorted)
    take_sorter (column, cost == FLAM_COST_SELF ? by_self : by_total);
  return column;
}

/* --- the other unit ------------------------------------------------------- */

static void
other_setup (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkWidget *label = gtk_label_new (NULL);

  flam_widget_align_figure (GTK_LABEL (label));
  add_gestures (label, item);
  gtk_list_item_set_child (item, label);
}

static void
other_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  g_autoptr (FlamTreeRow) row =
      flam_columns_row (gtk_list_item_get_item (item));
  const FlamTree *tree = flam_tree_row_get_view_data (row)->tree;
  g_autofree char *text = flam_format_value (flam_tree_row_get_other (row),
                                             flam_tree_other_unit (tree));

  gtk_label_set_label (GTK_LABEL (gtk_list_item_get_child (item)),
                       tree->other_total != NULL ? text : " ");
  flam_columns_need (factory, gtk_list_item_get_child (item), NULL);
}

static int
by_other (gconstpointer a, gconstpointer b, gpointer data)
{
  gint64 x = flam_tree_row_get_other ((gpointer)a);
  gint64 y = flam_tree_row_get_other ((gpointer)b);

  return (x > y) - (x < y);
}

GtkColumnViewColumn *
flam_columns_add_other (GtkColumnView *view, gboolean sorted)
{
  GtkColumnViewColumn *column = add_column (view,
                                            _ ("Blocks"),
                                            G_CALLBACK (other_setup),
                                            G_CALLBACK (other_bind),
                                            NULL);

  flam_columns_fit (column, 84, 0);
  flam_columns_largest_first (column);
  flam_columns_set_wanted (column, FALSE);
  if (sorted)
    take_sorter (column, by_other);
  return column;
}

void
flam_columns_update_other (GtkColumnViewColumn *column,
                           const FlamViewData *view_data)
{
  gboolean visible = view_data != NULL && view_data->tree->other_total != NULL;

  flam_columns_set_wanted (column, visible);
  if (visible)
    gtk_column_view_column_set_title (column,
                                      flam_tree_other_unit (view_data->tree) ==
                                              FLAM_UNIT_COUNT
                                          ? _ ("Blocks")
                                          : _ ("Bytes"));
}

/* --- name ----------------------------------------------------------------- */

/* With parameters where names collide, and the line or the address after it;
 * g_free. */
static char *
name_of (FlamTreeRow *row)
{
  const FlamViewData *view_data = flam_tree_row_get_view_data (row);
  FlamNodeId node = flam_tree_row_get_node (row);
  g_autofree char *detail = flam_tree_detail (view_data->tree, node);

  return g_strconcat (flam_view_data_get_name (view_data, node), detail, NULL);
}

static GtkWidget *
name_label (GtkListItem *item)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  add_gestures (label, item);
  return label;
}

static void
set_name (GtkWidget *label, const char *name)
{
  g_autofree char *folded = flam_format_folded_name (name);
  g_autofree char *whole = flam_format_visible (name);

  gtk_label_set_label (GTK_LABEL (label), *folded != '\0' ? folded : " ");
  gtk_widget_set_tooltip_text (label, whole);
}

static void
name_setup (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  gtk_list_item_set_child (item, name_label (item));
}

static void
name_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  g_autoptr (FlamTreeRow) row =
      flam_columns_row (gtk_list_item_get_item (item));

  g_autofree char *name = name_of (row);

  set_name (gtk_list_item_get_child (item), name);
}

/* The row's figures as one text; g_free, or NULL. */
static char *
spoken_figures (FlamTreeRow *row)
{
  const FlamViewData *view_data = flam_tree_row_get_view_data (row);
  const FlamMeasure *measure = flam_view_data_get_measure (view_data);
  gint64 all = view_data->tree->total[0];
  gint64 total = flam_tree_row_get_total (row);
  gint64 self = flam_tree_row_get_self (row);
  g_autofree char *total_text = NULL;
  g_autofree char *total_share = flam_format_percent (total, all);
  g_autofree char *self_text = NULL;
  g_autofree char *self_share = flam_format_percent (self, all);

  if (measure == NULL)
    return NULL;
  total_text = flam_format_weight (measure, total);
  self_text = flam_format_weight (measure, self);
  return g_strdup_printf (_ ("self %s (%s), total %s (%s)"),
                          self_text,
                          self_share,
                          total_text,
                          total_share);
}

static void
expander_setup (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkWidget *expander = gtk_tree_expander_new ();

  gtk_tree_expander_set_child (GTK_TREE_EXPANDER (expander), name_label (item));
  gtk_list_item_set_child (item, expander);
}

static void
expander_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkTreeExpander *expander =
      GTK_TREE_EXPANDER (gtk_list_item_get_child (item));
  GtkTreeListRow *place = gtk_list_item_get_item (item);
  g_autoptr (FlamTreeRow) row = flam_columns_row (place);
  g_autofree char *name = name_of (row);
  g_autofree char *figures = spoken_figures (row);

  gtk_tree_expander_set_list_row (expander, place);
  /* It has the keyboard, not its row. */
  if (figures != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (expander),
                                    GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                    figures,
                                    -1);
  set_name (gtk_tree_expander_get_child (expander), name);
}

static int
by_name (gconstpointer a, gconstpointer b, gpointer data)
{
  g_autofree char *x = name_of ((gpointer)a);
  g_autofree char *y = name_of ((gpointer)b);

  return g_utf8_collate (x, y);
}

GtkColumnViewColumn *
flam_columns_add_name (GtkColumnView *view, gboolean expander, gboolean sorted)
{
  GtkColumnViewColumn *column = expander
                                    ? add_column (view,
                                                  _ ("Function"),
                                                  G_CALLBACK (expander_setup),
                                                  G_CALLBACK (expander_bind),
                                                  NULL)
                                    : add_column (view,
                                                  _ ("Function"),
                                                  G_CALLBACK (name_setup),
                                                  G_CALLBACK (name_bind),
                                                  NULL);

  gtk_column_view_column_set_expand (column, TRUE);
  if (sorted)
    take_sorter (column, by_name);
  return column;
}

/* --- module --------------------------------------------------------------- */

static const char *
module_of (FlamTreeRow *row)
{
  const FlamTree *tree = flam_tree_row_get_view_data (row)->tree;

  return flam_profile_module_name (
      tree->profile, flam_tree_function (tree, flam_tree_row_get_node (row)));
}

static void
module_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  g_autoptr (FlamTreeRow) row =
      flam_columns_row (gtk_list_item_get_item (item));

  set_name (gtk_list_item_get_child (item), module_of (row));
}

static int
by_module (gconstpointer a, gconstpointer b, gpointer data)
{
  return g_utf8_collate (module_of ((gpointer)a), module_of ((gpointer)b));
}

GtkColumnViewColumn *
flam_columns_add_module (GtkColumnView *view, gboolean sorted)
{
  GtkColumnViewColumn *column = add_column (view,
                                            _ ("Module"),
                                            G_CALLBACK (name_setup),
                                            G_CALLBACK (module_bind),
                                            NULL);

  flam_columns_fit (column, 140, 0);
  if (sorted)
    take_sorter (column, by_module);
  return column;
}

/* --- place ---------------------------------------------------------------- */

static void
place_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  g_autoptr (FlamTreeRow) row =
      flam_columns_row (gtk_list_item_get_item (item));
  GtkWidget *label = gtk_list_item_get_child (item);
  const char *file;
  guint32 line = flam_tree_source_line (flam_tree_row_get_view_data (row)->tree,
                                        flam_tree_row_get_node (row),
                                        &file);
  g_autofree char *name = g_path_get_basename (file);
  g_autofree char *place =
      line != 0 ? g_strdup_printf ("%s:%u", name, line) : NULL;

  set_name (label,
            place != NULL   ? place
            : *file != '\0' ? name
                            : _ ("unknown line"));
  if (*file != '\0')
    gtk_widget_set_tooltip_text (label, file);
}

GtkColumnViewColumn *
flam_columns_add_place (GtkColumnView *view)
{
  GtkColumnViewColumn *column = add_column (view,
                                            _ ("Place"),
                                            G_CALLBACK (name_setup),
                                            G_CALLBACK (place_bind),
                                            NULL);

  gtk_column_view_column_set_expand (column, TRUE);
  return column;
}

/* --- rows as text --------------------------------------------------------- */

#define COPIED_MAX 100000

static void
append_row (GString *text, FlamTreeRow *row)
{
  const FlamTree *tree = flam_tree_row_get_view_data (row)->tree;
  const FlamMeasure measure = flam_tree_measure (tree);
  g_autofree char *self =
      flam_format_plain (&measure, flam_tree_row_get_self (row));
  g_autofree char *total =
      flam_format_plain (&measure, flam_tree_row_get_total (row));
  g_autofree char *name = name_of (row);

  g_string_append_printf (
      text, "%s\t%s\t%s\t%s\n", self, total, name, module_of (row));
}

void
flam_columns_copy_rows (GtkColumnView *view)
{
  GListModel *rows = G_LIST_MODEL (gtk_column_view_get_model (view));
  g_autoptr (GString) text = g_string_new (NULL);
  guint n = MIN (g_list_model_get_n_items (rows), COPIED_MAX);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GObject) item = g_list_model_get_item (rows, i);
      g_autoptr (FlamTreeRow) row = flam_columns_row (item);

      append_row (text, row);
    }
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (view)),
                          text->str);
}
