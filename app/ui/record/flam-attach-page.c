/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-attach-page.h"

#include "flam-core-picture.h"
#include "flam-platform.h"
#include "flam-process-feed.h"
#include "flam-row-scroll.h"
#include "flam-widget.h"

#include <glib/gi18n.h>

struct _FlamAttachPage
{
  GtkWidget parent_instance;

  char *host;            /* NULL: this machine */
  FlamProcessFeed *feed; /* while the page is shown */
  GPtrArray *read;       /* the newest list, or NULL */
  GListStore *processes;
  GtkCustomFilter *filter;
  GtkMultiSelection *selection;

  GtkSearchEntry *search;
  GtkButton *refresh;
  GtkListView *list;
  GtkLabel *nothing;
  GtkCheckButton *children;
};

#define INDENT 18 /* pixels a level of the trees */
#define DEEPEST 6 /* level that is indented further */

enum
{
  SIGNAL_CHANGED,
  SIGNAL_ACTIVATED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (FlamAttachPage, flam_attach_page, GTK_TYPE_WIDGET)

GPtrArray *
flam_attach_page_get_processes (FlamAttachPage *self)
{
  GPtrArray *chosen = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GtkBitset) set = NULL;
  guint64 n;

  g_return_val_if_fail (FLAM_IS_ATTACH_PAGE (self), chosen);
  set =
      gtk_selection_model_get_selection (GTK_SELECTION_MODEL (self->selection));
  n = gtk_bitset_get_size (set);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (FlamProcess) process = g_list_model_get_item (
          G_LIST_MODEL (self->selection), gtk_bitset_get_nth (set, i));

      if (process != NULL && process->reason == NULL)
        g_ptr_array_add (chosen, g_steal_pointer (&process));
    }
  return chosen;
}

GtkWidget *
flam_attach_page_get_children (FlamAttachPage *self)
{
  g_return_val_if_fail (FLAM_IS_ATTACH_PAGE (self), NULL);
  return GTK_WIDGET (self->children);
}

void
flam_attach_page_begin (FlamAttachPage *self)
{
  g_return_if_fail (FLAM_IS_ATTACH_PAGE (self));
  gtk_widget_grab_focus (GTK_WIDGET (self->search));
}

static void
tell (FlamAttachPage *self, const char *text)
{
  gtk_label_set_label (self->nothing, text);
  gtk_widget_set_visible (GTK_WIDGET (self->nothing), TRUE);
}

/* Once processes are known and none of them is listed. */
static void
tell_if_empty (FlamAttachPage *self)
{
  if (g_list_model_get_n_items (G_LIST_MODEL (self->processes)) == 0)
    return;
  gtk_widget_set_visible (GTK_WIDGET (self->nothing), FALSE);
  if (g_list_model_get_n_items (G_LIST_MODEL (self->selection)) == 0)
    tell (self,
          _ ("No process matches. New processes appear here as they start."));
}

/* The descendants of the selected processes, without these themselves. */
static void
count_children (FlamAttachPage *self)
{
  g_autoptr (GPtrArray) chosen = flam_attach_page_get_processes (self);
  g_autofree char *text = NULL;
  guint n = 0;

  for (guint i = 0; i < chosen->len; i++)
    n += ((FlamProcess *)chosen->pdata[i])->n_below;
  if (n == 0)
    text = g_strdup (_ ("Also record child processes"));
  else if (chosen->len > 1)
    text = g_strdup (_ ("Also record their child processes"));
  else
    text = g_strdup_printf (ngettext ("Also record its %u child process",
                                      "Also record its %u child processes",
                                      n),
                            n);
  gtk_check_button_set_label (self->children, text);
}

static void
replace (FlamAttachPage *self, const GPtrArray *list)
{
  g_list_store_splice (
      self->processes,
      0,
      g_list_model_get_n_items (G_LIST_MODEL (self->processes)),
      list->pdata,
      list->len);
}

/* The one with the number, at `at`; NULL: none. */
static FlamProcess *
find_process (FlamAttachPage *self, int pid, guint *at)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->processes));

  for (*at = 0; *at < n; ++*at)
    {
      g_autoptr (FlamProcess) process =
          g_list_model_get_item (G_LIST_MODEL (self->processes), *at);

      if (process->pid == pid)
        return process;
    }
  return NULL;
}

/* Rows keep their places, so that nobody chooses another one by mistake: ended
 * processes leave, new ones come after their parents, or first. */
static void
renew (FlamAttachPage *self, const GPtrArray *list)
{
  GListModel *model = G_LIST_MODEL (self->processes);
  g_autoptr (GHashTable) now = g_hash_table_new (NULL, NULL);
  guint at;

  for (guint i = 0; i < list->len; i++)
    {
      FlamProcess *process = list->pdata[i];
      g_hash_table_insert (now, GINT_TO_POINTER (process->pid), process);
    }
  for (guint i = g_list_model_get_n_items (model); i-- > 0;)
    {
      g_autoptr (FlamProcess) process = g_list_model_get_item (model, i);
      FlamProcess *same =
          g_hash_table_lookup (now, GINT_TO_POINTER (process->pid));

      if (same == NULL || same->began != process->began)
        g_list_store_remove (self->processes, i);
      else
        flam_process_update (process, same);
    }
  for (guint i = 0; i < list->len; i++)
    {
      FlamProcess *process = list->pdata[i];

      if (find_process (self, process->pid, &at) != NULL)
        continue;
      if (process->depth > 0 && find_process (self, process->parent, &at))
        at++;
      else
        at = 0;
      g_list_store_insert (self->processes, at, process);
    }
}

static guint64
count_selected (FlamAttachPage *self)
{
  g_autoptr (GtkBitset) set =
      gtk_selection_model_get_selection (GTK_SELECTION_MODEL (self->selection));

  return gtk_bitset_get_size (set);
}

static void
take_list (GPtrArray *list, const GError *error, gpointer data)
{
  FlamAttachPage *self = data;
  guint64 before = count_selected (self);

  g_clear_pointer (&self->read, g_ptr_array_unref);
  if (error != NULL)
    {
      g_autofree char *shown = flam_message_sentence (error->message);

      g_list_store_remove_all (self->processes);
      tell (self, shown);
    }
  else
    {
      self->read = g_ptr_array_ref (list);
      if (g_list_model_get_n_items (G_LIST_MODEL (self->processes)) == 0)
        replace (self, list);
      else
        renew (self, list);
    }
  tell_if_empty (self);
  count_children (self);
  if (count_selected (self) != before)
    g_signal_emit (self, signals[SIGNAL_CHANGED], 0);
}

static void
begin_reading (FlamAttachPage *self)
{
  g_autofree char *text = NULL;

  g_clear_pointer (&self->feed, flam_process_feed_stop);
  g_clear_pointer (&self->read, g_ptr_array_unref);
  g_list_store_remove_all (self->processes);
  gtk_widget_set_visible (GTK_WIDGET (self->nothing), FALSE);
  if (self->host != NULL)
    {
      /* Translators: a machine or a container */
      text = g_strdup_printf (_ ("Connecting to %s."), self->host);
      tell (self, text);
    }
  self->feed = flam_process_feed_start (self->host, take_list, self);
}

/* In the order of the first time; or tries again after an error. */
static void
sort_again (FlamAttachPage *self)
{
  if (self->read != NULL)
    replace (self, self->read);
  else
    begin_reading (self);
}

void
flam_attach_page_set_host (FlamAttachPage *self, const char *host)
{
  g_return_if_fail (FLAM_IS_ATTACH_PAGE (self));
  if (g_strcmp0 (self->host, host) == 0)
    return;
  g_free (self->host);
  self->host = g_strdup (host);
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    begin_reading (self);
  g_signal_emit (self, signals[SIGNAL_CHANGED], 0);
}

const char *
flam_attach_page_get_host (FlamAttachPage *self)
{
  g_return_val_if_fail (FLAM_IS_ATTACH_PAGE (self), NULL);
  return self->host;
}

static gboolean
matches (gpointer item, gpointer data)
{
  FlamAttachPage *self = data;
  FlamProcess *process = item;
  g_autofree char *text =
      g_utf8_casefold (gtk_editable_get_text (GTK_EDITABLE (self->search)), -1);
  g_autofree char *line = g_strdup_printf (
      "%s %d %s", process->name, process->pid, process->command);
  g_autofree char *folded = g_utf8_casefold (line, -1);

  return strstr (folded, text) != NULL;
}

static void
on_search (FlamAttachPage *self)
{
  gtk_filter_changed (GTK_FILTER (self->filter), GTK_FILTER_CHANGE_DIFFERENT);
  tell_if_empty (self);
}

/* Selects the first process that can be recorded, and returns how many can. */
static guint
select_first (FlamAttachPage *self)
{
  GListModel *shown = G_LIST_MODEL (self->selection);
  guint n = g_list_model_get_n_items (shown);
  guint first = GTK_INVALID_LIST_POSITION;
  guint able = 0;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (FlamProcess) process = g_list_model_get_item (shown, i);

      if (process->reason == NULL && able++ == 0)
        first = i;
    }
  if (able > 0)
    {
      gtk_selection_model_select_item (
          GTK_SELECTION_MODEL (self->selection), first, TRUE);
      flam_rows_scroll_to (GTK_WIDGET (self->list), first);
    }
  return able;
}

/* Enter in the search chooses the selected row, or the only one. If there are
 * several, it selects the first, which the next Enter chooses. */
static void
on_enter (FlamAttachPage *self)
{
  g_autoptr (GPtrArray) chosen = NULL;

  /* The entry reports what is typed only after a pause. */
  on_search (self);
  chosen = flam_attach_page_get_processes (self);
  if (chosen->len > 0 || select_first (self) == 1)
    g_signal_emit (self, signals[SIGNAL_ACTIVATED], 0);
}

/* The entry would handle Escape itself, but here it has another meaning. */
static void
on_stop_search (FlamAttachPage *self)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "window.close", NULL);
}

static void
on_selected (FlamAttachPage *self)
{
  count_children (self);
  g_signal_emit (self, signals[SIGNAL_CHANGED], 0);
}

static void
on_activate (FlamAttachPage *self)
{
  g_autoptr (GPtrArray) chosen = flam_attach_page_get_processes (self);

  if (chosen->len > 0)
    g_signal_emit (self, signals[SIGNAL_ACTIVATED], 0);
}

/* --- rows ----------------------------------------------------------------- */

static GtkWidget *
row_label (GtkWidget *box, const char *css_class, gboolean number)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), number ? 1 : 0);
  gtk_label_set_single_line_mode (GTK_LABEL (label), TRUE);
  if (!number)
    gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  if (css_class != NULL)
    gtk_widget_add_css_class (label, css_class);
  gtk_box_append (GTK_BOX (box), label);
  return label;
}

static void
row_setup (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *text = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *label;

  gtk_widget_set_hexpand (text, TRUE);
  label = row_label (text, NULL, FALSE);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_NONE);
  label = row_label (text, "caption", FALSE);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_add_css_class (label, "dim-label");
  gtk_box_append (GTK_BOX (row), text);
  label = row_label (row, "numeric", TRUE);
  gtk_label_set_width_chars (GTK_LABEL (label), 7);
  label = row_label (row, "numeric", TRUE);
  gtk_label_set_width_chars (GTK_LABEL (label), 6);
  gtk_list_item_set_child (item, row);
}

static void
show_process (GtkListItem *item)
{
  FlamProcess *process = gtk_list_item_get_item (item);
  GtkWidget *row = gtk_list_item_get_child (item);
  GtkWidget *text = gtk_widget_get_first_child (row);
  GtkWidget *name = gtk_widget_get_first_child (text);
  GtkWidget *command = gtk_widget_get_next_sibling (name);
  GtkWidget *pid = gtk_widget_get_next_sibling (text);
  GtkWidget *cpu = gtk_widget_get_next_sibling (pid);
  g_autofree char *pid_text = g_strdup_printf ("%d", process->pid);
  g_autofree char *cpu_text =
      g_strdup_printf (_ ("%.0f %%"), process->cpu * 100);
  gboolean may = process->reason == NULL;
  g_autofree char *spoken = NULL;

  gtk_widget_set_margin_start (text,
                               (int)MIN (process->depth, DEEPEST) * INDENT);
  gtk_label_set_label (GTK_LABEL (name), process->name);
  gtk_label_set_label (GTK_LABEL (command),
                       may ? process->command : process->reason);
  gtk_label_set_label (GTK_LABEL (pid), pid_text);
  gtk_label_set_label (GTK_LABEL (cpu), cpu_text);
  gtk_widget_set_tooltip_text (row, may ? process->command : process->reason);
  /* Translators: a process: name, id, share of a CPU, command line or the
   * reason why it cannot be recorded */
  spoken = g_strdup_printf (_ ("%s, process %d, %s, %s"),
                            process->name,
                            process->pid,
                            cpu_text,
                            may ? process->command : process->reason);
  flam_platform_name_row (item, spoken);
  gtk_widget_set_sensitive (row, may);
  gtk_list_item_set_selectable (item, may);
  gtk_list_item_set_activatable (item, may);
}

static void
row_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  show_process (item);
  g_signal_connect_swapped (gtk_list_item_get_item (item),
                            "changed",
                            G_CALLBACK (show_process),
                            item);
}

static void
row_unbind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  g_signal_handlers_disconnect_by_func (
      gtk_list_item_get_item (item), show_process, item);
}

/* --- object --------------------------------------------------------------- */

static void
flam_attach_page_map (GtkWidget *widget)
{
  FlamAttachPage *self = FLAM_ATTACH_PAGE (widget);

  GTK_WIDGET_CLASS (flam_attach_page_parent_class)->map (widget);
  begin_reading (self);
}

static void
flam_attach_page_unmap (GtkWidget *widget)
{
  FlamAttachPage *self = FLAM_ATTACH_PAGE (widget);

  g_clear_pointer (&self->feed, flam_process_feed_stop);
  GTK_WIDGET_CLASS (flam_attach_page_parent_class)->unmap (widget);
}

static void
flam_attach_page_dispose (GObject *object)
{
  FlamAttachPage *self = FLAM_ATTACH_PAGE (object);

  g_clear_pointer (&self->feed, flam_process_feed_stop);
  g_clear_pointer (&self->read, g_ptr_array_unref);
  g_clear_pointer (&self->host, g_free);
  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_ATTACH_PAGE);
  g_clear_object (&self->selection);
  g_clear_object (&self->filter);
  g_clear_object (&self->processes);
  G_OBJECT_CLASS (flam_attach_page_parent_class)->dispose (object);
}

static void
add_signal (guint which, const char *name)
{
  signals[which] = g_signal_new (name,
                                 FLAM_TYPE_ATTACH_PAGE,
                                 G_SIGNAL_RUN_LAST,
                                 0,
                                 NULL,
                                 NULL,
                                 NULL,
                                 G_TYPE_NONE,
                                 0);
}

static void
flam_attach_page_class_init (FlamAttachPageClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_attach_page_dispose;
  class->map = flam_attach_page_map;
  class->unmap = flam_attach_page_unmap;
  add_signal (SIGNAL_CHANGED, "changed");
  add_signal (SIGNAL_ACTIVATED, "activated");
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-attach-page.ui");
  gtk_widget_class_bind_template_child (class, FlamAttachPage, search);
  gtk_widget_class_bind_template_child (class, FlamAttachPage, refresh);
  gtk_widget_class_bind_template_child (class, FlamAttachPage, list);
  gtk_widget_class_bind_template_child (class, FlamAttachPage, nothing);
  gtk_widget_class_bind_template_child (class, FlamAttachPage, children);
}

static void
flam_attach_page_init (FlamAttachPage *self)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkFilterListModel *filtered;

  gtk_widget_init_template (GTK_WIDGET (self));
  self->processes = g_list_store_new (FLAM_TYPE_PROCESS);
  self->filter = gtk_custom_filter_new (matches, self, NULL);
  filtered =
      gtk_filter_list_model_new (G_LIST_MODEL (g_object_ref (self->processes)),
                                 GTK_FILTER (g_object_ref (self->filter)));
  self->selection = gtk_multi_selection_new (G_LIST_MODEL (filtered));
  g_signal_connect (factory, "setup", G_CALLBACK (row_setup), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (row_bind), NULL);
  g_signal_connect (factory, "unbind", G_CALLBACK (row_unbind), NULL);
  flam_platform_tab_leaves (GTK_WIDGET (self->list));
  gtk_list_view_set_factory (self->list, factory);
  g_object_unref (factory);
  gtk_list_view_set_model (self->list, GTK_SELECTION_MODEL (self->selection));
  g_signal_connect_swapped (
      self->selection, "selection-changed", G_CALLBACK (on_selected), self);
  g_signal_connect_swapped (
      self->list, "activate", G_CALLBACK (on_activate), self);
  g_signal_connect_swapped (
      self->search, "search-changed", G_CALLBACK (on_search), self);
  g_signal_connect_swapped (
      self->search, "activate", G_CALLBACK (on_enter), self);
  g_signal_connect_swapped (
      self->search, "stop-search", G_CALLBACK (on_stop_search), self);
  g_signal_connect_swapped (
      self->refresh, "clicked", G_CALLBACK (sort_again), self);
}
