/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Every exporter over captures that are as deep as they are large, and as
 * wide. Formats that write each stack whole make gigabytes of the deep one:
 * no exporter needs more memory for that than for a small document. */

#include "flam-formats.h"

#include <fcntl.h>
#include <gio/gunixoutputstream.h>
#include <sys/resource.h>

#define FRAMES 16000 /* the deep one folded is 2 GB */
/* The capture and all that is made of it; a sanitizer keeps what was freed, and
 * puts room around all of it. A picture takes what its pixels do besides. */
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_KIB (900 << 10)
#else
#define MEMORY_KIB (64 << 10)
#endif
#define PICTURE_KIB (400 << 10)

/* Each function calls the next one, or all are called by the first; each has
 * a sample of its own. */
static FlamProfile *
make_profile (gboolean deep)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamId thread =
      flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0);
  FlamId stack = FLAM_NONE;

  flam_builder_set_format (builder, "test");
  flam_builder_add_column (builder);
  flam_builder_add_measure (
      builder, "w", "W", FLAM_UNIT_NS, FLAM_MEASURE_CPU, 0, FLAM_NONE);
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
  {
    g_autoptr (GError) error = NULL;
    FlamProfile *profile = flam_builder_finish (builder, &error);

    g_assert_no_error (error);
    return profile;
  }
}

static void
test_exporter (gconstpointer data)
{
  const FlamExporter *exporter = data;
  const FlamExportOptions options = { .look.title = "title" };
  g_autoptr (FlamSelection) selection = flam_selection_new ();

  for (guint deep = 0; deep < 2; deep++)
    {
      g_autoptr (FlamProfile) profile = make_profile (deep);
      g_autoptr (GOutputStream) stream =
          g_unix_output_stream_new (open ("/dev/null", O_WRONLY), TRUE);
      g_autoptr (FlamSink) sink = flam_sink_new (stream);
      g_autoptr (GError) error = NULL;
      struct rusage used;

      exporter->save (profile, selection, &options, sink, &error);
      g_assert_no_error (error);
      g_assert_true (flam_sink_finish (sink, NULL));
      getrusage (RUSAGE_SELF, &used);
      g_test_message ("%s: %" G_GUINT64_FORMAT " bytes, %ld KiB",
                      deep ? "deep" : "wide",
                      flam_sink_size (sink),
                      used.ru_maxrss);
      g_assert_cmpint (
          used.ru_maxrss,
          <,
          MEMORY_KIB + ((exporter->look & FLAM_LOOK_COLORS) ? PICTURE_KIB : 0));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  /* The most that was used is the process's: pictures come last. */
  for (guint colored = 0; colored < 2; colored++)
    for (guint i = 0; flam_exporters[i] != NULL; i++)
      {
        g_autofree char *path =
            g_strconcat ("/exports/", flam_exporters[i]->id, NULL);

        if (((flam_exporters[i]->look & FLAM_LOOK_COLORS) != 0) ==
            (colored == 1))
          g_test_add_data_func (path, flam_exporters[i], test_exporter);
      }
  return g_test_run ();
}
