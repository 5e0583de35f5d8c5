/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#include "flam-accent.h"
#include "flam-core-picture.h"
#include "flam-snapshot-image.h"
#include "flam-swatch.h"
#include "flam-tip-layer.h"
#include "flam-value-text.h"
#include "flam-widget.h"

#include <glib/gi18n.h>
#include <gsk/gsk.h>
#include <math.h>
#include <string.h>

/* --- marks --------------------------------------------------------------- */

#define VEIL 0.12f  /* over the hovered box */
#define FAINT 0.55f /* its outline */
#define RING 0.8f   /* around a graph with the focus */
#define STRIP_HEIGHT 4

static GdkRGBA
ink_of (FlamFlameGraph *self)
{
  return self->dark ? (GdkRGBA){ 1, 1, 1, 1 } : (GdkRGBA){ 0, 0, 0, 1 };
}

static void
append_frame (GtkSnapshot *snapshot,
              const graphene_rect_t *bounds,
              float line,
              const GdkRGBA *color)
{
  const float widths[4] = { line, line, line, line };
  const GdkRGBA colors[4] = { *color, *color, *color, *color };
  GskRoundedRect outline;

  gsk_rounded_rect_init_from_rect (&outline, bounds, FLAM_DRAW_RADIUS);
  gtk_snapshot_append_border (snapshot, &outline, widths, colors);
}

/* The visible part of a box, at least 3 pixels wide. */
static gboolean
rect_of (const FlamViewport *viewport,
         const FlamBox *box,
         graphene_rect_t *rect)
{
  double left = MAX (box->x, 0);
  double right = MIN (box->x + box->width, viewport->width);

  if (box->x > viewport->width || box->x + box->width < 0 ||
      box->y > viewport->height || box->y + box->height < 0)
    return FALSE;
  *rect = GRAPHENE_RECT_INIT ((float)round (left),
                              (float)round (box->y),
                              (float)MAX (round (right) - round (left), 3),
                              (float)(box->height - FLAM_DRAW_GAP));
  return TRUE;
}

static void
mark_sector (FlamFlameGraph *self,
             GtkSnapshot *snapshot,
             const FlamBox *box,
             gboolean selected,
             const GdkRGBA *ink)
{
  const FlamLayout *layout = flam_graph_layout (self);
  FlamRect bounds = flam_layout_bounds (layout, box);
  cairo_t *cr = gtk_snapshot_append_cairo (
      snapshot,
      &GRAPHENE_RECT_INIT ((float)bounds.x - 2,
                           (float)bounds.y - 2,
                           (float)bounds.width + 4,
                           (float)bounds.height + 4));

  flam_draw_append_sector (cr, layout, box);
  if (!selected)
    {
      cairo_set_source_rgba (cr, 0, 0, 0, VEIL);
      cairo_fill_preserve (cr);
    }
  gdk_cairo_set_source_rgba (cr, ink);
  cairo_set_line_width (cr, selected ? 2 : 1);
  cairo_stroke (cr);
  cairo_destroy (cr);
}

static void
mark_box (FlamFlameGraph *self,
          GtkSnapshot *snapshot,
          const FlamBox *box,
          gboolean selected,
          const GdkRGBA *ink)
{
  FlamViewport viewport = flam_graph_viewport (self);
  graphene_rect_t rect;

  if (!rect_of (&viewport, box, &rect))
    return;
  if (selected)
    graphene_rect_inset (&rect, -1, -1);
  else
    gtk_snapshot_append_color (snapshot, &(GdkRGBA){ 0, 0, 0, VEIL }, &rect);
  append_frame (snapshot, &rect, selected ? 2 : 1, ink);
}

static void
append_mark (FlamFlameGraph *self,
             GtkSnapshot *snapshot,
             FlamNodeId node,
             gboolean selected)
{
  GdkRGBA ink = ink_of (self);
  FlamBox box;

  if (node == FLAM_NONE || node >= self->tree->n ||
      !flam_graph_find_box (self, node, &box))
    return;
  if (!selected)
    ink.alpha = FAINT;
  if (self->shape == FLAM_SHAPE_SUNBURST)
    mark_sector (self, snapshot, &box, selected, &ink);
  else
    mark_box (self, snapshot, &box, selected, &ink);
}

/* --- where matches are --------------------------------------------------- */

/* Matches too small to draw, and those in rows that are out of view, are marked
 * in a strip below the graph, in the columns where they are. */

static void
mark_columns (FlamMatchStrip *strip, double left, double right)
{
  double scale = strip->width / (strip->to - strip->from);
  int first = (int)floor ((left - strip->from) * scale);
  int end = (int)ceil ((right - strip->from) * scale);

  first = MAX (first, 0);
  end = MIN (MAX (end, first + 1), strip->width);
  if (end > first)
    memset (strip->columns + first, 1, (gsize)(end - first));
}

static void
make_strip (FlamFlameGraph *self, int width)
{
  FlamMatchStrip *strip = &self->strip;

  g_free (strip->columns);
  *strip =
      (FlamMatchStrip){ self->from, self->to, width, g_new0 (guint8, width) };
  for (FlamNodeId node = 1; node < self->tree->n; node++)
    {
      const FlamRowCell *cell = &self->rows->at[self->rows->index[node]];
      double left = (double)cell->x;
      double right = (double)(cell->x + cell->total);

      if (self->matched[node] && right > strip->from && left < strip->to)
        mark_columns (strip, left, right);
    }
}

static void
append_strip (FlamFlameGraph *self, GtkSnapshot *snapshot)
{
  const FlamMatchStrip *strip = &self->strip;
  int width = gtk_widget_get_width (GTK_WIDGET (self));
  float y = (float)(gtk_widget_get_height (GTK_WIDGET (self)) - STRIP_HEIGHT);
  GdkRGBA color = flam_accent (self->dark, 1);

  if (self->matched == NULL || self->shape != FLAM_SHAPE_FLAME ||
      self->to <= self->from)
    return;
  if (strip->columns == NULL || strip->width != width ||
      strip->from != self->from || strip->to != self->to)
    make_strip (self, width);
  for (int x = 0, end = 0; x < width; x = end)
    {
      for (end = x + 1;
           end < width && strip->columns[end] == strip->columns[x];)
        end++;
      if (strip->columns[x])
        gtk_snapshot_append_color (
            snapshot,
            &color,
            &GRAPHENE_RECT_INIT ((float)x, y, (float)(end - x), STRIP_HEIGHT));
    }
}

static void
append_marks (FlamFlameGraph *self, GtkSnapshot *snapshot)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GdkRGBA ring = flam_accent (self->dark, RING);

  append_strip (self, snapshot);
  if (self->hovered != self->selected)
    append_mark (self, snapshot, self->hovered, FALSE);
  if (self->pointed != self->selected && self->pointed != self->hovered)
    append_mark (self, snapshot, self->pointed, FALSE);
  append_mark (self, snapshot, self->selected, TRUE);
  if (self->selected == FLAM_NONE && gtk_widget_has_visible_focus (widget))
    append_frame (snapshot,
                  &GRAPHENE_RECT_INIT (0,
                                       0,
                                       (float)gtk_widget_get_width (widget),
                                       (float)gtk_widget_get_height (widget)),
                  2,
                  &ring);
}

void
flam_flame_graph_point_at (FlamFlameGraph *self, FlamNodeId node)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (self->pointed == node)
    return;
  self->pointed = node;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* --- picture ------------------------------------------------------------- */

/* The pixels of former pictures are reused: a fresh page of memory costs more
 * than filling it. There are two, since GTK keeps the shown one until the next
 * is shown. */
typedef struct
{
  gsize size;
  gint busy;
} Pixels;

static void
pixels_release (gpointer data)
{
  Pixels *pixels = data;

  g_atomic_int_set (&pixels->busy, 0);
  g_atomic_rc_box_release (pixels);
}

static Pixels *
pixels_take (FlamFlameGraph *self, gsize size)
{
  void **spare = &self->spares[0];
  Pixels *pixels = *spare;

  if (pixels != NULL && g_atomic_int_get (&pixels->busy))
    {
      spare = &self->spares[1];
      pixels = *spare;
    }
  if (pixels == NULL || pixels->size != size ||
      g_atomic_int_get (&pixels->busy))
    {
      g_clear_pointer (spare, g_atomic_rc_box_release);
      pixels = g_atomic_rc_box_alloc (sizeof *pixels + size);
      pixels->size = size;
      *spare = pixels;
    }
  pixels->busy = 1;
  return g_atomic_rc_box_acquire (pixels);
}

void
flam_graph_forget_pixels (FlamFlameGraph *self)
{
  g_clear_pointer (&self->picture, cairo_surface_destroy);
  g_clear_pointer (&self->last_picture, cairo_surface_destroy);
  g_clear_pointer (&self->image, gsk_render_node_unref);
  for (guint i = 0; i < G_N_ELEMENTS (self->spares); i++)
    g_clear_pointer (&self->spares[i], g_atomic_rc_box_release);
}

static void
draw_on (FlamFlameGraph *self,
         cairo_surface_t *surface,
         const FlamLayout *layout)
{
  FlamScene scene = { .tree = self->tree,
                      .palette = flam_graph_palette (self),
                      .matched = self->matched,
                      .root = flam_graph_name (self->tree, 0) };
  cairo_t *cr = cairo_create (surface);

  flam_draw_layout (flam_graph_draw (self), cr, layout, &scene);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  if (self->rules != NULL)
    g_signal_emit (self, flam_graph_signals[FLAM_GRAPH_RULES_TRIED], 0);
}

static cairo_surface_t *
surface_new (guchar *pixels, int width, int height, int scale)
{
  cairo_surface_t *surface =
      cairo_image_surface_create_for_data (pixels,
                                           CAIRO_FORMAT_ARGB32,
                                           width * scale,
                                           height * scale,
                                           width * scale * 4);

  cairo_surface_set_device_scale (surface, scale, scale);
  return surface;
}

/* --- a picture that has been scrolled ------------------------------------ */

/* Lines of pixels that the last picture and this one share are copied. The
 * others are drawn as a separate picture of the rows that they intersect:
 *
 *    last       this
 *             +-------+
 *             | drawn |  by = 2: further from the root
 *    +-------+|       |
 *    |   a   ||   a   |
 *    |   b   ||   b   |
 *    |   c   |+-------+
 *    +-------+
 *
 * The result is the same, to the byte, as if everything were drawn, as long as
 * no label extends beyond its row (flam_draw_is_in_rows()). */

static void
draw_lines (FlamFlameGraph *self, guchar *pixels, int top, int bottom)
{
  const FlamLayout *layout = flam_graph_layout (self);
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  int width = gtk_widget_get_width (GTK_WIDGET (self));
  FlamViewport view = layout->viewport;
  g_autoptr (FlamLayout) lines = NULL;
  cairo_surface_t *surface;

  view.scroll +=
      view.direction == FLAM_DIRECTION_ICICLE ? top : view.height - bottom;
  view.height = bottom - top;
  lines = flam_layout_new_after (self->rows, &view, layout);
  surface = surface_new (pixels + (gsize)width * scale * 4 * top * scale,
                         width,
                         bottom - top,
                         scale);
  draw_on (self, surface, lines);
  cairo_surface_destroy (surface);
}

/* The number of pixels by which the last picture is further down in this one;
 * FALSE: they have nothing in common. */
static gboolean
find_shift (FlamFlameGraph *self, int *shift)
{
  const FlamViewport *view = &flam_graph_layout (self)->viewport;
  const FlamViewport *last = &self->pictured;
  double by;

  if (self->last_picture == NULL || view->height != last->height ||
      !flam_viewport_is_scrolled (view, last) ||
      !flam_draw_is_in_rows (flam_graph_draw (self)))
    return FALSE;
  by = view->direction == FLAM_DIRECTION_ICICLE ? last->scroll - view->scroll
                                                : view->scroll - last->scroll;
  *shift = (int)CLAMP (by, -view->height, view->height);
  return fabs (by) < view->height;
}

/* FALSE: nothing, or not all of it, is taken from the last picture. */
static gboolean
move_last_picture (FlamFlameGraph *self, guchar *pixels)
{
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  int height = gtk_widget_get_height (GTK_WIDGET (self));
  gsize line = (gsize)gtk_widget_get_width (GTK_WIDGET (self)) * scale * 4;
  const guchar *last;
  int shift;

  if (!find_shift (self, &shift))
    return FALSE;
  last = cairo_image_surface_get_data (self->last_picture);
  memcpy (pixels + line * scale * MAX (shift, 0),
          last + line * scale * MAX (-shift, 0),
          line * scale * (height - ABS (shift)));
  if (shift > 0)
    draw_lines (self, pixels, 0, shift);
  else if (shift < 0)
    draw_lines (self, pixels, height + shift, height);
  return flam_draw_is_in_rows (flam_graph_draw (self));
}

/* --- the picture --------------------------------------------------------- */

static void
make_picture (FlamFlameGraph *self)
{
  const FlamLayout *layout = flam_graph_layout (self);
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  int width = gtk_widget_get_width (GTK_WIDGET (self));
  int height = gtk_widget_get_height (GTK_WIDGET (self));
  Pixels *pixels =
      pixels_take (self, (gsize)width * height * scale * scale * 4);
  static const cairo_user_data_key_t key;

  self->picture = surface_new ((guchar *)(pixels + 1), width, height, scale);
  cairo_surface_set_user_data (self->picture, &key, pixels, pixels_release);
  if (!move_last_picture (self, (guchar *)(pixels + 1)))
    draw_on (self, self->picture, layout);
  self->pictured = layout->viewport;
  g_clear_pointer (&self->last_picture, cairo_surface_destroy);
}

void
flam_graph_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (widget);
  int width = gtk_widget_get_width (widget);
  int height = gtk_widget_get_height (widget);

  if (flam_graph_is_empty (self) || width <= 0 || height <= 0)
    return;
  if (self->picture == NULL)
    make_picture (self);
  gtk_snapshot_push_clip (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height));
  flam_snapshot_append_image (snapshot,
                              widget,
                              self->picture,
                              &self->image,
                              &GRAPHENE_RECT_INIT (0, 0, width, height));
  append_marks (self, snapshot);
  gtk_snapshot_pop (snapshot);
}

/* --- tooltip ------------------------------------------------------------- */

/* As for GTK's own tooltips: after half a second at rest, and sooner if one was
 * shown just before. */
#define TIP_DELAY 500       /* ms */
#define TIP_NEXT_DELAY 60   /* ms */
#define TIP_NEXT_WITHIN 500 /* ms */

#define TIP_NEAR 40  /* pixels of a high box */
#define TIP_WIDE 240 /* pixels of a wide box */

static char *
weight_text (FlamFlameGraph *self, gint64 weight)
{
  const FlamProfile *profile = self->tree->profile;

  if (self->tree->measure < profile->n_measures)
    return flam_format_weight (&profile->measures[self->tree->measure], weight);
  return flam_format_value (weight, FLAM_UNIT_COUNT);
}

static const char *
module_of (FlamFlameGraph *self, FlamNodeId node)
{
  return flam_profile_module_name (self->tree->profile,
                                   flam_tree_function (self->tree, node));
}

/* "nest · nest.c:21" */
static char *
location_text (FlamFlameGraph *self, FlamNodeId node)
{
  const char *module = module_of (self, node);
  const char *file = "";
  guint32 line = flam_tree_source_line (self->tree, node, &file);
  g_autofree char *name = g_path_get_basename (file);
  GString *text = g_string_new (module);

  if (*file != '\0')
    {
      g_string_append_printf (text, "%s%s", text->len > 0 ? " · " : "", name);
      if (line > 0)
        g_string_append_printf (text, ":%u", line);
    }
  if (flam_tree_address (self->tree, node) != 0)
    {
      g_autofree char *address = flam_tree_detail (self->tree, node);

      g_string_append_printf (text, " · %s", address + 1);
    }
  return g_string_free (text, FALSE);
}

/* --- the content --------------------------------------------------------- */

static GtkWidget *
new_label (const char *text, double xalign, const char *style)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), (float)xalign);
  if (style != NULL)
    gtk_widget_add_css_class (label, style);
  return label;
}

static void
add_cell (GtkGrid *grid, const char *text, int column, int row)
{
  GtkWidget *label = new_label (text, column == 0 ? 0 : 1, "numeric");

  if (column == 0)
    gtk_widget_add_css_class (label, "dim-label");
  gtk_grid_attach (grid, label, column, row, 1, 1);
}

static void
add_weight (FlamFlameGraph *self,
            GtkGrid *grid,
            int row,
            const char *name,
            FlamFigure figure)
{
  const FlamTree *tree = self->tree;
  const FlamMeasure measure = flam_tree_measure (tree);
  g_autofree char *text =
      flam_format_figure (&tree->profile->facts, &measure, figure);
  g_autofree char *share = flam_format_percent (figure.weight, tree->total[0]);
  g_autofree char *also = flam_value_text_other (tree, figure);

  add_cell (grid, name, 0, row);
  add_cell (grid, text, 1, row);
  add_cell (grid, share, 2, row);
  if (also != NULL)
    add_cell (grid, also, 3, row);
}

static void
add_share (FlamFlameGraph *self,
           GtkGrid *grid,
           int row,
           const char *format,
           FlamNodeId node,
           FlamId of)
{
  g_autofree char *share =
      flam_format_percent (self->tree->total[node], self->tree->total[of]);
  g_autofree char *short_name =
      flam_format_short_name (flam_graph_name (self->tree, of), 28);
  g_autofree char *name = g_strdup_printf (format, short_name);

  add_cell (grid, name, 0, row);
  add_cell (grid, share, 2, row);
}

/* How much of the frame's total the threads spent in each state. */
static void
add_states (FlamFlameGraph *self, GtkGrid *grid, int row, FlamNodeId node)
{
  for (guint i = 0; i < FLAM_N_STATES; i++)
    {
      gint64 weight = self->tree->split[node].weight[i];
      g_autofree char *text = weight_text (self, weight);
      g_autofree char *share =
          flam_format_percent (weight, self->tree->total[node]);
      GtkWidget *name = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);

      if (weight == 0)
        continue;
      gtk_box_append (
          GTK_BOX (name),
          flam_swatch_new (flam_palette_state_color (i, self->dark)));
      gtk_box_append (GTK_BOX (name),
                      new_label (_ (flam_state_to_title (i)), 0, "dim-label"));
      gtk_widget_set_margin_top (name, row == 0 ? 6 : 0);
      gtk_grid_attach (grid, name, 0, row, 1, 1);
      add_cell (grid, text, 1, row);
      add_cell (grid, share, 2, row++);
    }
}

/* Julia's status of the frame, and of its hidden callees. */
static int
add_statuses (FlamFlameGraph *self, GtkGrid *grid, int row, FlamNodeId node)
{
  for (guint i = 0; i < FLAM_N_STATUSES; i++)
    {
      GtkWidget *name;

      if (!(flam_tree_status (self->tree, node) & 1u << i))
        continue;
      name = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
      gtk_box_append (GTK_BOX (name),
                      flam_swatch_new (flam_palette_status_color (i)));
      gtk_box_append (GTK_BOX (name),
                      new_label (_ (flam_status_to_title (i)), 0, "dim-label"));
      gtk_grid_attach (grid, name, 0, row++, 1, 1);
    }
  return row;
}

static int
add_changes (FlamFlameGraph *self, GtkGrid *grid, int row, FlamNodeId node)
{
  const FlamTreeChange *change = self->tree->change;
  const FlamMeasure measure = flam_tree_measure (self->tree);
  const char *kind = flam_graph_kind_text (change, node);
  gint64 base = change->base[node], delta = change->delta[node];
  const FlamChangeEstimate estimate = flam_tree_change_estimate (change, node);
  g_autofree char *was = flam_format_estimated (&estimate.base, &measure, base);
  g_autofree char *is =
      flam_format_estimated (&estimate.fresh, &measure, base + delta);
  g_autofree char *by =
      flam_value_text_change (&measure, delta, &estimate.delta);
  g_autofree char *share = flam_format_percent (ABS (delta), base);
  g_autofree char *relative = flam_format_change (delta, share);

  add_cell (grid, _ ("Before"), 0, row);
  add_cell (grid, was, 1, row++);
  add_cell (grid, _ ("Now"), 0, row);
  add_cell (grid, is, 1, row++);
  add_cell (grid, _ ("Change"), 0, row);
  add_cell (grid, by, 1, row);
  if (kind != NULL)
    add_cell (grid, kind, 2, row);
  else if (base > 0 && delta != 0)
    add_cell (grid, relative, 2, row);
  return row + 1;
}

static int
add_weights (FlamFlameGraph *self, GtkGrid *grid, int row, FlamNodeId node)
{
  FlamId parent = self->tree->parent[node];
  const FlamFunctionRow of = flam_functions_row_of_node (self->tree, node);

  if (flam_functions_has_self (self->tree, node))
    add_weight (
        self, grid, row++, _ ("Self"), flam_functions_self (self->tree, &of));
  add_weight (
      self, grid, row++, _ ("Total"), flam_functions_total (self->tree, &of));
  if (parent != FLAM_NONE && parent != 0 && parent != self->zoom)
    add_share (self,
               grid,
               row++,
               self->tree->inverted
                   /* Translators: a share of its callee; %s is its name */
                   ? _ ("of callee %s")
                   /* Translators: a share of its caller; %s is its name */
                   : _ ("of caller %s"),
               node,
               parent);
  if (self->zoom != 0 && flam_tree_is_ancestor (self->tree, self->zoom, node))
    /* Translators: a share of the zoomed function */
    add_share (self, grid, row++, _ ("of zoomed %s"), node, self->zoom);
  return row;
}

static GtkWidget *
numbers_of (FlamFlameGraph *self, FlamNodeId node)
{
  const FlamTreeChange *change = self->tree->change;
  GtkGrid *grid = GTK_GRID (gtk_grid_new ());
  int row = 0;

  gtk_grid_set_column_spacing (grid, 12);
  gtk_grid_set_row_spacing (grid, 2);
  gtk_widget_set_margin_top (GTK_WIDGET (grid), 6);
  if (change == NULL || !change->both)
    row = add_weights (self, grid, row, node);
  if (change != NULL)
    row = add_changes (self, grid, row, node);
  row = add_statuses (self, grid, row, node);
  if (flam_graph_has_states (self))
    add_states (self, grid, row, node);
  return GTK_WIDGET (grid);
}

static GtkWidget *
title_of (const char *name)
{
  g_autofree char *visible = flam_format_visible (name);
  GtkWidget *label = new_label (visible, 0, "heading");

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 64);
  gtk_label_set_lines (GTK_LABEL (label), 6);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  return label;
}

static GtkWidget *
note_label (const char *note)
{
  GtkWidget *label = new_label (note, 0, "flam-note");

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 64);
  gtk_widget_set_margin_top (label, 6);
  return label;
}

static GtkWidget *
new_tip (FlamFlameGraph *self, FlamNodeId node, const char *note)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  g_autofree char *place = location_text (self, node);

  gtk_box_append (GTK_BOX (box), title_of (flam_graph_name (self->tree, node)));
  if (*place != '\0')
    gtk_box_append (GTK_BOX (box), new_label (place, 0, "dim-label"));
  gtk_box_append (GTK_BOX (box), numbers_of (self, node));
  if (note != NULL)
    gtk_box_append (GTK_BOX (box), note_label (note));
  return box;
}

static GtkWidget *
new_strip_tip (const char *text)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);

  gtk_box_append (GTK_BOX (box), new_label (text, 0, "heading"));
  gtk_box_append (
      GTK_BOX (box),
      new_label (_ ("Click to see the heaviest ones"), 0, "dim-label"));
  return box;
}

static void
make_tip (FlamFlameGraph *self, const FlamBox *box)
{
  g_autofree char *note = NULL;
  GtkWidget *tip;

  g_free (self->tip_text);
  if (flam_graph_is_strip (box))
    {
      self->tip_text =
          g_strdup_printf (ngettext ("%u function too narrow to draw",
                                     "%u functions too narrow to draw",
                                     box->count),
                           box->count);
      tip = new_strip_tip (self->tip_text);
    }
  else
    {
      note = flam_graph_note_of (self, box->node);
      self->tip_text = flam_flame_graph_describe (self, box->node);
      tip = new_tip (self, box->node, note);
    }
  g_set_object (&self->tip, g_object_ref_sink (tip));
  g_object_unref (tip);
  self->tip_node = box->node;
  self->tip_is_strip = flam_graph_is_strip (box);
}

/* --- showing ------------------------------------------------------------- */

/* The visible part of the box, near the pointer if the box is large. */
static GdkRectangle
area_of (FlamFlameGraph *self, const FlamBox *box)
{
  const FlamLayout *layout = flam_graph_layout (self);
  FlamRect rect = flam_layout_bounds (layout, box);
  double left = MAX (rect.x, 0), top = MAX (rect.y, 0);
  double right = MIN (rect.x + rect.width, layout->viewport.width);
  double bottom = MIN (rect.y + rect.height, layout->viewport.height);
  double width = MIN (right - left, TIP_WIDE);
  double height = MIN (bottom - top, TIP_NEAR);

  if (right - left > TIP_WIDE)
    left = CLAMP (self->pointer_x - TIP_WIDE / 2.0, left, right - TIP_WIDE);
  if (bottom - top > TIP_NEAR)
    top = CLAMP (self->pointer_y - TIP_NEAR / 2.0, top, bottom - TIP_NEAR);
  return (GdkRectangle){
    (int)floor (left), (int)floor (top), (int)ceil (width), (int)ceil (height)
  };
}

static const FlamBox *
box_with_tip (FlamFlameGraph *self)
{
  const FlamLayout *layout = flam_graph_layout (self);

  if (layout == NULL || !self->pointer_inside || self->dragging ||
      flam_graph_is_moving (self) ||
      flam_widget_is_below_menu (GTK_WIDGET (self)))
    return NULL;
  return flam_layout_hit (layout, self->pointer_x, self->pointer_y);
}

static void
show_tip (FlamFlameGraph *self)
{
  const FlamBox *box = box_with_tip (self);
  GdkRectangle area;

  if (box == NULL)
    {
      flam_graph_hide_tip (self);
      return;
    }
  if (self->tip == NULL || self->tip_node != box->node ||
      self->tip_is_strip != flam_graph_is_strip (box))
    make_tip (self, box);
  area = area_of (self, box);
  flam_tip_show (GTK_WIDGET (self), self->tip, self->tip_text, &area);
}

static gboolean
show_now (gpointer data)
{
  FlamFlameGraph *self = data;

  self->tip_soon = 0;
  show_tip (self);
  return G_SOURCE_REMOVE;
}

void
flam_graph_show_tip_soon (FlamFlameGraph *self)
{
  gint64 since = g_get_monotonic_time () - self->tip_hidden;

  if (self->tip != NULL)
    {
      show_tip (self);
      return;
    }
  g_clear_handle_id (&self->tip_soon, g_source_remove);
  self->tip_soon = g_timeout_add (
      since < TIP_NEXT_WITHIN * 1000 ? TIP_NEXT_DELAY : TIP_DELAY,
      show_now,
      self);
}
