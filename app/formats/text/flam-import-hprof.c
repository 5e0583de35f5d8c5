/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The text of Java's hprof agent (JDK 8 and before): stacks with numbers, and
 * tables that refer to these.
 *
 *    JAVA PROFILE 1.0.1, created Fri Oct 22 12:12:14 2004
 *    THREAD START (obj=5000, id = 200001, name="main", group="main")
 *    TRACE 300027: (thread=200001)
 *            java.util.zip.ZipFile.getEntry(ZipFile.java:25)
 *            java.util.jar.JarFile.getEntry(JarFile.java:Unknown line)
 *    CPU SAMPLES BEGIN (total = 126) Fri Oct 22 12:12:14 2004
 *    rank   self  accum   count trace method
 *       1 53.17% 53.17%      67 300027 java.util.zip.ZipFile.getEntry
 *    CPU SAMPLES END
 *
 * CPU TIME (ms) has the same columns, of self times of methods. SITES has live
 * bytes and objects, then allocated bytes and objects, the trace and the class.
 * Source of facts: the comments in the agent's output, JDK 8's
 * demo/jvmti/hprof. */

#include "flam-formats.h"

#include "flam-stack-text.h"

typedef enum
{
  SAMPLES,
  TIME,
  LIVE,
  ALLOCATED,
  N_MEASURES,
  NOWHERE
} Measure;

static const FlamMeasureRow measures[N_MEASURES] = {
  [SAMPLES] = { "samples", N_ ("Samples"), FLAM_OF_COUNT },
  [TIME] = { "cpu-time", N_ ("CPU time"), FLAM_OF_TIME },
  [LIVE] = { "live", N_ ("Live objects"), FLAM_OF_BYTES },
  [ALLOCATED] = { "allocated", N_ ("Allocated"), FLAM_OF_BYTES },
};

typedef struct
{
  FlamStackId stack;
  FlamThreadId thread;
} Trace;

typedef struct
{
  FlamStackText text;  /* for its frames; only the builder is used */
  GHashTable *traces;  /* number -> Trace */
  GHashTable *threads; /* id -> thread + 1 */
  GArray *stack;       /* FlamId: the open trace's frames, leaf first */
  Trace *open;         /* NULL: none */
  FlamThreadId thread; /* of traces without a thread */
  Measure where;       /* the table that is being read */
  gboolean used[N_MEASURES];
  guint64 unknown; /* rows of missing traces */
} Reader;

/* --- traces -------------------------------------------------------------- */

static void
close_trace (Reader *reader)
{
  if (reader->open != NULL)
    reader->open->stack = flam_load_stack (reader->text.builder, reader->stack);
  g_array_set_size (reader->stack, 0);
  reader->open = NULL;
}

static FlamThreadId
find_thread (Reader *reader, gint64 id)
{
  gpointer found = g_hash_table_lookup (reader->threads, &id);

  return found != NULL ? GPOINTER_TO_UINT (found) - 1 : reader->thread;
}

/* "TRACE 300027: (thread=200001)" */
static gboolean
open_trace (Reader *reader, FlamSlice line)
{
  gint64 number = flam_slice_number_after (line, "TRACE ");
  gint64 thread = flam_slice_number_after (line, "(thread=");

  if (number < 0)
    return FALSE;
  reader->open = g_new (Trace, 1);
  *reader->open = (Trace){ FLAM_NONE, find_thread (reader, thread) };
  g_hash_table_insert (
      reader->traces, g_memdup2 (&number, sizeof number), reader->open);
  return TRUE;
}

/* "java.util.zip.ZipFile.getEntry(ZipFile.java:25)", "<empty>" */
static void
add_frame (Reader *reader, FlamSlice part)
{
  gsize open = flam_slice_find (part, "(");
  FlamTextFrame frame = { .name = { part.text, open },
                          .module = { "", 0 },
                          .file = { "", 0 },
                          .kind = FLAM_KIND_JIT };
  FlamSlice place = flam_slice_from (part, MIN (open + 1, part.length));
  FlamId id;

  if (flam_slice_is (part, "<empty>"))
    return;
  place.length = flam_slice_find (place, ")");
  if (flam_slice_ends (place, ":Native method"))
    frame.kind = FLAM_KIND_NATIVE;
  flam_slice_location (place, &frame.file, &frame.line);
  frame.file.length = flam_slice_find (frame.file, ":");
  if (flam_slice_begins (frame.file, "Unknown"))
    frame.file.length = 0;
  id = flam_text_frame_make (reader->text.builder, &frame);
  g_array_append_val (reader->stack, id);
}

/* "THREAD START (obj=5000, id = 200001, name="main", group="main")" */
static gboolean
add_thread (Reader *reader, FlamSlice line)
{
  FlamBuilder *builder = reader->text.builder;
  gint64 id = flam_slice_number_after (line, "id = ");
  gsize at = flam_slice_find (line, "name=\"");
  FlamSlice name = flam_slice_from (line, MIN (at + 6, line.length));
  g_autofree char *copy = NULL;
  FlamThreadId thread;

  if (id < 0 || at == line.length)
    return FALSE;
  name.length = flam_slice_find (name, "\"");
  copy = g_strndup (name.text, name.length);
  thread = flam_builder_thread (builder,
                                flam_builder_process (builder, -1, 0),
                                -1,
                                g_hash_table_size (reader->threads) + 1);
  flam_builder_set_thread_name (builder, thread, copy);
  g_hash_table_insert (reader->threads,
                       g_memdup2 (&id, sizeof id),
                       GUINT_TO_POINTER (thread + 1));
  return TRUE;
}

/* --- tables -------------------------------------------------------------- */

static void
add_sample (Reader *reader, const Trace *trace, Measure measure, gint64 weight)
{
  FlamSample sample = { .thread = reader->thread,
                        .stack = FLAM_NONE,
                        .event = measure };

  if (trace != NULL)
    {
      sample.thread = trace->thread;
      sample.stack = trace->stack;
    }
  reader->used[measure] = TRUE;
  flam_builder_add_sample (reader->text.builder, &sample, &weight);
}

static gboolean
take_number (FlamSlice *rest, gint64 *value)
{
  FlamSlice part = flam_slice_strip (*rest);
  gsize space = flam_slice_find (part, " ");

  *rest = flam_slice_from (part, space);
  part.length = space;
  return flam_slice_number (part, value);
}

/* "1 53.17% 53.17%  67 300027 a.b.C.d"; of SITES, "1 26.70% 26.70%  1234 1
 * 1234 1 300027 byte[]". */
static gboolean
add_row (Reader *reader, FlamSlice part)
{
  gsize percent = flam_slice_find_last (part, "% ");
  FlamSlice rest = flam_slice_from (part, MIN (percent + 2, part.length));
  gboolean sites = reader->where == LIVE;
  gint64 value, number, allocated = 0, ignored;
  const Trace *trace;

  if (percent == part.length || !take_number (&rest, &value) ||
      (sites &&
       (!take_number (&rest, &ignored) || !take_number (&rest, &allocated) ||
        !take_number (&rest, &ignored))) ||
      !take_number (&rest, &number))
    return FALSE;
  trace = g_hash_table_lookup (reader->traces, &number);
  reader->unknown += trace == NULL;
  if (reader->where == TIME && __builtin_mul_overflow (value, 1000000, &value))
    return FALSE;
  add_sample (reader, trace, reader->where, value);
  if (sites)
    add_sample (reader, trace, ALLOCATED, allocated);
  return TRUE;
}

static gboolean
read_line (gpointer data, FlamSlice line)
{
  Reader *reader = data;
  FlamSlice part = flam_slice_strip (line);

  if (reader->open != NULL && line.length > 0 && *line.text == '\t')
    {
      add_frame (reader, part);
      return TRUE;
    }
  close_trace (reader);
  if (flam_slice_begins (line, "TRACE ") &&
      flam_text_is_digit (line.text[strlen ("TRACE ")]))
    return open_trace (reader, line);
  if (flam_slice_begins (line, "THREAD START "))
    return add_thread (reader, line);
  if (flam_slice_begins (line, "CPU SAMPLES BEGIN"))
    reader->where = SAMPLES;
  else if (flam_slice_begins (line, "CPU TIME (ms) BEGIN"))
    reader->where = TIME;
  else if (flam_slice_begins (line, "SITES BEGIN"))
    reader->where = LIVE;
  else if (flam_slice_ends (part, " END"))
    reader->where = NOWHERE;
  else if (reader->where != NOWHERE && part.length > 0 &&
           flam_text_is_digit (*part.text))
    return add_row (reader, part);
  return TRUE;
}

/* --- the importer -------------------------------------------------------- */

static gboolean
finish (Reader *reader,
        const FlamText *lines,
        const FlamSource *source,
        GError **error)
{
  gboolean any = FALSE;

  for (guint i = 0; i < N_MEASURES; i++)
    if (reader->used[i])
      {
        flam_load_measure (reader->text.builder, &measures[i], 0, i);
        any = TRUE;
      }
  if (!any)
    return flam_source_invalid (
        source,
        error,
        N_ ("this hprof text has no tables of samples; record with java "
            "-agentlib:hprof=cpu=samples and let the program end"));
  flam_builder_warn_count (
      reader->text.builder,
      reader->unknown,
      "%" PRIu64 " row refers to a stack that is not in the file",
      "%" PRIu64 " rows refer to stacks that are not in the file");
  flam_text_warn_bad (lines, reader->text.builder, "hprof's");
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader reader = { .text.builder = load->builder,
                    .where = NOWHERE,
                    .thread = flam_builder_lone_thread (load->builder),
                    .stack = flam_arena_array (load, FlamId),
                    .traces = flam_arena_table (load, FLAM_KEY_NUMBER, g_free),
                    .threads = flam_arena_table (load, FLAM_KEY_NUMBER, NULL) };
  FlamText lines;

  flam_builder_add_column (load->builder);
  return flam_text_read (&lines, load, read_line, &reader, NULL, error) &&
         finish (&reader, &lines, load->source, error);
}

const FlamImporter flam_import_hprof = {
  .id = "hprof",
  .label = N_ ("Java hprof text"),
  .written_by = "java -agentlib:hprof, up to JDK 8",
  .suffixes = FLAM_LIST ("java.hprof.txt", ".hprof.txt"),
  .mime_types = flam_stack_text_mime_types,
  .signs = FLAM_SIGNS ({ FLAM_MAGIC ("JAVA PROFILE 1.0"),
                         .head = 64,
                         .words = FLAM_LIST (", created "),
                         .score = 95 }),
  .load = load,
  .streams = TRUE,
};
