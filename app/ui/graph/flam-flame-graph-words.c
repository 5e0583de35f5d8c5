/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#include <glib/gi18n.h>

#include "flam-core-picture.h"
#include "flam-value-text.h"

/* --- words --------------------------------------------------------------- */

gboolean
flam_graph_has_states (FlamFlameGraph *self)
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

  if (!flam_graph_has_states (self))
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

const char *
flam_graph_kind_text (const FlamTreeChange *change, FlamId node)
{
  switch ((FlamChangeKind)change->kind[node])
    {
    case FLAM_CHANGE_NEW:
      return _ ("new");
    case FLAM_CHANGE_GONE:
      return _ ("gone");
    case FLAM_CHANGE_UNTRACKED:
      /* Translators: a function that is new, on whatever path */
      return _ ("new function");
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
  kind = flam_graph_kind_text (change, node);
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

  g_autofree char *name =
      flam_format_visible (flam_graph_name (self->tree, node));

  return g_strdup_printf (_ ("%s, before %s, now %s"), name, was, is);
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
  flam_graph_hide_tip (self);
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

char *
flam_graph_note_of (FlamFlameGraph *self, FlamId node)
{
  return self->notes != NULL && node != 0
             ? self->notes (self->notes_data, flam_tree_name (self->tree, node))
             : NULL;
}

static void
add_note (FlamFlameGraph *self, FlamId node, char **text)
{
  g_autofree char *note = flam_graph_note_of (self, node);
  g_autofree char *before = NULL;

  if (note == NULL)
    return;
  before = *text;
  /* Translators: what a screen reader says of a function, and what was noted
   * about it */
  *text = g_strdup_printf (_ ("%s; note: %s"), before, note);
}

static void
add_statuses (FlamFlameGraph *self, FlamId node, char **text)
{
  for (guint i = 0; i < FLAM_N_STATUSES; i++)
    if (flam_tree_status (self->tree, node) & 1u << i)
      {
        g_autofree char *before = *text;

        *text =
            g_strdup_printf ("%s, %s", before, _ (flam_status_to_title (i)));
      }
}

/* The accessible text: function, shares of the time. */
static char *
describe_shares (FlamFlameGraph *self, FlamId node)
{
  g_autofree char *total =
      flam_format_percent (self->tree->total[node], self->tree->total[0]);
  g_autofree char *self_share =
      flam_format_percent (self->tree->self[node], self->tree->total[0]);
  g_autofree char *name =
      flam_format_visible (flam_graph_name (self->tree, node));

  /* Translators: what a screen reader says: function, shares of the time */
  return g_strdup_printf (_ ("%s, total %s, self %s"), name, total, self_share);
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
  add_statuses (self, node, &text);
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
