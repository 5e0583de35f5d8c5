/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The tables of a profile (flam-profile.h) for SQL, and for
 * flam-import-sqlite.c. A table's name is in the singular; ids are those of the
 * profile, and NULL is none:
 *
 *   sample ──stack──▶ stack ──frame──▶ frame ──function──▶ function
 *      │                │ parent ▲                            │ module
 *   thread              └────────┘                            ▼
 *      │                                                   module
 *   process
 *
 * Views have the costs by the selected measure: functions and lines as in
 * "top" and "lines", stacks as text. Their totals, which count a stack once,
 * are computed here, since SQL would take long for them. */

#include "flam-formats.h"

#include "flam-database.h"
#include "flam-export-common.h"
#include "flam-part.h"

static void
put_id (FlamDatabase *to, FlamId id)
{
  if (id != FLAM_NONE)
    flam_database_int (to, id);
  else
    flam_database_null (to);
}

static void
put_string (FlamDatabase *to, const FlamProfile *profile, FlamId string)
{
  flam_database_text (to, flam_profile_string (profile, string));
}

/* Numbers of the operating system. */
static void
put_number (FlamDatabase *to, gint64 number)
{
  if (number >= 0)
    flam_database_int (to, number);
  else
    flam_database_null (to);
}

static void
put_weight (FlamDatabase *to, const FlamMeasure *measure, gint64 weight)
{
  if (measure->denominator == 1)
    flam_database_int (to, weight);
  else
    flam_database_real (to, (double)weight / (double)measure->denominator);
}

/* --- recorded events ---------------------------------------------------- */

static void
put_fact (FlamDatabase *to, const char *name, const char *value)
{
  flam_database_text (to, name);
  flam_database_text (to, value);
  flam_database_row (to);
}

static gboolean
is_member (const char *key)
{
  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (strcmp (fact->member, key) == 0)
      return TRUE;
  return FALSE;
}

static void
put_facts (FlamDatabase *to, const FlamPart *part)
{
  const FlamFacts *facts = &part->profile->facts;

  flam_database_begin (to, "fact", "name TEXT, value TEXT");
  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (fact->type != FLAM_FACT_SHARE && flam_fact_is_known (fact, facts))
      {
        g_autofree char *text = flam_fact_to_text (fact, facts);

        put_fact (to, fact->member, text);
      }
  for (guint i = 0; facts->others[i] != NULL; i += 2)
    if (!is_member (facts->others[i]))
      put_fact (to, facts->others[i], facts->others[i + 1]);
  if (part->profile->allocations.at_peak != NULL)
    {
      g_autofree char *text = g_strdup_printf (
          "%" G_GINT64_FORMAT, part->profile->allocations.peak_time);

      put_fact (to, FLAM_FACT_PEAK_TIME, text);
    }
  flam_database_begin (to, "warning", "text TEXT");
  for (guint i = 0; facts->warnings != NULL && facts->warnings[i] != NULL; i++)
    {
      flam_database_text (to, facts->warnings[i]);
      flam_database_row (to);
    }
}

/* The others weigh 1 each, or are sums over allocations. */
static gboolean
has_column (const FlamMeasure *measure)
{
  return measure->source == FLAM_FROM_SAMPLES && measure->weight != NULL;
}

/* Without quotes and commas, which end the name of a column. */
static char *
plain_id (const FlamProfile *profile, guint m)
{
  const char *id = flam_profile_string (profile, profile->measures[m].id);
  g_auto (GStrv) parts = g_strsplit_set (id, "\",", -1);

  return g_strjoinv ("_", parts);
}

/* The column with the weights of a measure. */
static char *
weight_column (const FlamProfile *profile, guint m)
{
  g_autofree char *plain = plain_id (profile, m);

  for (guint i = 0; i < m; i++)
    {
      g_autofree char *other = plain_id (profile, i);

      if (g_ascii_strcasecmp (plain, other) == 0)
        return g_strdup_printf ("weight %s %u", plain, m);
    }
  return g_strdup_printf ("weight %s", plain);
}

static void
put_measures (FlamDatabase *to, const FlamPart *part)
{
  const FlamProfile *profile = part->profile;

  flam_database_begin (
      to,
      "measure",
      "id TEXT PRIMARY KEY, name TEXT, unit TEXT, selected INTEGER, kind TEXT, "
      "source TEXT, weights TEXT, denominator INTEGER, event INTEGER, spans "
      "INTEGER");
  for (guint m = 0; m < profile->n_measures; m++)
    {
      const FlamMeasure *measure = &profile->measures[m];

      put_string (to, profile, measure->id);
      put_string (to, profile, measure->name);
      flam_database_text (to, flam_unit_to_string (measure->unit));
      flam_database_int (to, m == part->measure);
      flam_database_text (to, flam_measure_kind_to_string (measure->kind));
      flam_database_text (to, flam_measure_source_to_string (measure->source));
      if (has_column (measure))
        {
          g_autofree char *column = weight_column (profile, m);

          flam_database_text (to, column);
        }
      else
        flam_database_null (to);
      flam_database_int (to, measure->denominator);
      put_id (to, measure->event);
      flam_database_int (to, measure->spans);
      flam_database_row (to);
    }
}

static void
put_threads (FlamDatabase *to, const FlamProfile *profile)
{
  const FlamProcesses *processes = &profile->processes;
  const FlamThreads *threads = &profile->threads;

  flam_database_begin (
      to,
      "process",
      "id INTEGER PRIMARY KEY, pid INTEGER, name TEXT, parent INTEGER, "
      "host TEXT, rank INTEGER");
  for (FlamId i = 0; i < processes->n; i++)
    {
      flam_database_int (to, i);
      put_number (to, processes->pid[i]);
      put_string (to, profile, processes->name[i]);
      put_id (to, processes->parent[i]);
      put_string (to, profile, processes->host[i]);
      put_number (to, (gint64)processes->rank[i] - 1);
      flam_database_row (to);
    }
  flam_database_begin (
      to,
      "thread",
      "id INTEGER PRIMARY KEY, tid INTEGER, name TEXT, process INTEGER");
  for (FlamId i = 0; i < threads->n; i++)
    {
      flam_database_int (to, i);
      put_number (to, threads->tid[i]);
      put_string (to, profile, threads->name[i]);
      put_id (to, threads->process[i]);
      flam_database_row (to);
    }
}

/* In order of time; each is a process's or a thread's. */
static void
put_former_names (FlamDatabase *to, const FlamProfile *profile)
{
  const FlamFormerNames *former = &profile->former_names;

  flam_database_begin (
      to,
      "former_name",
      "process INTEGER, thread INTEGER, name TEXT, until INTEGER");
  for (FlamId i = 0; i < former->n; i++)
    {
      put_id (to, former->process[i]);
      put_id (to, former->thread[i]);
      put_string (to, profile, former->name[i]);
      flam_database_int (to, former->until[i]);
      flam_database_row (to);
    }
}

/* In order of time. */
static void
put_working_folders (FlamDatabase *to, const FlamProfile *profile)
{
  const FlamWorkingFolders *folders = &profile->working_folders;

  flam_database_begin (to, "working_folder", "process INTEGER, path TEXT");
  for (FlamId i = 0; i < folders->n; i++)
    {
      put_id (to, folders->process[i]);
      put_string (to, profile, folders->path[i]);
      flam_database_row (to);
    }
}

/* --- code ----------------------------------------------------------------- */

static void
put_modules (FlamDatabase *to, const FlamProfile *profile)
{
  const FlamModules *modules = &profile->modules;

  flam_database_begin (
      to,
      "module",
      "id INTEGER PRIMARY KEY, name TEXT, path TEXT, build_id TEXT, "
      "addressing INTEGER, symbols TEXT, why TEXT");
  for (FlamId i = 0; i < modules->n; i++)
    {
      flam_database_int (to, i);
      put_string (to, profile, modules->name[i]);
      put_string (to, profile, modules->path[i]);
      put_string (to, profile, modules->build_id[i]);
      flam_database_int (to, modules->addressing[i]);
      flam_database_text (to,
                          flam_symbol_state_to_string (modules->symbols[i]));
      put_string (to, profile, modules->why[i]);
      flam_database_row (to);
    }
}

static void
put_functions (FlamDatabase *to, const FlamProfile *profile)
{
  const FlamFunctions *functions = &profile->functions;

  flam_database_begin (
      to,
      "function",
      "id INTEGER PRIMARY KEY, name TEXT, system_name TEXT, module INTEGER, "
      "file TEXT, line INTEGER, kind TEXT, flags INTEGER");
  for (FlamId i = 0; i < functions->n; i++)
    {
      flam_database_int (to, i);
      put_string (to, profile, functions->name[i]);
      put_string (to, profile, functions->system_name[i]);
      put_id (to, functions->module[i]);
      put_string (to, profile, functions->file[i]);
      flam_database_int (to, functions->line[i]);
      flam_database_text (to,
                          flam_function_kind_to_string (functions->kind[i]));
      flam_database_int (to, functions->flags[i]);
      flam_database_row (to);
    }
}

/* SQLite's integers have a sign. */
static void
put_stacks (FlamDatabase *to, const FlamProfile *profile)
{
  const FlamFrames *frames = &profile->frames;
  const FlamStacks *stacks = &profile->stacks;

  flam_database_begin (
      to,
      "frame",
      "id INTEGER PRIMARY KEY, function INTEGER, file TEXT, line INTEGER, "
      "address INTEGER, inline_depth INTEGER, status INTEGER");
  for (FlamId i = 0; i < frames->n; i++)
    {
      flam_database_int (to, i);
      put_id (to, frames->function[i]);
      put_string (to, profile, frames->file[i]);
      flam_database_int (to, frames->line[i]);
      flam_database_int (to, (gint64)frames->address[i]);
      flam_database_int (to, frames->inline_depth[i]);
      flam_database_int (to, frames->status[i]);
      flam_database_row (to);
    }
  flam_database_begin (
      to, "stack", "id INTEGER PRIMARY KEY, parent INTEGER, frame INTEGER");
  for (FlamId i = 0; i < stacks->n; i++)
    {
      flam_database_int (to, i);
      put_id (to, stacks->prefix[i]);
      put_id (to, stacks->frame[i]);
      flam_database_row (to);
    }
}

/* --- events --------------------------------------------------------------- */

/* Those that the capture has; measures under their names in quotes. */
static char *
sample_columns (const FlamProfile *profile)
{
  const FlamSamples *samples = &profile->samples;
  GString *columns = g_string_new ("thread INTEGER, stack INTEGER");

  if (samples->time != NULL)
    g_string_append (columns, ", time INTEGER");
  if (samples->event != NULL)
    g_string_append (columns, ", event INTEGER");
  if (samples->state != NULL)
    g_string_append (columns, ", state INTEGER");
  if (samples->labels != NULL)
    g_string_append (columns, ", labels INTEGER");
  for (guint m = 0; m < profile->n_measures; m++)
    if (has_column (&profile->measures[m]))
      {
        g_autofree char *column = weight_column (profile, m);

        g_string_append_printf (columns, ", \"%s\" NUMERIC", column);
      }
  return g_string_free (columns, FALSE);
}

/* The current row, and the members of the columns. */
typedef struct
{
  const FlamProfile *profile;
  FlamId thread;
  guint32 k; /* in the thread's slice */
  guint32 i;
  GArray *columns; /* Column */
} Samples;

typedef struct
{
  enum
  {
    THREAD,
    STACK,
    TIME,
    EVENT,
    STATE,
    LABELS,
    WEIGHT,
  } kind;
  const FlamMeasure *measure; /* WEIGHT */
} Column;

static GArray *
list_columns (const FlamProfile *profile)
{
  const FlamSamples *samples = &profile->samples;
  GArray *columns = g_array_new (FALSE, FALSE, sizeof (Column));

  g_array_append_val (columns, ((Column){ THREAD }));
  g_array_append_val (columns, ((Column){ STACK }));
  if (samples->time != NULL)
    g_array_append_val (columns, ((Column){ TIME }));
  if (samples->event != NULL)
    g_array_append_val (columns, ((Column){ EVENT }));
  if (samples->state != NULL)
    g_array_append_val (columns, ((Column){ STATE }));
  if (samples->labels != NULL)
    g_array_append_val (columns, ((Column){ LABELS }));
  for (guint m = 0; m < profile->n_measures; m++)
    if (has_column (&profile->measures[m]))
      g_array_append_val (columns, ((Column){ WEIGHT, &profile->measures[m] }));
  return columns;
}

static gboolean
next_sample (gpointer data)
{
  Samples *at = data;
  const FlamThreads *threads = &at->profile->threads;

  for (at->k++; at->thread < threads->n; at->thread++, at->k = 0)
    if (at->k < threads->n_samples[at->thread])
      {
        at->i = threads->first_sample[at->thread] + at->k;
        return TRUE;
      }
  return FALSE;
}

static void
put_cell (FlamDatabase *to, guint column, gpointer data)
{
  const Samples *at = data;
  const FlamSamples *samples = &at->profile->samples;
  const Column *of = &g_array_index (at->columns, Column, column);
  const FlamMeasure *measure = of->measure;

  switch (of->kind)
    {
    case THREAD:
      flam_database_int (to, at->thread);
      break;
    case STACK:
      put_id (to, samples->stack[at->i]);
      break;
    case TIME:
      flam_database_int (to, samples->time[at->i]);
      break;
    case EVENT:
      flam_database_int (to, samples->event[at->i]);
      break;
    case STATE:
      flam_database_int (to, samples->state[at->i]);
      break;
    case LABELS:
      put_id (to,
              samples->labels[at->i] > 0 ? samples->labels[at->i] : FLAM_NONE);
      break;
    case WEIGHT:
      if (measure->event != FLAM_NONE && samples->event != NULL &&
          samples->event[at->i] != measure->event)
        flam_database_null (to);
      else
        put_weight (to, measure, measure->weight[at->i]);
      break;
    }
}

static void
put_samples (FlamDatabase *to, const FlamProfile *profile)
{
  g_autofree char *columns = sample_columns (profile);
  g_autoptr (GArray) list = list_columns (profile);
  Samples at = { profile, 0, G_MAXUINT32, 0, list };

  flam_database_begin (to, "state", "id INTEGER PRIMARY KEY, name TEXT");
  for (guint i = 0; i < FLAM_N_STATES; i++)
    {
      flam_database_int (to, i);
      flam_database_text (to, flam_state_to_string (i));
      flam_database_row (to);
    }
  flam_database_take (to, "sample", columns, next_sample, put_cell, &at);
}

static void
put_allocations (FlamDatabase *to, const FlamProfile *profile)
{
  const FlamAllocations *rows = &profile->allocations;

  flam_database_begin (
      to,
      "allocation",
      "thread INTEGER, time INTEGER, freed_at INTEGER, stack INTEGER, "
      "size INTEGER, count INTEGER, allocator TEXT, at_peak INTEGER, "
      "born_more INTEGER, died_more INTEGER, distance INTEGER");
  for (FlamId i = 0; i < rows->n && !flam_database_is_broken (to); i++)
    {
      put_id (to, rows->thread[i]);
      flam_database_int (to, rows->time[i]);
      put_number (to, rows->freed_at[i] != FLAM_NEVER ? rows->freed_at[i] : -1);
      put_id (to, rows->stack[i]);
      flam_database_int (to, rows->size[i]);
      flam_database_int (to, rows->count[i]);
      flam_database_text (to,
                          flam_allocator_to_string (
                              rows->allocator != NULL ? rows->allocator[i]
                                                      : FLAM_ALLOCATOR_MALLOC));
      put_number (to, rows->at_peak != NULL ? rows->at_peak[i] : -1);
      flam_database_int (to, rows->born_more[i]);
      flam_database_int (to, rows->died_more[i]);
      put_number (to, rows->distance[i] < G_MAXUINT16 ? rows->distance[i] : -1);
      flam_database_row (to);
    }
}

static void
put_others (FlamDatabase *to, const FlamProfile *profile)
{
  const FlamMarks *marks = &profile->marks;
  const FlamSampleLabels *labels = &profile->labels;

  flam_database_begin (
      to, "mark", "thread INTEGER, time INTEGER, duration INTEGER, name TEXT");
  for (FlamId i = 0; i < marks->n; i++)
    {
      put_id (to, marks->thread[i]);
      flam_database_int (to, marks->time[i]);
      flam_database_int (to, marks->duration[i]);
      put_string (to, profile, marks->name[i]);
      flam_database_row (to);
    }
  /* A counter of fractions has the unit "number". */
  flam_database_begin (
      to, "counter", "name TEXT, time INTEGER, value NUMERIC, unit TEXT");
  for (guint c = 0; c < profile->n_counters; c++)
    for (guint32 i = 0; i < profile->counters[c].n; i++)
      {
        put_string (to, profile, profile->counters[c].id);
        flam_database_int (to, profile->counters[c].time[i]);
        if (profile->counters[c].unit == FLAM_UNIT_THOUSANDTHS)
          {
            flam_database_real (to,
                                (double)profile->counters[c].value[i] / 1000);
            flam_database_text (to, "number");
          }
        else
          {
            flam_database_int (to, profile->counters[c].value[i]);
            flam_database_text (
                to, flam_unit_to_string (profile->counters[c].unit));
          }
        flam_database_row (to);
      }
  /* "labels" of samples are sets of these. */
  flam_database_begin (
      to,
      "label",
      "labels INTEGER, key TEXT, value TEXT, number INTEGER, unit TEXT");
  for (guint32 i = 0; i < labels->n; i++)
    {
      flam_database_int (to, labels->set[i]);
      put_string (to, profile, labels->key[i]);
      put_string (to, profile, labels->value[i]);
      if (labels->unit[i] != FLAM_NONE)
        {
          flam_database_int (to, labels->number[i]);
          put_string (to, profile, labels->unit[i]);
        }
      else
        {
          flam_database_null (to);
          flam_database_null (to);
        }
      flam_database_row (to);
    }
}

static void
put_texts (FlamDatabase *to, const FlamProfile *profile)
{
  const FlamNotes *notes = &profile->notes;
  const FlamSources *sources = &profile->sources;

  flam_database_begin (
      to,
      "note",
      "text TEXT, function TEXT, start INTEGER, stop INTEGER, written INTEGER");
  for (FlamId i = 0; i < notes->n; i++)
    {
      put_string (to, profile, notes->text[i]);
      if (notes->function[i] != FLAM_NONE)
        put_string (to, profile, notes->function[i]);
      else
        flam_database_null (to);
      flam_database_int (to, notes->from[i]);
      flam_database_int (to, notes->to[i]);
      flam_database_int (to, notes->written[i]);
      flam_database_row (to);
    }
  flam_database_begin (to, "source", "path TEXT, text TEXT");
  for (FlamId i = 0; i < sources->n; i++)
    {
      put_string (to, profile, sources->path[i]);
      put_string (to, profile, sources->text[i]);
      flam_database_row (to);
    }
}

/* NULL of `reached`: of a jump without a condition. */
static void
put_jumps (FlamDatabase *to, const FlamProfile *profile)
{
  const FlamJumps *jumps = &profile->jumps;

  flam_database_begin (
      to,
      "jump",
      "from_frame INTEGER, to_frame INTEGER, taken INTEGER, reached INTEGER");
  for (FlamId i = 0; i < jumps->n && !flam_database_is_broken (to); i++)
    {
      put_id (to, jumps->from[i]);
      put_id (to, jumps->to[i]);
      flam_database_int (to, jumps->taken[i]);
      put_number (to, jumps->reached[i]);
      flam_database_row (to);
    }
}

/* --- costs ---------------------------------------------------------------- */

static void
put_function_costs (FlamDatabase *to, const FlamPart *part)
{
  const FlamMeasure *measure = flam_part_measure (part);
  g_autoptr (FlamTree) tree = flam_export_tree (part->profile, part->all);
  guint n;
  g_autofree FlamFunctionRow *rows =
      flam_functions_new_whole (tree, FLAM_SORT_SELF, &n);

  flam_database_begin (
      to,
      "function_cost",
      "name TEXT, module TEXT, file TEXT, line INTEGER, self NUMERIC, "
      "total NUMERIC");
  for (guint i = 0; i < n; i++)
    {
      guint32 line;

      flam_database_text (to, flam_functions_name (tree, rows[i].node));
      flam_database_text (to, flam_export_module (tree, rows[i].node));
      flam_database_text (to, flam_export_file (tree, rows[i].node, &line));
      flam_database_int (to, line);
      put_weight (to, measure, rows[i].self);
      put_weight (to, measure, rows[i].total);
      flam_database_row (to);
    }
}

static void
put_costs (FlamDatabase *to, const FlamPart *part)
{
  const FlamMeasure *measure = flam_part_measure (part);
  g_autoptr (FlamWeights) weights =
      flam_weights_new (part->profile, part->all, NULL, NULL);
  guint n;
  g_autofree FlamFileLineRow *rows = flam_lines_all (weights, part->all, &n);

  flam_database_begin (
      to, "line_cost", "file TEXT, line INTEGER, self NUMERIC, total NUMERIC");
  for (guint i = 0; i < n; i++)
    {
      put_string (to, part->profile, rows[i].file);
      flam_database_int (to, rows[i].row.line);
      put_weight (to, measure, rows[i].row.self);
      put_weight (to, measure, rows[i].row.total);
      flam_database_row (to);
    }
  flam_database_begin (
      to, "stack_cost", "stack INTEGER PRIMARY KEY, self NUMERIC");
  for (FlamId s = 0; s < part->profile->stacks.n; s++)
    if (weights->weight[s] != 0)
      {
        flam_database_int (to, s);
        put_weight (to, measure, weights->weight[s]);
        flam_database_row (to);
      }
}

static const char views[] =
    "CREATE INDEX stack_parent ON stack (parent);"
    "CREATE VIEW functions (name, module, file, self, total) AS"
    "  SELECT name, module, file, self, total FROM function_cost;"
    "CREATE VIEW lines (file, line, self, total) AS"
    "  SELECT file, line, self, total FROM line_cost;"
    "CREATE VIEW stacks (stack, text, self) AS"
    "  WITH RECURSIVE path (id, text) AS ("
    "    SELECT stack.id, function.name FROM stack"
    "      JOIN frame ON frame.id = stack.frame"
    "      JOIN function ON function.id = frame.function"
    "      WHERE stack.parent IS NULL"
    "    UNION ALL"
    "    SELECT stack.id, path.text || ';' || function.name FROM path"
    "      JOIN stack ON stack.parent = path.id"
    "      JOIN frame ON frame.id = stack.frame"
    "      JOIN function ON function.id = frame.function)"
    "  SELECT path.id, path.text, stack_cost.self FROM path"
    "    JOIN stack_cost ON stack_cost.stack = path.id;";

static gboolean
save (FlamExport *export, GError **error)
{
  const FlamPart *part = export->part;
  const FlamProfile *profile = part->profile;
  g_autoptr (FlamDatabase) to = flam_database_new ();

  put_facts (to, part);
  put_measures (to, part);
  put_threads (to, profile);
  put_former_names (to, profile);
  put_working_folders (to, profile);
  put_modules (to, profile);
  put_functions (to, profile);
  put_stacks (to, profile);
  put_samples (to, profile);
  put_allocations (to, profile);
  put_others (to, profile);
  put_texts (to, profile);
  put_jumps (to, profile);
  put_function_costs (to, part);
  put_costs (to, part);
  flam_database_run (to, views);
  return flam_database_finish (to, export->out, error);
}

const FlamExporter flam_export_sqlite = {
  .id = "sqlite",
  .label = "SQLite",
  .suffix = "sqlite",
  .mime_type = "application/vnd.sqlite3",
  .holds = FLAM_HOLDS_THREADS | FLAM_HOLDS_PROCESSES | FLAM_HOLDS_ORDER |
           FLAM_HOLDS_TIMES | FLAM_HOLDS_STATES | FLAM_HOLDS_MEASURES |
           FLAM_HOLDS_FILES | FLAM_HOLDS_LINES | FLAM_HOLDS_INLINES |
           FLAM_HOLDS_MODULES | FLAM_HOLDS_KINDS | FLAM_HOLDS_BLOCKS |
           FLAM_HOLDS_MARKS | FLAM_HOLDS_COUNTERS | FLAM_HOLDS_LABELS |
           FLAM_HOLDS_FRACTIONS | FLAM_HOLDS_STATUS | FLAM_HOLDS_JUMPS,
  .puts = FLAM_PUTS_PART,
  .save = save,
};
