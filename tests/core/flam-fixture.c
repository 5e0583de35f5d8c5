/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-fixture.h"

#include <string.h>

static FlamStackId
add_frame (FlamBuilder *builder, FlamStackId stack, const char *name)
{
  FlamStringId string = flam_builder_string (builder, name, -1);
  FlamFunctionId function =
      flam_builder_function_named (builder, string, FLAM_KIND_NATIVE);
  FlamFrameId frame = flam_builder_frame (builder, function, 0, 0, 0);

  return flam_builder_stack (builder, stack, frame);
}

static void
add_line (FlamBuilder *builder, FlamProcessId process, const char *line)
{
  const char *space = strrchr (line, ' ');
  g_autofree char *path = g_strndup (line, space - line);
  char *colon = strchr (path, ':');
  gboolean has_thread = colon != NULL && colon[1] != ':';
  const char *thread_name = has_thread ? path : "main";
  g_auto (GStrv) names = NULL;
  gint64 weight = g_ascii_strtoll (space + 1, NULL, 10);
  FlamSample sample = { .stack = FLAM_NONE };

  names = g_strsplit (has_thread ? colon + 1 : path, ";", -1);
  if (has_thread)
    *colon = 0;
  sample.thread = flam_builder_thread (
      builder, process, (gint32)g_str_hash (thread_name) & 0xffff, 0);
  flam_builder_set_thread_name (builder, sample.thread, thread_name);
  for (guint i = 0; names[i] != NULL; i++)
    sample.stack = add_frame (builder, sample.stack, names[i]);
  flam_builder_add_sample (builder, &sample, &weight);
}

static void
add_sample_measure (FlamBuilder *builder)
{
  flam_builder_add_column (builder);
  flam_builder_add_measure (builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            0,
                            FLAM_NONE);
}

FlamProfile *
flam_fixture_profile (const char *text)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  FlamProcessId process = flam_builder_process (builder, 1, 0);

  add_sample_measure (builder);
  for (guint i = 0; lines[i] != NULL; i++)
    if (*lines[i])
      add_line (builder, process, lines[i]);
  return flam_builder_finish (builder, NULL);
}

static FlamStackId
random_stack (FlamBuilder *builder)
{
  guint depth = g_test_rand_int_range (0, 4) == 0
                    ? g_test_rand_int_range (1, 200)
                    : g_test_rand_int_range (1, 8);
  FlamStackId stack = FLAM_NONE;

  for (guint d = 0; d < depth; d++)
    {
      char name[16];

      g_snprintf (name, sizeof name, "f%d", (int)g_test_rand_int_range (0, 12));
      stack = add_frame (builder, stack, name);
    }
  return stack;
}

static void
add_random_allocation (FlamBuilder *builder, FlamThreadId thread)
{
  gint64 time = g_test_rand_int_range (0, 1000);
  FlamAllocation a = {
    .time = time,
    .freed_at =
        g_test_rand_bit () ? FLAM_NEVER : time + g_test_rand_int_range (0, 300),
    .thread = thread,
    .stack = random_stack (builder),
    .size = g_test_rand_int_range (0, 1000),
    .count = g_test_rand_int_range (1, 5),
    .at_peak = -1,
    .distance = g_test_rand_bit () ? 0 : G_MAXUINT16,
    .allocator = (guint8)g_test_rand_int_range (0, FLAM_N_ALLOCATORS),
  };

  flam_builder_add_allocation (builder, &a);
}

FlamProfile *
flam_fixture_random (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  guint n = g_test_rand_int_range (1, 300);

  add_sample_measure (builder);
  flam_builder_add_allocation_measures (builder);
  flam_builder_set_has_times (builder);
  for (guint i = 0; i < n; i++)
    {
      gint64 weight = g_test_rand_int_range (0, 100);
      FlamSample sample = {
        .thread = flam_builder_thread (
            builder, process, g_test_rand_int_range (1, 4), 0),
        .stack = g_test_rand_int_range (0, 20) == 0 ? FLAM_NONE
                                                    : random_stack (builder),
        .time = g_test_rand_int_range (0, 1000),
        .state = g_test_rand_int_range (0, FLAM_N_STATES),
      };

      flam_builder_add_sample (builder, &sample, &weight);
      add_random_allocation (builder, sample.thread);
    }
  return flam_builder_finish (builder, NULL);
}
