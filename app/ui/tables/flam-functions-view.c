/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-functions-view.h"

#include "flam-columns-view.h"
#include "flam-core-picture.h"

#include <glib/gi18n.h>

struct _FlamFunctionsView
{
  FlamTablePage parent_instance;

  FlamSession *session; /* the page's */

  GtkDropDown *by;
  GtkButton *changes;
  GtkButton *copy;
  GtkColumnView *view;
  GtkLabel *none;
  GPtrArray *labels;          /* char*: keys, after the fixed choices */
  GtkColumnViewColumn *other; /* not referenced: the view's */
};

G_DEFINE_FINAL_TYPE (FlamFunctionsView,
                     flam_functions_view,
                     FLAM_TYPE_TABLE_PAGE)

/* --- the list, made on a worker ------------------------------------------- */

typedef struct
{
  FlamViewData *view_data;
  FlamViewData *upright; /* the same, upright */
  FlamFunctionRow *rows;
  guint n;
} List;

static void
list_free (gpointer data)
{
  List *list = data;

  g_clear_pointer (&list->view_data, flam_view_data_unref);
  g_clear_pointer (&list->upright, flam_view_data_unref);
  g_free (list->rows);
  g_free (list);
}

static List *
list_new (FlamViewData *view_data)
{
  List *list = g_new0 (List, 1);

  list->view_data = flam_view_data_ref (view_data);
  return list;
}

static gpointer
list_work (gpointer data, const FlamProgress *progress, GError **error)
{
  List *input = data;
  List *list = list_new (input->view_data);

  list->upright = flam_view_data_upright (input->view_data, progress, error);
  if (list->upright == NULL)
    {
      list_free (list);
      return NULL;
    }
  list->rows =
      flam_functions_new_whole (list->upright->tree, FLAM_SORT_SELF, &list->n);
  return list;
}

static void
list_done (gpointer result, const GError *error, gpointer data)
{
  FlamFunctionsView *self = data;
  List *list = result;
  g_autoptr (GPtrArray) rows = NULL;

  if (list == NULL)
    return;
  rows = g_ptr_array_new_full (list->n, g_object_unref);
  for (guint i = 0; i < list->n; i++)
    g_ptr_array_add (
        rows, flam_tree_row_new_function (list->upright, &list->rows[i]));
  flam_table_page_set_rows (
      FLAM_TABLE_PAGE (self), rows, list->view_data->tree);
  list_free (list);
}

static void
fill (FlamPage *page)
{
  FlamFunctionsView *self = FLAM_FUNCTIONS_VIEW (page);
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  g_autoptr (GPtrArray) none = g_ptr_array_new ();

  flam_columns_update_other (self->other, view_data);
  if (view_data == NULL)
    flam_table_page_set_rows (FLAM_TABLE_PAGE (self), none, NULL);
  else
    flam_page_start (
        page, list_work, list_new (view_data), list_free, list_free, list_done);
}

/* --- the function of a row ------------------------------------------------ */

static const char *
get_name (gpointer row)
{
  return flam_tree_row_get_name (row);
}

/* Samples without a stack have a row, too. */
static gboolean
is_without_stack (gpointer row)
{
  return flam_tree_row_get_node (row) == 0 &&
         !flam_tree_row_get_view_data (row)->tree->rooted;
}

static gboolean
is_of (gpointer row, const FlamTree *tree, FlamNodeId node)
{
  return !is_without_stack (row) &&
         flam_tree_is_same (flam_tree_row_get_view_data (row)->tree,
                            flam_tree_row_get_node (row),
                            tree,
                            node);
}

static FlamId
find (gpointer row, const FlamTree *tree)
{
  FlamId top;

  if (is_without_stack (row))
    return 0;
  if (!flam_by_has_tops (tree->by))
    return flam_tree_find_same (flam_tree_row_get_view_data (row)->tree,
                                flam_tree_row_get_node (row),
                                tree);
  top = flam_tree_find_name (tree, get_name (row));
  return top != FLAM_NONE ? top : 0;
}

/* --- rows, and rows as text ----------------------------------------------- */

/* The fixed choices, in the order of FlamBy; then the capture's labels. */
#define N_ALWAYS (FLAM_BY_ADDRESS + 1)

static guint
index_of (FlamFunctionsView *self, const FlamSelection *selection)
{
  if (selection->by != FLAM_BY_LABEL)
    return selection->by;
  for (guint i = 0; i < self->labels->len; i++)
    if (strcmp (self->labels->pdata[i], selection->by_label) == 0)
      return N_ALWAYS + i;
  return GTK_INVALID_LIST_POSITION;
}

static void
on_by (FlamFunctionsView *self)
{
  const FlamSelection *now = flam_session_get_selection (self->session);
  guint place = gtk_drop_down_get_selected (self->by);
  FlamSelection *selection;

  if (now == NULL || place == index_of (self, now) ||
      place >= N_ALWAYS + self->labels->len)
    return;
  selection = flam_selection_copy (now);
  selection->by = place < N_ALWAYS ? place : FLAM_BY_LABEL;
  selection->by_label =
      place < N_ALWAYS
          ? NULL
          : g_intern_string (self->labels->pdata[place - N_ALWAYS]);
  flam_session_select (self->session, selection);
}

static void
show_by (FlamFunctionsView *self)
{
  const FlamSelection *selection = flam_session_get_selection (self->session);

  if (selection != NULL)
    gtk_drop_down_set_selected (self->by, index_of (self, selection));
}

static void
show_labels (FlamFunctionsView *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);
  GtkStringList *list = GTK_STRING_LIST (gtk_drop_down_get_model (self->by));
  g_autoptr (GArray) keys = NULL;

  if (self->labels->len == 0 && (profile == NULL || profile->labels.n == 0))
    return;
  gtk_string_list_splice (list, N_ALWAYS, self->labels->len, NULL);
  g_ptr_array_set_size (self->labels, 0);
  if (profile != NULL)
    keys = flam_sample_labels_keys (profile);
  for (guint i = 0; keys != NULL && i < keys->len; i++)
    {
      const char *key =
          flam_profile_string (profile, g_array_index (keys, FlamId, i));
      g_autofree char *visible = flam_format_visible (key);
      /* Translators: rows are values of a label: "Label: tenant" */
      g_autofree char *text = g_strdup_printf (_ ("Label: %s"), visible);

      g_ptr_array_add (self->labels, g_strdup (key));
      gtk_string_list_append (list, text);
    }
  show_by (self);
}

static void
on_copy (FlamFunctionsView *self)
{
  flam_columns_copy_rows (self->view);
}

/* A comparison has its own table, with before, now and change. */
static void
on_changes (FlamFunctionsView *self)
{
  g_signal_emit_by_name (self->session, "show-changes");
}

static void
update_changes (FlamFunctionsView *self)
{
  FlamBaseline *baseline = flam_session_get_baseline (self->session);

  gtk_widget_set_visible (GTK_WIDGET (self->changes),
                          flam_baseline_get_kind (baseline) !=
                              FLAM_BASELINE_NONE);
}

/* --- object --------------------------------------------------------------- */

static void
flam_functions_view_constructed (GObject *object)
{
  FlamFunctionsView *self = FLAM_FUNCTIONS_VIEW (object);

  G_OBJECT_CLASS (flam_functions_view_parent_class)->constructed (object);
  self->session = flam_page_get_session (FLAM_PAGE (self));
  flam_columns_set_session (self->view, self->session);
  flam_page_follow (FLAM_PAGE (self),
                    self->session,
                    "notify::selection",
                    G_CALLBACK (show_by));
  flam_page_follow (FLAM_PAGE (self),
                    self->session,
                    "notify::profile",
                    G_CALLBACK (show_labels));
  flam_page_follow (FLAM_PAGE (self),
                    flam_session_get_baseline (self->session),
                    "changed",
                    G_CALLBACK (update_changes));
  show_labels (self);
  show_by (self);
  update_changes (self);
}

static void
flam_functions_view_finalize (GObject *object)
{
  g_ptr_array_unref (FLAM_FUNCTIONS_VIEW (object)->labels);
  G_OBJECT_CLASS (flam_functions_view_parent_class)->finalize (object);
}

static void
flam_functions_view_class_init (FlamFunctionsViewClass *klass)
{
  FlamTablePageClass *table_class = FLAM_TABLE_PAGE_CLASS (klass);
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->constructed = flam_functions_view_constructed;
  G_OBJECT_CLASS (klass)->finalize = flam_functions_view_finalize;
  FLAM_PAGE_CLASS (klass)->fill = fill;
  table_class->get_name = get_name;
  table_class->is_of = is_of;
  table_class->find = find;
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-functions-view.ui");
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, by);
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, changes);
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, copy);
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, view);
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, none);
}

static void
fill_columns (FlamFunctionsView *self)
{
  GtkColumnViewColumn *own;

  flam_columns_prepare (self->view);
  own = flam_columns_add_cost (self->view, FLAM_COST_SELF, TRUE);
  flam_columns_add_cost (self->view, FLAM_COST_TOTAL, TRUE);
  self->other = flam_columns_add_other (self->view, TRUE);
  flam_columns_add_name (self->view, FALSE, TRUE);
  flam_columns_add_module (self->view, TRUE);
  flam_columns_sort (self->view, own);
}

static void
flam_functions_view_init (FlamFunctionsView *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->labels = g_ptr_array_new_with_free_func (g_free);
  fill_columns (self);
  flam_table_page_set_table (FLAM_TABLE_PAGE (self), self->view, self->none);
  g_signal_connect_swapped (
      self->by, "notify::selected", G_CALLBACK (on_by), self);
  g_signal_connect_swapped (
      self->changes, "clicked", G_CALLBACK (on_changes), self);
  g_signal_connect_swapped (self->copy, "clicked", G_CALLBACK (on_copy), self);
}
