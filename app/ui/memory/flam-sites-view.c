/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-sites-view.h"

#include "flam-core-picture.h"
#include "flam-memory-model.h"
#include "flam-text-column.h"
#include "flam-value-text.h"

#include <glib/gi18n.h>

#define TIGHT_WIDTH 84

/* --- rows ----------------------------------------------------------------- */

#define FLAM_TYPE_SITE_ROW (flam_site_row_get_type ())
G_DECLARE_FINAL_TYPE (FlamSiteRow, flam_site_row, FLAM, SITE_ROW, GObject)

struct _FlamSiteRow
{
  GObject parent_instance;
  FlamMemorySummary *memory;
  guint function;
  const FlamAmounts *amounts; /* the memory's */
};

G_DEFINE_FINAL_TYPE (FlamSiteRow, flam_site_row, G_TYPE_OBJECT)

static void
flam_site_row_finalize (GObject *object)
{
  flam_memory_summary_unref (FLAM_SITE_ROW (object)->memory);
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
site_row_new (FlamMemorySummary *memory,
              guint function,
              const FlamAmounts *amounts)
{
  FlamSiteRow *self = g_object_new (FLAM_TYPE_SITE_ROW, NULL);

  self->memory = flam_memory_summary_ref (memory);
  self->function = function;
  self->amounts = amounts;
  return self;
}

static FlamNodeId
row_node (FlamSiteRow *row)
{
  return row->memory->function[row->function].node;
}

static const char *
row_name (gpointer data)
{
  FlamSiteRow *row = data;

  return flam_tree_name (row->memory->tree, row_node (row));
}

/* --- columns -------------------------------------------------------------- */

/* A figure's column is its FlamMemoryColumn. */
#define COLUMN_NAME FLAM_MEMORY_N_COLUMNS

static double
figure_of (gpointer data, guint column)
{
  FlamSiteRow *row = data;
  const FlamAmount *part = row->amounts->part;
  const FlamAmount *made = &part[FLAM_MEMORY_ALLOCATED];

  switch ((FlamMemoryColumn)column)
    {
    case FLAM_MEMORY_COLUMN_ALLOCATED:
      return (double)made->bytes;
    case FLAM_MEMORY_COLUMN_BLOCKS:
      return (double)made->blocks;
    case FLAM_MEMORY_COLUMN_TEMPORARY:
      return made->blocks > 0 ? (double)part[FLAM_MEMORY_TEMPORARY].blocks /
                                    (double)made->blocks
                              : -1;
    case FLAM_MEMORY_COLUMN_PEAK:
      return (double)part[FLAM_MEMORY_PEAK].bytes;
    case FLAM_MEMORY_COLUMN_LEAKED:
      return (double)part[FLAM_MEMORY_LEAKED].bytes;
    case FLAM_MEMORY_N_COLUMNS:
    default:
      g_return_val_if_reached (0);
    }
}

/* The number of blocks of a figure, if the text of its cell lacks it; NULL:
 * unknown. */
static char *
blocks_of (FlamSiteRow *row, FlamMemoryPart part)
{
  return flam_memory_summary_knows (row->memory, part, FALSE)
             ? flam_value_text_blocks (row->amounts->part[part].blocks)
             : NULL;
}

static char *
cell_text (gpointer data, guint column, char **tooltip)
{
  FlamSiteRow *row = data;

  if (column == COLUMN_NAME)
    *tooltip = flam_format_visible (row_name (row));
  else if (column == FLAM_MEMORY_COLUMN_ALLOCATED)
    *tooltip = blocks_of (row, FLAM_MEMORY_ALLOCATED);
  else if (column == FLAM_MEMORY_COLUMN_TEMPORARY)
    *tooltip = blocks_of (row, FLAM_MEMORY_TEMPORARY);
  else if (column == FLAM_MEMORY_COLUMN_PEAK)
    *tooltip = blocks_of (row, FLAM_MEMORY_PEAK);
  else if (column == FLAM_MEMORY_COLUMN_LEAKED)
    *tooltip = blocks_of (row, FLAM_MEMORY_LEAKED);
  return column == COLUMN_NAME
             ? flam_format_folded_name (row_name (row))
             : flam_format_amounts (row->memory, row->amounts, column);
}

static const FlamTextColumns columns = {
  COLUMN_NAME,
  row_name,
  cell_text,
  figure_of,
};

/* --- the view ------------------------------------------------------------- */

struct _FlamSitesView
{
  FlamTablePage parent_instance;

  FlamMemoryModel *model;

  GtkToggleButton *self_button;
  GtkToggleButton *total_button;
  GtkColumnView *view;
  GtkColumnViewColumn *figure[FLAM_MEMORY_N_COLUMNS]; /* the view's */
  guint first;                                        /* of the shown ones */
  GtkLabel *none;
};

G_DEFINE_FINAL_TYPE (FlamSitesView, flam_sites_view, FLAM_TYPE_TABLE_PAGE)

/* Figures that are missing from the capture get no column. */
static void
choose_columns (FlamSitesView *self, const FlamMemorySummary *memory)
{
  guint first = FLAM_MEMORY_N_COLUMNS;

  for (guint i = FLAM_MEMORY_N_COLUMNS; i-- > 0;)
    {
      gboolean has = flam_memory_summary_has_column (memory, i);

      flam_columns_set_wanted (self->figure[i], has);
      if (has)
        first = i;
    }
  if (first < FLAM_MEMORY_N_COLUMNS && first != self->first)
    flam_columns_sort (self->view, self->figure[first]);
  self->first = first;
}

static void
fill (FlamSitesView *self)
{
  FlamMemorySummary *memory = flam_memory_model_get (self->model);
  gboolean total = gtk_toggle_button_get_active (self->total_button);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; memory != NULL && i < memory->n_functions; i++)
    {
      const FlamAmounts *amounts =
          total ? &memory->function_total[i] : &memory->function_self[i];

      if (flam_memory_summary_has_any (memory, amounts))
        g_ptr_array_add (rows, site_row_new (memory, i, amounts));
    }
  if (memory != NULL)
    choose_columns (self, memory);
  flam_table_page_set_rows (FLAM_TABLE_PAGE (self), rows, NULL);
}

/* As a function of a tree, whose profile may have changed. */
static FlamId
function_in (FlamSiteRow *row, const FlamTree *tree)
{
  const FlamTree *of = row->memory->tree;

  return of->profile == tree->profile ? flam_tree_function (of, row_node (row))
                                      : FLAM_NONE;
}

static gboolean
is_of (gpointer row, const FlamTree *tree, FlamNodeId node)
{
  FlamFunctionId function = flam_tree_function (tree, node);

  return function != FLAM_NONE && function_in (row, tree) == function;
}

static FlamId
find (gpointer row, const FlamTree *tree)
{
  return flam_tree_find_function (tree, function_in (row, tree));
}

/* --- object --------------------------------------------------------------- */

static void
flam_sites_view_constructed (GObject *object)
{
  FlamSitesView *self = FLAM_SITES_VIEW (object);
  FlamPage *page = FLAM_PAGE (self);

  G_OBJECT_CLASS (flam_sites_view_parent_class)->constructed (object);
  self->model = flam_memory_model_of (flam_page_get_session (page));
  flam_memory_model_watch (self->model, GTK_WIDGET (self));
  flam_page_follow (page, self->model, "notify::memory", G_CALLBACK (fill));
  fill (self);
}

static void
flam_sites_view_class_init (FlamSitesViewClass *klass)
{
  FlamTablePageClass *table_class = FLAM_TABLE_PAGE_CLASS (klass);
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->constructed = flam_sites_view_constructed;
  table_class->is_of = is_of;
  table_class->find = find;
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
  static const struct
  {
    guint column;
    const char *title;
    int tight;
  } shown[] = {
    { FLAM_MEMORY_COLUMN_ALLOCATED, N_ ("Allocated"), TIGHT_WIDTH },
    { FLAM_MEMORY_COLUMN_BLOCKS, N_ ("Blocks"), 0 },
    { FLAM_MEMORY_COLUMN_TEMPORARY, N_ ("Temporary"), 0 },
    { FLAM_MEMORY_COLUMN_PEAK, N_ ("At the Peak"), 0 },
    { FLAM_MEMORY_COLUMN_LEAKED, N_ ("Leaked"), TIGHT_WIDTH },
    { COLUMN_NAME, N_ ("Function"), 0 },
  };

  flam_columns_prepare (self->view);
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    {
      GtkColumnViewColumn *column = flam_text_column_add (self->view,
                                                          &columns,
                                                          shown[i].column,
                                                          _ (shown[i].title),
                                                          shown[i].tight);

      if (shown[i].column != COLUMN_NAME)
        self->figure[shown[i].column] = column;
    }
}

static void
flam_sites_view_init (FlamSitesView *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->first = FLAM_MEMORY_N_COLUMNS;
  fill_columns (self);
  flam_table_page_set_table (FLAM_TABLE_PAGE (self), self->view, self->none);
  g_signal_connect_swapped (
      self->total_button, "toggled", G_CALLBACK (fill), self);
}
