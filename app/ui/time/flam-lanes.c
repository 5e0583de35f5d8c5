/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-lanes.h"

#include "flam-overview.h"
#include "flam-plot-widget.h"

#include <glib/gi18n.h>

#define LANES_MAX 4 /* of counters */
#define NAMED_MAX 3 /* marks in a tooltip */

struct _FlamLanes
{
  GtkWidget parent_instance;
  FlamTimeline *timeline; /* or NULL */
};

G_DEFINE_FINAL_TYPE (FlamLanes, flam_lanes, GTK_TYPE_WIDGET)

/* --- plots ---------------------------------------------------------------- */

/* The marks of each bucket. */
typedef struct
{
  FlamTimeline *timeline;
  gint64 *count;
  gint64 top;
} Counts;

static void
counts_free (gpointer data)
{
  Counts *counts = data;

  flam_timeline_unref (counts->timeline);
  g_free (counts->count);
  g_free (counts);
}

static FlamPlot *
plot_new (FlamTimeline *timeline,
          const gint64 *values,
          gint64 top,
          gpointer data,
          GDestroyNotify data_free)
{
  FlamPlot *plot =
      flam_plot_new (FLAM_PLOT_NO_AXIS, 1, FLAM_UNIT_COUNT, data, data_free);

  plot->from = timeline->start;
  plot->to = timeline->end;
  plot->top = MAX (top, 1);
  plot->n = 1;
  plot->series[0] = (FlamPlotSeries){
    .shape = FLAM_PLOT_AREA,
    .color = { flam_plot_color (0, FALSE), flam_plot_color (0, TRUE) },
    .n = timeline->n,
    .value = values,
    .slot = (double)(G_GUINT64_CONSTANT (1) << timeline->shift) /
            (double)(timeline->end - timeline->start),
  };
  return plot;
}

static FlamPlot *
counter_plot (FlamTimeline *timeline, guint counter)
{
  return plot_new (timeline,
                   timeline->counters[counter].value,
                   timeline->counters[counter].top,
                   flam_timeline_ref (timeline),
                   (GDestroyNotify)flam_timeline_unref);
}

static gint64
end_of (const FlamTimeline *timeline, FlamId mark)
{
  const FlamMarks *marks = &timeline->profile->marks;

  return MIN (marks->time[mark], timeline->end) +
         CLAMP (marks->duration[mark], 0, timeline->end);
}

/* A mark with a duration counts in all of its buckets. */
static FlamPlot *
marks_plot (FlamTimeline *timeline)
{
  const FlamMarks *marks = &timeline->profile->marks;
  Counts *counts = g_new0 (Counts, 1);

  counts->timeline = flam_timeline_ref (timeline);
  counts->count = g_new0 (gint64, timeline->n + 1);
  for (FlamId i = 0; i < marks->n; i++)
    {
      gint64 end = end_of (timeline, i);

      counts->count[flam_timeline_bucket_of (timeline, marks->time[i])]++;
      counts->count[flam_timeline_bucket_of (timeline, end) + 1]--;
    }
  for (guint i = 0; i < timeline->n; i++)
    {
      counts->count[i] += i > 0 ? counts->count[i - 1] : 0;
      counts->top = MAX (counts->top, counts->count[i]);
    }
  return plot_new (timeline, counts->count, counts->top, counts, counts_free);
}

/* --- words ---------------------------------------------------------------- */

static char *
counter_title (const FlamTimeline *timeline, guint counter)
{
  const struct FlamTimelineCounter *of = &timeline->counters[counter];
  g_autofree char *name = flam_format_counter_name (of->id);
  g_autofree char *top = flam_format_value (of->top, of->unit);

  /* Translators: the name and the maximum of an event that is counted */
  return of->is_rate
             ? g_strdup_printf (_ ("%s, up to %s per second"), name, top)
             /* Translators: the name and the maximum of a counter */
             : g_strdup_printf (_ ("%s, up to %s"), name, top);
}

static char *
marks_title (const FlamTimeline *timeline)
{
  guint32 n = timeline->profile->marks.n;

  return g_strdup_printf (ngettext ("%u mark", "%u marks", n), n);
}

static char *
counter_text (const FlamTimeline *timeline, guint counter, guint bucket)
{
  const struct FlamTimelineCounter *of = &timeline->counters[counter];
  g_autofree char *name = flam_format_counter_name (of->id);
  g_autofree char *value = flam_format_value (of->value[bucket], of->unit);

  /* Translators: an event that is counted: "cache-misses 1 234 per second" */
  return of->is_rate ? g_strdup_printf (_ ("%s %s per second"), name, value)
                     : g_strdup_printf ("%s %s", name, value);
}

static char *
marks_text (const FlamTimeline *timeline, guint bucket)
{
  const FlamMarks *marks = &timeline->profile->marks;
  GString *text = g_string_new (NULL);
  guint n = 0;

  for (FlamId i = 0; i < marks->n; i++)
    {
      gint64 end = end_of (timeline, i);
      g_autofree char *name = NULL;

      if (flam_timeline_bucket_of (timeline, marks->time[i]) > bucket ||
          flam_timeline_bucket_of (timeline, end) < bucket || n++ >= NAMED_MAX)
        continue;
      name = flam_format_visible (
          flam_profile_string (timeline->profile, marks->name[i]));
      g_string_append_printf (text, "%s%s", n > 1 ? "\n" : "", name);
    }
  if (n > NAMED_MAX)
    g_string_append_printf (
        text,
        /* Translators: marks beside those of a list */
        ngettext ("\nand %u more", "\nand %u more", n - NAMED_MAX),
        n - NAMED_MAX);
  return g_string_free (text, n == 0);
}

/* --- lanes ---------------------------------------------------------------- */

/* The counter of a lane; all marks. */
#define MARKS G_MAXUINT

static gboolean
on_tooltip (GtkWidget *lane,
            int x,
            int y,
            gboolean keyboard,
            GtkTooltip *tooltip,
            FlamLanes *self)
{
  guint counter =
      GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (lane), "counter"));
  double part = (double)x / MAX (gtk_widget_get_width (lane), 1);
  const FlamTimeline *timeline = self->timeline;
  g_autofree char *when = NULL;
  g_autofree char *text = NULL;
  g_autofree char *whole = NULL;
  gint64 time;
  guint bucket;

  if (timeline == NULL || keyboard)
    return FALSE;
  time = timeline->start + (gint64)(CLAMP (part, 0, 1) *
                                    (double)(timeline->end - timeline->start));
  bucket = flam_timeline_bucket_of (timeline, time);
  text = counter == MARKS ? marks_text (timeline, bucket)
                          : counter_text (timeline, counter, bucket);
  if (text == NULL)
    return FALSE;
  when =
      flam_format_moment (flam_facts_clock (&timeline->profile->facts), time);
  /* Translators: a time, and the values at that time */
  whole = g_strdup_printf (_ ("at %s: %s"), when, text);
  gtk_tooltip_set_text (tooltip, whole);
  return TRUE;
}

static void
add_lane (FlamLanes *self, guint counter, char *title, FlamPlot *plot)
{
  GtkWidget *lane = gtk_overlay_new ();
  GtkWidget *label = gtk_label_new (title);
  GtkWidget *picture = flam_plot_widget_new_small ();

  flam_plot_widget_set_plot (FLAM_PLOT_WIDGET (picture), plot);
  gtk_overlay_set_child (GTK_OVERLAY (lane), picture);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_set_halign (label, GTK_ALIGN_START);
  gtk_widget_add_css_class (label, "flam-lane");
  gtk_overlay_add_overlay (GTK_OVERLAY (lane), label);
  g_object_set_data (G_OBJECT (lane), "counter", GUINT_TO_POINTER (counter));
  gtk_widget_set_has_tooltip (lane, TRUE);
  g_signal_connect_object (
      lane, "query-tooltip", G_CALLBACK (on_tooltip), self, 0);
  gtk_widget_set_parent (lane, GTK_WIDGET (self));
  g_free (title);
}

static void
add_rest (FlamLanes *self, guint n)
{
  g_autofree char *text = g_strdup_printf (
      ngettext (
          "%u more counter in the chart", "%u more counters in the chart", n),
      n);
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, "flam-lane");
  gtk_widget_set_parent (label, GTK_WIDGET (self));
}

static void
remove_all (FlamLanes *self)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL)
    gtk_widget_unparent (child);
}

void
flam_lanes_set_timeline (FlamLanes *self, FlamTimeline *timeline)
{
  guint shown = 0, rest = 0;

  g_return_if_fail (FLAM_IS_LANES (self));
  remove_all (self);
  g_clear_pointer (&self->timeline, flam_timeline_unref);
  if (timeline != NULL)
    self->timeline = flam_timeline_ref (timeline);
  for (guint i = 0; timeline != NULL && i < timeline->n_counters; i++)
    if (flam_overview_leaves_counter (timeline, i))
      {
        if (shown++ < LANES_MAX)
          add_lane (
              self, i, counter_title (timeline, i), counter_plot (timeline, i));
        else
          rest += !timeline->counters[i].is_rate;
      }
  if (rest > 0)
    add_rest (self, rest);
  if (timeline != NULL && timeline->profile->marks.n > 0)
    {
      add_lane (self, MARKS, marks_title (timeline), marks_plot (timeline));
      shown++;
    }
  gtk_widget_set_visible (GTK_WIDGET (self), shown > 0);
}

/* --- object --------------------------------------------------------------- */

static void
flam_lanes_dispose (GObject *object)
{
  FlamLanes *self = FLAM_LANES (object);

  remove_all (self);
  g_clear_pointer (&self->timeline, flam_timeline_unref);
  G_OBJECT_CLASS (flam_lanes_parent_class)->dispose (object);
}

static void
flam_lanes_class_init (FlamLanesClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_lanes_dispose;
  gtk_widget_class_set_layout_manager_type (class, GTK_TYPE_BOX_LAYOUT);
}

static void
flam_lanes_init (FlamLanes *self)
{
  GtkLayoutManager *layout = gtk_widget_get_layout_manager (GTK_WIDGET (self));

  gtk_orientable_set_orientation (GTK_ORIENTABLE (layout),
                                  GTK_ORIENTATION_VERTICAL);
  gtk_box_layout_set_spacing (GTK_BOX_LAYOUT (layout), 2);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}
