/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The ranks of a job: which calls are waits, what their work has in common, and
 * captures that are added up. */

#include "flam-fixture.h"

#include "flam-core-picture.h"

#include <string.h>

#define MS G_GINT64_CONSTANT (1000000)

static void
test_calls (void)
{
  static const char *const waits[] = {
    "MPI_Wait",       "PMPI_Waitall",  "MPI_Recv",       "mpi_recv_",
    "pmpi_barrier__", "MPI_Allreduce", "mpi_bcast_f08_", "MPI_Reduce_scatter",
    "MPI_Sendrecv",   "MPI_Finalize",  "MPI_Win_fence",
  };
  static const char *const none[] = {
    "main",          "MPI_",
    "MPI_Isend",     "MPI_Irecv",
    "MPI_Test",      "MPI_Init",
    "MPI_Comm_rank", "MPI_Reduce_local",
    "MPIR_Barrier",  "MPIDI_Recv",
    "xMPI_Wait",     "MPI_Ibcast",
    "MPI_Wtime",     "MPI_Ireduce_scatter_block_with_a_name_that_is_too_long",
  };

  for (guint i = 0; i < G_N_ELEMENTS (waits); i++)
    g_assert_true (flam_rank_waits_in (waits[i]));
  for (guint i = 0; i < G_N_ELEMENTS (none); i++)
    g_assert_false (flam_rank_waits_in (none[i]));
}

static void
test_spread (void)
{
  const gint64 values[] = { 30, 44, 10, 44 };
  FlamBalanceSpread spread = flam_balance_spread (values, 4);

  g_assert_cmpint (spread.sum, ==, 128);
  g_assert_cmpint (spread.median, ==, 37);
  g_assert_cmpint (spread.most, ==, 44);
  g_assert_cmpuint (spread.slowest, ==, 1);
  spread = flam_balance_spread (values, 3);
  g_assert_cmpint (spread.median, ==, 30);
  g_assert_cmpint (flam_balance_lost (&spread), ==, 14);
  spread = flam_balance_spread (values + 2, 1);
  g_assert_cmpint (spread.median, ==, 10);
  g_assert_cmpint (flam_balance_lost (&spread), ==, 0);
}

/* --- captures of ranks ---------------------------------------------------- */

typedef struct
{
  const char *function; /* below main */
  gint64 time, weight;  /* ms */
  FlamState state;
  int thread; /* the first is 0 */
} Row;

/* One that began `start` ms after the others' origin. `rank` NULL: of none. */
static FlamProfile *
capture (
    const char *rank, const char *host, gint64 start, const Row *rows, guint n)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 7, 0);
  FlamSample sample = { 0 };
  GError *error = NULL;
  FlamProfile *profile;

  flam_builder_set_has_times (builder);
  flam_builder_set_origin (builder, 0);
  flam_builder_set_process_name (builder, process, "app");
  flam_builder_facts (builder)->start_unix_ns = (1000 + start) * MS;
  if (rank != NULL)
    flam_builder_set_fact (builder, FLAM_FACT_RANK, rank);
  flam_builder_set_fact (builder, FLAM_FACT_HOST, host);
  flam_builder_add_standard_measure (builder,
                                     FLAM_STANDARD_CPU_TIME,
                                     (int)flam_builder_add_column (builder),
                                     FLAM_NONE);
  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  for (guint i = 0; i < n; i++)
    {
      static const char *const root = "main";
      const char *names[] = { root, rows[i].function };
      gint64 weight = rows[i].weight * MS;

      sample.stack = FLAM_NONE;
      for (guint k = 0; k < 2; k++)
        sample.stack = flam_builder_stack (
            builder,
            sample.stack,
            flam_builder_frame (builder,
                                flam_builder_function_named (
                                    builder,
                                    flam_builder_string (builder, names[k], -1),
                                    FLAM_KIND_NATIVE),
                                0,
                                0,
                                0));
      sample.thread =
          flam_builder_thread (builder, process, 7 + rows[i].thread, 0);
      sample.state = rows[i].state;
      sample.time = rows[i].time * MS;
      flam_builder_add_sample (builder, &sample, &weight);
    }
  flam_builder_add_counter_value (
      builder,
      flam_builder_add_counter (builder, "rss", FLAM_UNIT_BYTES),
      MS,
      1 << 20);
  profile = flam_builder_finish (builder, &error);
  g_assert_no_error (error);
  return profile;
}

static const Row first[] = { { "fft", 0, 20 },
                             { "io", 20, 10 },
                             { "MPI_Allreduce", 30, 14 } };
static const Row second[] = { { "fft", 0, 33 }, { "io", 33, 11 } };
static const Row third[] = { { "fft", 1, 20 },
                             { "io", 21, 10 },
                             { "PMPI_Wait", 31, 14 } };

/* Ranks 0 and 2 on one host, 1 on another one, which begins 5 ms later. */
static FlamProfile *
job (void)
{
  g_autoptr (FlamProfile) a = capture ("2", "east", 0, third, 3);
  g_autoptr (FlamProfile) b = capture ("0", "east", 0, first, 3);
  g_autoptr (FlamProfile) c = capture ("1", "west", 5, second, 2);
  const FlamMergePart parts[] = { { "a", a }, { "b", b }, { "c", c } };
  g_autoptr (FlamProfile) merged =
      flam_merge_new (parts, 3, FLAM_MERGE_ALIGNED, NULL);

  return flam_rank_waits_new (merged);
}

static void
test_aligned (void)
{
  g_autoptr (FlamProfile) profile = job ();
  const FlamThreads *threads = &profile->threads;

  g_assert_cmpuint (threads->n, ==, 3);
  g_assert_cmpuint (profile->n_counters, ==, 3);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpstr (
        flam_profile_string (profile, profile->counters[i].id),
        ==,
        ((const char *const[]){ "rss rank 2", "rss rank 0", "rss rank 1" })[i]);
  g_assert_cmpuint (profile->processes.rank[0], ==, 3);
  g_assert_cmpstr (
      flam_profile_string (profile, profile->processes.host[2]), ==, "west");
  g_assert_cmpint (profile->facts.start_unix_ns, ==, 1000 * MS);
  g_assert_cmpint (profile->samples.time[threads->first_sample[0]], ==, 1 * MS);
  g_assert_cmpint (profile->samples.time[threads->first_sample[2]], ==, 5 * MS);
  g_assert_cmpint (
      profile->samples.time[threads->first_sample[2] + 1], ==, 38 * MS);
  g_assert_cmpuint (profile->samples.states,
                    ==,
                    1u << FLAM_STATE_RUNNING | 1u << FLAM_STATE_MPI);
}

static void
test_counters (void)
{
  static const char *const names[] = { "rss rank 2",
                                       "rss rank 0",
                                       "rss rank 1" };
  g_autoptr (FlamProfile) profile = job ();

  g_assert_cmpuint (profile->n_counters, ==, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpstr (
        flam_profile_string (profile, profile->counters[i].id), ==, names[i]);
}

static void
test_names (void)
{
  g_autoptr (FlamProfile) profile = job ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;
  g_autofree char *text = NULL;

  selection->by = FLAM_BY_PROCESS;
  weights = flam_weights_new (profile, selection, NULL, NULL);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
  text = flam_dump_tree (tree);
  g_assert_nonnull (strstr (text, "\n  rank 0: app (7) self=0 total="));
  g_assert_nonnull (strstr (text, "\n  rank 2: app (7) self=0 total="));
}

static void
test_balance (void)
{
  const FlamBalanceWanted wanted = { TRUE, FLAM_SORT_SELF, 2 };
  g_autoptr (FlamProfile) profile = job ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamBalance) balance =
      flam_balance_new (profile, selection, &wanted, NULL, NULL);

  g_assert_cmpuint (balance->n_ranks, ==, 3);
  g_assert_cmpuint (balance->n_hosts, ==, 2);
  g_assert_cmpint (balance->ranks[0].work, ==, 30 * MS);
  g_assert_cmpint (balance->ranks[0].waits, ==, 14 * MS);
  g_assert_cmpint (balance->ranks[1].work, ==, 44 * MS);
  g_assert_cmpint (balance->ranks[1].waits, ==, 0);
  g_assert_cmpint (balance->work.median, ==, 30 * MS);
  g_assert_cmpuint (balance->work.slowest, ==, 1);
  g_assert_cmpuint (balance->n_functions, ==, 3);
  g_assert_cmpstr (balance->functions[0].name, ==, "fft");
  g_assert_cmpint (balance->functions[0].spread.most, ==, 33 * MS);
  g_assert_cmpint (balance->functions[0].spread.median, ==, 20 * MS);
  g_assert_cmpstr (balance->functions[1].name, ==, "io");
  g_assert_cmpint (
      flam_balance_lost (&balance->functions[1].spread), ==, 1 * MS);
  /* Two halves of 38 ms: a sample weighs in the half that contains it. */
  g_assert_cmpuint (balance->n_columns, ==, 2);
  g_assert_cmpint (balance->column, ==, 19 * MS);
  g_assert_cmpint (balance->value[1], ==, 33 * MS);
  g_assert_cmpint (balance->value[3], ==, 10 * MS);
  g_assert_cmpint (balance->value[4], ==, 11 * MS);
  g_assert_cmpint (balance->top, ==, 33 * MS);
}

static void
test_headline (void)
{
  g_autoptr (FlamProfile) profile = job ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamHeadline) headline =
      flam_headline_new (profile, selection, NULL, NULL);
  g_autofree char *text = flam_headline_to_english (headline);
  g_auto (GStrv) words = g_strsplit (text, "\u00a0", -1);
  g_autofree char *plain = g_strjoinv (" ", words);

  g_assert_cmpstr (plain,
                   ==,
                   "fft takes 55 %. Rank 1 works 47 % more than the median of "
                   "all ranks, most of it in fft");
}

/* Threads off the CPU. The first one reads a file, and waits in MPI, where it
 * has left the CPU to others; the second one runs a part of the work, and
 * sleeps until there is more. */
static void
test_waiting (void)
{
  static const Row rows[] = {
    { "fft", 0, 20, FLAM_STATE_RUNNING, 0 },
    { "read", 20, 5, FLAM_STATE_IO, 0 },
    { "MPI_Allreduce", 25, 3, FLAM_STATE_RUNNING, 0 },
    { "MPI_Allreduce", 28, 60, FLAM_STATE_RUNNABLE, 0 },
    { "MPI_Allreduce", 88, 7, FLAM_STATE_SLEEP, 0 },
    { "fft", 0, 9, FLAM_STATE_RUNNING, 1 },
    { "idle", 9, 86, FLAM_STATE_SLEEP, 1 },
  };
  const FlamBalanceWanted wanted = { TRUE, FLAM_SORT_SELF, 1 };
  g_autoptr (FlamProfile) recorded =
      capture ("0", "east", 0, rows, G_N_ELEMENTS (rows));
  g_autoptr (FlamProfile) profile = flam_rank_waits_new (recorded);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamBalance) balance =
      flam_balance_new (profile, selection, &wanted, NULL, NULL);

  g_assert_cmpint (balance->ranks[0].work, ==, 34 * MS);
  g_assert_cmpint (balance->ranks[0].waits, ==, 70 * MS);
  g_assert_cmpint (balance->value[0], ==, 34 * MS);
  g_assert_cmpuint (balance->n_functions, ==, 3);
  for (guint i = 0; i < 3; i++)
    {
      const char *name = balance->functions[i].name;

      g_assert_cmpint (balance->functions[i].spread.sum,
                       ==,
                       strcmp (name, "fft") == 0    ? 29 * MS
                       : strcmp (name, "read") == 0 ? 5 * MS
                                                    : 0);
    }
}

/* Of one function and one rank, and of a capture without ranks. */
static void
test_selected (void)
{
  const FlamBalanceWanted wanted = { TRUE, FLAM_SORT_TOTAL, 0 };
  g_autoptr (FlamProfile) profile = job ();
  g_autoptr (FlamProfile) alone = capture (NULL, "east", 0, first, 3);
  g_autoptr (FlamProfile) odd = capture ("-1", "east", 0, first, 3);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamBalance) balance = NULL;

  flam_selection_add_transform (selection, FLAM_TRANSFORM_FILTER, "io", NULL);
  flam_selection_add_thread (selection, 2);
  balance = flam_balance_new (profile, selection, &wanted, NULL, NULL);
  g_assert_cmpuint (balance->n_ranks, ==, 1);
  g_assert_cmpuint (balance->ranks[0].rank, ==, 1);
  g_assert_cmpint (balance->ranks[0].work, ==, 11 * MS);
  g_assert_cmpuint (balance->n_columns, ==, 0);
  flam_selection_all_threads (selection);
  g_assert_null (flam_balance_new (alone, selection, &wanted, NULL, NULL));
  g_assert_null (flam_balance_new (odd, selection, &wanted, NULL, NULL));
  g_assert_cmpuint (alone->processes.rank[0], ==, 0);
}

/* --- folding -------------------------------------------------------------- */

static gint64
weight_of (const FlamProfile *profile, const char *function)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autofree char *regex = g_strdup_printf ("^%s$", function);

  flam_selection_add_transform (selection, FLAM_TRANSFORM_FILTER, regex, NULL);
  return flam_weights_total (profile, selection);
}

static void
test_fold (void)
{
  g_autoptr (FlamProfile) a = capture ("0", "east", 0, first, 3);
  g_autoptr (FlamProfile) b = capture ("1", "west", 5, second, 2);
  g_autoptr (FlamFold) fold = flam_fold_new (FALSE);
  g_autoptr (FlamFold) again = flam_fold_new (FALSE);
  g_autoptr (FlamProfile) once = NULL;
  g_autoptr (FlamProfile) twice = NULL;

  g_assert_true (flam_fold_add (fold, "a", a, NULL));
  g_assert_true (flam_fold_add (fold, "b", b, NULL));
  once = flam_fold_finish (fold, NULL);
  g_assert_true (flam_fold_add (again, "once", once, NULL));
  g_assert_true (flam_fold_add (again, "b", b, NULL));
  g_assert_cmpuint (flam_fold_n (again), ==, 3);
  twice = flam_fold_finish (again, NULL);
  g_assert_cmpuint (twice->threads.n, ==, 1);
  g_assert_cmpuint (twice->samples.n, ==, 3);
  g_assert_null (twice->samples.time);
  g_assert_cmpint (weight_of (twice, "fft"), ==, 86 * MS);
  g_assert_cmpint (weight_of (twice, "io"), ==, 32 * MS);
  g_assert_cmpint (weight_of (twice, "MPI_Allreduce"), ==, 14 * MS);
  g_assert_cmpstr (flam_facts_other (&twice->facts, "merged"), ==, "3");
}

/* Any captures, in any order: their measures, threads and blocks add up. */
static void
test_fold_random (void)
{
  for (guint round = 0; round < 5; round++)
    {
      g_autoptr (FlamProfile) a = flam_fixture_random ();
      g_autoptr (FlamProfile) b = flam_fixture_random ();
      g_autoptr (FlamFold) fold = flam_fold_new (FALSE);
      g_autoptr (FlamProfile) folded = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_true (flam_fold_add (fold, "a", a, NULL));
      g_assert_true (flam_fold_add (fold, "b", b, NULL));
      folded = flam_fold_finish (fold, &error);
      g_assert_no_error (error);
      for (guint m = 0; m < a->n_measures; m++)
        {
          g_autoptr (FlamSelection) selection = flam_selection_new ();
          gint64 sum;

          selection->measure = m;
          sum = flam_weights_total (a, selection) +
                flam_weights_total (b, selection);
          g_assert_cmpint (flam_weights_total (folded, selection), ==, sum);
        }
      g_assert_cmpuint (folded->samples.n, <=, a->samples.n + b->samples.n);
    }
}

static void
test_fold_refused (void)
{
  const Row huge = { "f", 0, G_MAXINT64 / MS };
  g_autoptr (FlamProfile) a = capture (NULL, "", 0, &huge, 1);
  g_autoptr (FlamProfile) b = flam_fixture_profile ("A 1");
  g_autoptr (FlamFold) fold = flam_fold_new (FALSE);
  g_autoptr (FlamFold) apart = flam_fold_new (TRUE);
  g_autoptr (GError) error = NULL;

  g_assert_true (flam_fold_add (fold, "a", a, NULL));
  g_assert_false (flam_fold_add (fold, "again", a, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_TOO_LARGE);
  g_assert_true (flam_fold_add (apart, "a", a, NULL));
  g_assert_true (flam_fold_add (apart, "b", b, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ranks/calls", test_calls);
  g_test_add_func ("/ranks/spread", test_spread);
  g_test_add_func ("/ranks/aligned", test_aligned);
  g_test_add_func ("/ranks/counters", test_counters);
  g_test_add_func ("/ranks/names", test_names);
  g_test_add_func ("/ranks/balance", test_balance);
  g_test_add_func ("/ranks/headline", test_headline);
  g_test_add_func ("/ranks/waiting", test_waiting);
  g_test_add_func ("/ranks/selected", test_selected);
  g_test_add_func ("/ranks/fold", test_fold);
  g_test_add_func ("/ranks/fold-random", test_fold_random);
  g_test_add_func ("/ranks/fold-refused", test_fold_refused);
  return g_test_run ();
}
