/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-functions-view.h"

#include "flam-callers-view.h"
#include "flam-columns-view.h"
#include "flam-core-picture.h"
#include "flam-function-figures.h"
#include "flam-widget.h"
#include "flam-wrap-layout.h"

#include <glib/gi18n.h>

/* In a page narrower than this, callers and callees are below the list; the
 * second width is for lists of many columns. */
#define BESIDE_WIDTH 760
#define BESIDE_WIDE_WIDTH 1400
/* In a narrower one, those of the chosen function are not repeated. */
#define FIGURES_WIDTH 420

typedef struct
{
  FlamViewData *view_data;
  FlamViewData *upright; /* the same, upright */
  FlamFunctionRow *rows;
  guint n;
} List;

struct _FlamFunctionsView
{
  FlamTablePage parent_instance;

  FlamSession *session; /* the page's */
  List *list;           /* the one that is shown, or NULL */
  FlamJob *job;         /* computes its figures */
  FlamFunctionFigures *figures;
  FlamCallersView *callers; /* the panes' */
  guint turning;            /* the source that turns the panes, or 0 */
  gboolean placed;          /* the panes have been turned once */
  guint placing;            /* the tick that places the divider, or 0 */
  guint frames;             /* since the panes were turned */
  gboolean wide;            /* the list has many columns */

  GtkDrawingArea *ruler;
  GtkPaned *panes;
  GtkDropDown *by;
  GtkBox *sides;
  GtkToggleButton *total_button;
  GtkButton *changes;
  GtkButton *copy;
  GtkColumnView *view;
  GtkLabel *none;
  GPtrArray *labels;          /* char*: keys, after the fixed choices */
  GtkColumnViewColumn *other; /* not referenced: the view's */
  GtkColumnViewColumn *columns[FLAM_FIGURE_COLUMNS]; /* likewise */
};

G_DEFINE_FINAL_TYPE (FlamFunctionsView,
                     flam_functions_view,
                     FLAM_TYPE_TABLE_PAGE)

/* --- the list, made on a worker ------------------------------------------- */

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
show_rows (FlamFunctionsView *self)
{
  const List *list = self->list;
  FlamFunctionFigures *figures = self->figures;
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; list != NULL && i < list->n; i++)
    g_ptr_array_add (
        rows,
        figures != NULL
            ? flam_tree_row_new_listed (
                  list->upright, &list->rows[i], figures, i)
            : flam_tree_row_new_function (list->upright, &list->rows[i]));
  for (guint i = 0; figures != NULL && i < figures->n_further; i++)
    {
      FlamFunctionRow row = flam_function_figures_further (figures, i);

      g_ptr_array_add (rows,
                       flam_tree_row_new_listed (
                           figures->further, &row, figures, figures->n + i));
    }
  flam_table_page_set_rows (FLAM_TABLE_PAGE (self),
                            rows,
                            list != NULL ? list->view_data->tree : NULL);
}

static void queue_turn (FlamFunctionsView *self);

static void
take_figures (FlamFunctionsView *self, FlamFunctionFigures *figures)
{
  g_clear_pointer (&self->figures, flam_function_figures_unref);
  self->figures = figures;
  self->wide = flam_function_figures_are_wide (figures);
  if (figures != NULL)
    figures->with_callees = gtk_toggle_button_get_active (self->total_button);
  if (self->list != NULL)
    flam_function_figures_choose_columns (
        self->columns,
        figures,
        flam_view_data_get_measure (self->list->view_data));
  gtk_widget_set_visible (GTK_WIDGET (self->sides),
                          figures != NULL && figures->memory != NULL);
  queue_turn (self);
}

static gpointer
figures_work (gpointer data, const FlamProgress *progress, GError **error)
{
  const List *list = data;

  return flam_function_figures_new (
      list->upright, list->rows, list->n, progress, error);
}

static void
figures_done (gpointer result, const GError *error, gpointer data)
{
  FlamFunctionsView *self = data;

  if (result == NULL)
    return;
  take_figures (self, result);
  show_rows (self);
}

/* The list is shown before its figures are known. The previous list's figures
 * keep their columns meanwhile. */
static void
list_done (gpointer result, const GError *error, gpointer data)
{
  FlamFunctionsView *self = data;
  List *list = result;
  List *input;

  if (list == NULL)
    return;
  g_clear_pointer (&self->list, list_free);
  self->list = list;
  if (!flam_function_figures_are_known (list->upright->profile,
                                        list->upright->selection))
    {
      take_figures (self, NULL);
      show_rows (self);
      return;
    }
  g_clear_pointer (&self->figures, flam_function_figures_unref);
  show_rows (self);
  input = list_new (list->view_data);
  input->upright = flam_view_data_ref (list->upright);
  input->rows = g_memdup2 (list->rows, list->n * sizeof *list->rows);
  input->n = list->n;
  flam_job_start (self->job,
                  figures_work,
                  input,
                  list_free,
                  (GDestroyNotify)flam_function_figures_unref,
                  figures_done,
                  self);
}

static void
fill (FlamPage *page)
{
  FlamFunctionsView *self = FLAM_FUNCTIONS_VIEW (page);
  FlamViewData *view_data = flam_session_get_view_data (self->session);

  flam_job_cancel (self->job);
  /* The columns of memory have blocks and bytes of all functions. */
  flam_columns_update_other (self->other,
                             view_data != NULL && view_data->selection->by !=
                                                      FLAM_BY_FUNCTION
                                 ? view_data
                                 : NULL);
  if (view_data == NULL)
    {
      g_clear_pointer (&self->list, list_free);
      take_figures (self, NULL);
      show_rows (self);
    }
  else
    flam_page_start (
        page, list_work, list_new (view_data), list_free, list_free, list_done);
}

/* The rows read the figures again. */
static void
on_sides (FlamFunctionsView *self)
{
  if (self->figures == NULL)
    return;
  self->figures->with_callees =
      gtk_toggle_button_get_active (self->total_button);
  show_rows (self);
}

/* --- callers and callees -------------------------------------------------- */

/* Once the panes are allocated in their new orientation: GtkPaned scales a
 * position that is set before by the length of the other one. */
static gboolean
place_divider (GtkWidget *panes, GdkFrameClock *clock, gpointer data)
{
  FlamFunctionsView *self = data;
  gboolean below = gtk_orientable_get_orientation (GTK_ORIENTABLE (panes)) ==
                   GTK_ORIENTATION_VERTICAL;

  if (self->frames++ == 0)
    return G_SOURCE_CONTINUE;
  gtk_paned_set_position (self->panes,
                          below ? gtk_widget_get_height (panes) * 55 / 100
                                : gtk_widget_get_width (panes) * 55 / 100);
  self->placing = 0;
  return G_SOURCE_REMOVE;
}

static gboolean
turn (gpointer data)
{
  FlamFunctionsView *self = data;
  int width = gtk_widget_get_width (GTK_WIDGET (self->ruler));
  gboolean below = width < (self->wide ? BESIDE_WIDE_WIDTH : BESIDE_WIDTH);
  GtkOrientation orientation =
      below ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL;

  self->turning = 0;
  if (width <= 1)
    return G_SOURCE_REMOVE;
  /* The list and the status bar have these figures, too. */
  flam_callers_view_show_figures (
      self->callers,
      below &&
          width >= FIGURES_WIDTH * flam_widget_text_scale (GTK_WIDGET (self)));
  if (self->placed && orientation == gtk_orientable_get_orientation (
                                         GTK_ORIENTABLE (self->panes)))
    return G_SOURCE_REMOVE;
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self->panes), orientation);
  flam_callers_view_set_wide (self->callers, below);
  self->placed = TRUE;
  self->frames = 0;
  if (self->placing == 0)
    self->placing = gtk_widget_add_tick_callback (
        GTK_WIDGET (self->panes), place_divider, self, NULL);
  return G_SOURCE_REMOVE;
}

/* Not while the page is being allocated. */
static void
queue_turn (FlamFunctionsView *self)
{
  if (self->turning == 0)
    self->turning = g_idle_add_full (G_PRIORITY_HIGH_IDLE, turn, self, NULL);
}

static gboolean
keeps_row (FlamTablePage *page)
{
  return flam_callers_view_is_choosing (FLAM_FUNCTIONS_VIEW (page)->callers);
}

void
flam_functions_view_show_callers (FlamFunctionsView *self)
{
  g_return_if_fail (FLAM_IS_FUNCTIONS_VIEW (self));
  flam_callers_view_show_current (self->callers);
  flam_page_begin (FLAM_PAGE (self->callers));
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
  if (node == 0 || is_without_stack (row))
    return node == 0 && is_without_stack (row);
  return flam_tree_is_same (flam_tree_row_get_view_data (row)->tree,
                            flam_tree_row_get_node (row),
                            tree,
                            node);
}

static FlamId
find (gpointer row, const FlamTree *tree)
{
  const FlamTree *of = flam_tree_row_get_view_data (row)->tree;
  FlamId found;

  if (is_without_stack (row))
    return 0;
  if (flam_by_has_tops (tree->by) && of->profile != tree->profile)
    return flam_tree_find_name (tree, get_name (row));
  found = flam_tree_find_same (of, flam_tree_row_get_node (row), tree);
  return found != 0 ? found : FLAM_NONE;
}

/* A function that only has figures of other measures is shown without a stack,
 * too. */
static void
chose_none (FlamTablePage *page, gpointer row)
{
  FlamFunctionsView *self = FLAM_FUNCTIONS_VIEW (page);

  if (!is_without_stack (row))
    flam_session_set_current_of (self->session,
                                 0,
                                 flam_tree_row_get_view_data (row),
                                 flam_tree_row_get_node (row));
  flam_callers_view_show_none (self->callers);
}

/* --- rows, and rows as text ----------------------------------------------- */

/* The fixed choices, in the order of FlamBy; then the capture's labels. */
#define N_ALWAYS (FLAM_BY_PROCESS + 1)

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
  self->callers =
      g_object_new (FLAM_TYPE_CALLERS_VIEW, "session", self->session, NULL);
  gtk_paned_set_end_child (self->panes, GTK_WIDGET (self->callers));
  g_signal_connect_object (self->callers,
                           "centered",
                           G_CALLBACK (flam_table_page_show_current),
                           self,
                           G_CONNECT_SWAPPED);
  show_labels (self);
  show_by (self);
  update_changes (self);
}

static void
flam_functions_view_dispose (GObject *object)
{
  FlamFunctionsView *self = FLAM_FUNCTIONS_VIEW (object);

  flam_job_cancel (self->job);
  if (self->turning != 0)
    g_source_remove (self->turning);
  self->turning = 0;
  if (self->placing != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self->panes), self->placing);
  self->placing = 0;
  G_OBJECT_CLASS (flam_functions_view_parent_class)->dispose (object);
  g_clear_pointer (&self->figures, flam_function_figures_unref);
  g_clear_pointer (&self->list, list_free);
}

static void
flam_functions_view_finalize (GObject *object)
{
  FlamFunctionsView *self = FLAM_FUNCTIONS_VIEW (object);

  g_object_unref (self->job);
  g_ptr_array_unref (self->labels);
  G_OBJECT_CLASS (flam_functions_view_parent_class)->finalize (object);
}

static void
flam_functions_view_class_init (FlamFunctionsViewClass *klass)
{
  FlamTablePageClass *table_class = FLAM_TABLE_PAGE_CLASS (klass);
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->constructed = flam_functions_view_constructed;
  G_OBJECT_CLASS (klass)->dispose = flam_functions_view_dispose;
  G_OBJECT_CLASS (klass)->finalize = flam_functions_view_finalize;
  FLAM_PAGE_CLASS (klass)->fill = fill;
  table_class->get_name = get_name;
  table_class->is_of = is_of;
  table_class->find = find;
  table_class->keeps_row = keeps_row;
  table_class->chose_none = chose_none;
  g_type_ensure (FLAM_TYPE_WRAP_LAYOUT);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-functions-view.ui");
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, ruler);
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, panes);
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, by);
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, sides);
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, total_button);
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
  flam_function_figures_add_columns (self->view, self->columns);
  flam_columns_add_name (self->view, FALSE, TRUE);
  flam_columns_add_module (self->view, TRUE);
  flam_columns_sort (self->view, own);
}

static void
flam_functions_view_init (FlamFunctionsView *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->labels = g_ptr_array_new_with_free_func (g_free);
  self->job = flam_job_new ();
  fill_columns (self);
  flam_table_page_set_table (FLAM_TABLE_PAGE (self), self->view, self->none);
  g_signal_connect_swapped (
      self->by, "notify::selected", G_CALLBACK (on_by), self);
  g_signal_connect_swapped (
      self->changes, "clicked", G_CALLBACK (on_changes), self);
  g_signal_connect_swapped (
      self->total_button, "toggled", G_CALLBACK (on_sides), self);
  g_signal_connect_swapped (
      self->ruler, "resize", G_CALLBACK (queue_turn), self);
  g_signal_connect_swapped (self->copy, "clicked", G_CALLBACK (on_copy), self);
}
