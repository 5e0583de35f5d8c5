/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The main findings of captures with known contents: tests/captures describes
 * how each was made, and `flambeau-cli top` has the same figures. */

#include "flam-core-picture.h"
#include "flam-formats.h"

static const struct
{
  const char *file, *expected;
} captures[] = {
  { "callgrind/parts.callgrind", "worker_work takes 77 % (t.c:4)" },
  { "cpuprofile/small.cpuprofile", "fé takes 30 % (a.js:11)" },
  { "austin/full.austin", "33 % of the time sleeps in main (app.py:3)" },
  { "austin/version1.austin", "work takes 53 % (lib.py:18)" },
  { "heaptrack/v3.heaptrack",
    "Peak 648 B, 99 % of it in make_buffer(int) (demo.cpp:20). 65 B never "
    "freed, 98 % of it in make_buffer(int) (demo.cpp:20)" },
  { "heaptrack/v1.heaptrack",
    "Peak 80 B, 100 % of it in main (demo). 48 B never freed, in main (demo)" },
  { "massif/ends-at-peak.massif",
    "Peak 2.59 MB, 76 % of it in keep (grow.c:4)" },
  { "flambeau/kitchen.flambeau",
    "56 % of the time sleeps in nap (kitchen.c:32)" },
  { "flambeau/family.flambeau",
    "35 % of the time sleeps in nap (kitchen.c:32)" },
  { "flambeau/menu.flambeau",
    "cook takes 54 %, with the functions it calls (menu.py:17)" },
  { "flambeau/recording.flambeau", "helper takes 62 % (grammar.y:31)" },
  { "ghc/shares.prof", "Main.work takes 60 %" },
  { "gprof/both.gprof", "spin_heavy takes 47 %" },
  { "jfr/execution.jfr",
    "com.shop.Cart$Item.price takes 50 %, with the functions it calls "
    "(Cart.java:44)" },
  { "jfr/wall.jfr", "com.shop.Cart.total takes 100 % (Cart.java:31)" },
  { "jlprof/threads.jlprof",
    "chop takes 50 %, with the functions it calls (kitchen.jl:4)" },
  { "nettrace/same@full.nettrace",
    "Shop.Cart`1[System.Int32].Total takes 40 %" },
  { "perf-report/two-events.report.txt", "burn<1> takes 59 % (threads)" },
  { "pstats/threads.prof", "work takes 80 %" },
  { "pyinstrument/session.pyisession", "" },
  { "memray/v13-native.bin",
    "Peak 9.26 kB, 100 % of it in f (app.py:4). 4.61 kB never freed, 89 % of "
    "it in f (app.py:4)" },
  { "gperftools/java.heap", "Memory in use: 2.19 MB (4 samples)" },
  { "gecko/shared.firefox.json", "main takes 62 % (a.c:3)" },
  { "perf-data/filled.perf.data",
    "No function names for 100 %, most of it in prog" },
  { "xhprof/small.json", "foo takes 80 %" },
};

static void
test_capture (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "captures", captures[i].file, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, &error);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamHeadline) headline = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) pieces = NULL;
  g_autofree char *plain = NULL;

  g_assert_no_error (error);
  selection->measure = flam_weights_default_measure (profile);
  headline = flam_headline_new (profile, selection, NULL, NULL);
  text = flam_headline_to_english (headline);
  pieces = g_strsplit (text, "\u00a0", -1);
  plain = g_strjoinv (" ", pieces);
  g_assert_cmpstr (plain, ==, captures[i].expected);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      g_autofree char *name =
          g_strconcat ("/headlines/", captures[i].file, NULL);

      g_test_add_data_func (name, GUINT_TO_POINTER (i), test_capture);
    }
  return g_test_run ();
}
