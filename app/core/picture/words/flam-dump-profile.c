/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Dumps the tables of a profile by their description: a column that is present
 * is written as " name=value" unless this file has another form for it. */

#include "flam-dump-private.h"

#include "flam-format.h"
#include "flam-tables.h"

#include <string.h>

typedef enum
{
  SPELL_PLAIN, /* a number, a row's number, or the text of a string */
  SPELL_HEX,
  SPELL_FUNCTION_KIND,
  SPELL_STATE,
  SPELL_SYMBOL_STATE,
  SPELL_LINE,   /* of a function with a known file */
  SPELL_FILE,   /* of a frame, where it differs from the function's */
  SPELL_STATUS, /* words, unless it is 0 */
  SPELL_UNLESS, /* as SPELL_PLAIN, unless it is a certain number */
  SPELL_NOT,    /* not written, as it follows from the others */
} Spelling;

typedef struct
{
  const char *column;
  Spelling spelling;
  const char *label; /* NULL: " name=" */
  int order;         /* position within the row; 0 as described */
  gint64 unless;
} Spelled;

static const Spelled spelled[] = {
  { "profile.modules.path", SPELL_PLAIN, " " },
  { "profile.modules.addressing", SPELL_NOT },
  { "profile.modules.name", SPELL_NOT },
  { "profile.modules.symbols", SPELL_SYMBOL_STATE },
  { "profile.functions.name", SPELL_PLAIN, " ", -6 },
  { "profile.functions.kind", SPELL_FUNCTION_KIND, " ", -5 },
  { "profile.functions.file", SPELL_UNLESS, " at ", -4, 0 },
  { "profile.functions.line", SPELL_LINE, ":", -3 },
  { "profile.functions.flags", SPELL_UNLESS, NULL, -2, 0 },
  { "profile.functions.module", SPELL_PLAIN, NULL, -1 },
  { "profile.functions.system_name", SPELL_NOT },
  { "profile.frames.function", SPELL_PLAIN, NULL, -1 },
  { "profile.frames.address", SPELL_HEX },
  { "profile.frames.inline_depth", SPELL_PLAIN, " inline=" },
  { "profile.frames.file", SPELL_FILE },
  { "profile.frames.status", SPELL_STATUS },
  { "profile.processes.host", SPELL_UNLESS, NULL, 0, 0 },
  { "profile.processes.rank", SPELL_UNLESS, NULL, 0, 0 },
  { "profile.processes.parent", SPELL_PLAIN, NULL, 1 },
  { "profile.samples.state", SPELL_STATE },
  { "profile.allocations.freed_at", SPELL_UNLESS, " freed=", 0, FLAM_NEVER },
  { "profile.allocations.distance", SPELL_UNLESS, NULL, 0, G_MAXUINT16 },
  { "profile.allocations.allocator", SPELL_UNLESS, NULL, 0, 0 },
  { "profile.allocations.born_more", SPELL_UNLESS, NULL, 0, 0 },
  { "profile.allocations.died_more", SPELL_UNLESS, NULL, 0, 0 },
  { "profile.marks.name", SPELL_PLAIN, " " },
  { "profile.samples.labels", SPELL_UNLESS, NULL, 0, 0 },
  { "profile.labels.set", SPELL_PLAIN, " " },
  { "profile.labels.key", SPELL_PLAIN, " " },
  { "profile.labels.number", SPELL_UNLESS, NULL, 0, 0 },
  { "profile.labels.unit", SPELL_UNLESS, NULL, 0, FLAM_NONE },
  { "profile.notes.function", SPELL_UNLESS, NULL, 0, FLAM_NONE },
  { "profile.sources.path", SPELL_PLAIN, " " },
  { "profile.sources.text", SPELL_NOT },
  { "profile.jumps.from", SPELL_PLAIN, " " },
  { "profile.jumps.reached", SPELL_UNLESS, NULL, 0, -1 },
  { "profile.working_folders.process", SPELL_PLAIN, " " },
  { "profile.working_folders.path", SPELL_PLAIN, " " },
  { "profile.former_names.process", SPELL_UNLESS, NULL, 0, FLAM_NONE },
  { "profile.former_names.thread", SPELL_UNLESS, NULL, 0, FLAM_NONE },
  { "profile.former_names.name", SPELL_PLAIN, " ", 1 },
};

/* A column to write. */
typedef struct
{
  const FlamColumnInfo *info;
  gconstpointer cells;
  char *label;
  Spelled how;
} Told;

static void
told_clear (gpointer data)
{
  g_free (((Told *)data)->label);
}

static int
compare_told (gconstpointer a, gconstpointer b)
{
  const Told *x = a, *y = b;

  if (x->how.order != y->how.order)
    return x->how.order < y->how.order ? -1 : 1;
  return (x->info > y->info) - (x->info < y->info);
}

static Spelled
spelled_of (const FlamColumnInfo *info)
{
  for (guint i = 0; i < G_N_ELEMENTS (spelled); i++)
    if (strcmp (spelled[i].column, info->name) == 0)
      return spelled[i];
  return (Spelled){ info->name };
}

static GArray *
told_columns (const FlamDump *dump, FlamTable table)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  GArray *columns = g_array_new (FALSE, FALSE, sizeof (Told));

  g_array_set_clear_func (columns, told_clear);
  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];
      Told told = { info, .how = spelled_of (info) };

      if (info->offset >= sizeof (FlamProfile) ||
          told.how.spelling == SPELL_NOT)
        continue;
      told.cells = *(const gconstpointer *)G_STRUCT_MEMBER_P (dump->profile,
                                                              info->offset);
      if (told.cells == NULL)
        continue;
      told.label =
          told.how.label != NULL
              ? g_strdup (told.how.label)
              : g_strdup_printf (" %s=", strrchr (info->name, '.') + 1);
      g_array_append_val (columns, told);
    }
  g_array_sort (columns, compare_told);
  return columns;
}

/* --- cells ---------------------------------------------------------------- */

static gboolean
is_told (const FlamProfile *p, const Told *told, FlamId row, gint64 value)
{
  switch (told->how.spelling)
    {
    case SPELL_UNLESS:
      return value != told->how.unless;
    case SPELL_STATUS:
      return value != 0;
    case SPELL_LINE:
      return p->functions.file[row] != 0;
    case SPELL_FILE:
      return value != p->functions.file[p->frames.function[row]];
    default:
      return TRUE;
    }
}

static void
add_plain (const FlamDump *dump, const FlamColumnInfo *info, gint64 value)
{
  gboolean refers =
      info->encoding == FLAM_ENCODE_ID || info->flags & FLAM_COLUMN_REFERS;

  if (refers && info->refers_to == FLAM_TABLE_STRINGS)
    g_string_append (dump->out, flam_dump_string (dump, (FlamId)value));
  else if (refers && value == FLAM_NONE)
    g_string_append_c (dump->out, '-');
  else
    g_string_append_printf (dump->out, "%" G_GINT64_FORMAT, value);
}

static void
add_cell (const FlamDump *dump, const Told *told, FlamId row)
{
  GString *out = dump->out;
  gint64 value = flam_cell_get (told->cells, told->info, row);

  if (!is_told (dump->profile, told, row, value))
    return;
  g_string_append (out, told->label);
  if (told->how.spelling == SPELL_HEX)
    g_string_append_printf (out, "%" G_GINT64_MODIFIER "x", (guint64)value);
  else if (told->how.spelling == SPELL_FUNCTION_KIND)
    g_string_append (out, flam_function_kind_to_string ((guint)value));
  else if (told->how.spelling == SPELL_STATE)
    g_string_append (out, flam_state_to_string ((guint)value));
  else if (told->how.spelling == SPELL_STATUS)
    {
      g_autofree char *words = flam_status_to_text ((guint)value);

      g_string_append (out, words);
    }
  else if (told->how.spelling == SPELL_SYMBOL_STATE)
    g_string_append (out, flam_symbol_state_to_string ((guint)value));
  else
    add_plain (dump, told->info, value);
}

static void
add_cells (const FlamDump *dump, const GArray *columns, FlamId row)
{
  for (guint i = 0; i < columns->len; i++)
    add_cell (dump, &g_array_index (columns, Told, i), row);
}

/* --- rows ----------------------------------------------------------------- */

/* `word`, its number if `numbered`, and its cells: one line per row. */
static void
add_table (const FlamDump *dump,
           FlamTable table,
           const char *word,
           gboolean numbered)
{
  g_autoptr (GArray) columns = told_columns (dump, table);
  guint32 n = *(const guint32 *)G_STRUCT_MEMBER_P (
      dump->profile, flam_table_infos[table].offset);

  for (FlamId row = 0; row < n; row++)
    {
      g_string_append (dump->out, word);
      if (numbered)
        g_string_append_printf (dump->out, " %u", row);
      add_cells (dump, columns, row);
      g_string_append_c (dump->out, '\n');
    }
}

static void
add_samples (const FlamDump *dump, const GArray *columns, FlamThreadId thread)
{
  const FlamProfile *p = dump->profile;
  guint32 first = p->threads.first_sample[thread];

  for (guint32 i = first; i < first + p->threads.n_samples[thread]; i++)
    {
      g_string_append (dump->out, "  sample");
      add_cells (dump, columns, i);
      for (guint m = 0; m < p->n_measures; m++)
        if (p->measures[m].weight != NULL)
          g_string_append_printf (dump->out,
                                  " %s=%" G_GINT64_FORMAT,
                                  flam_dump_string (dump, p->measures[m].id),
                                  p->measures[m].weight[i]);
      g_string_append_c (dump->out, '\n');
    }
}

static void
add_threads (const FlamDump *dump)
{
  g_autoptr (GArray) columns = told_columns (dump, FLAM_TABLE_THREADS);
  g_autoptr (GArray) samples = told_columns (dump, FLAM_TABLE_SAMPLES);

  for (FlamId i = 0; i < dump->profile->threads.n; i++)
    {
      g_string_append_printf (dump->out, "thread %u", i);
      add_cells (dump, columns, i);
      g_string_append_c (dump->out, '\n');
      add_samples (dump, samples, i);
    }
}

/* --- the profile ---------------------------------------------------------- */

static void
dump_facts (FlamDump *dump)
{
  GString *out = dump->out;
  const FlamFacts *facts = &dump->profile->facts;
  const char *end = "";

  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (fact->name != NULL && flam_fact_is_shown (fact, facts))
      {
        g_autofree char *value = flam_fact_to_text (fact, facts);

        if (*fact->name != '\0')
          g_string_append_printf (out, "%s%s", end, fact->name);
        g_string_append_printf (out, " %s", flam_dump_visible (dump, value));
        end = "\n";
      }
  g_string_append (out, end);
  if (!facts->complete)
    g_string_append_printf (
        out, "partial %.0f %%\n", 100 * facts->read_fraction);
  for (guint i = 0; facts->warnings[i]; i++)
    g_string_append_printf (
        out, "warning %s\n", flam_dump_visible (dump, facts->warnings[i]));
}

static void
dump_measures (FlamDump *dump)
{
  GString *out = dump->out;
  const FlamProfile *profile = dump->profile;
  g_autoptr (FlamSelection) selection = flam_selection_new ();

  for (guint i = 0; i < profile->n_measures; i++)
    {
      const FlamMeasure *measure = &profile->measures[i];
      g_autofree char *total = NULL;

      selection->measure = i;
      total =
          flam_format_plain (measure, flam_weights_total (profile, selection));
      g_string_append_printf (out,
                              "measure %s (%s) %s %s total=%s\n",
                              flam_dump_string (dump, measure->id),
                              flam_dump_string (dump, measure->name),
                              flam_measure_kind_to_string (measure->kind),
                              flam_unit_to_string (measure->unit),
                              total);
    }
}

static void
dump_counters (FlamDump *dump)
{
  GString *out = dump->out;
  const FlamProfile *p = dump->profile;
  for (guint c = 0; c < p->n_counters; c++)
    {
      const FlamCounter *counter = &p->counters[c];

      g_string_append_printf (
          out, "counter %s", flam_dump_string (dump, counter->id));
      for (guint32 i = 0; i < counter->n; i++)
        {
          g_autofree char *value =
              counter->unit == FLAM_UNIT_THOUSANDTHS
                  ? flam_format_thousandths (counter->value[i])
                  : g_strdup_printf ("%" G_GINT64_FORMAT, counter->value[i]);

          g_string_append_printf (
              out, " %" G_GINT64_FORMAT ":%s", counter->time[i], value);
        }
      g_string_append_c (out, '\n');
    }
}

char *
flam_dump_profile (const FlamProfile *profile)
{
  FlamDump dump = flam_dump_new (profile);

  dump_facts (&dump);
  dump_measures (&dump);
  add_table (&dump, FLAM_TABLE_MODULES, "module", TRUE);
  add_table (&dump, FLAM_TABLE_FUNCTIONS, "function", TRUE);
  add_table (&dump, FLAM_TABLE_FRAMES, "frame", TRUE);
  add_table (&dump, FLAM_TABLE_STACKS, "stack", TRUE);
  add_table (&dump, FLAM_TABLE_PROCESSES, "process", TRUE);
  add_threads (&dump);
  add_table (&dump, FLAM_TABLE_FORMER_NAMES, "former", FALSE);
  add_table (&dump, FLAM_TABLE_WORKING_FOLDERS, "folder", FALSE);
  add_table (&dump, FLAM_TABLE_ALLOCATIONS, "allocation", FALSE);
  dump_counters (&dump);
  add_table (&dump, FLAM_TABLE_MARKS, "mark", FALSE);
  add_table (&dump, FLAM_TABLE_LABELS, "label", FALSE);
  add_table (&dump, FLAM_TABLE_NOTES, "note", FALSE);
  add_table (&dump, FLAM_TABLE_SOURCES, "source", FALSE);
  add_table (&dump, FLAM_TABLE_JUMPS, "jump", FALSE);
  return flam_dump_end (&dump);
}
