/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-cli-table.h"
#include "flam-core-picture.h"

#include <string.h>

/* One table with the same columns for everything: sizes, kinds, threads,
 * functions. */

#define BAR 24

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  const FlamMemorySummary *memory;
  FlamMemoryPart
      part; /* the measure of the bars, by which functions are sorted */
  gboolean bytes;
  guint *order; /* of functions */
  guint limit;  /* functions */
} Report;

static gint64
figure (const FlamAmounts *amounts, FlamMemoryPart part, gboolean bytes)
{
  return bytes ? amounts->part[part].bytes : amounts->part[part].blocks;
}

static int
compare_functions (gconstpointer a, gconstpointer b, gpointer data)
{
  const Report *report = data;
  const FlamMemorySummary *memory = report->memory;
  guint x = *(const guint *)a;
  guint y = *(const guint *)b;
  gint64 self_x =
      figure (&memory->function_self[x], report->part, report->bytes);
  gint64 self_y =
      figure (&memory->function_self[y], report->part, report->bytes);

  if (self_x != self_y)
    return self_x > self_y ? -1 : 1;
  return strcmp (flam_tree_name (memory->tree, memory->function[x].node),
                 flam_tree_name (memory->tree, memory->function[y].node));
}

static guint *
sort_functions (Report *report)
{
  guint n = report->memory->n_functions;
  guint *order = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++)
    order[i] = i;
  g_qsort_with_data (order, n, sizeof *order, compare_functions, report);
  return order;
}

/* --- JSON ---------------------------------------------------------------- */

/* null: the capture lacks the figure. */
static void
add_figure (JsonBuilder *json,
            const Report *report,
            FlamMemoryPart part,
            gboolean bytes,
            const FlamAmounts *amounts)
{
  const FlamAmount *amount = &amounts->part[part];
  FlamEstimate estimate =
      flam_amounts_estimate (report->memory, amounts, part, bytes);

  if (flam_memory_summary_knows (report->memory, part, bytes))
    {
      flam_cli_json_int (json,
                         bytes ? "bytes" : "blocks",
                         bytes ? amount->bytes : amount->blocks);
      if (report->profile->facts.sample_bytes > 0)
        flam_cli_json_int (
            json, bytes ? "bytes_error" : "blocks_error", estimate.error);
      if (estimate.sampled && bytes)
        flam_cli_json_int (json, "samples", estimate.samples);
      return;
    }
  json_builder_set_member_name (json, bytes ? "bytes" : "blocks");
  json_builder_add_null_value (json);
}

/* Of the share of temporary blocks in all of them; 1 is all. */
static void
add_share_error (JsonBuilder *json,
                 const Report *report,
                 const FlamAmounts *amounts)
{
  const FlamEstimate estimate =
      flam_amounts_churn_estimate (report->memory, amounts);
  gint64 made = amounts->part[FLAM_MEMORY_ALLOCATED].blocks;

  if (report->profile->facts.sample_bytes <= 0 || made <= 0)
    return;
  json_builder_set_member_name (json, "share_error");
  json_builder_add_double_value (json, (double)estimate.error / (double)made);
}

static void
add_amounts (JsonBuilder *json,
             const Report *report,
             const char *member,
             const FlamAmounts *amounts)
{
  if (member != NULL)
    {
      json_builder_set_member_name (json, member);
      json_builder_begin_object (json);
    }
  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    {
      json_builder_set_member_name (json, flam_memory_part_to_string (part));
      json_builder_begin_object (json);
      add_figure (json, report, part, TRUE, amounts);
      add_figure (json, report, part, FALSE, amounts);
      if (part == FLAM_MEMORY_TEMPORARY)
        add_share_error (json, report, amounts);
      json_builder_end_object (json);
    }
  if (member != NULL)
    json_builder_end_object (json);
}

static void
begin_rows (JsonBuilder *json, const char *member)
{
  json_builder_set_member_name (json, member);
  json_builder_begin_array (json);
}

static void
add_json_sizes (JsonBuilder *json, const Report *report)
{
  const FlamMemorySummary *memory = report->memory;
  guint end = flam_memory_summary_knows_sizes (memory) ? memory->end_bin : 0;

  begin_rows (json, "sizes");
  for (guint bin = memory->first_bin; bin < end; bin++)
    {
      gint64 low, high;

      flam_memory_summary_bin_range (bin, &low, &high);
      json_builder_begin_object (json);
      flam_cli_json_int (json, "from", low);
      flam_cli_json_int (json, "to", high);
      add_amounts (json, report, NULL, &memory->size[bin]);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
add_json_kinds (JsonBuilder *json, const Report *report)
{
  const FlamMemorySummary *memory = report->memory;

  begin_rows (json, "allocators");
  for (guint kind = 0; kind < FLAM_N_ALLOCATORS; kind++)
    {
      if (!(memory->kinds_present & FLAM_ALLOCATOR_BIT (kind)))
        continue;
      json_builder_begin_object (json);
      flam_cli_json_string (json, "allocator", flam_allocator_to_string (kind));
      json_builder_set_member_name (json, "counted");
      json_builder_add_boolean_value (
          json, (memory->kinds_counted & FLAM_ALLOCATOR_BIT (kind)) != 0);
      add_amounts (json, report, NULL, &memory->kind[kind]);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
add_json_threads (JsonBuilder *json, const Report *report)
{
  const FlamProfile *p = report->profile;

  begin_rows (json, "threads");
  for (FlamId t = 0; t < p->threads.n; t++)
    {
      json_builder_begin_object (json);
      flam_cli_json_int (json, "pid", p->processes.pid[p->threads.process[t]]);
      flam_cli_json_int (json, "tid", p->threads.tid[t]);
      flam_cli_json_string (
          json, "name", flam_profile_string (p, p->threads.name[t]));
      add_amounts (json, report, NULL, &report->memory->thread[t]);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
add_json_functions (JsonBuilder *json, const Report *report)
{
  const FlamMemorySummary *memory = report->memory;

  begin_rows (json, "functions");
  for (guint i = 0; i < memory->n_functions && i < report->limit; i++)
    {
      guint row = report->order[i];
      const char *file;
      guint32 line = flam_tree_source_line (
          memory->tree, memory->function[row].node, &file);

      json_builder_begin_object (json);
      flam_cli_json_string (
          json,
          "function",
          flam_tree_name (memory->tree, memory->function[row].node));
      flam_cli_json_string (json, "file", file);
      flam_cli_json_int (json, "line", line);
      add_amounts (json, report, "self", &memory->function_self[row]);
      add_amounts (json, report, "total", &memory->function_total[row]);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
add_json_rules (JsonBuilder *json, const Report *report)
{
  const FlamSuppressions *rules = report->selection->suppressions;

  begin_rows (json, "suppressions");
  for (guint i = 0; rules != NULL && i < flam_suppressions_get_n (rules); i++)
    {
      const FlamAmounts *amounts = &report->memory->rule[i];

      json_builder_begin_object (json);
      flam_cli_json_string (json, "template", flam_suppressions_get (rules, i));
      add_figure (json, report, FLAM_MEMORY_LEAKED, TRUE, amounts);
      add_figure (json, report, FLAM_MEMORY_LEAKED, FALSE, amounts);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
print_json (const Report *report)
{
  const FlamMemorySummary *memory = report->memory;
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  add_amounts (json, report, NULL, &memory->all);
  flam_cli_json_int (json, "peak_time_ns", memory->peak_time);
  add_json_sizes (json, report);
  add_json_kinds (json, report);
  add_json_threads (json, report);
  add_json_functions (json, report);
  add_json_rules (json, report);
  json_builder_end_object (json);
  flam_cli_print_json (json);
}

/* --- text ---------------------------------------------------------------- */

static const struct
{
  const char *title;
  int width;
} columns[FLAM_MEMORY_N_COLUMNS] = {
  [FLAM_MEMORY_COLUMN_ALLOCATED] = { "allocated", 9 },
  [FLAM_MEMORY_COLUMN_BLOCKS] = { "blocks", 9 },
  [FLAM_MEMORY_COLUMN_TEMPORARY] = { "temporary", 9 },
  [FLAM_MEMORY_COLUMN_PEAK] = { "peak", 8 },
  [FLAM_MEMORY_COLUMN_LEAKED] = { "leaked", 8 },
};

static const char *
title_of (const Report *report, guint column)
{
  static const char *const counted[] = {
    [FLAM_MEMORY_OF_BLOCKS] = "blocks",
    [FLAM_MEMORY_OF_PAGES] = "pages",
    [FLAM_MEMORY_OF_RESOURCES] = "opened",
  };

  return column == FLAM_MEMORY_COLUMN_BLOCKS
             ? counted[flam_memory_summary_of (report->memory)]
             : columns[column].title;
}

static FlamCliTable *
new_table (const Report *report, const char *title)
{
  FlamCliTable *table = flam_cli_table_new ();

  flam_cli_print ("\n");
  for (guint i = 0; i < FLAM_MEMORY_N_COLUMNS; i++)
    if (flam_memory_summary_has_column (report->memory, i))
      flam_cli_table_add (table, title_of (report, i), columns[i].width);
  flam_cli_table_append (table, "%s", title);
  flam_cli_table_end_row (table);
  return table;
}

static void
add_cells (FlamCliTable *table,
           const Report *report,
           const FlamAmounts *amounts)
{
  for (guint i = 0; i < FLAM_MEMORY_N_COLUMNS; i++)
    {
      g_autofree char *text = flam_format_amounts (report->memory, amounts, i);

      if (flam_memory_summary_has_column (report->memory, i))
        flam_cli_table_add (table, text, 0);
    }
}

static void
print_part (const Report *report, FlamMemoryPart part)
{
  const FlamMemorySummary *memory = report->memory;
  const FlamAmount *amount = &memory->all.part[part];
  gboolean knows_blocks =
      flam_memory_summary_knows (memory, part, FALSE) &&
      flam_memory_summary_of (memory) == FLAM_MEMORY_OF_BLOCKS;
  FlamEstimate of_bytes =
      flam_amounts_estimate (memory, &memory->all, part, TRUE);
  FlamEstimate of_blocks =
      flam_amounts_estimate (memory, &memory->all, part, FALSE);
  g_autofree char *bytes =
      flam_format_with_error (&of_bytes, amount->bytes, FLAM_UNIT_BYTES);
  g_autofree char *blocks =
      flam_format_with_error (&of_blocks, amount->blocks, FLAM_UNIT_COUNT);
  g_autofree char *share =
      flam_format_amounts (memory, &memory->all, FLAM_MEMORY_COLUMN_TEMPORARY);
  g_autofree char *few = flam_format_from_few (g_strdup (""), &of_bytes);
  g_autofree char *each = flam_format_value (
      amount->blocks > 0 ? amount->bytes / amount->blocks : 0, FLAM_UNIT_BYTES);
  g_autofree char *when = flam_format_moment (
      flam_facts_clock (&report->profile->facts), report->memory->peak_time);

  if (!flam_memory_summary_knows (memory, part, TRUE))
    return;
  flam_cli_print ("%-10s %s", flam_memory_part_to_string (part), bytes);
  if (knows_blocks)
    flam_cli_print (" in %s block%s", blocks, amount->blocks == 1 ? "" : "s");
  if (part == FLAM_MEMORY_PEAK && memory->peak_time >= 0)
    flam_cli_print (" at %s", when);
  else if (part == FLAM_MEMORY_TEMPORARY)
    flam_cli_print (", %s of all allocated", share);
  else if (part == FLAM_MEMORY_ALLOCATED && knows_blocks)
    flam_cli_print (", %s%s each", of_blocks.sampled ? "≈ " : "", each);
  if (part != FLAM_MEMORY_TEMPORARY)
    flam_cli_print ("%s", few);
  flam_cli_print ("\n");
}

static void
print_unseen (const Report *report)
{
  g_autofree char *text =
      flam_message_shown (report->profile->facts.unseen_heap);

  if (*text != '\0')
    flam_cli_print ("%-10s %s\n",
                    flam_memory_summary_of (report->memory) ==
                            FLAM_MEMORY_OF_PAGES
                        ? "note"
                        : "not in it",
                    text);
}

static void
print_sizes (const Report *report)
{
  const FlamMemorySummary *memory = report->memory;
  FlamCliTable *table;
  gint64 most = 1;

  if (!flam_memory_summary_knows_sizes (memory))
    return;
  for (guint bin = memory->first_bin; bin < memory->end_bin; bin++)
    most = MAX (most, figure (&memory->size[bin], report->part, report->bytes));
  table = new_table (report, "size in bytes");
  for (guint bin = memory->first_bin; bin < memory->end_bin; bin++)
    {
      double share =
          (double)figure (&memory->size[bin], report->part, report->bytes) /
          (double)most;
      gint64 low, high;

      flam_memory_summary_bin_range (bin, &low, &high);
      add_cells (table, report, &memory->size[bin]);
      flam_cli_table_append (table, "%" G_GINT64_FORMAT, low);
      if (high > low)
        flam_cli_table_append (table, "..%" G_GINT64_FORMAT, high);
      flam_cli_table_append (table, "%s", share > 0 ? "  " : "");
      for (int i = 0; share > 0 && i < MAX ((int)(share * BAR + 0.5), 1); i++)
        flam_cli_table_append (table, "#");
      flam_cli_table_end_row (table);
    }
  flam_cli_table_print (table);
}

static void
print_kinds (const Report *report)
{
  const FlamMemorySummary *memory = report->memory;
  FlamCliTable *table = new_table (report, "allocator");

  for (guint kind = 0; kind < FLAM_N_ALLOCATORS; kind++)
    if (memory->kinds_present & FLAM_ALLOCATOR_BIT (kind))
      {
        gboolean counted =
            (memory->kinds_counted & FLAM_ALLOCATOR_BIT (kind)) != 0;

        add_cells (table, report, &memory->kind[kind]);
        flam_cli_table_append (table,
                               "%s%s",
                               flam_allocator_to_string (kind),
                               counted ? ""
                                       : " (not counted: see --allocators)");
        flam_cli_table_end_row (table);
      }
  flam_cli_table_print (table);
}

static void
print_threads (const Report *report)
{
  const FlamProfile *p = report->profile;
  FlamCliTable *table = NULL;

  for (FlamId t = 0; t < p->threads.n; t++)
    {
      g_autofree char *name = flam_cli_thread_text (p, t);

      if (!flam_memory_summary_has_any (report->memory,
                                        &report->memory->thread[t]))
        continue;
      if (table == NULL)
        table = new_table (report, "thread");
      add_cells (table, report, &report->memory->thread[t]);
      flam_cli_table_append (table, "%s", name);
      flam_cli_table_end_row (table);
    }
  if (table != NULL)
    flam_cli_table_print (table);
}

static void
print_functions (const Report *report)
{
  const FlamMemorySummary *memory = report->memory;
  FlamCliTable *table = new_table (report, "function (self)");

  for (guint i = 0; i < memory->n_functions && i < report->limit; i++)
    {
      guint row = report->order[i];
      FlamNodeId node = memory->function[row].node;
      const char *file;
      guint32 line = flam_tree_source_line (memory->tree, node, &file);

      /* Frames that only lead to allocations are not allocation sites. */
      if (!flam_memory_summary_has_any (memory, &memory->function_self[row]))
        continue;
      add_cells (table, report, &memory->function_self[row]);
      flam_cli_table_append (table, "%s", flam_tree_name (memory->tree, node));
      if (*file != '\0')
        flam_cli_table_append (table, "  %s:%u", file, line);
      flam_cli_table_end_row (table);
    }
  flam_cli_table_print (table);
}

/* In the format of LeakSanitizer. */
static void
print_rules (const Report *report)
{
  const FlamSuppressions *rules = report->selection->suppressions;

  if (rules == NULL)
    return;
  flam_cli_print (
      "\nSuppressions used:\n%7s %10s %s\n", "count", "bytes", "template");
  for (guint i = 0; i < flam_suppressions_get_n (rules); i++)
    {
      const FlamAmount *amount =
          &report->memory->rule[i].part[FLAM_MEMORY_LEAKED];

      if (amount->blocks > 0)
        flam_cli_print ("%7" G_GINT64_FORMAT " %10" G_GINT64_FORMAT " %s\n",
                        amount->blocks,
                        amount->bytes,
                        flam_suppressions_get (rules, i));
    }
}

static void
print_text (const Report *report)
{
  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    print_part (report, part);
  print_unseen (report);
  print_sizes (report);
  print_kinds (report);
  print_threads (report);
  print_functions (report);
  print_rules (report);
}

/* --- the verb ------------------------------------------------------------ */

static int
report (const FlamProfile *profile,
        const FlamSelection *selection,
        gboolean json,
        int limit)
{
  const FlamMeasure *measure = &profile->measures[selection->measure];
  g_autoptr (FlamMemorySummary) memory =
      flam_memory_summary_new (profile, selection, NULL, NULL, 0, NULL, NULL);
  g_autofree guint *order = NULL;
  Report report = {
    .profile = profile,
    .selection = selection,
    .memory = memory,
    .part = flam_memory_part_of (measure->source),
    .bytes = measure->unit == FLAM_UNIT_BYTES,
    .limit = limit > 0 ? (guint)limit
             : json    ? G_MAXUINT
                       : 10,
  };

  report.order = order = sort_functions (&report);
  if (json)
    print_json (&report);
  else
    print_text (&report);
  return FLAM_EXIT_DONE;
}

static int
first_of_memory (const FlamProfile *profile)
{
  for (guint i = 0; i < profile->n_measures; i++)
    if (profile->measures[i].source != FLAM_FROM_SAMPLES)
      return (int)i;
  return -1;
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = NULL;
  FlamExit status;
  g_auto (GStrv) files = NULL;
  int limit = 0;
  const GOptionEntry entries[] = {
    { "limit",
      0,
      0,
      G_OPTION_ARG_INT,
      &limit,
      N_ ("At most N functions"),
      "N" },
    { NULL },
  };

  if (!flam_cli_parse (
          &argc, &argv, &flam_verb_memory, options, entries, 1, &files))
    return FLAM_EXIT_USAGE;
  profile = flam_cli_load (files[0], options);
  if (profile == NULL)
    return FLAM_EXIT_REFUSED;
  if (profile->allocations.n == 0)
    {
      flam_cli_error (_ ("%s: the capture does not record single allocations"),
                      files[0]);
      return FLAM_EXIT_REFUSED;
    }
  selection = flam_cli_select (options, profile, files[0], &status);
  if (selection == NULL)
    return status;
  if (profile->measures[selection->measure].source == FLAM_FROM_SAMPLES)
    selection->measure = (guint)MAX (first_of_memory (profile), 0);
  return report (profile, selection, options->json, limit);
}

const FlamVerb flam_verb_memory = {
  "memory",
  "FILE [--json]",
  N_ ("show sizes, allocators, threads and allocating functions"),
  run,
  TRUE
};
