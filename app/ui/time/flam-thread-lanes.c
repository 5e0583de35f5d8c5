/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-thread-lanes.h"

#include "flam-overview.h"
#include "flam-platform.h"
#include "flam-plot-widget.h"
#include "flam-value-text.h"

#include <glib/gi18n.h>

#define BUCKETS 500
#define LANES_MAX 64
#define HEIGHT_MAX 76 /* of all lanes; the others scroll */
#define LOW 700       /* windows below this height have no lanes */
#define CPU_CONDITION FLAM_LABEL_CPU "="

struct _FlamThreadLanes
{
  GtkWidget parent_instance;

  FlamSession *session;
  FlamJob *job;
  FlamTimeline *timeline; /* of all threads and CPUs; NULL: none */
  FlamTimelineRows rows;
  gboolean has_cpus;
  gboolean has_lanes; /* in a window that is high enough */
  gboolean is_low;
  guint idle;

  GtkWidget *overlay;
  GtkScrolledWindow *scroller;
  GtkWidget *list;
  GtkWidget *more;
  GtkWidget *choice; /* threads or CPUs */
  GtkWidget *cpus;
};

G_DEFINE_FINAL_TYPE (FlamThreadLanes, flam_thread_lanes, GTK_TYPE_WIDGET)

/* --- lanes ---------------------------------------------------------------- */

static guint
row_of (GtkListBoxRow *lane)
{
  return 1 + (guint)gtk_list_box_row_get_index (lane);
}

static char *
name_of (const FlamTimeline *timeline, guint row)
{
  const FlamProfile *profile = timeline->profile;

  if (timeline->cpus != NULL)
    return g_strdup_printf (
        /* Translators: a processor and its number */
        _ ("CPU %s"),
        flam_profile_string (profile, timeline->cpus[row - 1]));
  return flam_value_text_thread (profile, timeline->threads[row - 1]);
}

/* The label of samples on this row's CPU. */
static char *
condition_of (const FlamTimeline *timeline, guint row)
{
  return g_strconcat (
      CPU_CONDITION,
      flam_profile_string (timeline->profile, timeline->cpus[row - 1]),
      NULL);
}

static guint
find_condition (const FlamSelection *selection, const char *condition)
{
  guint index;

  return selection->labels != NULL &&
                 g_ptr_array_find_with_equal_func (
                     selection->labels, condition, g_str_equal, &index)
             ? index
             : G_MAXUINT;
}

static gboolean
restricts_cpus (const FlamSelection *selection)
{
  for (guint i = 0; selection->labels != NULL && i < selection->labels->len;
       i++)
    if (g_str_has_prefix (selection->labels->pdata[i], CPU_CONDITION))
      return TRUE;
  return FALSE;
}

static gboolean
is_chosen (const FlamTimeline *timeline,
           const FlamSelection *selection,
           guint row)
{
  g_autofree char *condition = NULL;

  if (timeline->cpus == NULL)
    return flam_selection_has_thread (selection, timeline->threads[row - 1]);
  condition = condition_of (timeline, row);
  return !restricts_cpus (selection) ||
         find_condition (selection, condition) != G_MAXUINT;
}

static gboolean
on_tooltip (GtkWidget *lane,
            int x,
            int y,
            gboolean keyboard,
            GtkTooltip *tooltip,
            FlamThreadLanes *self)
{
  const FlamTimeline *timeline = self->timeline;
  double part = (double)x / MAX (gtk_widget_get_width (lane), 1);
  guint row = row_of (GTK_LIST_BOX_ROW (lane));
  g_autofree char *name = NULL;
  g_autofree char *when = NULL;
  g_autofree char *value = NULL;
  g_autofree char *what = NULL;
  g_autofree char *whole = NULL;
  gint64 time;

  if (timeline == NULL || keyboard || row >= timeline->n_rows)
    return FALSE;
  time = timeline->start + (gint64)(CLAMP (part, 0, 1) *
                                    (double)(timeline->end - timeline->start));
  name = name_of (timeline, row);
  when =
      flam_format_moment (flam_facts_clock (&timeline->profile->facts), time);
  value = flam_format_value (
      flam_timeline_row (timeline,
                         row)[flam_timeline_bucket_of (timeline, time)],
      timeline->unit);
  what = g_strdup_printf ("%s %s", name, value);
  /* Translators: a time, and the values at that time */
  whole = g_strdup_printf (_ ("at %s: %s"), when, what);
  gtk_tooltip_set_text (tooltip, whole);
  return TRUE;
}

static void
add_lane (FlamThreadLanes *self)
{
  GtkWidget *lane = gtk_list_box_row_new ();
  GtkWidget *overlay = gtk_overlay_new ();
  GtkWidget *label = gtk_label_new (NULL);

  gtk_overlay_set_child (GTK_OVERLAY (overlay), flam_plot_widget_new_small ());
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_set_halign (label, GTK_ALIGN_START);
  gtk_widget_add_css_class (label, "flam-lane");
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), label);
  gtk_overlay_set_measure_overlay (GTK_OVERLAY (overlay), label, TRUE);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (lane), overlay);
  gtk_widget_set_has_tooltip (lane, TRUE);
  g_signal_connect_object (
      lane, "query-tooltip", G_CALLBACK (on_tooltip), self, 0);
  g_object_set_data (G_OBJECT (lane), "label", label);
  gtk_list_box_append (GTK_LIST_BOX (self->list), lane);
}

/* All on one scale. */
static void
fill_lane (FlamThreadLanes *self, GtkListBoxRow *lane, gint64 top)
{
  GtkWidget *overlay = gtk_list_box_row_get_child (lane);
  g_autofree char *name = name_of (self->timeline, row_of (lane));
  FlamPlot *plot = flam_overview_row_plot (self->timeline, row_of (lane));

  plot->top = MAX (top, 1);
  flam_plot_widget_set_plot (
      FLAM_PLOT_WIDGET (gtk_overlay_get_child (GTK_OVERLAY (overlay))), plot);
  gtk_label_set_label (g_object_get_data (G_OBJECT (lane), "label"), name);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (lane), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

static GtkListBoxRow *
lane_at (FlamThreadLanes *self, guint i)
{
  return gtk_list_box_get_row_at_index (GTK_LIST_BOX (self->list), (int)i);
}

static void
show_more (FlamThreadLanes *self, guint n)
{
  g_autofree char *text = NULL;

  gtk_widget_set_visible (self->more, n > 0);
  text = g_strdup_printf (ngettext ("%u more", "%u more", n), n);
  gtk_label_set_label (GTK_LABEL (self->more), text);
}

/* Unselected parts are faint, but their names stay legible. */
static void
show_as_chosen (GtkListBoxRow *lane, gboolean chosen)
{
  GtkWidget *overlay = gtk_list_box_row_get_child (lane);
  GtkWidget *label = g_object_get_data (G_OBJECT (lane), "label");

  gtk_widget_set_opacity (gtk_overlay_get_child (GTK_OVERLAY (overlay)),
                          chosen ? 1 : 0.4);
  if (chosen)
    gtk_widget_remove_css_class (label, "dim-label");
  else
    gtk_widget_add_css_class (label, "dim-label");
  gtk_accessible_update_state (
      GTK_ACCESSIBLE (lane), GTK_ACCESSIBLE_STATE_SELECTED, chosen, -1);
}

static void
show_chosen (FlamThreadLanes *self)
{
  const FlamSelection *selection = flam_session_get_selection (self->session);
  GtkListBoxRow *lane;

  for (guint i = 0; selection != NULL && self->timeline != NULL &&
                    (lane = lane_at (self, i)) != NULL;
       i++)
    show_as_chosen (lane, is_chosen (self->timeline, selection, i + 1));
}

/* Lanes keep their place while a recording grows. */
static void
show_lanes (FlamThreadLanes *self)
{
  const FlamTimeline *timeline = self->timeline;
  guint all = timeline != NULL ? timeline->n_rows - 1 : 0;
  guint n = MIN (all, LANES_MAX);
  gint64 top = 0;

  while (lane_at (self, n) != NULL)
    gtk_list_box_remove (GTK_LIST_BOX (self->list),
                         GTK_WIDGET (lane_at (self, n)));
  for (guint i = 0; i < n; i++)
    top = MAX (top, timeline->top[i + 1]);
  for (guint i = 0; i < n; i++)
    {
      if (lane_at (self, i) == NULL)
        add_lane (self);
      fill_lane (self, lane_at (self, i), top);
    }
  show_more (self, all - n);
  gtk_widget_set_visible (self->choice, self->has_cpus);
  self->has_lanes = all > 1 || self->has_cpus;
  gtk_widget_set_visible (GTK_WIDGET (self), self->has_lanes && !self->is_low);
  show_chosen (self);
}

/* --- the timeline --------------------------------------------------------- */

typedef struct
{
  FlamProfile *profile;
  FlamSelection *selection;
  FlamTimeline *before;
  FlamTimelineRows rows;
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  flam_profile_unref (input->profile);
  flam_selection_free (input->selection);
  g_clear_pointer (&input->before, flam_timeline_unref);
  g_free (input);
}

static gpointer
work (gpointer data, const FlamProgress *progress, GError **error)
{
  Input *input = data;

  return flam_timeline_new (input->profile,
                            input->selection,
                            input->before,
                            BUCKETS,
                            input->rows,
                            progress,
                            error);
}

static void
done (gpointer result, const GError *error, gpointer data)
{
  FlamThreadLanes *self = data;

  if (error != NULL)
    return;
  g_clear_pointer (&self->timeline, flam_timeline_unref);
  self->timeline = result;
  show_lanes (self);
}

/* The lanes show everything, whatever is selected. */
static FlamSelection *
selection_of_all (const FlamSelection *selection)
{
  FlamSelection *all = flam_selection_copy (selection);

  flam_selection_all_threads (all);
  g_ptr_array_set_size (all->transforms, 0);
  all->from = G_MININT64;
  all->to = G_MAXINT64;
  for (guint i = all->labels != NULL ? all->labels->len : 0; i-- > 0;)
    if (g_str_has_prefix (all->labels->pdata[i], CPU_CONDITION))
      g_ptr_array_remove_index (all->labels, i);
  return all;
}

static void
update (FlamThreadLanes *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);
  const FlamSelection *selection = flam_session_get_selection (self->session);
  g_autoptr (FlamSelection) all = NULL;
  Input *input;

  if (selection == NULL || profile == NULL)
    return;
  all = selection_of_all (selection);
  if (self->timeline != NULL && self->timeline->profile == profile &&
      self->timeline->rows == self->rows &&
      flam_selection_has_same_samples (all, self->timeline->selection, FALSE))
    {
      show_chosen (self);
      return;
    }
  input = g_new0 (Input, 1);
  input->profile = flam_profile_ref (profile);
  input->selection = g_steal_pointer (&all);
  input->rows = self->rows;
  if (self->timeline != NULL)
    input->before = flam_timeline_ref (self->timeline);
  flam_job_start (self->job,
                  work,
                  input,
                  input_free,
                  (GDestroyNotify)flam_timeline_unref,
                  done,
                  self);
}

static void
on_profile (FlamThreadLanes *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);
  g_autoptr (GArray) keys = NULL;

  if (self->timeline != NULL &&
      (profile == NULL ||
       !flam_profile_extends (profile, self->timeline->profile)))
    g_clear_pointer (&self->timeline, flam_timeline_unref);
  self->has_cpus = FALSE;
  if (profile != NULL)
    keys = flam_sample_labels_keys (profile);
  for (guint i = 0; keys != NULL && i < keys->len; i++)
    self->has_cpus |= g_str_equal (
        flam_profile_string (profile, g_array_index (keys, FlamId, i)),
        FLAM_LABEL_CPU);
  update (self);
}

/* --- choosing ------------------------------------------------------------- */

static void
choose_cpu (FlamSelection *selection, const char *condition)
{
  gboolean again = find_condition (selection, condition) != G_MAXUINT;

  for (guint i = selection->labels != NULL ? selection->labels->len : 0;
       i-- > 0;)
    if (g_str_has_prefix (selection->labels->pdata[i], CPU_CONDITION))
      g_ptr_array_remove_index (selection->labels, i);
  if (!again)
    flam_selection_add_label (selection, condition);
}

static void
choose_thread (FlamSelection *selection, FlamThreadId thread)
{
  gboolean again = selection->threads != NULL && selection->threads->len == 1 &&
                   flam_selection_has_thread (selection, thread);

  flam_selection_all_threads (selection);
  if (!again)
    flam_selection_add_thread (selection, thread);
}

static void
on_activated (FlamThreadLanes *self, GtkListBoxRow *lane)
{
  const FlamSelection *now = flam_session_get_selection (self->session);
  guint row = row_of (lane);
  FlamSelection *selection;

  if (now == NULL || self->timeline == NULL || row >= self->timeline->n_rows)
    return;
  selection = flam_selection_copy (now);
  if (self->timeline->cpus != NULL)
    {
      g_autofree char *condition = condition_of (self->timeline, row);

      choose_cpu (selection, condition);
    }
  else
    choose_thread (selection, self->timeline->threads[row - 1]);
  flam_session_select (self->session, selection);
}

static void
on_choice (FlamThreadLanes *self)
{
  self->rows = gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (self->cpus))
                   ? FLAM_TIMELINE_CPUS
                   : FLAM_TIMELINE_THREADS;
  update (self);
}

/* --- object --------------------------------------------------------------- */

static gboolean
on_idle (gpointer lanes)
{
  FlamThreadLanes *self = lanes;

  self->idle = 0;
  gtk_widget_set_visible (GTK_WIDGET (self), self->has_lanes && !self->is_low);
  return G_SOURCE_REMOVE;
}

/* The picture below keeps most of a low window. The layout cannot change while
 * it is in progress. */
static void
on_layout (GdkSurface *surface, int width, int height, FlamThreadLanes *self)
{
  gboolean is_low = height < LOW;

  if (is_low == self->is_low)
    return;
  self->is_low = is_low;
  if (self->idle == 0)
    self->idle = g_idle_add (on_idle, self);
}

static void
flam_thread_lanes_realize (GtkWidget *widget)
{
  GtkWidgetClass *parent = GTK_WIDGET_CLASS (flam_thread_lanes_parent_class);
  GtkNative *native;
  GdkSurface *surface;
  int width, height;

  parent->realize (widget);
  native = gtk_widget_get_native (widget);
  surface = gtk_native_get_surface (native);
  g_signal_connect_object (
      surface, "layout", G_CALLBACK (on_layout), widget, 0);
  height = gdk_surface_get_height (surface);
  /* A new surface has no size until the window's first frame. */
  if (height <= 1 && GTK_IS_WINDOW (native))
    gtk_window_get_default_size (GTK_WINDOW (native), &width, &height);
  on_layout (surface, 0, height, FLAM_THREAD_LANES (widget));
}

static void
flam_thread_lanes_unrealize (GtkWidget *widget)
{
  GtkWidgetClass *parent = GTK_WIDGET_CLASS (flam_thread_lanes_parent_class);

  g_signal_handlers_disconnect_by_func (
      gtk_native_get_surface (gtk_widget_get_native (widget)),
      on_layout,
      widget);
  parent->unrealize (widget);
}

void
flam_thread_lanes_set_session (FlamThreadLanes *self, FlamSession *session)
{
  g_return_if_fail (FLAM_IS_THREAD_LANES (self));
  self->session = g_object_ref (session);
  g_signal_connect_object (session,
                           "notify::profile",
                           G_CALLBACK (on_profile),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (session,
                           "notify::selection",
                           G_CALLBACK (update),
                           self,
                           G_CONNECT_SWAPPED);
}

static void
flam_thread_lanes_dispose (GObject *object)
{
  FlamThreadLanes *self = FLAM_THREAD_LANES (object);

  if (self->job != NULL)
    flam_job_cancel (self->job);
  g_clear_object (&self->job);
  g_clear_handle_id (&self->idle, g_source_remove);
  g_clear_pointer (&self->overlay, gtk_widget_unparent);
  g_clear_pointer (&self->timeline, flam_timeline_unref);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_thread_lanes_parent_class)->dispose (object);
}

static void
flam_thread_lanes_class_init (FlamThreadLanesClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_thread_lanes_dispose;
  class->realize = flam_thread_lanes_realize;
  class->unrealize = flam_thread_lanes_unrealize;
  gtk_widget_class_set_layout_manager_type (class, GTK_TYPE_BIN_LAYOUT);
}

static GtkWidget *
choice_new (FlamThreadLanes *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *threads = gtk_toggle_button_new_with_label (_ ("Threads"));

  self->cpus = gtk_toggle_button_new_with_label (_ ("CPUs"));
  gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (self->cpus),
                               GTK_TOGGLE_BUTTON (threads));
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (threads), TRUE);
  gtk_widget_add_css_class (threads, "flam-lane-choice");
  gtk_widget_add_css_class (self->cpus, "flam-lane-choice");
  gtk_box_append (GTK_BOX (box), threads);
  gtk_box_append (GTK_BOX (box), self->cpus);
  gtk_widget_add_css_class (box, "linked");
  gtk_widget_set_halign (box, GTK_ALIGN_END);
  gtk_widget_set_valign (box, GTK_ALIGN_START);
  gtk_widget_set_margin_end (box, 12);
  g_signal_connect_swapped (
      self->cpus, "toggled", G_CALLBACK (on_choice), self);
  return box;
}

static void
flam_thread_lanes_init (FlamThreadLanes *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);

  self->scroller = GTK_SCROLLED_WINDOW (gtk_scrolled_window_new ());
  self->job = flam_job_new ();
  self->rows = FLAM_TIMELINE_THREADS;
  self->list = gtk_list_box_new ();
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->list),
                                   GTK_SELECTION_NONE);
  gtk_widget_add_css_class (self->list, "flam-lanes");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Threads over time"),
                                  -1);
  g_signal_connect_swapped (
      self->list, "row-activated", G_CALLBACK (on_activated), self);
  self->more = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (self->more), 0);
  gtk_widget_add_css_class (self->more, "flam-lane");
  gtk_box_append (GTK_BOX (box), self->list);
  gtk_box_append (GTK_BOX (box), self->more);
  /* A scroll bar is higher than a few lanes. */
  gtk_scrolled_window_set_policy (
      self->scroller, GTK_POLICY_NEVER, GTK_POLICY_EXTERNAL);
  gtk_scrolled_window_set_max_content_height (self->scroller, HEIGHT_MAX);
  gtk_scrolled_window_set_propagate_natural_height (self->scroller, TRUE);
  gtk_scrolled_window_set_child (self->scroller, box);
  flam_platform_tab_leaves (self->list);
  self->choice = choice_new (self);
  self->overlay = gtk_overlay_new ();
  gtk_overlay_set_child (GTK_OVERLAY (self->overlay),
                         GTK_WIDGET (self->scroller));
  gtk_overlay_add_overlay (GTK_OVERLAY (self->overlay), self->choice);
  gtk_widget_set_parent (self->overlay, GTK_WIDGET (self));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}
