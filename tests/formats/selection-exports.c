/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "selection-exports.h"
#include "exporting.h"

#include <string.h>

static FlamTree *
tree_of (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);

  return flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
}

/* callgrind, OTLP, pprof and pictures have whole numbers. */
static gboolean
holds (const FlamExporter *exporter, const FlamMeasure *measure)
{
  if (strcmp (exporter->id, "callgrind") == 0 ||
      strcmp (exporter->id, "otlp") == 0 ||
      strcmp (exporter->id, "pprof") == 0 || strcmp (exporter->id, "svg") == 0)
    return measure->denominator == 1;
  return TRUE;
}

/* Only formats that cannot represent the selection refuse it. */
static void
check_refusal (const FlamExporter *exporter,
               const FlamSelection *selection,
               const FlamMeasure *measure,
               const GError *error)
{
  gboolean inverted = g_error_matches (error, FLAM_ERROR, FLAM_ERROR_INVALID) ||
                      strcmp (exporter->id, "csv") == 0;

  g_test_message ("%s: %s", exporter->id, error->message);
  if (strcmp (exporter->id, "jlprof") == 0) /* of counts, as many as fit */
    g_assert_true (inverted ||
                   g_error_matches (error, FLAM_ERROR, FLAM_ERROR_UNSUPPORTED));
  else if (inverted)
    g_assert_true (selection->invert);
  else
    {
      g_assert_error (error, FLAM_ERROR, FLAM_ERROR_UNSUPPORTED);
      g_assert_true (strcmp (exporter->id, "cpuprofile") == 0 ||
                     strcmp (exporter->id, "chrome-trace") == 0 ||
                     strcmp (exporter->id, "perfetto") == 0);
      g_assert_true (measure->unit != FLAM_UNIT_NS ||
                     measure->denominator != 1 ||
                     measure->source != FLAM_FROM_SAMPLES);
    }
}

/* The number after the first `before` in the text. */
static double
number_after (const char *text, const char *before)
{
  const char *at = strstr (text, before);

  g_assert_nonnull (at);
  return g_ascii_strtod (at + strlen (before), NULL);
}

/* The self costs of a table's rows. */
static double
sum_of_rows (const char *csv)
{
  g_auto (GStrv) lines = g_strsplit (csv, "\r\n", -1);
  double sum = 0;

  for (guint i = 1; lines[i] != NULL && *lines[i] != '\0'; i++)
    {
      const char *total = strrchr (lines[i], ',');
      const char *self = g_strrstr_len (lines[i], total - lines[i], ",");

      sum += g_ascii_strtod (self + 1, NULL);
    }
  return sum;
}

/* The self costs of all series of the page's first measure. */
static double
sum_of_page (const char *html)
{
  double sum = 0;
  const char *at = html;

  while ((at = strstr (at, "{\"measure\":0,\"thread\":")) != NULL)
    {
      const char *number = strstr (at, "\"self\":[") + strlen ("\"self\":[");

      for (at = number; *at != ']'; at += *at == ',')
        {
          char *end;

          sum += g_ascii_strtod (at, &end);
          at = end;
        }
    }
  return sum;
}

/* For documents that are not captures: FALSE if nothing checks them. */
static gboolean
view_total (const FlamExporter *exporter, const char *text, double *total)
{
  if (strcmp (exporter->id, "csv") == 0)
    *total = sum_of_rows (text);
  else if (strcmp (exporter->id, "json") == 0)
    *total = number_after (text, "\"value\":");
  else if (strcmp (exporter->id, "html") == 0)
    *total = sum_of_page (text);
  else
    return FALSE;
  return TRUE;
}

/* V8's entries for the time between samples are not part of the capture. */
static double
imported_total (const FlamProfile *again)
{
  g_autoptr (FlamSelection) all = flam_selection_new ();

  all->measure = flam_weights_default_measure (again);
  return (double)flam_weights_total (again, all) /
         (double)again->measures[all->measure].denominator;
}

static double
idle_of (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamSelection) idle = flam_selection_copy (selection);

  flam_selection_add_transform (
      idle, FLAM_TRANSFORM_FILTER, "^\\(idle\\)$", NULL);
  return (double)flam_weights_total (profile, idle);
}

/* Pictures, and a stack for each of millions of cycles, would take too long to
 * write for each way of selecting. */
static gboolean
takes_long (const FlamExporter *exporter, double total)
{
  return strcmp (exporter->id, "png") == 0 ||
         strcmp (exporter->id, "pdf") == 0 ||
         (strcmp (exporter->id, "jlprof") == 0 && total > 100000);
}

void
check_exporter (const FlamProfile *profile,
                const FlamSelection *selection,
                const FlamExporter *exporter)
{
  const FlamImporter *importer = flam_importer_find (exporter->id);
  g_autoptr (FlamTree) tree = tree_of (profile, selection);
  FlamMeasure measure = flam_tree_measure (tree);
  double want = (double)tree->total[0] / (double)measure.denominator;
  double slack = 1e-6 * (double)tree->total[0];
  double total = 0;
  g_autoptr (GBytes) out = NULL;
  g_autoptr (GError) error = NULL;

  if (tree->total[0] == 0 || !holds (exporter, &measure) ||
      takes_long (exporter, want))
    return;
  out = export_bytes (exporter, profile, selection, &error);
  if (out == NULL)
    {
      check_refusal (exporter, selection, &measure, error);
      return;
    }
  g_test_message ("%s", exporter->id);
  if (importer != NULL)
    {
      g_autoptr (FlamSource) source = export_source (out);
      g_autoptr (FlamProfile) again =
          flam_formats_load_with (importer, source, NULL, &error);

      g_assert_no_error (error);
      total = imported_total (again);
      if (strcmp (exporter->id, "cpuprofile") == 0)
        {
          g_autoptr (FlamSelection) all = flam_selection_new ();

          total -= idle_of (again, all);
          want -= idle_of (profile, selection);
          slack = 1000; /* ns: it has µs */
        }
    }
  else
    {
      g_autofree char *text =
          g_strndup (g_bytes_get_data (out, NULL), g_bytes_get_size (out));

      if (!view_total (exporter, text, &total))
        return;
    }
  g_assert_cmpfloat_with_epsilon (total, want, slack);
}
