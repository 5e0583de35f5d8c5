/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-tree-row.h"

#include "flam-core-query.h"
#include "flam-flame-graph.h"

struct _FlamTreeRow
{
  GObject parent_instance;
  FlamViewData *view_data;
  FlamFunctionRow row;
  FlamFunctionFigures *figures; /* or NULL */
  guint index;                  /* of its figures */
};

G_DEFINE_FINAL_TYPE (FlamTreeRow, flam_tree_row, G_TYPE_OBJECT)

static void
flam_tree_row_finalize (GObject *object)
{
  FlamTreeRow *self = FLAM_TREE_ROW (object);

  flam_view_data_unref (self->view_data);
  g_clear_pointer (&self->figures, flam_function_figures_unref);
  G_OBJECT_CLASS (flam_tree_row_parent_class)->finalize (object);
}

static void
flam_tree_row_class_init (FlamTreeRowClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_tree_row_finalize;
}

static void
flam_tree_row_init (FlamTreeRow *self)
{
}

FlamTreeRow *
flam_tree_row_new_function (FlamViewData *view_data, const FlamFunctionRow *row)
{
  FlamTreeRow *self = g_object_new (FLAM_TYPE_TREE_ROW, NULL);

  self->view_data = flam_view_data_ref (view_data);
  self->row = *row;
  return self;
}

FlamTreeRow *
flam_tree_row_new_listed (FlamViewData *view_data,
                          const FlamFunctionRow *row,
                          FlamFunctionFigures *figures,
                          guint index)
{
  FlamTreeRow *self = flam_tree_row_new_function (view_data, row);

  self->figures = flam_function_figures_ref (figures);
  self->index = index;
  return self;
}

static FlamTreeRow *
tree_row_new (FlamViewData *view_data, FlamNodeId node)
{
  const FlamFunctionRow row =
      flam_functions_row_of_node (view_data->tree, node);

  return flam_tree_row_new_function (view_data, &row);
}

FlamViewData *
flam_tree_row_get_view_data (FlamTreeRow *self)
{
  return self->view_data;
}

FlamNodeId
flam_tree_row_get_node (FlamTreeRow *self)
{
  return self->row.node;
}

gint64
flam_tree_row_get_self (FlamTreeRow *self)
{
  return self->row.self;
}

gint64
flam_tree_row_get_total (FlamTreeRow *self)
{
  return self->row.total;
}

gint64
flam_tree_row_get_other (FlamTreeRow *self)
{
  return self->row.other_total;
}

const FlamFunctionRow *
flam_tree_row_get_row (FlamTreeRow *self)
{
  return &self->row;
}

const FlamFunctionFigures *
flam_tree_row_get_figures (FlamTreeRow *self, guint *index)
{
  *index = self->index;
  return self->figures;
}

const char *
flam_tree_row_get_name (FlamTreeRow *self)
{
  const FlamTree *tree = self->view_data->tree;

  /* Only the list of functions has a row for the root. */
  return self->row.node == 0 ? flam_functions_name (tree, 0)
                             : flam_graph_name (tree, self->row.node);
}

#define FLAM_TYPE_TREE_CHILDREN (flam_tree_children_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamTreeChildren, flam_tree_children, FLAM, TREE_CHILDREN, GObject)

struct _FlamTreeChildren
{
  GObject parent_instance;
  FlamViewData *view_data;
  GArray *nodes; /* FlamId */
};

static GType
children_get_item_type (GListModel *model)
{
  return FLAM_TYPE_TREE_ROW;
}

static guint
children_get_n_items (GListModel *model)
{
  return FLAM_TREE_CHILDREN (model)->nodes->len;
}

static gpointer
children_get_item (GListModel *model, guint position)
{
  FlamTreeChildren *self = FLAM_TREE_CHILDREN (model);

  if (position >= self->nodes->len)
    return NULL;
  return tree_row_new (self->view_data,
                       g_array_index (self->nodes, FlamId, position));
}

static void
children_iface_init (GListModelInterface *iface)
{
  iface->get_item_type = children_get_item_type;
  iface->get_n_items = children_get_n_items;
  iface->get_item = children_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (FlamTreeChildren,
                               flam_tree_children,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL,
                                                      children_iface_init))

static void
flam_tree_children_finalize (GObject *object)
{
  FlamTreeChildren *self = FLAM_TREE_CHILDREN (object);

  flam_view_data_unref (self->view_data);
  g_array_unref (self->nodes);
  G_OBJECT_CLASS (flam_tree_children_parent_class)->finalize (object);
}

static void
flam_tree_children_class_init (FlamTreeChildrenClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_tree_children_finalize;
}

static void
flam_tree_children_init (FlamTreeChildren *self)
{
  self->nodes = g_array_new (FALSE, FALSE, sizeof (FlamId));
}

GListModel *
flam_tree_row_children (FlamViewData *view_data, FlamNodeId node)
{
  const FlamTree *tree = view_data->tree;
  FlamNodeId child = flam_tree_first_child (tree, node);
  FlamTreeChildren *self;

  if (child == FLAM_NONE)
    return NULL;
  self = g_object_new (FLAM_TYPE_TREE_CHILDREN, NULL);
  self->view_data = flam_view_data_ref (view_data);
  for (; child != FLAM_NONE; child = flam_tree_next_sibling (tree, child))
    g_array_append_val (self->nodes, child);
  return G_LIST_MODEL (self);
}
