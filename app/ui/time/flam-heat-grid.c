/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-heat-grid.h"

#include "flam-core-picture.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#define NONE G_MAXUINT
#define AXIS 20
#define CELL_LEAST 3
#define CELL_MOST 16
#define LEVELS 24

struct _FlamHeatGrid
{
  GtkWidget parent_instance;

  FlamHeatMap *map;
  gint64 from, to;
  guint begun; /* the cell of the first click, NONE: no range begun */
  guint cursor, hovered;
};

enum
{
  RANGE_CHANGED,
  N_SIGNALS
};
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (FlamHeatGrid, flam_heat_grid, GTK_TYPE_WIDGET)

static guint
n_cells (FlamHeatGrid *self)
{
  return self->map->n_columns * self->map->n_rows;
}

/* --- cell positions ------------------------------------------------------- */

typedef struct
{
  double width, height; /* size of a cell in pixels */
} Size;

static Size
cell_size (FlamHeatGrid *self)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  double height = gtk_widget_get_height (GTK_WIDGET (self)) - AXIS;

  return (Size){
    CLAMP (floor (width / self->map->n_columns), CELL_LEAST, 4 * CELL_MOST),
    MAX (floor (height / self->map->n_rows), 1),
  };
}

static double
bottom_of (FlamHeatGrid *self)
{
  return cell_size (self).height * self->map->n_rows;
}

static guint
cell_at (FlamHeatGrid *self, double x, double y)
{
  Size size;
  double row;

  if (self->map == NULL)
    return NONE;
  size = cell_size (self);
  row = floor ((bottom_of (self) - y) / size.height);
  if (x < 0 || row < 0 || row >= self->map->n_rows ||
      x >= size.width * self->map->n_columns)
    return NONE;
  return (guint)(x / size.width) * self->map->n_rows + (guint)row;
}

/* --- words ---------------------------------------------------------------- */

static char *
describe (FlamHeatGrid *self, guint cell)
{
  g_autofree char *time = NULL;
  g_autofree char *value = NULL;

  if (self->map == NULL || cell == NONE)
    return g_strdup (_ ("Heat map"));
  time =
      flam_format_value (flam_heat_map_time_of (self->map, cell), FLAM_UNIT_NS);
  value = flam_format_value (self->map->value[cell], self->map->unit);
  /* Translators: a time, and the activity at that time */
  return g_strdup_printf (_ ("at %s: %s"), time, value);
}

static void
announce (FlamHeatGrid *self)
{
  g_autofree char *text = describe (self, self->cursor);

  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

/* --- the range ------------------------------------------------------------ */

static void
tell (FlamHeatGrid *self, gint64 from, gint64 to)
{
  self->from = from;
  self->to = to;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, signals[RANGE_CHANGED], 0, from, to);
}

static void
choose (FlamHeatGrid *self, guint cell)
{
  guint first, last;

  if (cell == NONE)
    return;
  if (self->begun == NONE)
    {
      self->begun = cell;
      gtk_widget_queue_draw (GTK_WIDGET (self));
      return;
    }
  first = MIN (self->begun, cell);
  last = MAX (self->begun, cell);
  self->begun = NONE;
  tell (self,
        flam_heat_map_time_of (self->map, first),
        flam_heat_map_time_of (self->map, last + 1));
}

void
flam_heat_grid_set_range (FlamHeatGrid *self, gint64 from, gint64 to)
{
  g_return_if_fail (FLAM_IS_HEAT_GRID (self));
  self->from = from;
  self->to = to;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
flam_heat_grid_set_map (FlamHeatGrid *self, FlamHeatMap *map)
{
  g_return_if_fail (FLAM_IS_HEAT_GRID (self));
  if (self->map == NULL || map == NULL ||
      n_cells (self) != map->n_columns * map->n_rows)
    self->begun = self->cursor = self->hovered = NONE;
  g_clear_pointer (&self->map, flam_heat_map_free);
  self->map = map;
  announce (self);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

/* --- picture -------------------------------------------------------------- */

static GdkRGBA
level_color (guint level, gboolean dark)
{
  double share = (double)level / LEVELS;
  FlamColor color =
      dark
          ? flam_color_from_oklch (0.26 + 0.52 * share, 0.03 + 0.15 * share, 45)
          : flam_color_from_oklch (
                0.97 - 0.42 * share, 0.01 + 0.19 * share, 40);

  return (GdkRGBA){ (float)(color >> 16 & 255) / 255,
                    (float)(color >> 8 & 255) / 255,
                    (float)(color & 255) / 255,
                    1 };
}

static void
fill (GtkSnapshot *snapshot,
      const GdkRGBA *color,
      double x,
      double y,
      double width,
      double height)
{
  gtk_snapshot_append_color (
      snapshot,
      color,
      &GRAPHENE_RECT_INIT ((float)x, (float)y, (float)width, (float)height));
}

static void
draw_cells (FlamHeatGrid *self, GtkSnapshot *snapshot)
{
  const FlamHeatMap *map = self->map;
  Size size = cell_size (self);
  double gap = MIN (size.width, size.height) > 5 ? 1 : 0;
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  GdkRGBA colors[LEVELS + 1];

  for (guint i = 0; i <= LEVELS; i++)
    colors[i] = level_color (i, dark);
  for (guint cell = 0; cell < n_cells (self); cell++)
    {
      guint level = 0;

      if (map->value[cell] > 0)
        level = 1 + (guint)((double)(map->value[cell]) / (double)map->top *
                            (LEVELS - 1));
      fill (snapshot,
            &colors[MIN (level, LEVELS)],
            cell / map->n_rows * size.width,
            bottom_of (self) - (cell % map->n_rows + 1) * size.height,
            size.width - gap,
            size.height - gap);
    }
}

/* A veil over the cells that are not selected, one column at a time. */
static void
draw_range (FlamHeatGrid *self, GtkSnapshot *snapshot)
{
  const FlamHeatMap *map = self->map;
  Size size = cell_size (self);
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  float shade = dark ? 0.1f : 1;
  GdkRGBA veil = { shade, shade, shade, 0.72f };

  if (self->from == G_MININT64 && self->to == G_MAXINT64)
    return;
  for (guint c = 0; c < map->n_columns; c++)
    {
      double x = c * size.width;
      guint below = 0, above = 0;

      for (guint r = 0; r < map->n_rows; r++)
        {
          guint cell = c * map->n_rows + r;

          below += flam_heat_map_time_of (map, cell + 1) <= self->from;
          above += flam_heat_map_time_of (map, cell) >= self->to;
        }
      fill (snapshot,
            &veil,
            x,
            bottom_of (self) - below * size.height,
            size.width,
            below * size.height);
      fill (snapshot, &veil, x, 0, size.width, above * size.height);
    }
}

static void
draw_mark (FlamHeatGrid *self,
           GtkSnapshot *snapshot,
           guint cell,
           const GdkRGBA *color)
{
  Size size = cell_size (self);
  GskRoundedRect outline;

  if (cell == NONE || cell >= n_cells (self))
    return;
  gsk_rounded_rect_init_from_rect (
      &outline,
      &GRAPHENE_RECT_INIT (
          (float)(cell / self->map->n_rows * size.width) - 1,
          (float)(bottom_of (self) -
                  (cell % self->map->n_rows + 1) * size.height) -
              1,
          (float)size.width + 1,
          (float)size.height + 1),
      0);
  gtk_snapshot_append_border (snapshot,
                              &outline,
                              (float[]){ 2, 2, 2, 2 },
                              (GdkRGBA[]){ *color, *color, *color, *color });
}

static void
draw_axis (FlamHeatGrid *self, GtkSnapshot *snapshot, const GdkRGBA *ink)
{
  Size size = cell_size (self);
  double seconds = (double)self->map->column / 1e9;
  double width = size.width * self->map->n_columns;
  double span = (double)self->map->column * self->map->n_columns;
  double step = MAX (flam_ticks_step (span, width), 1e9 * seconds);

  for (double time = 0; time < span; time += step)
    {
      g_autofree char *text = flam_ticks_text (time, step);
      g_autoptr (PangoLayout) layout =
          gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
      double x = time / (double)self->map->column * size.width;

      fill (snapshot, ink, x, bottom_of (self), 1, 4);
      gtk_snapshot_save (snapshot);
      gtk_snapshot_translate (
          snapshot,
          &GRAPHENE_POINT_INIT ((float)x + 3, (float)bottom_of (self) + 2));
      gtk_snapshot_append_layout (snapshot, layout, ink);
      gtk_snapshot_restore (snapshot);
    }
}

static void
flam_heat_grid_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamHeatGrid *self = FLAM_HEAT_GRID (widget);
  GdkRGBA ink;

  if (self->map == NULL)
    return;
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &ink);
  draw_cells (self, snapshot);
  draw_range (self, snapshot);
  draw_axis (self, snapshot, &ink);
  draw_mark (self, snapshot, self->begun, &ink);
  draw_mark (self, snapshot, self->hovered, &ink);
  if (gtk_widget_has_focus (widget))
    draw_mark (self, snapshot, self->cursor, &ink);
}

/* --- pointer and keys ----------------------------------------------------- */

static void
on_pressed (
    GtkGestureClick *click, int n_press, double x, double y, FlamHeatGrid *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  self->cursor = cell_at (self, x, y);
  announce (self);
  choose (self, self->cursor);
}

static void
on_motion (GtkEventControllerMotion *motion,
           double x,
           double y,
           FlamHeatGrid *self)
{
  self->hovered = cell_at (self, x, y);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
on_leave (GtkEventControllerMotion *motion, FlamHeatGrid *self)
{
  self->hovered = NONE;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
walk (FlamHeatGrid *self, int step)
{
  gint64 cell = self->cursor == NONE ? 0 : (gint64)self->cursor + step;

  if (cell < 0 || cell >= n_cells (self))
    return;
  self->cursor = (guint)cell;
  announce (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static gboolean
on_key (GtkEventControllerKey *keys,
        guint key,
        guint code,
        GdkModifierType state,
        FlamHeatGrid *self)
{
  if (self->map == NULL ||
      state & (GDK_ALT_MASK | GDK_SUPER_MASK | GDK_CONTROL_MASK))
    return FALSE;
  switch (key)
    {
    case GDK_KEY_Up:
      walk (self, 1);
      return TRUE;
    case GDK_KEY_Down:
      walk (self, -1);
      return TRUE;
    case GDK_KEY_Left:
      walk (self, -(int)self->map->n_rows);
      return TRUE;
    case GDK_KEY_Right:
      walk (self, (int)self->map->n_rows);
      return TRUE;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
    case GDK_KEY_space:
      choose (self, self->cursor);
      return TRUE;
    case GDK_KEY_Escape:
      if (self->begun == NONE && self->from == G_MININT64 &&
          self->to == G_MAXINT64)
        return FALSE;
      self->begun = NONE;
      tell (self, G_MININT64, G_MAXINT64);
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
on_query_tooltip (GtkWidget *widget,
                  int x,
                  int y,
                  gboolean by_keyboard,
                  GtkTooltip *tooltip,
                  gpointer data)
{
  FlamHeatGrid *self = FLAM_HEAT_GRID (widget);
  guint cell = by_keyboard ? self->cursor : cell_at (self, x, y);
  g_autofree char *text = NULL;

  if (cell == NONE)
    return FALSE;
  text = describe (self, cell);
  gtk_tooltip_set_text (tooltip, text);
  gtk_tooltip_set_tip_area (tooltip, &(GdkRectangle){ x, y, 1, 1 });
  return TRUE;
}

/* --- object --------------------------------------------------------------- */

static void
flam_heat_grid_measure (GtkWidget *widget,
                        GtkOrientation orientation,
                        int for_size,
                        int *minimum,
                        int *natural,
                        int *minimum_baseline,
                        int *natural_baseline)
{
  FlamHeatGrid *self = FLAM_HEAT_GRID (widget);
  gboolean across = orientation == GTK_ORIENTATION_HORIZONTAL;
  guint n = self->map == NULL ? 1
            : across          ? self->map->n_columns
                              : self->map->n_rows;

  *minimum = (int)n * CELL_LEAST + (across ? 0 : AXIS);
  *natural = MAX (*minimum, (int)n * CELL_MOST + (across ? 0 : AXIS));
}

static void
flam_heat_grid_dispose (GObject *object)
{
  g_clear_pointer (&FLAM_HEAT_GRID (object)->map, flam_heat_map_free);
  G_OBJECT_CLASS (flam_heat_grid_parent_class)->dispose (object);
}

static void
flam_heat_grid_class_init (FlamHeatGridClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = flam_heat_grid_dispose;
  widget_class->measure = flam_heat_grid_measure;
  widget_class->snapshot = flam_heat_grid_snapshot;
  signals[RANGE_CHANGED] = g_signal_new ("range-changed",
                                         FLAM_TYPE_HEAT_GRID,
                                         G_SIGNAL_RUN_LAST,
                                         0,
                                         NULL,
                                         NULL,
                                         NULL,
                                         G_TYPE_NONE,
                                         2,
                                         G_TYPE_INT64,
                                         G_TYPE_INT64);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
flam_heat_grid_init (FlamHeatGrid *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkGesture *click = gtk_gesture_click_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  self->from = G_MININT64;
  self->to = G_MAXINT64;
  self->begun = self->cursor = self->hovered = NONE;
  gtk_widget_set_focusable (widget, TRUE);
  gtk_widget_set_has_tooltip (widget, TRUE);
  gtk_widget_set_overflow (widget, GTK_OVERFLOW_HIDDEN);
  g_signal_connect (click, "pressed", G_CALLBACK (on_pressed), self);
  g_signal_connect (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (on_query_tooltip), NULL);
  g_signal_connect (
      self, "notify::has-focus", G_CALLBACK (gtk_widget_queue_draw), NULL);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (widget, motion);
  gtk_widget_add_controller (widget, keys);
  announce (self);
}
