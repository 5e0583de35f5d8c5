/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-json.h"
#include "flam-valgrind.h"

#include <string.h>

/* DHAT's JSON, version 2, of valgrind and of programs that write it
 * themselves (Rust's dhat):
 *
 *    {"dhatFileVersion":2, "mode":"heap", "cmd":…, "bklt":true, "bkacc":true,
 *     "pps":[{"tb":24000,"tbk":1000,    allocated: bytes, blocks
 *             "gb":24000,"gbk":1000,    at the high-water mark (if bklt)
 *             "eb":24000,"ebk":1000,    at the end (if bklt)
 *             "rb":0,"wb":1000,         read, written (if bkacc)
 *             "fs":[1,10,11]}, …],      frames, innermost first
 *     "ftbl":["[root]","0x48417B4: malloc (in …)", …]}
 *
 * The frames come last, after the points that refer to them: so the file is
 * read twice. There is no time in it. In mode "copy" the bytes are those
 * copied, in "ad-hoc" the program's own units ("bu"). Source of facts:
 * valgrind's manual and dh_view.js, 3.19. */

typedef struct
{
  const char *key;
  const char *id;
  const char *name;
  FlamUnit unit;
  enum
  {
    ALWAYS,
    WITH_LIFETIMES,
    WITH_ACCESSES,
  } when;
} Column;

static const Column columns[] = {
  { "gb", "peak", N_ ("Peak memory"), FLAM_UNIT_BYTES, WITH_LIFETIMES },
  { "eb", "leaked", N_ ("Leaked memory"), FLAM_UNIT_BYTES, WITH_LIFETIMES },
  { "tb", "allocated", N_ ("Allocated memory"), FLAM_UNIT_BYTES, ALWAYS },
  { "tbk", "allocations", N_ ("Allocations"), FLAM_UNIT_COUNT, ALWAYS },
  { "gbk",
    "peak-blocks",
    N_ ("Blocks at the peak"),
    FLAM_UNIT_COUNT,
    WITH_LIFETIMES },
  { "ebk",
    "leaked-blocks",
    N_ ("Leaked blocks"),
    FLAM_UNIT_COUNT,
    WITH_LIFETIMES },
  { "rb", "read", N_ ("Memory read"), FLAM_UNIT_BYTES, WITH_ACCESSES },
  { "wb", "written", N_ ("Memory written"), FLAM_UNIT_BYTES, WITH_ACCESSES },
};
#define N_COLUMNS G_N_ELEMENTS (columns)

typedef struct
{
  const FlamLoad *load;
  FlamBuilder *builder;
  GArray *places; /* FlamValgrindLocation: ftbl */
  GArray *stack;  /* of one point */
  gboolean lifetimes;
  gboolean accesses;
  gboolean in_bytes;
  FlamThreadId thread;
  guint64 bad_points;
} Reader;

static void
read_frames (Reader *reader, FlamJson *json)
{
  flam_json_each (json)
    {
      gsize length;
      const char *text = flam_json_get_string (json, &length);
      FlamValgrindLocation place =
          flam_valgrind_location (reader->builder, text, length);

      g_array_append_val (reader->places, place);
    }
}

/* The first pass: all but the points. */
static gboolean
read_header (Reader *reader, FlamJson *json, GError **error)
{
  gint64 version = 0;

  flam_json_report (json, NULL); /* the points take longer */
  flam_json_each (json)
    {
      if (flam_json_key_is (json, "dhatFileVersion"))
        version = flam_json_get_int (json);
      else if (flam_json_key_is (json, "cmd"))
        flam_builder_set_command (reader->builder,
                                  flam_json_get_string (json, NULL));
      else if (flam_json_key_is (json, "bklt"))
        reader->lifetimes = json->token == FLAM_JSON_TRUE;
      else if (flam_json_key_is (json, "bkacc"))
        reader->accesses = json->token == FLAM_JSON_TRUE;
      else if (flam_json_key_is (json, "bu"))
        reader->in_bytes = flam_json_string_is (json, "byte");
      else if (flam_json_key_is (json, "ftbl"))
        read_frames (reader, json);
    }
  if (json->problem != NULL || version == 2)
    return flam_json_finish (json, reader->load->source, error);
  return flam_source_error (
      reader->load->source,
      error,
      FLAM_ERROR_UNSUPPORTED,
      FLAM_NO_OFFSET,
      N_ ("version %" PRId64 " of DHAT's format; only version 2 is supported"),
      version);
}

static gboolean
has_column (const Reader *reader, guint column)
{
  return columns[column].when == ALWAYS ||
         (columns[column].when == WITH_LIFETIMES ? reader->lifetimes
                                                 : reader->accesses);
}

static void
add_measures (Reader *reader)
{
  for (guint i = 0; i < N_COLUMNS; i++)
    flam_builder_add_column (reader->builder);
  for (guint i = 0; i < N_COLUMNS; i++)
    if (has_column (reader, i))
      flam_builder_add_measure (reader->builder,
                                columns[i].id,
                                columns[i].name,
                                reader->in_bytes ? columns[i].unit
                                                 : FLAM_UNIT_COUNT,
                                FLAM_MEASURE_ALLOC,
                                i,
                                FLAM_NONE);
}

/* FALSE if a frame is not in the table. Frame 0 is "[root]", a common root of
 * all points. */
static gboolean
read_stack (Reader *reader, FlamJson *json)
{
  gboolean good = TRUE;

  g_array_set_size (reader->stack, 0);
  flam_json_each (json)
    {
      gint64 frame = flam_json_get_int (json);
      if (frame < 0 || frame >= reader->places->len)
        good = FALSE;
      else if (frame > 0)
        g_array_append_val (
            reader->stack,
            g_array_index (reader->places, FlamValgrindLocation, frame));
    }
  return good;
}

static void
read_point (Reader *reader, FlamJson *json)
{
  gint64 weights[N_COLUMNS] = { 0 };
  FlamSample sample = { .thread = reader->thread };
  gboolean good = flam_json_enter (json) > 0;

  g_array_set_size (reader->stack, 0);
  flam_json_each (json)
    {
      if (flam_json_key_is (json, "fs"))
        good = read_stack (reader, json) && good;
      for (guint i = 0; i < N_COLUMNS; i++)
        if (flam_json_key_is (json, columns[i].key))
          weights[i] = flam_json_get_limited (
              json, reader->builder, 1, G_MININT64, G_MAXINT64);
    }
  reader->bad_points += !good;
  if (json->problem != NULL || !good)
    return;
  sample.stack =
      flam_valgrind_stack (reader->builder,
                           (const FlamValgrindLocation *)reader->stack->data,
                           reader->stack->len);
  flam_builder_add_sample (reader->builder, &sample, weights);
}

static gboolean
read_points (Reader *reader, FlamJson *json, GError **error)
{
  flam_json_each (json)
    if (flam_json_key_is (json, "pps"))
      flam_json_each (json)
        read_point (reader, json);
  flam_builder_warn_count (reader->builder,
                           reader->bad_points,
                           "%" PRIu64 " program point refers to a frame that "
                           "is not in the file and was left out",
                           "%" PRIu64 " program points refer to frames that "
                           "are not in the file and were left out");
  return flam_json_finish (json, reader->load->source, error);
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader reader = { .load = load,
                    .builder = load->builder,
                    .in_bytes = TRUE,
                    .places = flam_arena_array (load, FlamValgrindLocation),
                    .stack = flam_arena_array (load, FlamValgrindLocation),
                    .thread = flam_builder_lone_thread (load->builder) };

  if (!read_header (&reader, flam_json_load (load, NULL), error))
    return FALSE;
  add_measures (&reader);
  return read_points (&reader, flam_json_load (load, NULL), error);
}

const FlamImporter flam_import_dhat = {
  .id = "dhat",
  .label = "DHAT",
  .written_by = "valgrind --tool=dhat, the Rust crate dhat",
  .suffixes = FLAM_LIST (".dhat", ".json"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (FLAM_MEMBERS (95, "dhatFileVersion")),
  .load = load,
};
