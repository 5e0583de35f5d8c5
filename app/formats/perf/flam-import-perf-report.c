/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The text of `perf report --stdio`: a table of functions, with a tree of
 * callers below each.
 *
 *    # Samples: 1K of event 'cpu-clock'
 *    # Event count (approx.): 720000000
 *    #
 *    # Overhead       Samples  Command  Shared Object  Symbol
 *    # ........  ............  .......  .............  ..............
 *    #
 *        19.94%           265  nest     nest           [.] leaf_work
 *                |
 *                ---main              caller first, or, with -g callee,
 *                   |                 the function itself first
 *                   |--10.08%--recurse
 *                   |          leaf_work
 *                   |
 *                    --9.86%--ping
 *                              leaf_work
 *
 * A branch has a share of the whole (-g graph), of its parent's (-g fractal),
 * or a count; -g flat and -g folded print whole chains. `--children` includes a
 * function's callees in its row and, caller first, in its tree, too: only its
 * Self is its cost, and only the chains that end in it are its callers. Rows
 * below the report's limits are not printed; their sum is a separate row here.
 * Source: perf's ui/stdio/hist.c, and what perf 6.1 prints. */

#include "flam-perf-report.h"

/* Trees with common callers become at most this many frames. */
#define MAX_FRAMES (16 << 20)

/* --- frames -------------------------------------------------------------- */

/* "spin (inlined)", "main nest.c:44" */
static void
parse_name (FlamSlice name, FlamTextFrame *frame)
{
  gsize space;

  if (flam_slice_ends (name, " (inlined)"))
    {
      name.length -= strlen (" (inlined)");
      frame->flags = FLAM_FUNCTION_INLINED;
    }
  space = flam_slice_find_last (name, " ");
  if (space < name.length && frame->file.length == 0)
    {
      flam_slice_location (
          flam_slice_from (name, space + 1), &frame->file, &frame->line);
      if (frame->line > 0)
        name.length = space;
      else
        frame->file.length = 0;
    }
  frame->name = name;
  if (flam_report_is_address (name))
    frame->name.length = 0;
}

static FlamFrameId
make_frame (FlamStackText *text, FlamSlice name, const FlamReportEntry *entry)
{
  FlamTextFrame frame = { .name = { "", 0 },
                          .module = { "", 0 },
                          .file = { "", 0 } };

  if (entry != NULL)
    {
      frame.module = entry->module;
      frame.kind = entry->kind;
      flam_slice_location (entry->place, &frame.file, &frame.line);
      if (frame.line == 0)
        frame.file.length = 0;
    }
  parse_name (name, &frame);
  return flam_text_frame_make (text->builder, &frame);
}

/* Trees contain names alone; a name that only one module has is that module's
 * function. */
static void
find_names (FlamReport *report)
{
  for (guint e = 0; e < report->entries->len; e++)
    {
      const FlamReportEntry *entry = flam_report_entry (report, e);
      gboolean is_new;
      FlamId row = flam_pieces_find (&report->names,
                                     entry->symbol.text,
                                     entry->symbol.length,
                                     FLAM_NONE,
                                     &is_new);
      FlamId *value = flam_pieces_value (&report->names, row);

      if (is_new)
        *value = e;
      else if (*value != FLAM_NONE &&
               !flam_report_same_name (
                   flam_report_entry (report, *value)->module, entry->module))
        *value = FLAM_NONE;
    }
}

static FlamFrameId
find_frame (FlamStackText *text, FlamReport *report, FlamSlice name)
{
  gboolean is_new, is_unknown;
  FlamId row = flam_pieces_find (
      &report->made, name.text, name.length, FLAM_NONE, &is_new);
  FlamId named, id;

  if (!is_new)
    return *flam_pieces_value (&report->made, row);
  named = flam_pieces_find (
      &report->names, name.text, name.length, FLAM_NONE, &is_unknown);
  named = *flam_pieces_value (&report->names, named);
  id = make_frame (text,
                   name,
                   named != FLAM_NONE ? flam_report_entry (report, named)
                                      : NULL);
  *flam_pieces_value (&report->made, row) = id;
  return id;
}

/* --- stacks -------------------------------------------------------------- */

/* The path from a node up to its tree's root: its last frame comes first. */
static void
collect (const FlamReport *report, guint32 i, GArray *chain)
{
  while (i != FLAM_NONE)
    {
      const FlamReportNode *node = flam_report_node (report, i);
      for (guint32 f = node->n_frames; f > 0; f--)
        g_array_append_val (chain,
                            flam_report_frame (report, node->frame + f - 1));
      i = node->parent;
    }
}

static FlamStackId
make_stack (FlamStackText *text, const FlamReportEntry *entry, guint32 node)
{
  FlamReport *report = text->kept;
  g_autoptr (GArray) chain = g_array_new (FALSE, FALSE, sizeof (FlamSlice));
  FlamId own = make_frame (text, entry->symbol, entry);
  FlamStackId stack = FLAM_NONE;

  if (report->pushed < MAX_FRAMES)
    collect (report, node, chain);
  report->pushed += chain->len;
  for (guint i = 0; i < chain->len; i++)
    {
      guint at = report->callers_first ? chain->len - 1 - i : i;
      FlamSlice name = g_array_index (chain, FlamSlice, at);
      gboolean is_leaf = i + 1 == chain->len;

      stack = flam_builder_stack (text->builder,
                                  stack,
                                  is_leaf && flam_report_is_of (entry, name)
                                      ? own
                                      : find_frame (text, report, name));
    }
  return chain->len > 0 ? stack
                        : flam_builder_stack (text->builder, stack, own);
}

static void
add_sample (FlamStackText *text,
            guint section,
            FlamStackId stack,
            const gint64 *weights)
{
  FlamSample sample = { .thread = text->thread,
                        .stack = stack,
                        .event = section };

  flam_builder_add_sample (text->builder, &sample, weights);
  text->samples++;
}

static void
add (FlamStackText *text,
     const FlamReportEntry *entry,
     guint32 node,
     const gint64 *weights)
{
  if (weights[0] > 0 || weights[1] > 0)
    add_sample (text, entry->section, make_stack (text, entry, node), weights);
}

/* --- the report ---------------------------------------------------------- */

static gboolean
read_report (FlamStackText *text, FlamSlice line)
{
  if (text->kept == NULL)
    text->kept = flam_report_new ();
  return flam_report_read_line (text->kept, line);
}

static gint64
total_of (const FlamReport *report, guint section)
{
  gint64 total = flam_report_section (report, section)->total;

  return total > 0 ? total : FLAM_REPORT_WHOLE;
}

static void
add_measures (FlamStackText *text, const FlamReport *report)
{
  flam_builder_add_column (text->builder);
  flam_builder_add_column (text->builder);
  for (guint i = 0; i < report->sections->len; i++)
    {
      const FlamReportSection *section = flam_report_section (report, i);
      gboolean time = section->total > 0 &&
                      (flam_slice_begins (section->event, "cpu-clock") ||
                       flam_slice_begins (section->event, "task-clock"));
      g_autofree char *name =
          g_strndup (section->event.text, MIN (section->event.length, 1000));

      flam_builder_add_event_measure (
          text->builder, name, time ? FLAM_UNIT_NS : FLAM_UNIT_COUNT, 0, i);
    }
  if (report->counted)
    flam_builder_add_standard_measure (
        text->builder, FLAM_STANDARD_SAMPLES, 1, FLAM_NONE);
}

/* Returns the sum. */
static gint64
add_entry (FlamStackText *text, const FlamReportEntry *entry)
{
  FlamReport *report = text->kept;
  gint64 total = total_of (report, entry->section);
  gint64 period = entry->period >= 0
                      ? entry->period
                      : flam_report_part (total, entry->own, FLAM_REPORT_WHOLE);
  gint64 weights[2] = { period, MAX (entry->samples, 0) };

  if (weights[0] == 0 && weights[1] == 0)
    return 0;
  flam_stack_text_thread (text, entry->command, entry->pid, -1);
  flam_report_share_out (report, entry, weights);
  for (guint32 i = entry->node; i < entry->node + entry->n_nodes; i++)
    {
      const FlamReportNode *node = flam_report_node (report, i);
      const gint64 own[2] = { node->weight[0] - node->given[0],
                              node->weight[1] - node->given[1] };
      add (text, entry, i, own);
    }
  add (text, entry, FLAM_NONE, weights);
  return period;
}

static void
add_rest (FlamStackText *text, guint section, gint64 rest)
{
  FlamTextFrame frame = { .name = { "[not in the report]", 19 },
                          .module = { "", 0 },
                          .file = { "", 0 },
                          .kind = FLAM_KIND_ROOT };
  FlamId id = flam_text_frame_make (text->builder, &frame);
  const gint64 weights[2] = { rest, 0 };

  flam_stack_text_thread (text, (FlamSlice){ "", 0 }, -1, -1);
  add_sample (text,
              section,
              flam_builder_stack (text->builder, FLAM_NONE, id),
              weights);
}

/* The printed percentages of rows are rounded by half a hundredth each. */
static void
add_section (FlamStackText *text, guint section)
{
  FlamReport *report = text->kept;
  gint64 total = total_of (report, section);
  gint64 sum = 0, rounded = 0;

  for (guint e = 0; e < report->entries->len; e++)
    {
      const FlamReportEntry *entry = flam_report_entry (report, e);
      if (entry->section != section)
        continue;
      flam_report_add (&sum, add_entry (text, entry));
      rounded += entry->period < 0;
    }
  if (total - sum >
      flam_report_part (total, rounded, 2 * FLAM_REPORT_WHOLE) + rounded / 2)
    add_rest (text, section, total - sum);
}

static void
warn (FlamStackText *text, const FlamReport *report)
{
  gboolean rounded = FALSE, shared = FALSE;

  for (guint e = 0; e < report->entries->len; e++)
    {
      const FlamReportEntry *entry = flam_report_entry (report, e);
      rounded |= entry->period < 0;
      shared |= !report->callers_first && entry->n_nodes > 0 &&
                entry->own > 0 && entry->own < entry->all;
    }
  if (rounded)
    flam_builder_warn (text->builder,
                       N_ ("the report has only percentages: weights may be "
                           "wrong by a 20,000th of the total"));
  if (shared)
    flam_builder_warn (
        text->builder,
        N_ ("the report divides a function's cost among its callers, including "
            "all that it calls; “perf report --no-children” does not"));
  if (report->pushed >= MAX_FRAMES)
    flam_builder_warn (
        text->builder,
        N_ ("the report has too many callers; some were left out"));
}

static void
finish_report (FlamStackText *text)
{
  FlamReport *report = text->kept;

  if (report == NULL)
    return;
  if (report->entries->len > 0)
    {
      flam_report_settle (report);
      find_names (report);
      add_measures (text, report);
      for (guint i = 0; i < report->sections->len; i++)
        add_section (text, i);
      warn (text, report);
    }
  flam_report_free (report);
  text->kept = NULL;
}

static guint
probe_perf_report (const FlamSource *source)
{
  gboolean table = FALSE;

  flam_text_each_of_head (source, line)
    {
      if (line.length > 0 && *line.text != '#' && !table)
        return 0;
      if (flam_slice_begins (line, "# Samples: "))
        table = flam_slice_find (line, " of event '") < line.length;
      else if (flam_slice_find (line, " / Shared Object") < line.length)
        return 0;
      else if (table && (flam_slice_begins (line, "# ..") ||
                         flam_slice_begins (line, "#  ..")))
        return 90;
    }
  return 0;
}

static const FlamDialect dialect_perf_report = {
  N_ ("report of perf"), read_report, NULL, finish_report
};

FLAM_STACK_TEXT_IMPORTER (perf_report,
                          "perf-report",
                          N_ ("perf report text"),
                          "perf report --stdio",
                          ".report.txt",
                          ".txt")
