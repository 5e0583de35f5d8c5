/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-top-list.h"

#include <glib/gi18n.h>

#include "flam-value-text.h"

#define ROWS 5

struct _FlamTopList
{
  GtkWidget parent_instance;

  FlamSession *session;
  FlamMemoryPart part;
  FlamProfile *of;        /* whose functions are shown, or NULL */
  FlamFunctionId pending; /* waits for its measure's picture; FLAM_NONE */

  GtkButton *row[ROWS];
  GtkLabel *name[ROWS];
  GtkLabel *figure[ROWS];
  FlamFunctionId function[ROWS];
};

G_DEFINE_FINAL_TYPE (FlamTopList, flam_top_list, GTK_TYPE_WIDGET)

int
flam_memory_part_find_measure (const FlamProfile *profile,
                               FlamMemoryPart part,
                               gboolean bytes)
{
  for (guint i = 0; i < profile->n_measures; i++)
    {
      FlamMeasureSource source = profile->measures[i].source;

      if (source != FLAM_FROM_SAMPLES && flam_memory_part_of (source) == part &&
          flam_allocation_filter_source_is_bytes (source) == bytes)
        return (int)i;
    }
  return -1;
}

/* --- links ---------------------------------------------------------------- */

static void
go (FlamTopList *self)
{
  const FlamTree *tree = flam_session_get_tree (self->session);
  FlamNodeId node;

  if (tree == NULL || tree->profile != self->of || self->pending == FLAM_NONE)
    return;
  node = flam_tree_find_function (tree, self->pending);
  self->pending = FLAM_NONE;
  if (node == 0)
    return;
  flam_session_set_zoom (self->session, 0);
  /* The list has the function's figures in all of its stacks. */
  flam_session_set_current_at (self->session, node, "", 0, TRUE);
}

static gboolean
counts_bytes (FlamTopList *self, const FlamProfile *profile)
{
  return self->part == FLAM_MEMORY_PEAK || self->part == FLAM_MEMORY_LEAKED ||
         flam_memory_part_find_measure (profile, self->part, FALSE) < 0;
}

static void
on_row (FlamTopList *self, GtkButton *button)
{
  const FlamSelection *selection = flam_session_get_selection (self->session);
  int measure;

  if (self->of == NULL || selection == NULL)
    return;
  for (guint i = 0; i < ROWS; i++)
    if (self->row[i] == button)
      self->pending = self->function[i];
  measure = flam_memory_part_find_measure (
      self->of, self->part, counts_bytes (self, self->of));
  flam_session_set_page (self->session, "graph");
  if (measure >= 0 && (guint)measure != selection->measure)
    flam_session_set_measure (self->session, (guint)measure);
  else
    go (self);
}

/* --- rows ----------------------------------------------------------------- */

static gint64
figure_of (const FlamAmounts *amounts, FlamMemoryPart part, gboolean bytes)
{
  return bytes ? amounts->part[part].bytes : amounts->part[part].blocks;
}

/* The rows of the largest figures, largest first; the number of them. */
static guint
find_largest (const FlamMemorySummary *memory,
              FlamMemoryPart part,
              gboolean bytes,
              guint largest[ROWS])
{
  guint n = 0;

  for (guint i = 0; i < memory->n_functions; i++)
    {
      gint64 figure = figure_of (&memory->function_self[i], part, bytes);
      guint at = n;

      if (figure <= 0)
        continue;
      while (at > 0 &&
             figure > figure_of (
                          &memory->function_self[largest[at - 1]], part, bytes))
        at--;
      if (at == ROWS)
        continue;
      n = MIN (n + 1, ROWS);
      memmove (&largest[at + 1], &largest[at], (n - at - 1) * sizeof *largest);
      largest[at] = i;
    }
  return n;
}

/* Numbers of blocks are named, below a card that begins with bytes. */
static char *
figure_text (const FlamMemorySummary *memory,
             const FlamAmounts *amounts,
             FlamMemoryPart part,
             gboolean bytes)
{
  FlamEstimate estimate;

  if (!bytes && flam_memory_summary_of (memory) == FLAM_MEMORY_OF_BLOCKS)
    return flam_value_text_part_blocks (memory, amounts, part);
  estimate = flam_amounts_estimate (memory, amounts, part, bytes);
  return flam_format_estimate (&estimate,
                               figure_of (amounts, part, bytes),
                               bytes ? FLAM_UNIT_BYTES : FLAM_UNIT_COUNT);
}

static void
show_row (FlamTopList *self,
          guint row,
          const FlamMemorySummary *memory,
          guint function,
          gboolean bytes)
{
  FlamNodeId node = memory->function[function].node;
  const char *name = flam_tree_name (memory->tree, node);
  const FlamAmounts *amounts = &memory->function_self[function];
  gint64 figure = figure_of (amounts, self->part, bytes);
  g_autofree char *folded = flam_format_folded_name (name);
  g_autofree char *whole = flam_format_visible (name);
  g_autofree char *value = figure_text (memory, amounts, self->part, bytes);
  g_autofree char *share =
      flam_format_percent (figure, figure_of (&memory->all, self->part, bytes));
  g_autofree char *label = g_strdup_printf ("%s, %s, %s", whole, value, share);

  self->function[row] = flam_tree_function (memory->tree, node);
  gtk_label_set_label (self->name[row], folded);
  gtk_label_set_label (self->figure[row], value);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->row[row]), label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->row[row]),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  label,
                                  -1);
}

void
flam_top_list_show (FlamTopList *self, const FlamMemorySummary *memory)
{
  gboolean bytes = counts_bytes (self, memory->profile);
  guint largest[ROWS];
  guint n = find_largest (memory, self->part, bytes, largest);

  g_return_if_fail (FLAM_IS_TOP_LIST (self));
  g_clear_pointer (&self->of, flam_profile_unref);
  self->of = flam_profile_ref (memory->profile);
  for (guint i = 0; i < ROWS; i++)
    {
      gtk_widget_set_visible (GTK_WIDGET (self->row[i]), i < n);
      if (i < n)
        show_row (self, i, memory, largest[i], bytes);
    }
}

/* --- object --------------------------------------------------------------- */

static void
flam_top_list_dispose (GObject *object)
{
  FlamTopList *self = FLAM_TOP_LIST (object);
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL)
    gtk_widget_unparent (child);
  g_clear_pointer (&self->of, flam_profile_unref);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_top_list_parent_class)->dispose (object);
}

static void
flam_top_list_class_init (FlamTopListClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = flam_top_list_dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass),
                                            GTK_TYPE_BOX_LAYOUT);
}

static void
add_row (FlamTopList *self, guint i)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);

  self->row[i] = GTK_BUTTON (gtk_button_new ());
  self->name[i] = GTK_LABEL (gtk_label_new (NULL));
  self->figure[i] = GTK_LABEL (gtk_label_new (NULL));
  gtk_label_set_xalign (self->name[i], 0);
  gtk_label_set_ellipsize (self->name[i], PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_width_chars (self->name[i], 6);
  gtk_widget_set_hexpand (GTK_WIDGET (self->name[i]), TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->figure[i]), "numeric");
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->name[i]));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->figure[i]));
  gtk_button_set_child (self->row[i], box);
  gtk_button_set_has_frame (self->row[i], FALSE);
  gtk_widget_add_css_class (GTK_WIDGET (self->row[i]), "flam-top");
  g_signal_connect_swapped (self->row[i], "clicked", G_CALLBACK (on_row), self);
  gtk_widget_set_visible (GTK_WIDGET (self->row[i]), FALSE);
  gtk_widget_set_parent (GTK_WIDGET (self->row[i]), GTK_WIDGET (self));
}

static void
flam_top_list_init (FlamTopList *self)
{
  self->pending = FLAM_NONE;
  gtk_orientable_set_orientation (
      GTK_ORIENTABLE (gtk_widget_get_layout_manager (GTK_WIDGET (self))),
      GTK_ORIENTATION_VERTICAL);
  for (guint i = 0; i < ROWS; i++)
    add_row (self, i);
}

GtkWidget *
flam_top_list_new (FlamSession *session, FlamMemoryPart part)
{
  FlamTopList *self = g_object_new (FLAM_TYPE_TOP_LIST, NULL);

  self->session = g_object_ref (session);
  self->part = part;
  g_signal_connect_object (
      session, "notify::view-data", G_CALLBACK (go), self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}
