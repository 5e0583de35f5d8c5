/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-thread-selector.h"

#include "flam-platform.h"
#include "flam-thread-row.h"
#include "flam-widget.h"

#include <glib/gi18n.h>

#define STRIP_BUCKETS 144

struct _FlamThreadSelector
{
  GtkWidget parent_instance;

  FlamSession *session;
  FlamJob *job;
  FlamTimeline *timeline;
  GListStore *roots;      /* of one GListStore of FlamThreadItem, or none */
  GtkTreeListModel *tree; /* not referenced: the list has it */
  GPtrArray *rows;        /* FlamThreadRow that are bound; not referenced */
  gint64 whole;

  GtkMenuButton *button;
  GtkLabel *label;
  GtkPopover *popover;
  GtkSearchEntry *search;
  GtkButton *reset;
  GtkListView *list;
};

G_DEFINE_FINAL_TYPE (FlamThreadSelector, flam_thread_selector, GTK_TYPE_WIDGET)

/* --- selection ------------------------------------------------------------ */

static gboolean
is_shown (FlamThreadSelector *self, FlamThreadItem *item)
{
  const FlamSelection *selection = flam_session_get_selection (self->session);
  const FlamThreadId *threads;
  guint32 n;

  if (selection == NULL || selection->threads == NULL)
    return TRUE;
  threads = flam_thread_item_get_threads (item, &n);
  for (guint32 i = 0; i < n; i++)
    if (!flam_selection_has_thread (selection, threads[i]))
      return FALSE;
  return TRUE;
}

/* While all threads are shown, choosing one selects only that one; after that,
 * choices add and remove threads, down to the last. */
static void
toggle (FlamThreadSelector *self, FlamThreadItem *item)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);
  const FlamSelection *before = flam_session_get_selection (self->session);
  FlamSelection *after = flam_selection_copy (before);
  g_autofree gboolean *keep = g_new0 (gboolean, (gsize)profile->threads.n + 1);
  gboolean all = before->threads == NULL;
  gboolean shown = is_shown (self, item);
  const FlamThreadId *threads;
  guint32 n_threads;
  guint n = 0;

  for (FlamId i = 0; !all && i < profile->threads.n; i++)
    keep[i] = flam_selection_has_thread (before, i);
  threads = flam_thread_item_get_threads (item, &n_threads);
  for (guint32 i = 0; i < n_threads; i++)
    keep[threads[i]] = all || !shown;
  flam_selection_no_threads (after);
  for (FlamId i = 0; i < profile->threads.n; i++)
    if (keep[i])
      {
        flam_selection_add_thread (after, i);
        n++;
      }
  if (n == profile->threads.n)
    flam_selection_all_threads (after);
  flam_session_select (self->session, after);
}

static void show_items (FlamThreadSelector *self);

static void
on_row_toggled (FlamThreadRow *row, FlamThreadSelector *self)
{
  toggle (self, flam_thread_row_get_item (row));
}

static void
on_activate (GtkListView *list, guint position, FlamThreadSelector *self)
{
  g_autoptr (GtkTreeListRow) row = g_list_model_get_item (
      G_LIST_MODEL (gtk_list_view_get_model (list)), position);
  g_autoptr (FlamThreadItem) item =
      row != NULL ? gtk_tree_list_row_get_item (row) : NULL;

  if (item != NULL)
    toggle (self, item);
}

static void
on_reset (FlamThreadSelector *self)
{
  FlamSelection *selection =
      flam_selection_copy (flam_session_get_selection (self->session));

  flam_selection_all_threads (selection);
  flam_session_select (self->session, selection);
}

/* Enter in the search selects exactly the listed threads. */
static void
on_enter (FlamThreadSelector *self)
{
  FlamSelection *selection =
      flam_selection_copy (flam_session_get_selection (self->session));
  GListModel *listed;
  guint n = 0;

  show_items (self);
  listed = G_LIST_MODEL (gtk_list_view_get_model (self->list));
  flam_selection_no_threads (selection);
  for (guint i = 0; i < g_list_model_get_n_items (listed); i++)
    {
      g_autoptr (GtkTreeListRow) row = g_list_model_get_item (listed, i);
      g_autoptr (FlamThreadItem) item = gtk_tree_list_row_get_item (row);

      if (item->thread == FLAM_NONE)
        continue;
      flam_selection_add_thread (selection, item->thread);
      n++;
    }
  if (n == 0)
    {
      flam_selection_free (selection);
      return;
    }
  if (n == flam_session_get_profile (self->session)->threads.n)
    flam_selection_all_threads (selection);
  flam_session_select (self->session, selection);
  gtk_popover_popdown (self->popover);
}

/* The process whose threads alone are selected, and all of them; else
 * FLAM_NONE. */
static FlamId
process_of (const FlamProfile *profile, const FlamSelection *selection)
{
  const FlamThreads *threads = &profile->threads;
  FlamId process =
      threads->process[g_array_index (selection->threads, FlamId, 0)];
  guint n = 0;

  for (FlamId t = 0; t < threads->n; t++)
    if (threads->process[t] == process)
      n++;
  for (guint i = 0; i < selection->threads->len; i++)
    if (threads->process[g_array_index (selection->threads, FlamId, i)] !=
        process)
      return FLAM_NONE;
  return n == selection->threads->len ? process : FLAM_NONE;
}

static void
update_label (FlamThreadSelector *self)
{
  const FlamSelection *selection = flam_session_get_selection (self->session);
  const FlamProfile *profile = flam_session_get_profile (self->session);
  gboolean some = selection != NULL && selection->threads != NULL;
  guint n = some ? selection->threads->len : 0;
  g_autofree char *text = NULL;
  g_autofree char *spoken = NULL;

  if (some && n == 0)
    text = g_strdup (_ ("No threads"));
  else if (n == 0)
    text = g_strdup (_ ("All threads"));
  else if (n == 1)
    {
      FlamThreadId thread = g_array_index (selection->threads, FlamId, 0);
      g_autoptr (FlamThreadItem) item = flam_thread_item_new (
          profile, profile->threads.process[thread], thread, 0);
      text = g_strdup (item->name);
    }
  else if (process_of (profile, selection) != FLAM_NONE)
    {
      g_autoptr (FlamThreadItem) item = flam_thread_item_new (
          profile, process_of (profile, selection), FLAM_NONE, 0);
      text = g_strdup (item->name);
    }
  else
    text = g_strdup_printf (ngettext ("%u thread", "%u threads", n), n);
  gtk_label_set_label (self->label, text);
  spoken = g_strdup_printf (_ ("Threads: %s"), text);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self->button), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken, -1);
  gtk_widget_set_sensitive (GTK_WIDGET (self->reset), some);
  gtk_widget_set_sensitive (GTK_WIDGET (self->button),
                            profile != NULL && profile->threads.n > 0);
}

static void
update_checks (FlamThreadSelector *self)
{
  for (guint i = 0; i < self->rows->len; i++)
    {
      FlamThreadItem *item = flam_thread_row_get_item (self->rows->pdata[i]);
      if (item != NULL)
        flam_thread_row_set_active (self->rows->pdata[i],
                                    is_shown (self, item));
    }
}

static void
on_selection (FlamThreadSelector *self)
{
  update_label (self);
  update_checks (self);
}

/* --- activity strips ------------------------------------------------------ */

typedef struct
{
  FlamViewData *view_data;
  FlamTimeline *before;
} StripsInput;

static void
strips_input_free (gpointer data)
{
  StripsInput *input = data;

  flam_view_data_unref (input->view_data);
  g_clear_pointer (&input->before, flam_timeline_unref);
  g_free (input);
}

static gpointer
strips_work (gpointer data, const FlamProgress *progress, GError **error)
{
  StripsInput *input = data;
  g_autoptr (FlamSelection) selection =
      flam_selection_copy (input->view_data->selection);

  flam_selection_all_threads (selection);
  return flam_timeline_new (input->view_data->profile,
                            selection,
                            input->before,
                            STRIP_BUCKETS,
                            FLAM_TIMELINE_THREADS,
                            progress,
                            error);
}

static void
strips_done (gpointer result, const GError *error, gpointer data)
{
  FlamThreadSelector *self = data;

  g_clear_pointer (&self->timeline, flam_timeline_unref);
  self->timeline = result;
  for (guint i = 0; i < self->rows->len; i++)
    flam_thread_row_set_timeline (self->rows->pdata[i], self->timeline);
}

static void
start_strips (FlamThreadSelector *self, FlamViewData *view_data)
{
  StripsInput *input = g_new0 (StripsInput, 1);

  input->view_data = flam_view_data_ref (view_data);
  if (self->timeline != NULL)
    input->before = flam_timeline_ref (self->timeline);
  flam_job_start (self->job,
                  strips_work,
                  input,
                  strips_input_free,
                  (GDestroyNotify)flam_timeline_unref,
                  strips_done,
                  self);
}

/* --- list ----------------------------------------------------------------- */

/* The ranks of a job are seen at a glance, and their threads on demand. */
static gboolean
has_groups (GListStore *roots)
{
  g_autoptr (FlamThreadItem) first =
      g_list_model_get_item (G_LIST_MODEL (roots), 0);

  return first != NULL && first->group != NULL;
}

/* The tree is made again for the search text. */
static void
show_items (FlamThreadSelector *self)
{
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  g_autofree char *search =
      g_utf8_casefold (gtk_editable_get_text (GTK_EDITABLE (self->search)), -1);
  g_autoptr (GListStore) roots = NULL;

  g_list_store_remove_all (self->roots);
  if (view_data == NULL)
    return;
  roots =
      flam_thread_items_new (view_data->profile, view_data->by_thread, search);
  gtk_tree_list_model_set_autoexpand (self->tree,
                                      *search != '\0' || !has_groups (roots));
  g_list_store_append (self->roots, roots);
}

static void
fill (FlamThreadSelector *self)
{
  FlamViewData *view_data = flam_session_get_view_data (self->session);

  self->whole = 0;
  for (FlamId i = 0; view_data != NULL && i < view_data->profile->threads.n;
       i++)
    self->whole += view_data->by_thread[i];
  show_items (self);
  if (view_data != NULL)
    start_strips (self, view_data);
}

/* The list is built when it is opened. While it is open, choosing threads must
 * not reorder it. */
static void
on_shown (FlamThreadSelector *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->search), "");
  fill (self);
}

static void
on_profile (FlamThreadSelector *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);

  g_list_store_remove_all (self->roots);
  if (self->timeline != NULL &&
      (profile == NULL ||
       !flam_profile_extends (profile, self->timeline->profile)))
    g_clear_pointer (&self->timeline, flam_timeline_unref);
  update_label (self);
}

static void
on_view_data (FlamThreadSelector *self)
{
  if (gtk_widget_get_mapped (GTK_WIDGET (self->popover)) &&
      g_list_model_get_n_items (G_LIST_MODEL (self->roots)) == 0)
    fill (self);
}

static GListModel *
children_of (gpointer object, gpointer data)
{
  FlamThreadItem *item = object;

  return item->children != NULL ? G_LIST_MODEL (g_object_ref (item->children))
                                : NULL;
}

static FlamThreadRow *
row_of (GtkListItem *item)
{
  GtkTreeExpander *expander =
      GTK_TREE_EXPANDER (gtk_list_item_get_child (item));

  return FLAM_THREAD_ROW (gtk_tree_expander_get_child (expander));
}

static void
row_setup (GtkListItemFactory *factory,
           GtkListItem *item,
           FlamThreadSelector *self)
{
  GtkWidget *expander = gtk_tree_expander_new ();
  GtkWidget *row = flam_thread_row_new ();

  g_signal_connect (row, "toggled", G_CALLBACK (on_row_toggled), self);
  gtk_tree_expander_set_child (GTK_TREE_EXPANDER (expander), row);
  gtk_widget_set_hexpand (row, TRUE);
  gtk_list_item_set_child (item, expander);
}

static void
row_bind (GtkListItemFactory *factory,
          GtkListItem *item,
          FlamThreadSelector *self)
{
  FlamThreadRow *row = row_of (item);
  GtkTreeListRow *place = gtk_list_item_get_item (item);
  g_autoptr (FlamThreadItem) thread = gtk_tree_list_row_get_item (place);
  FlamViewData *view_data = flam_session_get_view_data (self->session);

  gtk_tree_expander_set_list_row (
      GTK_TREE_EXPANDER (gtk_list_item_get_child (item)), place);
  if (view_data == NULL)
    return;
  flam_thread_row_set (row, thread, view_data, self->whole);
  flam_thread_row_set_active (row, is_shown (self, thread));
  flam_thread_row_set_timeline (row, self->timeline);
  g_ptr_array_add (self->rows, row);
}

static void
row_unbind (GtkListItemFactory *factory,
            GtkListItem *item,
            FlamThreadSelector *self)
{
  if (self->rows != NULL)
    g_ptr_array_remove_fast (self->rows, row_of (item));
  gtk_tree_expander_set_list_row (
      GTK_TREE_EXPANDER (gtk_list_item_get_child (item)), NULL);
}

/* Left and right fold and unfold the process that has the focus. */
static gboolean
on_key (FlamThreadSelector *self, guint key)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self->list));
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;
  GtkWidget *expander;
  GtkTreeListRow *place;

  if (focus == NULL || (key != GDK_KEY_Left && key != GDK_KEY_Right))
    return FALSE;
  /* The focus may be on a widget around the row or inside it. */
  expander = gtk_widget_get_ancestor (focus, GTK_TYPE_TREE_EXPANDER);
  if (expander == NULL)
    expander = gtk_widget_get_first_child (focus);
  if (expander == NULL || !GTK_IS_TREE_EXPANDER (expander))
    return FALSE;
  place = gtk_tree_expander_get_list_row (GTK_TREE_EXPANDER (expander));
  if (place != NULL)
    gtk_tree_list_row_set_expanded (place, key == GDK_KEY_Right);
  return TRUE;
}

/* --- object --------------------------------------------------------------- */

void
flam_thread_selector_open (FlamThreadSelector *self)
{
  g_return_if_fail (FLAM_IS_THREAD_SELECTOR (self));
  if (gtk_widget_get_sensitive (GTK_WIDGET (self->button)))
    gtk_menu_button_popup (self->button);
}

void
flam_thread_selector_set_session (FlamThreadSelector *self,
                                  FlamSession *session)
{
  g_return_if_fail (FLAM_IS_THREAD_SELECTOR (self));
  self->session = g_object_ref (session);
  g_signal_connect_object (session,
                           "notify::selection",
                           G_CALLBACK (on_selection),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (session,
                           "notify::profile",
                           G_CALLBACK (on_profile),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (session,
                           "notify::view-data",
                           G_CALLBACK (on_view_data),
                           self,
                           G_CONNECT_SWAPPED);
  update_label (self);
}

static void
flam_thread_selector_dispose (GObject *object)
{
  FlamThreadSelector *self = FLAM_THREAD_SELECTOR (object);

  if (self->job != NULL)
    flam_job_cancel (self->job);
  g_clear_object (&self->job);
  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_THREAD_SELECTOR);
  g_clear_object (&self->roots);
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  g_clear_pointer (&self->timeline, flam_timeline_unref);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_thread_selector_parent_class)->dispose (object);
}

static void
flam_thread_selector_class_init (FlamThreadSelectorClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_thread_selector_dispose;
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-thread-selector.ui");
  gtk_widget_class_bind_template_child (class, FlamThreadSelector, button);
  gtk_widget_class_bind_template_child (class, FlamThreadSelector, label);
  gtk_widget_class_bind_template_child (class, FlamThreadSelector, popover);
  gtk_widget_class_bind_template_child (class, FlamThreadSelector, search);
  gtk_widget_class_bind_template_child (class, FlamThreadSelector, reset);
  gtk_widget_class_bind_template_child (class, FlamThreadSelector, list);
}

static void
flam_thread_selector_init (FlamThreadSelector *self)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();
  GtkNoSelection *none;

  gtk_widget_init_template (GTK_WIDGET (self));
  self->job = flam_job_new ();
  self->rows = g_ptr_array_new ();
  self->roots = g_list_store_new (G_TYPE_LIST_MODEL);
  g_signal_connect (factory, "setup", G_CALLBACK (row_setup), self);
  g_signal_connect (factory, "bind", G_CALLBACK (row_bind), self);
  g_signal_connect (factory, "unbind", G_CALLBACK (row_unbind), self);
  self->tree =
      gtk_tree_list_model_new (G_LIST_MODEL (gtk_flatten_list_model_new (
                                   G_LIST_MODEL (g_object_ref (self->roots)))),
                               FALSE,
                               TRUE,
                               children_of,
                               NULL,
                               NULL);
  none = gtk_no_selection_new (G_LIST_MODEL (self->tree));
  flam_platform_tab_leaves (GTK_WIDGET (self->list));
  gtk_list_view_set_factory (self->list, factory);
  g_object_unref (factory);
  gtk_list_view_set_model (self->list, GTK_SELECTION_MODEL (none));
  g_object_unref (none);
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_widget_add_controller (GTK_WIDGET (self->list), keys);
  g_signal_connect (self->list, "activate", G_CALLBACK (on_activate), self);
  g_signal_connect_swapped (self->popover, "show", G_CALLBACK (on_shown), self);
  g_signal_connect_swapped (
      self->search, "search-changed", G_CALLBACK (show_items), self);
  g_signal_connect_swapped (
      self->search, "activate", G_CALLBACK (on_enter), self);
  g_signal_connect_swapped (self->search,
                            "stop-search",
                            G_CALLBACK (gtk_popover_popdown),
                            self->popover);
  g_signal_connect_swapped (
      self->reset, "clicked", G_CALLBACK (on_reset), self);
}
