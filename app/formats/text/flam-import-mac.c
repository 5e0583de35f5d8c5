/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Call trees of macOS' tools.
 *
 *    sample       2705 Thread_4711: main             how often, then what, a
 *                 + 2705 start  (in dyld) + 1  [0x7fff6c2f]       column deeper
 *                 +   2700 main  (in nest) + 12  [0x1]  nest.c:12   each
 *
 *    Instruments, "Deep Copy": tabs, and spaces before the name
 *                 Weight          Self Weight             Symbol Name
 *                 30.0 ms  100.0% 0 s                      nest (4711)
 *                 20.0 ms   66.6% 20.0 ms                     main
 *              The symbols are the third column in newer ones. Cycles and bytes
 *              ("Bytes Used", "Count") are copied the same way.
 *
 * The lists after sample's call graph count the same samples again. */

#include "flam-stack-text.h"

#include "flam-amount.h"

/* --- sample -------------------------------------------------------------- */

/* "main  (in nest) + 12  [0x10a]  nest.c:12" */
static void
parse_sample (FlamSlice text, FlamTextFrame *frame)
{
  gsize in = flam_slice_find_last (text, "  (in ");
  FlamSlice rest;
  gsize at;

  frame->name = (FlamSlice){ text.text, in };
  if (in == text.length)
    return;
  rest = flam_slice_from (text, in + strlen ("  (in "));
  at = flam_slice_find (rest, ")");
  frame->module = (FlamSlice){ rest.text, at };
  at = flam_slice_find_last (rest, "]  ");
  if (at < rest.length)
    flam_slice_location (
        flam_slice_from (rest, at + 3), &frame->file, &frame->line);
  if (flam_slice_is (frame->name, "???"))
    frame->name.length = 0;
}

/* "Thread_4711   DispatchQueue_1: com.apple.main-thread  (serial)" */
static void
begin_thread (FlamStackText *text, FlamSlice what)
{
  gsize colon = flam_slice_find (what, ": ");
  FlamSlice name = { "", 0 };

  if (colon < what.length)
    name = flam_slice_strip (flam_slice_from (what, colon + 2));
  name.length = flam_slice_find (name, "  (serial)");
  flam_stack_text_thread (
      text, name, -1, flam_slice_number_after (what, "Thread_"));
}

/* The offset after the lines that join the branches; it is a row's depth. */
static gsize
sample_depth (FlamSlice line)
{
  gsize depth = 0;

  while (depth < line.length && strchr (" +!:|", line.text[depth]) != NULL)
    depth++;
  return depth;
}

static gboolean
read_sample (FlamStackText *text, FlamSlice line)
{
  gsize depth = sample_depth (line);
  const char *p = line.text + depth;
  const char *end = line.text + line.length;
  FlamSlice what;
  gint64 count;

  if (flam_slice_begins (line, "Call graph:"))
    text->open = TRUE;
  else if (flam_slice_begins (line, "Total number in stack") ||
           flam_slice_begins (line, "Sort by top of stack"))
    text->open = FALSE;
  if (!text->open || depth == 0 || depth == line.length)
    return TRUE;
  if (!flam_text_number (&p, end, &count) || p == end || *p != ' ')
    return FALSE;
  what = flam_slice_trim (p, end);
  if (flam_slice_begins (what, "Thread_"))
    {
      begin_thread (text, what);
      what.length = 0;
    }
  flam_stack_text_row (text, depth, what, count);
  return TRUE;
}

static guint
probe_sample (const FlamSource *source)
{
  return (flam_source_head_has (source, 4096, "Analysis of sampling ") ||
          flam_source_head_has (source, 4096, "Report Version:")) &&
                 flam_source_head_has (source, 64 << 10, "\nCall graph:")
             ? 90
             : 0;
}

/* --- Instruments --------------------------------------------------------- */

/* The head names the columns: the first is the total, the symbols are indented
 * by depth. Where there is no column of self weights (allocations), these are
 * the totals' differences. */
typedef struct
{
  guint self;     /* column; G_MAXUINT: none */
  guint symbol;   /* column */
  guint count;    /* column: of blocks; G_MAXUINT: none */
  char delimiter; /* a tab, or of older versions' CSV a comma */
  gboolean is_known;
} Instruments;

typedef enum
{
  INSTRUMENTS_TIME,
  INSTRUMENTS_CYCLES,
  INSTRUMENTS_BYTES,
} InstrumentsMeasure;

/* Its kB is 1024 bytes: mallocs of 5,120 bytes on average, which macOS rounds
 * up to 5,330, are listed as 429.93 MB for 84,671 of them. */
static const struct
{
  const char *word;
  InstrumentsMeasure measure;
  gint64 size;
} instruments_units[] = {
  { "ns", INSTRUMENTS_TIME, 1 },
  { "µs", INSTRUMENTS_TIME, 1000 },
  { "us", INSTRUMENTS_TIME, 1000 },
  { "ms", INSTRUMENTS_TIME, 1000000 },
  { "s", INSTRUMENTS_TIME, 1000000000 },
  { "min", INSTRUMENTS_TIME, G_GINT64_CONSTANT (60000000000) },
  { "h", INSTRUMENTS_TIME, G_GINT64_CONSTANT (3600000000000) },
  { "cycles", INSTRUMENTS_CYCLES, 1 },
  { "Kc", INSTRUMENTS_CYCLES, 1000 },
  { "Mc", INSTRUMENTS_CYCLES, 1000000 },
  { "Gc", INSTRUMENTS_CYCLES, 1000000000 },
  { "Bytes", INSTRUMENTS_BYTES, 1 },
  { "KB", INSTRUMENTS_BYTES, 1 << 10 },
  { "KiB", INSTRUMENTS_BYTES, 1 << 10 },
  { "MB", INSTRUMENTS_BYTES, 1 << 20 },
  { "MiB", INSTRUMENTS_BYTES, 1 << 20 },
  { "GB", INSTRUMENTS_BYTES, 1 << 30 },
  { "GiB", INSTRUMENTS_BYTES, 1 << 30 },
};

/* "404.75 Mc", "1.20min  100.0%", "693" (ms, whose unit is in the head), "-".
 * FALSE: neither. */
static gboolean
parse_instruments_amount (FlamSlice cell,
                          gint64 *value,
                          InstrumentsMeasure *measure)
{
  FlamSlice text = flam_slice_strip (cell);
  const char *end = text.text + text.length;
  const char *p = text.text;
  gsize length = 0;
  gint64 whole;

  *value = 0;
  *measure = INSTRUMENTS_TIME;
  if (flam_slice_is (text, "-"))
    return TRUE;
  if (!flam_amount_number (&p, end, 1, &whole))
    return FALSE;
  while (p < end && *p == ' ')
    p++;
  while (p + length < end && p[length] != ' ')
    length++;
  for (guint i = 0; i < G_N_ELEMENTS (instruments_units); i++)
    if (flam_slice_is ((FlamSlice){ p, length }, instruments_units[i].word))
      {
        *measure = instruments_units[i].measure;
        p = text.text;
        return flam_amount_number (&p, end, instruments_units[i].size, value);
      }
  p = text.text;
  return length == 0 && flam_amount_number (&p, end, 1000000, value);
}

static FlamSlice
take_instruments_cell (const Instruments *state, FlamSlice *line)
{
  const char *end = memchr (line->text, state->delimiter, line->length);
  FlamSlice cell = *line;

  if (end == NULL)
    {
      *line = flam_slice_from (*line, line->length);
      return cell;
    }
  cell.length = end - line->text;
  *line = flam_slice_from (*line, cell.length + 1);
  return cell;
}

static gboolean
read_instruments_head (FlamStackText *text, FlamSlice line)
{
  Instruments *state = text->kept = g_new0 (Instruments, 1);

  state->self = state->symbol = state->count = G_MAXUINT;
  state->delimiter = flam_slice_find (line, "\t") < line.length ? '\t' : ',';
  for (guint i = 0; line.length > 0; i++)
    {
      FlamSlice cell = flam_slice_strip (take_instruments_cell (state, &line));
      if (i > 0 && flam_slice_begins (cell, "Self"))
        state->self = i;
      else if (flam_slice_is (cell, "Count"))
        state->count = i;
      else if (flam_slice_begins (cell, "Symbol Name"))
        state->symbol = i;
    }
  text->outline.own = state->self != G_MAXUINT;
  if (state->count > state->symbol || text->outline.own)
    state->count = G_MAXUINT;
  return state->symbol != G_MAXUINT;
}

/* The first row's total shows the measure. */
static void
name_instruments_measure (FlamStackText *text, InstrumentsMeasure measure)
{
  static const char cycles[] = N_ ("Cycles"), bytes[] = N_ ("Bytes used");

  switch (measure)
    {
    case INSTRUMENTS_TIME:
      flam_stack_text_are_times (text);
      break;
    case INSTRUMENTS_CYCLES:
      text->event = (FlamSlice){ cycles, strlen (cycles) };
      break;
    case INSTRUMENTS_BYTES:
      flam_stack_text_are_bytes (text);
      text->event = (FlamSlice){ bytes, strlen (bytes) };
      break;
    }
}

static void
parse_instruments (FlamSlice text, FlamTextFrame *frame)
{
  frame->name = text;
  if (flam_slice_find (text, "Thread  0x") < text.length)
    frame->kind = FLAM_KIND_ROOT;
}

static gboolean
read_instruments (FlamStackText *text, FlamSlice line)
{
  FlamSlice weight = { "", 0 }, symbol = { "", 0 }, name;
  gint64 count = 0;
  Instruments *state = text->kept;
  InstrumentsMeasure measure;
  gint64 value;

  if (line.length == 0)
    return TRUE;
  if (state == NULL)
    return read_instruments_head (text, line);
  for (guint i = 0; i <= state->symbol && line.length > 0; i++)
    {
      /* A symbol may contain commas, and is the last one of a row. */
      FlamSlice cell = i == state->symbol && state->delimiter == ','
                           ? line
                           : take_instruments_cell (state, &line);
      if (i == 0 && !state->is_known)
        {
          if (!parse_instruments_amount (cell, &value, &measure))
            return FALSE;
          name_instruments_measure (text, measure);
          state->is_known = TRUE;
        }
      if (i == state->count &&
          !flam_slice_number (flam_slice_strip (cell), &count))
        count = 0;
      if (i == state->self || (i == 0 && state->self == G_MAXUINT))
        weight = cell;
      else if (i == state->symbol)
        symbol = cell;
    }
  name = flam_slice_strip (symbol);
  if (name.length == 0 || !parse_instruments_amount (weight, &value, &measure))
    return FALSE;
  flam_stack_text_row (text, name.text - symbol.text, name, value);
  if (state->count != G_MAXUINT)
    flam_stack_text_count (text, count);
  return TRUE;
}

static void
finish_instruments (FlamStackText *text)
{
  g_clear_pointer (&text->kept, g_free);
}

static guint
probe_instruments (const FlamSource *source)
{
  FlamText head = flam_text_plain_head (source);
  FlamSlice line;

  if (!flam_text_next (&head, &line.text, &line.length))
    return 0;
  return (flam_slice_find (line, "\t") < line.length ||
          flam_slice_begins (line, "Running Time,")) &&
                 (flam_slice_begins (line, "Weight\t") ||
                  flam_slice_begins (line, "Running Time\t") ||
                  flam_slice_begins (line, "Running Time,") ||
                  flam_slice_begins (line, "Bytes Used\t")) &&
                 flam_slice_find (line, "Symbol Name") < line.length
             ? 90
             : 0;
}

/* --- the table ----------------------------------------------------------- */

static const FlamDialect dialect_sample = { N_ ("output of sample"),
                                            read_sample,
                                            parse_sample };
static const FlamDialect dialect_instruments = { N_ ("copy from Instruments"),
                                                 read_instruments,
                                                 parse_instruments,
                                                 finish_instruments };

FLAM_STACK_TEXT_IMPORTER (
    sample, "sample", "macOS sample", "sample, on macOS", ".sample.txt", ".txt")
FLAM_STACK_TEXT_IMPORTER (instruments,
                          "instruments",
                          N_ ("Instruments, deep copy"),
                          "Instruments, Deep Copy or the old CSV export",
                          ".txt",
                          ".csv")
