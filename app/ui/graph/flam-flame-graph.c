/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#include <adwaita.h>

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
  PROP_SHAPE,
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

/* --- tree -------------------------------------------------------------- */

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

void
flam_flame_graph_set_shape (FlamFlameGraph *self, FlamShape shape)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (shape == self->shape)
    return;
  flam_graph_stop (self);
  self->shape = shape;
  self->scroll = 0;
  self->rings = 0;
  if (!flam_graph_is_empty (self))
    flam_graph_range_of (self, self->zoom, &self->from, &self->to);
  flam_graph_relayout (self);
  flam_graph_adjust (self);
  flam_graph_announce (self);
  notify (self, PROP_SHAPE);
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

void
flam_flame_graph_set_rules (FlamFlameGraph *self, FlamColorRules *rules)
{
  FlamColorRules *before;

  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  before = self->rules;
  if (rules == before)
    return;
  self->rules = rules != NULL ? flam_color_rules_ref (rules) : NULL;
  g_clear_pointer (&self->palette, flam_palette_free);
  g_clear_pointer (&before, flam_color_rules_unref);
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

gboolean
flam_flame_graph_is_moving (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FALSE);
  return flam_graph_is_moving (self);
}

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
  if (flam_graph_is_empty (self) || self->shape != FLAM_SHAPE_FLAME)
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
  if (flam_graph_is_empty (self) || self->shape != FLAM_SHAPE_FLAME)
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
    case PROP_SHAPE:
      flam_flame_graph_set_shape (self, g_value_get_int (value));
      break;
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
    case PROP_SHAPE:
      g_value_set_int (value, self->shape);
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
  G_OBJECT_CLASS (flam_flame_graph_parent_class)->dispose (object);
}

static void
flam_flame_graph_finalize (GObject *object)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (object);

  g_clear_pointer (&self->rules, flam_color_rules_unref);
  g_clear_pointer (&self->rows, flam_rows_unref);
  g_clear_pointer (&self->tree, flam_tree_unref);
  g_clear_pointer (&self->search, flam_regex_unref);
  g_clear_pointer (&self->matched, g_free);
  for (guint i = 0; i < G_N_ELEMENTS (self->spares); i++)
    g_clear_pointer (&self->spares[i], g_atomic_rc_box_release);
  g_array_unref (self->history);
  g_array_unref (self->future);
  g_free (self->title);
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

  flam_graph_forget_rows (self);
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
  properties[PROP_SHAPE] = g_param_spec_int (
      "shape", NULL, NULL, 0, FLAM_N_SHAPES - 1, FLAM_SHAPE_FLAME, flags);
  properties[PROP_DIRECTION] = g_param_spec_int ("direction",
                                                 NULL,
                                                 NULL,
                                                 0,
                                                 FLAM_DIRECTION_ICICLE,
                                                 FLAM_DIRECTION_FLAME,
                                                 flags);
  properties[PROP_PALETTE] = g_param_spec_int (
      "palette", NULL, NULL, 0, FLAM_N_PALETTES - 1, FLAM_PALETTE_CODE, flags);
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
  add_signal (object_class, FLAM_GRAPH_RULES_TRIED, "rules-tried", 0);
  gtk_widget_class_set_css_name (widget_class, "flamegraph");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
flam_flame_graph_init (FlamFlameGraph *self)
{
  GtkWidget *widget = GTK_WIDGET (self);

  self->direction = FLAM_DIRECTION_FLAME;
  self->history = g_array_new (FALSE, FALSE, sizeof (FlamZoomState));
  self->future = g_array_new (FALSE, FALSE, sizeof (FlamZoomState));
  self->to = 1;
  self->selected = FLAM_NONE;
  self->hovered = FLAM_NONE;
  self->pressed = FLAM_NONE;
  self->pointed = FLAM_NONE;
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
