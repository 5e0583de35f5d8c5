/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-path-bar.h"

#include "flam-core-picture.h"
#include "flam-frame-drag.h"
#include "flam-path-chips.h"
#include "flam-transforms.h"
#include "flam-widget.h"

#include <glib/gi18n.h>

#define NAME_MAX_CHARS 28
#define CRUMBS_WIDE 5
#define CRUMBS_NARROW 1
#define SKIPPED_MAX 200

struct _FlamPathBar
{
  GtkWidget parent_instance;

  FlamSession *session;
  gboolean narrow;
  guint update_id;
  gboolean chips_stale;
  gboolean waits; /* for the end of a zoom's animation */

  GtkScrolledWindow *path_scroller;
  GtkScrolledWindow *chip_scroller;
  GtkBox *path;
  GtkBox *chips;
  /* In the path; NULL: not needed yet. */
  GtkWidget *all, *skipped_arrow, *skipped;
  GtkWidget *arrows[CRUMBS_WIDE], *crumbs[CRUMBS_WIDE];
  GtkButton *undo;
};

G_DEFINE_FINAL_TYPE (FlamPathBar, flam_path_bar, GTK_TYPE_WIDGET)

/* --- path ----------------------------------------------------------------- */

static void
on_crumb (GtkButton *button, FlamPathBar *self)
{
  FlamNodeId node =
      GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "node"));
  GtkWidget *popover =
      gtk_widget_get_ancestor (GTK_WIDGET (button), GTK_TYPE_POPOVER);

  if (popover != NULL)
    gtk_popover_popdown (GTK_POPOVER (popover));
  flam_session_set_current (self->session, node);
  flam_session_set_zoom (self->session, node);
}

static FlamDraggedFrame
frame_of_crumb (GtkWidget *button, gpointer data)
{
  FlamPathBar *self = data;
  const FlamTree *tree = flam_session_get_tree (self->session);
  FlamNodeId node =
      GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "node"));
  FlamDraggedFrame frame = { .tree = NULL };

  if (tree != NULL && node < tree->n)
    frame = (FlamDraggedFrame){ tree,
                                flam_functions_row_of_node (tree, node),
                                TRUE };
  return frame;
}

static void
set_class (GtkWidget *widget, const char *class, gboolean wanted)
{
  if (wanted == gtk_widget_has_css_class (widget, class))
    return;
  if (wanted)
    gtk_widget_add_css_class (widget, class);
  else
    gtk_widget_remove_css_class (widget, class);
}

static const char *
crumb_name (const FlamTree *tree, FlamNodeId node)
{
  return node == 0 ? _ ("All") : flam_tree_name (tree, node);
}

static void
set_crumb (FlamPathBar *self,
           const FlamTree *tree,
           GtkWidget *button,
           FlamNodeId node)
{
  FlamNodeId zoom = flam_session_get_zoom (self->session);
  g_autofree char *shown =
      flam_format_short_name (crumb_name (tree, node), NAME_MAX_CHARS);

  g_object_set_data (G_OBJECT (button), "node", GUINT_TO_POINTER (node));
  gtk_button_set_label (GTK_BUTTON (button), shown);
  set_class (button, "flam-zoomed", node == zoom);
  set_class (button,
             "dim-label",
             node != zoom && !flam_tree_is_ancestor (tree, node, zoom));
  gtk_widget_set_visible (button, TRUE);
}

/* The tooltip is queried on demand: GTK asks the display server for the
 * pointer's position whenever a tooltip is set. */
static gboolean
on_query_crumb (GtkWidget *button,
                int x,
                int y,
                gboolean by_keyboard,
                GtkTooltip *tooltip,
                FlamPathBar *self)
{
  FlamDraggedFrame frame = frame_of_crumb (button, self);
  g_autofree char *name = NULL;

  if (frame.tree == NULL)
    return FALSE;
  name = flam_format_visible (crumb_name (frame.tree, frame.row.node));
  gtk_tooltip_set_text (tooltip, name);
  return TRUE;
}

static GtkWidget *
crumb (FlamPathBar *self, const FlamTree *tree, FlamNodeId node)
{
  GtkWidget *button = gtk_button_new_with_label ("");

  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "flam-crumb");
  set_crumb (self, tree, button, node);
  gtk_widget_set_has_tooltip (button, TRUE);
  g_signal_connect (button, "query-tooltip", G_CALLBACK (on_query_crumb), self);
  g_signal_connect (button, "clicked", G_CALLBACK (on_crumb), self);
  flam_frame_drag_add (button, frame_of_crumb, self);
  return button;
}

static GtkWidget *
arrow_new (void)
{
  GtkWidget *arrow = gtk_label_new ("›");

  gtk_widget_add_css_class (arrow, "dim-label");
  gtk_accessible_update_state (
      GTK_ACCESSIBLE (arrow), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);
  return arrow;
}

/* Filled only when it is opened: it may have two hundred entries, and the path
 * changes with each click. */
static void
fill_skipped (GtkMenuButton *button, gpointer data)
{
  FlamPathBar *self = data;
  const GArray *nodes = g_object_get_data (G_OBJECT (button), "nodes");
  const FlamTree *tree = flam_session_get_tree (self->session);
  GtkWidget *list = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *popover = gtk_popover_new ();

  for (guint i = 0; i < nodes->len; i++)
    {
      FlamNodeId node = g_array_index (nodes, FlamId, i);
      GtkWidget *one;

      if (tree == NULL || node >= tree->n)
        break;
      one = crumb (self, tree, node);
      gtk_label_set_xalign (GTK_LABEL (gtk_button_get_child (GTK_BUTTON (one))),
                            0);
      gtk_box_append (GTK_BOX (list), one);
    }
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), list);
  gtk_scrolled_window_set_policy (
      GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (
      GTK_SCROLLED_WINDOW (scroller), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scroller),
                                              400);
  gtk_popover_set_child (GTK_POPOVER (popover), scroller);
  gtk_menu_button_set_popover (button, popover);
}

static void
show_skipped (FlamPathBar *self, const FlamNodeId *nodes, guint n)
{
  GArray *kept;

  if (n > 0 && self->skipped == NULL)
    {
      self->skipped_arrow = arrow_new ();
      self->skipped = gtk_menu_button_new ();
      gtk_menu_button_set_create_popup_func (
          GTK_MENU_BUTTON (self->skipped), fill_skipped, self, NULL);
      gtk_menu_button_set_label (GTK_MENU_BUTTON (self->skipped), "…");
      gtk_menu_button_set_has_frame (GTK_MENU_BUTTON (self->skipped), FALSE);
      gtk_widget_set_tooltip_text (self->skipped, _ ("Callers between"));
      gtk_accessible_update_property (GTK_ACCESSIBLE (self->skipped),
                                      GTK_ACCESSIBLE_PROPERTY_LABEL,
                                      _ ("Callers between"),
                                      -1);
      gtk_box_insert_child_after (self->path, self->skipped_arrow, self->all);
      gtk_box_insert_child_after (
          self->path, self->skipped, self->skipped_arrow);
    }
  if (self->skipped == NULL)
    return;
  kept = g_array_sized_new (FALSE, FALSE, sizeof (FlamId), n);
  g_array_append_vals (kept, nodes, n);
  g_object_set_data_full (
      G_OBJECT (self->skipped), "nodes", kept, (GDestroyNotify)g_array_unref);
  gtk_widget_set_visible (self->skipped_arrow, n > 0);
  gtk_widget_set_visible (self->skipped, n > 0);
}

static void
show_crumb (FlamPathBar *self,
            const FlamTree *tree,
            guint place,
            FlamNodeId node)
{
  if (self->crumbs[place] != NULL)
    set_crumb (self, tree, self->crumbs[place], node);
  else
    {
      self->arrows[place] = arrow_new ();
      self->crumbs[place] = crumb (self, tree, node);
      gtk_box_append (self->path, self->arrows[place]);
      gtk_box_append (self->path, self->crumbs[place]);
    }
  gtk_widget_set_visible (self->arrows[place], TRUE);
}

static void
hide_crumbs (FlamPathBar *self, guint from)
{
  for (guint i = from; i < CRUMBS_WIDE && self->crumbs[i] != NULL; i++)
    {
      gtk_widget_set_visible (self->arrows[i], FALSE);
      gtk_widget_set_visible (self->crumbs[i], FALSE);
    }
}

/* All widgets are kept: creating one costs more than changing its text, and the
 * keyboard presses a button for a quarter of a second, during which a removed
 * button does nothing. */
static void
show_path (FlamPathBar *self, const FlamTree *tree, FlamNodeId node)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (FlamId));
  guint last = self->narrow ? CRUMBS_NARROW : CRUMBS_WIDE;
  guint first, skip;

  for (; node != 0 && node != FLAM_NONE; node = tree->parent[node])
    g_array_append_val (nodes, node);
  for (guint i = 0; i < nodes->len / 2; i++)
    {
      FlamId *a = &g_array_index (nodes, FlamId, i);
      FlamId *b = &g_array_index (nodes, FlamId, nodes->len - 1 - i);
      FlamId t = *a;
      *a = *b;
      *b = t;
    }
  if (self->all == NULL)
    {
      self->all = crumb (self, tree, 0);
      gtk_box_append (self->path, self->all);
    }
  set_crumb (self, tree, self->all, 0);
  first = nodes->len > last ? nodes->len - last : 0;
  skip = first > SKIPPED_MAX ? first - SKIPPED_MAX : 0;
  show_skipped (self, (const FlamId *)nodes->data + skip, first - skip);
  for (guint i = first; i < nodes->len; i++)
    show_crumb (self, tree, i - first, g_array_index (nodes, FlamId, i));
  hide_crumbs (self, nodes->len - first);
}

/* --- updates -------------------------------------------------------------- */

static void
update_undo (FlamPathBar *self, const FlamSelection *selection)
{
  const FlamSelection *before = flam_session_get_undo (self->session);
  g_autofree char *step = NULL;
  g_autofree char *text = NULL;

  gtk_widget_set_visible (GTK_WIDGET (self->undo), before != NULL);
  if (before == NULL || selection == NULL)
    return;
  step = flam_transforms_describe_step (before, selection);
  /* Translators: what the button will undo: "focus: main" */
  text = g_strdup_printf (_ ("Undo %s (U)"), step);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->undo), text);
}

static void
scroll_to_end (FlamPathBar *self)
{
  GtkAdjustment *adjustment =
      gtk_scrolled_window_get_hadjustment (self->path_scroller);

  gtk_adjustment_set_value (adjustment, gtk_adjustment_get_upper (adjustment));
}

static void
update_chips (FlamPathBar *self)
{
  self->chips_stale = FALSE;
  flam_path_chips_show (self->chips, self->session);
  gtk_widget_set_visible (
      GTK_WIDGET (self->chip_scroller),
      gtk_widget_get_first_child (GTK_WIDGET (self->chips)) != NULL);
  update_undo (self, flam_session_get_selection (self->session));
}

static gboolean
update (gpointer data)
{
  FlamPathBar *self = data;
  const FlamTree *tree = flam_session_get_tree (self->session);
  FlamId current = flam_session_get_current (self->session);

  self->update_id = 0;
  self->waits = flam_session_is_moving (self->session);
  if (self->waits)
    return G_SOURCE_REMOVE;
  gtk_widget_set_visible (GTK_WIDGET (self->path), tree != NULL);
  if (tree != NULL)
    show_path (self,
               tree,
               current != 0 ? current : flam_session_get_zoom (self->session));
  if (self->chips_stale)
    update_chips (self);
  return G_SOURCE_REMOVE;
}

/* Zoom, current frame and view data often change together; and a chip that was
 * clicked must not be freed during its own click. */
static void
queue_update (FlamPathBar *self)
{
  if (self->update_id == 0)
    self->update_id = g_idle_add_full (G_PRIORITY_DEFAULT, update, self, NULL);
}

static void
on_moving (FlamPathBar *self)
{
  if (self->waits)
    update (self);
}

static void
queue_update_all (FlamPathBar *self)
{
  self->chips_stale = TRUE;
  queue_update (self);
}

void
flam_path_bar_set_narrow (FlamPathBar *self, gboolean narrow)
{
  g_return_if_fail (FLAM_IS_PATH_BAR (self));
  self->narrow = narrow;
  queue_update (self);
}

void
flam_path_bar_set_session (FlamPathBar *self, FlamSession *session)
{
  static const struct
  {
    const char *signal;
    void (*queue) (FlamPathBar *self);
  } notifies[] = {
    { "notify::view-data", queue_update_all },
    { "notify::selection", queue_update_all },
    { "notify::zoom", queue_update },
    { "notify::current", queue_update },
    { "notify::moving", on_moving },
  };

  g_return_if_fail (FLAM_IS_PATH_BAR (self));
  self->session = g_object_ref (session);
  for (guint i = 0; i < G_N_ELEMENTS (notifies); i++)
    g_signal_connect_object (session,
                             notifies[i].signal,
                             G_CALLBACK (notifies[i].queue),
                             self,
                             G_CONNECT_SWAPPED);
  g_signal_connect_object (flam_session_get_baseline (session),
                           "changed",
                           G_CALLBACK (queue_update_all),
                           self,
                           G_CONNECT_SWAPPED);
  queue_update_all (self);
}

static void
flam_path_bar_dispose (GObject *object)
{
  FlamPathBar *self = FLAM_PATH_BAR (object);

  g_clear_handle_id (&self->update_id, g_source_remove);
  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_PATH_BAR);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_path_bar_parent_class)->dispose (object);
}

static void
flam_path_bar_class_init (FlamPathBarClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_path_bar_dispose;
  gtk_widget_class_set_css_name (class, "flampath");
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-path-bar.ui");
  gtk_widget_class_bind_template_child (class, FlamPathBar, path_scroller);
  gtk_widget_class_bind_template_child (class, FlamPathBar, chip_scroller);
  gtk_widget_class_bind_template_child (class, FlamPathBar, path);
  gtk_widget_class_bind_template_child (class, FlamPathBar, chips);
  gtk_widget_class_bind_template_child (class, FlamPathBar, undo);
}

static void
flam_path_bar_init (FlamPathBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (
      gtk_scrolled_window_get_hadjustment (self->path_scroller),
      "notify::upper",
      G_CALLBACK (scroll_to_end),
      self);
}
