/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Every exporter over captures that are as deep as they are large, and as
 * wide: a document of bounded size, or the word that there is no room. */

#include "flam-export-common.h"
#include "flam-formats.h"
#include "flam-weights.h"

#include <string.h>
#include <sys/resource.h>

#define FRAMES 30000
/* What the largest of the documents takes, and as much again as it grows; a
 * sanitizer keeps what was freed, and puts room around all of it. */
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_KIB (2100 << 10)
#else
#define MEMORY_KIB (700 << 10)
#endif

static FlamTree *
tree_of (FlamBuilder *builder)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_builder_finish (builder, &error);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;

  g_assert_no_error (error);
  weights = flam_weights_new (profile, selection, NULL, NULL);
  return flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
}

/* Each function calls the next one, or all are called by the first; each has
 * a sample of its own. */
static FlamTree *
make_tree (gboolean deep)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamId thread =
      flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0);
  FlamId stack = FLAM_NONE;

  flam_builder_set_format (builder, "test");
  flam_builder_add_column (builder);
  flam_builder_add_measure (
      builder, "w", "W", FLAM_UNIT_COUNT, FLAM_MEASURE_CPU, 0, FLAM_NONE);
  for (guint i = 0; i < FRAMES; i++)
    {
      g_autofree char *name = g_strdup_printf ("a_function_%05u", i);
      FlamId function = flam_builder_function_named (
          builder, flam_builder_string (builder, name, -1), FLAM_KIND_NATIVE);
      FlamId frame = flam_builder_frame (builder, function, 0, 0, 0);
      FlamId own = flam_builder_stack (builder, stack, frame);
      FlamSample sample = { thread, own };
      gint64 one = 1;

      flam_builder_add_sample (builder, &sample, &one);
      if (deep || i == 0)
        stack = own;
    }
  return tree_of (builder);
}

static void
test_exporter (gconstpointer data)
{
  const FlamExporter *exporter = data;
  const FlamExportOptions options = { "title", FLAM_PALETTE_AUTO };

  for (guint deep = 0; deep < 2; deep++)
    {
      g_autoptr (FlamTree) tree = make_tree (deep);
      g_autoptr (GString) out = g_string_new (NULL);
      g_autoptr (GError) error = NULL;
      gboolean ok = exporter->save (tree, &options, out, &error);
      struct rusage used;

      getrusage (RUSAGE_SELF, &used);
      g_test_message ("%s: %" G_GSIZE_FORMAT " bytes, %ld KiB, %s",
                      deep ? "deep" : "wide",
                      out->len,
                      used.ru_maxrss,
                      ok ? "" : error->message);
      g_assert_cmpuint (tree->n, ==, FRAMES + 1);
      g_assert_cmpint (used.ru_maxrss, <, MEMORY_KIB);
      g_assert_true (deep || ok);
      if (!ok)
        g_assert_error (error, FLAM_ERROR, FLAM_ERROR_TOO_LARGE);
      g_assert_cmpuint (out->len, <=, FLAM_EXPORT_MAX);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; flam_exporters[i] != NULL; i++)
    {
      g_autofree char *path =
          g_strconcat ("/exports/", flam_exporters[i]->id, NULL);
      g_test_add_data_func (path, flam_exporters[i], test_exporter);
    }
  return g_test_run ();
}
