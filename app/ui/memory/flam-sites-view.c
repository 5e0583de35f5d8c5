/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-sites-view.h"

#include "flam-columns-view.h"
#include "flam-format.h"
#include "flam-memory-model.h"
#include "flam-settings.h"
#include "flam-words.h"

#include <glib/gi18n.h>

/* --- rows ----------------------------------------------------------------- */

#define FLAM_TYPE_SITE_ROW (flam_site_row_get_type ())
G_DECLARE_FINAL_TYPE (FlamSiteRow, flam_site_row, FLAM, SITE_ROW, GObject)

struct _FlamSiteRow
{
  GObject parent_instance;
  FlamMemory *memory;
  guint function;
  const FlamAmounts *amounts; /* the memory's */
};

G_DEFINE_FINAL_TYPE (FlamSiteRow, flam_site_row, G_TYPE_OBJECT)

static void
flam_site_row_finalize (GObject *object)
{
  flam_memory_unref (FLAM_SITE_ROW (object)->memory);
  G_OBJECT_CLASS (flam_site_row_parent_class)->finalize (object);
}

static void
flam_site_row_class_init (FlamSiteRowClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_site_row_finalize;
}

static void
flam_site_row_init (FlamSiteRow *self)
{
}

static FlamSiteRow *
site_row_new (FlamMemory *memory, guint function, const FlamAmounts *amounts)
{
  FlamSiteRow *self = g_object_new (FLAM_TYPE_SITE_ROW, NULL);

  self->memory = flam_memory_ref (memory);
  self->function = function;
  self->amounts = amounts;
  return self;
}

static FlamId
row_node (FlamSiteRow *row)
{
  return row->memory->function[row->function].node;
}

static const char *
row_name (FlamSiteRow *row)
{
  return flam_tree_name (row->memory->tree, row_node (row));
}

/* --- columns -------------------------------------------------------------- */

typedef enum
{
  COLUMN_NAME,
  COLUMN_ALLOCATED,
  COLUMN_BLOCKS,
  COLUMN_TEMPORARY,
  COLUMN_PEAK,
  COLUMN_LEAKED,
  N_COLUMNS
} Column;

static double
figure_of (FlamSiteRow *row, Column column)
{
  const FlamAmount *part = row->amounts->part;
  const FlamAmount *made = &part[FLAM_MEMORY_ALLOCATED];

  switch (column)
    {
    case COLUMN_ALLOCATED:
      return (double)made->bytes;
    case COLUMN_BLOCKS:
      return (double)made->blocks;
    case COLUMN_TEMPORARY:
      return made->blocks > 0 ? (double)part[FLAM_MEMORY_TEMPORARY].blocks /
                                    (double)made->blocks
                              : -1;
    case COLUMN_PEAK:
      return (double)part[FLAM_MEMORY_PEAK].bytes;
    case COLUMN_LEAKED:
      return (double)part[FLAM_MEMORY_LEAKED].bytes;
    case COLUMN_NAME:
    case N_COLUMNS:
    default:
      g_return_val_if_reached (0);
    }
}

static char *
cell_text (FlamSiteRow *row, Column column, char **tooltip)
{
  const FlamAmount *part = row->amounts->part;
  const FlamAmount *made = &part[FLAM_MEMORY_ALLOCATED];

  switch (column)
    {
    case COLUMN_NAME:
      *tooltip = g_strdup (row_name (row));
      return g_strdup (row_name (row));
    case COLUMN_ALLOCATED:
      *tooltip = flam_words_blocks (made->blocks);
      return flam_format_value (made->bytes, FLAM_UNIT_BYTES);
    case COLUMN_BLOCKS:
      return flam_format_value (made->blocks, FLAM_UNIT_COUNT);
    case COLUMN_TEMPORARY:
      *tooltip = flam_words_blocks (part[FLAM_MEMORY_TEMPORARY].blocks);
      return flam_format_percent (part[FLAM_MEMORY_TEMPORARY].blocks,
                                  made->blocks);
    case COLUMN_PEAK:
      *tooltip = flam_words_blocks (part[FLAM_MEMORY_PEAK].blocks);
      return flam_format_value (part[FLAM_MEMORY_PEAK].bytes, FLAM_UNIT_BYTES);
    case COLUMN_LEAKED:
      *tooltip = flam_words_blocks (part[FLAM_MEMORY_LEAKED].blocks);
      return flam_format_value (part[FLAM_MEMORY_LEAKED].bytes,
                                FLAM_UNIT_BYTES);
    case N_COLUMNS:
    default:
      g_return_val_if_reached (NULL);
    }
}

static void
cell_setup (GtkListItemFactory *factory, GtkListItem *item, gpointer column)
{
  GtkWidget *label = gtk_label_new (NULL);

  if (GPOINTER_TO_INT (column) == COLUMN_NAME)
    {
      gtk_label_set_xalign (GTK_LABEL (label), 0);
      gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
    }
  else
    {
      gtk_label_set_xalign (GTK_LABEL (label), 1);
      gtk_widget_add_css_class (label, "numeric");
    }
  gtk_list_item_set_child (item, label);
}

static void
cell_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer column)
{
  g_autofree char *tooltip = NULL;
  g_autofree char *text = cell_text (
      gtk_list_item_get_item (item), GPOINTER_TO_INT (column), &tooltip);
  GtkWidget *label = gtk_list_item_get_child (item);

  gtk_label_set_label (GTK_LABEL (label), text);
  gtk_widget_set_tooltip_text (label, tooltip);
}

static int
compare_rows (gconstpointer a, gconstpointer b, gpointer column)
{
  FlamSiteRow *x = (gpointer)a;
  FlamSiteRow *y = (gpointer)b;
  double difference;

  if (GPOINTER_TO_INT (column) == COLUMN_NAME)
    return g_utf8_collate (row_name (x), row_name (y));
  difference = figure_of (x, GPOINTER_TO_INT (column)) -
               figure_of (y, GPOINTER_TO_INT (column));
  return (difference > 0) - (difference < 0);
}

static GtkColumnViewColumn *
add_column (GtkColumnView *view, Column column, const char *title)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_autoptr (GtkColumnViewColumn) made =
      gtk_column_view_column_new (title, factory);
  g_autoptr (GtkSorter) sorter = GTK_SORTER (
      gtk_custom_sorter_new (compare_rows, GINT_TO_POINTER (column), NULL));

  g_signal_connect (
      factory, "setup", G_CALLBACK (cell_setup), GINT_TO_POINTER (column));
  g_signal_connect (
      factory, "bind", G_CALLBACK (cell_bind), GINT_TO_POINTER (column));
  gtk_column_view_column_set_resizable (made, TRUE);
  gtk_column_view_column_set_sorter (made, sorter);
  if (column == COLUMN_NAME)
    gtk_column_view_column_set_expand (made, TRUE);
  else
    {
      gboolean always = column == COLUMN_ALLOCATED || column == COLUMN_LEAKED;

      flam_columns_fit (made, 104, always ? 84 : 0);
      flam_columns_largest_first (made);
    }
  gtk_column_view_append_column (view, made);
  return made;
}

/* --- the view ------------------------------------------------------------- */

struct _FlamSitesView
{
  FlamPage parent_instance;

  FlamSession *session; /* the page's */
  FlamMemoryModel *model;
  gboolean syncing;
  GListStore *rows; /* FlamSiteRow */
  GtkSingleSelection *selection;

  GtkToggleButton *self_button;
  GtkToggleButton *total_button;
  GtkColumnView *view;
  GtkLabel *none;
};

G_DEFINE_FINAL_TYPE (FlamSitesView, flam_sites_view, FLAM_TYPE_PAGE)

static gboolean
has_any (const FlamAmounts *amounts)
{
  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    if (amounts->part[part].blocks != 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_function (gpointer item, gpointer function)
{
  FlamSiteRow *row = item;

  return flam_tree_function (row->memory->tree, row_node (row)) ==
         GPOINTER_TO_UINT (function);
}

static void
show_current (FlamSitesView *self)
{
  const FlamTree *tree = flam_session_get_tree (self->session);
  FlamId current = flam_session_get_current (self->session);

  if (self->syncing || tree == NULL)
    return;
  self->syncing = TRUE;
  flam_columns_show_row (self->view,
                         self->selection,
                         is_function,
                         GUINT_TO_POINTER (flam_tree_function (tree, current)));
  self->syncing = FALSE;
}

static void
fill (FlamSitesView *self)
{
  FlamMemory *memory = flam_memory_model_get (self->model);
  gboolean total = gtk_toggle_button_get_active (self->total_button);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; memory != NULL && i < memory->n_functions; i++)
    {
      const FlamAmounts *amounts =
          total ? &memory->function_total[i] : &memory->function_self[i];

      if (has_any (amounts))
        g_ptr_array_add (rows, site_row_new (memory, i, amounts));
    }
  self->syncing = TRUE;
  g_list_store_splice (self->rows,
                       0,
                       g_list_model_get_n_items (G_LIST_MODEL (self->rows)),
                       rows->pdata,
                       rows->len);
  gtk_single_selection_set_selected (self->selection,
                                     GTK_INVALID_LIST_POSITION);
  self->syncing = FALSE;
  gtk_label_set_label (self->none, flam_page_why_empty (FLAM_PAGE (self)));
  gtk_widget_set_visible (GTK_WIDGET (self->none),
                          memory != NULL && rows->len == 0);
  show_current (self);
}

/* Of the function's places in the picture, the heaviest. */
static void
on_selected (FlamSitesView *self)
{
  FlamSiteRow *row = gtk_single_selection_get_selected_item (self->selection);
  const FlamTree *tree = flam_session_get_tree (self->session);

  if (self->syncing || row == NULL || tree == NULL)
    return;
  self->syncing = TRUE;
  flam_session_set_current (
      self->session,
      flam_tree_find_function (
          tree, flam_tree_function (row->memory->tree, row_node (row))));
  self->syncing = FALSE;
}

static void
on_activate (FlamSitesView *self, guint position)
{
  g_settings_set_boolean (flam_settings_get (), FLAM_KEY_SOURCE_SHOWN, TRUE);
}

/* --- object --------------------------------------------------------------- */

static gboolean
flam_sites_view_grab_focus (GtkWidget *widget)
{
  return gtk_widget_grab_focus (GTK_WIDGET (FLAM_SITES_VIEW (widget)->view));
}

static void
flam_sites_view_constructed (GObject *object)
{
  FlamSitesView *self = FLAM_SITES_VIEW (object);

  G_OBJECT_CLASS (flam_sites_view_parent_class)->constructed (object);
  self->session = flam_page_get_session (FLAM_PAGE (self));
  self->model = flam_memory_model_of (self->session);
  flam_memory_model_watch (self->model, GTK_WIDGET (self));
  g_signal_connect_object (self->session,
                           "notify::current",
                           G_CALLBACK (show_current),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->model,
                           "notify::memory",
                           G_CALLBACK (fill),
                           self,
                           G_CONNECT_SWAPPED);
}

static void
flam_sites_view_dispose (GObject *object)
{
  FlamSitesView *self = FLAM_SITES_VIEW (object);

  G_OBJECT_CLASS (flam_sites_view_parent_class)->dispose (object);
  g_clear_object (&self->selection);
  g_clear_object (&self->rows);
}

static void
flam_sites_view_class_init (FlamSitesViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  object_class->constructed = flam_sites_view_constructed;
  object_class->dispose = flam_sites_view_dispose;
  class->grab_focus = flam_sites_view_grab_focus;
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-sites-view.ui");
  gtk_widget_class_bind_template_child (class, FlamSitesView, self_button);
  gtk_widget_class_bind_template_child (class, FlamSitesView, total_button);
  gtk_widget_class_bind_template_child (class, FlamSitesView, view);
  gtk_widget_class_bind_template_child (class, FlamSitesView, none);
}

static void
fill_columns (FlamSitesView *self)
{
  GtkColumnViewColumn *first;

  flam_columns_prepare (self->view);
  first = add_column (self->view, COLUMN_ALLOCATED, _ ("Allocated"));
  add_column (self->view, COLUMN_BLOCKS, _ ("Blocks"));
  add_column (self->view, COLUMN_TEMPORARY, _ ("Temporary"));
  add_column (self->view, COLUMN_PEAK, _ ("At the Peak"));
  add_column (self->view, COLUMN_LEAKED, _ ("Not Freed"));
  add_column (self->view, COLUMN_NAME, _ ("Function"));
  flam_columns_sort (self->view, first);
}

static void
flam_sites_view_init (FlamSitesView *self)
{
  GtkSortListModel *sorted;

  gtk_widget_init_template (GTK_WIDGET (self));
  self->rows = g_list_store_new (FLAM_TYPE_SITE_ROW);
  fill_columns (self);
  sorted = gtk_sort_list_model_new (
      G_LIST_MODEL (g_object_ref (self->rows)),
      g_object_ref (gtk_column_view_get_sorter (self->view)));
  self->selection = gtk_single_selection_new (G_LIST_MODEL (sorted));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (self->selection));
  g_signal_connect_swapped (
      self->selection, "notify::selected", G_CALLBACK (on_selected), self);
  g_signal_connect_swapped (
      self->view, "activate", G_CALLBACK (on_activate), self);
  g_signal_connect_swapped (
      self->total_button, "toggled", G_CALLBACK (fill), self);
}
