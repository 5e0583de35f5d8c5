/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-bytes.h"
#include "flam-core-profile.h"
#include "flam-formats.h"
#include "flam-gprof-binary.h"
#include "flam-gprof-graph.h"

#include <string.h>

/* gmon.out, the output of programs built with -pg (little-endian):
 *
 *    "gmon"    u32 version 1    12 bytes    then records of a byte and
 *    0  word low, word high, i32 n, i32 counters a second, 15 bytes of
 *       dimension, 1 byte: its letter; n u16: how often the program was met in
 *       each n-th part of the code from low to high
 *    1  word from, word to, u32 count: calls of a function
 *    2  u32 n, n times word address, word count: basic blocks
 *
 * A word has the machine's 8 or 4 bytes. Addresses are those of the program's
 * own file. The program is searched (flam-gprof-binary.h) to distinguish
 * functions; without it, they begin at the targets of calls, and none extends
 * beyond the counted code: callers there are unknown. Source of facts: glibc's
 * sys/gmon_out.h and gmon/gmon.c. */

#define HEADER 20
#define MAX_COUNTERS (1 << 28)

typedef struct
{
  guint64 from, to;
  guint32 count;
} Arc;

typedef struct
{
  guint64 low, high;
  guint32 n, rate;
  const guint8 *counts;
} Histogram;

typedef struct
{
  FlamLoad *load;
  FlamBuilder *builder;
  FlamGprofGraph *graph;
  FlamElf *elf;
  FlamSymbolTable *symbols; /* NULL: no program */
  guint word;
  GArray *histograms;    /* Histogram */
  GArray *arcs;          /* Arc */
  GArray *starts;        /* guint64: without symbols, the starts of functions */
  guint64 code_end;      /* and the greatest end of the last of them */
  GHashTable *functions; /* start -> function + 1 */
  FlamModuleId module;
  FlamFunctionId code;
  const guint8 *end; /* of the data read */
  gboolean cut;
} Reader;

/* --- records ------------------------------------------------------------- */

/* The record's bytes after its type, as its counts require; 0: invalid. */
static guint64
record_size (guint8 type, const guint8 *at, gsize left, guint word)
{
  gsize head = 2 * word + 24;

  if (type == 0)
    return left >= head ? head + 2 * flam_bytes_get (at + 2 * word, 4) : head;
  if (type == 1)
    return 2 * word + 4;
  if (type == 2)
    return left >= 4 ? 4 + 2 * word * flam_bytes_get (at, 4) : 4;
  return 0;
}

static void
read_record (Reader *reader, guint8 type, const guint8 *at)
{
  guint word = reader->word;

  if (type == 0)
    {
      Histogram histogram = {
        .low = flam_bytes_get (at, word),
        .high = flam_bytes_get (at + word, word),
        .n = flam_bytes_get (at + 2 * word, 4),
        .rate = flam_bytes_get (at + 2 * word + 4, 4),
        .counts = at + 2 * word + 24,
      };
      if (histogram.high > histogram.low && histogram.n > 0 &&
          histogram.n < MAX_COUNTERS)
        g_array_append_val (reader->histograms, histogram);
    }
  else if (type == 1)
    {
      Arc arc = { flam_bytes_get (at, word),
                  flam_bytes_get (at + word, word),
                  flam_bytes_get (at + 2 * word, 4) };
      g_array_append_val (reader->arcs, arc);
    }
}

/* The extent of records with such words; with `keep`, they are kept. */
static gsize
read_records (Reader *reader, guint word, gboolean keep)
{
  const guint8 *at = reader->load->source->data + HEADER;
  const guint8 *end = reader->load->source->data + reader->load->source->size;

  reader->word = word;
  while (at < end)
    {
      guint64 size = record_size (*at, at + 1, end - at - 1, word);

      if (size == 0 || size > (guint64)(end - at - 1))
        break;
      if (keep)
        read_record (reader, *at, at + 1);
      at += 1 + size;
    }
  reader->end = at;
  return at - reader->load->source->data;
}

/* --- functions ----------------------------------------------------------- */

static int
compare_addresses (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *)a;
  guint64 y = *(const guint64 *)b;

  return (x > y) - (x < y);
}

/* Programs write them in the order of their hash table; the treatment of cycles
 * of calls must not depend on it. */
static int
compare_arcs (gconstpointer a, gconstpointer b)
{
  const Arc *x = a;
  const Arc *y = b;

  if (x->from != y->from)
    return x->from < y->from ? -1 : 1;
  if (x->to != y->to)
    return x->to < y->to ? -1 : 1;
  return (x->count > y->count) - (x->count < y->count);
}

/* The start address of its function. */
static gboolean
find_start (Reader *reader, guint64 address, guint64 *start)
{
  guint low = 0, high = reader->starts->len;
  const FlamSymbol *symbol;

  if (reader->symbols != NULL)
    {
      symbol = flam_symbol_table_find (reader->symbols, address);
      if (symbol != NULL)
        *start = symbol->start;
      return symbol != NULL;
    }
  if (address >= reader->code_end)
    return FALSE;
  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      if (g_array_index (reader->starts, guint64, middle) <= address)
        low = middle + 1;
      else
        high = middle;
    }
  if (low > 0)
    *start = g_array_index (reader->starts, guint64, low - 1);
  return low > 0;
}

static FlamFrameId
make_frame (Reader *reader, guint64 address)
{
  return flam_builder_frame (reader->builder, reader->code, address, 0, 0);
}

/* FLAM_NONE: no known function is there. */
static guint32
find_function (Reader *reader, guint64 address)
{
  guint64 start;
  guint32 function;

  if (!find_start (reader, address, &start))
    return FLAM_NONE;
  function =
      GPOINTER_TO_UINT (g_hash_table_lookup (reader->functions, &start)) - 1;
  if (function != FLAM_NONE)
    return function;
  function =
      flam_gprof_graph_add_function (reader->graph, make_frame (reader, start));
  g_hash_table_insert (reader->functions,
                       g_memdup2 (&start, sizeof start),
                       GUINT_TO_POINTER (function + 1));
  return function;
}

static guint32
find_or_add_function (Reader *reader, guint64 address)
{
  guint32 function = find_function (reader, address);

  if (function != FLAM_NONE)
    return function;
  function = flam_gprof_graph_add_function (reader->graph,
                                            make_frame (reader, address));
  g_hash_table_insert (reader->functions,
                       g_memdup2 (&address, sizeof address),
                       GUINT_TO_POINTER (function + 1));
  return function;
}

/* --- counters ------------------------------------------------------------ */

/* A counter that begins before a function and ends in it belongs to the
 * function. */
static guint64
counter_address (Reader *reader, guint64 address, guint64 end)
{
  guint64 start;

  for (guint64 at = address; at < end && at < address + 16; at++)
    if (find_start (reader, at, &start))
      return at;
  return address;
}

static void
add_histogram (Reader *reader, const Histogram *histogram)
{
  double each = (double)(histogram->high - histogram->low) / histogram->n;
  gint64 ns = 1000000000 / CLAMP (histogram->rate, 1, 1000000000);

  for (guint32 i = 0; i < histogram->n; i++)
    {
      guint64 count = flam_bytes_get (histogram->counts + 2 * (gsize)i, 2);
      guint64 address;

      if (count == 0)
        continue;
      address = counter_address (reader,
                                 histogram->low + (guint64)(i * each),
                                 histogram->low + (guint64)((i + 1) * each));
      flam_gprof_graph_add_time (reader->graph,
                                 find_or_add_function (reader, address),
                                 make_frame (reader, address),
                                 count * ns);
    }
}

static void
add_all (Reader *reader)
{
  for (guint i = 0; i < reader->arcs->len; i++)
    {
      const Arc *arc = &g_array_index (reader->arcs, Arc, i);
      guint32 callee = find_or_add_function (reader, arc->to);
      guint32 caller = find_function (reader, arc->from);

      flam_gprof_graph_add_calls (reader->graph, caller, callee, arc->count);
    }
  for (guint i = 0; i < reader->histograms->len; i++)
    add_histogram (reader, &g_array_index (reader->histograms, Histogram, i));
}

/* --- the importer -------------------------------------------------------- */

static void
find_program (Reader *reader, const char *const *folders)
{
  guint64 end = reader->histograms->len > 0
                    ? g_array_index (reader->histograms, Histogram, 0).high
                    : 0;

  if (end > 0)
    reader->elf =
        flam_gprof_find_binary (folders, reader->load->source->path, end);
  if (reader->elf != NULL)
    {
      g_autofree char *path =
          g_canonicalize_filename (flam_elf_get_path (reader->elf), NULL);

      flam_arena_keep (reader->load, reader->elf, flam_elf_free);
      reader->symbols =
          flam_arena_keep (reader->load,
                           flam_symbol_table_new (reader->elf, NULL),
                           flam_symbol_table_free);
      reader->module = flam_builder_module (reader->builder,
                                            path,
                                            flam_elf_get_build_id (reader->elf),
                                            FLAM_ADDRESS_VADDR);
    }
  else
    {
      reader->module = flam_builder_module (
          reader->builder, "a.out", "", FLAM_ADDRESS_VADDR);
      flam_builder_set_module_symbols (
          reader->builder,
          reader->module,
          FLAM_SYMBOLS_NONE,
          N_ ("gmon.out does not name its program; put the program beside the "
              "file, or give its folder with --binaries"));
    }
  reader->code =
      flam_builder_function_unresolved (reader->builder, reader->module);
  for (guint i = 0; i < reader->histograms->len; i++)
    reader->code_end =
        MAX (reader->code_end,
             g_array_index (reader->histograms, Histogram, i).high);
  if (reader->histograms->len == 0)
    reader->code_end = G_MAXUINT64;
  for (guint i = 0; i < reader->arcs->len; i++)
    g_array_append_val (reader->starts,
                        g_array_index (reader->arcs, Arc, i).to);
  g_array_sort (reader->arcs, compare_arcs);
  g_array_sort (reader->starts, compare_addresses);
}

static gboolean
check (Reader *reader, GError **error)
{
  const FlamSource *source = reader->load->source;
  guint64 offset = reader->end - source->data;

  if (offset < source->size && reader->arcs->len + reader->histograms->len == 0)
    return flam_source_error (
        source,
        error,
        FLAM_ERROR_INVALID,
        offset,
        N_ ("this is not the beginning of a gmon.out record"));
  if (offset < source->size)
    flam_load_partial (reader->load,
                       reader->end,
                       N_ ("byte %" PRIu64
                           " is not the beginning of a gmon.out record: the "
                           "part before it is shown"),
                       offset);
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader reader = { .load = load,
                    .builder = load->builder,
                    .histograms = flam_arena_array (load, Histogram),
                    .arcs = flam_arena_array (load, Arc),
                    .starts = flam_arena_array (load, guint64),
                    .functions =
                        flam_arena_table (load, FLAM_KEY_NUMBER, NULL) };

  if (load->source->size < HEADER)
    return flam_source_error (load->source,
                              error,
                              FLAM_ERROR_TRUNCATED,
                              load->source->size,
                              N_ ("gmon.out ends in its header"));
  read_records (
      &reader,
      read_records (&reader, 8, FALSE) >= read_records (&reader, 4, FALSE) ? 8
                                                                           : 4,
      TRUE);
  if (!check (&reader, error))
    return FALSE;
  find_program (&reader, load->options->binaries);
  reader.graph = flam_gprof_graph_new (load);
  add_all (&reader);
  return flam_gprof_graph_finish (reader.graph, error);
}

const FlamImporter flam_import_gmon = {
  .id = "gmon",
  .label = "gprof's gmon.out",
  .written_by = "programs compiled with gcc -pg",
  .suffixes = FLAM_LIST ("gmon.out", ".gmon"),
  .mime = { .type = "application/x-gmon",
            .name = "gprof capture",
            .globs = FLAM_LIST ("gmon.out") },
  .signs = FLAM_SIGNS (
      { FLAM_MAGIC ("gmon\1\0\0\0"), .least = HEADER, .score = 100 }),
  .load = load,
  .base_lines = TRUE,
};
