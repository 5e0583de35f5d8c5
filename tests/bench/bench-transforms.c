/* SPDX-License-Identifier: GPL-3.0-or-later */

/* From a change of the selection to the new tree, its rows and the weights of
 * threads, computed as in the window from the previous view: 10 million samples
 * in a tree of about 1.9 million nodes, on all cores; and all changes together
 * on one core. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "flam-core-profile.h"
#include "flam-view-data.h"

#define SAMPLES 10000000
#define STACKS 1900000
#define FUNCTIONS 5000
#define THREADS 16
#define TURNS 5

/* The thread's own time: the machine may be busy with other things. This thread
 * takes a step of the work whenever it is free, as the others do, so it is not
 * the one that is done first. */
static double
now_ms (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Each stack calls from an earlier one, more often from a late one: deep, with
 * siblings at every depth. */
static void
add_stacks (FlamBuilder *builder, GRand *lot, FlamStackId *stacks)
{
  FlamFrameId *frames = g_new (FlamFrameId, FUNCTIONS);

  for (guint i = 0; i < FUNCTIONS; i++)
    {
      g_autofree char *name = g_strdup_printf ("module::call_%u(int)", i);

      frames[i] = flam_builder_frame (
          builder,
          flam_builder_function_named (builder,
                                       flam_builder_string (builder, name, -1),
                                       FLAM_KIND_NATIVE),
          0,
          0,
          0);
    }
  for (guint i = 0; i < STACKS; i++)
    {
      guint up = (guint)g_rand_int_range (lot, 1, 4000);

      stacks[i] =
          flam_builder_stack (builder,
                              up > i ? FLAM_NONE : stacks[i - up],
                              frames[g_rand_int_range (lot, 0, FUNCTIONS)]);
    }
  g_free (frames);
}

static FlamProfile *
profile_new (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (GRand) lot = g_rand_new_with_seed (3);
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamStackId *stacks = g_new (FlamStackId, STACKS);
  FlamProfile *profile;

  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  flam_builder_add_measure (builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  flam_builder_set_has_times (builder);
  add_stacks (builder, lot, stacks);
  for (guint t = 0; t < THREADS; t++)
    {
      FlamThreadId thread =
          flam_builder_thread (builder, process, (gint32)t + 1, 0);

      for (guint i = 0; i < SAMPLES / THREADS; i++)
        {
          gint64 weight = g_rand_int_range (lot, 1, 2000000);
          /* Every stack has a sample, and some have many. */
          guint which = (i * THREADS + t) % STACKS;
          FlamSample sample = { .thread = thread,
                                .time = (gint64)i * 1000000,
                                .stack = stacks[which] };

          flam_builder_add_sample (builder, &sample, &weight);
        }
    }
  profile = flam_builder_finish (builder, NULL);
  g_free (stacks);
  return profile;
}

static int
ascending (const void *a, const void *b)
{
  double x = *(const double *)a;
  double y = *(const double *)b;

  return (x > y) - (x < y);
}

static double
picture_ms (const FlamViewData *before,
            const FlamSelection *selection,
            guint32 *nodes)
{
  double start = now_ms ();
  g_autoptr (FlamViewData) view_data = flam_view_data_new (
      before->profile, selection, FLAM_ORDER_TOTAL, before, NULL, NULL);
  double took = now_ms () - start;

  *nodes = view_data->tree->n;
  return took;
}

static double on_one, on_all, medians[16];
static guint n_medians;

static double
median_ms (const FlamViewData *before,
           const FlamSelection *selection,
           guint32 *nodes)
{
  double ms[TURNS];

  for (guint i = 0; i < TURNS; i++)
    ms[i] = picture_ms (before, selection, nodes);
  qsort (ms, TURNS, sizeof *ms, ascending);
  return ms[TURNS / 2];
}

static void
bench (const FlamViewData *before,
       const FlamSelection *selection,
       const char *what)
{
  guint32 nodes = 0;
  double ms = median_ms (before, selection, &nodes);

  on_all += medians[n_medians++] = ms;
  flam_cores_set (1, 0);
  on_one += median_ms (before, selection, &nodes);
  flam_cores_set (0, 0);
  printf ("10,000,000 samples, %s: new tree of %u nodes\t%.0f ms\t-\t-\t"
          "150 ms\n",
          what,
          nodes,
          ms);
}

static void
sum_up (void)
{
  qsort (medians, n_medians, sizeof *medians, ascending);
  printf ("10,000,000 samples, the median of these\t%.0f ms\t-\t-\t100 ms\n",
          (medians[(n_medians - 1) / 2] + medians[n_medians / 2]) / 2);
  printf ("10,000,000 samples, one core by %u\t%.0f ms\t%.0f ms\t%.2f\t1.8\n",
          g_get_num_processors (),
          on_all,
          on_one,
          on_one / on_all);
}

static void
bench_transform (const FlamViewData *before,
                 FlamTransformKind kind,
                 const char *pattern,
                 const char *what)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();

  flam_selection_add_transform (selection, kind, pattern, NULL);
  bench (before, selection, what);
}

int
main (void)
{
  g_autoptr (FlamProfile) profile = profile_new ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamViewData) whole = NULL;
  g_autoptr (FlamViewData) part = NULL;

  whole = flam_view_data_new (
      profile, selection, FLAM_ORDER_TOTAL, NULL, NULL, NULL);
  selection->to = profile->facts.duration_ns / 2;
  part = flam_view_data_new (
      profile, selection, FLAM_ORDER_TOTAL, NULL, NULL, NULL);
  selection->to = G_MAXINT64;
  bench (part, selection, "all");
  selection->measure = 1;
  bench (whole, selection, "another measure");
  selection->measure = 0;
  selection->from = whole->profile->facts.duration_ns / 3;
  selection->to = whole->profile->facts.duration_ns / 2;
  bench (whole, selection, "a range");
  selection->from = G_MININT64;
  selection->to = G_MAXINT64;
  flam_selection_add_thread (selection, 1);
  bench (whole, selection, "a thread");
  bench_transform (whole, FLAM_TRANSFORM_HIDE, "_1", "hide");
  bench_transform (whole, FLAM_TRANSFORM_FOCUS, "_2", "focus");
  bench_transform (whole, FLAM_TRANSFORM_IGNORE, "_3", "ignore");
  bench_transform (whole, FLAM_TRANSFORM_COLLAPSE, "_4", "collapse");
  sum_up ();
  return 0;
}
