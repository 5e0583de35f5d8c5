/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-austin.h"

#include "flam-python-code.h"
#include "flam-text.h"

#include <string.h>

#define MAX_TIME (G_MAXINT64 / 4000)

enum
{
  TIME,
  GROWN,
  RELEASED,
  N_COLUMNS
};

void
flam_austin_init (FlamAustin *austin, FlamLoad *load)
{
  *austin = (FlamAustin){
    .builder = load->builder,
    .threads = flam_arena_array (load, FlamAustinThread),
    .maps = flam_arena_keep (load, flam_ranges_new (), flam_ranges_free),
    .mapped = flam_arena_pointers (load, g_free),
    .bases = flam_arena_table (load, FLAM_KEY_LENT, g_free),
  };
}

static gboolean
is (const char *text, gsize length, const char *word)
{
  return length == strlen (word) && memcmp (text, word, length) == 0;
}

/* "7f9005a2c000-7f9005a2f000 /usr/lib/libm.so.6": austinp's memory maps. */
static void
add_map (FlamAustin *austin, const char *value, gsize length)
{
  const char *p = value;
  const char *end = value + length;
  FlamRange range = { .value = austin->mapped->len };
  guint64 *base;
  char *path;

  if (!flam_text_hex (&p, end, &range.start) || p == end || *p++ != '-' ||
      !flam_text_hex (&p, end, &range.end) || range.end <= range.start ||
      p == end || *p++ != ' ' || p == end)
    return;
  path = g_strndup (p, end - p);
  g_ptr_array_add (austin->mapped, path);
  base = g_hash_table_lookup (austin->bases, path);
  if (base == NULL)
    {
      base = g_new (guint64, 1);
      *base = range.start;
      g_hash_table_insert (austin->bases, path, base);
    }
  *base = MIN (*base, range.start);
  flam_ranges_add (austin->maps, &range);
}

void
flam_austin_tell (FlamAustin *austin,
                  const char *key,
                  gsize key_length,
                  const char *value,
                  gsize length)
{
  if (is (key, key_length, "map"))
    add_map (austin, value, length);
  if (!is (key, key_length, "mode") || austin->begun)
    return;
  if (is (value, length, "memory"))
    austin->mode = FLAM_AUSTIN_MEMORY;
  else if (is (value, length, "full"))
    austin->mode = FLAM_AUSTIN_FULL;
  else if (is (value, length, "cpu"))
    austin->mode = FLAM_AUSTIN_CPU;
}

void
flam_austin_begin (FlamAustin *austin)
{
  static const FlamMeasureRow grown = { "memory-grown",
                                        N_ ("Memory grown"),
                                        FLAM_OF_BYTES };
  static const FlamMeasureRow released = { "memory-released",
                                           N_ ("Memory released"),
                                           FLAM_OF_BYTES };
  FlamBuilder *builder = austin->builder;

  if (austin->begun)
    return;
  austin->begun = TRUE;
  for (guint i = 0; i < N_COLUMNS; i++)
    flam_builder_add_column (builder);
  if (austin->mode != FLAM_AUSTIN_MEMORY)
    {
      FlamStandardMeasure measure = austin->mode == FLAM_AUSTIN_CPU
                                        ? FLAM_STANDARD_CPU_TIME
                                        : FLAM_STANDARD_WALL_TIME;

      flam_builder_set_has_times (builder);
      flam_builder_set_spans (
          builder,
          flam_builder_add_standard_measure (builder, measure, TIME, FLAM_NONE),
          FLAM_SPANS_SAMPLES);
    }
  if (austin->mode == FLAM_AUSTIN_WALL || austin->mode == FLAM_AUSTIN_CPU)
    return;
  flam_load_measure (builder, &grown, GROWN, FLAM_NONE);
  flam_load_measure (builder, &released, RELEASED, FLAM_NONE);
}

FlamThreadId
flam_austin_thread (FlamAustin *austin,
                    gint64 pid,
                    gint64 interpreter,
                    const char *tid,
                    gsize length,
                    guint base)
{
  FlamProcessId process = flam_builder_process (
      austin->builder, pid > 0 && pid <= G_MAXINT32 ? pid : -1, 0);
  g_autofree char *text = g_strndup (tid, length);
  char *end;
  guint64 number = g_ascii_strtoull (text, &end, base);
  gboolean has_tid = *text != '\0' && *end == '\0' && number <= G_MAXINT32;
  FlamThreadId thread = flam_builder_thread (
      austin->builder,
      process,
      has_tid ? (gint32)number : -1,
      has_tid ? (guint)interpreter
              : flam_builder_string (austin->builder, text, -1));

  if (!has_tid)
    flam_builder_set_thread_name (austin->builder, thread, text);
  return thread;
}

FlamAustinThread *
flam_austin_state (FlamAustin *austin, FlamThreadId thread)
{
  FlamAustinThread fresh = { .base = FLAM_NONE };

  while (austin->threads->len <= thread)
    g_array_append_val (austin->threads, fresh);
  return &g_array_index (austin->threads, FlamAustinThread, thread);
}

static FlamModuleId
find_module (FlamAustin *austin, const char *path)
{
  FlamModuleId module =
      flam_builder_module (austin->builder, path, "", FLAM_ADDRESS_FILE_OFFSET);

  flam_builder_set_module_symbols (
      austin->builder, module, FLAM_SYMBOLS_CAPTURE, NULL);
  return module;
}

/* Native frames of austinp: "native@7f90062b63c8", or, when its own tool has
 * resolved them, a mapped file whose "line" is the offset in it; or only the
 * function's name. FALSE: another kind of place. */
static gboolean
place_native (FlamAustin *austin,
              FlamSlice file,
              FlamSlice name,
              gint64 line,
              FlamFunction *function,
              guint64 *address)
{
  g_autofree char *path = g_strndup (file.text, file.length);
  const char *p = path + strlen ("native@");
  const FlamRange *range;

  *address = 0;
  if (g_str_has_prefix (path, "native@") &&
      flam_text_hex (&p, path + file.length, address))
    {
      range = flam_ranges_find (austin->maps, *address);
      if (range != NULL)
        {
          const char *mapped = g_ptr_array_index (austin->mapped, range->value);
          const guint64 *base = g_hash_table_lookup (austin->bases, mapped);
          function->module = find_module (austin, mapped);
          *address -= *base;
        }
      return TRUE;
    }
  if (g_hash_table_contains (austin->bases, path))
    {
      function->module = find_module (austin, path);
      *address = (guint64)line;
      return TRUE;
    }
  return line == 0 && file.length == name.length && file.length > 0 &&
         memcmp (file.text, name.text, name.length) == 0;
}

FlamFrameId
flam_austin_frame (FlamAustin *austin,
                   const char *file,
                   gsize file_length,
                   const char *name,
                   gsize length,
                   gint64 line,
                   gboolean *python)
{
  FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_NATIVE };
  guint64 address = 0;

  line = CLAMP (line, 0, G_MAXINT32);
  if (is (file, file_length, "kernel"))
    function.kind = FLAM_KIND_KERNEL;
  else if (file_length == 0) /* ":INVALID:", ":GC:" */
    function.kind = length > 0 ? FLAM_KIND_ROOT : FLAM_KIND_UNRESOLVED;
  else if (place_native (austin,
                         (FlamSlice){ file, file_length },
                         (FlamSlice){ name, length },
                         line,
                         &function,
                         &address))
    line = 0;
  else
    flam_python_set_location (
        austin->builder, &function, file, file_length, line > 0);
  function.name = flam_builder_string (austin->builder,
                                       length > 0 ? name : "[unknown]",
                                       length > 0 ? (gssize)length : -1);
  *python = function.kind == FLAM_KIND_INTERPRETED;
  return flam_builder_frame_of (austin->builder, &function, address, line, 0);
}

void
flam_austin_add (FlamAustin *austin, const FlamAustinSample *sample)
{
  FlamAustinThread *thread = flam_austin_state (austin, sample->thread);
  gint64 time =
      flam_builder_limit (austin->builder, sample->time, 0, MAX_TIME, NULL) *
      1000;
  FlamSample row = {
    .thread = sample->thread,
    .stack = sample->stack,
    .state = sample->idle ? FLAM_STATE_SLEEP : FLAM_STATE_RUNNING,
  };
  gint64 weights[N_COLUMNS] = {
    [TIME] = time,
    [GROWN] = MAX (sample->memory, 0),
    [RELEASED] = sample->memory < 0 ? -MAX (sample->memory, -G_MAXINT64) : 0,
  };

  flam_austin_begin (austin);
  row.time = MAX (thread->now, austin->clock - time);
  thread->now = flam_builder_limit (
      austin->builder, (__int128)row.time + time, 0, G_MAXINT64 / 2, NULL);
  austin->clock = MAX (austin->clock, thread->now);
  flam_builder_add_sample (austin->builder, &row, weights);
  austin->samples++;
}
