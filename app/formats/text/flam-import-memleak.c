/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The output of bcc's memleak, leaf first:
 *
 *    Attaching to pid 5193, Ctrl+C to quit.
 *    [11:16:33] Top 2 stacks with outstanding allocations:
 *            addr = 948cd0 size = 16            with -a
 *            80 bytes in 5 allocations from stack
 *                     main+0x6d [allocs]
 *                     __libc_start_main+0xf0 [libc-2.21.so]
 *
 * All live allocations are printed repeatedly: the last report is used. The
 * tool in C numbers its frames, "0 [<000055d0>] main+0x6d". Source: the tools'
 * own examples. */

#include "flam-stack-text.h"

typedef struct
{
  const char *from; /* start of the last report */
  gint64 weights[2];
} Memleak;

#define MEMLEAK_BLOCK " allocations from stack"
#define MEMLEAK_REPORT " stacks with outstanding allocations:"

/* The last report with a stack. */
static const char *
find_last_report (const FlamSource *source)
{
  FlamSlice all = { (const char *)source->data, source->size };
  gsize block = flam_slice_find_last (all, MEMLEAK_BLOCK);
  gsize report;

  all.length = block;
  report = flam_slice_find_last (all, MEMLEAK_REPORT);
  return report < all.length ? all.text + report : all.text;
}

static Memleak *
memleak_of (FlamStackText *text)
{
  Memleak *leak = text->kept;

  if (leak != NULL)
    return leak;
  text->kept = leak = g_new0 (Memleak, 1);
  leak->from = find_last_report (text->source);
  flam_load_measures (
      text->builder, FLAM_STANDARD_LEAKED, FLAM_STANDARD_LEAKED_BLOCKS);
  return leak;
}

static void
end_memleak (FlamStackText *text)
{
  Memleak *leak = memleak_of (text);

  if (text->stack->len > 0)
    flam_stack_text_add (text, 0, leak->weights);
  text->open = FALSE;
}

/* "80 bytes in 5 allocations from stack" */
static gboolean
parse_memleak_block (FlamSlice part, gint64 *weights)
{
  const char *p = part.text;
  const char *end = p + part.length;
  FlamSlice rest;

  if (!flam_slice_ends (part, MEMLEAK_BLOCK) ||
      !flam_text_number (&p, end, &weights[0]))
    return FALSE;
  rest = (FlamSlice){ p, end - p };
  weights[1] = flam_slice_number_after (rest, " bytes in ");
  return weights[1] >= 0 && flam_slice_begins (rest, " bytes in ");
}

/* The version in C has "0 [<000055d0>] " before the name. */
static FlamSlice
cut_memleak_place (FlamSlice part)
{
  gsize at = flam_slice_find (part, " [<");
  gsize end = flam_slice_find (part, ">] ");
  gint64 number;

  return at < end && end < part.length &&
                 flam_slice_number ((FlamSlice){ part.text, at }, &number)
             ? flam_slice_strip (flam_slice_from (part, end + 3))
             : part;
}

static gboolean
read_memleak (FlamStackText *text, FlamSlice line)
{
  Memleak *leak = memleak_of (text);
  FlamSlice part = flam_slice_strip (line);
  gint64 pid = flam_slice_number_after (line, "Attaching to pid ");

  if (pid >= 0)
    flam_stack_text_thread (text, (FlamSlice){ "", 0 }, pid, -1);
  if (line.text < leak->from)
    return TRUE;
  if (flam_slice_ends (part, MEMLEAK_BLOCK))
    {
      end_memleak (text);
      text->open = parse_memleak_block (part, leak->weights);
      return text->open;
    }
  if (part.length == 0 || !flam_text_is_space (*line.text) ||
      flam_slice_begins (part, "addr = "))
    end_memleak (text);
  if (text->open)
    flam_stack_text_frame (text, cut_memleak_place (part));
  return TRUE;
}

static void
finish_memleak (FlamStackText *text)
{
  if (text->kept != NULL)
    end_memleak (text);
  g_clear_pointer (&text->kept, g_free);
}

static guint
probe_memleak (const FlamSource *source)
{
  gint64 weights[2];

  flam_text_each_of_head (source, line)
    if (parse_memleak_block (flam_slice_strip (line), weights))
      return 85;
  return 0;
}

static const FlamDialect dialect_memleak = { N_ ("output of bcc's tools"),
                                             read_memleak,
                                             flam_stack_text_parse_traced,
                                             finish_memleak };

/* The whole text is needed first: the last report is searched in it. */
const FlamImporter flam_import_memleak = {
  .id = "memleak",
  .label = "bcc memleak",
  .written_by = "memleak of bcc",
  .suffixes = FLAM_LIST (".memleak.txt", ".txt"),
  .mime_types = flam_stack_text_mime_types,
  .probe = probe_memleak,
  .load = flam_stack_text_load,
  .form = &dialect_memleak,
};
