/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The bars beside the source, and the strip, are as long and as strong as the
 * lines' share of what is selected, not of the whole capture:
 *
 *   thread   one   other   both
 *   line 1    50       -     50 of 200
 *   line 2     -     150    150 of 200 */

#include "flam-core-query.h"
#include "flam-cost-gutter.h"
#include "flam-heat-strip.h"

#include <adwaita.h>
#include <math.h>
#include <string.h>

#define FILE_NAME "/home/me/sort.c"

static FlamProfile *
new_profile (void)
{
  static const char *const names[] = { "one", "other" };
  static const gint64 weights[] = { 50, 150 };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamFunctionId function = flam_builder_function_named (
      builder, flam_builder_string (builder, "sort", -1), FLAM_KIND_NATIVE);
  FlamStringId file = flam_builder_string (builder, FILE_NAME, -1);

  flam_builder_add_standard_measure (builder,
                                     FLAM_STANDARD_CPU_TIME,
                                     (int)flam_builder_add_column (builder),
                                     FLAM_NONE);
  for (guint i = 0; i < 2; i++)
    {
      FlamSample sample = {
        .thread = flam_builder_thread (builder, process, (gint32)i + 1, 0),
        .time = i,
        .stack = flam_builder_stack (
            builder,
            FLAM_NONE,
            flam_builder_frame_in (builder, function, 0, file, i + 1, 0)),
      };

      flam_builder_set_thread_name (builder, sample.thread, names[i]);
      flam_builder_add_sample (builder, &sample, &weights[i]);
    }
  return flam_builder_finish (builder, NULL);
}

/* `thread` FLAM_NONE: both. */
static FlamSourceCosts *
costs_of (const FlamProfile *profile, FlamThreadId thread)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamViewData) view_data = NULL;

  if (thread != FLAM_NONE)
    flam_selection_add_thread (selection, thread);
  view_data = flam_view_data_new (
      profile, selection, FLAM_ORDER_TOTAL, NULL, NULL, NULL);
  return flam_source_costs_new (view_data, FILE_NAME, NULL, 0, FLAM_NONE, NULL);
}

/* --- what is drawn -------------------------------------------------------- */

typedef struct
{
  float red, green, blue;
  GArray *found; /* Mark */
} Search;

typedef struct
{
  float y, width, alpha;
} Mark;

/* A text view draws its gutter twice. */
static void
add_mark (GArray *marks, Mark mark)
{
  for (guint i = 0; i < marks->len; i++)
    if (g_array_index (marks, Mark, i).y == mark.y)
      return;
  g_array_append_val (marks, mark);
}

static void
find_marks (GskRenderNode *node, Search *search)
{
  graphene_rect_t bounds;
  const GdkRGBA *color;
  Mark mark;

  switch (gsk_render_node_get_node_type (node))
    {
    case GSK_CONTAINER_NODE:
      for (guint i = 0; i < gsk_container_node_get_n_children (node); i++)
        find_marks (gsk_container_node_get_child (node, i), search);
      break;
    case GSK_TRANSFORM_NODE:
      find_marks (gsk_transform_node_get_child (node), search);
      break;
    case GSK_CLIP_NODE:
      find_marks (gsk_clip_node_get_child (node), search);
      break;
    case GSK_DEBUG_NODE:
      find_marks (gsk_debug_node_get_child (node), search);
      break;
    case GSK_COLOR_NODE:
      color = gsk_color_node_get_color (node);
      gsk_render_node_get_bounds (node, &bounds);
      mark = (Mark){ bounds.origin.y, bounds.size.width, color->alpha };
      if (fabsf (color->red - search->red) < 0.01f &&
          fabsf (color->green - search->green) < 0.01f &&
          fabsf (color->blue - search->blue) < 0.01f)
        add_mark (search->found, mark);
      break;
    default:
      break;
    }
}

/* The marks of this color in the widget: Mark. */
static GArray *
marks_of (GtkWidget *widget, float red, float green, float blue)
{
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (widget);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  Search search = {
    red, green, blue, g_array_new (FALSE, FALSE, sizeof (Mark))
  };
  GskRenderNode *node;

  gdk_paintable_snapshot (paintable,
                          snapshot,
                          gtk_widget_get_width (widget),
                          gtk_widget_get_height (widget));
  node = gtk_snapshot_free_to_node (snapshot);
  if (node != NULL)
    {
      find_marks (node, &search);
      gsk_render_node_unref (node);
    }
  return search.found;
}

static gboolean
give_up (gpointer given_up)
{
  *(gboolean *)given_up = TRUE;
  return G_SOURCE_REMOVE;
}

/* Waits until as many marks are drawn. */
static GArray *
wait_for (GtkWidget *widget, guint n)
{
  gboolean late = FALSE;
  guint timer = g_timeout_add_seconds (20, give_up, &late);
  g_autoptr (GArray) marks = NULL;

  for (;;)
    {
      marks = marks_of (widget, 0.90f, 0.38f, 0.0f);
      if (marks->len == n || late)
        break;
      g_clear_pointer (&marks, g_array_unref);
      g_main_context_iteration (NULL, TRUE);
    }
  g_assert_false (late);
  g_source_remove (timer);
  return g_steal_pointer (&marks);
}

static Mark
mark_at (const GArray *marks, guint i)
{
  return g_array_index (marks, Mark, i);
}

/* --- tests ---------------------------------------------------------------- */

static GtkWidget *
show (GtkWidget *child)
{
  GtkWidget *window = gtk_window_new ();

  gtk_window_set_default_size (GTK_WINDOW (window), 400, 200);
  gtk_window_set_child (GTK_WINDOW (window), child);
  gtk_window_present (GTK_WINDOW (window));
  return window;
}

static void
test_strip (void)
{
  g_autoptr (FlamProfile) profile = new_profile ();
  g_autoptr (FlamSourceCosts) both = costs_of (profile, FLAM_NONE);
  g_autoptr (FlamSourceCosts) one = costs_of (profile, 0);
  GtkWidget *strip = g_object_new (FLAM_TYPE_HEAT_STRIP, NULL);
  GtkWidget *window = show (strip);
  g_autoptr (GArray) of_both = NULL, of_one = NULL;

  flam_heat_strip_set_costs (FLAM_HEAT_STRIP (strip), both, 2);
  of_both = wait_for (strip, 2);
  g_assert_cmpfloat_with_epsilon (mark_at (of_both, 0).alpha, 0.4, 0.001);
  g_assert_cmpfloat_with_epsilon (mark_at (of_both, 1).alpha, 0.8, 0.001);
  flam_heat_strip_set_costs (FLAM_HEAT_STRIP (strip), one, 2);
  of_one = wait_for (strip, 1);
  g_assert_cmpfloat_with_epsilon (mark_at (of_one, 0).alpha, 1, 0.001);
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
test_bars (void)
{
  g_autoptr (FlamProfile) profile = new_profile ();
  g_autoptr (FlamSourceCosts) both = costs_of (profile, FLAM_NONE);
  g_autoptr (FlamSourceCosts) one = costs_of (profile, 0);
  GtkWidget *view = gtk_source_view_new ();
  GtkSourceGutterRenderer *gutter = flam_cost_gutter_new ();
  GtkWidget *window = show (view);
  g_autoptr (GArray) of_both = NULL, of_one = NULL;
  float full;

  gtk_text_buffer_set_text (
      gtk_text_view_get_buffer (GTK_TEXT_VIEW (view)), "a ();\nb ();\n", -1);
  gtk_source_gutter_insert (
      gtk_source_view_get_gutter (GTK_SOURCE_VIEW (view), GTK_TEXT_WINDOW_LEFT),
      gutter,
      0);
  flam_cost_gutter_set_costs (FLAM_COST_GUTTER (gutter), one);
  of_one = wait_for (view, 1);
  full = mark_at (of_one, 0).width;
  g_assert_cmpfloat (full, >, 20);
  flam_cost_gutter_set_costs (FLAM_COST_GUTTER (gutter), both);
  of_both = wait_for (view, 2);
  g_assert_cmpfloat_with_epsilon (mark_at (of_both, 0).width, full / 4, 0.5);
  g_assert_cmpfloat_with_epsilon (
      mark_at (of_both, 1).width, full * 3 / 4, 0.5);
  gtk_window_destroy (GTK_WINDOW (window));
}

/* The gutter's width in a view of that width. */
static int
width_in (GtkSourceGutterRenderer *gutter, int room)
{
  int width;

  flam_cost_gutter_set_room (FLAM_COST_GUTTER (gutter), room);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  gtk_widget_measure (GTK_WIDGET (gutter),
                      GTK_ORIENTATION_HORIZONTAL,
                      -1,
                      NULL,
                      &width,
                      NULL,
                      NULL);
  return width;
}

/* A count of 19 digits, twice, is wider than the view: the shares are not. */
static void
test_room (void)
{
  g_autoptr (FlamProfile) profile = new_profile ();
  g_autoptr (FlamSourceCosts) both = costs_of (profile, FLAM_NONE);
  GtkWidget *view = gtk_source_view_new ();
  GtkSourceGutterRenderer *gutter = flam_cost_gutter_new ();
  GtkWidget *window = show (view);
  int wide, tight, again;
  g_autofree char *line = NULL;

  gtk_source_gutter_insert (
      gtk_source_view_get_gutter (GTK_SOURCE_VIEW (view), GTK_TEXT_WINDOW_LEFT),
      gutter,
      0);
  for (guint i = 0; i < both->n; i++)
    {
      g_free (both->total_text[i]);
      both->total_text[i] = g_strdup ("9 000 000 000 000 000 001");
    }
  flam_cost_gutter_set_costs (FLAM_COST_GUTTER (gutter), both);
  wide = width_in (gutter, 2000);
  tight = width_in (gutter, wide);
  again = width_in (gutter, wide * 3 / 2 + 2);
  g_assert_cmpint (tight, <, wide / 2);
  g_assert_cmpint (again, ==, wide);
  line = flam_cost_gutter_describe (FLAM_COST_GUTTER (gutter), 1);
  g_assert_nonnull (strstr (line, "total 9 000 000 000 000 000 001"));
  gtk_window_destroy (GTK_WINDOW (window));
}

/* One function with one line, called by two others:
 *
 *   main ─┬─ left ─── sort:3  70
 *         └─ right ── sort:3  20, sort:4  10 */
static FlamProfile *
new_callers (void)
{
  static const struct
  {
    const char *caller;
    guint32 line;
    gint64 weight;
  } samples[] = { { "left", 3, 70 }, { "right", 3, 20 }, { "right", 4, 10 } };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamThreadId thread = flam_builder_thread (builder, process, 1, 0);
  FlamStringId file = flam_builder_string (builder, FILE_NAME, -1);

  flam_builder_add_standard_measure (builder,
                                     FLAM_STANDARD_CPU_TIME,
                                     (int)flam_builder_add_column (builder),
                                     FLAM_NONE);
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      const char *names[] = { "main", samples[i].caller, "sort" };
      FlamSample sample = { .thread = thread, .time = i, .stack = FLAM_NONE };

      for (guint n = 0; n < G_N_ELEMENTS (names); n++)
        {
          FlamFunctionId function = flam_builder_function_named (
              builder,
              flam_builder_string (builder, names[n], -1),
              FLAM_KIND_NATIVE);

          sample.stack = flam_builder_stack (
              builder,
              sample.stack,
              flam_builder_frame_in (builder,
                                     function,
                                     0,
                                     file,
                                     n == 2 ? samples[i].line : n + 10,
                                     0));
        }
      flam_builder_add_sample (builder, &sample, &samples[i].weight);
    }
  return flam_builder_finish (builder, NULL);
}

/* The lines of a path have the path's cost, and so have those of a caller. */
static void
test_path (void)
{
  static const char *const names[] = { "main", "right", "sort", NULL };
  g_autoptr (FlamProfile) profile = new_callers ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamViewData) view_data = flam_view_data_new (
      profile, selection, FLAM_ORDER_TOTAL, NULL, NULL, NULL);
  FlamNodeId node = flam_tree_find_names (view_data->tree, names);
  g_autoptr (FlamSourceCosts) all =
      flam_source_costs_new (view_data, FILE_NAME, NULL, 0, FLAM_NONE, NULL);
  g_autoptr (FlamSourceCosts) path =
      flam_source_costs_new (view_data, FILE_NAME, NULL, node, FLAM_NONE, NULL);

  g_autoptr (FlamTree) callers =
      flam_sandwich_callers (view_data->tree, node, NULL, NULL);
  g_autoptr (FlamSourceCosts) caller =
      flam_source_costs_new (view_data,
                             FILE_NAME,
                             callers,
                             flam_tree_find_name (callers, "right"),
                             FLAM_NONE,
                             NULL);

  g_assert_cmpint (caller->n, ==, path->n);
  for (guint i = 0; i < path->n; i++)
    g_assert_cmpint (caller->rows[i].total, ==, path->rows[i].total);
  g_assert_cmpint (view_data->tree->total[node], ==, 30);
  g_assert_cmpint (all->rows[flam_source_costs_find (all, 3)].total, ==, 90);
  g_assert_cmpint (all->rows[flam_source_costs_find (all, 10)].total, ==, 100);
  g_assert_cmpint (path->rows[flam_source_costs_find (path, 3)].total, ==, 20);
  g_assert_cmpint (path->rows[flam_source_costs_find (path, 4)].total, ==, 10);
  g_assert_cmpint (path->rows[flam_source_costs_find (path, 10)].total, ==, 30);
  g_assert_cmpstr (
      path->total_text[flam_source_costs_find (path, 4)], ==, "10\302\240ns");
  g_assert_cmpint (path->whole, ==, 100);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  adw_init ();
  gtk_source_init ();
  g_test_add_func ("/source-costs/strip", test_strip);
  g_test_add_func ("/source-costs/bars", test_bars);
  g_test_add_func ("/source-costs/room", test_room);
  g_test_add_func ("/source-costs/path", test_path);
  return g_test_run ();
}
