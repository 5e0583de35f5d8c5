/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The output of FreeBSD's `pmcstat -R FILE -G -`: functions, and their callers,
 * one column deeper each.
 *
 *    @ CPU_CLK_UNHALTED_CORE [9 samples]        an event
 *
 *    77.78%  [7]        memset @ /lib/libc.so.7
 *     57.14%  [4]         fill @ /usr/bin/cook   of the 7
 *      100.0%  [4]          main
 *    22.22%  [2]        idle @ /boot/kernel/kernel
 *
 * A file is printed if it differs from that of the line above. Samples beyond
 * the sum of the callers have an unknown caller. Source: pmcstat(8) about -G;
 * FlameGraph's stackcollapse-pmc.pl has the same counts. */

#include "flam-stack-text.h"

typedef struct
{
  FlamFrameId frame;
  gint64 left; /* samples beyond its callers' */
} Level;

typedef struct
{
  GArray *levels; /* Level: the last row and the rows above it, callees first */
  FlamSlice module;
} Pmcstat;

static Pmcstat *
pmcstat_of (FlamStackText *text)
{
  Pmcstat *state = text->kept;

  if (state == NULL)
    {
      text->kept = state = g_new0 (Pmcstat, 1);
      state->levels = g_array_new (FALSE, FALSE, sizeof (Level));
      state->module = (FlamSlice){ "", 0 };
    }
  return state;
}

/* The rows below `depth` have all of their callers. */
static void
close_to (FlamStackText *text, guint depth)
{
  GArray *levels = pmcstat_of (text)->levels;

  while (levels->len > depth)
    {
      gint64 left = g_array_index (levels, Level, levels->len - 1).left;

      for (guint i = 0; left > 0 && i < levels->len; i++)
        g_array_append_val (text->stack,
                            g_array_index (levels, Level, i).frame);
      flam_stack_text_end (text, left);
      g_array_set_size (levels, levels->len - 1);
    }
}

/* "57.14%  [4]         fill @ /usr/bin/cook" */
static gboolean
parse_row (FlamSlice part, gint64 *count, FlamSlice *name)
{
  gsize percent = flam_slice_find (part, "%  [");
  gsize close = flam_slice_find (part, "]");

  if (percent == part.length || close < percent || close == part.length ||
      !flam_text_is_digit (*part.text))
    return FALSE;
  percent += strlen ("%  [");
  *name = flam_slice_strip (flam_slice_from (part, close + 1));
  return close > percent && name->length > 0 &&
         flam_slice_number ((FlamSlice){ part.text + percent, close - percent },
                            count);
}

static FlamFrameId
make_frame (FlamStackText *text, FlamSlice name)
{
  Pmcstat *state = pmcstat_of (text);
  gsize at = flam_slice_find_last (name, " @ ");
  FlamTextFrame frame = { .name = { name.text, at },
                          .file = { "", 0 },
                          .kind = FLAM_KIND_NATIVE };

  if (at < name.length)
    state->module = flam_slice_strip (flam_slice_from (name, at + 3));
  frame.module = state->module;
  if (flam_slice_begins (frame.module, "/boot/"))
    frame.kind = FLAM_KIND_KERNEL;
  if (flam_slice_begins (frame.name, "0x"))
    frame.name.length = 0;
  return flam_text_frame_make (text->builder, &frame);
}

static gboolean
read_pmcstat (FlamStackText *text, FlamSlice line)
{
  GArray *levels = pmcstat_of (text)->levels;
  guint depth = 0;
  FlamSlice name;
  Level level;

  if (flam_slice_begins (line, "@ "))
    {
      close_to (text, 0);
      text->event = flam_slice_from (line, 2);
      text->event.length = flam_slice_find (text->event, " [");
      return TRUE;
    }
  while (depth < line.length && line.text[depth] == ' ')
    depth++;
  if (depth == line.length)
    return TRUE;
  if (depth > levels->len ||
      !parse_row (flam_slice_from (line, depth), &level.left, &name))
    return FALSE;
  close_to (text, depth);
  level.frame = make_frame (text, name);
  if (depth > 0)
    {
      Level *called = &g_array_index (levels, Level, depth - 1);
      level.left = MIN (level.left, called->left);
      called->left -= level.left;
    }
  g_array_append_val (levels, level);
  return TRUE;
}

static void
finish_pmcstat (FlamStackText *text)
{
  Pmcstat *state = pmcstat_of (text);

  close_to (text, 0);
  g_array_unref (state->levels);
  g_clear_pointer (&text->kept, g_free);
}

static guint
probe_pmcstat (const FlamSource *source)
{
  gboolean event = FALSE;
  FlamSlice name;
  gint64 count;

  flam_text_each_of_head (source, line)
    if (flam_slice_begins (line, "@ ") && flam_slice_ends (line, " samples]"))
      event = TRUE;
    else if (event && parse_row (line, &count, &name))
      return 90;
  return 0;
}

static const FlamDialect dialect_pmcstat = {
  N_ ("output of pmcstat"), read_pmcstat, NULL, finish_pmcstat
};

FLAM_STACK_TEXT_IMPORTER (pmcstat,
                          "pmcstat",
                          "pmcstat -G",
                          "pmcstat -G, on FreeBSD",
                          ".stacks",
                          ".txt")
