/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A history of a folder: the files that are found in it, the figures kept of
 * each capture, the series and the plots; and errors in single files. */

#include "flam-core-query.h"
#include "flam-formats.h"
#include "flam-history-load.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <utime.h>

#define DAY G_GINT64_CONSTANT (86400)
#define NOV_1 G_GINT64_CONSTANT (1793534400) /* 2026-11-01 12:00 UTC */

typedef struct
{
  char *folder;
  guint opened;
  gboolean cancelled;
} Fixture;

static void
put_file (Fixture *fixture, const char *name, const char *text, gint64 date)
{
  g_autofree char *path = g_build_filename (fixture->folder, name, NULL);
  g_autofree char *folder = g_path_get_dirname (path);
  struct utimbuf times = { date, date };

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_cmpint (g_utime (path, &times), ==, 0);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = g_dir_make_tmp ("flam-history-XXXXXX", NULL);
  put_file (fixture, "main/1.folded", "main;parse 100\nmain;lex 20\n", NOV_1);
  put_file (fixture,
            "main/2.folded",
            "main;parse 130\nmain;lex 20\nmain;fresh 9\n",
            NOV_1 + 2 * DAY);
  put_file (fixture, "next/1.folded", "main;parse 90\n", NOV_1 + DAY);
  put_file (fixture, "next/README", "Captures of the branch.\n", NOV_1);
  put_file (fixture, "next/empty.folded", "", NOV_1);
  put_file (fixture, ".git/1.folded", "main;parse 90\n", NOV_1);
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inner = g_build_filename (path, name, NULL);

      remove_tree (inner);
    }
  g_remove (path);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  remove_tree (fixture->folder);
  g_free (fixture->folder);
}

static FlamProfile *
open_capture (const char *path,
              const FlamProgress *progress,
              gpointer data,
              GError **error)
{
  Fixture *fixture = data;
  FlamLoadOptions options = { .progress = progress };

  fixture->opened++;
  return flam_formats_load (path, &options, error);
}

static FlamHistory *
load (Fixture *fixture,
      guint functions,
      const FlamHistory *before,
      const FlamProgress *progress,
      GError **error)
{
  const char *const paths[] = { fixture->folder, NULL };
  FlamHistoryOptions options = {
    open_capture, fixture, { functions, TRUE }, before
  };

  return flam_history_load (paths, &options, progress, error);
}

static void
test_found (Fixture *fixture, gconstpointer data)
{
  static const char *const names[] = { "main/1.folded",
                                       "next/1.folded",
                                       "main/2.folded" };
  g_autoptr (FlamHistory) history = load (fixture, 0, NULL, NULL, NULL);

  g_assert_cmpuint (history->captures->len, ==, 3);
  for (guint i = 0; i < 3; i++)
    {
      const FlamFigures *figures = flam_history_get (history, i);

      g_assert_cmpstr (figures->name, ==, names[i]);
      g_assert_true (figures->of_file);
      g_assert_cmpint (figures->date, ==, (NOV_1 + i * DAY) * 1000000000);
      g_assert_cmpint (figures->start_unix_ns, ==, 0);
    }
  g_assert_true (flam_history_has_folders (history));
}

/* The file's content has priority over its file system's data. */
static void
test_own_date (Fixture *fixture, gconstpointer data)
{
  g_autofree char *capture =
      g_test_build_filename (G_TEST_DIST,
                             "captures",
                             "perf-data",
                             "shapes@little-endian.perf.data",
                             NULL);
  const char *const paths[] = { capture, NULL };
  FlamHistoryOptions options = { open_capture, fixture, { 0, TRUE }, NULL };
  g_autoptr (FlamHistory) history =
      flam_history_load (paths, &options, NULL, NULL);
  const FlamFigures *figures = flam_history_get (history, 0);

  g_assert_false (figures->of_file);
  g_assert_cmpint (figures->date, ==, figures->start_unix_ns);
}

static void
test_bad_files (Fixture *fixture, gconstpointer data)
{
  g_autoptr (FlamHistory) history = NULL;
  const FlamRefusal *refusal;
  g_autofree char *gone = g_build_filename (fixture->folder, "gone", NULL);
  const char *const nothing[] = { gone, NULL };
  FlamHistoryOptions options = { open_capture, fixture, { 0, TRUE }, NULL };
  g_autoptr (FlamHistory) none =
      flam_history_load (nothing, &options, NULL, NULL);

  put_file (
      fixture, "next/bad.heaptrack", "v 20000 4\nX ./demo\nt 1 0\n", NOV_1);
  history = load (fixture, 0, NULL, NULL, NULL);
  g_assert_cmpuint (history->captures->len, ==, 3);
  g_assert_cmpuint (history->refused->len, ==, 1);
  refusal = history->refused->pdata[0];
  g_assert_cmpstr (refusal->name, ==, "next/bad.heaptrack");
  g_assert_nonnull (strstr (refusal->why, "heaptrack"));
  g_assert_cmpuint (none->captures->len, ==, 0);
  g_assert_cmpuint (none->refused->len, ==, 1);
}

static gboolean
give_up (gpointer data, double fraction)
{
  Fixture *fixture = data;

  return fixture->opened < 2;
}

static void
test_cancel (Fixture *fixture, gconstpointer data)
{
  FlamProgress progress = { give_up, fixture };
  g_autoptr (GError) error = NULL;
  FlamHistory *history = load (fixture, 0, NULL, &progress, &error);

  g_assert_null (history);
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_CANCELLED);
  g_assert_cmpuint (fixture->opened, ==, 2);
}

/* Only files that have changed are read again. */
static void
test_again (Fixture *fixture, gconstpointer data)
{
  g_autoptr (FlamHistory) first = load (fixture, 0, NULL, NULL, NULL);
  g_autoptr (FlamHistory) second = NULL;
  g_autoptr (FlamHistory) third = NULL;
  guint opened = fixture->opened;

  second = load (fixture, 0, first, NULL, NULL);
  g_assert_cmpuint (fixture->opened, ==, opened);
  g_assert_true (flam_history_get (first, 1) == flam_history_get (second, 1));
  put_file (fixture, "next/1.folded", "main;parse 91\n", NOV_1 + DAY + 1);
  third = load (fixture, 0, second, NULL, NULL);
  g_assert_cmpuint (fixture->opened, ==, opened + 1);
  g_assert_cmpint (
      flam_figures_selected (flam_history_get (third, 1))->total, ==, 91);
}

/* --- series and plots ----------------------------------------------------- */

static char *
series_text (const FlamHistory *history, const char *pattern)
{
  g_auto (FlamHistoryKey) key = { NULL };
  g_autoptr (GArray) series = NULL;
  GString *text = g_string_new (NULL);

  g_assert_true (flam_history_key_init (&key, pattern, NULL));
  series = flam_history_series (history, &key);
  for (guint i = 0; i < series->len; i++)
    {
      const FlamHistorySeries *one =
          &g_array_index (series, FlamHistorySeries, i);

      g_string_append_printf (
          text, "%s%s=", i > 0 ? " " : "", one->name != NULL ? one->name : "-");
      for (guint k = 0; k < one->n; k++)
        g_string_append_printf (text, "%u", one->captures[k]);
    }
  return g_string_free (text, FALSE);
}

static void
test_series (Fixture *fixture, gconstpointer data)
{
  static const char *const cases[][2] = {
    { "", "-=012" },
    { "^([^/]+)/", "main=02 next=1" },
    { "^[a-z]+", "main=02 next=1" },
    { "^(x)?(?<branch>n[^/]*)/(?P<run>.)", "next=1 -=02" },
    { "(?P<run>[0-9])", "1=01 2=2" },
    { "^(?:(main)|(next))", "main=02 next=1" },
    { "\\d", "1=01 2=2" },
    { "^x*", "-=012" },
  };
  g_autoptr (FlamHistory) history = load (fixture, 0, NULL, NULL, NULL);
  g_autoptr (GError) error = NULL;
  FlamHistoryKey key;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = series_text (history, cases[i][0]);

      g_assert_cmpstr (text, ==, cases[i][1]);
    }
  g_assert_false (flam_history_key_init (&key, "a(", &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
}

static void
check_plot (const FlamHistory *history,
            const FlamTrendWhat *what,
            const char *expected)
{
  g_auto (FlamHistoryKey) key = { NULL };
  g_autoptr (FlamPlot) plot = NULL;
  const FlamTrend *trend;
  g_autoptr (GString) text = g_string_new (NULL);

  g_assert_true (flam_history_key_init (&key, "^([^/]+)/", NULL));
  plot = flam_plot_of_trend (flam_trend_new (history, &key, what));
  trend = flam_plot_get_trend (plot);
  for (guint i = 0; i < trend->n; i++)
    {
      g_string_append_printf (
          text, "%s%s", i > 0 ? " " : "", trend->series[i].name);
      for (guint k = 0; k < trend->series[i].n; k++)
        g_string_append_printf (text,
                                "%c%s%" G_GINT64_FORMAT,
                                k > 0 ? ',' : '=',
                                trend->series[i].points[k].at_most ? "<" : "",
                                trend->series[i].points[k].value);
    }
  g_string_append_printf (text, " top %" G_GINT64_FORMAT, plot->top);
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_plots (Fixture *fixture, gconstpointer data)
{
  g_autoptr (FlamHistory) all = load (fixture, 0, NULL, NULL, NULL);
  g_autoptr (FlamHistory) largest = load (fixture, 1, NULL, NULL, NULL);
  g_autoptr (GPtrArray) functions = flam_history_functions (all, "samples");
  g_autoptr (GPtrArray) kept = flam_history_functions (largest, NULL);
  g_autoptr (GArray) choices = flam_trend_choices (all);

  check_plot (all,
              &(FlamTrendWhat){ FLAM_TREND_MEASURE, "samples", NULL },
              "main=120,159 next=90 top 160");
  check_plot (all,
              &(FlamTrendWhat){ FLAM_TREND_FUNCTION_TOTAL, NULL, "main" },
              "main=120,159 next=90 top 160");
  check_plot (all,
              &(FlamTrendWhat){ FLAM_TREND_FUNCTION_SELF, "samples", "fresh" },
              "main=0,9 next=0 top 9");
  check_plot (all,
              &(FlamTrendWhat){ FLAM_TREND_DURATION, NULL, NULL },
              "main next top 1");
  check_plot (all,
              &(FlamTrendWhat){ FLAM_TREND_MEASURE, "peak", NULL },
              "main next top 1");
  /* The largest by total is main, by self parse; the others have at most the
   * value of the next one. */
  check_plot (largest,
              &(FlamTrendWhat){ FLAM_TREND_FUNCTION_SELF, NULL, "lex" },
              "main=<20,<20 next=0 top 20");
  g_assert_cmpuint (functions->len, ==, 4);
  g_assert_cmpstr (functions->pdata[0], ==, "main");
  g_assert_cmpuint (kept->len, ==, 2);
  g_assert_cmpuint (choices->len, ==, 1);
}

/* Sampled memory: 400 samples of 512 KiB, by gperftools. The error of the
 * total, and of the bar that shows it. */
static void
test_errors (Fixture *fixture, gconstpointer data)
{
  static const char heap[] = "heap profile: 4: 209715200 [4: 209715200] @ "
                             "heap_v2/524288\n"
                             "4: 209715200 [4: 209715200] @ 0x1 0x2\n\n"
                             "MAPPED_LIBRARIES:\n";
  const FlamTrendWhat what = { FLAM_TREND_MEASURE, "inuse_space", NULL };
  g_auto (FlamHistoryKey) key = { NULL };
  g_autoptr (FlamHistory) history = NULL;
  g_autoptr (FlamPlot) plot = NULL;
  FlamRect area = { 0, 0, 100, 0 }, bar;

  put_file (fixture, "heap/1.heap", heap, NOV_1);
  history = load (fixture, 0, NULL, NULL, NULL);
  plot = flam_plot_of_trend (flam_trend_new (history, &key, &what));
  g_assert_cmpuint (plot->series[0].n, ==, 1);
  g_assert_cmpint (plot->series[0].value[0], ==, 209715200);
  g_assert_cmpint (plot->series[0].error[0], ==, 21583799);
  g_assert_cmpint (plot->top, >=, 209715200 + 21583799);
  area.height = (double)plot->top;
  bar = flam_plot_error_bar (plot, &area, (FlamPlotSpot){ 0, 0 });
  g_assert_cmpfloat_with_epsilon (bar.height, 2 * 21583799, 1);
  g_assert_cmpfloat_with_epsilon (
      bar.y, (double)(plot->top - 209715200 - 21583799), 1);
}

static void
test_moves (Fixture *fixture, gconstpointer data)
{
  g_autoptr (FlamHistory) history = load (fixture, 0, NULL, NULL, NULL);
  guint n;
  g_autofree FlamFiguresMove *moves = flam_figures_moves (
      flam_history_get (history, 0), flam_history_get (history, 2), 3, &n);

  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpstr (moves[0].name, ==, "parse");
  g_assert_cmpint (moves[0].delta, ==, 30);
  g_assert_cmpstr (moves[1].name, ==, "fresh");
}

/* --- dates ---------------------------------------------------------------- */

static void
check_marks (gint64 from, gint64 to, double width, const char *expected)
{
  g_autoptr (GTimeZone) zone = g_time_zone_new_utc ();
  g_autoptr (GArray) marks =
      flam_dates_marks (from * 1000000000, to * 1000000000, width, 100, zone);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < marks->len; i++)
    g_string_append_printf (text,
                            "%s%s",
                            i > 0 ? " " : "",
                            g_array_index (marks, FlamDateMark, i).text);
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_dates (void)
{
  g_autoptr (GTimeZone) zone = g_time_zone_new_utc ();
  g_autofree char *text = flam_dates_text (NOV_1 * 1000000000, zone, TRUE);

  g_assert_cmpstr (text, ==, "2026-11-01 12:00 UTC");
  check_marks (NOV_1, NOV_1, 500, "");
  check_marks (NOV_1, NOV_1 + 40, 300, "12:00:00 12:00:15 12:00:30");
  check_marks (NOV_1, NOV_1 + 3 * DAY, 300, "2026-11-02 2026-11-03 2026-11-04");
  check_marks (NOV_1, NOV_1 + 60 * DAY, 300, "2026-12");
  check_marks (NOV_1, NOV_1 + 1000 * DAY, 400, "2027 2028 2029");
  check_marks (
      0, G_MAXINT64 / 1000000000, 600, "2000 2050 2100 2150 2200 2250");
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "/history/found", test_found },
    { "/history/own-date", test_own_date },
    { "/history/bad-files", test_bad_files },
    { "/history/cancel", test_cancel },
    { "/history/again", test_again },
    { "/history/series", test_series },
    { "/history/plots", test_plots },
    { "/history/errors", test_errors },
    { "/history/moves", test_moves },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Fixture, NULL, set_up, tests[i].test, tear_down);
  g_test_add_func ("/history/dates", test_dates);
  return g_test_run ();
}
