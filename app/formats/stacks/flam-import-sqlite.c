/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Flambeau's own SQLite databases: flam-export-sqlite.c describes the tables.
 * The views are not read, nor the tables that end in "_cost": they follow from
 * the others. Columns that a database does not have are read as NULL. */

#include "flam-formats.h"

#include "flam-sqlite.h"

#include <math.h>
#include <string.h>

#define LIMIT (G_MAXINT64 / 4)

/* Tables that rows of others refer to. */
typedef enum
{
  MODULES,
  FUNCTIONS,
  FRAMES,
  STACKS,
  PROCESSES,
  THREADS,
  LABELS,
  N_MAPS
} Map;

/* A column of weights. */
typedef struct
{
  char *name;
  double denominator;
} Weights;

typedef struct
{
  FlamSqlite *base;
  FlamBuilder *builder;
  GArray *maps[N_MAPS]; /* FlamId by the id in the database; FLAM_NONE: none */
  GArray *columns;      /* Weights */
  gint64 *weights;      /* of the current sample */
  guint n_measures;
  GArray *set; /* FlamSampleLabel: of the current set */
  gint64 set_id;
  GHashTable *counters; /* name -> counter + 1 */
  guint64 bad;          /* references to none */
} Tables;

/* --- cells ---------------------------------------------------------------- */

static const char *
text_at (sqlite3_stmt *row, int column)
{
  const char *text = (const char *)sqlite3_column_text (row, column);

  return text != NULL ? text : "";
}

static gboolean
is_null (sqlite3_stmt *row, int column)
{
  return sqlite3_column_type (row, column) == SQLITE_NULL;
}

static gint64
number_at (sqlite3_stmt *row, int column, gint64 least, gint64 most)
{
  gint64 number = sqlite3_column_int64 (row, column);

  return CLAMP (number, least, most);
}

/* -1 for NULL. */
static gint32
system_number (sqlite3_stmt *row, int column)
{
  return is_null (row, column)
             ? -1
             : (gint32)number_at (row, column, -1, G_MAXINT32);
}

static gint64
time_at (Tables *tables, sqlite3_stmt *row, int column)
{
  return flam_builder_limit (
      tables->builder, sqlite3_column_int64 (row, column), -LIMIT, LIMIT, NULL);
}

static FlamStringId
string_at (Tables *tables, sqlite3_stmt *row, int column)
{
  return flam_builder_string (tables->builder, text_at (row, column), -1);
}

#define DEFINE_NAMED(name, n, to_string, otherwise)                            \
  static guint name (sqlite3_stmt *row, int column)                            \
  {                                                                            \
    const char *text = text_at (row, column);                                  \
                                                                               \
    for (guint i = 0; i < (n); i++)                                            \
      if (strcmp (to_string (i), text) == 0)                                   \
        return i;                                                              \
    return otherwise;                                                          \
  }

DEFINE_NAMED (unit_at, FLAM_UNIT_BYTES + 1, flam_unit_to_string, 0)
DEFINE_NAMED (kind_at, FLAM_MEASURE_ALLOC + 1, flam_measure_kind_to_string, 0)
DEFINE_NAMED (source_at, FLAM_N_SOURCES, flam_measure_source_to_string, 0)
DEFINE_NAMED (symbols_at,
              FLAM_N_SYMBOL_STATES,
              flam_symbol_state_to_string,
              FLAM_SYMBOLS_CAPTURE)
DEFINE_NAMED (function_kind_at,
              FLAM_N_KINDS,
              flam_function_kind_to_string,
              FLAM_KIND_NATIVE)
DEFINE_NAMED (allocator_at,
              FLAM_N_ALLOCATORS,
              flam_allocator_to_string,
              FLAM_ALLOCATOR_OTHER)

/* --- ids ------------------------------------------------------------------ */

static void
set_id (Tables *tables, Map which, gint64 id, FlamId to)
{
  GArray *map = tables->maps[which];

  if (id < 0 || (guint64)id >= flam_sqlite_most_rows (tables->base))
    {
      tables->bad++;
      return;
    }
  while (map->len <= id)
    g_array_append_val (map, ((FlamId){ FLAM_NONE }));
  g_array_index (map, FlamId, id) = to;
}

/* FLAM_NONE: the cell is NULL, or refers to a row that does not exist. */
static FlamId
find_id (Tables *tables, Map which, sqlite3_stmt *row, int column)
{
  const GArray *map = tables->maps[which];
  gint64 id = sqlite3_column_int64 (row, column);
  FlamId found = FLAM_NONE;

  if (is_null (row, column))
    return FLAM_NONE;
  if (id >= 0 && id < map->len)
    found = g_array_index (map, FlamId, id);
  tables->bad += found == FLAM_NONE;
  return found;
}

/* FALSE: the row has to be left out. */
static gboolean
need_id (Tables *tables, Map which, sqlite3_stmt *row, int column, FlamId *to)
{
  *to = find_id (tables, which, row, column);
  tables->bad += is_null (row, column);
  return *to != FLAM_NONE;
}

/* Calls read() with these columns of each row. FALSE: cancelled. */
static gboolean
each (Tables *tables,
      const char *table,
      const char *const *columns,
      FlamSqliteRead read)
{
  g_autoptr (GString) list = g_string_new (NULL);

  for (guint i = 0; columns[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (columns[i], "\"", -1);
      g_autofree char *quoted = g_strjoinv ("\"\"", parts);

      if (i > 0)
        g_string_append_c (list, ',');
      if (flam_sqlite_has_column (tables->base, table, columns[i]))
        g_string_append_printf (list, "\"%s\"", quoted);
      else
        g_string_append (list, "NULL");
    }
  return flam_sqlite_each (tables->base, table, list->str, read, tables);
}

/* --- the capture ---------------------------------------------------------- */

static void
read_fact (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  const char *name = text_at (row, 0);
  const char *value = text_at (row, 1);

  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (strcmp (fact->member, name) == 0)
      {
        if (fact->key != NULL)
          flam_builder_set_fact (tables->builder, fact->key, value);
        else if (strcmp (name, "complete") == 0)
          flam_builder_warn (
              tables->builder,
              N_ ("exported from a capture that was not read to its end"));
        return;
      }
  if (strcmp (name, FLAM_FACT_PEAK_TIME) == 0)
    flam_builder_set_peak_time (tables->builder, time_at (tables, row, 1));
  else
    flam_builder_set_fact (tables->builder, name, value);
}

static void
read_warning (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;

  flam_builder_warn (tables->builder, "%s", text_at (row, 0));
}

/* Only some go with times, and the others without. */
static FlamSpans
spans_at (Tables *tables, sqlite3_stmt *row, int column)
{
  gint64 spans = sqlite3_column_int64 (row, column);
  gboolean times = flam_sqlite_has_column (tables->base, "sample", "time");

  return spans > FLAM_SPANS_NONE && spans < FLAM_N_SPANS &&
                 times == (spans != FLAM_SPANS_ORDER)
             ? (FlamSpans)spans
             : FLAM_SPANS_NONE;
}

static const char *const measure_columns[] = {
  "id",      "name",        "unit",  "kind",  "source",
  "weights", "denominator", "event", "spans", NULL,
};

static void
read_measure (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  guint source = source_at (row, 4);
  gint64 denominator = number_at (row, 6, 1, LIMIT);
  FlamId event =
      is_null (row, 7) ? FLAM_NONE : (FlamId)number_at (row, 7, 0, G_MAXUINT16);
  gboolean has_column =
      flam_sqlite_has_column (tables->base, "sample", text_at (row, 5));
  guint measure;

  tables->n_measures++;
  if (source != FLAM_FROM_SAMPLES)
    {
      flam_builder_add_allocation_measure_named (
          tables->builder, source, text_at (row, 1));
      return;
    }
  measure = flam_builder_add_measure (
      tables->builder,
      text_at (row, 0),
      text_at (row, 1),
      unit_at (row, 2),
      kind_at (row, 3),
      has_column ? (int)flam_builder_add_column (tables->builder) : -1,
      event);
  flam_builder_set_denominator (tables->builder, measure, denominator);
  flam_builder_set_spans (tables->builder, measure, spans_at (tables, row, 8));
  if (has_column)
    g_array_append_val (
        tables->columns,
        ((Weights){ g_strdup (text_at (row, 5)),
                    denominator > 1 ? (double)denominator : 1 }));
}

/* --- code ----------------------------------------------------------------- */

static const char *const module_columns[] = {
  "id", "path", "name", "build_id", "addressing", "symbols", "why", NULL
};

static void
read_module (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  const char *path = text_at (row, 1);
  FlamModuleId module = flam_builder_module (
      tables->builder,
      *path != '\0' ? path : text_at (row, 2),
      text_at (row, 3),
      number_at (row, 4, FLAM_ADDRESS_FILE_OFFSET, FLAM_ADDRESS_ABSOLUTE));

  flam_builder_set_module_symbols (
      tables->builder, module, symbols_at (row, 5), text_at (row, 6));
  set_id (tables, MODULES, sqlite3_column_int64 (row, 0), module);
}

static const char *const function_columns[] = {
  "id", "name", "system_name", "module", "file", "line", "kind", "flags", NULL
};

static void
read_function (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  FlamFunction function = {
    .name = string_at (tables, row, 1),
    .system_name = string_at (tables, row, 2),
    .file = string_at (tables, row, 4),
    .line = (guint32)number_at (row, 5, 0, G_MAXUINT32),
    .kind = function_kind_at (row, 6),
    .flags = (guint)number_at (row, 7, 0, G_MAXUINT8),
    .module = find_id (tables, MODULES, row, 3),
  };

  if (function.system_name == function.name)
    function.system_name = 0;
  set_id (tables,
          FUNCTIONS,
          sqlite3_column_int64 (row, 0),
          flam_builder_function (tables->builder, &function));
}

static const char *const frame_columns[] = {
  "id", "function", "file", "line", "address", "inline_depth", "status", NULL
};

static void
read_frame (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  FlamRecordedFrame frame = {
    .module = FLAM_NONE,
    .file = string_at (tables, row, 2),
    .line = (guint32)number_at (row, 3, 0, G_MAXUINT32),
    .address = (guint64)sqlite3_column_int64 (row, 4),
    .inline_depth = (guint32)number_at (row, 5, 0, G_MAXUINT16),
    .status = (guint32)number_at (row, 6, 0, FLAM_STATUS_ALL),
  };
  FlamId function;

  if (!need_id (tables, FUNCTIONS, row, 1, &function))
    return;
  frame.function = function;
  set_id (tables,
          FRAMES,
          sqlite3_column_int64 (row, 0),
          flam_builder_recorded_frame (tables->builder, &frame));
}

/* Callers come first. */
static void
read_stack (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  FlamId parent = FLAM_NONE, frame;

  if ((is_null (row, 1) || need_id (tables, STACKS, row, 1, &parent)) &&
      need_id (tables, FRAMES, row, 2, &frame))
    set_id (tables,
            STACKS,
            sqlite3_column_int64 (row, 0),
            flam_builder_append_stack (tables->builder, parent, frame));
}

/* --- who ------------------------------------------------------------------ */

static const char *const process_columns[] = { "id",   "pid",    "name", "host",
                                               "rank", "parent", NULL };

static void
read_process (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  FlamProcessId process = flam_builder_append_process (
      tables->builder, system_number (row, 1), FLAM_NONE);

  flam_builder_set_process_rank (
      tables->builder,
      process,
      is_null (row, 4) ? 0 : (guint32)number_at (row, 4, 0, FLAM_RANK_MAX) + 1,
      text_at (row, 3));
  set_id (tables, PROCESSES, sqlite3_column_int64 (row, 0), process);
}

/* A parent may come later than its children, and a name follows former ones. */
static void
finish_process (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  FlamId process = find_id (tables, PROCESSES, row, 0);
  FlamId parent = find_id (tables, PROCESSES, row, 5);

  if (process == FLAM_NONE)
    return;
  flam_builder_set_process_name (tables->builder, process, text_at (row, 2));
  if (parent != FLAM_NONE)
    flam_builder_set_process_parent (tables->builder, process, parent);
}

static void
read_thread (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  FlamId process;

  if (need_id (tables, PROCESSES, row, 3, &process))
    set_id (tables,
            THREADS,
            sqlite3_column_int64 (row, 0),
            flam_builder_append_thread (
                tables->builder, process, system_number (row, 1)));
}

static void
finish_thread (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  FlamId thread = find_id (tables, THREADS, row, 0);

  if (thread != FLAM_NONE)
    flam_builder_set_thread_name (tables->builder, thread, text_at (row, 2));
}

static void
read_former_name (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  FlamId process = find_id (tables, PROCESSES, row, 0);
  FlamId thread = find_id (tables, THREADS, row, 1);
  gint64 until = time_at (tables, row, 3);

  if (thread != FLAM_NONE)
    {
      flam_builder_set_thread_name (tables->builder, thread, text_at (row, 2));
      flam_builder_rename_thread (tables->builder, thread, until, "");
    }
  else if (process != FLAM_NONE)
    {
      flam_builder_set_process_name (
          tables->builder, process, text_at (row, 2));
      flam_builder_rename_process (tables->builder, process, until, "");
    }
}

static void
read_working_folder (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  FlamId process;

  if (need_id (tables, PROCESSES, row, 0, &process))
    flam_builder_add_working_folder (
        tables->builder, process, text_at (row, 1));
}

/* --- samples -------------------------------------------------------------- */

static void
clear_label (gpointer data)
{
  FlamSampleLabel *label = data;

  g_free ((char *)label->key);
  g_free ((char *)label->value);
  g_free ((char *)label->unit);
}

static void
end_set (Tables *tables)
{
  if (tables->set->len > 0)
    set_id (tables,
            LABELS,
            tables->set_id,
            flam_builder_add_labels (tables->builder,
                                     (FlamSampleLabel *)tables->set->data,
                                     tables->set->len));
  g_array_set_size (tables->set, 0);
}

/* The rows of a set follow one another. */
static void
read_label (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  gint64 id = sqlite3_column_int64 (row, 0);
  FlamSampleLabel label = {
    .key = g_strdup (text_at (row, 1)),
    .value = g_strdup (text_at (row, 2)),
    .number = sqlite3_column_int64 (row, 3),
    .unit = is_null (row, 4) ? NULL : g_strdup (text_at (row, 4)),
  };

  if (id != tables->set_id)
    end_set (tables);
  tables->set_id = id;
  g_array_append_val (tables->set, label);
}

/* "thread" to "event", and then the weights. */
#define FIRST_WEIGHT 6

static void
read_sample (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  FlamSample sample = {
    .time = time_at (tables, row, 2),
    .state = (guint8)number_at (row, 3, 0, FLAM_N_STATES - 1),
    .event = (guint16)number_at (row, 5, 0, G_MAXUINT16),
    .stack = find_id (tables, STACKS, row, 1),
  };
  FlamId labels = find_id (tables, LABELS, row, 4);
  FlamId thread;

  if (!need_id (tables, THREADS, row, 0, &thread))
    return;
  sample.thread = thread;
  sample.labels = labels != FLAM_NONE ? labels : 0;
  for (guint i = 0; i < tables->columns->len; i++)
    {
      double denominator =
          g_array_index (tables->columns, Weights, i).denominator;
      int column = FIRST_WEIGHT + (int)i;

      if (denominator == 1)
        tables->weights[i] = sqlite3_column_int64 (row, column);
      else
        tables->weights[i] = (gint64)CLAMP (
            round (sqlite3_column_double (row, column) * denominator),
            -(double)LIMIT,
            (double)LIMIT);
    }
  flam_builder_add_sample (tables->builder, &sample, tables->weights);
}

static gboolean
read_samples (Tables *tables)
{
  static const char *const others[FIRST_WEIGHT] = {
    "thread", "stack", "time", "state", "labels", "event"
  };
  guint n = tables->columns->len;
  g_autofree const char **columns = g_new0 (const char *, FIRST_WEIGHT + n + 1);

  memcpy (columns, others, sizeof others);
  for (guint i = 0; i < n; i++)
    columns[FIRST_WEIGHT + i] =
        g_array_index (tables->columns, Weights, i).name;
  tables->weights = g_new0 (gint64, n + 1);
  return each (tables, "sample", columns, read_sample);
}

/* --- allocations ---------------------------------------------------------- */

static const char *const allocation_columns[] = {
  "thread",    "time",    "freed_at",  "stack",     "size",     "count",
  "allocator", "at_peak", "born_more", "died_more", "distance", NULL,
};

static void
read_allocation (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  FlamAllocation block = {
    .time = time_at (tables, row, 1),
    .freed_at = is_null (row, 2) ? FLAM_NEVER : time_at (tables, row, 2),
    .size = sqlite3_column_int64 (row, 4),
    .count = sqlite3_column_int64 (row, 5),
    .allocator = (guint8)allocator_at (row, 6),
    .at_peak = is_null (row, 7) ? -1 : number_at (row, 7, -1, LIMIT),
    .born_more = number_at (row, 8, -LIMIT, LIMIT),
    .died_more = number_at (row, 9, -LIMIT, LIMIT),
    .distance = is_null (row, 10)
                    ? G_MAXUINT16
                    : (guint16)number_at (row, 10, 0, G_MAXUINT16),
    .thread = find_id (tables, THREADS, row, 0),
    .stack = find_id (tables, STACKS, row, 3),
  };

  flam_builder_add_allocation (tables->builder, &block);
}

/* --- the rest ------------------------------------------------------------- */

static void
read_mark (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;

  flam_builder_add_mark (tables->builder,
                         time_at (tables, row, 1),
                         time_at (tables, row, 2),
                         find_id (tables, THREADS, row, 0),
                         text_at (row, 3));
}

static void
read_counter (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  const char *name = text_at (row, 0);
  gboolean fractions = strcmp (text_at (row, 3), "number") == 0;
  guint counter =
      GPOINTER_TO_UINT (g_hash_table_lookup (tables->counters, name));

  if (counter == 0)
    {
      counter = 1 + flam_builder_add_counter (tables->builder,
                                              name,
                                              fractions ? FLAM_UNIT_THOUSANDTHS
                                                        : unit_at (row, 3));
      g_hash_table_insert (
          tables->counters, g_strdup (name), GUINT_TO_POINTER (counter));
    }
  flam_builder_add_counter_value (
      tables->builder,
      counter - 1,
      time_at (tables, row, 1),
      fractions ? (gint64)CLAMP (round (sqlite3_column_double (row, 2) * 1000),
                                 -1e18,
                                 1e18)
                : sqlite3_column_int64 (row, 2));
}

static void
read_note (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;

  flam_builder_add_note (tables->builder,
                         text_at (row, 0),
                         is_null (row, 1) ? NULL : text_at (row, 1),
                         time_at (tables, row, 2),
                         time_at (tables, row, 3),
                         sqlite3_column_int64 (row, 4));
}

static void
read_source (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;

  flam_builder_add_source (
      tables->builder, text_at (row, 0), text_at (row, 1), -1);
}

static void
read_jump (sqlite3_stmt *row, gpointer data)
{
  Tables *tables = data;
  FlamId from, to;

  if (need_id (tables, FRAMES, row, 0, &from) &&
      need_id (tables, FRAMES, row, 1, &to))
    flam_builder_add_jump (tables->builder,
                           from,
                           to,
                           number_at (row, 2, 0, LIMIT),
                           is_null (row, 3) ? -1
                                            : number_at (row, 3, 0, LIMIT));
}

/* FALSE: cancelled. */
static gboolean
read_code (Tables *tables)
{
  return each (tables, "module", module_columns, read_module) &&
         each (tables, "function", function_columns, read_function) &&
         each (tables, "frame", frame_columns, read_frame) &&
         each (
             tables, "stack", FLAM_LIST ("id", "parent", "frame"), read_stack);
}

static gboolean
read_who (Tables *tables)
{
  static const char *const columns[] = { "id", "tid", "name", "process", NULL };

  return each (tables, "process", process_columns, read_process) &&
         each (tables, "thread", columns, read_thread) &&
         each (tables,
               "former_name",
               FLAM_LIST ("process", "thread", "name", "until"),
               read_former_name) &&
         each (tables,
               "working_folder",
               FLAM_LIST ("process", "path"),
               read_working_folder) &&
         each (tables, "process", process_columns, finish_process) &&
         each (tables, "thread", columns, finish_thread);
}

static gboolean
read_labels (Tables *tables)
{
  if (!each (tables,
             "label",
             FLAM_LIST ("labels", "key", "value", "number", "unit"),
             read_label))
    return FALSE;
  end_set (tables);
  return TRUE;
}

static gboolean
read_events (Tables *tables)
{
  return read_labels (tables) && read_samples (tables) &&
         each (tables, "allocation", allocation_columns, read_allocation) &&
         each (tables,
               "mark",
               FLAM_LIST ("thread", "time", "duration", "name"),
               read_mark) &&
         each (tables,
               "counter",
               FLAM_LIST ("name", "time", "value", "unit"),
               read_counter) &&
         each (tables,
               "note",
               FLAM_LIST ("text", "function", "start", "stop", "written"),
               read_note) &&
         each (tables, "source", FLAM_LIST ("path", "text"), read_source) &&
         each (tables,
               "jump",
               FLAM_LIST ("from_frame", "to_frame", "taken", "reached"),
               read_jump);
}

static void
clear_weights (gpointer data)
{
  g_free (((Weights *)data)->name);
}

static void
tables_free (gpointer data)
{
  Tables *tables = data;

  for (guint i = 0; i < N_MAPS; i++)
    g_array_unref (tables->maps[i]);
  g_array_unref (tables->columns);
  g_array_unref (tables->set);
  g_hash_table_unref (tables->counters);
  g_free (tables->weights);
  g_free (tables);
}

static Tables *
tables_new (FlamLoad *load)
{
  Tables *tables = g_new0 (Tables, 1);

  flam_arena_keep (load, tables, tables_free);
  tables->builder = load->builder;
  for (guint i = 0; i < N_MAPS; i++)
    tables->maps[i] = g_array_new (FALSE, FALSE, sizeof (FlamId));
  tables->columns = g_array_new (FALSE, FALSE, sizeof (Weights));
  g_array_set_clear_func (tables->columns, clear_weights);
  tables->set = g_array_new (FALSE, FALSE, sizeof (FlamSampleLabel));
  g_array_set_clear_func (tables->set, clear_label);
  tables->counters =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return tables;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Tables *tables = tables_new (load);
  FlamBuilder *builder = load->builder;

  tables->base = flam_sqlite_open (load, error);
  if (tables->base == NULL)
    return FALSE;
  flam_builder_set_origin (builder, 0);
  if (flam_sqlite_has_column (tables->base, "sample", "time"))
    flam_builder_set_has_times (builder);
  if (!each (tables, "measure", measure_columns, read_measure))
    return flam_sqlite_end (tables->base, error);
  if (tables->n_measures == 0)
    return flam_source_invalid (
        load->source, error, N_ ("this database has no measures"));
  if (!each (tables, "fact", FLAM_LIST ("name", "value"), read_fact) ||
      !each (tables, "warning", FLAM_LIST ("text"), read_warning) ||
      !read_code (tables) || !read_who (tables) || !read_events (tables))
    return flam_sqlite_end (tables->base, error);
  flam_builder_warn_count (
      builder,
      tables->bad,
      "%" PRIu64 " reference to a row that does not exist is left out",
      "%" PRIu64 " references to rows that do not exist are left out");
  return TRUE;
}

static guint
probe (const FlamSource *source)
{
  if (flam_sqlite_is_packed (source))
    return 50;
  return flam_sqlite_has_tables (
             source,
             FLAM_LIST (
                 "measure", "sample", "stack", "frame", "function", "thread"))
             ? 95
             : 0;
}

const FlamImporter flam_import_sqlite = {
  .id = "sqlite",
  .label = "SQLite",
  .written_by = "flambeau-cli export --to sqlite",
  .suffixes = FLAM_LIST (".sqlite", ".db"),
  .mime_types = FLAM_LIST ("application/vnd.sqlite3"),
  .probe = probe,
  .load = load,
};
