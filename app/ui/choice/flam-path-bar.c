/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-path-bar.h"

#include "flam-format.h"
#include "flam-frame-drag.h"
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

  GtkScrolledWindow *path_scroller;
  GtkScrolledWindow *chip_scroller;
  GtkBox *path;
  GtkBox *chips;
  GtkButton *undo;
};

G_DEFINE_FINAL_TYPE (FlamPathBar, flam_path_bar, GTK_TYPE_WIDGET)

/* The text in the box after `first`; NULL: all. */
static void
empty (GtkBox *box, GtkWidget *first)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_last_child (GTK_WIDGET (box))) != first)
    gtk_box_remove (box, child);
}

/* --- path ----------------------------------------------------------------- */

static void
on_crumb (GtkButton *button, FlamPathBar *self)
{
  FlamId node =
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
  FlamId node =
      GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "node"));
  FlamDraggedFrame frame = { .tree = NULL };

  if (tree != NULL && node < tree->n)
    frame = (FlamDraggedFrame){
      tree, node, tree->self[node], tree->total[node], TRUE
    };
  return frame;
}

static void
style_crumb (FlamPathBar *self,
             const FlamTree *tree,
             GtkWidget *crumb,
             FlamId node)
{
  FlamId zoom = flam_session_get_zoom (self->session);

  gtk_widget_remove_css_class (crumb, "flam-zoomed");
  gtk_widget_remove_css_class (crumb, "dim-label");
  if (node == zoom)
    gtk_widget_add_css_class (crumb, "flam-zoomed");
  else if (!flam_tree_is_ancestor (tree, node, zoom))
    gtk_widget_add_css_class (crumb, "dim-label");
}

static GtkWidget *
crumb (FlamPathBar *self, const FlamTree *tree, FlamId node)
{
  const char *name = node == 0 ? _ ("All") : flam_tree_name (tree, node);
  g_autofree char *shown = flam_format_short_name (name, NAME_MAX_CHARS);
  GtkWidget *button = gtk_button_new_with_label (shown);

  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "flam-crumb");
  style_crumb (self, tree, button, node);
  gtk_widget_set_tooltip_text (button, name);
  g_object_set_data (G_OBJECT (button), "node", GUINT_TO_POINTER (node));
  g_signal_connect (button, "clicked", G_CALLBACK (on_crumb), self);
  flam_frame_drag_add (button, frame_of_crumb, self);
  return button;
}

static void
append_separator (FlamPathBar *self)
{
  GtkWidget *arrow = gtk_label_new ("›");

  gtk_widget_add_css_class (arrow, "dim-label");
  gtk_accessible_update_state (
      GTK_ACCESSIBLE (arrow), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);
  gtk_box_append (self->path, arrow);
}

/* Only when it is opened: there may be two hundred of them, and another path at
 * each click. */
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
      FlamId node = g_array_index (nodes, FlamId, i);
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

static GtkWidget *
skipped_crumbs (FlamPathBar *self, const FlamId *nodes, guint n)
{
  GtkWidget *button = gtk_menu_button_new ();
  GArray *kept = g_array_new (FALSE, FALSE, sizeof (FlamId));

  g_array_append_vals (kept, nodes, n);
  g_object_set_data_full (
      G_OBJECT (button), "nodes", kept, (GDestroyNotify)g_array_unref);
  gtk_menu_button_set_create_popup_func (
      GTK_MENU_BUTTON (button), fill_skipped, self, NULL);
  gtk_menu_button_set_label (GTK_MENU_BUTTON (button), "…");
  gtk_menu_button_set_has_frame (GTK_MENU_BUTTON (button), FALSE);
  gtk_widget_set_tooltip_text (button, _ ("Callers between"));
  return button;
}

/* It has the same meaning in every tree, and is kept: the keyboard presses a
 * button for a quarter of a second, and a removed one does nothing. */
static void
show_all_crumb (FlamPathBar *self, const FlamTree *tree)
{
  GtkWidget *all = gtk_widget_get_first_child (GTK_WIDGET (self->path));

  if (all == NULL)
    gtk_box_append (self->path, crumb (self, tree, 0));
  else
    style_crumb (self, tree, all, 0);
}

static void
show_path (FlamPathBar *self, const FlamTree *tree, FlamId node)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (FlamId));
  guint last = self->narrow ? CRUMBS_NARROW : CRUMBS_WIDE;
  guint first;

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
  show_all_crumb (self, tree);
  first = nodes->len > last ? nodes->len - last : 0;
  if (first > 0)
    {
      guint skip = first > SKIPPED_MAX ? first - SKIPPED_MAX : 0;
      append_separator (self);
      gtk_box_append (self->path,
                      skipped_crumbs (self,
                                      (const FlamId *)nodes->data + skip,
                                      first - skip));
    }
  for (guint i = first; i < nodes->len; i++)
    {
      append_separator (self);
      gtk_box_append (self->path,
                      crumb (self, tree, g_array_index (nodes, FlamId, i)));
    }
}

/* --- chips ---------------------------------------------------------------- */

/* NULL: the baseline, which is not a part of a selection. */
typedef void (*ChipRemove) (FlamSelection *selection, guint index);

static void
on_chip (GtkButton *button, FlamPathBar *self)
{
  ChipRemove remove = g_object_get_data (G_OBJECT (button), "remove");
  guint index =
      GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "index"));
  FlamSelection *selection;

  if (remove == NULL)
    {
      flam_baseline_leave (flam_session_get_baseline (self->session));
      return;
    }
  selection = flam_selection_copy (flam_session_get_selection (self->session));
  remove (selection, index);
  flam_session_select (self->session, selection);
}

static void
append_chip (FlamPathBar *self,
             const char *text,
             ChipRemove remove,
             guint index)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *label = gtk_label_new (text);
  GtkWidget *cross = gtk_image_new_from_icon_name ("window-close-symbolic");
  GtkWidget *button = gtk_button_new ();
  g_autofree char *name = g_strdup_printf (_ ("Remove: %s"), text);

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 32);
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), cross);
  gtk_button_set_child (GTK_BUTTON (button), box);
  gtk_widget_add_css_class (button, "flam-chip");
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, name);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_object_set_data (G_OBJECT (button), "remove", remove);
  g_object_set_data (G_OBJECT (button), "index", GUINT_TO_POINTER (index));
  g_signal_connect (button, "clicked", G_CALLBACK (on_chip), self);
  gtk_box_append (self->chips, button);
}

static void
remove_transform (FlamSelection *selection, guint index)
{
  g_ptr_array_remove_index (selection->transforms, index);
}

static void
remove_range (FlamSelection *selection, guint index)
{
  selection->from = G_MININT64;
  selection->to = G_MAXINT64;
}

static void
remove_invert (FlamSelection *selection, guint index)
{
  selection->invert = FALSE;
}

static void
remove_label (FlamSelection *selection, guint index)
{
  g_ptr_array_remove_index (selection->labels, index);
}

static void
remove_by (FlamSelection *selection, guint index)
{
  selection->by = FLAM_BY_FUNCTION;
}

static void
remove_recursion (FlamSelection *selection, guint index)
{
  selection->recursion = FLAM_RECURSION_OFF;
}

static void
remove_allocators (FlamSelection *selection, guint index)
{
  selection->allocators = 0;
}

static void
remove_suppressions (FlamSelection *selection, guint index)
{
  g_clear_pointer (&selection->suppressions, flam_suppressions_unref);
}

static void
show_memory_chips (FlamPathBar *self,
                   const FlamProfile *profile,
                   const FlamSelection *selection)
{
  if (profile->allocations.n == 0)
    return;
  if (selection->allocators != 0)
    append_chip (self, _ ("chosen allocators"), remove_allocators, 0);
  if (selection->suppressions != NULL)
    {
      guint n = flam_suppressions_get_n (selection->suppressions);
      g_autofree char *text = g_strdup_printf (
          ngettext ("leaks: %u suppression", "leaks: %u suppressions", n), n);

      append_chip (self, text, remove_suppressions, 0);
    }
}

static char *
range_text (const FlamProfile *profile,
            gint64 start,
            gint64 end,
            const char *format)
{
  g_autofree char *from = NULL;
  g_autofree char *to = NULL;

  start = MAX (start, 0);
  end = MIN (end, profile->facts.duration_ns);
  from = flam_format_value (start, FLAM_UNIT_NS);
  to = flam_format_value (MAX (end, start), FLAM_UNIT_NS);
  return g_strdup_printf (format, from, to);
}

static const char *
thread_name (const FlamProfile *profile, const FlamSelection *selection)
{
  FlamId thread = g_array_index (selection->threads, FlamId, 0);

  return flam_profile_string (profile, profile->threads.name[thread]);
}

static void
show_baseline_chip (FlamPathBar *self, const FlamProfile *profile)
{
  FlamBaseline *baseline = flam_session_get_baseline (self->session);
  const FlamSelection *part = flam_baseline_get_part (baseline);
  g_autofree char *text = NULL;
  guint n;

  switch (flam_baseline_get_kind (baseline))
    {
    case FLAM_BASELINE_CAPTURE:
      text = g_strdup_printf (_ ("compared with: %s"),
                              flam_baseline_get_title (baseline));
      break;
    case FLAM_BASELINE_RANGE:
      text = range_text (
          profile, part->from, part->to, _ ("compared with: %s – %s"));
      break;
    case FLAM_BASELINE_THREADS:
      n = part->threads->len;
      text = n == 1 ? g_strdup_printf (_ ("compared with: %s"),
                                       thread_name (profile, part))
                    : g_strdup_printf (ngettext ("compared with: %u thread",
                                                 "compared with: %u threads",
                                                 n),
                                       n);
      break;
    case FLAM_BASELINE_MEASURE:
      /* Translators: a file has two columns, before and now */
      text = g_strdup (_ ("compared with: before"));
      break;
    case FLAM_BASELINE_NONE:
    default:
      return;
    }
  append_chip (self, text, NULL, 0);
}

static const char *
by_text (FlamBy by)
{
  switch (by)
    {
    case FLAM_BY_LINE:
      return _ ("by line");
    case FLAM_BY_MODULE:
      return _ ("by module");
    case FLAM_BY_FILE:
      return _ ("by file");
    case FLAM_BY_THREAD:
      return _ ("by thread");
    case FLAM_BY_FUNCTION:
    default:
      return _ ("by function");
    }
}

static void
show_chips (FlamPathBar *self,
            const FlamProfile *profile,
            const FlamSelection *selection)
{
  guint n = selection->transforms != NULL ? selection->transforms->len : 0;

  show_baseline_chip (self, profile);
  if (selection->from != G_MININT64 || selection->to != G_MAXINT64)
    {
      g_autofree char *text = range_text (
          profile, selection->from, selection->to, _ ("time: %s – %s"));
      append_chip (self, text, remove_range, 0);
    }
  if (selection->invert)
    append_chip (self, _ ("inverted"), remove_invert, 0);
  if (selection->by != FLAM_BY_FUNCTION)
    {
      g_autofree char *text =
          selection->by == FLAM_BY_LABEL
              ? g_strdup_printf (_ ("by label: %s"), selection->by_label)
              : g_strdup (by_text (selection->by));

      append_chip (self, text, remove_by, 0);
    }
  for (guint i = 0; selection->labels != NULL && i < selection->labels->len;
       i++)
    append_chip (self, selection->labels->pdata[i], remove_label, i);
  if (selection->recursion != FLAM_RECURSION_OFF)
    append_chip (self, _ ("recursion collapsed"), remove_recursion, 0);
  show_memory_chips (self, profile, selection);
  for (guint i = 0; i < n; i++)
    {
      FlamTransform *transform = selection->transforms->pdata[i];
      g_autofree char *pattern = flam_transforms_describe (transform);
      g_autofree char *name = flam_format_short_name (pattern, NAME_MAX_CHARS);
      g_autofree char *text = g_strdup_printf (
          "%s: %s", flam_transforms_label (transform->kind), name);
      append_chip (self, text, remove_transform, i);
    }
}

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

/* --- keeping up ----------------------------------------------------------- */

static void
scroll_to_end (FlamPathBar *self)
{
  GtkAdjustment *adjustment =
      gtk_scrolled_window_get_hadjustment (self->path_scroller);

  gtk_adjustment_set_value (adjustment, gtk_adjustment_get_upper (adjustment));
}

static gboolean
update (gpointer data)
{
  FlamPathBar *self = data;
  const FlamTree *tree = flam_session_get_tree (self->session);
  const FlamSelection *selection = flam_session_get_selection (self->session);
  FlamId current = flam_session_get_current (self->session);

  self->update_id = 0;
  empty (self->path,
         tree != NULL ? gtk_widget_get_first_child (GTK_WIDGET (self->path))
                      : NULL);
  empty (self->chips, NULL);
  if (tree != NULL)
    show_path (self,
               tree,
               current != 0 ? current : flam_session_get_zoom (self->session));
  if (selection != NULL)
    show_chips (self, flam_session_get_profile (self->session), selection);
  gtk_widget_set_visible (
      GTK_WIDGET (self->chip_scroller),
      gtk_widget_get_first_child (GTK_WIDGET (self->chips)) != NULL);
  update_undo (self, selection);
  return G_SOURCE_REMOVE;
}

/* Zoom, current frame and view data often change together; and a crumb that was
 * clicked must not be freed during its own click. */
static void
queue_update (FlamPathBar *self)
{
  if (self->update_id == 0)
    self->update_id = g_idle_add_full (G_PRIORITY_DEFAULT, update, self, NULL);
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
  static const char *const notifies[] = {
    "notify::view-data", "notify::selection", "notify::zoom", "notify::current"
  };

  g_return_if_fail (FLAM_IS_PATH_BAR (self));
  self->session = g_object_ref (session);
  for (guint i = 0; i < G_N_ELEMENTS (notifies); i++)
    g_signal_connect_object (session,
                             notifies[i],
                             G_CALLBACK (queue_update),
                             self,
                             G_CONNECT_SWAPPED);
  g_signal_connect_object (flam_session_get_baseline (session),
                           "changed",
                           G_CALLBACK (queue_update),
                           self,
                           G_CONNECT_SWAPPED);
  queue_update (self);
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
