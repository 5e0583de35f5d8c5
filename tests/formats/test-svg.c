/* SPDX-License-Identifier: GPL-3.0-or-later */

/* SVG and HTML hold every box, with its name, whatever the names are. */

#include "flam-core-picture.h"
#include "flam-formats.h"

#include <string.h>

static const char text[] = "main;<b>&\"';\x01\x1f]]> 30\n"
                           "main;\xef\xbf\xbf;</title></svg><script>x 20\n"
                           "main;spin 50\n";

static GString *
save_profile (const char *id,
              const FlamProfile *profile,
              const FlamSelection *selection,
              const FlamExportOptions *options)
{
  const FlamExporter *exporter = flam_exporter_find (id);
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (FlamSink) sink = flam_sink_new (stream);
  GMemoryOutputStream *memory = G_MEMORY_OUTPUT_STREAM (stream);
  g_autoptr (GError) error = NULL;

  flam_exporter_save (exporter, profile, selection, options, sink, &error);
  g_assert_no_error (error);
  g_assert_true (flam_sink_finish (sink, NULL));
  return g_string_new_len (
      g_memory_output_stream_get_data (memory),
      (gssize)g_memory_output_stream_get_data_size (memory));
}

static GString *
save (const char *id, const char *folded)
{
  const FlamImporter *importer = flam_importer_find ("folded");
  g_autoptr (FlamSource) source =
      flam_source_new_from_data ("names", folded, strlen (folded));
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile =
      flam_formats_load_with (importer, source, NULL, &error);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  const FlamExportOptions options = { .look.title = "a <title> & more" };

  g_assert_no_error (error);
  return save_profile (id, profile, selection, &options);
}

typedef struct
{
  guint boxes;
  guint scripts;
  gboolean in_title;
  GPtrArray *titles;
} Seen;

static void
start (GMarkupParseContext *context,
       const char *element,
       const char **names,
       const char **values,
       gpointer data,
       GError **error)
{
  Seen *seen = data;

  seen->in_title = strcmp (element, "title") == 0;
  seen->scripts += strcmp (element, "script") == 0;
  if (strcmp (element, "g") == 0 && g_strv_contains (values, "f"))
    seen->boxes++;
}

static void
characters (GMarkupParseContext *context,
            const char *content,
            gsize length,
            gpointer data,
            GError **error)
{
  Seen *seen = data;

  if (seen->in_title)
    g_ptr_array_add (seen->titles, g_strndup (content, length));
  seen->in_title = FALSE;
}

static void
test_svg (void)
{
  const GMarkupParser parser = { .start_element = start, .text = characters };
  g_autoptr (GString) svg = save ("svg", text);
  Seen seen = { .titles = g_ptr_array_new_with_free_func (g_free) };
  g_autoptr (GMarkupParseContext) context =
      g_markup_parse_context_new (&parser, 0, &seen, NULL);
  g_autoptr (GError) error = NULL;

  g_markup_parse_context_parse (context, svg->str, svg->len, &error);
  g_assert_no_error (error);
  g_markup_parse_context_end_parse (context, &error);
  g_assert_no_error (error);
  g_ptr_array_add (seen.titles, NULL);
  const char *const *titles = (const char *const *)seen.titles->pdata;
  g_assert_cmpuint (seen.boxes, ==, 7);
  g_assert_cmpuint (seen.scripts, ==, 1);
  g_assert_true (g_strv_contains (titles, "all (100 samples, 100%)"));
  g_assert_true (g_strv_contains (titles, "<b>&\"' (30 samples, 30%)"));
  g_assert_true (
      g_strv_contains (titles, "</title></svg><script>x (20 samples, 20%)"));
  g_assert_true (g_strv_contains (
      titles, "\xef\xbf\xbd\xef\xbf\xbd]]> (30 samples, 30%)"));
  g_ptr_array_unref (seen.titles);
}

static void
test_html (void)
{
  g_autoptr (GString) html = save ("html", text);

  g_assert_null (strstr (html->str, "<script>x"));
  g_assert_null (strstr (html->str, "<b>"));
  g_assert_nonnull (
      strstr (html->str, "<title>a &lt;title&gt; &amp; more</title>"));
  g_assert_nonnull (strstr (html->str, "\"spin\""));
  g_assert_nonnull (strstr (html->str, "class=\"flambeau\""));
}

/* An empty capture, and one that is too narrow to draw. */
static void
test_little (void)
{
  g_autoptr (GString) narrow = save ("svg", "main;wide 1000000\nthin 1\n");
  g_autoptr (GString) nothing = save ("svg", "main 0\n");

  g_assert_nonnull (strstr (narrow->str, "too narrow to draw"));
  g_assert_null (strstr (narrow->str, ">thin ("));
  g_assert_nonnull (strstr (nothing->str, "</svg>"));
}

/* Every picture explains its colors: modules by name, states in words. */
static void
test_legend (void)
{
  g_autoptr (GString) svg = save ("svg", "main;<b>_[k] 30\nmain;sun_[j] 20\n");
  const char *legend = strstr (svg->str, "<g class=\"legend\">");

  g_assert_nonnull (legend);
  g_assert_nonnull (strstr (legend, ">Kernel</text>"));
  g_assert_nonnull (strstr (legend, ">JIT code</text>"));
  g_assert_null (strstr (legend, ">Inlined</text>"));
}

/* --- charts --------------------------------------------------------------- */

typedef struct
{
  const FlamChart *chart;
  const FlamChartLayout *layout;
  guint32 next;
} Charted;

static double
number_of (const char **names, const char **values, const char *name)
{
  for (guint i = 0; names[i] != NULL; i++)
    if (strcmp (names[i], name) == 0)
      return g_ascii_strtod (values[i], NULL);
  return -1;
}

/* The chart's own rectangles are the boxes of the layout, in its order. */
static void
hold_against_layout (GMarkupParseContext *context,
                     const char *element,
                     const char **names,
                     const char **values,
                     gpointer data,
                     GError **error)
{
  Charted *charted = data;
  const GSList *parents = g_markup_parse_context_get_element_stack (context);
  const FlamChartBox *box;
  const FlamChartSpan *span;
  double x;

  if (strcmp (element, "rect") != 0 ||
      g_slist_length ((GSList *)parents) != 3 ||
      number_of (names, values, "rx") >= 0 ||
      number_of (names, values, "data-from") < 0)
    return;
  g_assert_cmpuint (charted->next, <, charted->layout->n);
  box = &charted->layout->boxes[charted->next++];
  span = &charted->chart->spans[box->span];
  x = MAX (box->x, 0);
  g_assert_cmpfloat_with_epsilon (number_of (names, values, "x"), 10 + x, 1e-3);
  g_assert_cmpfloat_with_epsilon (
      number_of (names, values, "width"), box->x + box->width - x, 1e-3);
  g_assert_cmpfloat_with_epsilon (
      number_of (names, values, "y"), 44 + 18 + box->y, 1e-3);
  g_assert_cmpfloat (
      number_of (names, values, "data-from"), ==, (double)span->from);
  g_assert_cmpfloat (number_of (names, values, "data-weight"),
                     ==,
                     (double)(span->to - span->from));
}

/* The picture has exactly the boxes of the window's chart. */
static void
test_chart (void)
{
  const GMarkupParser parser = { .start_element = hold_against_layout };
  const FlamExportOptions options = { .look.title = "kitchen",
                                      .look.chart = TRUE };
  g_autofree char *path = g_test_build_filename (
      G_TEST_DIST, "captures", "flambeau", "kitchen.flambeau", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, &error);

  g_assert_no_error (error);
  for (guint part = 0; part < 3; part++)
    {
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamChart) chart = NULL;
      g_autoptr (FlamChartLayout) layout = NULL;
      g_autoptr (GString) svg = NULL;
      g_autoptr (GMarkupParseContext) context = NULL;
      FlamChartView view;
      Charted charted = { 0 };

      if (part > 0)
        selection->from = 300 * 1000 * 1000;
      if (part > 1)
        flam_selection_add_thread (selection, 1);
      chart = flam_chart_new (profile, selection, NULL, NULL);
      flam_chart_view_init (&view, chart, 1200 - 20, 16);
      view.height = flam_chart_height (chart, &view);
      layout = flam_chart_layout_new (chart, &view);
      charted = (Charted){ chart, layout };
      context = g_markup_parse_context_new (&parser, 0, &charted, NULL);
      svg = save_profile ("svg", profile, selection, &options);
      g_markup_parse_context_parse (context, svg->str, svg->len, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (layout->n, >, 10);
      g_assert_cmpuint (charted.next, ==, layout->n);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/svg/boxes", test_svg);
  g_test_add_func ("/svg/html", test_html);
  g_test_add_func ("/svg/legend", test_legend);
  g_test_add_func ("/svg/little", test_little);
  g_test_add_func ("/svg/chart", test_chart);
  return g_test_run ();
}
