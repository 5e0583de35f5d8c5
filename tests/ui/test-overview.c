/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-overview.h"
#include "flam-plot-widget.h"

#include <adwaita.h>
#include <math.h>

#include "flam-core-profile.h"

#define WIDTH 800

typedef struct
{
  GtkWidget *window;
  FlamPlotWidget *overview;
  guint changes;
  gint64 from, to;
} Fixture;

/* --- profiles of one second ---------------------------------------------- */

static FlamStackId
a_stack (FlamBuilder *builder)
{
  FlamStringId name = flam_builder_string (builder, "f", -1);
  FlamFunctionId function =
      flam_builder_function_named (builder, name, FLAM_KIND_NATIVE);

  return flam_builder_stack (
      builder, FLAM_NONE, flam_builder_frame (builder, function, 0, 0, 0));
}

static FlamTimeline *
timeline_of (FlamBuilder *builder)
{
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (GError) error = NULL;
  FlamTimeline *timeline;

  flam_builder_facts (builder)->duration_ns = 1000000000;
  profile = flam_builder_finish (builder, &error);
  g_assert_no_error (error);
  timeline = flam_timeline_new (
      profile, selection, NULL, 500, FLAM_TIMELINE_THREADS, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (timeline);
  return timeline;
}

static FlamTimeline *
cpu_timeline (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamSample sample = { .thread =
                            flam_builder_thread (builder, process, 1, 0) };

  flam_builder_set_has_times (builder);
  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  sample.stack = a_stack (builder);
  for (sample.time = 0; sample.time < 1000000000; sample.time += 1000000)
    {
      double phase = (double)sample.time / 1e9 * 6 * G_PI;
      gint64 weight = (gint64)(500000 * (1.1 + sin (phase)));

      flam_builder_add_sample (builder, &sample, &weight);
    }
  return timeline_of (builder);
}

static FlamTimeline *
memory_timeline (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamStackId stack = a_stack (builder);
  guint rss;

  flam_builder_set_has_times (builder);
  flam_builder_add_allocation_measures (builder);
  rss = flam_builder_add_counter (builder, "rss", FLAM_UNIT_BYTES);
  for (guint i = 0; i < 400; i++)
    {
      FlamAllocation allocation = {
        .time = i * 2500000,
        .freed_at = i % 3 == 0 ? FLAM_NEVER : (i + 60) * 2500000,
        .thread = FLAM_NONE,
        .stack = stack,
        .size = 10000 + (i % 7) * 900,
        .count = 1,
        .at_peak = -1,
        .distance = G_MAXUINT16,
      };

      flam_builder_add_allocation (builder, &allocation);
      flam_builder_add_counter_value (
          builder, rss, i * 2500000, 900000 + i * 6000);
    }
  return timeline_of (builder);
}

/* --- a window ------------------------------------------------------------ */

static void
settle (guint ms)
{
  gint64 end = g_get_monotonic_time () + ms * 1000;

  while (g_get_monotonic_time () < end)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (1000);
}

static void
on_range (FlamPlotWidget *overview, gint64 from, gint64 to, Fixture *fixture)
{
  fixture->changes++;
  fixture->from = from;
  fixture->to = to;
}

static void
open_window (Fixture *fixture, FlamTimeline *timeline)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);
  GtkWidget *sparkline = flam_plot_widget_new_small ();

  fixture->window = gtk_window_new ();
  fixture->overview = FLAM_PLOT_WIDGET (flam_plot_widget_new ());
  gtk_window_set_decorated (GTK_WINDOW (fixture->window), FALSE);
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), WIDTH, 110);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (fixture->overview));
  gtk_widget_set_halign (sparkline, GTK_ALIGN_START);
  gtk_box_append (GTK_BOX (box), sparkline);
  gtk_window_set_child (GTK_WINDOW (fixture->window), box);
  flam_plot_widget_set_plot (fixture->overview, flam_overview_plot (timeline));
  flam_plot_widget_set_plot (FLAM_PLOT_WIDGET (sparkline),
                             flam_overview_row_plot (timeline, 0));
  flam_timeline_unref (timeline);
  g_signal_connect (
      fixture->overview, "range-changed", G_CALLBACK (on_range), fixture);
  gtk_window_present (GTK_WINDOW (fixture->window));
  for (guint i = 0; i < 200 && gtk_widget_get_width (
                                   GTK_WIDGET (fixture->overview)) != WIDTH;
       i++)
    settle (20);
  g_assert_cmpint (
      gtk_widget_get_width (GTK_WIDGET (fixture->overview)), ==, WIDTH);
}

static void
close_window (Fixture *fixture)
{
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  settle (20);
}

static GObject *
controller (Fixture *fixture, GType type)
{
  g_autoptr (GListModel) all =
      gtk_widget_observe_controllers (GTK_WIDGET (fixture->overview));

  for (guint i = 0; i < g_list_model_get_n_items (all); i++)
    {
      g_autoptr (GObject) item = g_list_model_get_item (all, i);

      if (G_OBJECT_TYPE (item) == type)
        return item;
    }
  g_assert_not_reached ();
}

static void
drag (Fixture *fixture, double from, double to)
{
  GObject *gesture = controller (fixture, GTK_TYPE_GESTURE_DRAG);

  g_signal_emit_by_name (gesture, "drag-begin", from, 10.0);
  g_signal_emit_by_name (gesture, "drag-update", (to - from) / 2, 0.0);
  g_signal_emit_by_name (gesture, "drag-update", to - from, 0.0);
  g_signal_emit_by_name (gesture, "drag-end", to - from, 0.0);
}

static gboolean
press (Fixture *fixture, guint key, GdkModifierType state)
{
  gboolean handled = FALSE;

  g_signal_emit_by_name (controller (fixture, GTK_TYPE_EVENT_CONTROLLER_KEY),
                         "key-pressed",
                         key,
                         0,
                         state,
                         &handled);
  return handled;
}

static void
picture (Fixture *fixture, const char *name)
{
  const char *folder = g_getenv ("FLAM_TEST_PICTURES");
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GdkPaintable *paintable;
  GskRenderNode *node;
  GdkTexture *texture;
  g_autofree char *path = NULL;

  settle (100);
  paintable = gtk_widget_paintable_new (fixture->window);
  gdk_paintable_snapshot (paintable, snapshot, WIDTH, 110);
  node = gtk_snapshot_free_to_node (snapshot);
  texture = gsk_renderer_render_texture (
      gtk_native_get_renderer (GTK_NATIVE (fixture->window)), node, NULL);
  if (folder != NULL)
    {
      path = g_build_filename (folder, name, NULL);
      gdk_texture_save_to_png (texture, path);
    }
  g_object_unref (texture);
  gsk_render_node_unref (node);
  g_object_unref (paintable);
}

/* --- tests --------------------------------------------------------------- */

#define MS 1000000

static void
test_drag (void)
{
  Fixture fixture = { 0 };

  open_window (&fixture, cpu_timeline ());
  picture (&fixture, "overview.png");
  drag (&fixture, 200, 600);
  g_assert_cmpint (fixture.from, ==, 250 * MS);
  g_assert_cmpint (fixture.to, ==, 750 * MS);
  picture (&fixture, "overview-range.png");
  drag (&fixture, 601, 521);
  g_assert_cmpint (fixture.from, ==, 250 * MS);
  g_assert_cmpint (ABS (fixture.to - 650 * MS), <=, 2 * MS);
  drag (&fixture, 300, 340);
  g_assert_cmpint (ABS (fixture.from - 300 * MS), <=, 2 * MS);
  g_assert_cmpint (ABS (fixture.to - 700 * MS), <=, 2 * MS);
  drag (&fixture, 300, 3000);
  g_assert_cmpint (ABS (fixture.from - 600 * MS), <=, 2 * MS);
  g_assert_cmpint (ABS (fixture.to - 1000 * MS), <=, 2 * MS);
  drag (&fixture, 482, 402); /* 2 pixels beside the left edge */
  g_assert_cmpint (ABS (fixture.from - 500 * MS), <=, 3 * MS);
  g_assert_cmpint (ABS (fixture.to - 1000 * MS), <=, 2 * MS);
  drag (&fixture, 20, 20);
  g_assert_cmpint (fixture.from, ==, G_MININT64);
  g_assert_cmpint (fixture.to, ==, G_MAXINT64);
  drag (&fixture, 700, 100);
  g_assert_cmpint (fixture.from, ==, 125 * MS);
  g_assert_cmpint (fixture.to, ==, 875 * MS);
  drag (&fixture, 20, 20);
  drag (&fixture, 0, WIDTH); /* the whole time is not a range */
  g_assert_cmpint (fixture.from, ==, G_MININT64);
  g_assert_cmpint (fixture.to, ==, G_MAXINT64);
  close_window (&fixture);
}

static void
test_keys (void)
{
  Fixture fixture = { 0 };

  open_window (&fixture, cpu_timeline ());
  g_assert_true (press (&fixture, GDK_KEY_Right, 0));
  g_assert_cmpint (fixture.from, ==, 400 * MS);
  g_assert_cmpint (fixture.to, ==, 600 * MS);
  press (&fixture, GDK_KEY_Right, 0);
  g_assert_cmpint (fixture.from, ==, 410 * MS);
  press (&fixture, GDK_KEY_Left, GDK_SHIFT_MASK);
  g_assert_cmpint (fixture.to, ==, 600 * MS);
  press (&fixture, GDK_KEY_Left, GDK_CONTROL_MASK);
  g_assert_cmpint (fixture.from, ==, 400 * MS);
  press (&fixture, GDK_KEY_plus, 0);
  g_assert_cmpint (fixture.from, ==, 450 * MS);
  g_assert_cmpint (fixture.to, ==, 550 * MS);
  press (&fixture, GDK_KEY_minus, 0);
  g_assert_cmpint (fixture.from, ==, 400 * MS);
  g_assert_true (press (&fixture, GDK_KEY_Escape, 0));
  g_assert_cmpint (fixture.from, ==, G_MININT64);
  g_assert_cmpint (fixture.to, ==, G_MAXINT64);
  g_assert_false (press (&fixture, GDK_KEY_Escape, 0));
  g_assert_false (press (&fixture, GDK_KEY_f, 0));
  close_window (&fixture);
}

/* Data from the session is shown and not sent back. */
static void
test_from_outside (void)
{
  Fixture fixture = { 0 };

  open_window (&fixture, memory_timeline ());
  flam_plot_widget_set_range (fixture.overview, 100 * MS, 300 * MS);
  picture (&fixture, "overview-memory.png");
  g_assert_cmpuint (fixture.changes, ==, 0);
  flam_plot_widget_set_plot (fixture.overview, NULL);
  settle (50);
  g_assert_false (press (&fixture, GDK_KEY_Right, 0));
  drag (&fixture, 20, 200);
  g_assert_cmpuint (fixture.changes, ==, 0);
  close_window (&fixture);
}

int
main (int argc, char **argv)
{
  g_setenv ("GTK_A11Y", "test", TRUE);
  g_test_init (&argc, &argv, NULL);
  adw_init ();
  g_test_add_func ("/overview/drag", test_drag);
  g_test_add_func ("/overview/keys", test_keys);
  g_test_add_func ("/overview/from-outside", test_from_outside);
  return g_test_run ();
}
