/* SPDX-License-Identifier: GPL-3.0-or-later */

/* make-ranks FOLDER N BYTES: captures of N ranks of one job, as the recorder
 * writes them, each until it has so many bytes: run-0.flambeau ... Of a program
 * with 2,000 functions and 8,000 stacks, in eight threads; a sample each ms on
 * average, of which some wait in MPI. Rank 3 of 8 works a tenth more. */

#include "flam-capture-writer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FUNCTIONS 2000
#define STACKS 8000
#define THREADS 8
#define FLUSH 20000
#define MS 1000000

typedef struct
{
  FlamBuilder *builder;
  FlamStackId stacks[STACKS];
  FlamThreadId threads[THREADS];
  GRand *dice; /* the same in each run; names and stacks also for all ranks */
} Rank;

static void
make_stacks (Rank *rank)
{
  g_autofree FlamFrameId *frames = g_new (FlamFrameId, FUNCTIONS);
  FlamModuleId module = flam_builder_module (
      rank->builder, "/opt/model/bin/app", "c0ffee", FLAM_ADDRESS_VADDR);

  flam_builder_note_module_symbols (
      rank->builder, module, FLAM_SYMBOLS_DWARF, "");
  for (guint i = 0; i < FUNCTIONS; i++)
    {
      g_autofree char *name =
          i % 20 == 0 ? g_strdup ("MPI_Allreduce")
                      : g_strdup_printf ("model::step_%u(double const*)", i);
      const FlamFunction function = {
        .name = flam_builder_string (rank->builder, name, -1),
        .file = flam_builder_string (rank->builder, "/src/model.f90", -1),
        .module = module,
        .line = 10 * i,
        .kind = FLAM_KIND_NATIVE,
      };

      frames[i] =
          flam_builder_frame (rank->builder,
                              flam_builder_function (rank->builder, &function),
                              0x1000 + 64 * i,
                              10 * i + 3,
                              0);
    }
  for (guint i = 0; i < STACKS; i++)
    rank->stacks[i] = flam_builder_stack (
        rank->builder,
        i == 0 ? FLAM_NONE
               : rank->stacks[g_rand_int_range (
                     rank->dice, i > 300 ? (gint)i - 300 : 0, (gint)i)],
        frames[g_rand_int_range (rank->dice, 0, FUNCTIONS)]);
}

static void
note_facts (Rank *rank, guint number, guint n)
{
  g_autofree char *host = g_strdup_printf ("node%u", number / 8);
  FlamFacts facts = flam_facts_unknown;

  facts.command = "./app input.nml";
  facts.start_unix_ns = G_GINT64_CONSTANT (1790000000000000000) + number * MS;
  flam_builder_note_facts (rank->builder, &facts);
  flam_builder_note_fact (rank->builder, FLAM_FACT_HOST, host);
  flam_builder_note_fact (rank->builder, FLAM_FACT_JOB, "4711");
  flam_builder_note_fact (rank->builder, FLAM_FACT_HAS_TIMES, "1");
  flam_builder_note_number (rank->builder, FLAM_FACT_RANK, number);
  flam_builder_note_number (rank->builder, FLAM_FACT_RANKS, n);
}

static gint64
add_samples (Rank *rank, guint number, gint64 now)
{
  for (guint i = 0; i < FLUSH; i++)
    {
      /* Some stacks are much more frequent than others. */
      double at = g_rand_double (rank->dice);
      FlamSample sample = {
        .thread =
            rank->threads[(guint)g_rand_int_range (rank->dice, 0, THREADS)],
        .stack = rank->stacks[(guint)(at * at * at * STACKS)],
        .time = now,
      };
      gint64 weight = MS + g_rand_int_range (rank->dice, -MS / 20, MS / 20);

      if (number % 8 == 3)
        weight += MS / 10;
      now += weight / THREADS;
      flam_builder_add_sample (rank->builder, &sample, &weight);
    }
  return now;
}

static gboolean
make_rank (const char *folder, guint number, guint n, gint64 size)
{
  g_autofree char *path =
      g_strdup_printf ("%s/run-%u.flambeau", folder, number);
  Rank rank = { flam_builder_new () };
  g_autoptr (FlamBuilder) builder = rank.builder;
  g_autoptr (FlamCaptureWriter) writer = NULL;
  int fd = open (path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  FlamProcessId process;
  gint64 now = 0;
  struct stat at = { 0 };
  gboolean good = fd >= 0;

  rank.dice = g_rand_new_with_seed (30);
  flam_builder_add_standard_measure (builder,
                                     FLAM_STANDARD_CPU_TIME,
                                     (int)flam_builder_add_column (builder),
                                     FLAM_NONE);
  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  flam_builder_set_has_times (builder);
  process =
      flam_builder_append_process (builder, 1000 + (gint32)number, FLAM_NONE);
  flam_builder_note_process_name (builder, process, 0, "app");
  for (guint i = 0; i < THREADS; i++)
    {
      rank.threads[i] =
          flam_builder_append_thread (builder, process, 1000 + (gint32)i);
      flam_builder_note_thread_name (builder, rank.threads[i], 0, "app");
    }
  make_stacks (&rank);
  g_rand_set_seed (rank.dice, 31 + number);
  note_facts (&rank, number, n);
  writer = flam_capture_writer_new (fd, builder);
  while (good && at.st_size < size)
    {
      now = add_samples (&rank, number, now);
      good = flam_capture_writer_flush (writer, NULL) && fstat (fd, &at) == 0;
    }
  good = good && flam_capture_writer_end (writer, now, NULL);
  g_rand_free (rank.dice);
  close (fd);
  return good;
}

int
main (int argc, char **argv)
{
  guint n = argc > 3 ? (guint)atoi (argv[2]) : 0;

  for (guint i = 0; i < n; i++)
    if (!make_rank (argv[1], i, n, atoll (argv[3])))
      return 1;
  return n > 0 ? 0 : 2;
}
