/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_EXPORTING_H
#define FLAM_EXPORTING_H

/* A document in memory. */

#include "flam-core-query.h"
#include "flam-formats.h"

/* NULL with an error. */
static inline GBytes *
export_bytes (const FlamExporter *exporter,
              const FlamProfile *profile,
              const FlamSelection *selection,
              GError **error)
{
  const FlamExportOptions options = { .look.title = "title" };
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (FlamSink) sink = flam_sink_new (stream);

  if (!flam_exporter_save (exporter, profile, selection, &options, sink, error))
    return NULL;
  g_assert_true (flam_sink_finish (sink, NULL));
  g_output_stream_close (stream, NULL, NULL);
  return g_memory_output_stream_steal_as_bytes (
      G_MEMORY_OUTPUT_STREAM (stream));
}

/* NUL-terminated; g_free. */
static inline char *
export_text (const FlamExporter *exporter,
             const FlamProfile *profile,
             const FlamSelection *selection)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes =
      export_bytes (exporter, profile, selection, &error);
  gsize size;
  const char *data;

  g_assert_no_error (error);
  data = g_bytes_get_data (bytes, &size);
  return data != NULL ? g_strndup (data, size) : g_strdup ("");
}

static inline FlamSource *
export_source (GBytes *bytes)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  return flam_source_new_from_data ("unknown", data, size);
}

static inline double
export_total (FlamProfile *profile, guint measure)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;

  selection->measure = measure;
  weights = flam_weights_new (profile, selection, NULL, NULL);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
  return (double)tree->total[0] / profile->measures[measure].denominator;
}

/* Every measure with a weight comes back with the same weight; the file's own
 * default stays the first. */
static inline void
export_check_totals (FlamProfile *profile, FlamProfile *again)
{
  g_assert_cmpstr (flam_profile_string (profile, profile->measures[0].id),
                   ==,
                   flam_profile_string (again, again->measures[0].id));
  for (guint i = 0; i < profile->n_measures; i++)
    {
      const char *id = flam_profile_string (profile, profile->measures[i].id);
      double total = export_total (profile, i), found = 0;

      for (guint k = 0; k < again->n_measures; k++)
        if (strcmp (id, flam_profile_string (again, again->measures[k].id)) ==
                0 &&
            profile->measures[i].unit == again->measures[k].unit)
          found += export_total (again, k);
      g_assert_cmpfloat_with_epsilon (found, total, total * 1e-9 + 1e-6);
    }
}

#endif
