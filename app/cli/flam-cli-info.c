/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-core-picture.h"

/* A build has one for nearly every process. */
#define FOLDERS_MAX 8
#define text(profile, id) flam_profile_string (profile, id)

static gint64
measure_total (const FlamProfile *profile,
               const FlamSelection *selection,
               guint measure)
{
  g_autoptr (FlamSelection) copy = flam_selection_copy (selection);

  copy->measure = measure;
  return flam_weights_total (profile, copy);
}

static FlamFigure
measure_figure (const FlamProfile *profile,
                const FlamSelection *selection,
                guint measure)
{
  g_autoptr (FlamSelection) copy = flam_selection_copy (selection);
  g_autoptr (FlamWeights) weights = NULL;

  copy->measure = measure;
  weights = flam_weights_new (profile, copy, NULL, NULL);
  return flam_weights_figure (weights);
}

static void
add_measure_error (JsonBuilder *json,
                   const FlamProfile *profile,
                   const FlamSelection *selection,
                   guint measure)
{
  const FlamMeasure of = flam_selection_measure (selection, profile, measure);
  FlamEstimate estimate;

  if (profile->facts.sample_bytes == 0)
    return;
  estimate = flam_estimate_of_figure (
      &profile->facts, &of, measure_figure (profile, selection, measure));
  if (!estimate.sampled)
    return;
  flam_cli_json_int (json, "total_error", estimate.error);
  flam_cli_json_int (json, "samples", estimate.samples);
}

/* The weight of each module's frames, each stack counted once; g_free. */
static gint64 *
module_totals (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamSelection) by_module = flam_selection_copy (selection);
  gint64 *totals = g_new0 (gint64, profile->modules.n + 1);
  g_autoptr (FlamTree) tree = NULL;
  g_autofree FlamFunctionRow *rows = NULL;
  guint n;

  if (profile->modules.n == 0)
    return totals;
  by_module->by = FLAM_BY_MODULE;
  by_module->invert = FALSE;
  tree = flam_cli_tree (profile, by_module);
  rows = flam_functions_new (tree, FLAM_SORT_TOTAL, &n);
  for (guint i = 0; i < n; i++)
    {
      FlamModuleId module = flam_tree_module (tree, rows[i].node);

      if (module != FLAM_NONE)
        totals[module] = rows[i].total;
    }
  return totals;
}

static void
add_measures (JsonBuilder *json,
              const FlamProfile *p,
              const FlamSelection *selection)
{
  json_builder_set_member_name (json, "measures");
  json_builder_begin_array (json);
  for (guint i = 0; i < p->n_measures; i++)
    {
      const FlamMeasure m = flam_selection_measure (selection, p, i);

      json_builder_begin_object (json);
      flam_cli_json_string (json, "id", text (p, m.id));
      flam_cli_json_string (json, "name", text (p, m.name));
      flam_cli_json_string (json, "kind", flam_measure_kind_to_string (m.kind));
      flam_cli_json_string (json, "unit", flam_unit_to_string (m.unit));
      flam_cli_json_weight (json, "total", &m, measure_total (p, selection, i));
      add_measure_error (json, p, selection, i);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

/* Former names, if the name changed. */
static void
add_former (JsonBuilder *json,
            const FlamProfile *p,
            const FlamProcessTree *process_tree,
            FlamId first)
{
  if (first == FLAM_NONE)
    return;
  json_builder_set_member_name (json, "former_names");
  json_builder_begin_array (json);
  for (FlamId i = first; i != FLAM_NONE; i = process_tree->next_former[i])
    {
      json_builder_begin_object (json);
      flam_cli_json_string (json, "name", text (p, p->former_names.name[i]));
      flam_cli_json_int (json, "until_ns", p->former_names.until[i]);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

/* Whether a process has selected threads; without a selection, all do. */
static gboolean
has_process (const FlamProfile *p,
             const FlamSelection *selection,
             FlamProcessId process)
{
  if (selection->threads == NULL)
    return TRUE;
  for (guint i = 0; i < selection->threads->len; i++)
    if (p->threads.process[g_array_index (selection->threads, FlamId, i)] ==
        process)
      return TRUE;
  return FALSE;
}

static gint64
count_samples (const FlamProfile *p, const FlamSelection *selection)
{
  g_autofree gint64 *samples = flam_weights_count_samples (p, selection);

  return samples[p->threads.n];
}

static void
add_threads (JsonBuilder *json,
             const FlamProfile *p,
             const FlamSelection *selection)
{
  const FlamMeasure measure =
      flam_selection_measure (selection, p, selection->measure);
  g_autofree gint64 *totals = flam_weights_by_thread (p, selection);
  g_autofree gint64 *samples = flam_weights_count_samples (p, selection);
  g_autoptr (FlamProcessTree) process_tree = flam_process_tree_new (p);
  g_autofree FlamStringId *folders = flam_profile_working_folders (p);

  if (flam_facts_other (&p->facts, FLAM_FACT_JOB) != NULL)
    flam_cli_json_string (
        json, "job", flam_facts_other (&p->facts, FLAM_FACT_JOB));
  json_builder_set_member_name (json, "processes");
  json_builder_begin_array (json);
  for (FlamId i = 0; i < p->processes.n; i++)
    {
      if (!has_process (p, selection, i))
        continue;
      json_builder_begin_object (json);
      flam_cli_json_int (json, "pid", p->processes.pid[i]);
      flam_cli_json_string (json, "name", text (p, p->processes.name[i]));
      if (folders[i] != 0)
        flam_cli_json_string (json, "folder", text (p, folders[i]));
      if (p->processes.rank[i] != 0)
        {
          flam_cli_json_int (json, "rank", p->processes.rank[i] - 1);
          flam_cli_json_string (json, "host", text (p, p->processes.host[i]));
        }
      if (p->processes.parent[i] != FLAM_NONE)
        flam_cli_json_int (
            json, "parent", p->processes.pid[p->processes.parent[i]]);
      add_former (json, p, process_tree, process_tree->process_former[i]);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_set_member_name (json, "threads");
  json_builder_begin_array (json);
  for (FlamId i = 0; i < p->threads.n; i++)
    {
      if (!flam_selection_has_thread (selection, i))
        continue;
      json_builder_begin_object (json);
      flam_cli_json_int (json, "row", i + 1);
      flam_cli_json_int (json, "pid", p->processes.pid[p->threads.process[i]]);
      flam_cli_json_int (json, "tid", p->threads.tid[i]);
      flam_cli_json_string (json, "name", text (p, p->threads.name[i]));
      add_former (json, p, process_tree, process_tree->thread_former[i]);
      flam_cli_json_int (json, "samples", samples[i]);
      flam_cli_json_weight (json, "total", &measure, totals[i]);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
add_modules (JsonBuilder *json,
             const FlamProfile *p,
             const FlamSelection *selection)
{
  const FlamMeasure measure =
      flam_selection_measure (selection, p, selection->measure);
  g_autofree gint64 *totals = module_totals (p, selection);

  json_builder_set_member_name (json, "modules");
  json_builder_begin_array (json);
  for (FlamId i = 0; i < p->modules.n; i++)
    {
      json_builder_begin_object (json);
      flam_cli_json_string (json, "path", text (p, p->modules.path[i]));
      flam_cli_json_string (json, "build_id", text (p, p->modules.build_id[i]));
      flam_cli_json_string (
          json, "symbols", flam_symbol_state_to_string (p->modules.symbols[i]));
      flam_cli_json_string (json, "why", text (p, p->modules.why[i]));
      flam_cli_json_weight (json, "total", &measure, totals[i]);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

/* The states of the threads, in the selection's measure. */
static void
add_states (JsonBuilder *json,
            const FlamProfile *p,
            const FlamSelection *selection)
{
  const FlamMeasure measure =
      flam_selection_measure (selection, p, selection->measure);
  FlamStateSplit split = flam_weights_by_state (p, selection);

  flam_cli_json_states (json, &measure, &split);
}

static void
print_states (const FlamProfile *p, const FlamSelection *selection)
{
  FlamStateSplit split = flam_weights_by_state (p, selection);
  g_autofree char *text = flam_format_states (&split);

  if (*text)
    flam_cli_print ("states     %s\n", text);
}

static void
add_facts (JsonBuilder *json, const FlamFacts *facts, FlamFactSection section)
{
  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    {
      gconstpointer value = G_STRUCT_MEMBER_P (facts, fact->offset);

      if (fact->section != section ||
          !(section == FLAM_FACT_HEAD || fact->type == FLAM_FACT_COUNT ||
            flam_fact_is_shown (fact, facts)))
        continue;
      json_builder_set_member_name (json, fact->member);
      if (fact->type == FLAM_FACT_TEXT)
        json_builder_add_string_value (json, *(const char *const *)value);
      else if (fact->type == FLAM_FACT_FLAG)
        json_builder_add_boolean_value (json, *(const gboolean *)value);
      else if (fact->type == FLAM_FACT_SHARE)
        json_builder_add_double_value (json, *(const double *)value);
      else
        json_builder_add_int_value (json, *(const gint64 *)value);
    }
}

/* The main findings, as a text and as its parts. */
static void
add_headline (JsonBuilder *json,
              const FlamProfile *p,
              const FlamSelection *selection)
{
  g_autoptr (FlamHeadline) headline =
      flam_headline_new (p, selection, NULL, NULL);
  g_autofree char *english = flam_headline_to_english (headline);

  json_builder_set_member_name (json, "headline");
  json_builder_begin_object (json);
  flam_cli_json_string (json, "text", english);
  json_builder_set_member_name (json, "parts");
  json_builder_begin_array (json);
  for (guint i = 0; i < headline->n; i++)
    for (guint k = 0; k < headline->sentence[i].n_parts; k++)
      {
        const FlamHeadlinePart *part = &headline->sentence[i].part[k];

        json_builder_begin_object (json);
        flam_cli_json_string (
            json, "kind", flam_headline_kind_to_string (part->kind));
        flam_cli_json_string (json, "text", part->text);
        flam_cli_json_string (
            json, "measure", text (p, p->measures[part->measure].id));
        if (part->function != FLAM_NONE)
          flam_cli_json_string (
              json, "function", flam_profile_function_name (p, part->function));
        if (part->line > 0)
          {
            flam_cli_json_string (json, "file", text (p, part->file));
            flam_cli_json_int (json, "line", part->line);
          }
        json_builder_end_object (json);
      }
  json_builder_end_array (json);
  json_builder_end_object (json);
}

static void
print_headline (const FlamProfile *p, const FlamSelection *selection)
{
  g_autoptr (FlamHeadline) headline =
      flam_headline_new (p, selection, NULL, NULL);
  g_autofree char *text = flam_headline_to_text (headline);

  if (*text != '\0')
    flam_cli_print ("%s\n\n", text);
}

static void
print_json (const FlamProfile *p, const FlamSelection *selection)
{
  JsonBuilder *json = json_builder_new ();
  const FlamFacts *facts = &p->facts;

  json_builder_begin_object (json);
  add_headline (json, p, selection);
  add_facts (json, facts, FLAM_FACT_HEAD);
  add_measures (json, p, selection);
  if (p->samples.state != NULL)
    add_states (json, p, selection);
  flam_cli_json_int (json, "samples", count_samples (p, selection));
  flam_cli_json_int (json, "allocations", p->allocations.n);
  flam_cli_json_int (json, "stacks", p->stacks.n);
  flam_cli_json_int (json, "functions", p->functions.n);
  add_facts (json, facts, FLAM_FACT_QUALITY);
  add_threads (json, p, selection);
  add_modules (json, p, selection);
  json_builder_set_member_name (json, "warnings");
  json_builder_begin_array (json);
  for (guint i = 0; facts->warnings[i] != NULL; i++)
    json_builder_add_string_value (json, facts->warnings[i]);
  json_builder_end_array (json);
  json_builder_end_object (json);
  flam_cli_print_json (json);
}

static char *
measure_text (const FlamProfile *p, const FlamSelection *selection, guint i)
{
  const FlamMeasure measure = flam_selection_measure (selection, p, i);

  if (p->facts.sample_bytes == 0)
    return flam_format_weight (&measure, measure_total (p, selection, i));
  return flam_format_figure (
      &p->facts, &measure, measure_figure (p, selection, i));
}

static void
print_measures (const FlamProfile *p, const FlamSelection *selection)
{
  for (guint i = 0; i < p->n_measures; i++)
    {
      const FlamMeasure m = flam_selection_measure (selection, p, i);
      g_autofree char *total = measure_text (p, selection, i);

      flam_cli_print ("%-10s %-18s %s (%s)\n",
                      i == 0 ? "measures" : "",
                      text (p, m.id),
                      total,
                      text (p, m.name));
    }
}

/* ", sh until 1.2 s" for each former name. */
static void
print_former (const FlamProfile *p,
              const FlamProcessTree *process_tree,
              FlamId first)
{
  for (FlamId i = first; i != FLAM_NONE; i = process_tree->next_former[i])
    {
      g_autofree char *until =
          flam_format_value (p->former_names.until[i], FLAM_UNIT_NS);

      flam_cli_print (
          ", %s until %s", text (p, p->former_names.name[i]), until);
    }
}

static void
print_thread (const FlamProfile *p,
              const FlamProcessTree *process_tree,
              FlamThreadId thread,
              const char *heading,
              int indent,
              gint64 samples,
              const char *total)
{
  g_autofree char *name = flam_cli_thread_text (p, thread);

  flam_cli_print ("%-10s %*s%s", heading, indent, "", name);
  flam_cli_print (samples == 1 ? ": %" G_GINT64_FORMAT " sample, %s"
                               : ": %" G_GINT64_FORMAT " samples, %s",
                  samples,
                  total);
  print_former (p, process_tree, process_tree->thread_former[thread]);
  flam_cli_print ("\n");
}

static void
print_process (const FlamProfile *p,
               const FlamProcessTree *process_tree,
               FlamProcessId process,
               const char *heading,
               int indent)
{
  flam_cli_print ("%-10s %*s", heading, indent, "");
  if (p->processes.pid[process] >= 0 || p->processes.name[process] == 0)
    flam_cli_print ("%d ", p->processes.pid[process]);
  flam_cli_print ("%s", text (p, p->processes.name[process]));
  if (p->processes.rank[process] != 0)
    flam_cli_print (", rank %u on %s",
                    p->processes.rank[process] - 1,
                    text (p, p->processes.host[process]));
  print_former (p, process_tree, process_tree->process_former[process]);
  flam_cli_print ("\n");
}

/* Processes below the processes that started them, each with its threads; for a
 * capture without processes, only the threads. */
static void
print_threads (const FlamProfile *p, const FlamSelection *selection)
{
  const FlamMeasure measure =
      flam_selection_measure (selection, p, selection->measure);
  g_autofree gint64 *totals = flam_weights_by_thread (p, selection);
  g_autofree gint64 *samples = flam_weights_count_samples (p, selection);
  g_autoptr (FlamProcessTree) process_tree = flam_process_tree_new (p);
  gboolean none = p->processes.n == 1 && p->processes.pid[0] < 0;
  const char *heading = none ? "threads" : "processes";

  for (guint32 row = 0; row < process_tree->n; row++)
    {
      FlamProcessId process = process_tree->process[row];
      int indent = none ? 0 : (int)MIN (2 * process_tree->depth[row], 200) + 2;

      if (!none && has_process (p, selection, process))
        {
          print_process (p, process_tree, process, heading, indent - 2);
          heading = "";
        }
      for (guint32 i = process_tree->first_thread[row];
           i < process_tree->first_thread[row + 1];
           i++)
        {
          FlamThreadId thread = process_tree->threads[i];
          g_autofree char *total = flam_format_figure (
              &p->facts, &measure, (FlamFigure){ totals[thread], .other = -1 });

          if (!flam_selection_has_thread (selection, thread))
            continue;
          print_thread (
              p, process_tree, thread, heading, indent, samples[thread], total);
          heading = "";
        }
    }
}

static int
compare_totals (gconstpointer a, gconstpointer b, gpointer data)
{
  const gint64 *totals = data;
  FlamId x = *(const FlamId *)a, y = *(const FlamId *)b;

  if (totals[x] != totals[y])
    return totals[x] > totals[y] ? -1 : 1;
  return (x > y) - (x < y);
}

/* The heaviest first; many modules of a program have no samples at all. */
static void
print_modules (const FlamProfile *p, const FlamSelection *selection)
{
  const FlamMeasure measure =
      flam_selection_measure (selection, p, selection->measure);
  g_autofree gint64 *totals = module_totals (p, selection);
  g_autofree FlamId *order = g_new (FlamId, p->modules.n + 1);
  guint32 n = 0;

  for (FlamId i = 0; i < p->modules.n; i++)
    if (totals[i] != 0)
      order[n++] = i;
  g_qsort_with_data (order, (int)n, sizeof *order, compare_totals, totals);
  for (guint32 k = 0; k < n; k++)
    {
      FlamId i = order[k];
      g_autofree char *total = flam_format_figure (
          &p->facts, &measure, (FlamFigure){ totals[i], .other = -1 });
      g_autofree char *why = flam_message_shown (text (p, p->modules.why[i]));

      flam_cli_print ("%-10s %s: %s, symbols: %s%s%s\n",
                      k == 0 ? "modules" : "",
                      text (p, p->modules.path[i]),
                      total,
                      flam_symbol_state_to_string (p->modules.symbols[i]),
                      *why ? ", " : "",
                      why);
    }
  if (n < p->modules.n)
    flam_cli_print ("%-10s %s%u with nothing in them\n",
                    n == 0 ? "modules" : "",
                    n == 0 ? "" : "and another ",
                    p->modules.n - n);
}

static void
print_recorder (const FlamFacts *facts)
{
  g_autofree char *median =
      flam_format_value (facts->stop_median_ns, FLAM_UNIT_NS);
  g_autofree char *p99 = flam_format_value (facts->stop_p99_ns, FLAM_UNIT_NS);
  g_autofree char *own =
      flam_format_value (facts->recorder_cpu_ns, FLAM_UNIT_NS);
  g_autofree char *program =
      flam_format_value (facts->recorded_cpu_ns, FLAM_UNIT_NS);

  if (facts->charged_cpu_ns > 0)
    {
      g_autofree char *recorded =
          flam_format_value (facts->recorded_cpu_ns, FLAM_UNIT_NS);
      g_autofree char *charged =
          flam_format_value (facts->charged_cpu_ns, FLAM_UNIT_NS);

      g_print ("CPU        recorded %s of %s\n", recorded, charged);
    }
  if (facts->recorder_share >= 0 && facts->recorder_cpu_ns > 0 &&
      facts->recorded_cpu_ns < FLAM_SHORT_CPU)
    flam_cli_print ("recorder   used %s, the program %s\n", own, program);
  else if (facts->recorder_share >= 0)
    flam_cli_print ("recorder   used %.1f %% of the program's CPU time\n",
                    100 * facts->recorder_share);
  if (facts->engine[0])
    {
      g_autofree char *reason = flam_message_shown (facts->engine_reason);

      flam_cli_print (
          "engine     %s%s%s\n", facts->engine, *reason ? ": " : "", reason);
    }
  if (facts->stop_median_ns > 0)
    flam_cli_print ("stops      %s (median)%s%s%s\n",
                    median,
                    facts->stop_p99_ns > 0 ? ", " : "",
                    facts->stop_p99_ns > 0 ? p99 : "",
                    facts->stop_p99_ns > 0 ? " (99 of 100)" : "");
  if (facts->waiting_stops > 0)
    flam_cli_print (facts->waiting_stops == 1
                        ? "waiting    %" G_GINT64_FORMAT
                          " stop found the thread waiting for a CPU, and was "
                          "left out\n"
                        : "waiting    %" G_GINT64_FORMAT
                          " stops found the thread waiting for a CPU, and were "
                          "left out\n",
                    facts->waiting_stops);
  if (facts->uncertain_stops > 0)
    flam_cli_print (facts->uncertain_stops == 1
                        ? "uncertain  %" G_GINT64_FORMAT
                          " stop for which it was estimated whether the thread "
                          "was running\n"
                        : "uncertain  %" G_GINT64_FORMAT
                          " stops for which it was estimated whether the "
                          "thread was running\n",
                    facts->uncertain_stops);
  if (flam_facts_unseen (facts) > 0)
    flam_cli_print (
        "unseen     up to %.0f %% of the CPU time, around waits: the "
        "kernel takes no sample there\n",
        100 * flam_facts_unseen (facts));
  if (facts->unnamed_frames > 0)
    flam_cli_print (facts->unnamed_frames == 1
                        ? "unnamed    %" G_GINT64_FORMAT
                          " frame of a managed language whose name could not "
                          "be read\n"
                        : "unnamed    %" G_GINT64_FORMAT
                          " frames of managed languages whose names could not "
                          "be read\n",
                    facts->unnamed_frames);
}

static void
print_sampled (const FlamFacts *facts)
{
  g_autofree char *every = flam_format_power (MAX (facts->sample_bytes, 0));
  const char *since = flam_facts_other (facts, FLAM_FACT_MEMORY_SINCE);

  if (facts->sample_bytes > 0)
    flam_cli_print ("sampled    one allocation every %s: %s\n",
                    every,
                    facts->allocated_bytes > 0 && since == NULL
                        ? "the sums are counted, their split by stack is an "
                          "estimate"
                    : facts->allocated_bytes > 0
                        ? "allocated memory is counted, the other sums are "
                          "estimates"
                        : "all sums are estimates");
  if (since != NULL)
    flam_cli_print ("since      %s: earlier blocks are not counted, nor their "
                    "release\n",
                    since);
  if (facts->unseen_heap[0])
    {
      g_autofree char *unseen = flam_message_shown (facts->unseen_heap);

      flam_cli_print ("not in it  %s\n", unseen);
    }
}

/* The working folders of processes of the selection, each once. */
static void
print_folders (const FlamProfile *p, const FlamSelection *selection)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autofree FlamStringId *folders = flam_profile_working_folders (p);
  guint more = 0;

  for (FlamId i = 0; i < p->processes.n; i++)
    {
      if (folders[i] == 0 || !has_process (p, selection, i) ||
          !g_hash_table_add (seen, GUINT_TO_POINTER (folders[i])))
        continue;
      if (g_hash_table_size (seen) <= FOLDERS_MAX)
        flam_cli_print ("%-10s %s\n",
                        g_hash_table_size (seen) == 1 ? "folder" : "",
                        text (p, folders[i]));
      else
        more++;
    }
  if (more > 0)
    flam_cli_print ("%-10s and another %u\n", "", more);
}

static void
print_text (const FlamProfile *p, const FlamSelection *selection)
{
  const FlamFacts *facts = &p->facts;
  g_autofree char *duration =
      flam_format_moment (flam_facts_clock (facts), facts->duration_ns);

  print_headline (p, selection);
  flam_cli_print ("format     %s\n", facts->format);
  if (facts->command[0])
    flam_cli_print ("command    %s\n", facts->command);
  print_folders (p, selection);
  if (flam_facts_other (facts, FLAM_FACT_JOB) != NULL)
    flam_cli_print ("job        %s\n", flam_facts_other (facts, FLAM_FACT_JOB));
  if (facts->duration_ns)
    flam_cli_print ("duration   %s\n", duration);
  if (!facts->complete && facts->read_fraction >= 0.995)
    flam_cli_print ("partial    the end of the file is missing\n");
  else if (!facts->complete)
    flam_cli_print ("partial    %.0f %% of the file could be read\n",
                    100 * facts->read_fraction);
  print_measures (p, selection);
  if (p->samples.state != NULL)
    print_states (p, selection);
  flam_cli_print (p->stacks.n == 1
                      ? "samples    %" G_GINT64_FORMAT " in %u stack of "
                      : "samples    %" G_GINT64_FORMAT " in %u stacks of ",
                  count_samples (p, selection),
                  p->stacks.n);
  flam_cli_print (p->functions.n == 1 ? "%u function\n" : "%u functions\n",
                  p->functions.n);
  if (p->allocations.n)
    flam_cli_print (p->allocations.n == 1 ? "blocks     %u row\n"
                                          : "blocks     %u rows\n",
                    p->allocations.n);
  print_sampled (facts);
  if (facts->lost)
    flam_cli_print ("lost       %" G_GUINT64_FORMAT "\n", facts->lost);
  if (facts->late)
    flam_cli_print (facts->late == 1
                        ? "late       %" G_GUINT64_FORMAT " sample\n"
                        : "late       %" G_GUINT64_FORMAT " samples\n",
                    facts->late);
  if (facts->truncated_stacks)
    flam_cli_print (facts->truncated_stacks == 1
                        ? "truncated  %" G_GUINT64_FORMAT " stack\n"
                        : "truncated  %" G_GUINT64_FORMAT " stacks\n",
                    facts->truncated_stacks);
  print_recorder (facts);
  print_threads (p, selection);
  print_modules (p, selection);
  for (guint i = 0; facts->warnings[i] != NULL; i++)
    {
      g_autofree char *warning = flam_message_shown (facts->warnings[i]);

      flam_cli_print ("warning    %s\n", warning);
    }
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = NULL;
  FlamExit status;
  g_auto (GStrv) files = NULL;

  if (!flam_cli_parse (&argc, &argv, &flam_verb_info, options, NULL, 1, &files))
    return FLAM_EXIT_USAGE;
  profile = flam_cli_load (files[0], options);
  if (profile == NULL)
    return FLAM_EXIT_REFUSED;
  selection = flam_cli_select (options, profile, files[0], &status);
  if (selection == NULL)
    return status;
  if (options->json)
    print_json (profile, selection);
  else
    print_text (profile, selection);
  return FLAM_EXIT_DONE;
}

const FlamVerb flam_verb_info = {
  "info", "FILE [--json]", N_ ("show what a capture contains"), run, TRUE
};
