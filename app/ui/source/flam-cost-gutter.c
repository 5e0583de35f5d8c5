/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-cost-gutter.h"

#include "flam-core-picture.h"
#include "flam-platform.h"

#include <glib/gi18n.h>

#define WIDTH_CHARS 8 /* at least */
#define PADDING 4
#define BAR_ALPHA 0.30f

struct _FlamCostGutter
{
  GtkSourceGutterRenderer parent_instance;
  FlamSourceCosts *costs;
  int room;   /* width of the source view; 0: unknown */
  int column; /* width of one of them; 0: to be measured */
  gboolean
      tight; /* less than all of it is shown: flam_cost_gutter_set_room() */
  guint resize;
  PangoLayout *layout;
};

G_DEFINE_FINAL_TYPE (FlamCostGutter,
                     flam_cost_gutter,
                     GTK_SOURCE_TYPE_GUTTER_RENDERER)

static PangoLayout *
ensure_layout (FlamCostGutter *self)
{
  if (self->layout == NULL)
    self->layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), NULL);
  return self->layout;
}

static int
text_width (FlamCostGutter *self, const char *text)
{
  PangoLayout *layout = ensure_layout (self);
  int width;

  pango_layout_set_text (layout, text, -1);
  pango_layout_get_pixel_size (layout, &width, NULL);
  return width;
}

/* The width of the widest of these numbers. In a long file only the longest
 * texts are measured. */
static int
widest (FlamCostGutter *self, char **texts, int width)
{
  glong longest = WIDTH_CHARS;

  for (guint i = 0; texts != NULL && i < self->costs->n; i++)
    {
      glong length = g_utf8_strlen (texts[i], -1);

      if (length < longest)
        continue;
      longest = length;
      width = MAX (width, text_width (self, texts[i]));
    }
  return width;
}

/* The width for a number: it is the same for all, so that bars compare. */
static int
figure_width (FlamCostGutter *self)
{
  const FlamSourceCosts *costs = self->costs;
  gboolean compared = costs->compared != NULL;
  char **texts[] = { compared ? costs->before_text : costs->self_text,
                     compared ? costs->now_text : costs->total_text,
                     costs->change_text };
  int width = text_width (self, "00000000");

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    width = widest (self, texts[i], width);
  return width + 2 * PADDING;
}

static int
share_width (FlamCostGutter *self)
{
  g_autofree char *most = flam_format_percent (1, 1);
  g_autofree char *least = flam_format_percent (1, G_MAXINT32);

  return MAX (text_width (self, most), text_width (self, least)) + 2 * PADDING;
}

static int
n_columns (FlamCostGutter *self)
{
  if (self->costs->compared == NULL)
    return 2;
  return self->tight ? 1 : 3;
}

static void
measure_columns (FlamCostGutter *self)
{
  int column = figure_width (self);

  self->tight = FALSE;
  self->tight =
      self->room > 0 && n_columns (self) * column > self->room * 2 / 3;
  self->column = self->tight && self->costs->compared == NULL
                     ? share_width (self)
                     : column;
}

typedef struct
{
  float x, y, width, height;
  GdkRGBA text;
} Cell;

/* One number of a line, with its bar behind it. */
typedef struct
{
  const char *text;
  float share; /* of the bar */
  const GdkRGBA *bar;
} Figure;

static void
snapshot_figure (FlamCostGutter *self,
                 GtkSnapshot *snapshot,
                 const Figure *figure,
                 const Cell *cell)
{
  PangoLayout *layout = ensure_layout (self);
  float bar = MAX (1, figure->share * (cell->width - PADDING));
  int width, height;

  gtk_snapshot_append_color (
      snapshot,
      figure->bar,
      &GRAPHENE_RECT_INIT (cell->x + cell->width - bar - PADDING / 2,
                           cell->y + 1,
                           bar,
                           cell->height - 2));

  pango_layout_set_text (layout, figure->text, -1);
  pango_layout_get_pixel_size (layout, &width, &height);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot,
      &GRAPHENE_POINT_INIT (cell->x + cell->width - (float)width - PADDING,
                            cell->y + (cell->height - (float)height) / 2));
  gtk_snapshot_append_layout (snapshot, layout, &cell->text);
  gtk_snapshot_restore (snapshot);
}

static void
snapshot_costs (FlamCostGutter *self,
                GtkSnapshot *snapshot,
                guint row,
                Cell cell)
{
  static const GdkRGBA bars[] = { { 0.90f, 0.38f, 0.0f, BAR_ALPHA },
                                  { 0.95f, 0.65f, 0.0f, BAR_ALPHA } };
  char **texts[] = { self->costs->self_text, self->costs->total_text };

  for (guint cost = FLAM_COST_SELF; cost <= FLAM_COST_TOTAL; cost++)
    {
      gint64 value = flam_source_costs_value (self->costs, row, cost);
      g_autofree char *share =
          self->tight ? flam_format_percent (value, self->costs->whole) : NULL;
      Figure figure = {
        share != NULL ? share : texts[cost][row],
        (float)value / (float)self->costs->whole,
        &bars[cost],
      };

      if (value > 0)
        snapshot_figure (self, snapshot, &figure, &cell);
      cell.x += cell.width;
    }
}

/* Before, now and the change, in the colors of the difference. */
static void
snapshot_compared (FlamCostGutter *self,
                   GtkSnapshot *snapshot,
                   guint row,
                   Cell cell)
{
  static const GdkRGBA plain = { 0.5f, 0.5f, 0.5f, BAR_ALPHA };
  static const GdkRGBA grew = { 0.88f, 0.11f, 0.14f, BAR_ALPHA };
  static const GdkRGBA shrank = { 0.11f, 0.44f, 0.85f, BAR_ALPHA };
  const FlamSourceCosts *costs = self->costs;
  float top = (float)costs->whole_compared;
  const FlamDiffRow *of = &costs->compared[row];
  Figure figures[] = {
    { costs->before_text[row], (float)of->base / top, &plain },
    { costs->now_text[row], (float)of->fresh / top, &plain },
    { costs->change_text[row],
      (float)ABS (of->delta) / top,
      of->delta > 0 ? &grew : &shrank },
  };
  gboolean shown[] = { of->base > 0, of->fresh > 0, of->delta != 0 };

  for (guint i = self->tight ? 2 : 0; i < G_N_ELEMENTS (figures); i++)
    {
      if (shown[i])
        snapshot_figure (self, snapshot, &figures[i], &cell);
      cell.x += cell.width;
    }
}

static void
flam_cost_gutter_snapshot_line (GtkSourceGutterRenderer *renderer,
                                GtkSnapshot *snapshot,
                                GtkSourceGutterLines *lines,
                                guint line)
{
  FlamCostGutter *self = FLAM_COST_GUTTER (renderer);
  GtkWidget *view = GTK_WIDGET (gtk_source_gutter_renderer_get_view (renderer));
  int row =
      self->costs != NULL ? flam_source_costs_find (self->costs, line + 1) : -1;
  Cell cell = { 0 };
  double y, height;

  if (row < 0)
    return;
  flam_platform_gutter_line (lines, line, &y, &height);
  gtk_style_context_get_color (gtk_widget_get_style_context (view), &cell.text);
  cell.y = (float)y;
  cell.height = (float)height;
  cell.width = (float)self->column;
  if (self->costs->compared != NULL)
    snapshot_compared (self, snapshot, (guint)row, cell);
  else
    snapshot_costs (self, snapshot, (guint)row, cell);
}

static void
flam_cost_gutter_measure (GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  FlamCostGutter *self = FLAM_COST_GUTTER (widget);
  int width = 0;

  if (orientation == GTK_ORIENTATION_HORIZONTAL && self->costs != NULL)
    {
      if (self->column == 0)
        measure_columns (self);
      width = n_columns (self) * self->column;
    }
  *minimum = *natural = width;
  *minimum_baseline = *natural_baseline = -1;
}

static void
flam_cost_gutter_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  FlamCostGutter *self = FLAM_COST_GUTTER (widget);

  GTK_WIDGET_CLASS (flam_cost_gutter_parent_class)
      ->css_changed (widget, change);
  g_clear_object (&self->layout);
  self->column = 0;
  gtk_widget_queue_resize (widget);
}

void
flam_cost_gutter_set_costs (FlamCostGutter *self, FlamSourceCosts *costs)
{
  g_return_if_fail (FLAM_IS_COST_GUTTER (self));
  if (costs != NULL)
    flam_source_costs_ref (costs);
  g_clear_pointer (&self->costs, flam_source_costs_unref);
  self->costs = costs;
  self->column = 0;
  gtk_widget_queue_resize (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* The room is set while the source view gets its place. */
static gboolean
resize_later (gpointer data)
{
  FlamCostGutter *self = data;

  self->resize = 0;
  self->column = 0;
  gtk_widget_queue_resize (GTK_WIDGET (self));
  return G_SOURCE_REMOVE;
}

void
flam_cost_gutter_set_room (FlamCostGutter *self, int room)
{
  g_return_if_fail (FLAM_IS_COST_GUTTER (self));
  if (room == self->room)
    return;
  self->room = room;
  if (self->resize == 0)
    self->resize =
        g_idle_add_full (G_PRIORITY_HIGH_IDLE, resize_later, self, NULL);
}

char *
flam_cost_gutter_describe (FlamCostGutter *self, guint line)
{
  g_autofree char *jumps = NULL, *text = NULL;
  int row;

  g_return_val_if_fail (FLAM_IS_COST_GUTTER (self), NULL);
  row = self->costs != NULL ? flam_source_costs_find (self->costs, line) : -1;
  if (row < 0)
    return g_strdup_printf (_ ("line %u"), line);
  if (self->costs->compared != NULL)
    return g_strdup_printf (_ ("line %u: before %s, now %s, change %s"),
                            line,
                            self->costs->before_text[row],
                            self->costs->now_text[row],
                            self->costs->change_text[row]);
  jumps = flam_source_costs_jumps (self->costs, line);
  text = *self->costs->self_text[row] == '\0'
             ? g_strdup_printf (
                   _ ("line %u: total %s"), line, self->costs->total_text[row])
             : g_strdup_printf (_ ("line %u: self %s, total %s"),
                                line,
                                self->costs->self_text[row],
                                self->costs->total_text[row]);
  return g_strconcat (text, jumps, NULL);
}

/* The line that is drawn there, from 1. */
static guint
line_at (FlamCostGutter *self, int x, int y)
{
  GtkTextView *view = GTK_TEXT_VIEW (
      gtk_source_gutter_renderer_get_view (GTK_SOURCE_GUTTER_RENDERER (self)));
  double view_x, view_y;
  GtkTextIter iter;
  int top;

  if (!gtk_widget_translate_coordinates (
          GTK_WIDGET (self), GTK_WIDGET (view), x, y, &view_x, &view_y))
    return 0;
  gtk_text_view_window_to_buffer_coords (
      view, GTK_TEXT_WINDOW_WIDGET, (int)view_x, (int)view_y, NULL, &top);
  gtk_text_view_get_line_at_y (view, &iter, top, NULL);
  return (guint)gtk_text_iter_get_line (&iter) + 1;
}

static const char *
explain_columns (FlamCostGutter *self)
{
  gboolean compared = self->costs != NULL && self->costs->compared != NULL;

  if (compared)
    return self->tight ? _ ("The change.")
                       : _ ("Left: before. Middle: now. Right: the change.");
  return _ ("Left: self, spent in the line. Right: total, including callees.");
}

/* The tooltip is queried on demand: GTK asks the display server for the
 * pointer's position whenever a tooltip is set. */
static gboolean
flam_cost_gutter_query_tooltip (
    GtkWidget *widget, int x, int y, gboolean by_keyboard, GtkTooltip *tooltip)
{
  FlamCostGutter *self = FLAM_COST_GUTTER (widget);
  guint line = by_keyboard ? 0 : line_at (self, x, y);
  g_autofree char *figures = NULL, *text = NULL;

  if (self->costs != NULL && flam_source_costs_find (self->costs, line) >= 0)
    figures = flam_cost_gutter_describe (self, line);
  text = g_strjoin ("\n", explain_columns (self), figures, NULL);
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

static void
flam_cost_gutter_dispose (GObject *object)
{
  FlamCostGutter *self = FLAM_COST_GUTTER (object);

  g_clear_handle_id (&self->resize, g_source_remove);
  g_clear_pointer (&self->costs, flam_source_costs_unref);
  g_clear_object (&self->layout);
  G_OBJECT_CLASS (flam_cost_gutter_parent_class)->dispose (object);
}

static void
flam_cost_gutter_class_init (FlamCostGutterClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_cost_gutter_dispose;
  GTK_SOURCE_GUTTER_RENDERER_CLASS (klass)->snapshot_line =
      flam_cost_gutter_snapshot_line;
  class->measure = flam_cost_gutter_measure;
  class->css_changed = flam_cost_gutter_css_changed;
  class->query_tooltip = flam_cost_gutter_query_tooltip;
}

static void
flam_cost_gutter_init (FlamCostGutter *self)
{
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
}

GtkSourceGutterRenderer *
flam_cost_gutter_new (void)
{
  return g_object_new (FLAM_TYPE_COST_GUTTER, NULL);
}
