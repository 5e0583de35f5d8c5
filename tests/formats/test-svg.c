/* SPDX-License-Identifier: GPL-3.0-or-later */

/* SVG and HTML hold every box, with its name, whatever the names are. */

#include "flam-formats.h"

#include <string.h>

static const char text[] = "main;<b>&\"';\x01\x1f]]> 30\n"
                           "main;\xef\xbf\xbf;</title></svg><script>x 20\n"
                           "main;spin 50\n";

static GString *
save (const char *id, const char *folded)
{
  const FlamExporter *exporter = flam_exporter_find (id);
  const FlamImporter *importer = flam_importer_find ("folded");
  g_autoptr (FlamSource) source =
      flam_source_new_from_data ("names", folded, strlen (folded));
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile =
      flam_formats_load_with (importer, source, NULL, &error);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  const FlamExportOptions options = { .look.title = "a <title> & more" };
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (FlamSink) sink = flam_sink_new (stream);
  GMemoryOutputStream *memory = G_MEMORY_OUTPUT_STREAM (stream);

  g_assert_no_error (error);
  exporter->save (profile, selection, &options, sink, &error);
  g_assert_no_error (error);
  g_assert_true (flam_sink_finish (sink, NULL));
  return g_string_new_len (g_memory_output_stream_get_data (memory),
                           (gssize)flam_sink_size (sink));
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

/* A capture of nothing, and one too narrow to draw. */
static void
test_little (void)
{
  g_autoptr (GString) narrow = save ("svg", "main;wide 1000000\nthin 1\n");
  g_autoptr (GString) nothing = save ("svg", "main 0\n");

  g_assert_nonnull (strstr (narrow->str, "too narrow to draw"));
  g_assert_null (strstr (narrow->str, ">thin ("));
  g_assert_nonnull (strstr (nothing->str, "</svg>"));
}

/* Every picture says what its colours mean: modules by name, states by word. */
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/svg/boxes", test_svg);
  g_test_add_func ("/svg/html", test_html);
  g_test_add_func ("/svg/legend", test_legend);
  g_test_add_func ("/svg/little", test_little);
  return g_test_run ();
}
