/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#include <glib/gi18n.h>
#include <math.h>

#include "flam-core-picture.h"
#include "flam-swatch.h"
#include "flam-tip-layer.h"
#include "flam-value-text.h"
#include "flam-widget.h"

/* As GTK's own tooltips: after half a second at rest, and sooner where one was
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
module_of (FlamFlameGraph *self, FlamId node)
{
  return flam_profile_module_name (self->tree->profile,
                                   flam_tree_function (self->tree, node));
}

/* "nest · nest.c:21" */
static char *
location_text (FlamFlameGraph *self, FlamId node)
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
            gint64 weight,
            const gint64 *other,
            FlamId node)
{
  g_autofree char *text = weight_text (self, weight);
  g_autofree char *share = flam_format_percent (weight, self->tree->total[0]);
  g_autofree char *also = flam_value_text_other (self->tree, other, node);

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
           FlamId node,
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
add_states (FlamFlameGraph *self, GtkGrid *grid, int row, FlamId node)
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

/* What Julia's profiler knows of the frame, and of hidden ones it calls. */
static int
add_statuses (FlamFlameGraph *self, GtkGrid *grid, int row, FlamId node)
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
add_changes (FlamFlameGraph *self, GtkGrid *grid, int row, FlamId node)
{
  const FlamTreeChange *change = self->tree->change;
  const FlamMeasure measure = flam_tree_measure (self->tree);
  const char *kind = flam_graph_kind_text (change, node);
  gint64 base = change->base[node], delta = change->delta[node];
  g_autofree char *was = flam_format_weight (&measure, base);
  g_autofree char *is = flam_format_weight (&measure, base + delta);
  g_autofree char *by = flam_value_text_change (&measure, delta);
  g_autofree char *share = flam_format_percent (ABS (delta), base);
  g_autofree char *relative = g_strconcat (delta < 0 ? "−" : "+", share, NULL);

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
add_weights (FlamFlameGraph *self, GtkGrid *grid, int row, FlamId node)
{
  FlamId parent = self->tree->parent[node];

  add_weight (self,
              grid,
              row++,
              _ ("Self"),
              self->tree->self[node],
              self->tree->other_self,
              node);
  add_weight (self,
              grid,
              row++,
              _ ("Total"),
              self->tree->total[node],
              self->tree->other_total,
              node);
  if (parent != FLAM_NONE && parent != 0 && parent != self->zoom)
    /* Translators: a share of its caller, %s is the caller's name */
    add_share (self, grid, row++, _ ("of caller %s"), node, parent);
  if (self->zoom != 0 && flam_tree_is_ancestor (self->tree, self->zoom, node))
    /* Translators: a share of the function zoomed to */
    add_share (self, grid, row++, _ ("of zoomed %s"), node, self->zoom);
  return row;
}

static GtkWidget *
numbers_of (FlamFlameGraph *self, FlamId node)
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
new_tip (FlamFlameGraph *self, FlamId node, const char *note)
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

/* A part of the box that is in view, and near the pointer in a large box. */
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

void
flam_graph_forget_tip (FlamFlameGraph *self)
{
  if (self->tip == NULL)
    return;
  flam_tip_hide (GTK_WIDGET (self));
  self->tip_hidden = g_get_monotonic_time ();
  g_clear_object (&self->tip);
  g_clear_pointer (&self->tip_text, g_free);
}

void
flam_graph_hide_tip (FlamFlameGraph *self)
{
  g_clear_handle_id (&self->tip_soon, g_source_remove);
  flam_graph_forget_tip (self);
}
