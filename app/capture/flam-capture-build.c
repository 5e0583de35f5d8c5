/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture-build.h"

/* What was read -> builder. Every id was checked when its block was read, so
 * here they are only mapped: `map[TABLE][row]` is the builder's id.
 *
 *   frame without SYMBOLS   one builder frame
 *   frame with SYMBOLS      its chain, caller first: frame_first[row] is the
 *                           first of its rows in SYMBOLS */

#define STEP 65536

/* No compiler inlines deeper; a made-up file must not multiply its stacks. */
#define CHAIN_MAX 256
#define CHAINS_MAX (64u << 20)

/* --- code ---------------------------------------------------------------- */

static void
build_strings (FlamCaptureBuild *build)
{
  const FlamCaptureRows *rows = flam_build_table (build, FLAM_CAPTURE_STRINGS);
  FlamId *map = flam_build_new_map (build, FLAM_CAPTURE_STRINGS);

  for (guint32 i = 0; i < rows->n; i++)
    map[i] =
        flam_builder_string (build->builder, flam_capture_text (rows, i), -1);
}

static void
build_modules (FlamCaptureBuild *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_MODULES;
  const FlamCaptureTable s = FLAM_CAPTURE_MODULE_SYMBOLS;
  FlamId *map = flam_build_new_map (build, t);

  for (guint32 i = 0; i < flam_build_table (build, t)->n; i++)
    map[i] = flam_builder_module (
        build->builder,
        flam_build_text (build, t, 0, i),
        flam_build_text (build, t, 1, i),
        MIN (flam_build_u32 (build, t, 2, i), FLAM_ADDRESS_ABSOLUTE));
  for (guint32 i = 0; i < flam_build_table (build, s)->n; i++)
    flam_builder_set_module_symbols (
        build->builder,
        flam_build_id (build, s, 0, i),
        MIN (flam_build_u32 (build, s, 1, i), FLAM_SYMBOLS_CAPTURE),
        flam_build_text (build, s, 2, i));
}

static void
build_functions (FlamCaptureBuild *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_FUNCTIONS;
  FlamId *map = flam_build_new_map (build, t);

  for (guint32 i = 0; i < flam_build_table (build, t)->n; i++)
    {
      guint32 kind = flam_build_u32 (build, t, 5, i);
      FlamFunction function = {
        .name = flam_build_string (build, t, 0, i),
        .system_name = flam_build_string (build, t, 1, i),
        .file = flam_build_string (build, t, 2, i),
        .module = flam_build_id (build, t, 3, i),
        .line = flam_build_u32 (build, t, 4, i),
        .kind = kind < FLAM_N_KINDS ? kind : FLAM_KIND_NATIVE,
        .flags = flam_build_u32 (build, t, 6, i) & 7,
      };
      map[i] = flam_builder_function (build->builder, &function);
    }
}

/* `file` FLAM_NONE: the line is in the function's. */
static FlamId
build_frame (FlamCaptureBuild *build,
             FlamId function,
             guint64 address,
             FlamId file,
             guint32 line,
             guint32 inline_depth)
{
  guint depth = MIN (inline_depth, G_MAXUINT16);

  return file == FLAM_NONE
             ? flam_builder_frame (
                   build->builder, function, address, line, depth)
             : flam_builder_frame_in (
                   build->builder, function, address, file, line, depth);
}

static void
build_frames (FlamCaptureBuild *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_FRAMES;
  FlamId *map = flam_build_new_map (build, t);

  for (guint32 i = 0; i < flam_build_table (build, t)->n; i++)
    {
      FlamId function = flam_build_id (build, t, 2, i);
      if (build->frame_n[i] > 0)
        continue;
      if (function == FLAM_NONE)
        function = flam_builder_function_unresolved (
            build->builder, flam_build_id (build, t, 0, i));
      map[i] = build_frame (build,
                            function,
                            (guint64)flam_build_i64 (build, t, 1, i),
                            flam_build_id (build, t, 5, i),
                            flam_build_u32 (build, t, 3, i),
                            flam_build_u32 (build, t, 4, i));
    }
}

static void
build_symbols (FlamCaptureBuild *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_SYMBOLS;
  guint32 n_frames = flam_build_table (build, FLAM_CAPTURE_FRAMES)->n;

  build->frame_first = g_new (FlamId, MAX (n_frames, 1));
  build->frame_n = g_new0 (guint32, MAX (n_frames, 1));
  for (guint32 i = 0; i < flam_build_table (build, t)->n; i++)
    {
      guint32 frame = flam_build_u32 (build, t, 0, i);
      if (i == 0 || flam_build_u32 (build, t, 0, i - 1) != frame)
        {
          build->frame_first[frame] = i;
          build->frame_n[frame] = 0;
        }
      build->frame_n[frame]++;
    }
}

FlamId
flam_capture_build_push_frame (FlamCaptureBuild *build,
                               FlamId prefix,
                               guint32 frame)
{
  const FlamCaptureTable t = FLAM_CAPTURE_SYMBOLS;
  guint64 address =
      (guint64)flam_build_i64 (build, FLAM_CAPTURE_FRAMES, 1, frame);

  if (build->frame_n[frame] == 0)
    return flam_builder_stack (
        build->builder, prefix, build->map[FLAM_CAPTURE_FRAMES][frame]);
  for (guint32 i = 0; i < MIN (build->frame_n[frame], CHAIN_MAX); i++)
    {
      guint32 row = build->frame_first[frame] + i;
      FlamId id = build_frame (build,
                               flam_build_id (build, t, 1, row),
                               address,
                               flam_build_id (build, t, 3, row),
                               flam_build_u32 (build, t, 2, row),
                               i);
      prefix = flam_builder_stack (build->builder, prefix, id);
      if (build->n_chained++ > CHAINS_MAX)
        break;
    }
  return prefix;
}

static gboolean
build_stacks (FlamCaptureBuild *build,
              const FlamProgress *progress,
              GError **error)
{
  const FlamCaptureTable t = FLAM_CAPTURE_STACKS;
  guint32 n = flam_build_table (build, t)->n;
  FlamId *map = flam_build_new_map (build, t);

  for (guint32 i = 0; i < n; i++)
    {
      if (i % STEP == 0 && !flam_progress_step (progress, 0.5 * i / n, error))
        return FALSE;
      map[i] = flam_capture_build_push_frame (build,
                                              flam_build_id (build, t, 0, i),
                                              flam_build_u32 (build, t, 1, i));
    }
  return TRUE;
}

/* --- who ----------------------------------------------------------------- */

/* How often this (process, number) was seen before: pids are used again. */
static guint
generation_of (GHashTable *seen, guint32 process, gint64 number)
{
  gint64 key = (gint64)(((guint64)process << 32) | (guint32)number);
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (seen, &key));

  g_hash_table_insert (
      seen, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (n + 1));
  return n;
}

static void
build_processes (FlamCaptureBuild *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_PROCESSES;
  FlamId *map = flam_build_new_map (build, t);
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (guint32 i = 0; i < flam_build_table (build, t)->n; i++)
    {
      gint32 pid = (gint32)flam_build_i64 (build, t, 0, i);
      map[i] = flam_builder_process (
          build->builder, pid, generation_of (seen, 0, pid));
      if (flam_build_u32 (build, t, 1, i) != FLAM_NONE)
        flam_builder_set_process_parent (
            build->builder, map[i], flam_build_id (build, t, 1, i));
    }
}

static void
build_threads (FlamCaptureBuild *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_THREADS;
  FlamId *map = flam_build_new_map (build, t);
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (guint32 i = 0; i < flam_build_table (build, t)->n; i++)
    {
      gint32 tid = (gint32)flam_build_i64 (build, t, 1, i);
      FlamId process = flam_build_id (build, t, 0, i);
      map[i] = flam_builder_thread (
          build->builder, process, tid, generation_of (seen, process, tid));
    }
}

static void
build_names (FlamCaptureBuild *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_NAMES;

  for (guint32 i = 0; i < flam_build_table (build, t)->n; i++)
    {
      guint32 row = flam_build_u32 (build, t, 1, i);
      if (flam_build_u32 (build, t, 0, i) == FLAM_CAPTURE_NAME_PROCESS)
        flam_builder_rename_process (build->builder,
                                     build->map[FLAM_CAPTURE_PROCESSES][row],
                                     flam_build_i64 (build, t, 2, i),
                                     flam_build_text (build, t, 3, i));
      else
        flam_builder_rename_thread (build->builder,
                                    build->map[FLAM_CAPTURE_THREADS][row],
                                    flam_build_i64 (build, t, 2, i),
                                    flam_build_text (build, t, 3, i));
    }
}

/* --- measures and samples ------------------------------------------------ */

static void
build_sample_measure (FlamCaptureBuild *build, guint32 i, guint n_columns)
{
  const FlamCaptureTable t = FLAM_CAPTURE_MEASURES;
  gint64 column = flam_build_i64 (build, t, 5, i);
  gint64 event = flam_build_i64 (build, t, 6, i);
  gint64 denominator = flam_build_i64 (build, t, 7, i);
  guint measure;

  if (column >= (gint64)n_columns)
    return;
  measure = flam_builder_add_measure (
      build->builder,
      flam_build_text (build, t, 0, i),
      flam_build_text (build, t, 1, i),
      MIN (flam_build_u32 (build, t, 2, i), FLAM_UNIT_BYTES),
      MIN (flam_build_u32 (build, t, 3, i), FLAM_MEASURE_ALLOC),
      column < 0 ? -1 : (int)column,
      event < 0 || event > G_MAXUINT16 ? FLAM_NONE : (FlamId)event);
  if (denominator > 1)
    flam_builder_set_denominator (build->builder, measure, denominator);
  if (column >= 0 &&
      g_strcmp0 (flam_capture_reader_fact (build->reader, FLAM_FACT_SPANS),
                 flam_build_text (build, t, 0, i)) == 0)
    flam_builder_set_spans (build->builder, measure);
}

static guint
build_measures (FlamCaptureBuild *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_MEASURES;
  guint n_columns = flam_build_table (build, FLAM_CAPTURE_SAMPLES)->n_columns -
                    FLAM_CAPTURE_SAMPLE_COLUMNS;
  gboolean has_allocations =
      flam_build_table (build, FLAM_CAPTURE_ALLOCATIONS)->n > 0 ||
      flam_build_table (build, FLAM_CAPTURE_BLOCKS)->n > 0;
  gboolean listed = flam_build_fact (build, FLAM_FACT_MEASURES_LISTED) != 0;
  gboolean done = FALSE;

  if (flam_build_table (build, FLAM_CAPTURE_SAMPLES)->n == 0)
    for (guint32 i = 0; i < flam_build_table (build, t)->n; i++)
      n_columns = (guint)CLAMP (flam_build_i64 (build, t, 5, i) + 1,
                                (gint64)n_columns,
                                FLAM_CAPTURE_MAX_WEIGHTS);
  for (guint i = 0; i < n_columns; i++)
    flam_builder_add_column (build->builder);
  for (guint32 i = 0; i < flam_build_table (build, t)->n; i++)
    if (flam_build_u32 (build, t, 4, i) == FLAM_FROM_SAMPLES)
      build_sample_measure (build, i, n_columns);
    else if (listed || !done)
      {
        if (listed)
          flam_builder_add_allocation_measure (build->builder,
                                               flam_build_u32 (build, t, 4, i));
        else
          flam_builder_add_allocation_measures (build->builder);
        done |= !listed ||
                flam_build_u32 (build, t, 4, i) <= FLAM_FROM_TEMPORARY_BYTES;
      }
  if (has_allocations && !done)
    flam_builder_add_allocation_measures (build->builder);
  else if (flam_build_table (build, t)->n ==
           0) /* cut off before they were written */
    flam_builder_add_measure (build->builder,
                              "samples",
                              "Samples",
                              FLAM_UNIT_COUNT,
                              FLAM_MEASURE_CPU,
                              -1,
                              FLAM_NONE);
  return n_columns;
}

static gboolean
build_samples (FlamCaptureBuild *build,
               const FlamProgress *progress,
               GError **error)
{
  const FlamCaptureTable t = FLAM_CAPTURE_SAMPLES;
  guint32 n = flam_build_table (build, t)->n;
  guint n_columns = build_measures (build);
  gint64 weights[FLAM_CAPTURE_MAX_WEIGHTS];

  for (guint32 i = 0; i < n; i++)
    {
      guint32 state = flam_build_u32 (build, t, 4, i);
      FlamSample sample = {
        .time = flam_build_i64 (build, t, 0, i),
        .thread = flam_build_id (build, t, 1, i),
        .stack = flam_capture_build_stack_at (build,
                                              flam_build_u32 (build, t, 2, i),
                                              flam_build_i64 (build, t, 0, i)),
        .event = (guint16)MIN (flam_build_u32 (build, t, 3, i), G_MAXUINT16),
        .state = state < FLAM_N_STATES ? (guint8)state : FLAM_STATE_BLOCKED,
      };
      if (i % STEP == 0 &&
          !flam_progress_step (progress, 0.5 + 0.4 * i / n, error))
        return FALSE;
      for (guint c = 0; c < n_columns; c++)
        weights[c] =
            flam_build_i64 (build, t, FLAM_CAPTURE_SAMPLE_COLUMNS + c, i);
      flam_builder_add_sample (build->builder, &sample, weights);
    }
  return TRUE;
}

/* --- beside the samples -------------------------------------------------- */

static void
build_counters (FlamCaptureBuild *build)
{
  const FlamCaptureTable c = FLAM_CAPTURE_COUNTERS;
  const FlamCaptureTable v = FLAM_CAPTURE_COUNTER_VALUES;
  FlamId *map = flam_build_new_map (build, c);

  for (guint32 i = 0; i < flam_build_table (build, c)->n; i++)
    map[i] = flam_builder_add_counter (
        build->builder,
        flam_build_text (build, c, 0, i),
        MIN (flam_build_u32 (build, c, 1, i), FLAM_UNIT_BYTES));
  for (guint32 i = 0; i < flam_build_table (build, v)->n; i++)
    flam_builder_add_counter_value (build->builder,
                                    flam_build_id (build, v, 0, i),
                                    flam_build_i64 (build, v, 1, i),
                                    flam_build_i64 (build, v, 2, i));
}

static void
build_marks (FlamCaptureBuild *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_MARKS;

  for (guint32 i = 0; i < flam_build_table (build, t)->n; i++)
    flam_builder_add_mark (build->builder,
                           flam_build_i64 (build, t, 0, i),
                           flam_build_i64 (build, t, 1, i),
                           flam_build_id (build, t, 2, i),
                           flam_build_text (build, t, 3, i));
}

static gint64
last_time (const FlamCaptureBuild *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_SAMPLES;
  gint64 last = 0;

  for (guint32 i = 0; i < flam_build_table (build, t)->n; i++)
    last = MAX (last, flam_build_i64 (build, t, 0, i));
  return last;
}

static void
build_facts (FlamCaptureBuild *build)
{
  FlamFacts *facts = flam_builder_facts (build->builder);
  const char *times =
      flam_capture_reader_fact (build->reader, FLAM_FACT_HAS_TIMES);
  const FlamCaptureRows *warnings =
      flam_build_table (build, FLAM_CAPTURE_WARNINGS);
  const FlamCaptureRows *end = flam_build_table (build, FLAM_CAPTURE_END);

  flam_capture_build_fact_rows (build);
  if (facts->duration_ns == 0 && end->n > 0)
    facts->duration_ns = MAX (flam_capture_i64 (end, 0, end->n - 1), 0);
  if (times == NULL || strcmp (times, "0") != 0)
    {
      flam_builder_set_has_times (build->builder);
      flam_builder_set_origin (build->builder, 0);
      if (facts->duration_ns == 0)
        facts->duration_ns = last_time (build);
    }
  for (guint32 i = 0; i < warnings->n; i++)
    flam_builder_warn (build->builder,
                       "%s",
                       flam_build_text (build, FLAM_CAPTURE_WARNINGS, 0, i));
}

gboolean
flam_capture_reader_build (const FlamCaptureReader *reader,
                           FlamBuilder *builder,
                           const FlamProgress *progress,
                           GError **error)
{
  FlamCaptureBuild build = { .reader = reader, .builder = builder };
  gboolean ok;

  build_strings (&build);
  build_modules (&build);
  build_functions (&build);
  build_symbols (&build);
  build_frames (&build);
  build_facts (&build);
  ok = build_stacks (&build, progress, error);
  if (ok)
    {
      flam_capture_build_renames (&build);
      build_processes (&build);
      build_threads (&build);
      build_names (&build);
      ok = build_samples (&build, progress, error);
    }
  if (ok)
    {
      flam_capture_build_memory (&build);
      build_counters (&build);
      build_marks (&build);
    }
  for (guint i = 0; i < FLAM_CAPTURE_N_TABLES; i++)
    g_free (build.map[i]);
  flam_capture_renames_free (build.renames);
  g_free (build.frame_first);
  g_free (build.frame_n);
  return ok;
}
