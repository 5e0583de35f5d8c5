/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A recording that is read while it grows equals the one that is opened
 * afterwards. */

#include "flam-capture-writer.h"
#include "flam-core-picture.h"
#include "flam-follow.h"
#include "flam-formats.h"
#include "flam-symbolizer.h"

#include <glib/gstdio.h>
#include <unistd.h>

/* Sanitizers make each take seconds. */
#ifdef __SANITIZE_ADDRESS__
#define N_SEEDS 4
#else
#define N_SEEDS 20
#endif

static FlamId
record (FlamBuilder *builder, FlamThreadId thread, guint round)
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
    flam_builder_note_release (builder, 100 * round, round - 1, 1, 0, 0);
  return id;
}

static void
name (FlamBuilder *builder, FlamFrameId frame)
{
  FlamFunction function = { .name = flam_builder_string (builder, "work", -1),
                            .module = 0 };

  flam_builder_note_symbol (
      builder, frame, flam_builder_function (builder, &function), FLAM_NONE, 7);
}

/* --- the content of a profile, however its rows are numbered -------------- */

/* Each stack as a number computed from the words of its frames. */
static guint64 *
spell_stacks (const FlamProfile *p)
{
  guint64 *spelled = g_new (guint64, p->stacks.n + 1);

  for (FlamId s = 0; s < p->stacks.n; s++)
    {
      FlamFrameId frame = p->stacks.frame[s];
      FlamFunctionId function = p->frames.function[frame];
      FlamStackId prefix = p->stacks.prefix[s];
      g_autofree char *text =
          g_strdup_printf ("%s %s+%" G_GINT64_MODIFIER "x %s:%u %u",
                           flam_profile_module_name (p, function),
                           flam_profile_function_name (p, function),
                           p->frames.address[frame],
                           flam_profile_string (p, p->frames.file[frame]),
                           p->frames.line[frame],
                           p->frames.inline_depth[frame]);

      spelled[s] = flam_hash_mix (prefix != FLAM_NONE ? spelled[prefix] : 1,
                                  flam_hash_bytes (text, strlen (text)));
    }
  return spelled;
}

static gboolean
is_spelled (const char *line)
{
  static const char *const others[] = {
    "function ",
    "frame ",
    "stack ",
    "partial ",
    "warning the recording was interrupted"
  };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_str_has_prefix (line, others[i]))
      return FALSE;
  return TRUE;
}

/* A dump with stacks in full, without the warning that the recording was
 * interrupted, which a growing file does not get. */
static char *
spell (const FlamProfile *profile)
{
  g_autofree char *dump = flam_dump_profile (profile);
  g_autofree guint64 *spelled = spell_stacks (profile);
  g_auto (GStrv) lines = g_strsplit (dump, "\n", -1);
  GString *out = g_string_new ("");

  for (char **line = lines; *line != NULL; line++)
    {
      char *stack = strstr (*line, " stack="), *end;
      guint64 id;

      if (!is_spelled (*line))
        continue;
      if (stack == NULL || !g_ascii_isdigit (stack[7]))
        {
          g_string_append_printf (out, "%s\n", *line);
          continue;
        }
      *stack = '\0';
      id = g_ascii_strtoull (stack + strlen (" stack="), &end, 10);
      g_string_append_printf (
          out, "%s stack=%" G_GINT64_MODIFIER "x%s\n", *line, spelled[id], end);
    }
  return g_string_free (out, FALSE);
}

static void
assert_alike (const FlamProfile *followed, const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) opened = flam_formats_load (path, NULL, &error);
  g_autofree char *followed_text = spell (followed);
  g_autofree char *opened_text = NULL;

  g_assert_no_error (error);
  opened_text = spell (opened);
  g_assert_cmpstr (followed_text, ==, opened_text);
  g_assert_cmpuint (followed->samples.n, ==, opened->samples.n);
  g_assert_cmpuint (followed->samples.states, ==, opened->samples.states);
}

static void
test_follow (void)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("follow-XXXXXX.flambeau", &path, NULL);
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (fd, builder);
  g_autoptr (FlamFollow) follow = flam_follow_new (path);
  g_autoptr (FlamProfile) followed = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *followed_text = NULL;
  FlamThreadId threads[2];
  FlamFrameId frame = 0;

  g_assert_null (flam_follow_refresh (follow, NULL, &error));
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
      profile = flam_follow_refresh (follow, NULL, NULL);
      g_assert_cmpuint (profile->samples.n, ==, round + 1);
      g_assert_cmpuint (profile->threads.n_samples[0], ==, round / 2 + 1);
    }
  name (builder, frame);
  g_assert_true (flam_capture_writer_end (writer, 1000, NULL));
  followed = flam_follow_refresh (follow, NULL, NULL);
  assert_alike (followed, path);
  followed_text = flam_dump_profile (followed);
  g_assert_nonnull (strstr (followed_text, " work native"));
  close (fd);
  g_unlink (path);
}

/* --- any recording -------------------------------------------------------- */

#define ANY_REFRESHES 12

typedef struct
{
  GRand *random;
  FlamBuilder *builder;
  gboolean memory;
  FlamModuleId module;
  GArray *stacks; /* FlamId */
  guint32 n_frames;
  guint32 n_threads;
  guint32 n_blocks;
  gint64 now;
} Any;

static guint went_on;  /* weights that were added to */
static guint filled;   /* timelines likewise */
static guint narrowed; /* timelines whose buckets were merged */

static gboolean
chance (Any *any, double share)
{
  return g_rand_double (any->random) < share;
}

static guint32
below (Any *any, guint32 n)
{
  return (guint32)g_rand_int_range (any->random, 0, (gint32)n);
}

static void
any_stack (Any *any)
{
  FlamRecordedFrame frame = { .module =
                                  chance (any, 0.2) ? FLAM_NONE : any->module,
                              .address = 16 + below (any, 60),
                              .function = FLAM_NONE,
                              .file = FLAM_NONE };
  FlamFunction function = { .module = FLAM_NONE,
                            .kind = FLAM_KIND_INTERPRETED };
  FlamStackId prefix = FLAM_NONE, stack;

  if (chance (any, 0.3))
    {
      g_autofree char *name = g_strdup_printf ("def_%u", below (any, 9));

      function.name = flam_builder_string (any->builder, name, -1);
      frame.function = flam_builder_function (any->builder, &function);
      frame.module = FLAM_NONE;
      frame.address = 0;
      frame.line = below (any, 3);
    }
  if (any->stacks->len > 0 && chance (any, 0.8))
    prefix = g_array_index (any->stacks, FlamId, below (any, any->stacks->len));
  stack = flam_builder_stack (
      any->builder, prefix, flam_builder_recorded_frame (any->builder, &frame));
  g_array_append_val (any->stacks, stack);
}

static void
any_sample (Any *any)
{
  FlamSample sample = { .thread = below (any, any->n_threads),
                        .stack = FLAM_NONE,
                        .time = any->now += below (any, 50),
                        .event = (guint16)(chance (any, 0.02) ? 1 : 0),
                        .state = chance (any, 0.02) ? FLAM_STATE_LOCK : 0 };

  if (chance (any, 0.95))
    sample.stack =
        g_array_index (any->stacks, FlamId, below (any, any->stacks->len));
  if (chance (any, 0.01))
    sample.time = below (any, (guint32)any->now + 1);
  flam_builder_add_sample (
      any->builder,
      &sample,
      (const gint64[]){ below (any, 1000), below (any, 200) });
}

static void
any_memory (Any *any)
{
  FlamRecordedBlocks blocks = { .time = any->now,
                                .thread = below (any, any->n_threads),
                                .stack = 0,
                                .size = 8,
                                .count = 1 + below (any, 3) };

  flam_builder_note_blocks (any->builder, &blocks);
  any->n_blocks++;
  flam_builder_note_release (
      any->builder, any->now, below (any, any->n_blocks), 1, 0, 0);
}

static void
any_rows (Any *any)
{
  guint32 n = below (any, 200);

  if (any->n_threads == 0 || chance (any, 0.2))
    {
      flam_builder_append_thread (any->builder, 0, 10 + (gint32)any->n_threads);
      any->n_threads++;
    }
  if (chance (any, 0.3))
    flam_builder_note_thread_name (any->builder,
                                   below (any, any->n_threads),
                                   any->now,
                                   chance (any, 0.5) ? "one" : "other");
  if (chance (any, 0.2))
    flam_builder_note_warning (any->builder, "a word");
  if (chance (any, 0.3))
    flam_builder_add_mark (any->builder, any->now, 0, FLAM_NONE, "mark");
  flam_builder_add_counter_value (any->builder, 0, any->now, n);
  for (guint32 i = 0; i < n; i++)
    {
      if (any->stacks->len == 0 || chance (any, 0.2))
        any_stack (any);
      any_sample (any);
      if (any->memory && chance (any, 0.2))
        any_memory (any);
    }
}

static void
any_names (Any *any)
{
  for (FlamId i = 0; i < flam_builder_n_frames (any->builder); i++)
    if (chance (any, 0.5))
      name (any->builder, i);
}

/* Any selection has the same weights from the start and from the previous
 * snapshot. */
static void
weigh (guint i, const FlamProfile *profile, FlamWeights **before)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) all = NULL;
  g_autofree gint64 *threads = NULL;

  if (i % 4 == 1)
    selection->states = 1u << FLAM_STATE_RUNNING;
  if (i % 4 == 2)
    flam_selection_add_thread (selection, 0);
  if (i % 4 == 3)
    selection->from = 300;
  if (i % 3 > 0)
    selection->by = i % 3 == 1 ? FLAM_BY_THREAD : FLAM_BY_PROCESS;
  all = flam_weights_new (profile, selection, NULL, NULL);
  threads = flam_weights_by_thread (profile, selection);
  if (*before != NULL &&
      flam_weights_go_on ((*before)->profile, selection, profile, selection))
    {
      g_autoptr (FlamWeights) more =
          flam_weights_new_since (*before, profile, selection, NULL, NULL);
      g_autofree gint64 *had =
          flam_weights_by_thread ((*before)->profile, selection);
      g_autofree gint64 *since = flam_weights_by_thread_since (
          (*before)->profile, profile, selection, NULL);
      guint32 n = profile->stacks.n;

      g_assert_cmpint (more->total, ==, all->total);
      g_assert_cmpint (more->no_stack, ==, all->no_stack);
      g_assert_cmpmem (more->weight, n * 8, all->weight, n * 8);
      if (all->split != NULL)
        g_assert_cmpmem (more->split,
                         (n + 1) * sizeof *more->split,
                         all->split,
                         (n + 1) * sizeof *all->split);
      for (guint r = 0; all->by_top != NULL && r < all->by_top->len; r++)
        {
          const FlamTopWeight *rows[] = {
            &g_array_index (more->by_top, FlamTopWeight, r),
            &g_array_index (all->by_top, FlamTopWeight, r)
          };

          g_assert_cmpuint (more->by_top->len, ==, all->by_top->len);
          g_assert_cmpuint (rows[0]->top.row, ==, rows[1]->top.row);
          g_assert_cmpuint (rows[0]->stack, ==, rows[1]->stack);
          g_assert_cmpint (rows[0]->state, ==, rows[1]->state);
          g_assert_cmpint (rows[0]->weight, ==, rows[1]->weight);
        }
      for (FlamId t = 0; t < profile->threads.n; t++)
        g_assert_cmpint (threads[t],
                         ==,
                         since[t] +
                             (t < (*before)->profile->threads.n ? had[t] : 0));
      went_on++;
    }
  g_clear_pointer (before, flam_weights_free);
  *before = g_steal_pointer (&all);
}

static void
assert_same_timeline (const FlamTimeline *a, const FlamTimeline *b)
{
  gsize cells = (gsize)b->n_rows * b->n;

  g_assert_cmpuint (a->shift, ==, b->shift);
  g_assert_cmpuint (a->n, ==, b->n);
  g_assert_cmpuint (a->n_rows, ==, b->n_rows);
  g_assert_cmpint (a->end, ==, b->end);
  g_assert_cmpint (a->ceiling, ==, b->ceiling);
  g_assert_cmpmem (a->value, cells * 8, b->value, cells * 8);
  g_assert_cmpmem (a->top, b->n_rows * 8, b->top, b->n_rows * 8);
  g_assert_cmpmem (
      a->threads, (b->n_rows - 1) * 4, b->threads, (b->n_rows - 1) * 4);
  g_assert_true ((a->split == NULL) == (b->split == NULL));
  if (b->split != NULL)
    g_assert_cmpmem (
        a->split, cells * sizeof *a->split, b->split, cells * sizeof *b->split);
  for (guint i = 0; i < b->n_counters; i++)
    g_assert_cmpmem (
        a->counters[i].value, b->n * 8, b->counters[i].value, b->n * 8);
}

/* The timeline is the same from the start and from the previous one: for
 * weights with any position relative to their samples, for counts, with and
 * without a row per thread, and for memory with its counters. */
static void
draw_time (guint i, const FlamProfile *profile, FlamTimeline **before)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTimeline) all = NULL;
  g_autoptr (FlamTimeline) more = NULL;

  selection->measure = i % 5 == 4 ? profile->n_measures - 1 : i % 3;
  if (i % 4 == 1)
    selection->states = 1u << FLAM_STATE_RUNNING;
  all = flam_timeline_new (profile, selection, NULL, 90, i % 2, NULL, NULL);
  more = flam_timeline_new (profile, selection, *before, 90, i % 2, NULL, NULL);
  g_assert_nonnull (all);
  assert_same_timeline (more, all);
  if (*before != NULL &&
      flam_weights_go_on ((*before)->profile, selection, profile, selection))
    {
      filled++;
      narrowed += (*before)->shift != more->shift;
    }
  g_clear_pointer (before, flam_timeline_unref);
  *before = g_steal_pointer (&more);
}

static void
follow_any (guint32 seed)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("follow-XXXXXX.flambeau", &path, NULL);
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (fd, builder);
  g_autoptr (FlamFollow) follow = flam_follow_new (path);
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  g_autoptr (GArray) stacks = g_array_new (FALSE, FALSE, sizeof (FlamId));
  Any any = { random, builder, seed % 2, .stacks = stacks };
  FlamProfile *taken[ANY_REFRESHES + 1] = { NULL };
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTimeline) timeline = NULL;
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  any.module = flam_builder_module (builder, "/bin/x", "", FLAM_ADDRESS_VADDR);
  flam_builder_set_has_times (builder);
  for (guint i = 0; i < 2; i++)
    flam_builder_add_column (builder);
  flam_builder_add_measure (
      builder, "w", "W", FLAM_UNIT_COUNT, FLAM_MEASURE_CPU, 0, FLAM_NONE);
  flam_builder_add_measure (
      builder, "t", "T", FLAM_UNIT_NS, FLAM_MEASURE_CPU, 1, FLAM_NONE);
  flam_builder_add_measure (
      builder, "n", "N", FLAM_UNIT_COUNT, FLAM_MEASURE_CPU, -1, FLAM_NONE);
  flam_builder_add_counter (builder, "rss", FLAM_UNIT_BYTES);
  flam_builder_append_process (builder, 5, FLAM_NONE);
  for (guint i = 0; i <= ANY_REFRESHES; i++)
    {
      any_rows (&any);
      if (i == ANY_REFRESHES)
        any_names (&any);
      g_assert_true (i == ANY_REFRESHES
                         ? flam_capture_writer_end (writer, any.now, NULL)
                         : flam_capture_writer_flush (writer, NULL));
      taken[i] = flam_follow_refresh (follow, NULL, NULL);
      g_assert_nonnull (taken[i]);
      assert_alike (taken[i], path);
      g_ptr_array_add (texts, spell (taken[i]));
      weigh (seed, taken[i], &weights);
      draw_time (seed, taken[i], &timeline);
    }
  for (guint i = 0; i <= ANY_REFRESHES; i++)
    {
      g_autofree char *text = spell (taken[i]);

      g_assert_cmpstr (text, ==, texts->pdata[i]);
      flam_profile_unref (taken[i]);
    }
  close (fd);
  g_unlink (path);
}

/* After each refresh it equals the file opened anew, and earlier snapshots are
 * unchanged. */
static void
test_any (void)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    follow_any (seed);
  if (N_SEEDS < 20)
    return;
  g_assert_cmpuint (went_on, >, 8);
  g_assert_cmpuint (filled, >, 8);
  g_assert_cmpuint (narrowed, >, 2);
}

extern const char __executable_start, etext;

/* Names that are looked up frame by frame equal those looked up for all at
 * once; and in the end, the recorder's own names are shown. */
static void
test_names (void)
{
  /* All of our own code, which sanitizers make ten times as long. */
  const char *image = &__executable_start;
  const char *start = (const char *)flam_follow_new;
  gsize step = (gsize)(&etext - start) / 300;
  static const char *const binaries[] = { NULL };
  FlamSymbolOptions options = {
    .this_boot = TRUE,
    .detail = FLAM_SYMBOL_DETAIL_FULL,
  };
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("follow-XXXXXX.flambeau", &path, NULL);
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (fd, builder);
  g_autoptr (FlamFollow) follow = flam_follow_new (path);
  g_autofree char *exe = g_file_read_link ("/proc/self/exe", NULL);
  FlamRecordedFrame frame = {
    .module = flam_builder_module (builder, exe, "", FLAM_ADDRESS_VADDR),
    .function = FLAM_NONE,
    .file = FLAM_NONE,
  };
  FlamThreadId thread;
  FlamFrameId last = 0;
  guint named = 0;

  flam_builder_set_has_times (builder);
  flam_builder_append_process (builder, 5, FLAM_NONE);
  thread = flam_builder_append_thread (builder, 0, 5);
  for (guint round = 0; round < 8; round++)
    {
      g_autoptr (FlamProfile) followed = NULL;
      g_autoptr (FlamProfile) opened = NULL;
      g_autoptr (FlamProfile) symbolized = NULL;
      guint64 *spelled[2];

      for (guint i = 0; i < 50; i++)
        {
          FlamSample sample = { .thread = thread, .time = round * 50 + i };

          frame.address =
              (guint64)(start + (round * 50 + i) % 300 * step - image);
          last = flam_builder_recorded_frame (builder, &frame);
          sample.stack = flam_builder_stack (builder, FLAM_NONE, last);
          flam_builder_add_sample (builder, &sample, NULL);
        }
      g_assert_true (flam_capture_writer_flush (writer, NULL));
      followed = flam_follow_refresh (follow, binaries, NULL);
      opened = flam_formats_load (path, NULL, NULL);
      symbolized = flam_symbolize (opened, &options, NULL, NULL);
      spelled[0] = spell_stacks (followed);
      spelled[1] = spell_stacks (symbolized);
      g_assert_cmpuint (followed->samples.n, ==, symbolized->samples.n);
      for (guint32 i = 0; i < followed->samples.n; i++)
        g_assert_cmpuint (spelled[0][followed->samples.stack[i]],
                          ==,
                          spelled[1][symbolized->samples.stack[i]]);
      for (FlamId i = 0; i < followed->functions.n; i++)
        named += followed->functions.kind[i] == FLAM_KIND_NATIVE;
      g_assert_cmpuint (
          followed->modules.symbols[0], ==, symbolized->modules.symbols[0]);
      g_free (spelled[0]);
      g_free (spelled[1]);
    }
  g_assert_cmpuint (named, >, 20);
  for (FlamId i = last + 1; i-- > 0;)
    name (builder, i);
  g_assert_true (flam_capture_writer_end (writer, 1000, NULL));
  {
    g_autoptr (FlamProfile) followed =
        flam_follow_refresh (follow, binaries, NULL);
    g_autoptr (FlamProfile) opened = flam_formats_load (path, NULL, NULL);
    g_autofree guint64 *ours = spell_stacks (followed);
    g_autofree guint64 *theirs = spell_stacks (opened);

    for (guint32 i = 0; i < followed->samples.n; i++)
      g_assert_cmpuint (ours[followed->samples.stack[i]],
                        ==,
                        theirs[opened->samples.stack[i]]);
  }
  close (fd);
  g_unlink (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/follow/grows", test_follow);
  g_test_add_func ("/follow/any", test_any);
  g_test_add_func ("/follow/names", test_names);
  return g_test_run ();
}
