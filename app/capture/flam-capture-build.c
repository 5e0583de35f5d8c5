/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture-private.h"

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

typedef struct
{
  const FlamCaptureReader *reader;
  FlamBuilder *builder;
  FlamId *map[FLAM_CAPTURE_N_TABLES];
  FlamId *frame_first;
  guint32 *frame_n;
  guint32 n_chained; /* stacks made of chains so far */
} Build;

static const FlamCaptureRows *
table (const Build *build, FlamCaptureTable id)
{
  return &build->reader->tables[id];
}

static guint32
u32 (const Build *build, FlamCaptureTable id, guint column, guint32 row)
{
  return flam_capture_u32 (table (build, id), column, row);
}

static gint64
i64 (const Build *build, FlamCaptureTable id, guint column, guint32 row)
{
  return flam_capture_i64 (table (build, id), column, row);
}

static const char *
text (const Build *build, FlamCaptureTable id, guint column, guint32 row)
{
  guint32 string = u32 (build, id, column, row);

  return string == FLAM_NONE
             ? ""
             : flam_capture_text (table (build, FLAM_CAPTURE_STRINGS), string);
}

/* The builder's id of what a column refers to. */
static FlamId
mapped (const Build *build, FlamCaptureTable id, guint column, guint32 row)
{
  guint n;
  const FlamCaptureColumn *columns = flam_capture_columns (id, &n);
  guint32 value = u32 (build, id, column, row);

  return value == FLAM_NONE ? FLAM_NONE
                            : build->map[columns[column].refers_to][value];
}

static FlamId
mapped_string (const Build *build,
               FlamCaptureTable id,
               guint column,
               guint32 row)
{
  FlamId string = mapped (build, id, column, row);

  return string == FLAM_NONE ? 0 : string;
}

static FlamId *
new_map (Build *build, FlamCaptureTable id)
{
  build->map[id] = g_new (FlamId, MAX (table (build, id)->n, 1));
  return build->map[id];
}

static gint64
fact_number (const Build *build, const char *key)
{
  const char *value = flam_capture_reader_fact (build->reader, key);

  return value != NULL ? MAX (g_ascii_strtoll (value, NULL, 10), 0) : 0;
}

/* --- code ---------------------------------------------------------------- */

static void
build_strings (Build *build)
{
  const FlamCaptureRows *rows = table (build, FLAM_CAPTURE_STRINGS);
  FlamId *map = new_map (build, FLAM_CAPTURE_STRINGS);

  for (guint32 i = 0; i < rows->n; i++)
    map[i] =
        flam_builder_string (build->builder, flam_capture_text (rows, i), -1);
}

static void
build_modules (Build *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_MODULES;
  const FlamCaptureTable s = FLAM_CAPTURE_MODULE_SYMBOLS;
  FlamId *map = new_map (build, t);

  for (guint32 i = 0; i < table (build, t)->n; i++)
    map[i] =
        flam_builder_module (build->builder,
                             text (build, t, 0, i),
                             text (build, t, 1, i),
                             MIN (u32 (build, t, 2, i), FLAM_ADDRESS_ABSOLUTE));
  for (guint32 i = 0; i < table (build, s)->n; i++)
    flam_builder_set_module_symbols (
        build->builder,
        mapped (build, s, 0, i),
        MIN (u32 (build, s, 1, i), FLAM_SYMBOLS_CAPTURE),
        text (build, s, 2, i));
}

static void
build_functions (Build *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_FUNCTIONS;
  FlamId *map = new_map (build, t);

  for (guint32 i = 0; i < table (build, t)->n; i++)
    {
      guint32 kind = u32 (build, t, 5, i);
      FlamFunction function = {
        .name = mapped_string (build, t, 0, i),
        .system_name = mapped_string (build, t, 1, i),
        .file = mapped_string (build, t, 2, i),
        .module = mapped (build, t, 3, i),
        .line = u32 (build, t, 4, i),
        .kind = kind < FLAM_N_KINDS ? kind : FLAM_KIND_NATIVE,
        .flags = u32 (build, t, 6, i) & 7,
      };
      map[i] = flam_builder_function (build->builder, &function);
    }
}

static void
build_frames (Build *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_FRAMES;
  FlamId *map = new_map (build, t);

  for (guint32 i = 0; i < table (build, t)->n; i++)
    {
      FlamId function = mapped (build, t, 2, i);
      if (build->frame_n[i] > 0)
        continue;
      if (function == FLAM_NONE)
        function = flam_builder_function_unresolved (build->builder,
                                                     mapped (build, t, 0, i));
      map[i] = flam_builder_frame (build->builder,
                                   function,
                                   (guint64)i64 (build, t, 1, i),
                                   u32 (build, t, 3, i),
                                   MIN (u32 (build, t, 4, i), G_MAXUINT16));
    }
}

static void
build_symbols (Build *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_SYMBOLS;
  guint32 n_frames = table (build, FLAM_CAPTURE_FRAMES)->n;

  build->frame_first = g_new (FlamId, MAX (n_frames, 1));
  build->frame_n = g_new0 (guint32, MAX (n_frames, 1));
  for (guint32 i = 0; i < table (build, t)->n; i++)
    {
      guint32 frame = u32 (build, t, 0, i);
      if (i == 0 || u32 (build, t, 0, i - 1) != frame)
        {
          build->frame_first[frame] = i;
          build->frame_n[frame] = 0;
        }
      build->frame_n[frame]++;
    }
}

static FlamId
push_frame (Build *build, FlamId prefix, guint32 frame)
{
  const FlamCaptureTable t = FLAM_CAPTURE_SYMBOLS;
  guint64 address = (guint64)i64 (build, FLAM_CAPTURE_FRAMES, 1, frame);

  if (build->frame_n[frame] == 0)
    return flam_builder_stack (
        build->builder, prefix, build->map[FLAM_CAPTURE_FRAMES][frame]);
  for (guint32 i = 0; i < MIN (build->frame_n[frame], CHAIN_MAX); i++)
    {
      guint32 row = build->frame_first[frame] + i;
      FlamId id = flam_builder_frame (build->builder,
                                      mapped (build, t, 1, row),
                                      address,
                                      u32 (build, t, 2, row),
                                      MIN (i, G_MAXUINT16));
      prefix = flam_builder_stack (build->builder, prefix, id);
      if (build->n_chained++ > CHAINS_MAX)
        break;
    }
  return prefix;
}

static gboolean
build_stacks (Build *build, const FlamProgress *progress, GError **error)
{
  const FlamCaptureTable t = FLAM_CAPTURE_STACKS;
  guint32 n = table (build, t)->n;
  FlamId *map = new_map (build, t);

  for (guint32 i = 0; i < n; i++)
    {
      if (i % STEP == 0 && !flam_progress_step (progress, 0.5 * i / n, error))
        return FALSE;
      map[i] =
          push_frame (build, mapped (build, t, 0, i), u32 (build, t, 1, i));
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
build_processes (Build *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_PROCESSES;
  FlamId *map = new_map (build, t);
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (guint32 i = 0; i < table (build, t)->n; i++)
    {
      gint32 pid = (gint32)i64 (build, t, 0, i);
      map[i] = flam_builder_process (
          build->builder, pid, generation_of (seen, 0, pid));
      if (u32 (build, t, 1, i) != FLAM_NONE)
        flam_builder_set_process_parent (
            build->builder, map[i], mapped (build, t, 1, i));
    }
}

static void
build_threads (Build *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_THREADS;
  FlamId *map = new_map (build, t);
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (guint32 i = 0; i < table (build, t)->n; i++)
    {
      gint32 tid = (gint32)i64 (build, t, 1, i);
      FlamId process = mapped (build, t, 0, i);
      map[i] = flam_builder_thread (
          build->builder, process, tid, generation_of (seen, process, tid));
    }
}

static void
build_names (Build *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_NAMES;

  for (guint32 i = 0; i < table (build, t)->n; i++)
    {
      guint32 row = u32 (build, t, 1, i);
      if (u32 (build, t, 0, i) == FLAM_CAPTURE_NAME_PROCESS)
        flam_builder_set_process_name (build->builder,
                                       build->map[FLAM_CAPTURE_PROCESSES][row],
                                       text (build, t, 3, i));
      else
        flam_builder_set_thread_name (build->builder,
                                      build->map[FLAM_CAPTURE_THREADS][row],
                                      text (build, t, 3, i));
    }
}

/* --- measures and samples ------------------------------------------------ */

static void
build_sample_measure (Build *build, guint32 i, guint n_columns)
{
  const FlamCaptureTable t = FLAM_CAPTURE_MEASURES;
  gint64 column = i64 (build, t, 5, i);
  gint64 event = i64 (build, t, 6, i);
  gint64 denominator = i64 (build, t, 7, i);
  guint measure;

  if (column >= (gint64)n_columns)
    return;
  measure = flam_builder_add_measure (
      build->builder,
      text (build, t, 0, i),
      text (build, t, 1, i),
      MIN (u32 (build, t, 2, i), FLAM_UNIT_BYTES),
      MIN (u32 (build, t, 3, i), FLAM_MEASURE_ALLOC),
      column < 0 ? -1 : (int)column,
      event < 0 || event > G_MAXUINT16 ? FLAM_NONE : (FlamId)event);
  if (denominator > 1)
    flam_builder_set_denominator (build->builder, measure, denominator);
}

static guint
build_measures (Build *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_MEASURES;
  guint n_columns = table (build, FLAM_CAPTURE_SAMPLES)->n_columns -
                    FLAM_CAPTURE_SAMPLE_COLUMNS;
  gboolean has_allocations = table (build, FLAM_CAPTURE_ALLOCATIONS)->n > 0 ||
                             table (build, FLAM_CAPTURE_BLOCKS)->n > 0;
  gboolean done = FALSE;

  if (table (build, FLAM_CAPTURE_SAMPLES)->n == 0)
    for (guint32 i = 0; i < table (build, t)->n; i++)
      n_columns = (guint)CLAMP (i64 (build, t, 5, i) + 1,
                                (gint64)n_columns,
                                FLAM_CAPTURE_MAX_WEIGHTS);
  for (guint i = 0; i < n_columns; i++)
    flam_builder_add_column (build->builder);
  for (guint32 i = 0; i < table (build, t)->n; i++)
    if (u32 (build, t, 4, i) == FLAM_FROM_SAMPLES)
      build_sample_measure (build, i, n_columns);
    else if (!done)
      {
        flam_builder_add_allocation_measures (build->builder);
        done = TRUE;
      }
  if (has_allocations && !done)
    flam_builder_add_allocation_measures (build->builder);
  else if (table (build, t)->n == 0) /* cut off before they were written */
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
build_samples (Build *build, const FlamProgress *progress, GError **error)
{
  const FlamCaptureTable t = FLAM_CAPTURE_SAMPLES;
  guint32 n = table (build, t)->n;
  guint n_columns = build_measures (build);
  gint64 weights[FLAM_CAPTURE_MAX_WEIGHTS];

  for (guint32 i = 0; i < n; i++)
    {
      guint32 state = u32 (build, t, 4, i);
      FlamSample sample = {
        .time = i64 (build, t, 0, i),
        .thread = mapped (build, t, 1, i),
        .stack = mapped (build, t, 2, i),
        .event = (guint16)MIN (u32 (build, t, 3, i), G_MAXUINT16),
        .state = state < FLAM_N_STATES ? (guint8)state : FLAM_STATE_BLOCKED,
      };
      if (i % STEP == 0 &&
          !flam_progress_step (progress, 0.5 + 0.4 * i / n, error))
        return FALSE;
      for (guint c = 0; c < n_columns; c++)
        weights[c] = i64 (build, t, FLAM_CAPTURE_SAMPLE_COLUMNS + c, i);
      flam_builder_add_sample (build->builder, &sample, weights);
    }
  return TRUE;
}

/* --- memory -------------------------------------------------------------- */

static guint8
allocator_of (guint32 value)
{
  return value < FLAM_N_ALLOCATORS ? (guint8)value : FLAM_ALLOCATOR_OTHER;
}

static void
build_allocations (Build *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_ALLOCATIONS;

  for (guint32 i = 0; i < table (build, t)->n; i++)
    {
      FlamAllocation row = {
        .time = i64 (build, t, 0, i),
        .freed_at = i64 (build, t, 1, i),
        .thread = mapped (build, t, 2, i),
        .stack = mapped (build, t, 3, i),
        .size = i64 (build, t, 4, i),
        .count = i64 (build, t, 5, i),
        .at_peak = i64 (build, t, 6, i),
        .distance = (guint16)MIN (u32 (build, t, 7, i), G_MAXUINT16),
        .allocator = allocator_of (u32 (build, t, 8, i)),
      };
      flam_builder_add_allocation (build->builder, &row);
    }
}

/* Each release is a row of allocations, what is left of a row of BLOCKS is
 * another. `at_peak` is what AT_PEAK says of all that are alike, given first
 * to those that surely lived at that time, then to those of the same tick. */
typedef struct
{
  GArray *rows;      /* FlamAllocation, with the file's ids */
  GHashTable *peaks; /* row of AT_PEAK by what it says -> what is left */
  gint64 peak_time;
} Memory;

typedef struct
{
  guint32 thread;
  guint32 stack;
  gint64 size;
  guint32 allocator;
  gint64 left;
} Peak;

static guint
peak_hash (gconstpointer data)
{
  const Peak *peak = data;

  return flam_hash_pair ((guint64)peak->thread << 32 | peak->stack,
                         (guint64)peak->size << 4 | peak->allocator);
}

static gboolean
peak_equal (gconstpointer a, gconstpointer b)
{
  const Peak *x = a;
  const Peak *y = b;

  return x->thread == y->thread && x->stack == y->stack && x->size == y->size &&
         x->allocator == y->allocator;
}

static void
read_peaks (Build *build, Memory *memory)
{
  const FlamCaptureTable t = FLAM_CAPTURE_AT_PEAK;

  for (guint32 i = 0; i < table (build, t)->n; i++)
    {
      Peak *peak = g_new (Peak, 1);

      *peak = (Peak){ u32 (build, t, 0, i),
                      u32 (build, t, 1, i),
                      i64 (build, t, 2, i),
                      allocator_of (u32 (build, t, 3, i)),
                      i64 (build, t, 4, i) };
      g_hash_table_add (memory->peaks, peak);
    }
}

static void
add_blocks (Build *build,
            Memory *memory,
            guint32 row,
            gint64 count,
            gint64 freed_at,
            guint32 distance)
{
  const FlamCaptureTable t = FLAM_CAPTURE_BLOCKS;
  FlamAllocation allocation = {
    .time = i64 (build, t, 0, row),
    .freed_at = freed_at,
    .thread = u32 (build, t, 1, row),
    .stack = u32 (build, t, 2, row),
    .size = i64 (build, t, 3, row),
    .count = count,
    .at_peak = g_hash_table_size (memory->peaks) > 0 ? 0 : -1,
    .distance = (guint16)MIN (distance, G_MAXUINT16),
    .allocator = allocator_of (u32 (build, t, 5, row)),
  };

  if (count > 0)
    g_array_append_val (memory->rows, allocation);
}

static void
pair_blocks (Build *build, Memory *memory)
{
  const FlamCaptureTable b = FLAM_CAPTURE_BLOCKS;
  const FlamCaptureTable r = FLAM_CAPTURE_RELEASES;
  guint32 n = table (build, b)->n;
  g_autofree gint64 *left = g_new (gint64, n + 1);

  for (guint32 i = 0; i < n; i++)
    left[i] = MAX (i64 (build, b, 4, i), 0);
  for (guint32 i = 0; i < table (build, r)->n; i++)
    {
      gint64 row = i64 (build, r, 1, i);
      gint64 count;

      if (row < 0 || row >= n)
        continue;
      count = CLAMP (i64 (build, r, 2, i), 0, left[row]);
      left[row] -= count;
      add_blocks (build,
                  memory,
                  row,
                  count,
                  i64 (build, r, 0, i),
                  u32 (build, r, 3, i));
    }
  for (guint32 i = 0; i < n; i++)
    add_blocks (build, memory, i, left[i], FLAM_NEVER, G_MAXUINT16);
}

static void
give_peaks (Memory *memory, gboolean certain)
{
  for (guint i = 0; i < memory->rows->len; i++)
    {
      FlamAllocation *row = &g_array_index (memory->rows, FlamAllocation, i);
      gboolean inside =
          row->time < memory->peak_time && row->freed_at > memory->peak_time;
      gboolean touches =
          row->time <= memory->peak_time && row->freed_at >= memory->peak_time;
      Peak key = { row->thread, row->stack, row->size, row->allocator };
      Peak *peak;
      gint64 count;

      if (certain ? !inside : inside || !touches)
        continue;
      peak = g_hash_table_lookup (memory->peaks, &key);
      if (peak == NULL)
        continue;
      count = CLAMP (peak->left, 0, row->count);
      row->at_peak = count;
      peak->left -= count;
    }
}

static void
build_blocks (Build *build)
{
  Memory memory = { g_array_new (FALSE, FALSE, sizeof (FlamAllocation)),
                    g_hash_table_new_full (peak_hash, peak_equal, g_free, NULL),
                    fact_number (build, FLAM_FACT_PEAK_TIME) };

  read_peaks (build, &memory);
  pair_blocks (build, &memory);
  give_peaks (&memory, TRUE);
  give_peaks (&memory, FALSE);
  for (guint i = 0; i < memory.rows->len; i++)
    {
      FlamAllocation *row = &g_array_index (memory.rows, FlamAllocation, i);

      if (row->thread != FLAM_NONE)
        row->thread = build->map[FLAM_CAPTURE_THREADS][row->thread];
      if (row->stack != FLAM_NONE)
        row->stack = build->map[FLAM_CAPTURE_STACKS][row->stack];
      flam_builder_add_allocation (build->builder, row);
    }
  g_array_unref (memory.rows);
  g_hash_table_unref (memory.peaks);
}

/* --- beside the samples -------------------------------------------------- */

static void
build_counters (Build *build)
{
  const FlamCaptureTable c = FLAM_CAPTURE_COUNTERS;
  const FlamCaptureTable v = FLAM_CAPTURE_COUNTER_VALUES;
  FlamId *map = new_map (build, c);

  for (guint32 i = 0; i < table (build, c)->n; i++)
    map[i] =
        flam_builder_add_counter (build->builder,
                                  text (build, c, 0, i),
                                  MIN (u32 (build, c, 1, i), FLAM_UNIT_BYTES));
  for (guint32 i = 0; i < table (build, v)->n; i++)
    flam_builder_add_counter_value (build->builder,
                                    mapped (build, v, 0, i),
                                    i64 (build, v, 1, i),
                                    i64 (build, v, 2, i));
}

static void
build_marks (Build *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_MARKS;

  for (guint32 i = 0; i < table (build, t)->n; i++)
    flam_builder_add_mark (build->builder,
                           i64 (build, t, 0, i),
                           i64 (build, t, 1, i),
                           mapped (build, t, 2, i),
                           text (build, t, 3, i));
}

static gint64
last_time (const Build *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_SAMPLES;
  gint64 last = 0;

  for (guint32 i = 0; i < table (build, t)->n; i++)
    last = MAX (last, i64 (build, t, 0, i));
  return last;
}

static void
build_facts (Build *build)
{
  const char *command =
      flam_capture_reader_fact (build->reader, FLAM_FACT_COMMAND);
  const char *times =
      flam_capture_reader_fact (build->reader, FLAM_FACT_HAS_TIMES);
  gint64 target = fact_number (build, FLAM_FACT_TARGET_CPU);
  gint64 duration = fact_number (build, FLAM_FACT_DURATION);
  const FlamCaptureRows *warnings = table (build, FLAM_CAPTURE_WARNINGS);
  const FlamCaptureRows *end = table (build, FLAM_CAPTURE_END);

  if (duration == 0 && end->n > 0)
    duration = MAX (flam_capture_i64 (end, 0, end->n - 1), 0);

  if (times == NULL || strcmp (times, "0") != 0)
    {
      flam_builder_set_has_times (build->builder);
      flam_builder_set_origin (build->builder, 0);
      if (duration == 0)
        duration = last_time (build);
    }
  flam_builder_set_command (build->builder, command != NULL ? command : "");
  flam_builder_set_start (build->builder, fact_number (build, FLAM_FACT_START));
  flam_builder_set_duration (build->builder, duration);
  flam_builder_add_lost (build->builder,
                         (guint64)fact_number (build, FLAM_FACT_LOST));
  flam_builder_add_late (build->builder,
                         (guint64)fact_number (build, FLAM_FACT_LATE));
  flam_builder_add_truncated (
      build->builder, (guint64)fact_number (build, FLAM_FACT_TRUNCATED));
  if (target > 0)
    flam_builder_set_recorder_share (
        build->builder,
        (double)fact_number (build, FLAM_FACT_RECORDER_CPU) / (double)target);
  for (guint32 i = 0; i < warnings->n; i++)
    flam_builder_warn (
        build->builder, "%s", text (build, FLAM_CAPTURE_WARNINGS, 0, i));
}

gboolean
flam_capture_reader_build (const FlamCaptureReader *reader,
                           FlamBuilder *builder,
                           const FlamProgress *progress,
                           GError **error)
{
  Build build = { .reader = reader, .builder = builder };
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
      build_processes (&build);
      build_threads (&build);
      build_names (&build);
      ok = build_samples (&build, progress, error);
    }
  if (ok)
    {
      build_allocations (&build);
      build_blocks (&build);
      build_counters (&build);
      build_marks (&build);
    }
  for (guint i = 0; i < FLAM_CAPTURE_N_TABLES; i++)
    g_free (build.map[i]);
  g_free (build.frame_first);
  g_free (build.frame_n);
  return ok;
}
