/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Call trees as tables: a head with the names of the columns, then a row per
 * function, below its caller.
 *
 *    VTune, top-down      Function Stack,CPU Time:Self,Module
 *                         main,0.010,nest
 *                           parse,1.250,nest
 *
 *    Visual Studio        Level,Function Name,Inclusive Samples,Exclusive …
 *                         1,main,"1,204",0
 *                         2,parse,"1,200","1,200"
 *
 *    the same, of         Level,Function Name,Number of Calls,Elapsed Inclusive
 *    instrumented code    Time %,Elapsed Exclusive Time %,Avg Elapsed Inclusive
 *                         Time,Avg Elapsed Exclusive Time,Module Name
 *                         1,main,471,91.25,18.39,401.92,81.02,nest.exe
 *
 * There the self time is known in hundredths of a percent of the whole, and the
 * whole from a row's calls, average (in ms) and share.
 *
 * VTune's times are in seconds; its memory consumption is in bytes. The
 * delimiter is a comma, a tab or a semicolon. */

#include "flam-stack-text.h"

#include "flam-amount.h"

#define MAX_CELLS 256

/* The next cell, unparsed; a delimiter in quotes is text. */
static gboolean
next_cell (FlamSlice *rest, char delimiter, FlamSlice *cell)
{
  gboolean quoted = FALSE;
  gsize n = 0;

  if (rest->text == NULL)
    return FALSE;
  for (; n < rest->length && (quoted || rest->text[n] != delimiter); n++)
    quoted ^= rest->text[n] == '"';
  *cell = (FlamSlice){ rest->text, n };
  if (n == rest->length)
    rest->text = NULL;
  else
    *rest = flam_slice_from (*rest, n + 1);
  return TRUE;
}

/* Removes quotes and spaces around it; returns the number of spaces before
 * it. */
static FlamSlice
cell_text (FlamSlice cell, gsize *depth)
{
  *depth = 0;
  for (; cell.length > 0 && (*cell.text == ' ' || *cell.text == '"');
       cell = flam_slice_from (cell, 1))
    *depth += *cell.text == ' ';
  while (cell.length > 0 && (cell.text[cell.length - 1] == ' ' ||
                             cell.text[cell.length - 1] == '"'))
    cell.length--;
  return cell;
}

static FlamSlice
find_cell (FlamSlice line, char delimiter, guint column)
{
  FlamSlice cell = { "", 0 };
  gsize depth;

  for (guint i = 0; i <= column; i++)
    if (!next_cell (&line, delimiter, &cell))
      return (FlamSlice){ "", 0 };
  return cell_text (cell, &depth);
}

/* The column whose head begins with this; -1: none. */
static int
find_column (FlamSlice head, char delimiter, const char *name)
{
  FlamSlice cell;
  gsize depth;

  for (int i = 0; i < MAX_CELLS && next_cell (&head, delimiter, &cell); i++)
    if (flam_slice_begins (cell_text (cell, &depth), name))
      return i;
  return -1;
}

static char
delimiter_of (FlamSlice head, const char *first)
{
  gsize at = flam_slice_find (head, first) + strlen (first);

  while (at < head.length && strchr (",;\t", head.text[at]) == NULL)
    at++;
  return at < head.length ? head.text[at] : ',';
}

/* A name and its module; a missing weight is 0. */
static gboolean
read_row (FlamStackText *text,
          gsize depth,
          FlamSlice name,
          FlamSlice module,
          FlamSlice weight,
          gint64 scale)
{
  FlamTextFrame frame = { .name = name, .module = module, .file = { "", 0 } };
  const char *p = weight.text;
  gint64 value = 0;

  if (name.length == 0 ||
      (weight.length > 0 &&
       !flam_amount_number (&p, weight.text + weight.length, scale, &value)))
    return FALSE;
  if (flam_slice_is (name, "[Unknown]"))
    frame.name.length = 0;
  flam_stack_text_add_row (text,
                           MIN (depth, (gsize)G_MAXINT32),
                           flam_text_frame_make (text->builder, &frame),
                           value);
  return TRUE;
}

/* --- VTune --------------------------------------------------------------- */

static const char stack_head[] = "Function Stack";
static const char time_head[] = "CPU Time:Self";
static const char bytes_head[] = "Allocation Size:Self";

static gboolean
read_vtune (FlamStackText *text, FlamSlice line)
{
  char delimiter;
  FlamSlice rest = line;
  FlamSlice cell, name;
  gsize depth;
  int column;
  gboolean bytes;

  if (line.length == 0)
    return TRUE;
  if (text->last.length == 0)
    {
      if (flam_slice_find (line, stack_head) < line.length)
        text->last = line;
      if (find_column (line, delimiter_of (line, stack_head), bytes_head) >= 0)
        flam_stack_text_are_bytes (text);
      else
        flam_stack_text_are_times (text);
      return TRUE;
    }
  delimiter = delimiter_of (text->last, stack_head);
  bytes = find_column (text->last, delimiter, bytes_head) >= 0;
  column = find_column (text->last, delimiter, bytes ? bytes_head : time_head);
  if (find_column (text->last, delimiter, stack_head) != 0 || column < 0 ||
      !next_cell (&rest, delimiter, &cell))
    return FALSE;
  name = cell_text (cell, &depth); /* one space per level */
  return read_row (text,
                   depth,
                   name,
                   find_cell (line,
                              delimiter,
                              find_column (text->last, delimiter, "Module")),
                   find_cell (line, delimiter, column),
                   bytes ? 1 : 1000000000);
}

static guint
probe_vtune (const FlamSource *source)
{
  return flam_source_head_has (source, 4096, stack_head) &&
                 (flam_source_head_has (source, 4096, time_head) ||
                  flam_source_head_has (source, 4096, bytes_head))
             ? 90
             : 0;
}

/* --- Visual Studio ------------------------------------------------------- */

static const char self_share_head[] = "Elapsed Exclusive Time %";

/* Of instrumented code: the row that took longest. */
typedef struct
{
  double ns;
  gint64 share; /* 1/100 % */
} Longest;

static void
find_longest (FlamStackText *text, FlamSlice line, char delimiter)
{
  static const struct
  {
    const char *head;
    gint64 scale;
  } cells[] = {
    { "Number of Calls", 1 },
    { "Avg Elapsed Inclusive Time", 1000000 },
    { "Elapsed Inclusive Time %", 100 },
  };
  Longest *longest = text->kept;
  gint64 value[G_N_ELEMENTS (cells)] = { 0 };

  if (longest == NULL)
    longest = text->kept = g_new0 (Longest, 1);
  for (guint i = 0; i < G_N_ELEMENTS (cells); i++)
    {
      int column = find_column (text->last, delimiter, cells[i].head);
      FlamSlice cell = column >= 0 ? find_cell (line, delimiter, column)
                                   : (FlamSlice){ "", 0 };
      const char *p = cell.text;
      flam_amount_number (
          &p, cell.text + cell.length, cells[i].scale, &value[i]);
    }
  if (value[2] > 0 && (double)value[0] * (double)value[1] > longest->ns)
    *longest = (Longest){ (double)value[0] * (double)value[1], value[2] };
}

/* Makes times of the shares. */
static void
finish_vsprof (FlamStackText *text)
{
  const Longest *longest = text->kept;

  for (guint i = 0; longest != NULL && i < text->outline.rows->len; i++)
    {
      FlamOutlineRow *row = flam_outline_row (&text->outline, i);
      double ns = longest->share > 0
                      ? (double)row->weight * longest->ns / longest->share
                      : 0;
      row->weight = flam_builder_limit (
          text->builder, (__int128)MIN (ns, 1e30), 0, G_MAXINT64 / 2, NULL);
    }
  g_clear_pointer (&text->kept, g_free);
}

static gboolean
read_vsprof (FlamStackText *text, FlamSlice line)
{
  static const char *const heads[] = { "Exclusive Samples",
                                       self_share_head,
                                       "Inclusive Samples",
                                       "Number of Samples" };
  char delimiter;
  gboolean shares = FALSE;
  FlamSlice level;
  gint64 depth;
  int column = -1;

  if (line.length == 0)
    return TRUE;
  if (text->last.length == 0)
    {
      if (flam_slice_find (line, "Level") < line.length)
        text->last = line;
      if (flam_slice_find (line, self_share_head) < line.length)
        flam_stack_text_are_times (text);
      return TRUE;
    }
  delimiter = delimiter_of (text->last, "Level");
  for (guint i = 0; i < G_N_ELEMENTS (heads) && column < 0; i++)
    {
      column = find_column (text->last, delimiter, heads[i]);
      text->outline.own = i <= 1;
      shares = column >= 0 && heads[i] == self_share_head;
    }
  if (shares)
    find_longest (text, line, delimiter);
  level =
      find_cell (line, delimiter, find_column (text->last, delimiter, "Level"));
  return column >= 0 && flam_slice_number (level, &depth) &&
         read_row (
             text,
             depth,
             find_cell (line,
                        delimiter,
                        find_column (text->last, delimiter, "Function Name")),
             find_cell (line,
                        delimiter,
                        find_column (text->last, delimiter, "Module Name")),
             find_cell (line, delimiter, column),
             shares ? 100 : 1);
}

static guint
probe_vsprof (const FlamSource *source)
{
  FlamText head = flam_text_head (source);
  FlamSlice line;

  if (!flam_text_next (&head, &line.text, &line.length))
    return 0;
  return flam_slice_find (line, "Level") <= 4 &&
                 flam_slice_find (line, "Function Name") < line.length &&
                 (flam_slice_find (line, "Samples") < line.length ||
                  flam_slice_find (line, self_share_head) < line.length)
             ? 85
             : 0;
}

/* --- the table ----------------------------------------------------------- */

static const FlamDialect dialect_vtune = { N_ ("table of VTune"),
                                           read_vtune,
                                           .own = TRUE };
static const FlamDialect dialect_vsprof = {
  N_ ("table of Visual Studio"), read_vsprof, NULL, finish_vsprof, .own = TRUE
};

FLAM_STACK_TEXT_IMPORTER (vtune,
                          "vtune",
                          N_ ("VTune, top-down CSV"),
                          "VTune, top-down report as CSV",
                          ".csv")
FLAM_STACK_TEXT_IMPORTER (vsprof,
                          "vsprof",
                          N_ ("Visual Studio call tree CSV"),
                          "Visual Studio's profiler, as CSV",
                          ".csv")
