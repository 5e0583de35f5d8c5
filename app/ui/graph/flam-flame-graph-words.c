/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#include <glib/gi18n.h>
#include <math.h>

#include "flam-format.h"
#include "flam-swatch.h"
#include "flam-value-text.h"
#include "flam-widget.h"

/* --- words --------------------------------------------------------------- */

static char *
weight_text (FlamFlameGraph *self, gint64 weight)
{
  const FlamProfile *profile = self->tree->profile;

  if (self->tree->measure < profile->n_measures)
    return flam_format_weight (&profile->measures[self->tree->measure], weight);
  return flam_format_value (weight, FLAM_UNIT_COUNT);
}

static gboolean
has_states (FlamFlameGraph *self)
{
  guint states = flam_tree_states (self->tree);

  return (states & (states - 1)) != 0;
}

/* The most frequent state of the threads, which the color shows. */
static void
add_main_state (FlamFlameGraph *self, FlamId node, char **text)
{
  const FlamStateSplit *split;
  g_autofree char *share = NULL;
  g_autofree char *before = NULL;
  guint most = 0;

  if (!has_states (self))
    return;
  split = &self->tree->split[node];
  for (guint i = 1; i < FLAM_N_STATES; i++)
    if (split->weight[i] > split->weight[most])
      most = i;
  share = flam_format_percent (split->weight[most], self->tree->total[node]);
  before = *text;
  *text = g_strdup_printf (
      "%s, %s %s", before, _ (flam_state_to_title (most)), share);
}

/* NULL: it existed before and exists now. */
static const char *
kind_text (const FlamTreeChange *change, FlamId node)
{
  switch ((FlamChangeKind)change->kind[node])
    {
    case FLAM_CHANGE_NEW:
      return _ ("new");
    case FLAM_CHANGE_GONE:
      return _ ("gone");
    case FLAM_CHANGE_UNTRACKED:
      /* Translators: a function that is new, on whatever path */
      return _ ("nowhere before");
    case FLAM_CHANGE_KEPT:
    default:
      return NULL;
    }
}

/* A node compared with that of the same path in another tree. */
static void
add_change (FlamFlameGraph *self, FlamId node, char **text)
{
  const FlamTreeChange *change = self->tree->change;
  const FlamMeasure measure = flam_tree_measure (self->tree);
  const char *kind = NULL;
  g_autofree char *delta = NULL;
  g_autofree char *before = NULL;

  if (change == NULL)
    return;
  kind = kind_text (change, node);
  delta = flam_value_text_change (&measure, change->delta[node]);
  before = *text;
  /* Translators: a frame and by how much it has changed */
  *text = kind != NULL
              /* Translators: the same, and "new" or "gone" */
              ? g_strdup_printf (_ ("%s, change %s, %s"), before, delta, kind)
              : g_strdup_printf (_ ("%s, change %s"), before, delta);
}

/* In the shape of both, widths are not amounts. */
static char *
describe_both (FlamFlameGraph *self, FlamId node)
{
  const FlamTreeChange *change = self->tree->change;
  const FlamMeasure measure = flam_tree_measure (self->tree);
  g_autofree char *was = flam_format_weight (&measure, change->base[node]);
  g_autofree char *is =
      flam_format_weight (&measure, change->base[node] + change->delta[node]);

  return g_strdup_printf (
      _ ("%s, before %s, now %s"), flam_graph_name (self->tree, node), was, is);
}

/* --- notes ---------------------------------------------------------------- */

void
flam_flame_graph_set_notes (FlamFlameGraph *self,
                            FlamGraphNotes notes,
                            gpointer data)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  self->notes = notes;
  self->notes_data = data;
  flam_graph_announce (self);
}

const char *
flam_graph_name (const FlamTree *tree, FlamId node)
{
  return node == 0 && !tree->rooted
             /* Translators: the box below all others in the graph */
             ? _ ("all")
             : flam_tree_name (tree, node);
}

static char *
note_of (FlamFlameGraph *self, FlamId node)
{
  return self->notes != NULL && node != 0
             ? self->notes (self->notes_data, flam_tree_name (self->tree, node))
             : NULL;
}

static void
add_note (FlamFlameGraph *self, FlamId node, char **text)
{
  g_autofree char *note = note_of (self, node);
  g_autofree char *before = NULL;

  if (note == NULL)
    return;
  before = *text;
  /* Translators: what a screen reader says of a function, and what was noted
   * about it */
  *text = g_strdup_printf (_ ("%s; note: %s"), before, note);
}

/* The accessible text: function, shares of the time. */
static char *
describe_shares (FlamFlameGraph *self, FlamId node)
{
  g_autofree char *total =
      flam_format_percent (self->tree->total[node], self->tree->total[0]);
  g_autofree char *self_share =
      flam_format_percent (self->tree->self[node], self->tree->total[0]);

  /* Translators: what a screen reader says: function, shares of the time */
  return g_strdup_printf (_ ("%s, total %s, self %s"),
                          flam_graph_name (self->tree, node),
                          total,
                          self_share);
}

char *
flam_flame_graph_describe (FlamFlameGraph *self, FlamId node)
{
  char *text;

  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), NULL);
  if (flam_graph_is_empty (self) || node >= self->tree->n)
    return g_strdup (self->shape == FLAM_SHAPE_SUNBURST  ? _ ("Sunburst")
                     : self->shape == FLAM_SHAPE_TREEMAP ? _ ("Treemap")
                                                         : _ ("Flame graph"));
  text = self->tree->change != NULL && self->tree->change->both
             ? describe_both (self, node)
             : describe_shares (self, node);
  add_main_state (self, node, &text);
  add_change (self, node, &text);
  add_note (self, node, &text);
  return text;
}

void
flam_graph_announce (FlamFlameGraph *self)
{
  g_autofree char *said = flam_flame_graph_describe (self, self->selected);
  g_autofree char *label = self->title != NULL
                               ? g_strdup_printf ("%s: %s", self->title, said)
                               : g_strdup (said);

  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

void
flam_flame_graph_set_title (FlamFlameGraph *self, const char *title)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  g_free (self->title);
  self->title = g_strdup (title);
  flam_graph_announce (self);
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

#define TIP_NEAR 40 /* pixels of a high box */

/* --- tooltip ------------------------------------------------------------- */

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

static int
add_changes (FlamFlameGraph *self, GtkGrid *grid, int row, FlamId node)
{
  const FlamTreeChange *change = self->tree->change;
  const FlamMeasure measure = flam_tree_measure (self->tree);
  const char *kind = kind_text (change, node);
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
  if (has_states (self))
    add_states (self, grid, row, node);
  return GTK_WIDGET (grid);
}

static GtkWidget *
title_of (const char *name)
{
  GtkWidget *label = new_label (name, 0, "heading");

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

void
flam_graph_forget_tip (FlamFlameGraph *self)
{
  g_clear_object (&self->tip);
  g_clear_pointer (&self->tip_note, g_free);
}

/* GTK asks several times for one box: at each motion within it, and when any
 * other tooltip changes. The same widget is nothing new to it. */
static GtkWidget *
tip_for_node (FlamFlameGraph *self, FlamId node)
{
  g_autofree char *note = note_of (self, node);

  if (self->tip != NULL && self->tip_node == node &&
      g_strcmp0 (self->tip_note, note) == 0)
    return self->tip;
  flam_graph_forget_tip (self);
  self->tip = g_object_ref_sink (new_tip (self, node, note));
  self->tip_node = node;
  self->tip_note = g_steal_pointer (&note);
  return self->tip;
}

static GtkWidget *
tip_for_strip (FlamFlameGraph *self, const FlamBox *box)
{
  g_autofree char *text =
      g_strdup_printf (ngettext ("%u function too narrow to draw",
                                 "%u functions too narrow to draw",
                                 box->count),
                       box->count);
  GtkWidget *result = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);

  gtk_box_append (GTK_BOX (result), new_label (text, 0, "heading"));
  gtk_box_append (
      GTK_BOX (result),
      new_label (_ ("Click to see the heaviest of them"), 0, "dim-label"));
  return result;
}

gboolean
flam_graph_on_query_tooltip (GtkWidget *widget,
                             int x,
                             int y,
                             gboolean by_keyboard,
                             GtkTooltip *tooltip,
                             gpointer data)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (widget);
  const FlamLayout *layout = flam_graph_layout (self);
  const FlamBox *box;
  GdkRectangle area;
  FlamRect rect;

  if (layout == NULL || by_keyboard || self->dragging ||
      self->motion.tick != 0 || flam_widget_is_below_menu (widget))
    return FALSE;
  box = flam_layout_hit (layout, x, y);
  if (box == NULL)
    return FALSE;
  gtk_tooltip_set_custom (tooltip,
                          flam_graph_is_strip (box)
                              ? tip_for_strip (self, box)
                              : tip_for_node (self, box->node));
  rect = flam_layout_bounds (layout, box);
  area = (GdkRectangle){
    .x = (int)floor (MAX (rect.x, 0)),
    .y = (int)floor (rect.y),
    .width = (int)ceil (rect.width),
    .height = (int)ceil (rect.height),
  };
  if (area.height > TIP_NEAR)
    {
      area.y =
          CLAMP (y - TIP_NEAR / 2, area.y, area.y + area.height - TIP_NEAR);
      area.height = TIP_NEAR;
    }
  /* The tooltip of a large box stays near the pointer. */
  if (area.width > 240)
    {
      area.x = CLAMP (x - 120, area.x, area.x + area.width - 240);
      area.width = 240;
    }
  gtk_tooltip_set_tip_area (tooltip, &area);
  return TRUE;
}
