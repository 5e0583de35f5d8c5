/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-json.h"

#include <string.h>

/* Scalene's profile: the costs of lines, without stacks.
 *
 *    {"elapsed_time_sec":s,"program":"app.py","files":{"app.py":{
 *       "functions":[{"line":"work","lineno":2,…},…],
 *       "lines":[{"line":"    s += i\n","lineno":5,
 *          "n_cpu_percent_python":p,"n_cpu_percent_c":p,"n_sys_percent":p,
 *          "n_malloc_mb":mb,"n_copy_mb_s":mb,…},…]},…}}
 *
 * Percentages are of the elapsed time, spent in Python, in native code that the
 * line called, and waiting. The file does not contain the function of a line:
 * it is the last one in the source file that begins before it, if the line is
 * indented. An MB is 2^20 bytes. Source of facts: Scalene 1.5,
 * scalene_json.py. */

#define NS 1000000000
#define PERCENT 1000000
#define MB (1024 * 1024)

enum
{
  TIME,
  ALLOCATED,
  N_COLUMNS
};

typedef struct
{
  guint32 line;
  FlamStringId name;
} Function;

typedef struct
{
  FlamStringId file;
  guint32 line;
  gboolean indented;
  gint64 python, native, waiting; /* millionths of percent */
  gint64 allocated;
  guint first, n; /* of the functions in its file */
} Line;

typedef struct
{
  FlamBuilder *builder;
  FlamJson *json;
  GArray *lines;     /* Line */
  GArray *functions; /* Function */
  gint64 elapsed;    /* ns */
  gboolean found, memory;
} Reader;

/* --- reading ------------------------------------------------------------- */

static gint64
get_scaled (const Reader *reader, guint32 scale)
{
  return flam_json_get_limited (
      reader->json, reader->builder, scale, 0, G_MAXINT64 / 16);
}

static void
read_functions (Reader *reader)
{
  FlamJson *json = reader->json;

  flam_json_each (json)
    {
      Function function = { 0 };

      flam_json_each (json)
        if (flam_json_key_is (json, "line"))
          function.name = flam_json_intern (json, reader->builder);
        else if (flam_json_key_is (json, "lineno"))
          function.line = CLAMP (flam_json_get_int (json), 0, G_MAXINT32);
      g_array_append_val (reader->functions, function);
    }
}

static void
read_line (Reader *reader, FlamStringId file)
{
  FlamJson *json = reader->json;
  Line line = { .file = file };

  flam_json_each (json)
    if (flam_json_key_is (json, "lineno"))
      line.line = CLAMP (flam_json_get_int (json), 0, G_MAXINT32);
    else if (flam_json_key_is (json, "line"))
      {
        const char *text = flam_json_get_string (json, NULL);
        line.indented = *text == ' ' || *text == '\t';
      }
    else if (flam_json_key_is (json, "n_cpu_percent_python"))
      line.python = get_scaled (reader, PERCENT);
    else if (flam_json_key_is (json, "n_cpu_percent_c"))
      line.native = get_scaled (reader, PERCENT);
    else if (flam_json_key_is (json, "n_sys_percent"))
      line.waiting = get_scaled (reader, PERCENT);
    else if (flam_json_key_is (json, "n_malloc_mb"))
      line.allocated = get_scaled (reader, MB);
  reader->memory |= line.allocated > 0;
  g_array_append_val (reader->lines, line);
}

static int
compare_functions (gconstpointer a, gconstpointer b)
{
  const Function *x = a;
  const Function *y = b;

  return (x->line > y->line) - (x->line < y->line);
}

/* Functions and lines may have either order. */
static void
read_file (Reader *reader, FlamStringId file)
{
  FlamJson *json = reader->json;
  guint first_line = reader->lines->len;
  guint first = reader->functions->len;

  flam_json_each (json)
    if (flam_json_key_is (json, "functions"))
      read_functions (reader);
    else if (flam_json_key_is (json, "lines"))
      flam_json_each (json)
        read_line (reader, file);
  if (reader->functions->len > first)
    qsort (&g_array_index (reader->functions, Function, first),
           reader->functions->len - first,
           sizeof (Function),
           compare_functions);
  for (guint i = first_line; i < reader->lines->len; i++)
    {
      Line *line = &g_array_index (reader->lines, Line, i);
      line->first = first;
      line->n = reader->functions->len - first;
    }
}

static void
read_document (Reader *reader)
{
  FlamJson *json = reader->json;

  flam_json_each (json)
    if (flam_json_key_is (json, "elapsed_time_sec"))
      reader->elapsed = get_scaled (reader, NS);
    else if (flam_json_key_is (json, "program") &&
             json->token == FLAM_JSON_STRING)
      flam_builder_set_command (reader->builder,
                                flam_json_get_string (json, NULL));
    else if (flam_json_key_is (json, "files"))
      {
        reader->found = TRUE;
        flam_json_each (json)
          {
            gsize length;
            const char *name = flam_json_get_key (json, &length);
            read_file (reader,
                       flam_builder_string (reader->builder, name, length));
          }
      }
}

/* --- lines -> samples ---------------------------------------------------- */

/* The last function that begins at the line or before it. */
static FlamFunctionId
line_function (Reader *reader, const Line *line)
{
  FlamFunction function = { .file = line->file,
                            .module = FLAM_NONE,
                            .kind = FLAM_KIND_INTERPRETED };

  guint low = line->first, high = line->first + line->n;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      if (g_array_index (reader->functions, Function, middle).line <=
          line->line)
        low = middle + 1;
      else
        high = middle;
    }
  if (line->indented && low > line->first)
    {
      const Function *f = &g_array_index (reader->functions, Function, low - 1);
      function.line = f->line;
      function.name = f->name;
    }
  if (function.name == 0)
    function.name = flam_builder_string (reader->builder, "<module>", -1);
  return flam_builder_function (reader->builder, &function);
}

static void
add_sample (Reader *reader,
            FlamThreadId thread,
            FlamStackId stack,
            FlamState state,
            gint64 percent,
            gint64 allocated)
{
  FlamSample sample = { .thread = thread, .stack = stack, .state = state };
  gint64 weights[N_COLUMNS] = {
    [TIME] = (gint64)(MIN (percent / (100.0 * PERCENT), 1) * reader->elapsed),
    [ALLOCATED] = allocated,
  };

  if (weights[TIME] > 0 || weights[ALLOCATED] > 0)
    flam_builder_add_sample (reader->builder, &sample, weights);
}

static void
add_line (Reader *reader, const Line *line, FlamThreadId thread, FlamId native)
{
  FlamStackId stack = flam_builder_stack (
      reader->builder,
      FLAM_NONE,
      flam_builder_frame (
          reader->builder, line_function (reader, line), 0, line->line, 0));

  add_sample (
      reader, thread, stack, FLAM_STATE_RUNNING, line->python, line->allocated);
  add_sample (reader, thread, stack, FLAM_STATE_BLOCKED, line->waiting, 0);
  if (line->native > 0)
    add_sample (reader,
                thread,
                flam_builder_stack (reader->builder, stack, native),
                FLAM_STATE_RUNNING,
                line->native,
                0);
}

static void
add_measures (Reader *reader)
{
  static const FlamMeasureRow allocated = { "allocated",
                                            N_ ("Allocated"),
                                            FLAM_OF_BYTES };

  for (guint i = 0; i < N_COLUMNS; i++)
    flam_builder_add_column (reader->builder);
  flam_builder_add_standard_measure (
      reader->builder, FLAM_STANDARD_WALL_TIME, TIME, FLAM_NONE);
  if (reader->memory)
    flam_load_measure (reader->builder, &allocated, ALLOCATED, FLAM_NONE);
}

static void
add_lines (Reader *reader)
{
  FlamThreadId thread = flam_builder_lone_thread (reader->builder);
  FlamId native =
      flam_load_frame (reader->builder, "(native code)", -1, FLAM_KIND_NATIVE);

  flam_builder_facts (reader->builder)->duration_ns = reader->elapsed;
  add_measures (reader);
  for (guint i = 0; i < reader->lines->len; i++)
    add_line (reader, &g_array_index (reader->lines, Line, i), thread, native);
}

/* --- the importer -------------------------------------------------------- */

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader reader = { .builder = load->builder,
                    .json = flam_json_load (load, NULL),
                    .lines = flam_arena_array (load, Line),
                    .functions = flam_arena_array (load, Function) };

  read_document (&reader);
  if (!flam_json_end (reader.json, load, reader.lines->len > 0, error))
    return FALSE;
  if (!reader.found)
    return flam_source_invalid (
        load->source, error, N_ ("this Scalene profile has no files"));
  add_lines (&reader);
  return TRUE;
}

const FlamImporter flam_import_scalene = {
  .id = "scalene",
  .label = "Scalene",
  .written_by = "scalene --json",
  .suffixes = FLAM_LIST (".json"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (FLAM_MEMBERS (90, "elapsed_time_sec", "files")),
  .load = load,
};
