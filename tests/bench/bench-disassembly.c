/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The machine code of a function of more than 10,000 instructions (this
 * program's own): from the profile to rows with text, lines, costs and jump
 * arrows. */

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "flam-core-profile.h"
#include "flam-disassembly.h"

#define TURNS 11
#define SAMPLES 20000

#define ONE(x) (x) = (x)*3 + (x) / 5;
#define TEN(x)                                                                 \
  ONE (x)                                                                      \
  ONE (x) ONE (x) ONE (x) ONE (x) ONE (x) ONE (x) ONE (x) ONE (x) ONE (x)
#define HUNDRED(x)                                                             \
  TEN (x)                                                                      \
  TEN (x) TEN (x) TEN (x) TEN (x) TEN (x) TEN (x) TEN (x) TEN (x) TEN (x)

extern int bench_long_function (int given);

/* A volatile variable keeps every statement. */
__attribute__ ((noinline)) int
bench_long_function (int given)
{
  volatile int x = given;

  if (given > 1)
    {
      HUNDRED (x)
      HUNDRED (x)
      HUNDRED (x)
      HUNDRED (x)
    }
  if (given > 2)
    {
      HUNDRED (x)
      HUNDRED (x)
      HUNDRED (x)
      HUNDRED (x)
    }
  for (int i = 0; i < given; i++)
    {
      HUNDRED (x)
      HUNDRED (x)
      HUNDRED (x)
      HUNDRED (x)
    }
  return x;
}

/* The thread's own time: the machine may be busy with other things. */
static double
now_ms (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* The program comes first in the list. */
static int
note_bias (struct dl_phdr_info *info, size_t size, void *data)
{
  *(guint64 *)data = info->dlpi_addr;
  return 1;
}

static FlamProfile *
profile_new (FlamFrameId *frame)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (GRand) lot = g_rand_new_with_seed (5);
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamThreadId thread = flam_builder_thread (builder, process, 1, 0);
  g_autofree char *path = g_file_read_link ("/proc/self/exe", NULL);
  FlamFunction function = {
    .name = flam_builder_string (builder, "bench_long_function", -1),
    .module = flam_builder_module (builder, path, "", FLAM_ADDRESS_VADDR),
  };
  guint64 bias = 0, start;
  FlamId id;

  dl_iterate_phdr (note_bias, &bias);
  start = (guint64)(gsize)bench_long_function - bias;
  flam_builder_add_measure (builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  id = flam_builder_function (builder, &function);
  *frame = flam_builder_frame (builder, id, start, 0, 0);
  for (guint i = 0; i < SAMPLES; i++)
    {
      FlamId at = flam_builder_frame (
          builder, id, start + (guint)g_rand_int_range (lot, 0, 30000), 0, 0);
      FlamSample sample = { .thread = thread,
                            .stack =
                                flam_builder_stack (builder, FLAM_NONE, at) };

      flam_builder_add_sample (builder, &sample, NULL);
    }
  return flam_builder_finish (builder, NULL);
}

static int
ascending (const void *a, const void *b)
{
  double x = *(const double *)a;
  double y = *(const double *)b;

  return (x > y) - (x < y);
}

int
main (void)
{
  FlamFrameId frame;
  g_autoptr (FlamProfile) profile = profile_new (&frame);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);
  FlamDisassemblyOptions options = { .syntax = FLAM_SYNTAX_INTEL };
  double ms[TURNS], first;
  guint n = 0;

  for (guint i = 0; i < TURNS; i++)
    {
      double start = now_ms ();
      g_autoptr (GError) error = NULL;
      g_autoptr (FlamDisassembly) code = flam_disassembly_new (
          weights, selection, frame, &options, NULL, &error);
      g_autofree FlamArrows *arrows = NULL;

      if (code == NULL)
        {
          fprintf (stderr, "bench-disassembly: %s\n", error->message);
          return 1;
        }
      arrows = flam_disassembly_arrows (code);
      ms[i] = now_ms () - start;
      n = code->n;
    }
  first = ms[0];
  qsort (ms, TURNS, sizeof *ms, ascending);
  printf ("machine code of a function of %u instructions: first time\t"
          "%.0f ms\t-\t-\t100 ms\n",
          n,
          first);
  printf ("machine code of a function of %u instructions: median\t%.0f ms\t-"
          "\t-\t100 ms\n",
          n,
          ms[TURNS / 2]);
  return n >= 10000 ? 0 : 1;
}
