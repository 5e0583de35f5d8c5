/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Plots without a display: positions, points below the pointer, keys, ranges of
 * time, marks of the axis. */

#include "flam-core-picture.h"

static const gint64 ten[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };

/* Values of one shape over 0 to 1000 ns. */
static FlamPlot *
plot_of (FlamPlotShape shape, guint n, guint n_rows)
{
  FlamPlot *plot = flam_plot_new (FLAM_PLOT_TIME, 1, FLAM_UNIT_NS, NULL, NULL);

  plot->to = 1000;
  plot->top = 10;
  plot->n_rows = n_rows;
  plot->series[0] = (FlamPlotSeries){ .shape = shape, .n = n, .value = ten };
  return plot;
}

/* Two lines: one at 10, 20, 30, and one only at 15. */
static FlamPlot *
lines (void)
{
  static const gint64 value[] = { 10, 20, 30, 15 };
  static const double x[] = { 0, 0.5, 1, 0.5 };
  FlamPlot *plot = flam_plot_new (FLAM_PLOT_DATE, 2, FLAM_UNIT_NS, NULL, NULL);

  plot->top = 40;
  for (guint s = 0; s < 2; s++)
    plot->series[s] = (FlamPlotSeries){ .shape = FLAM_PLOT_LINE,
                                        .n = s == 0 ? 3 : 1,
                                        .value = &value[3 * s],
                                        .x = &x[3 * s] };
  return plot;
}

static void
assert_spot (FlamPlotSpot spot, guint series, guint point)
{
  g_assert_cmpuint (spot.series, ==, series);
  g_assert_cmpuint (spot.point, ==, point);
}

static void
assert_rect (FlamRect rect, double x, double y, double width, double height)
{
  g_assert_cmpfloat_with_epsilon (rect.x, x, 1e-9);
  g_assert_cmpfloat_with_epsilon (rect.y, y, 1e-9);
  g_assert_cmpfloat_with_epsilon (rect.width, width, 1e-9);
  g_assert_cmpfloat_with_epsilon (rect.height, height, 1e-9);
}

static void
test_area (void)
{
  g_autoptr (FlamPlot) area = plot_of (FLAM_PLOT_AREA, 10, 1);
  g_autoptr (FlamPlot) bars = plot_of (FLAM_PLOT_BARS, 2, 1);
  g_autoptr (FlamPlot) cells = plot_of (FLAM_PLOT_CELLS, 10, 5);
  g_autoptr (FlamPlot) line = lines ();
  int minimum, natural;

  assert_rect (flam_plot_area (area, 500, 64), 0, 3, 500, 45);
  /* A bar is at most 96 pixels wide. */
  assert_rect (flam_plot_area (bars, 500, 150), 0, 18, 192, 112);
  /* Cells are whole pixels: two columns of at most 64, five rows of 6. */
  assert_rect (flam_plot_area (cells, 101, 54), 0, 0, 100, 30);
  assert_rect (flam_plot_area (cells, 500, 54), 0, 0, 128, 30);
  assert_rect (flam_plot_area (line, 228, 146), 14, 22, 200, 100);
  /* A larger font has as much more room above and below. */
  line->text_extra = bars->text_extra = area->text_extra = 10;
  assert_rect (flam_plot_area (line, 228, 166), 14, 32, 200, 100);
  assert_rect (flam_plot_area (bars, 500, 170), 0, 28, 192, 112);
  assert_rect (flam_plot_area (area, 500, 74), 0, 3, 500, 45);
  flam_plot_measure (area, FALSE, &minimum, &natural);
  g_assert_cmpint (minimum, ==, 74);
  area->text_extra = 0;
  area->axis = FLAM_PLOT_NO_AXIS;
  assert_rect (flam_plot_area (area, 72, 16), 0, 1, 72, 15);
}

static void
test_measure (void)
{
  g_autoptr (FlamPlot) cells = plot_of (FLAM_PLOT_CELLS, 10, 5);
  int minimum, natural;

  flam_plot_measure (cells, TRUE, &minimum, &natural);
  g_assert_cmpint (minimum, ==, 2 * 3);
  g_assert_cmpint (natural, ==, 2 * 16);
  flam_plot_measure (cells, FALSE, &minimum, &natural);
  g_assert_cmpint (minimum, ==, 20 + 5 * 3);
  g_assert_cmpint (natural, ==, 20 + 5 * 16);
}

static void
test_place (void)
{
  const FlamRect room = { 10, 20, 100, 50 };
  g_autoptr (FlamPlot) area = plot_of (FLAM_PLOT_AREA, 10, 1);
  g_autoptr (FlamPlot) bars = plot_of (FLAM_PLOT_BARS, 10, 1);
  g_autoptr (FlamPlot) cells = plot_of (FLAM_PLOT_CELLS, 10, 5);
  g_autoptr (FlamPlot) line = lines ();

  assert_rect (
      flam_plot_place (area, &room, (FlamPlotSpot){ 0, 3 }), 40, 50, 10, 0);
  assert_rect (
      flam_plot_place (bars, &room, (FlamPlotSpot){ 0, 3 }), 40, 50, 10, 20);
  /* Upwards, then to the right: the seventh is the second of the second
   * column. */
  assert_rect (
      flam_plot_place (cells, &room, (FlamPlotSpot){ 0, 6 }), 60, 50, 50, 10);
  assert_rect (
      flam_plot_place (line, &room, (FlamPlotSpot){ 0, 1 }), 60, 45, 0, 0);
  /* A value that is not 0 is at least a pixel high. */
  bars->top = 1000000;
  assert_rect (
      flam_plot_place (bars, &room, (FlamPlotSpot){ 0, 0 }), 10, 69, 10, 1);
  /* The last slot ends with the axis. */
  area->series[0].slot = 0.15;
  area->series[0].n = 7;
  assert_rect (
      flam_plot_place (area, &room, (FlamPlotSpot){ 0, 6 }), 100, 35, 10, 0);
}

/* Every slot is in a pixel, also where there are more slots than pixels. */
static void
test_slots (void)
{
  const FlamPlotSeries series = { .n = 10, .value = ten };
  guint end;

  g_assert_cmpuint (flam_plot_slots_at (&series, 0, 5, &end), ==, 0);
  g_assert_cmpuint (end, ==, 2);
  g_assert_cmpuint (flam_plot_slots_at (&series, 4, 5, &end), ==, 8);
  g_assert_cmpuint (end, ==, 10);
  g_assert_cmpuint (flam_plot_slots_at (&series, 21, 40, &end), ==, 5);
  g_assert_cmpuint (end, ==, 6);
  g_assert_cmpuint (flam_plot_slots_at (&series, 39, 40, &end), ==, 9);
  g_assert_cmpuint (end, ==, 10);
  for (int pixels = 1; pixels < 40; pixels++)
    {
      guint next = 0;

      for (int i = 0; i < pixels; i++)
        {
          g_assert_cmpuint (
              flam_plot_slots_at (&series, i, pixels, &end), <=, next);
          next = end;
        }
      g_assert_cmpuint (next, ==, 10);
    }
}

static void
test_time (void)
{
  const FlamRect room = { 10, 0, 100, 50 };
  g_autoptr (FlamPlot) plot = plot_of (FLAM_PLOT_AREA, 10, 1);

  g_assert_cmpint (flam_plot_time_at (plot, &room, 60), ==, 500);
  g_assert_cmpint (flam_plot_time_at (plot, &room, 0), ==, 0);
  g_assert_cmpint (flam_plot_time_at (plot, &room, 200), ==, 1000);
  g_assert_cmpfloat (flam_plot_x_of (plot, &room, 500), ==, 60);
  g_assert_cmpfloat (flam_plot_x_of (plot, &room, G_MININT64), ==, 10);
  g_assert_cmpfloat (flam_plot_x_of (plot, &room, G_MAXINT64), ==, 110);
}

static void
test_round_top (void)
{
  static const gint64 cases[][2] = {
    { 0, 1 },     { 1, 1 },     { 7, 7 },     { 10, 10 },    { 11, 12 },
    { 159, 160 }, { 201, 250 }, { 501, 600 }, { 999, 1000 }, { 1001, 1200 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (flam_plot_round_top (cases[i][0], 1), ==, cases[i][1]);
  /* 15.9 in tenths. */
  g_assert_cmpint (flam_plot_round_top (159, 10), ==, 160);
  g_assert_cmpint (flam_plot_round_top (G_MAXINT64, 1), ==, G_MAXINT64);
}

static char *
slot_text (const FlamPlot *plot, guint slot)
{
  return g_strdup_printf ("%u", slot);
}

static void
assert_marks (const FlamPlot *plot, double width, const char *expected)
{
  const FlamRect room = { 0, 0, width, 10 };
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autoptr (GArray) marks = flam_plot_marks (plot, &room, utc);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < marks->len; i++)
    {
      const FlamPlotMark *mark = &g_array_index (marks, FlamPlotMark, i);

      g_string_append_printf (
          text, "%s%g %s", i > 0 ? ", " : "", mark->x, mark->text);
    }
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_marks (void)
{
  g_autoptr (FlamPlot) area = plot_of (FLAM_PLOT_AREA, 10, 1);
  g_autoptr (FlamPlot) bars = plot_of (FLAM_PLOT_BARS, 10, 1);
  g_autoptr (FlamPlot) cells = plot_of (FLAM_PLOT_CELLS, 10, 5);
  g_autoptr (FlamPlot) line = lines ();

  assert_marks (area, 220, "0 0.0 µs, 110 0.5 µs");
  bars->axis = FLAM_PLOT_SLOTS;
  bars->slot_text = slot_text;
  assert_marks (bars, 200, "10 0, 70 3, 130 6, 190 9");
  /* Two columns of cells: none in the middle of one. */
  assert_marks (cells, 1100, "0 0.0 µs, 550 0.5 µs");
  /* All points have the same date. */
  line->from = line->to = 0;
  assert_marks (line, 200, "100 1970-01-01 00:00");
}

static void
test_hit (void)
{
  const FlamRect room = { 10, 20, 100, 50 };
  g_autoptr (FlamPlot) bars = plot_of (FLAM_PLOT_BARS, 10, 1);
  g_autoptr (FlamPlot) cells = plot_of (FLAM_PLOT_CELLS, 10, 5);
  g_autoptr (FlamPlot) line = lines ();

  /* A bar is hit above itself, too, so that small ones can be. */
  assert_spot (flam_plot_hit (bars, &room, 10, 21), 0, 0);
  assert_spot (flam_plot_hit (bars, &room, 109.9, 69), 0, 9);
  assert_spot (flam_plot_hit (bars, &room, 110, 69), G_MAXUINT, G_MAXUINT);
  assert_spot (flam_plot_hit (bars, &room, 9, 69), G_MAXUINT, G_MAXUINT);
  assert_spot (flam_plot_hit (cells, &room, 60, 55), 0, 6);
  assert_spot (flam_plot_hit (cells, &room, 60, 71), G_MAXUINT, G_MAXUINT);
  assert_spot (flam_plot_hit (cells, &room, 60, 19), G_MAXUINT, G_MAXUINT);
  /* Within 24 pixels, the nearest: 20 is at (60, 45), 15 at (60, 51.25). */
  assert_spot (flam_plot_hit (line, &room, 60, 47), 0, 1);
  assert_spot (flam_plot_hit (line, &room, 60, 49), 1, 0);
  assert_spot (flam_plot_hit (line, &room, 60, 76), G_MAXUINT, G_MAXUINT);
}

static void
test_walk (void)
{
  g_autoptr (FlamPlot) bars = plot_of (FLAM_PLOT_BARS, 10, 1);
  g_autoptr (FlamPlot) cells = plot_of (FLAM_PLOT_CELLS, 10, 5);
  g_autoptr (FlamPlot) line = lines ();
  FlamPlotSpot at = FLAM_PLOT_NOWHERE;

  at = flam_plot_walk (bars, at, FLAM_PLOT_LAST);
  assert_spot (at, 0, 0);
  assert_spot (flam_plot_walk (bars, at, FLAM_PLOT_LEFT), 0, 0);
  assert_spot (flam_plot_walk (bars, at, FLAM_PLOT_RIGHT), 0, 1);
  assert_spot (flam_plot_walk (bars, at, FLAM_PLOT_UP), 0, 0);
  at = flam_plot_walk (bars, at, FLAM_PLOT_LAST);
  assert_spot (at, 0, 9);
  assert_spot (flam_plot_walk (bars, at, FLAM_PLOT_RIGHT), 0, 9);
  assert_spot (flam_plot_walk (bars, at, FLAM_PLOT_FIRST), 0, 0);

  at = (FlamPlotSpot){ 0, 6 };
  assert_spot (flam_plot_walk (cells, at, FLAM_PLOT_UP), 0, 7);
  assert_spot (flam_plot_walk (cells, at, FLAM_PLOT_DOWN), 0, 5);
  assert_spot (flam_plot_walk (cells, at, FLAM_PLOT_LEFT), 0, 1);
  assert_spot (flam_plot_walk (cells, at, FLAM_PLOT_RIGHT), 0, 6);

  /* 15 lies between 10 and 20, but beside 20. */
  assert_spot (
      flam_plot_walk (line, (FlamPlotSpot){ 0, 1 }, FLAM_PLOT_DOWN), 1, 0);
  assert_spot (
      flam_plot_walk (line, (FlamPlotSpot){ 0, 1 }, FLAM_PLOT_UP), 0, 1);
  assert_spot (
      flam_plot_walk (line, (FlamPlotSpot){ 1, 0 }, FLAM_PLOT_UP), 0, 1);
  assert_spot (
      flam_plot_walk (line, (FlamPlotSpot){ 0, 0 }, FLAM_PLOT_UP), 1, 0);
}

/* Lines at the same height: each is reached, in their order. */
static void
test_walk_ties (void)
{
  g_autoptr (FlamPlot) line = lines ();

  line->series[0].value = line->series[1].value;
  line->series[0].x = line->series[1].x;
  line->series[0].n = 1;
  assert_spot (
      flam_plot_walk (line, (FlamPlotSpot){ 0, 0 }, FLAM_PLOT_DOWN), 1, 0);
  assert_spot (
      flam_plot_walk (line, (FlamPlotSpot){ 1, 0 }, FLAM_PLOT_UP), 0, 0);
  assert_spot (
      flam_plot_walk (line, (FlamPlotSpot){ 0, 0 }, FLAM_PLOT_UP), 0, 0);
}

static const FlamRect wide = { 0, 0, 100, 50 };

static void
test_grab (void)
{
  static const struct
  {
    double x;
    FlamPlotGrab grab;
  } cases[] = {
    { 10, FLAM_PLOT_GRAB_NEW },   { 33, FLAM_PLOT_GRAB_NEW },
    { 34, FLAM_PLOT_GRAB_FROM },  { 46, FLAM_PLOT_GRAB_FROM },
    { 47, FLAM_PLOT_GRAB_RANGE }, { 73, FLAM_PLOT_GRAB_RANGE },
    { 74, FLAM_PLOT_GRAB_TO },    { 86, FLAM_PLOT_GRAB_TO },
    { 86.5, FLAM_PLOT_GRAB_NEW },
  };
  g_autoptr (FlamPlot) plot = plot_of (FLAM_PLOT_AREA, 10, 1);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (flam_plot_range_grab (
                         plot, &wide, (FlamPlotRange){ 400, 800 }, cases[i].x),
                     ==,
                     cases[i].grab);
  /* Of the two edges of a narrow range, the nearer one. */
  g_assert_cmpint (
      flam_plot_range_grab (plot, &wide, (FlamPlotRange){ 400, 430 }, 42),
      ==,
      FLAM_PLOT_GRAB_TO);
  g_assert_cmpint (flam_plot_range_grab (plot, &wide, FLAM_PLOT_ALL, 0),
                   ==,
                   FLAM_PLOT_GRAB_NEW);
}

static void
assert_drag (FlamPlotGrab grab, double x, double dx, gint64 from, gint64 to)
{
  g_autoptr (FlamPlot) plot = plot_of (FLAM_PLOT_AREA, 10, 1);
  FlamPlotRange range;

  g_assert_true (flam_plot_range_drag (
      plot, &wide, (FlamPlotRange){ 400, 800 }, grab, x, dx, &range));
  g_assert_cmpint (range.from, ==, from);
  g_assert_cmpint (range.to, ==, to);
}

static void
test_drag (void)
{
  g_autoptr (FlamPlot) plot = plot_of (FLAM_PLOT_AREA, 10, 1);
  FlamPlotRange range;

  assert_drag (FLAM_PLOT_GRAB_NEW, 10, 20, 100, 300);
  assert_drag (FLAM_PLOT_GRAB_NEW, 30, -20, 100, 300);
  assert_drag (FLAM_PLOT_GRAB_FROM, 41, 10, 500, 800);
  assert_drag (FLAM_PLOT_GRAB_FROM, 41, 50, 800, 900);
  assert_drag (FLAM_PLOT_GRAB_TO, 80, -10, 400, 700);
  assert_drag (FLAM_PLOT_GRAB_RANGE, 60, 10, 500, 900);
  /* It keeps its length at the ends. */
  assert_drag (FLAM_PLOT_GRAB_RANGE, 60, 90, 600, 1000);
  assert_drag (FLAM_PLOT_GRAB_RANGE, 60, -90, 0, 400);
  /* The whole axis is not a range. */
  assert_drag (FLAM_PLOT_GRAB_NEW, 0, 100, G_MININT64, G_MAXINT64);
  g_assert_false (flam_plot_range_drag (
      plot, &wide, FLAM_PLOT_ALL, FLAM_PLOT_GRAB_NEW, 10, 1.9, &range));
  g_assert_false (flam_plot_range_drag (
      plot, &wide, FLAM_PLOT_ALL, FLAM_PLOT_GRAB_NONE, 10, 50, &range));
}

static void
assert_range (FlamPlotRange range, gint64 from, gint64 to)
{
  g_assert_cmpint (range.from, ==, from);
  g_assert_cmpint (range.to, ==, to);
}

static void
test_nudge (void)
{
  g_autoptr (FlamPlot) plot = plot_of (FLAM_PLOT_AREA, 10, 1);
  const FlamPlotRange range = { 400, 800 };

  assert_range (
      flam_plot_range_nudge (plot, FLAM_PLOT_ALL, FLAM_PLOT_EDGE_BOTH, -1),
      400,
      600);
  assert_range (
      flam_plot_range_nudge (plot, range, FLAM_PLOT_EDGE_BOTH, 1), 410, 810);
  assert_range (
      flam_plot_range_nudge (plot, range, FLAM_PLOT_EDGE_FROM, 1), 410, 800);
  assert_range (
      flam_plot_range_nudge (plot, range, FLAM_PLOT_EDGE_TO, -1), 400, 790);
  assert_range (
      flam_plot_range_nudge (plot, FLAM_PLOT_ALL, FLAM_PLOT_EDGE_TO, -1),
      0,
      990);
  assert_range (flam_plot_range_nudge (
                    plot, (FlamPlotRange){ 3, 403 }, FLAM_PLOT_EDGE_BOTH, -1),
                0,
                400);
  /* An edge does not pass the other one, and a step is never 0. */
  assert_range (flam_plot_range_nudge (
                    plot, (FlamPlotRange){ 400, 405 }, FLAM_PLOT_EDGE_FROM, 1),
                404,
                405);
  plot->to = 50;
  assert_range (flam_plot_range_nudge (
                    plot, (FlamPlotRange){ 10, 20 }, FLAM_PLOT_EDGE_BOTH, 1),
                11,
                21);
}

static void
test_widen (void)
{
  g_autoptr (FlamPlot) plot = plot_of (FLAM_PLOT_AREA, 10, 1);

  assert_range (
      flam_plot_range_widen (plot, (FlamPlotRange){ 400, 800 }, 0.5), 500, 700);
  assert_range (
      flam_plot_range_widen (plot, (FlamPlotRange){ 400, 800 }, 2), 200, 1000);
  assert_range (flam_plot_range_widen (plot, (FlamPlotRange){ 300, 700 }, 3),
                G_MININT64,
                G_MAXINT64);
  assert_range (
      flam_plot_range_widen (plot, (FlamPlotRange){ 10, 11 }, 0.5), 9, 11);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/area", test_area);
  g_test_add_func ("/plot/measure", test_measure);
  g_test_add_func ("/plot/place", test_place);
  g_test_add_func ("/plot/slots", test_slots);
  g_test_add_func ("/plot/time", test_time);
  g_test_add_func ("/plot/round-top", test_round_top);
  g_test_add_func ("/plot/marks", test_marks);
  g_test_add_func ("/plot/hit", test_hit);
  g_test_add_func ("/plot/walk", test_walk);
  g_test_add_func ("/plot/walk-ties", test_walk_ties);
  g_test_add_func ("/plot/grab", test_grab);
  g_test_add_func ("/plot/drag", test_drag);
  g_test_add_func ("/plot/nudge", test_nudge);
  g_test_add_func ("/plot/widen", test_widen);
  return g_test_run ();
}
