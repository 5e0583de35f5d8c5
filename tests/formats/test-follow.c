/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A recording that is looked at while it grows is what it is when it is
 * opened. */

#include "flam-capture-writer.h"
#include "flam-dump.h"
#include "flam-follow.h"
#include "flam-formats.h"

#include <glib/gstdio.h>
#include <unistd.h>

static FlamId
record (FlamBuilder *builder, FlamId thread, guint round)
{
  FlamRecordedFrame frame = {
    .module = flam_builder_module (builder, "/bin/x", "", FLAM_ADDRESS_VADDR),
    .address = 0x1000 + round % 3,
    .function = FLAM_NONE,
    .file = FLAM_NONE,
  };
  FlamId id = flam_builder_recorded_frame (builder, &frame);
  FlamSample sample = { .thread = thread,
                        .stack = flam_builder_stack (builder, FLAM_NONE, id),
                        .time = 100 * round,
                        .state = round % 2 };
  FlamRecordedBlocks blocks = {
    .time = 100 * round, .thread = thread, .stack = 0, .size = 8, .count = 2
  };

  flam_builder_add_sample (builder, &sample, (const gint64[]){ round });
  flam_builder_note_blocks (builder, &blocks);
  if (round > 0)
    flam_builder_note_release (builder, 100 * round, round - 1, 1, 0);
  return id;
}

static void
name (FlamBuilder *builder, FlamId frame)
{
  FlamFunction function = { .name = flam_builder_string (builder, "work", -1),
                            .module = 0 };

  flam_builder_note_symbol (
      builder, frame, flam_builder_function (builder, &function), FLAM_NONE, 7);
}

static void
test_follow (void)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("follow-XXXXXX.flambeau", &path, NULL);
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (fd, builder);
  g_autoptr (FlamFollow) follow = flam_follow_new (path);
  g_autoptr (FlamProfile) opened = NULL;
  g_autoptr (FlamProfile) followed = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *opened_text = NULL;
  g_autofree char *followed_text = NULL;
  FlamId threads[2], frame = 0;

  g_assert_null (flam_follow_refresh (follow, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_TRUNCATED);
  flam_builder_set_has_times (builder);
  flam_builder_add_column (builder);
  flam_builder_add_measure (
      builder, "w", "W", FLAM_UNIT_COUNT, FLAM_MEASURE_CPU, 0, FLAM_NONE);
  flam_builder_append_process (builder, 5, FLAM_NONE);
  for (guint i = 0; i < 2; i++)
    threads[i] = flam_builder_append_thread (builder, 0, 5 + (gint32)i);
  for (guint round = 0; round < 7; round++)
    {
      g_autoptr (FlamProfile) profile = NULL;

      frame = record (builder, threads[round % 2], round);
      g_assert_true (flam_capture_writer_flush (writer, NULL));
      profile = flam_follow_refresh (follow, NULL);
      g_assert_cmpuint (profile->samples.n, ==, round + 1);
      g_assert_cmpuint (profile->threads.n_samples[0], ==, round / 2 + 1);
    }
  name (builder, frame);
  g_assert_true (flam_capture_writer_end (writer, 1000, NULL));
  followed = flam_follow_refresh (follow, NULL);
  opened = flam_formats_load (path, NULL, NULL);
  followed_text = flam_dump_profile (followed);
  opened_text = flam_dump_profile (opened);
  g_assert_cmpstr (followed_text, ==, opened_text);
  g_assert_nonnull (strstr (followed_text, " work native"));
  close (fd);
  g_unlink (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/follow/grows", test_follow);
  return g_test_run ();
}
