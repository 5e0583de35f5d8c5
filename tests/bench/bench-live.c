/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The cost of following a growing recording: a second of samples arrives, and
 * the window's steps run one by one: it reads the blocks, names new frames and
 * takes a snapshot, computes weights and a tree, lays the tree out, and fills
 * the timeline. A row has the cost of a step after 1,000,000 samples (more than
 * ten minutes), beside its cost after 10,000 (ten seconds).
 *
 * The recording is of this program, so that its frames can be named. Its stacks
 * appear over time: half of them in the first ten seconds. */

#include "flam-capture-writer.h"
#include "flam-core-query.h"
#include "flam-follow.h"
#include "flam-view-data.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define STACKS 20000
#define RATE 1000 /* samples per second */
#define FEW (10 * RATE)
#define MANY (1000 * RATE)
#define ROUNDS 21
#define BUCKETS 2000

typedef enum
{
  PART_SNAPSHOT,
  PART_TREE,
  PART_LAYOUT,
  PART_TIMELINE,
  PART_ALL,
  N_PARTS
} Part;

static const char *const part_names[] = {
  "reading, names and snapshot",

  "weights and tree",
  "layout",
  "timeline",
  "a refresh",
};

typedef struct
{
  char *path;
  int fd;
  FlamBuilder *builder;
  FlamCaptureWriter *writer;
  FlamThreadId thread[THREADS];
  FlamModuleId module;
  GArray *stacks; /* FlamId */
  guint32 n;      /* samples */

  FlamFollow *follow;
  FlamProfile *profile;
  FlamSelection *selection;
  FlamViewData *view_data;
  FlamTimeline *timeline;
  double ms[N_PARTS][ROUNDS];
} Recording;

/* --- recorded data -------------------------------------------------------- */

static void
begin (Recording *self)
{
  FlamBuilder *builder = self->builder = flam_builder_new ();
  FlamProcessId process = flam_builder_append_process (builder, 1, FLAM_NONE);

  self->fd = g_file_open_tmp ("bench-live-XXXXXX.flambeau", &self->path, NULL);
  self->stacks = g_array_new (FALSE, FALSE, sizeof (FlamId));
  self->writer = flam_capture_writer_new (self->fd, builder);
  self->module =
      flam_builder_module (builder, "/proc/self/exe", "", FLAM_ADDRESS_VADDR);
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
    self->thread[i] =
        flam_builder_append_thread (builder, process, 1 + (gint32)i);
}

/* An existing caller, and one more frame. */
static void
find_stack (Recording *self)
{
  guint i = self->stacks->len;
  FlamRecordedFrame frame = {
    self->module, 0x3000 + i % 4000 * 16, FLAM_NONE, FLAM_NONE
  };
  FlamStackId prefix =
      i < 100 ? FLAM_NONE : g_array_index (self->stacks, FlamId, i / 2);
  FlamStackId stack =
      flam_builder_stack (self->builder,
                          prefix,
                          flam_builder_recorded_frame (self->builder, &frame));

  g_array_append_val (self->stacks, stack);
}

/* The number of stacks after `n` samples. */
static guint
stacks_after (guint32 n)
{
  if (n < FEW)
    return MAX (STACKS / 2 * (n / 100) / (FEW / 100), 100);
  return STACKS / 2 + (guint)((guint64)(n - FEW) * (STACKS / 2) / MANY);
}

static void
record (Recording *self, guint32 n)
{
  for (guint32 end = self->n + n; self->n < end; self->n++)
    {
      FlamSample sample = { .thread = self->thread[self->n % THREADS],
                            .time = (gint64)self->n * (1000000000 / RATE) };

      while (self->stacks->len < stacks_after (self->n))
        find_stack (self);
      sample.stack = g_array_index (
          self->stacks, FlamId, self->n * 7919u % self->stacks->len);
      flam_builder_add_sample (
          self->builder, &sample, (const gint64[]){ 1000000 + self->n % 1000 });
    }
  g_assert_true (flam_capture_writer_flush (self->writer, NULL));
}

/* --- queries of the window ------------------------------------------------ */

/* The thread's own time: nothing here waits. */
static double
now_ms (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void
lay_out (const FlamViewData *view_data)
{
  FlamViewport viewport = {
    .width = 1600,
    .height = 900,
    .row_height = 20,
    .to = (double)view_data->tree->total[0],
    .min_width = 0.5,
  };

  flam_layout_free (flam_layout_new (view_data->rows, &viewport));
}

static void
refresh (Recording *self, double *ms)
{
  static const char *const binaries[] = { NULL };
  FlamViewData *view_data;
  FlamTimeline *timeline;
  double start[N_PARTS];

  start[PART_SNAPSHOT] = now_ms ();
  g_clear_pointer (&self->profile, flam_profile_unref);
  self->profile = flam_follow_refresh (self->follow, binaries, NULL);
  start[PART_TREE] = now_ms ();
  view_data = flam_view_data_new (self->profile,
                                  self->selection,
                                  FLAM_ORDER_TOTAL,
                                  self->view_data,
                                  NULL,
                                  NULL);
  g_clear_pointer (&self->view_data, flam_view_data_unref);
  self->view_data = view_data;
  start[PART_LAYOUT] = now_ms ();
  lay_out (view_data);
  start[PART_TIMELINE] = now_ms ();
  timeline = flam_timeline_new (self->profile,
                                self->selection,
                                self->timeline,
                                BUCKETS,
                                FLAM_TIMELINE_ALL,
                                NULL,
                                NULL);
  g_clear_pointer (&self->timeline, flam_timeline_unref);
  self->timeline = timeline;
  start[PART_ALL] = now_ms ();
  for (guint i = 0; i < PART_ALL; i++)
    ms[i] = start[i + 1] - start[i];
  ms[PART_ALL] = start[PART_ALL] - start[0];
}

/* --- the rows ------------------------------------------------------------- */

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static void
measure (guint32 n, double *median)
{
  Recording self = { 0 };
  double ms[N_PARTS];

  begin (&self);
  self.follow = flam_follow_new (self.path);
  self.selection = flam_selection_new ();
  while (self.n < n)
    record (&self, RATE);
  refresh (&self, ms);
  for (guint round = 0; round < ROUNDS; round++)
    {
      record (&self, RATE);
      refresh (&self, ms);
      for (guint i = 0; i < N_PARTS; i++)
        self.ms[i][round] = ms[i];
    }
  for (guint i = 0; i < N_PARTS; i++)
    {
      qsort (self.ms[i], ROUNDS, sizeof (double), compare);
      median[i] = self.ms[i][ROUNDS / 2];
    }
  g_unlink (self.path);
  close (self.fd);
  g_free (self.path);
  flam_view_data_unref (self.view_data);
  flam_timeline_unref (self.timeline);
  flam_selection_free (self.selection);
  flam_profile_unref (self.profile);
  flam_follow_unref (self.follow);
  flam_capture_writer_free (self.writer);
  flam_builder_free (self.builder);
  g_array_unref (self.stacks);
}

int
main (void)
{
  double few[N_PARTS], many[N_PARTS];

  measure (FEW, few);
  measure (MANY, many);
  for (guint i = 0; i < N_PARTS; i++)
    {
      fprintf (stderr,
               "%s: %.2f ms, of 10,000 samples %.2f ms\n",
               part_names[i],
               many[i],
               few[i]);
      printf ("live, 1,000,000 samples against 10,000: %s\t-\t-\t%.2f\t%s\n",
              part_names[i],
              many[i] / few[i],
              i == PART_ALL ? "≤ 2" : "-");
    }
  return 0;
}
