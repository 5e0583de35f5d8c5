/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The pages of a capture: the available ones, and the visible one. */

#include "flam-capture-view-private.h"

#include "flam-functions-view.h"
#include "flam-memory-model.h"
#include "flam-page-table.h"
#include "flam-settings.h"

#include <adwaita.h>
#include <glib/gi18n.h>

/* --- available pages ------------------------------------------------------ */

/* The stack has a bin for each page, and a page is created when it is first
 * shown: creating all of them took an eighth of the time in which a window
 * starts. */
static GtkWidget *
page_of (FlamCaptureView *self, const FlamPageRow *row)
{
  AdwBin *bin = ADW_BIN (gtk_stack_get_child_by_name (self->pages, row->id));

  if (adw_bin_get_child (bin) == NULL)
    {
      GtkWidget *page =
          g_object_new (row->type (), "session", self->session, NULL);

      if (row->plot != NULL)
        flam_plot_page_set_kind (FLAM_PLOT_PAGE (page), row->plot);
      adw_bin_set_child (bin, page);
    }
  return adw_bin_get_child (bin);
}

FlamGraphView *
flam_capture_pages_graph (FlamCaptureView *self)
{
  return FLAM_GRAPH_VIEW (page_of (self, &flam_page_table[0]));
}

void
flam_capture_view_travel (FlamCaptureView *self, gboolean forward)
{
  FlamFlameGraph *graph;

  g_return_if_fail (FLAM_IS_CAPTURE_VIEW (self));
  graph = flam_graph_view_get_graph (flam_capture_pages_graph (self));
  if (forward)
    flam_flame_graph_forward (graph);
  else
    flam_flame_graph_back (graph);
}

void
flam_capture_pages_update_switcher (FlamCaptureView *self)
{
  gboolean menu = self->room.narrow || (self->room.tight && self->memory_pages);

  gtk_widget_set_visible (GTK_WIDGET (self->switcher), !menu);
  gtk_widget_set_visible (GTK_WIDGET (self->page_menu), menu);
}

/* The available pages; the menu's rows are the table's. */
static void
show_pages (FlamCaptureView *self, gboolean of_memory)
{
  g_autoptr (GtkStringList) titles = gtk_string_list_new (NULL);
  guint shown = 0;

  for (guint i = 0; i < flam_n_pages; i++)
    {
      GtkWidget *child =
          gtk_stack_get_child_by_name (self->pages, flam_page_table[i].id);
      gboolean visible = of_memory || !flam_page_table[i].of_memory;

      flam_page_switcher_set_shown (
          self->switcher, flam_page_table[i].id, visible);
      if (visible)
        gtk_string_list_append (titles, _ (flam_page_table[i].title));
      else if (child == gtk_stack_get_visible_child (self->pages))
        gtk_stack_set_visible_child_name (self->pages, flam_page_table[0].id);
      if (child == gtk_stack_get_visible_child (self->pages))
        shown = i;
      gtk_stack_page_set_visible (gtk_stack_get_page (self->pages, child),
                                  visible);
    }
  /* A new model starts at its first row. */
  gtk_drop_down_set_model (self->page_menu, G_LIST_MODEL (titles));
  gtk_drop_down_set_selected (self->page_menu, shown);
}

static void
update_pages (FlamCaptureView *self)
{
  gboolean of_memory = flam_memory_model_is_wanted (self->session);

  if (of_memory == self->memory_pages)
    return;
  self->memory_pages = of_memory;
  flam_capture_pages_update_switcher (self);
  show_pages (self, of_memory);
}

/* The row of the page that is shown. */
static guint
visible_page (FlamCaptureView *self)
{
  const char *name = gtk_stack_get_visible_child_name (self->pages);
  guint page = 0;

  for (guint i = 0; i < flam_n_pages; i++)
    if (g_strcmp0 (name, flam_page_table[i].id) == 0)
      page = i;
  return page;
}

void
flam_capture_pages_grab_focus (FlamCaptureView *self)
{
  flam_page_begin (
      FLAM_PAGE (page_of (self, &flam_page_table[visible_page (self)])));
}

static void
show_page (FlamCaptureView *self, const char *id)
{
  flam_session_set_page (self->session, id);
  flam_capture_pages_grab_focus (self);
}

void
flam_capture_view_show_page (FlamCaptureView *self, int page)
{
  g_return_if_fail (FLAM_IS_CAPTURE_VIEW (self));
  if (page >= 0 && page < (int)flam_n_pages &&
      (!flam_page_table[page].of_memory ||
       flam_memory_model_is_wanted (self->session)))
    show_page (self, flam_page_table[page].id);
}

static void
on_show_callers (FlamCaptureView *self)
{
  show_page (self, "functions");
  flam_functions_view_show_callers (FLAM_FUNCTIONS_VIEW (
      page_of (self, &flam_page_table[visible_page (self)])));
}

static void
on_show_changes (FlamCaptureView *self)
{
  show_page (self, "difference");
}

/* The session can now reach the Functions page, and tells it what to show. */
static void
on_baseline_changed (FlamCaptureView *self)
{
  for (guint i = 0; i < flam_n_pages; i++)
    if (flam_page_table[i].of_baseline)
      page_of (self, &flam_page_table[i]);
}

static void
on_baseline_started (FlamCaptureView *self)
{
  flam_capture_pages_grab_focus (self);
}

/* --- the session's page --------------------------------------------------- */

static void
on_page (FlamCaptureView *self)
{
  GtkWidget *child = gtk_stack_get_child_by_name (
      self->pages, flam_session_get_page (self->session));

  if (child != NULL &&
      gtk_stack_page_get_visible (gtk_stack_get_page (self->pages, child)))
    gtk_stack_set_visible_child (self->pages, child);
}

static void
setup_page (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_list_item_set_child (item, label);
}

static void
bind_page (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  gtk_label_set_text (
      GTK_LABEL (gtk_list_item_get_child (item)),
      gtk_string_object_get_string (gtk_list_item_get_item (item)));
}

/* The button is shortened in a narrow window; the list keeps its own rows,
 * which have a check mark. */
static void
shorten_page_menu (FlamCaptureView *self)
{
  g_autoptr (GtkListItemFactory) short_one =
      gtk_signal_list_item_factory_new ();

  g_signal_connect (short_one, "setup", G_CALLBACK (setup_page), NULL);
  g_signal_connect (short_one, "bind", G_CALLBACK (bind_page), NULL);
  gtk_drop_down_set_list_factory (self->page_menu,
                                  gtk_drop_down_get_factory (self->page_menu));
  gtk_drop_down_set_factory (self->page_menu, short_one);
}

static void
on_page_menu (FlamCaptureView *self)
{
  guint page = gtk_drop_down_get_selected (self->page_menu);

  if (page < flam_n_pages)
    flam_session_set_page (self->session, flam_page_table[page].id);
}

static gboolean
has_flames (void)
{
  g_autofree char *direction =
      g_settings_get_string (flam_settings_get (), FLAM_KEY_DIRECTION);

  return flam_settings_get_shape () == FLAM_SHAPE_FLAME &&
         strcmp (direction, "icicle") != 0;
}

/* The search bar is over the top of the page. Flames seldom reach it;
 * everything else moves down. */
static void
make_room (FlamCaptureView *self)
{
  FlamGraphView *graph = flam_capture_pages_graph (self);
  int height = flam_search_bar_get_height (self->search_bar);
  gboolean over = visible_page (self) == 0 && has_flames ();

  gtk_widget_set_margin_top (GTK_WIDGET (self->pages), over ? 0 : height);
  flam_graph_view_set_covered (graph, over ? height : 0);
}

static void
on_visible_page (FlamCaptureView *self)
{
  const FlamPageRow *row = &flam_page_table[visible_page (self)];

  page_of (self, row);
  flam_session_set_page (self->session, row->id);
  gtk_drop_down_set_selected (self->page_menu, visible_page (self));
  flam_status_bar_set_legend (self->status_bar, row->legend);
  make_room (self);
}

const char *
flam_capture_view_get_topic (FlamCaptureView *self)
{
  g_return_val_if_fail (FLAM_IS_CAPTURE_VIEW (self), NULL);
  return flam_page_table[visible_page (self)].topic;
}

/* --- all ------------------------------------------------------------------ */

static void
follow (FlamCaptureView *self, gpointer of, const char *signal, GCallback f)
{
  g_signal_connect_object (of, signal, f, self, G_CONNECT_SWAPPED);
}

void
flam_capture_pages_fill (FlamCaptureView *self)
{
  flam_page_switcher_set_stack (self->switcher, self->pages);
  for (guint i = 0; i < flam_n_pages; i++)
    {
      gtk_stack_add_titled (self->pages,
                            adw_bin_new (),
                            flam_page_table[i].id,
                            _ (flam_page_table[i].title));
      flam_page_switcher_add (self->switcher,
                              flam_page_table[i].id,
                              _ (flam_page_table[i].title),
                              flam_page_table[i].in_menu);
    }
  self->memory_pages = flam_memory_model_is_wanted (self->session);
  show_pages (self, self->memory_pages);
  on_page (self);
  on_visible_page (self);
  follow (
      self, self->pages, "notify::visible-child", G_CALLBACK (on_visible_page));
  follow (self, self->search_bar, "height-changed", G_CALLBACK (make_room));
  follow (self,
          flam_settings_get (),
          "changed::" FLAM_KEY_DIRECTION,
          G_CALLBACK (make_room));
  follow (self,
          flam_settings_get (),
          "changed::" FLAM_KEY_SHAPE,
          G_CALLBACK (make_room));
  shorten_page_menu (self);
  follow (self, self->page_menu, "notify::selected", G_CALLBACK (on_page_menu));
  follow (self, self->session, "notify::page", G_CALLBACK (on_page));
  follow (self, self->session, "notify::selection", G_CALLBACK (update_pages));
  follow (self, self->session, "show-callers", G_CALLBACK (on_show_callers));
  follow (self, self->session, "show-changes", G_CALLBACK (on_show_changes));
  follow (self,
          flam_session_get_baseline (self->session),
          "started",
          G_CALLBACK (on_baseline_started));
  follow (self,
          flam_session_get_baseline (self->session),
          "changed",
          G_CALLBACK (on_baseline_changed));
}
