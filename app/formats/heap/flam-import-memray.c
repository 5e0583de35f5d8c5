/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-memray.h"

#include <string.h>

/* Memray's .bin, versions 12 and 13 (Memray 1.19 and 1.20). Little-endian;
 * often in an LZ4 frame, which FlamSource unpacks. varint is LEB128; svarint a
 * zigzag one; "d" a svarint that is added to the last value of its kind.
 *
 *    0   "memray\0"                 49  command, NUL
 *    7   i32 version                    i32 pid
 *    11  i32 PY_VERSION_HEX             u64 main thread
 *    15  u8 native traces               u64 frames to skip on it
 *    16  u8 0 all, 1 aggregated         u8 allocator, u8, u8
 *    17  u64 allocations           13:  text, texts and "", texts and ""
 *    25  u64 frames
 *    33  i64 start, 41 i64 end (ms since 1970)
 *
 * All allocations; a byte, whose upper bits are the kind:
 *
 *    1ppppaaa  block: p 15: d(address >> 3), else one of the last 15; a 0: u8
 *              allocator; native and no release: d native; no release: varint
 *              size. An address that is not in the list goes to its front.
 *    01xxxxxe  call: varint code, svarint instruction; e: from C
 *    001ppppc  object, p as above; native and c: d native
 *    0001nnnn  n + 1 returns
 *    1 end     2 varint rss, varint ms     5 d ip, d native parent
 *    6 maps    7 text, varint n, u64       8 u64, varint
 *    10 text: the thread's name            12 u64: now this thread
 *    14 varint code, text function, text file, d line, varint n, n bytes
 *
 * Aggregated, where not as above:
 *
 *    1 u64 ms, u64 rss, u64 heap           3 varint frame, varint parent
 *    2 u64 thread, u8 allocator, 7 of padding, u64 native, u64 trace,
 *      u64 generation, u64 blocks and u64 leaked blocks (at the peak; at the
 *      end), u64 bytes, u64 leaked bytes
 *    4 varint id, varint code, svarint instruction, u8
 *    13 varint address >> 3 [, varint native]        15 end
 *
 * This was written without captures by Memray itself: it follows Memray 1.20's
 * sources (record_reader.cpp, records.h, snapshot.cpp). flam-memray-native.c
 * describes which native frames are shown. A mapping that is unmapped in part
 * counts as a new one with the rest. */

#define HEADER_SIZE 49

/* --- the header ---------------------------------------------------------- */

static gboolean
refuse_version (FlamMemray *reader, GError **error)
{
  static const char *const writers[] = {
    [10] = "1.7 to 1.10",
    [11] = "1.11 to 1.18",
  };
  const char *writer = reader->version < G_N_ELEMENTS (writers)
                           ? writers[reader->version]
                           : NULL;

  if (writer != NULL)
    return flam_source_error (
        reader->load->source,
        error,
        FLAM_ERROR_UNSUPPORTED,
        FLAM_NO_OFFSET,
        N_ ("written by Memray %s (version %u of its format; versions 12 and "
            "13 are supported): convert it with that Memray's “memray "
            "flamegraph” or “memray transform speedscope” and open the result"),
        writer,
        reader->version);
  return flam_source_error (
      reader->load->source,
      error,
      FLAM_ERROR_UNSUPPORTED,
      FLAM_NO_OFFSET,
      N_ ("version %u of Memray's format; versions 12 and 13 are supported: "
          "convert it with the “memray flamegraph” of the Memray that wrote it "
          "and open the result"),
      reader->version);
}

static void
skip_texts (FlamMemray *reader)
{
  while (*flam_memray_text (reader) != '\0')
    ;
}

static gboolean
read_header (FlamMemray *reader, GError **error)
{
  flam_memray_skip (reader, 7);
  reader->version = flam_memray_fixed (reader, 4);
  if (!reader->short_read && reader->version != 12 && reader->version != 13)
    return refuse_version (reader, error);
  reader->python = flam_memray_fixed (reader, 4);
  reader->native = flam_memray_fixed (reader, 1);
  reader->aggregated = flam_memray_fixed (reader, 1) == 1;
  flam_memray_skip (reader, 16);
  reader->start_ms = flam_memray_fixed (reader, 8);
  flam_memray_skip (reader, 8);
  flam_builder_set_command (reader->builder, flam_memray_text (reader));
  reader->process = flam_builder_process (
      reader->builder, (gint32)flam_memray_fixed (reader, 4), 0);
  reader->main_thread = flam_memray_fixed (reader, 8);
  reader->skipped = flam_memray_fixed (reader, 8);
  flam_memray_skip (reader, 3);
  if (reader->version >= 13)
    {
      flam_memray_text (reader);
      skip_texts (reader);
      skip_texts (reader);
    }
  if (reader->start_ms > 0 && reader->start_ms < G_MAXINT64 / 1000000)
    flam_builder_facts (reader->builder)->start_unix_ns =
        reader->start_ms * 1000000;
  if (!reader->short_read)
    return TRUE;
  return flam_source_error (reader->load->source,
                            error,
                            FLAM_ERROR_TRUNCATED,
                            reader->load->source->size,
                            N_ ("the file ends within its header"));
}

/* --- aggregated files ---------------------------------------------------- */

static FlamId *
make_stacks (FlamMemray *reader)
{
  FlamStackId *stacks = g_new (FlamStackId, reader->traces->len + 1);

  stacks[0] = FLAM_NONE;
  for (guint i = 0; i < reader->traces->len; i++)
    {
      const FlamMemrayTrace *trace =
          &g_array_index (reader->traces, FlamMemrayTrace, i);
      FlamStackId prefix =
          trace->parent <= i ? stacks[trace->parent] : FLAM_NONE;

      stacks[i + 1] = prefix;
      if (trace->frame < reader->frames->len)
        {
          const FlamMemrayLocation *place =
              &g_array_index (reader->frames, FlamMemrayLocation, trace->frame);
          stacks[i + 1] = flam_builder_stack (
              reader->builder,
              prefix,
              flam_memray_frame (reader, place->code, place->instruction));
        }
    }
  return stacks;
}

static void
add_aggregates (FlamMemray *reader)
{
  g_autofree FlamStackId *stacks = make_stacks (reader);

  for (guint i = 0; i < reader->aggregates->len; i++)
    {
      FlamMemrayAggregate *row =
          &g_array_index (reader->aggregates, FlamMemrayAggregate, i);
      FlamSample sample = {
        .thread = flam_memray_thread (reader, row->thread)->thread,
        .stack =
            row->trace <= reader->traces->len ? stacks[row->trace] : FLAM_NONE,
      };
      flam_builder_add_sample (reader->builder, &sample, row->weights);
    }
}

static void
add_aggregate_measures (FlamMemray *reader)
{
  flam_load_measures (reader->builder,
                      FLAM_STANDARD_PEAK,
                      FLAM_STANDARD_LEAKED,
                      FLAM_STANDARD_PEAK_BLOCKS,
                      FLAM_STANDARD_LEAKED_BLOCKS);
}

/* --- the importer -------------------------------------------------------- */

static gboolean
read_body (FlamMemray *reader, GError **error)
{
  flam_builder_set_has_times (reader->builder);
  flam_builder_facts (reader->builder)->pages_count = TRUE;
  flam_builder_set_origin (reader->builder, 0);
  reader->heap =
      flam_builder_add_counter (reader->builder, "heap", FLAM_UNIT_BYTES);
  reader->rss =
      flam_builder_add_counter (reader->builder, "rss", FLAM_UNIT_BYTES);
  if (reader->aggregated)
    add_aggregate_measures (reader);
  else
    flam_builder_add_allocation_measures (reader->builder);
  if (reader->native && !reader->aggregated)
    reader->calls = flam_memray_native_new (reader->load);
  if (reader->calls != NULL)
    flam_builder_warn (
        reader->builder,
        N_ ("only native frames that the innermost Python function called are "
            "shown, without the interpreter's"));
  else if (reader->native)
    flam_builder_warn (reader->builder,
                       N_ ("the native frames of this capture are not shown"));
  if (!flam_memray_read_records (reader, error))
    return FALSE;
  flam_builder_facts (reader->builder)->duration_ns = reader->now;
  if (reader->aggregated)
    {
      add_aggregates (reader);
      return TRUE;
    }
  if (!flam_ledger_finish (reader->ledger, reader->now, error))
    return FALSE;
  flam_builder_fold_memory (reader->builder);
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamMemray *reader = flam_arena_new (load, FlamMemray);

  reader->load = load;
  reader->builder = load->builder;
  reader->ledger =
      flam_arena_keep (load, flam_ledger_new (load->builder), flam_ledger_free);
  reader->at = load->source->data;
  reader->end = load->source->data + load->source->size;
  flam_memray_init (reader);
  return read_header (reader, error) && read_body (reader, error);
}

const FlamImporter flam_import_memray = {
  .id = "memray",
  .label = "Memray",
  .written_by = "memray run",
  .suffixes = FLAM_LIST (".bin", ".memray"),
  .mime = { .type = "application/x-memray", .name = "Memray capture" },
  .signs = FLAM_SIGNS (
      { FLAM_MAGIC ("memray\0"), .least = HEADER_SIZE, .score = 100 }),
  .load = load,
  .grows = TRUE,
};
