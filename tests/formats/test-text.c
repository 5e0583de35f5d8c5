/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Properties of every reader of lines. */

#include "flam-core-picture.h"
#include "flam-formats.h"

#include <string.h>

static char *
dump_cut (const char *name, const char *data, gsize size)
{
  g_autoptr (FlamSource) source = flam_source_new_from_data (name, data, size);
  g_autoptr (FlamProfile) profile = NULL;

  source->truncated = TRUE;
  profile = flam_formats_load_source (source, NULL, NULL);
  return flam_dump_profile (profile);
}

/* An incomplete line is ignored by every reader. */
static void
test_half_line (gconstpointer name)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "captures", name, NULL);
  g_autofree char *data = NULL;
  g_autofree char *without = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  size = (const char *)memrchr (data, '\n', size - 1) + 1 - data;
  without = dump_cut (name, data, size);
  for (gsize n = size + 1; data[n - 1] != '\n'; n++)
    {
      g_autofree char *with = dump_cut (name, data, n);
      g_assert_cmpstr (with, ==, without);
    }
}

static gboolean
stop (gpointer data, double fraction)
{
  return FALSE;
}

static void
test_cancel (gconstpointer name)
{
  const FlamProgress progress = { stop, NULL };
  const FlamLoadOptions options = { .progress = &progress };
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "captures", name, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (flam_formats_load (path, &options, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_CANCELLED);
}

int
main (int argc, char **argv)
{
  static const char *const texts[] = {
    "austin/wall.austin",
    "callgrind/small.callgrind",
    "folded/annotated.folded",
    "gdb/by-hand.txt",
    "ghc/exact.prof",
    "gperftools/full.heap",
    "gprof/both.gprof",
    "massif/small.massif",
    "perf-report/counts.report.txt",
    "perf-script/bare.script",
    "rbspy/work.raw",
    "v8-log/small.v8.log",
    "xdebug/calls.xt",
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree char *half = g_strconcat ("/text/half-line/", texts[i], NULL);
      g_autofree char *cancel = g_strconcat ("/text/cancel/", texts[i], NULL);

      g_test_add_data_func (half, texts[i], test_half_line);
      g_test_add_data_func (cancel, texts[i], test_cancel);
    }
  return g_test_run ();
}
