/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-gprof-graph.h"
#include "flam-text.h"

#include <string.h>

/* The output of gprof: a flat profile and a call graph, of which one suffices.
 *
 *      %   cumulative   self              self     total
 *     time   seconds   seconds    calls  ms/call  ms/call  name
 *     47.13      0.16     0.16       60     2.67     2.67  spin_heavy
 *
 *    index % time    self  children    called     name
 *                    0.00    0.19      60/60          main [1]
 *    [2]     55.9    0.00    0.19      60         compute [2]
 *                    0.16    0.00      60/60          spin_heavy [3]
 *    -----------------------------------------------
 *
 * A function of the graph is between its callers and its callees; "60/120" is
 * so many of so many calls, "60+1800" and "1800" alone are recursive calls or
 * calls in its cycle of functions, which has a separate paragraph, "<cycle 1 as
 * a whole>". BSD's, macOS' and AIX' gprof have "descendents" for the children,
 * and empty lines in the graph. Source of facts: binutils, gprof/cg_print.c,
 * hist.c, and what gprof of those systems printed.
 */

#define MAX_INDEX (1 << 24)
#define MOST_TIME G_GINT64_CONSTANT (1000000000000000000) /* ns */

typedef struct
{
  FlamBuilder *builder;
  FlamGprofGraph *graph;
  GHashTable *by_name; /* name -> function + 1 */
  enum
  {
    OUTSIDE,
    FLAT,
    CALLS,
  } where;
  guint32 primary;    /* of the paragraph, or FLAM_NONE */
  gboolean after;     /* its line was read */
  gboolean bsd;       /* empty lines do not end the graph */
  gboolean has_graph; /* the file has a call graph: its times are used */
  guint64 functions;
} Reader;

/* A line of either table. */
typedef struct
{
  double numbers[4];
  guint n;
  gint64 calls;
  gboolean has_calls;
  const char *name;
  gsize length;
} Row;

static const char flat_head[] = " time   seconds   seconds";
/* The headings of graphs: of GNU's gprof, of older ones, of BSD's. */
#define GNU_HEAD "index % time    self  children    called"
#define OLD_HEAD "index  % time    self  children called"
#define BSD_HEAD "index  %time    self descendents"

/* --- lines --------------------------------------------------------------- */

static void
skip_spaces (const char **p, const char *end)
{
  while (*p < end && flam_text_is_space (**p))
    ++*p;
}

/* "12.34" */
static gboolean
read_decimal (const char **p, const char *end, double *value)
{
  const char *at = *p;
  gint64 whole, part;
  double scale = 1;

  if (!flam_text_number (&at, end, &whole) || at == end || *at != '.')
    return FALSE;
  at++;
  if (!flam_text_number (&at, end, &part) ||
      (at < end && !flam_text_is_space (*at)))
    return FALSE;
  for (const char *digit = at; digit[-1] != '.'; digit--)
    scale *= 10;
  *value = whole + part / scale;
  *p = at;
  return TRUE;
}

/* The name without " [12]" and " <cycle 1>". */
static void
cut_name (Row *row, const char *text, const char *end)
{
  const char *p = end;

  if (p > text && p[-1] == ']')
    {
      for (p--; p > text && flam_text_is_digit (p[-1]);)
        p--;
      if (p > text + 1 && p[-1] == '[' && p[-2] == ' ')
        end = p - 2;
    }
  if (end > text && end[-1] == '>')
    {
      p = memrchr (text, '<', end - text);
      if (p != NULL && p > text && end - p > 7 && memcmp (p, "<cycle ", 7) == 0)
        end = p - 1;
    }
  row->name = text;
  row->length = end - text;
}

/* Decimals, then optionally a number of calls, then a name. */
static gboolean
read_row (Row *row, const char *p, const char *end)
{
  *row = (Row){ 0 };
  for (skip_spaces (&p, end);
       row->n < 4 && read_decimal (&p, end, &row->numbers[row->n]);
       skip_spaces (&p, end))
    row->n++;
  if (p < end && flam_text_is_digit (*p))
    {
      if (!flam_text_number (&p, end, &row->calls))
        return FALSE;
      row->has_calls = TRUE;
      if (p < end && (*p == '/' || *p == '+'))
        for (p++; p < end && flam_text_is_digit (*p);)
          p++;
      skip_spaces (&p, end);
    }
  cut_name (row, p, end);
  return row->length > 0;
}

static guint32
find_function (Reader *reader, const Row *row)
{
  g_autofree char *name = g_strndup (row->name, row->length);
  guint32 function =
      GPOINTER_TO_UINT (g_hash_table_lookup (reader->by_name, name)) - 1;

  if (function != FLAM_NONE)
    return function;
  function = flam_gprof_graph_add_function (
      reader->graph,
      flam_load_frame (reader->builder, name, -1, FLAM_KIND_NATIVE));
  g_hash_table_insert (reader->by_name,
                       g_steal_pointer (&name),
                       GUINT_TO_POINTER (function + 1));
  return function;
}

static void
add_time (Reader *reader, guint32 function, const Row *row, double seconds)
{
  FlamFrameId frame = flam_load_frame (
      reader->builder, row->name, row->length, FLAM_KIND_NATIVE);

  if (seconds > 0)
    flam_gprof_graph_add_time (
        reader->graph,
        function,
        frame,
        flam_builder_limit (reader->builder,
                            (__int128)(seconds * 1e9 + 0.5),
                            0,
                            MOST_TIME,
                            row->name));
  reader->functions++;
}

/* percent, cumulative, self; calls; ms per call, self and total: these are
 * decimals, too, so the calls come before them. FALSE: not a row. */
static gboolean
read_flat (Reader *reader, const char *line, const char *end)
{
  Row row, rest;
  guint32 function;

  if (!read_row (&row, line, end) || row.n < 3)
    return FALSE;
  if (row.has_calls && read_row (&rest, row.name, end) && rest.n == 2)
    {
      row.name = rest.name;
      row.length = rest.length;
    }
  if (reader->has_graph)
    return TRUE;
  function = find_function (reader, &row);
  add_time (reader, function, &row, row.numbers[2]);
  if (row.has_calls && row.calls > 0)
    flam_gprof_graph_add_calls (reader->graph, FLAM_NONE, function, row.calls);
  return TRUE;
}

/* "[2]  55.9  0.00  0.19  60  compute [2]" */
static gboolean
read_primary (Reader *reader, const char *line, const char *end)
{
  const char *p = memchr (line, ']', end - line);
  Row row;

  reader->after = TRUE;
  reader->primary = FLAM_NONE;
  if (p == NULL || !read_row (&row, p + 1, end) || row.n < 3)
    return FALSE;
  if (*row.name == '<')
    return TRUE;
  reader->primary = find_function (reader, &row);
  add_time (reader, reader->primary, &row, row.numbers[1]);
  return TRUE;
}

/* Callers, which are read as callees of their own paragraphs, and callees,
 * below the function. */
static gboolean
read_other (Reader *reader, const char *line, const char *end)
{
  Row row;

  if (!reader->after || reader->primary == FLAM_NONE || line == end)
    return TRUE;
  if (!read_row (&row, line, end))
    return FALSE;
  if (!row.has_calls || row.calls == 0 || *row.name == '<')
    return TRUE;
  flam_gprof_graph_add_calls (
      reader->graph, reader->primary, find_function (reader, &row), row.calls);
  return TRUE;
}

static gboolean
has (const char *line, gsize length, const char *text)
{
  return memmem (line, length, text, strlen (text)) != NULL;
}

/* It contains the head of a graph. */
static gboolean
has_graph (const char *text, gsize length, gboolean *bsd)
{
  *bsd = has (text, length, BSD_HEAD);
  return *bsd || has (text, length, GNU_HEAD) || has (text, length, OLD_HEAD);
}

/* An empty line, or, where such lines are between the paragraphs, the head of
 * the next part. */
static gboolean
ends_graph (const Reader *reader, const char *line, const char *end)
{
  if (!reader->bsd)
    return *line == '\f' || end == line;
  return *line == '\f' || *line == '#' ||
         has (line, end - line, "granularity: ");
}

static gboolean
read_line (gpointer data, FlamSlice slice)
{
  Reader *reader = data;
  const char *line = slice.text;
  gsize length = slice.length;
  const char *end = line + length;
  gboolean bsd;

  while (end > line && flam_text_is_space (end[-1]))
    end--;
  if (has (line, length, flat_head))
    reader->where = FLAT;
  else if (has_graph (line, length, &bsd))
    reader->where = CALLS;
  else if (reader->where == FLAT && end == line)
    reader->where = OUTSIDE;
  else if (reader->where == FLAT)
    return read_flat (reader, line, end);
  else if (reader->where == CALLS && *line == '-')
    {
      reader->primary = FLAM_NONE;
      reader->after = FALSE;
    }
  else if (reader->where == CALLS && ends_graph (reader, line, end))
    reader->where = OUTSIDE;
  else if (reader->where == CALLS && *line == '[')
    return read_primary (reader, line, end);
  else if (reader->where == CALLS)
    return read_other (reader, line, end);
  return TRUE;
}

/* --- the importer -------------------------------------------------------- */

static gboolean
load (FlamLoad *load, GError **error)
{
  const FlamSource *source = load->source;
  FlamGprofGraph *graph = flam_gprof_graph_new (load);
  Reader reader = { .builder = load->builder,
                    .graph = graph,
                    .by_name = flam_arena_table (load, FLAM_KEY_TEXT, NULL),
                    .primary = FLAM_NONE };
  FlamText text;

  reader.has_graph =
      has_graph ((const char *)source->data, source->size, &reader.bsd);

  if (!flam_text_read (&text, load, read_line, &reader, NULL, error))
    return FALSE;
  if (reader.functions == 0)
    return flam_source_invalid (
        source, error, N_ ("gprof's tables have no functions"));
  flam_text_warn_bad (&text, load->builder, N_ ("output of gprof"));
  return flam_gprof_graph_finish (graph, error);
}

const FlamImporter flam_import_gprof = {
  .id = "gprof",
  .label = N_ ("gprof text"),
  .written_by = "gprof",
  .suffixes = FLAM_LIST (".gprof", ".gprof.txt"),
  .mime_types = FLAM_LIST ("text/plain"),
  .signs = FLAM_SIGNS (FLAM_HEAD (90, 0, 16384, flat_head),
                       FLAM_HEAD (90, 0, 16384, GNU_HEAD),
                       FLAM_HEAD (90, 0, 16384, OLD_HEAD),
                       FLAM_HEAD (90, 0, 16384, BSD_HEAD)),
  .load = load,
};
