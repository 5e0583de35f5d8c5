/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-capture-view-private.h"

#include "flam-core-picture.h"
#include "flam-display-menu.h"
#include "flam-overview.h"
#include "flam-settings.h"
#include "flam-tips.h"
#include "flam-transforms.h"
#include "flam-widget.h"

#include <glib/gi18n.h>

#define OVERVIEW_BUCKETS 2000

G_DEFINE_FINAL_TYPE (FlamCaptureView, flam_capture_view, GTK_TYPE_WIDGET)

/* --- overview ------------------------------------------------------------- */

typedef struct
{
  FlamProfile *profile;
  FlamSelection *selection;
  FlamTimeline *before;
} TimelineInput;

static void
timeline_input_free (gpointer data)
{
  TimelineInput *input = data;

  flam_profile_unref (input->profile);
  flam_selection_free (input->selection);
  g_clear_pointer (&input->before, flam_timeline_unref);
  g_free (input);
}

static gpointer
timeline_work (gpointer data, const FlamProgress *progress, GError **error)
{
  TimelineInput *input = data;

  return flam_timeline_new (input->profile,
                            input->selection,
                            input->before,
                            OVERVIEW_BUCKETS,
                            FLAM_TIMELINE_ALL,
                            progress,
                            error);
}

static void
timeline_done (gpointer result, const GError *error, gpointer data)
{
  FlamCaptureView *self = data;

  g_clear_pointer (&self->timeline, flam_timeline_unref);
  self->timeline = result;
  gtk_widget_set_visible (GTK_WIDGET (self->overview), result != NULL);
  flam_plot_widget_set_plot (
      self->overview, result != NULL ? flam_overview_plot (result) : NULL);
  flam_lanes_set_timeline (self->lanes, result);
  if (!flam_session_is_live (self->session))
    flam_tips_offer (GTK_WIDGET (self),
                     GTK_WIDGET (self->overview),
                     GTK_WIDGET (flam_graph_view_get_graph (
                         flam_capture_pages_graph (self))));
}

static void
update_overview (FlamCaptureView *self)
{
  const FlamSelection *selection = flam_session_get_selection (self->session);
  TimelineInput *input;

  if (selection == NULL)
    return;
  flam_plot_widget_set_range (self->overview, selection->from, selection->to);
  input = g_new0 (TimelineInput, 1);
  input->profile = flam_profile_ref (flam_session_get_profile (self->session));
  input->selection = flam_selection_copy (selection);
  if (self->timeline != NULL)
    input->before = flam_timeline_ref (self->timeline);
  flam_job_start (self->timeline_job,
                  timeline_work,
                  input,
                  timeline_input_free,
                  (GDestroyNotify)flam_timeline_unref,
                  timeline_done,
                  self);
}

static void
on_range_changed (FlamPlotWidget *overview,
                  gint64 from,
                  gint64 to,
                  FlamCaptureView *self)
{
  FlamSelection *selection =
      flam_selection_copy (flam_session_get_selection (self->session));

  selection->from = from;
  selection->to = to;
  flam_session_select (self->session, selection);
}

static void
on_peak_activated (FlamCaptureView *self)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-peak", NULL);
}

/* --- facts of the capture ------------------------------------------------- */

static void
update_notice (FlamCaptureView *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);
  g_autofree char *why = NULL;
  g_autofree char *text = NULL;
  int percent;

  if (profile == NULL || profile->facts.complete ||
      flam_session_is_live (self->session) ||
      flam_session_is_growing (self->session))
    {
      gtk_revealer_set_reveal_child (self->notice, FALSE);
      return;
    }
  why = flam_message_shown (
      profile->facts.warnings[0] != NULL ? profile->facts.warnings[0] : "");
  percent = (int)(profile->facts.read_fraction * 100);
  if (percent < 100)
    /* Translators: how much was read, and why not more */
    text = g_strdup_printf (
        _ ("This file is incomplete; %d %% of it was read: %s"), percent, why);
  else
    text = g_strdup_printf (_ ("This file is incomplete: %s"), why);
  gtk_label_set_label (self->notice_label, text);
  gtk_widget_set_visible (GTK_WIDGET (self->notice), TRUE);
  gtk_revealer_set_reveal_child (self->notice, TRUE);
}

static void
dismiss_notice (FlamCaptureView *self)
{
  gtk_revealer_set_reveal_child (self->notice, FALSE);
}

FlamSearchBar *
flam_capture_view_get_search (FlamCaptureView *self)
{
  g_return_val_if_fail (FLAM_IS_CAPTURE_VIEW (self), NULL);
  return self->search_bar;
}

void
flam_capture_view_begin (FlamCaptureView *self)
{
  g_return_if_fail (FLAM_IS_CAPTURE_VIEW (self));
  flam_capture_pages_grab_focus (self);
}

/* --- narrow windows ------------------------------------------------------- */

void
flam_capture_view_set_room (FlamCaptureView *self, FlamRoom room)
{
  GtkOrientation orientation =
      room.stacked ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL;

  g_return_if_fail (FLAM_IS_CAPTURE_VIEW (self));
  self->room = room;
  flam_source_divider_set_narrow (self->divider, room.narrow, room.small);
  gtk_widget_set_hexpand (GTK_WIDGET (self->threads), room.stacked);
  gtk_widget_set_hexpand (GTK_WIDGET (self->states), room.stacked);
  gtk_widget_set_hexpand (GTK_WIDGET (self->page_menu), room.stacked);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self->top_bar), orientation);
  flam_capture_pages_update_switcher (self);
  flam_search_bar_set_narrow (self->search_bar, room.narrow);
  flam_path_bar_set_narrow (self->path_bar, room.narrow);
  flam_status_bar_set_narrow (self->status_bar, room.narrow);
}

void
flam_capture_view_toggle_invert (FlamCaptureView *self)
{
  FlamSelection *selection;

  g_return_if_fail (FLAM_IS_CAPTURE_VIEW (self));
  if (flam_session_get_selection (self->session) == NULL)
    return;
  selection = flam_selection_copy (flam_session_get_selection (self->session));
  selection->invert = !selection->invert;
  flam_session_select (self->session, selection);
}

void
flam_capture_view_choose_threads (FlamCaptureView *self)
{
  g_return_if_fail (FLAM_IS_CAPTURE_VIEW (self));
  flam_thread_selector_open (self->threads);
}

/* --- object --------------------------------------------------------------- */

static void
follow (FlamCaptureView *self, const char *signal, GCallback callback)
{
  g_signal_connect_object (
      self->session, signal, callback, self, G_CONNECT_SWAPPED);
}

static gboolean
knows_files (const FlamProfile *profile)
{
  for (FlamId i = 0; i < profile->functions.n; i++)
    if (profile->functions.file[i] != 0)
      return TRUE;
  for (FlamId i = 0; i < profile->frames.n; i++)
    if (profile->frames.file[i] != 0)
      return TRUE;
  return FALSE;
}

/* A capture without source files does not need a source pane. */
static void
update_source_pane (FlamCaptureView *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);

  gtk_widget_set_visible (
      GTK_WIDGET (self->source_pane),
      g_settings_get_boolean (flam_settings_get (), FLAM_KEY_SOURCE_SHOWN) &&
          (profile == NULL || knows_files (profile)));
}

static void
bind_settings (FlamCaptureView *self)
{
  g_signal_connect_object (flam_settings_get (),
                           "changed::" FLAM_KEY_SOURCE_SHOWN,
                           G_CALLBACK (update_source_pane),
                           self,
                           G_CONNECT_SWAPPED);
  follow (self, "notify::profile", G_CALLBACK (update_source_pane));
  update_source_pane (self);
}

void
flam_capture_view_set_session (FlamCaptureView *self, FlamSession *session)
{
  g_return_if_fail (FLAM_IS_CAPTURE_VIEW (self));
  g_return_if_fail (self->session == NULL);
  self->session = g_object_ref (session);
  flam_capture_pages_fill (self);
  self->measures = flam_measure_menu_new (session,
                                          GTK_WIDGET (self->kind_box),
                                          self->cpu_button,
                                          self->memory_button,
                                          self->measure_button,
                                          self->measure_label);
  flam_headline_bar_set_session (self->headline_bar, session);
  flam_unresolved_bar_set_session (self->unresolved_bar, session);
  flam_download_bar_set_session (self->download_bar, session);
  flam_search_bar_set_session (
      self->search_bar, session, flam_capture_pages_graph (self));
  flam_state_menu_set_session (self->states, session);
  flam_thread_selector_set_session (self->threads, session);
  flam_thread_lanes_set_session (self->thread_lanes, session);
  flam_path_bar_set_session (self->path_bar, session);
  flam_display_menu_install (self->display_button, session);
  flam_source_pane_set_session (self->source_pane, session);
  flam_status_bar_set_session (
      self->status_bar, session, flam_capture_pages_graph (self));
  flam_transforms_install (GTK_WIDGET (self), session);

  follow (self, "notify::profile", G_CALLBACK (update_notice));
  follow (self, "notify::selection", G_CALLBACK (update_overview));
  bind_settings (self);
}

static void
flam_capture_view_dispose (GObject *object)
{
  FlamCaptureView *self = FLAM_CAPTURE_VIEW (object);

  if (self->timeline_job != NULL)
    flam_job_cancel (self->timeline_job);
  g_clear_object (&self->timeline_job);
  g_clear_pointer (&self->timeline, flam_timeline_unref);
  g_clear_object (&self->measures);
  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_CAPTURE_VIEW);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_capture_view_parent_class)->dispose (object);
}

static void
bind_children (GtkWidgetClass *class)
{
  gtk_widget_class_bind_template_child (class, FlamCaptureView, notice);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, notice_label);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, notice_close);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, unresolved_bar);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, download_bar);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, headline_bar);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, top_bar);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, choices);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, kind_box);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, cpu_button);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, memory_button);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, switcher);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, page_menu);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, measure_button);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, measure_label);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, states);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, threads);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, search_bar);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, overview);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, thread_lanes);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, lanes);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, path_bar);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, display_button);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, divider);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, pages);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, source_pane);
  gtk_widget_class_bind_template_child (class, FlamCaptureView, status_bar);
}

static void
flam_capture_view_class_init (FlamCaptureViewClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_capture_view_dispose;
  g_type_ensure (FLAM_TYPE_PLOT_WIDGET);
  g_type_ensure (FLAM_TYPE_LANES);
  g_type_ensure (FLAM_TYPE_THREAD_LANES);
  g_type_ensure (FLAM_TYPE_PAGE_SWITCHER);
  g_type_ensure (FLAM_TYPE_PATH_BAR);
  g_type_ensure (FLAM_TYPE_SEARCH_BAR);
  g_type_ensure (FLAM_TYPE_SOURCE_DIVIDER);
  g_type_ensure (FLAM_TYPE_SOURCE_PANE);
  g_type_ensure (FLAM_TYPE_STATUS_BAR);
  g_type_ensure (FLAM_TYPE_HEADLINE_BAR);
  g_type_ensure (FLAM_TYPE_DOWNLOAD_BAR);
  g_type_ensure (FLAM_TYPE_UNRESOLVED_BAR);
  g_type_ensure (FLAM_TYPE_STATE_MENU);
  g_type_ensure (FLAM_TYPE_THREAD_SELECTOR);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-capture-view.ui");
  bind_children (class);
}

/* In GTK 4.8, a widget that gets its place in the window finds the actions of
 * those around it that have a group by then. The session's group takes the
 * place of this one. */
static void
begin_actions (FlamCaptureView *self)
{
  g_autoptr (GSimpleActionGroup) none = g_simple_action_group_new ();

  gtk_widget_insert_action_group (
      GTK_WIDGET (self), "node", G_ACTION_GROUP (none));
}

static void
flam_capture_view_init (FlamCaptureView *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  begin_actions (self);
  self->timeline_job = flam_job_new ();
  /* It would stay with what moves the divider. */
  g_signal_connect_swapped (
      self->search_bar, "closed", G_CALLBACK (flam_capture_view_begin), self);
  g_signal_connect_swapped (
      self->notice_close, "clicked", G_CALLBACK (dismiss_notice), self);
  g_signal_connect (
      self->overview, "range-changed", G_CALLBACK (on_range_changed), self);
  g_signal_connect_swapped (
      self->overview, "note-activated", G_CALLBACK (on_peak_activated), self);
}
