/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-overview.h"

#include <glib/gi18n.h>

/* Whether a line shows it: the curve itself is the heap. */
static gboolean
has_counter (const FlamTimeline *timeline, guint counter)
{
  return timeline->kind == FLAM_TIMELINE_MEMORY &&
         !timeline->counters[counter].is_rate &&
         timeline->counters[counter].unit == timeline->unit &&
         timeline->counters[counter].top > 0 &&
         strcmp (timeline->counters[counter].id, "heap") != 0;
}

gboolean
flam_overview_leaves_counter (const FlamTimeline *timeline, guint counter)
{
  const struct FlamTimelineCounter *of = &timeline->counters[counter];
  gboolean of_memory =
      timeline->profile->allocations.n > 0 &&
      (strcmp (of->id, "heap") == 0 || strcmp (of->id, "rss") == 0);

  return of->top > 0 && !of_memory && !has_counter (timeline, counter);
}

static char *
describe (const FlamPlot *plot, FlamPlotSpot spot, const char *separator)
{
  const FlamTimeline *timeline = plot->data;
  g_autofree char *time =
      flam_format_moment (flam_facts_clock (&timeline->profile->facts),
                          (gint64)spot.point << timeline->shift);
  g_autofree char *value =
      flam_format_value (timeline->value[spot.point], timeline->unit);
  GString *text = g_string_new (NULL);

  /* Translators: a time, and the activity at that time */
  g_string_printf (text, _ ("at %s: %s"), time, value);
  for (guint i = 0; i < timeline->n_counters; i++)
    if (has_counter (timeline, i))
      {
        const struct FlamTimelineCounter *counter = &timeline->counters[i];
        g_autofree char *name = flam_format_counter_name (counter->id);
        g_autofree char *also =
            flam_format_value (counter->value[spot.point], counter->unit);

        g_string_append_printf (text, ", %s %s", name, also);
      }
  return g_string_free (text, FALSE);
}

/* The maximum of each line, which is its scale. */
static char *
key_text (const FlamTimeline *timeline)
{
  g_autofree char *most = flam_format_value (timeline->top[0], timeline->unit);
  GString *text = g_string_new (NULL);

  /* Translators: memory; the maximum of the curve */
  g_string_printf (text, _ ("— in use, up to %s"), most);
  for (guint i = 0; i < timeline->n_counters; i++)
    if (has_counter (timeline, i))
      {
        g_autofree char *name =
            flam_format_counter_name (timeline->counters[i].id);
        g_autofree char *top = flam_format_value (timeline->counters[i].top,
                                                  timeline->counters[i].unit);

        g_string_append (text, "   ");
        /* Translators: the name and the maximum of a dashed line */
        g_string_append_printf (text, _ ("- - %s, up to %s"), name, top);
      }
  return g_string_free (text, FALSE);
}

static char *
peak_text (const FlamTimeline *timeline)
{
  g_autofree char *value = flam_format_value (timeline->peak, timeline->unit);

  /* Translators: the maximum of the memory in use */
  return g_strdup_printf (_ ("peak %s"), value);
}

/* A bucket may end after the last time. */
static double
bucket_width (const FlamTimeline *timeline)
{
  return (double)(G_GUINT64_CONSTANT (1) << timeline->shift) /
         (double)(timeline->end - timeline->start);
}

/* Running at the bottom, waiting above it. */
static const FlamColor (*state_colors (void))[2]
{
  static FlamColor colors[FLAM_N_STATES][2];

  for (guint state = 0; state < FLAM_N_STATES; state++)
    for (int dark = 0; dark < 2; dark++)
      colors[state][dark] = flam_palette_state_color (state, dark);
  return colors;
}

static void
add_row (FlamPlotSeries *series, const FlamTimeline *timeline, guint row)
{
  gboolean memory = timeline->kind == FLAM_TIMELINE_MEMORY;

  *series = (FlamPlotSeries){
    .shape = FLAM_PLOT_AREA,
    .color = { memory ? FLAM_PLOT_MEMORY_LIGHT : FLAM_PLOT_CPU_LIGHT,
               memory ? FLAM_PLOT_MEMORY_DARK : FLAM_PLOT_CPU_DARK },
    .n = timeline->n,
    .value = flam_timeline_row (timeline, row),
    .slot = bucket_width (timeline),
  };
  if (timeline->split == NULL)
    return;
  series->layer = timeline->split[(gsize)row * timeline->n].weight;
  series->n_layers = FLAM_N_STATES;
  series->layer_color = state_colors ();
}

/* On a scale of its own: the system's figure for the whole process would leave
 * the heap a line at the bottom. */
static void
add_counter (FlamPlot *plot, const FlamTimeline *timeline, guint counter)
{
  plot->series[plot->n++] = (FlamPlotSeries){
    .shape = FLAM_PLOT_DASHES,
    .n = timeline->n,
    .value = timeline->counters[counter].value,
    .top = timeline->counters[counter].top,
    .slot = bucket_width (timeline),
  };
}

static FlamPlot *
plot_new (FlamPlotAxis axis, FlamTimeline *timeline, guint row)
{
  FlamPlot *plot = flam_plot_new (axis,
                                  1 + timeline->n_counters,
                                  timeline->unit,
                                  flam_timeline_ref (timeline),
                                  (GDestroyNotify)flam_timeline_unref);

  plot->from = timeline->start;
  plot->to = timeline->end;
  plot->top = MAX (timeline->top[row], 1);
  plot->n = 1;
  add_row (&plot->series[0], timeline, row);
  return plot;
}

FlamPlot *
flam_overview_row_plot (FlamTimeline *timeline, guint row)
{
  return plot_new (FLAM_PLOT_NO_AXIS, timeline, row);
}

FlamPlot *
flam_overview_plot (FlamTimeline *timeline)
{
  FlamPlot *plot = plot_new (FLAM_PLOT_TIME, timeline, 0);

  plot->title = g_strdup (_ ("Overview"));
  plot->clock = flam_facts_clock (&timeline->profile->facts);
  plot->describe = describe;
  for (guint i = 0; i < timeline->n_counters; i++)
    if (has_counter (timeline, i))
      add_counter (plot, timeline, i);
  if (timeline->kind != FLAM_TIMELINE_MEMORY)
    return plot;
  plot->key = key_text (timeline);
  if (timeline->peak_time >= 0)
    {
      plot->note = peak_text (timeline);
      plot->note_x = flam_timeline_fraction_of (timeline, timeline->peak_time);
    }
  return plot;
}
