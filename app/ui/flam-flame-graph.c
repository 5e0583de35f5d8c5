/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "flam-format.h"

#define MAX_HISTORY 100
#define LEGEND_ENTRIES 12

G_DEFINE_FINAL_TYPE_WITH_CODE (FlamFlameGraph,
                               flam_flame_graph,
                               GTK_TYPE_WIDGET,
                               G_IMPLEMENT_INTERFACE (GTK_TYPE_SCROLLABLE,
                                                      NULL))

enum
{
  PROP_0,
  PROP_TREE,
  PROP_ZOOM,
  PROP_SELECTED,
  PROP_DIRECTION,
  PROP_PALETTE,
  PROP_DARK,
  PROP_MATCHED,
  N_PROPS,
  PROP_HADJUSTMENT = N_PROPS,
  PROP_VADJUSTMENT,
  PROP_HSCROLL_POLICY,
  PROP_VSCROLL_POLICY,
};

static GParamSpec *properties[N_PROPS];
guint flam_graph_signals[FLAM_GRAPH_N_SIGNALS];

static void
notify (FlamFlameGraph *self, guint property)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

/* --- zoom ---------------------------------------------------------------- */

static void
remember_place (FlamFlameGraph *self)
{
  FlamPlace place = { self->zoom, self->from, self->to };

  if (self->motion.tick != 0)
    {
      place.from = self->motion.from1;
      place.to = self->motion.to1;
    }
  if (self->history->len >= MAX_HISTORY)
    g_array_remove_index (self->history, 0);
  g_array_append_val (self->history, place);
}

static void
zoom_changed (FlamFlameGraph *self, FlamId node)
{
  if (self->zoom == node)
    return;
  self->zoom = node;
  notify (self, PROP_ZOOM);
  g_signal_emit (self, flam_graph_signals[FLAM_GRAPH_ZOOM_CHANGED], 0, node);
}

void
flam_graph_set_zoom (FlamFlameGraph *self,
                     FlamId node,
                     gboolean remember,
                     gboolean animate)
{
  double from, to;
  gboolean there;

  if (flam_graph_is_empty (self) || node >= self->tree->n)
    return;
  flam_graph_range_of (self, node, &from, &to);
  there = self->motion.tick == 0
              ? self->from == from && self->to == to
              : self->motion.from1 == from && self->motion.to1 == to;
  if (node == self->zoom && there)
    return;
  if (remember)
    remember_place (self);
  zoom_changed (self, node);
  flam_graph_look_at (self, from, to, animate);
  flam_graph_scroll_to (self, node);
}

void
flam_flame_graph_zoom_to (FlamFlameGraph *self, FlamId node)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  flam_graph_set_zoom (self, node, TRUE, TRUE);
}

FlamId
flam_flame_graph_get_zoom (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), 0);
  return self->zoom;
}

gboolean
flam_flame_graph_back (FlamFlameGraph *self)
{
  FlamPlace place;

  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FALSE);
  if (flam_graph_is_empty (self))
    return FALSE;
  if (self->history->len == 0)
    {
      if (self->from <= 0 && self->to >= (double)self->tree->total[0])
        return FALSE;
      flam_graph_set_zoom (self, 0, FALSE, TRUE);
      return TRUE;
    }
  place = g_array_index (self->history, FlamPlace, self->history->len - 1);
  g_array_set_size (self->history, self->history->len - 1);
  zoom_changed (self, place.zoom);
  flam_graph_look_at (self, place.from, place.to, TRUE);
  return TRUE;
}

void
flam_flame_graph_reset_zoom (FlamFlameGraph *self)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  flam_graph_set_zoom (self, 0, TRUE, TRUE);
  g_array_set_size (self->history, 0);
}

/* --- selection ----------------------------------------------------------- */

void
flam_graph_set_selected (FlamFlameGraph *self, FlamId node)
{
  if (self->selected == node)
    return;
  self->selected = node;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  flam_graph_announce (self);
  notify (self, PROP_SELECTED);
  g_signal_emit (self, flam_graph_signals[FLAM_GRAPH_NODE_SELECTED], 0, node);
}

/* Zooms out until the node is in view, if it is not. */
static void
reveal (FlamFlameGraph *self, FlamId node)
{
  FlamId zoom = self->zoom;
  double x = (double)flam_rows_x (self->rows, node);
  double end = x + (double)self->tree->total[node];

  while (zoom != 0 && !flam_tree_is_ancestor (self->tree, zoom, node) &&
         !flam_tree_is_ancestor (self->tree, node, zoom))
    zoom = self->tree->parent[zoom];
  if (zoom != self->zoom || end <= self->from || x >= self->to)
    flam_graph_set_zoom (self, zoom, TRUE, TRUE);
  flam_graph_scroll_to (self, node);
}

void
flam_flame_graph_select_node (FlamFlameGraph *self, FlamId node)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (flam_graph_is_empty (self) || node >= self->tree->n)
    node = FLAM_NONE;
  if (node != FLAM_NONE)
    reveal (self, node);
  flam_graph_set_selected (self, node);
}

FlamId
flam_flame_graph_get_selected (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FLAM_NONE);
  return self->selected;
}

/* --- search -------------------------------------------------------------- */

static void
run_search (FlamFlameGraph *self)
{
  g_clear_pointer (&self->matched, g_free);
  self->matched_weight = 0;
  if (self->search != NULL && !flam_graph_is_empty (self))
    {
      self->matched = g_new0 (guint8, self->tree->n);
      self->matched_weight =
          flam_tree_search (self->tree, self->search, self->matched);
    }
  flam_graph_redraw (self);
  notify (self, PROP_MATCHED);
}

void
flam_flame_graph_set_search (FlamFlameGraph *self, GRegex *regex)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (regex == self->search)
    return;
  g_clear_pointer (&self->search, g_regex_unref);
  if (regex != NULL)
    self->search = g_regex_ref (regex);
  run_search (self);
}

gint64
flam_flame_graph_get_matched (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), 0);
  return self->matched_weight;
}

/* The next node that matches and weighs enough to be seen when zoomed out. */
static FlamId
find_match (FlamFlameGraph *self, gboolean backward, gint64 least)
{
  guint32 n = self->tree->n;
  guint32 at = self->selected < n ? self->selected : backward ? 0 : n - 1;

  for (guint32 i = 0; i < n; i++)
    {
      at = backward ? (at + n - 1) % n : (at + 1) % n;
      if (self->matched[at] && self->tree->total[at] >= least)
        return at;
    }
  return FLAM_NONE;
}

gboolean
flam_flame_graph_next_match (FlamFlameGraph *self, gboolean backward)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  gint64 least;
  FlamId match;

  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FALSE);
  if (self->matched == NULL)
    return FALSE;
  least = (gint64)((double)self->tree->total[0] / MAX (width, 1) / 2);
  match = find_match (self, backward, least);
  if (match == FLAM_NONE)
    match = find_match (self, backward, 0);
  if (match == FLAM_NONE)
    return FALSE;
  flam_flame_graph_select_node (self, match);
  return TRUE;
}

/* --- another tree -------------------------------------------------------- */

/* What is carried from the old tree to the new. */
typedef struct
{
  FlamId zoom, selected;
  double from, to; /* of the zoomed node's range: 0, 1 shows it whole */
} Kept;

static void
as_share (FlamFlameGraph *self, FlamPlace *place)
{
  double from, to;

  flam_graph_range_of (self, place->zoom, &from, &to);
  place->from = (place->from - from) / (to - from);
  place->to = (place->to - from) / (to - from);
}

static void
as_range (FlamFlameGraph *self, FlamPlace *place)
{
  double from, to;

  flam_graph_range_of (self, place->zoom, &from, &to);
  place->to = from + place->to * (to - from);
  place->from = from + place->from * (to - from);
}

/* A place whose node is gone becomes that of the nearest ancestor, whole. */
static void
carry_place (FlamFlameGraph *self, FlamPlace *place, FlamTree *tree)
{
  FlamId zoom = flam_tree_find_path (self->tree, place->zoom, tree);

  as_share (self, place);
  if (tree->depth[zoom] != self->tree->depth[place->zoom])
    {
      place->from = 0;
      place->to = 1;
    }
  place->zoom = zoom;
}

static FlamId
carry_selected (FlamFlameGraph *self, FlamTree *tree)
{
  FlamId node = self->selected;
  FlamId found;

  if (node == FLAM_NONE)
    return FLAM_NONE;
  found = flam_tree_find_path (self->tree, node, tree);
  return tree->depth[found] == self->tree->depth[node] ? found : FLAM_NONE;
}

static void
swap_tree (FlamFlameGraph *self, FlamTree *tree, FlamRows *rows)
{
  gboolean same_profile = self->tree != NULL && tree != NULL &&
                          self->tree->profile == tree->profile;

  if (!same_profile)
    g_clear_pointer (&self->palette, flam_palette_free);
  g_clear_pointer (&self->rows, flam_rows_unref);
  g_clear_pointer (&self->tree, flam_tree_unref);
  if (tree == NULL)
    return;
  self->tree = flam_tree_ref (tree);
  self->rows = rows != NULL ? flam_rows_ref (rows) : flam_rows_new (tree);
}

static void
forget_places (FlamFlameGraph *self)
{
  g_array_set_size (self->history, 0);
  self->selected = FLAM_NONE;
  self->hovered = FLAM_NONE;
  self->pressed = FLAM_NONE;
  self->zoom = 0;
  self->from = 0;
  self->to = self->tree != NULL && self->tree->n > 0
                 ? (double)self->tree->total[0]
                 : 1;
}

static void
replace_tree (FlamFlameGraph *self, FlamTree *tree, FlamRows *rows)
{
  FlamPlace now = { self->zoom, self->from, self->to };
  FlamId selected = carry_selected (self, tree);

  carry_place (self, &now, tree);
  for (guint i = 0; i < self->history->len; i++)
    carry_place (self, &g_array_index (self->history, FlamPlace, i), tree);
  swap_tree (self, tree, rows);
  for (guint i = 0; i < self->history->len; i++)
    as_range (self, &g_array_index (self->history, FlamPlace, i));
  as_range (self, &now);
  self->zoom = now.zoom;
  self->from = now.from;
  self->to = now.to;
  self->selected = selected;
  self->hovered = FLAM_NONE;
  self->pressed = FLAM_NONE;
}

void
flam_flame_graph_set_tree (FlamFlameGraph *self, FlamTree *tree, FlamRows *rows)
{
  FlamId zoom, selected;

  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (tree == self->tree)
    return;
  if (self->motion.tick != 0)
    {
      self->from = self->motion.from1;
      self->to = self->motion.to1;
      flam_graph_stop (self);
    }
  if (self->hovered != FLAM_NONE)
    {
      self->hovered = FLAM_NONE;
      g_signal_emit (
          self, flam_graph_signals[FLAM_GRAPH_NODE_HOVERED], 0, FLAM_NONE);
    }
  zoom = self->zoom;
  selected = self->selected;
  if (flam_graph_is_empty (self) || tree == NULL || tree->n == 0 ||
      tree->total[0] <= 0)
    {
      swap_tree (self, tree, rows);
      forget_places (self);
      self->scroll = 0;
    }
  else
    replace_tree (self, tree, rows);

  self->whole_rows = 0;
  run_search (self);
  flam_graph_relayout (self);
  flam_graph_adjust (self);
  flam_graph_announce (self);
  notify (self, PROP_TREE);
  flam_graph_hover_again (self);
  if (zoom != self->zoom || tree == NULL)
    g_signal_emit (
        self, flam_graph_signals[FLAM_GRAPH_ZOOM_CHANGED], 0, self->zoom);
  if (selected != FLAM_NONE && self->selected == FLAM_NONE)
    g_signal_emit (
        self, flam_graph_signals[FLAM_GRAPH_NODE_SELECTED], 0, FLAM_NONE);
}

FlamTree *
flam_flame_graph_get_tree (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), NULL);
  return self->tree;
}

FlamRows *
flam_flame_graph_get_rows (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), NULL);
  return self->rows;
}

/* --- looks --------------------------------------------------------------- */

void
flam_flame_graph_set_direction (FlamFlameGraph *self, FlamDirection direction)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (direction == self->direction)
    return;
  self->direction = direction;
  flam_graph_adjust (self);
  flam_graph_relayout (self);
  notify (self, PROP_DIRECTION);
}

FlamDirection
flam_flame_graph_get_direction (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), 0);
  return self->direction;
}

void
flam_flame_graph_set_palette (FlamFlameGraph *self, FlamPaletteMode mode)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (mode == self->palette_mode)
    return;
  self->palette_mode = mode;
  g_clear_pointer (&self->palette, flam_palette_free);
  flam_graph_redraw (self);
  notify (self, PROP_PALETTE);
}

static void
use_dark (FlamFlameGraph *self, gboolean dark)
{
  if (dark == self->dark)
    return;
  self->dark = dark;
  g_clear_pointer (&self->palette, flam_palette_free);
  flam_graph_redraw (self);
  notify (self, PROP_DARK);
}

void
flam_flame_graph_set_dark (FlamFlameGraph *self, gboolean dark)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  self->dark_is_set = TRUE;
  use_dark (self, !!dark);
}

static void
follow_desktop (AdwStyleManager *manager,
                GParamSpec *property,
                FlamFlameGraph *self)
{
  if (!self->dark_is_set)
    use_dark (self, adw_style_manager_get_dark (manager));
}

GPtrArray *
flam_flame_graph_get_legend (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), NULL);
  if (flam_graph_is_empty (self))
    return g_ptr_array_new ();
  return flam_palette_legend (
      flam_graph_palette (self), self->tree, self->zoom, LEGEND_ENTRIES);
}

/* --- what is in view ----------------------------------------------------- */

gint64
flam_flame_graph_get_hidden (FlamFlameGraph *self, gint64 *in_view)
{
  const FlamLayout *layout;

  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), 0);
  layout = flam_graph_layout (self);
  if (in_view != NULL)
    *in_view = layout != NULL ? layout->in_view : 0;
  return layout != NULL ? layout->hidden : 0;
}

static double
rows_height (FlamFlameGraph *self)
{
  return flam_graph_whole_rows (self) * flam_graph_row_height (self);
}

void
flam_flame_graph_get_view (FlamFlameGraph *self, FlamView *view)
{
  double whole, height, page, far;

  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  *view = (FlamView){ 0, 0, 1, 1 };
  if (flam_graph_is_empty (self))
    return;
  whole = (double)self->tree->total[0];
  height = rows_height (self);
  page = gtk_widget_get_height (GTK_WIDGET (self));
  view->x = self->from / whole;
  view->width = (self->to - self->from) / whole;
  view->height = MIN (page / height, 1);
  far = CLAMP (self->scroll / height, 0, 1 - view->height);
  view->y =
      self->direction == FLAM_DIRECTION_FLAME ? 1 - view->height - far : far;
}

void
flam_flame_graph_set_view (FlamFlameGraph *self, const FlamView *view)
{
  double far;

  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (flam_graph_is_empty (self))
    return;
  far = self->direction == FLAM_DIRECTION_FLAME ? 1 - view->height - view->y
                                                : view->y;
  flam_graph_pan_to (self,
                     view->x * (double)self->tree->total[0],
                     MAX (far, 0) * rows_height (self));
}

/* --- the object ---------------------------------------------------------- */

static void
set_adjustment (FlamFlameGraph *self,
                GtkAdjustment **field,
                GtkAdjustment *adjustment)
{
  if (*field == adjustment && adjustment != NULL)
    return;
  if (*field != NULL)
    g_signal_handlers_disconnect_by_func (*field, flam_graph_on_scrolled, self);
  g_clear_object (field);
  if (adjustment == NULL)
    adjustment = gtk_adjustment_new (0, 0, 0, 0, 0, 0);
  *field = g_object_ref_sink (adjustment);
  if (field == &self->vadjustment)
    {
      g_signal_connect_swapped (adjustment,
                                "value-changed",
                                G_CALLBACK (flam_graph_on_scrolled),
                                self);
      flam_graph_adjust (self);
    }
}

static void
flam_flame_graph_set_property (GObject *object,
                               guint id,
                               const GValue *value,
                               GParamSpec *pspec)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (object);

  switch (id)
    {
    case PROP_DIRECTION:
      flam_flame_graph_set_direction (self, g_value_get_int (value));
      break;
    case PROP_PALETTE:
      flam_flame_graph_set_palette (self, g_value_get_int (value));
      break;
    case PROP_DARK:
      flam_flame_graph_set_dark (self, g_value_get_boolean (value));
      break;
    case PROP_ZOOM:
      flam_flame_graph_zoom_to (self, g_value_get_uint (value));
      break;
    case PROP_SELECTED:
      flam_flame_graph_select_node (self, g_value_get_uint (value));
      break;
    case PROP_HADJUSTMENT:
      set_adjustment (self, &self->hadjustment, g_value_get_object (value));
      break;
    case PROP_VADJUSTMENT:
      set_adjustment (self, &self->vadjustment, g_value_get_object (value));
      break;
    case PROP_HSCROLL_POLICY:
      self->hpolicy = g_value_get_enum (value);
      break;
    case PROP_VSCROLL_POLICY:
      self->vpolicy = g_value_get_enum (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
flam_flame_graph_get_property (GObject *object,
                               guint id,
                               GValue *value,
                               GParamSpec *pspec)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (object);

  switch (id)
    {
    case PROP_TREE:
      g_value_set_pointer (value, self->tree);
      break;
    case PROP_ZOOM:
      g_value_set_uint (value, self->zoom);
      break;
    case PROP_SELECTED:
      g_value_set_uint (value, self->selected);
      break;
    case PROP_DIRECTION:
      g_value_set_int (value, self->direction);
      break;
    case PROP_PALETTE:
      g_value_set_int (value, self->palette_mode);
      break;
    case PROP_DARK:
      g_value_set_boolean (value, self->dark);
      break;
    case PROP_MATCHED:
      g_value_set_int64 (value, self->matched_weight);
      break;
    case PROP_HADJUSTMENT:
      g_value_set_object (value, self->hadjustment);
      break;
    case PROP_VADJUSTMENT:
      g_value_set_object (value, self->vadjustment);
      break;
    case PROP_HSCROLL_POLICY:
      g_value_set_enum (value, self->hpolicy);
      break;
    case PROP_VSCROLL_POLICY:
      g_value_set_enum (value, self->vpolicy);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
flam_flame_graph_dispose (GObject *object)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (object);

  flam_graph_clear_view (self);
  if (self->vadjustment != NULL)
    g_signal_handlers_disconnect_by_func (
        self->vadjustment, flam_graph_on_scrolled, self);
  g_clear_object (&self->hadjustment);
  g_clear_object (&self->vadjustment);
  g_clear_object (&self->tip);
  G_OBJECT_CLASS (flam_flame_graph_parent_class)->dispose (object);
}

static void
flam_flame_graph_finalize (GObject *object)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (object);

  g_clear_pointer (&self->rows, flam_rows_unref);
  g_clear_pointer (&self->tree, flam_tree_unref);
  g_clear_pointer (&self->search, g_regex_unref);
  g_clear_pointer (&self->matched, g_free);
  g_clear_pointer (&self->spare, g_atomic_rc_box_release);
  g_array_unref (self->history);
  G_OBJECT_CLASS (flam_flame_graph_parent_class)->finalize (object);
}

static void
flam_flame_graph_measure (GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  gboolean wide = orientation == GTK_ORIENTATION_HORIZONTAL;

  *minimum = 80;
  *natural = wide ? 600 : 300;
}

static void
flam_flame_graph_size_allocate (GtkWidget *widget,
                                int width,
                                int height,
                                int baseline)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (widget);

  self->whole_rows = 0;
  flam_graph_relayout (self);
  flam_graph_adjust (self);
}

static void
flam_flame_graph_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (flam_flame_graph_parent_class)
      ->css_changed (widget, change);
  flam_graph_restyle (FLAM_FLAME_GRAPH (widget));
}

static void
add_properties (GObjectClass *class)
{
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
  const GParamFlags read = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  properties[PROP_TREE] = g_param_spec_pointer ("tree", NULL, NULL, read);
  properties[PROP_ZOOM] =
      g_param_spec_uint ("zoom", NULL, NULL, 0, G_MAXUINT, 0, flags);
  properties[PROP_SELECTED] = g_param_spec_uint (
      "selected", NULL, NULL, 0, G_MAXUINT, FLAM_NONE, flags);
  properties[PROP_DIRECTION] = g_param_spec_int ("direction",
                                                 NULL,
                                                 NULL,
                                                 0,
                                                 FLAM_DIRECTION_ICICLE,
                                                 FLAM_DIRECTION_FLAME,
                                                 flags);
  properties[PROP_PALETTE] = g_param_spec_int (
      "palette", NULL, NULL, 0, FLAM_PALETTE_MEMORY, FLAM_PALETTE_CODE, flags);
  properties[PROP_DARK] =
      g_param_spec_boolean ("dark", NULL, NULL, FALSE, flags);
  properties[PROP_MATCHED] =
      g_param_spec_int64 ("matched", NULL, NULL, 0, G_MAXINT64, 0, read);
  g_object_class_install_properties (class, N_PROPS, properties);
  g_object_class_override_property (class, PROP_HADJUSTMENT, "hadjustment");
  g_object_class_override_property (class, PROP_VADJUSTMENT, "vadjustment");
  g_object_class_override_property (
      class, PROP_HSCROLL_POLICY, "hscroll-policy");
  g_object_class_override_property (
      class, PROP_VSCROLL_POLICY, "vscroll-policy");
}

static void
add_signal (GObjectClass *class, guint signal, const char *name, guint n)
{
  flam_graph_signals[signal] = g_signal_new (name,
                                             G_TYPE_FROM_CLASS (class),
                                             G_SIGNAL_RUN_LAST,
                                             0,
                                             NULL,
                                             NULL,
                                             NULL,
                                             G_TYPE_NONE,
                                             n,
                                             G_TYPE_UINT,
                                             G_TYPE_DOUBLE,
                                             G_TYPE_DOUBLE);
}

static void
flam_flame_graph_class_init (FlamFlameGraphClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  object_class->set_property = flam_flame_graph_set_property;
  object_class->get_property = flam_flame_graph_get_property;
  object_class->dispose = flam_flame_graph_dispose;
  object_class->finalize = flam_flame_graph_finalize;
  widget_class->measure = flam_flame_graph_measure;
  widget_class->size_allocate = flam_flame_graph_size_allocate;
  widget_class->snapshot = flam_graph_snapshot;
  widget_class->css_changed = flam_flame_graph_css_changed;
  add_properties (object_class);
  add_signal (object_class, FLAM_GRAPH_NODE_HOVERED, "node-hovered", 1);
  add_signal (object_class, FLAM_GRAPH_NODE_SELECTED, "node-selected", 1);
  add_signal (object_class, FLAM_GRAPH_NODE_ACTIVATED, "node-activated", 1);
  add_signal (object_class, FLAM_GRAPH_ZOOM_CHANGED, "zoom-changed", 1);
  add_signal (object_class, FLAM_GRAPH_CONTEXT_MENU, "context-menu", 3);
  add_signal (object_class, FLAM_GRAPH_DRAWN_CHANGED, "drawn-changed", 0);
  gtk_widget_class_set_css_name (widget_class, "flamegraph");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
flam_flame_graph_init (FlamFlameGraph *self)
{
  GtkWidget *widget = GTK_WIDGET (self);

  self->history = g_array_new (FALSE, FALSE, sizeof (FlamPlace));
  self->to = 1;
  self->selected = FLAM_NONE;
  self->hovered = FLAM_NONE;
  self->pressed = FLAM_NONE;
  gtk_widget_set_focusable (widget, TRUE);
  gtk_widget_set_overflow (widget, GTK_OVERFLOW_HIDDEN);
  flam_graph_add_input (self);
  flam_graph_announce (self);
  g_signal_connect (
      self, "notify::has-focus", G_CALLBACK (gtk_widget_queue_draw), NULL);
  g_signal_connect_object (self,
                           "notify::scale-factor",
                           G_CALLBACK (flam_graph_redraw),
                           self,
                           G_CONNECT_SWAPPED);
  if (adw_is_initialized ())
    {
      AdwStyleManager *manager = adw_style_manager_get_default ();

      g_signal_connect_object (
          manager, "notify::dark", G_CALLBACK (follow_desktop), self, 0);
      follow_desktop (manager, NULL, self);
    }
}

GtkWidget *
flam_flame_graph_new (void)
{
  return g_object_new (FLAM_TYPE_FLAME_GRAPH, NULL);
}
