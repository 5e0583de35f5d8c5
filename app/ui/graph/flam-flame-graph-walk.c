/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#define MAX_HISTORY 100

/* --- zoom ---------------------------------------------------------------- */

FlamZoomState
flam_graph_where (FlamFlameGraph *self)
{
  FlamZoomState state = { self->zoom, self->from, self->to };

  if (flam_graph_is_moving (self))
    {
      state.from = self->motion.from1;
      state.to = self->motion.to1;
    }
  return state;
}

static void
push_zoom (FlamFlameGraph *self, GArray *states)
{
  FlamZoomState state = flam_graph_where (self);

  if (states->len >= MAX_HISTORY)
    g_array_remove_index (states, 0);
  g_array_append_val (states, state);
}

void
flam_graph_remember (FlamFlameGraph *self)
{
  push_zoom (self, self->history);
  g_array_set_size (self->future, 0);
}

/* Handlers of a zoom may request the same zoom (as a session that stores it):
 * the view is already moving there, and need not show the whole node. */
void
flam_graph_tell_zoom (FlamFlameGraph *self, FlamId node)
{
  if (self->zoom == node)
    return;
  self->zoom = node;
  self->telling_zoom = TRUE;
  g_object_notify (G_OBJECT (self), "zoom");
  g_signal_emit (self, flam_graph_signals[FLAM_GRAPH_ZOOM_CHANGED], 0, node);
  self->telling_zoom = FALSE;
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
  there = flam_graph_is_moving (self)
              ? self->motion.from1 == from && self->motion.to1 == to
              : self->from == from && self->to == to;
  if (node == self->zoom && there)
    return;
  if (remember)
    flam_graph_remember (self);
  flam_graph_tell_zoom (self, node);
  flam_graph_look_at (self, from, to, animate);
  flam_graph_scroll_to (self, node);
}

void
flam_flame_graph_zoom_to (FlamFlameGraph *self, FlamId node)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (!self->telling_zoom || node != self->zoom)
    flam_graph_set_zoom (self, node, TRUE, TRUE);
}

FlamId
flam_flame_graph_get_zoom (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), 0);
  return self->zoom;
}

static gboolean
travel (FlamFlameGraph *self, GArray *from, GArray *to)
{
  FlamZoomState state;

  if (flam_graph_is_empty (self) || from->len == 0)
    return FALSE;
  state = g_array_index (from, FlamZoomState, from->len - 1);
  g_array_set_size (from, from->len - 1);
  push_zoom (self, to);
  flam_graph_tell_zoom (self, state.zoom);
  flam_graph_look_at (self, state.from, state.to, TRUE);
  return TRUE;
}

gboolean
flam_flame_graph_back (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FALSE);
  return travel (self, self->history, self->future);
}

gboolean
flam_flame_graph_forward (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FALSE);
  return travel (self, self->future, self->history);
}

/* A caller as wide as its callee would look the same: it is skipped. */
gboolean
flam_flame_graph_outward (FlamFlameGraph *self)
{
  FlamZoomState now;
  FlamId node;

  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FALSE);
  if (flam_graph_is_empty (self))
    return FALSE;
  now = flam_graph_where (self);
  for (node = self->zoom; node != FLAM_NONE; node = self->tree->parent[node])
    {
      double from, to;

      flam_graph_range_of (self, node, &from, &to);
      if (from <= now.from && to >= now.to && to - from > now.to - now.from)
        break;
    }
  if (node == FLAM_NONE && self->zoom == 0)
    return FALSE;
  flam_graph_set_zoom (self, node != FLAM_NONE ? node : 0, TRUE, TRUE);
  return TRUE;
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
  g_object_notify (G_OBJECT (self), "selected");
  g_signal_emit (self, flam_graph_signals[FLAM_GRAPH_NODE_SELECTED], 0, node);
}

static gboolean
is_out_of_sight (FlamFlameGraph *self, FlamId node)
{
  FlamBox box;

  return !flam_graph_is_moving (self) &&
         !flam_graph_find_box (self, node, &box);
}

/* A sunburst has no room for all rings, nor a treemap for all boxes, and
 * neither shows the zoomed node's callers. */
static void
bring_out (FlamFlameGraph *self, FlamId node)
{
  gboolean caller = node != self->zoom &&
                    flam_tree_is_ancestor (self->tree, node, self->zoom);

  if (!caller && node != 0 && self->tree->parent[node] != self->zoom &&
      is_out_of_sight (self, node))
    flam_graph_set_zoom (self, self->tree->parent[node], TRUE, TRUE);
  if (!caller && node != 0 && is_out_of_sight (self, node))
    flam_graph_look_at_callee (self, node);
  if (caller || is_out_of_sight (self, node))
    flam_graph_set_zoom (self, node, TRUE, TRUE);
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
  if (zoom == self->zoom && flam_graph_pan_to_see (self, x, end))
    {
      flam_graph_scroll_to (self, node);
      return;
    }
  if (zoom != self->zoom || end <= self->from || x >= self->to)
    flam_graph_set_zoom (self, zoom, TRUE, TRUE);
  if (self->shape != FLAM_SHAPE_FLAME)
    bring_out (self, node);
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
  g_object_notify (G_OBJECT (self), "matched");
}

void
flam_flame_graph_set_search (FlamFlameGraph *self, FlamRegex *regex)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (regex == self->search)
    return;
  g_clear_pointer (&self->search, flam_regex_unref);
  if (regex != NULL)
    self->search = flam_regex_ref (regex);
  run_search (self);
}

gint64
flam_flame_graph_get_matched (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), 0);
  return self->matched_weight;
}

/* Matches that are wide enough to be visible when zoomed out are visited, and
 * all if there are none of those. */
static gint64
least_match (FlamFlameGraph *self)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  gint64 least = (gint64)((double)self->tree->total[0] / MAX (width, 1) / 2);

  for (guint32 i = 0; i < self->tree->n; i++)
    if (self->matched[i] && self->tree->total[i] >= least)
      return least;
  return 0;
}

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
  FlamId match;

  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FALSE);
  if (self->matched == NULL)
    return FALSE;
  match = find_match (self, backward, least_match (self));
  if (match == FLAM_NONE)
    return FALSE;
  flam_flame_graph_select_node (self, match);
  return TRUE;
}

guint
flam_flame_graph_count_matches (FlamFlameGraph *self, guint *n)
{
  guint at = 0;
  gint64 least;

  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), 0);
  *n = 0;
  if (self->matched == NULL)
    return 0;
  least = least_match (self);
  for (guint32 i = 0; i < self->tree->n; i++)
    if (self->matched[i] && self->tree->total[i] >= least)
      {
        (*n)++;
        if (i == self->selected)
          at = *n;
      }
  return at;
}

/* --- another tree -------------------------------------------------------- */

/* The state that is carried from the old tree to the new. */
typedef struct
{
  FlamId zoom, selected;
  double from, to; /* of the zoomed node's range: 0, 1 shows it whole */
} Kept;

static void
as_share (FlamFlameGraph *self, FlamZoomState *state)
{
  double from, to;

  flam_graph_range_of (self, state->zoom, &from, &to);
  state->from = (state->from - from) / (to - from);
  state->to = (state->to - from) / (to - from);
}

static void
as_range (FlamFlameGraph *self, FlamZoomState *state)
{
  double from, to;

  flam_graph_range_of (self, state->zoom, &from, &to);
  state->to = from + state->to * (to - from);
  state->from = from + state->from * (to - from);
}

/* The state of a node that is gone becomes its nearest ancestor, whole. */
static void
carry_zoom (FlamFlameGraph *self, FlamZoomState *state, FlamTree *tree)
{
  FlamId zoom = flam_tree_find_path (self->tree, state->zoom, tree);

  as_share (self, state);
  if (tree->depth[zoom] != self->tree->depth[state->zoom])
    {
      state->from = 0;
      state->to = 1;
    }
  state->zoom = zoom;
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

  /* Strengths of self are shares of the greatest one in the tree, and the next
   * tree may be at the address of the last. */
  if (!same_profile || self->palette_mode == FLAM_PALETTE_SELF)
    g_clear_pointer (&self->palette, flam_palette_free);
  flam_graph_forget_layout (self);
  g_clear_pointer (&self->rows, flam_rows_unref);
  g_clear_pointer (&self->tree, flam_tree_unref);
  if (tree == NULL)
    return;
  self->tree = flam_tree_ref (tree);
  self->rows = rows != NULL ? flam_rows_ref (rows) : flam_rows_new (tree);
}

static void
forget_zooms (FlamFlameGraph *self)
{
  g_array_set_size (self->history, 0);
  g_array_set_size (self->future, 0);
  self->selected = FLAM_NONE;
  self->hovered = FLAM_NONE;
  self->pointed = FLAM_NONE;
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
  FlamZoomState now = { self->zoom, self->from, self->to };
  FlamId selected = carry_selected (self, tree);

  carry_zoom (self, &now, tree);
  for (guint i = 0; i < self->history->len; i++)
    carry_zoom (self, &g_array_index (self->history, FlamZoomState, i), tree);
  for (guint i = 0; i < self->future->len; i++)
    carry_zoom (self, &g_array_index (self->future, FlamZoomState, i), tree);
  swap_tree (self, tree, rows);
  for (guint i = 0; i < self->history->len; i++)
    as_range (self, &g_array_index (self->history, FlamZoomState, i));
  for (guint i = 0; i < self->future->len; i++)
    as_range (self, &g_array_index (self->future, FlamZoomState, i));
  as_range (self, &now);
  self->zoom = now.zoom;
  self->from = now.from;
  self->to = now.to;
  self->selected = selected;
  self->hovered = FLAM_NONE;
  self->pointed = FLAM_NONE;
  self->pressed = FLAM_NONE;
}

void
flam_flame_graph_set_tree (FlamFlameGraph *self, FlamTree *tree, FlamRows *rows)
{
  FlamId zoom, selected;

  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (tree == self->tree)
    return;
  if (flam_graph_is_moving (self))
    {
      self->from = self->motion.from1;
      self->to = self->motion.to1;
      flam_graph_stop (self);
    }
  if (self->hovered != FLAM_NONE)
    {
      self->hovered = FLAM_NONE;
      self->pointed = FLAM_NONE;
      g_signal_emit (
          self, flam_graph_signals[FLAM_GRAPH_NODE_HOVERED], 0, FLAM_NONE);
    }
  zoom = self->zoom;
  selected = self->selected;
  if (flam_graph_is_empty (self) || tree == NULL || tree->n == 0 ||
      tree->total[0] <= 0)
    {
      swap_tree (self, tree, rows);
      forget_zooms (self);
      self->scroll = 0;
    }
  else
    replace_tree (self, tree, rows);

  flam_graph_forget_rows (self);
  run_search (self);
  flam_graph_relayout (self);
  flam_graph_adjust (self);
  flam_graph_announce (self);
  g_object_notify (G_OBJECT (self), "tree");
  flam_graph_hover_again (self);
  if (zoom != self->zoom || tree == NULL)
    {
      self->telling_zoom = TRUE;
      g_signal_emit (
          self, flam_graph_signals[FLAM_GRAPH_ZOOM_CHANGED], 0, self->zoom);
      self->telling_zoom = FALSE;
    }
  if (selected != FLAM_NONE && self->selected == FLAM_NONE)
    g_signal_emit (
        self, flam_graph_signals[FLAM_GRAPH_NODE_SELECTED], 0, FLAM_NONE);
}
