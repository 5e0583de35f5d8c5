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

/* The four cells of a row. */
static gboolean
split_row (FlamSlice line, FlamSlice *own, FlamSlice *symbol)
{
  gsize tab = flam_slice_find (line, "\t");
  FlamSlice rest;

  if (tab == line.length)
    return FALSE;
  rest = flam_slice_from (line, tab + 1);
  tab = flam_slice_find (rest, "\t");
  if (tab == rest.length)
    return FALSE;
  *own = flam_slice_strip ((FlamSlice){ rest.text, tab });
  rest = flam_slice_from (rest, tab + 1);
  tab = flam_slice_find (rest, "\t");
  if (tab == rest.length)
    return FALSE;
  *symbol = flam_slice_from (rest, tab + 1);
  return symbol->length > 0;
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
  FlamSlice own, symbol, name;
  FlamAmount amount;
  const char *p;

  if (line.length == 0)
    return TRUE;
  if (!split_row (line, &own, &symbol))
    return FALSE;
  p = own.text;
  if (!text->open) /* the head: in older ones it contains the unit */
    {
      text->open = TRUE;
      flam_stack_text_are_times (text);
      return flam_slice_find (symbol, "Symbol Name") < symbol.length;
    }
  if (!flam_amount_parse (&p, own.text + own.length, &amount))
    return FALSE;
  if (!amount.has_unit)
    {
      p = own.text;
      flam_amount_number (&p, own.text + own.length, 1000000, &amount.value);
    }
  name = flam_slice_strip (symbol);
  flam_stack_text_row (text, name.text - symbol.text, name, amount.value);
  return TRUE;
}

static guint
probe_instruments (const FlamSource *source)
{
  FlamText head = flam_text_plain_head (source);
  FlamSlice line;

  if (!flam_text_next (&head, &line.text, &line.length))
    return 0;
  return flam_slice_find (line, "\t") < line.length &&
                 (flam_slice_begins (line, "Weight\t") ||
                  flam_slice_begins (line, "Running Time\t")) &&
                 flam_slice_find (line, "Symbol Name") < line.length
             ? 90
             : 0;
}

/* --- the table ----------------------------------------------------------- */

static const FlamDialect dialect_sample = { N_ ("output of sample"),
                                            read_sample,
                                            parse_sample };
static const FlamDialect dialect_instruments = {
  N_ ("copy from Instruments"), read_instruments, parse_instruments, .own = TRUE
};

FLAM_STACK_TEXT_IMPORTER (
    sample, "sample", "macOS sample", ".sample.txt", ".txt")
FLAM_STACK_TEXT_IMPORTER (instruments,
                          "instruments",
                          N_ ("Instruments, deep copy"),
                          ".txt")
