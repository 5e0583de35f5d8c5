/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What it costs to see a recording grow: a second of samples comes, and the
 * window's next profile is made. Beside it, opening the file anew, which is
 * what keeping its tables saves. */

#include "flam-capture-writer.h"
#include "flam-follow.h"
#include "flam-formats.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#define THREADS 4
#define STACKS 20000
#define RATE 1000 /* samples a second */
#define ROUNDS 9

static FlamId stacks[STACKS];

static FlamBuilder *
begin (FlamId *thread)
{
  FlamBuilder *builder = flam_builder_new ();
  FlamId process = flam_builder_append_process (builder, 1, FLAM_NONE);
  FlamId module =
      flam_builder_module (builder, "/bin/x", "", FLAM_ADDRESS_VADDR);

  flam_builder_set_has_times (builder);
  flam_builder_add_column (builder);
  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            0,
                            FLAM_NONE);
  for (guint i = 0; i < THREADS; i++)
    thread[i] = flam_builder_append_thread (builder, process, 1 + (gint32)i);
  for (guint i = 0; i < STACKS; i++)
    {
      FlamRecordedFrame frame = { module, 64 + i % 4000, FLAM_NONE, FLAM_NONE };

      stacks[i] =
          flam_builder_stack (builder,
                              i < 100 ? FLAM_NONE : stacks[i / 2],
                              flam_builder_recorded_frame (builder, &frame));
    }
  return builder;
}

static void
record (FlamBuilder *builder, const FlamId *thread, guint32 from, guint32 n)
{
  for (guint32 i = from; i < from + n; i++)
    {
      FlamSample sample = { .thread = thread[i % THREADS],
                            .stack = stacks[i * 7919u % STACKS],
                            .time = (gint64)i * 1000000 };

      flam_builder_add_sample (
          builder, &sample, (const gint64[]){ 1000000 + i % 1000 });
    }
}

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static double
since (gint64 start)
{
  return (double)(g_get_monotonic_time () - start) / 1000;
}

/* Milliseconds: a refresh, and opening the file. */
static void
measure (guint32 n, double *refresh, double *open_anew)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("bench-live-XXXXXX.flambeau", &path, NULL);
  FlamId thread[THREADS];
  g_autoptr (FlamBuilder) builder = begin (thread);
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (fd, builder);
  g_autoptr (FlamFollow) follow = flam_follow_new (path);
  double refreshes[ROUNDS], opens[ROUNDS];

  for (guint32 i = 0; i < n; i += RATE)
    {
      record (builder, thread, i, RATE);
      g_assert_true (flam_capture_writer_flush (writer, NULL));
    }
  flam_profile_unref (flam_follow_refresh (follow, NULL));
  for (guint round = 0; round < ROUNDS; round++)
    {
      gint64 start;

      record (builder, thread, n + round * RATE, RATE);
      g_assert_true (flam_capture_writer_flush (writer, NULL));
      start = g_get_monotonic_time ();
      flam_profile_unref (flam_follow_refresh (follow, NULL));
      refreshes[round] = since (start);
      start = g_get_monotonic_time ();
      flam_profile_unref (flam_formats_load (path, NULL, NULL));
      opens[round] = since (start);
    }
  qsort (refreshes, ROUNDS, sizeof (double), compare);
  qsort (opens, ROUNDS, sizeof (double), compare);
  *refresh = refreshes[ROUNDS / 2];
  *open_anew = opens[ROUNDS / 2];
  g_unlink (path);
  close (fd);
}

int
main (void)
{
  double few, many, few_anew, many_anew;

  measure (10 * RATE, &few, &few_anew);
  measure (1000 * RATE, &many, &many_anew);
  printf ("| refresh of a recording of 10 s, 10,000 samples (opening it anew) "
          "| %.1f ms | %.1f ms | %.2f | - |\n",
          few,
          few_anew,
          few / few_anew);
  printf ("| refresh of a recording of 1,000,000 samples (opening it anew) "
          "| %.1f ms | %.1f ms | %.2f | - |\n",
          many,
          many_anew,
          many / many_anew);
  return 0;
}
