/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-format.h"
#include "flam-memory-summary.h"

#include <string.h>

/* One table with the same columns for everything: sizes, kinds, threads,
 * functions. */

#define BAR 24

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  const FlamMemorySummary *memory;
  FlamMemoryPart part; /* what bars show and functions are sorted by */
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

static gboolean
has_any (const FlamAmounts *amounts)
{
  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    if (amounts->part[part].blocks != 0)
      return TRUE;
  return FALSE;
}

/* --- JSON ---------------------------------------------------------------- */

static void
add_amounts (JsonBuilder *json, const char *member, const FlamAmounts *amounts)
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
      flam_cli_json_int (json, "bytes", amounts->part[part].bytes);
      flam_cli_json_int (json, "blocks", amounts->part[part].blocks);
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
add_json_sizes (JsonBuilder *json, const FlamMemorySummary *memory)
{
  begin_rows (json, "sizes");
  for (guint bin = memory->first_bin; bin < memory->end_bin; bin++)
    {
      gint64 low, high;

      flam_memory_summary_bin_range (bin, &low, &high);
      json_builder_begin_object (json);
      flam_cli_json_int (json, "from", low);
      flam_cli_json_int (json, "to", high);
      add_amounts (json, NULL, &memory->size[bin]);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
add_json_kinds (JsonBuilder *json, const FlamMemorySummary *memory)
{
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
      add_amounts (json, NULL, &memory->kind[kind]);
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
      add_amounts (json, NULL, &report->memory->thread[t]);
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
      add_amounts (json, "self", &memory->function_self[row]);
      add_amounts (json, "total", &memory->function_total[row]);
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
      const FlamAmount *amount = &report->memory->rule[i];

      json_builder_begin_object (json);
      flam_cli_json_string (json, "template", flam_suppressions_get (rules, i));
      flam_cli_json_int (json, "bytes", amount->bytes);
      flam_cli_json_int (json, "blocks", amount->blocks);
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
  add_amounts (json, NULL, &memory->all);
  flam_cli_json_int (json, "peak_time_ns", memory->peak_time);
  add_json_sizes (json, memory);
  add_json_kinds (json, memory);
  add_json_threads (json, report);
  add_json_functions (json, report);
  add_json_rules (json, report);
  json_builder_end_object (json);
  flam_cli_print_json (json);
}

/* --- text ---------------------------------------------------------------- */

static void
print_cell (const char *text, int width)
{
  int padding = width - (int)g_utf8_strlen (text, -1);

  flam_cli_print ("%*s%s  ", MAX (padding, 0), "", text);
}

static void
print_bytes (gint64 bytes)
{
  g_autofree char *text = flam_format_value (bytes, FLAM_UNIT_BYTES);

  print_cell (text, 8);
}

static void
print_header (const char *title)
{
  flam_cli_print ("\n");
  print_cell ("allocated", 9);
  print_cell ("blocks", 9);
  print_cell ("temporary", 9);
  print_cell ("peak", 8);
  print_cell ("leaked", 8);
  flam_cli_print ("%s\n", title);
}

static void
print_amounts (const FlamAmounts *amounts)
{
  const FlamAmount *part = amounts->part;
  g_autofree char *bytes =
      flam_format_value (part[FLAM_MEMORY_ALLOCATED].bytes, FLAM_UNIT_BYTES);
  g_autofree char *blocks =
      flam_format_value (part[FLAM_MEMORY_ALLOCATED].blocks, FLAM_UNIT_COUNT);
  g_autofree char *share = flam_format_percent (
      part[FLAM_MEMORY_TEMPORARY].blocks, part[FLAM_MEMORY_ALLOCATED].blocks);

  print_cell (bytes, 9);
  print_cell (blocks, 9);
  print_cell (share, 9);
  print_bytes (part[FLAM_MEMORY_PEAK].bytes);
  print_bytes (part[FLAM_MEMORY_LEAKED].bytes);
}

static void
print_part (const Report *report, FlamMemoryPart part)
{
  const FlamAmount *amount = &report->memory->all.part[part];
  const FlamAmount *made = &report->memory->all.part[FLAM_MEMORY_ALLOCATED];
  g_autofree char *bytes = flam_format_value (amount->bytes, FLAM_UNIT_BYTES);
  g_autofree char *blocks = flam_format_value (amount->blocks, FLAM_UNIT_COUNT);
  g_autofree char *share = flam_format_percent (amount->blocks, made->blocks);
  g_autofree char *each = flam_format_value (
      amount->blocks > 0 ? amount->bytes / amount->blocks : 0, FLAM_UNIT_BYTES);
  g_autofree char *when =
      flam_format_value (report->memory->peak_time, FLAM_UNIT_NS);
  g_autofree char *error = flam_format_value (
      flam_facts_standard_error (&report->profile->facts, amount->bytes),
      FLAM_UNIT_BYTES);

  flam_cli_print ("%-10s %s in %s block%s",
                  flam_memory_part_to_string (part),
                  bytes,
                  blocks,
                  amount->blocks == 1 ? "" : "s");
  if (part == FLAM_MEMORY_PEAK && report->memory->peak_time >= 0)
    flam_cli_print (" at %s", when);
  else if (part == FLAM_MEMORY_TEMPORARY)
    flam_cli_print (", %s of all allocated", share);
  else if (part == FLAM_MEMORY_ALLOCATED)
    flam_cli_print (", %s each", each);
  if (amount->bytes > 0 && report->profile->facts.sample_bytes > 0)
    flam_cli_print (" (sampled: %s more or less)", error);
  flam_cli_print ("\n");
}

static void
print_sizes (const Report *report)
{
  const FlamMemorySummary *memory = report->memory;
  gint64 most = 1;

  for (guint bin = memory->first_bin; bin < memory->end_bin; bin++)
    most = MAX (most, figure (&memory->size[bin], report->part, report->bytes));
  print_header ("size in bytes");
  for (guint bin = memory->first_bin; bin < memory->end_bin; bin++)
    {
      double share =
          (double)figure (&memory->size[bin], report->part, report->bytes) /
          (double)most;
      gint64 low, high;

      flam_memory_summary_bin_range (bin, &low, &high);
      print_amounts (&memory->size[bin]);
      flam_cli_print ("%" G_GINT64_FORMAT, low);
      if (high > low)
        flam_cli_print ("..%" G_GINT64_FORMAT, high);
      flam_cli_print ("%s", share > 0 ? "  " : "");
      for (int i = 0; share > 0 && i < MAX ((int)(share * BAR + 0.5), 1); i++)
        flam_cli_print ("#");
      flam_cli_print ("\n");
    }
}

static void
print_kinds (const FlamMemorySummary *memory)
{
  print_header ("allocator");
  for (guint kind = 0; kind < FLAM_N_ALLOCATORS; kind++)
    if (memory->kinds_present & FLAM_ALLOCATOR_BIT (kind))
      {
        gboolean counted =
            (memory->kinds_counted & FLAM_ALLOCATOR_BIT (kind)) != 0;

        print_amounts (&memory->kind[kind]);
        flam_cli_print ("%s%s\n",
                        flam_allocator_to_string (kind),
                        counted ? "" : " (not counted: see --allocators)");
      }
}

static void
print_threads (const Report *report)
{
  const FlamProfile *p = report->profile;
  guint rows = 0;

  for (FlamId t = 0; t < p->threads.n; t++)
    {
      if (!has_any (&report->memory->thread[t]))
        continue;
      if (rows++ == 0)
        print_header ("thread");
      print_amounts (&report->memory->thread[t]);
      flam_cli_print ("%d/%d %s\n",
                      p->processes.pid[p->threads.process[t]],
                      p->threads.tid[t],
                      flam_profile_string (p, p->threads.name[t]));
    }
}

static void
print_functions (const Report *report)
{
  const FlamMemorySummary *memory = report->memory;

  print_header ("function (self)");
  for (guint i = 0; i < memory->n_functions && i < report->limit; i++)
    {
      guint row = report->order[i];
      FlamId node = memory->function[row].node;
      const char *file;
      guint32 line = flam_tree_source_line (memory->tree, node, &file);

      /* Frames that only lead to allocations are no sites. */
      if (!has_any (&memory->function_self[row]))
        continue;
      print_amounts (&memory->function_self[row]);
      flam_cli_print ("%s", flam_tree_name (memory->tree, node));
      if (*file != '\0')
        flam_cli_print ("  %s:%u", file, line);
      flam_cli_print ("\n");
    }
}

/* As LeakSanitizer prints them. */
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
      const FlamAmount *amount = &report->memory->rule[i];

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
  print_sizes (report);
  print_kinds (report->memory);
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
      flam_cli_error (_ ("%s: the capture holds no single allocations"),
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

const FlamVerb flam_verb_memory = { "memory",
                                    "FILE [--json]",
                                    N_ ("sizes, allocators, threads and sites"),
                                    run,
                                    TRUE };
