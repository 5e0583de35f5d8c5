/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The description of the tables, and the operations that are the same for all
 * columns. */
#include "flam-tables.h"

#include "flam-order.h"

#include <stddef.h>

/* --- the description ------------------------------------------------------ */

#define REQUIRED FLAM_COLUMN_REQUIRED
#define EMPTY FLAM_COLUMN_EMPTY
#define KEY FLAM_COLUMN_KEY
#define OPTIONAL FLAM_COLUMN_OPTIONAL
#define TIME FLAM_COLUMN_TIME
#define SPAN FLAM_COLUMN_SPAN
#define SIGNED FLAM_COLUMN_SIGNED

#define CELL(member)                                                           \
  .name = #member, .offset = offsetof (FlamTables, member),                    \
  .size = sizeof *((FlamTables *)NULL)->member

/* NUMBER on disk, its encoding there, and the array in memory. */
#define COLUMN(n, how, member, ...)                                            \
  {                                                                            \
    CELL (member), .number = n, .encoding = FLAM_ENCODE_##how, __VA_ARGS__     \
  }
#define ID(n, member, table, ...)                                              \
  {                                                                            \
    CELL (member), .number = n, .encoding = FLAM_ENCODE_ID,                    \
                   .refers_to = FLAM_TABLE_##table, .flags = __VA_ARGS__       \
  }
/* Numbers below this are valid in this version. */
#define ENUM(n, member, below, other, ...)                                     \
  {                                                                            \
    CELL (member), .number = n, .encoding = FLAM_ENCODE_U32, .limit = below,   \
                   .otherwise = other, __VA_ARGS__                             \
  }
#define UNSTORED(member, ...)                                                  \
  {                                                                            \
    CELL (member), .encoding = FLAM_ENCODE_NOT, __VA_ARGS__                    \
  }

/* A column that begins with the first sample that has a value other than 0. */
#define GIVEN(member) .given = offsetof (FlamSample, member), .flags = OPTIONAL
#define REFERENCE(member, table, ...)                                          \
  UNSTORED (member,                                                            \
            .refers_to = FLAM_TABLE_##table,                                   \
            .flags = FLAM_COLUMN_REFERS,                                       \
            __VA_ARGS__)

static const FlamColumnInfo strings[] = {
  { .name = "strings", .encoding = FLAM_ENCODE_TEXT },
};
static const FlamColumnInfo modules[] = {
  ID (0, profile.modules.path, STRINGS, EMPTY | KEY, .role = FLAM_ROLE_MODULE),
  ID (1,
      profile.modules.build_id,
      STRINGS,
      EMPTY | KEY,
      .role = FLAM_ROLE_BUILD_ID),
  ENUM (2,
        profile.modules.addressing,
        FLAM_ADDRESS_ABSOLUTE + 1,
        FLAM_ADDRESS_ABSOLUTE,
        .flags = KEY),
  REFERENCE (profile.modules.name, STRINGS, .role = FLAM_ROLE_MODULE),
  UNSTORED (profile.modules.symbols, .limit = FLAM_N_SYMBOL_STATES),
  REFERENCE (profile.modules.why, STRINGS, .role = FLAM_ROLE_MESSAGE),
};
static const FlamColumnInfo functions[] = {
  ID (0,
      profile.functions.name,
      STRINGS,
      EMPTY | KEY,
      .role = FLAM_ROLE_FUNCTION),
  ID (1,
      profile.functions.system_name,
      STRINGS,
      EMPTY | KEY,
      .role = FLAM_ROLE_FUNCTION),
  ID (2, profile.functions.file, STRINGS, EMPTY | KEY, .role = FLAM_ROLE_FILE),
  ID (3, profile.functions.module, MODULES, KEY),
  COLUMN (4, U32, profile.functions.line, .flags = KEY),
  ENUM (
      5, profile.functions.kind, FLAM_N_KINDS, FLAM_KIND_NATIVE, .flags = KEY),
  COLUMN (6, U32, profile.functions.flags, .flags = KEY),
};
/* As recorded: an address in a module, without a function until it is named; or
 * a function and a line. Without `file`, the function's file applies. */
static const FlamColumnInfo frames[] = {
  ID (0, frame_module, MODULES, KEY),
  COLUMN (1, DELTA, profile.frames.address, .flags = KEY),
  ID (2, profile.frames.function, FUNCTIONS, KEY),
  COLUMN (3, U32, profile.frames.line, .flags = KEY),
  ENUM (4,
        profile.frames.inline_depth,
        G_MAXUINT16 + 1,
        G_MAXUINT16,
        .flags = KEY),
  ID (5, profile.frames.file, STRINGS, KEY, .role = FLAM_ROLE_FILE),
  COLUMN (6, U32, profile.frames.status, .flags = KEY),
};
static const FlamColumnInfo stacks[] = {
  ID (0, profile.stacks.prefix, STACKS, KEY),
  ID (1, profile.stacks.frame, FRAMES, REQUIRED | KEY),
};
static const FlamColumnInfo processes[] = {
  COLUMN (0, I64, profile.processes.pid, .flags = KEY | SIGNED),
  ID (1, profile.processes.parent, PROCESSES, 0),
  ID (2, profile.processes.host, STRINGS, EMPTY, .role = FLAM_ROLE_TASK),
  COLUMN (3, U32, profile.processes.rank),
  REFERENCE (profile.processes.name, STRINGS, .role = FLAM_ROLE_TASK),
  UNSTORED (process_generation, .flags = KEY),
};
static const FlamColumnInfo threads[] = {
  ID (0, profile.threads.process, PROCESSES, REQUIRED | KEY),
  COLUMN (1, I64, profile.threads.tid, .flags = KEY | SIGNED),
  REFERENCE (profile.threads.name, STRINGS, .role = FLAM_ROLE_TASK),
  UNSTORED (thread_generation, .flags = KEY),
  UNSTORED (thread_key,
            .refers_to = FLAM_TABLE_STRINGS,
            .flags = FLAM_COLUMN_REFERS | KEY),
};
static const FlamColumnInfo names[] = {
  ENUM (0, names.what, FLAM_N_NAMED, FLAM_N_NAMED),
  COLUMN (1, U32, names.row),
  COLUMN (2, DELTA, names.time, .flags = TIME),
  ID (3, names.name, STRINGS, REQUIRED, .role = FLAM_ROLE_TASK),
};
static const FlamColumnInfo measures[] = {
  ID (0, measures.id, STRINGS, REQUIRED, .role = FLAM_ROLE_MEASURE),
  ID (1, measures.name, STRINGS, REQUIRED, .role = FLAM_ROLE_MEASURE),
  ENUM (2, measures.unit, FLAM_UNIT_BYTES + 1, FLAM_UNIT_BYTES),
  ENUM (3, measures.kind, FLAM_MEASURE_ALLOC + 1, FLAM_MEASURE_ALLOC),
  ENUM (4, measures.source, FLAM_N_SOURCES, FLAM_N_SOURCES),
  COLUMN (5, I64, measures.column),
  COLUMN (6, I64, measures.event),
  COLUMN (7, I64, measures.denominator),
  UNSTORED (measures.spans),
};
/* On disk these are followed by one I64 for each column of weights. */
static const FlamColumnInfo samples[] = {
  COLUMN (0, DELTA, profile.samples.time, .flags = TIME | SPAN | OPTIONAL),
  ID (1, sample_thread, THREADS, REQUIRED),
  ID (2, profile.samples.stack, STACKS, 0),
  ENUM (3, profile.samples.event, G_MAXUINT16 + 1, G_MAXUINT16, GIVEN (event)),
  ENUM (4,
        profile.samples.state,
        FLAM_N_STATES,
        FLAM_STATE_BLOCKED,
        GIVEN (state)),
  COLUMN (5, U32, profile.samples.labels, GIVEN (labels)),
};
static const FlamColumnInfo allocations[] = {
  COLUMN (0, DELTA, profile.allocations.time, .flags = TIME | SPAN),
  COLUMN (1, I64, profile.allocations.freed_at),
  ID (2, profile.allocations.thread, THREADS, 0),
  ID (3, profile.allocations.stack, STACKS, 0),
  COLUMN (4, I64, profile.allocations.size),
  COLUMN (5, I64, profile.allocations.count),
  COLUMN (6, I64, profile.allocations.at_peak),
  ENUM (7, profile.allocations.distance, G_MAXUINT16 + 1, G_MAXUINT16),
  ENUM (8,
        profile.allocations.allocator,
        FLAM_N_ALLOCATORS,
        FLAM_ALLOCATOR_OTHER),
  COLUMN (9, I64, profile.allocations.born_more),
  COLUMN (10, I64, profile.allocations.died_more),
};
static const FlamColumnInfo blocks[] = {
  COLUMN (0, DELTA, blocks.time, .flags = TIME),
  ID (1, blocks.thread, THREADS, 0),
  ID (2, blocks.stack, STACKS, 0),
  COLUMN (3, I64, blocks.size),
  COLUMN (4, I64, blocks.count),
  ENUM (5, blocks.allocator, FLAM_N_ALLOCATORS, FLAM_ALLOCATOR_OTHER),
  COLUMN (6, I64, blocks.more),
};
static const FlamColumnInfo releases[] = {
  COLUMN (0, DELTA, releases.time, .flags = TIME),
  COLUMN (1, DELTA, releases.row),
  COLUMN (2, I64, releases.count),
  ENUM (3, releases.distance, G_MAXUINT16 + 1, G_MAXUINT16),
  COLUMN (4, I64, releases.more),
};
static const FlamColumnInfo at_peak[] = {
  ID (0, at_peak.thread, THREADS, 0),
  ID (1, at_peak.stack, STACKS, 0),
  COLUMN (2, I64, at_peak.size),
  ENUM (3, at_peak.allocator, FLAM_N_ALLOCATORS, FLAM_ALLOCATOR_OTHER),
  COLUMN (4, I64, at_peak.count),
};
static const FlamColumnInfo counters[] = {
  ID (0, counters.id, STRINGS, REQUIRED, .role = FLAM_ROLE_MEASURE),
  ENUM (1, counters.unit, FLAM_N_UNITS, FLAM_UNIT_BYTES),
};
static const FlamColumnInfo counter_values[] = {
  ID (0, counter_values.counter, COUNTERS, REQUIRED),
  COLUMN (1, DELTA, counter_values.time, .flags = TIME | SPAN),
  COLUMN (2, I64, counter_values.value),
};
static const FlamColumnInfo marks[] = {
  COLUMN (0, DELTA, profile.marks.time, .flags = TIME | SPAN),
  COLUMN (1, I64, profile.marks.duration),
  ID (2, profile.marks.thread, THREADS, 0),
  ID (3, profile.marks.name, STRINGS, REQUIRED, .role = FLAM_ROLE_MARK),
};
static const FlamColumnInfo labels[] = {
  COLUMN (0, U32, profile.labels.set),
  ID (1, profile.labels.key, STRINGS, REQUIRED, .role = FLAM_ROLE_LABEL),
  ID (2, profile.labels.value, STRINGS, REQUIRED, .role = FLAM_ROLE_LABEL),
  COLUMN (3, I64, profile.labels.number),
  ID (4, profile.labels.unit, STRINGS, 0, .role = FLAM_ROLE_LABEL),
};
static const FlamColumnInfo facts[] = {
  ID (0, facts.key, STRINGS, REQUIRED, .role = FLAM_ROLE_FACT),
  ID (1, facts.value, STRINGS, REQUIRED, .role = FLAM_ROLE_VALUE),
};
static const FlamColumnInfo warnings[] = {
  ID (0, warnings.text, STRINGS, REQUIRED, .role = FLAM_ROLE_MESSAGE),
};
static const FlamColumnInfo symbols[] = {
  ID (0, symbols.frame, FRAMES, REQUIRED),
  ID (1, symbols.function, FUNCTIONS, REQUIRED),
  COLUMN (2, U32, symbols.line),
  ID (3, symbols.file, STRINGS, 0, .role = FLAM_ROLE_FILE),
};
static const FlamColumnInfo module_symbols[] = {
  ID (0, module_symbols.module, MODULES, REQUIRED),
  ENUM (1, module_symbols.state, FLAM_N_SYMBOL_STATES, FLAM_SYMBOLS_CAPTURE),
  ID (2, module_symbols.why, STRINGS, EMPTY, .role = FLAM_ROLE_MESSAGE),
};
static const FlamColumnInfo end[] = { COLUMN (0, I64, end.duration) };
static const FlamColumnInfo renames[] = {
  ID (0, renames.frame, FRAMES, REQUIRED),
  COLUMN (1, DELTA, renames.time, .flags = TIME),
  ID (2, renames.function, FUNCTIONS, REQUIRED),
  COLUMN (3, U32, renames.line),
  ID (4, renames.file, STRINGS, 0, .role = FLAM_ROLE_FILE),
};
/* Without `function` the note is for a range. */
static const FlamColumnInfo notes[] = {
  ID (0, profile.notes.text, STRINGS, REQUIRED, .role = FLAM_ROLE_NOTE),
  ID (1, profile.notes.function, STRINGS, 0, .role = FLAM_ROLE_FUNCTION),
  COLUMN (2, I64, profile.notes.from),
  COLUMN (3, I64, profile.notes.to),
  COLUMN (4, I64, profile.notes.written),
};
static const FlamColumnInfo sources[] = {
  ID (0, profile.sources.path, STRINGS, REQUIRED, .role = FLAM_ROLE_FILE),
  ID (1, profile.sources.text, STRINGS, REQUIRED, .role = FLAM_ROLE_SOURCE),
};
static const FlamColumnInfo jumps[] = {
  ID (0, profile.jumps.from, FRAMES, REQUIRED),
  ID (1, profile.jumps.to, FRAMES, REQUIRED),
  COLUMN (2, I64, profile.jumps.taken),
  COLUMN (3, I64, profile.jumps.reached),
};
static const FlamColumnInfo working_folders[] = {
  ID (0, profile.working_folders.process, PROCESSES, REQUIRED),
  ID (1,
      profile.working_folders.path,
      STRINGS,
      REQUIRED,
      .role = FLAM_ROLE_FILE),
};
static const FlamColumnInfo columns[] = {
  COLUMN (0, U32, columns.table),
  COLUMN (1, U32, columns.number),
  COLUMN (2, U32, columns.encoding),
  COLUMN (3, U32, columns.refers_to),
};
static const FlamColumnInfo former_names[] = {
  REFERENCE (profile.former_names.process, PROCESSES),
  REFERENCE (profile.former_names.thread, THREADS),
  REFERENCE (profile.former_names.name, STRINGS, .role = FLAM_ROLE_TASK),
  UNSTORED (profile.former_names.until, .flags = TIME),
};

#define TABLE(id, number, member, columns, stored, ...)                        \
  [FLAM_TABLE_##id] = { #columns,                                              \
                        number,                                                \
                        offsetof (FlamTables, member),                         \
                        columns,                                               \
                        G_N_ELEMENTS (columns),                                \
                        stored,                                                \
                        __VA_ARGS__ }

#define NEWER(i)                                                               \
  [FLAM_TABLE_NEWER + i] = { .name = "of a newer version",                     \
                             .offset = offsetof (FlamTables, newer[i]) }

G_STATIC_ASSERT (FLAM_N_NEWER == 8);

const FlamTableInfo flam_table_infos[FLAM_N_TABLES] = {
  TABLE (STRINGS, 1, strings, strings, 1, TRUE),
  TABLE (MODULES, 2, profile.modules, modules, 3, TRUE),
  TABLE (FUNCTIONS, 3, profile.functions, functions, 7, TRUE),
  TABLE (FRAMES, 4, profile.frames, frames, 6, TRUE),
  TABLE (STACKS, 5, profile.stacks, stacks, 2, TRUE),
  TABLE (PROCESSES, 6, profile.processes, processes, 2, TRUE),
  TABLE (THREADS, 7, profile.threads, threads, 2, TRUE),
  NEWER (0),
  NEWER (1),
  NEWER (2),
  NEWER (3),
  NEWER (4),
  NEWER (5),
  NEWER (6),
  NEWER (7),
  TABLE (NAMES, 8, names, names, 4),
  TABLE (MEASURES, 9, measures, measures, 8),
  TABLE (SAMPLES, 10, profile.samples, samples, 5),
  TABLE (ALLOCATIONS, 11, profile.allocations, allocations, 9),
  TABLE (BLOCKS, 12, blocks, blocks, 6),
  TABLE (RELEASES, 13, releases, releases, 4),
  TABLE (AT_PEAK, 14, at_peak, at_peak, 5),
  TABLE (COUNTERS, 15, counters, counters, 2, TRUE),
  TABLE (COUNTER_VALUES, 16, counter_values, counter_values, 3),
  TABLE (MARKS, 17, profile.marks, marks, 4),
  TABLE (LABELS, 25, profile.labels, labels, 0),
  TABLE (FACTS, 18, facts, facts, 2),
  TABLE (WARNINGS, 19, warnings, warnings, 1),
  TABLE (SYMBOLS, 20, symbols, symbols, 4),
  TABLE (MODULE_SYMBOLS, 21, module_symbols, module_symbols, 3),
  TABLE (END, 22, end, end, 1),
  TABLE (RENAMES, 23, renames, renames, 5),
  TABLE (COLUMNS, 24, columns, columns, 4, TRUE),
  TABLE (NOTES, 26, profile.notes, notes, 0),
  TABLE (SOURCES, 27, profile.sources, sources, 0),
  TABLE (JUMPS, 28, profile.jumps, jumps, 0),
  TABLE (WORKING_FOLDERS, 29, profile.working_folders, working_folders, 0),
  TABLE (FORMER_NAMES, 0, profile.former_names, former_names, 0),
};

guint
flam_tables_number (const FlamTables *tables, FlamTable table)
{
  return flam_table_is_newer (table)
             ? tables->newer[table - FLAM_TABLE_NEWER].number
             : flam_table_infos[table].number;
}

FlamTable
flam_tables_of_number (const FlamTables *tables, guint number)
{
  for (guint i = 0; i < FLAM_N_TABLES; i++)
    if (number != 0 && flam_tables_number (tables, i) == number)
      return i;
  return FLAM_N_TABLES;
}

/* The same, but registers the number: FLAM_N_TABLES if there are too many of a
 * newer version. */
static FlamTable
register_number (FlamTables *tables, guint number)
{
  FlamTable table = flam_tables_of_number (tables, number);

  if (number == 0 || number > G_MAXUINT16)
    return FLAM_N_TABLES;
  for (guint i = 0; i < FLAM_N_NEWER && table == FLAM_N_TABLES; i++)
    if (tables->newer[i].number == 0)
      {
        tables->newer[i].number = number;
        table = FLAM_TABLE_NEWER + i;
      }
  return table;
}

/* --- columns without a member -------------------------------------------- */

static gpointer
new_cells (const FlamTables *tables, FlamTable table, guint size)
{
  gsize n = MAX (tables->allocated[table], 1);
  gpointer cells = flam_cells_resize (NULL, 0, n, size, tables->shared[table]);

  return memset (cells, 0, n * size);
}

static void
append_extra (FlamTables *tables,
              GArray *extras,
              FlamTable table,
              const FlamColumnInfo *info)
{
  FlamExtra extra = { table, flam_tables_number (tables, table), *info };

  extra.info.size = sizeof (gint64);
  extra.data = new_cells (tables, table, sizeof (gint64));
  g_array_append_val (extras, extra);
}

/* A column of a newer version, unless it exists. */
static void
add_extra (FlamTables *tables, FlamTable table, const FlamColumnInfo *info)
{
  for (guint i = 0; i < tables->extras->len; i++)
    {
      const FlamExtra *extra = &g_array_index (tables->extras, FlamExtra, i);

      if (extra->table == table && extra->info.number == info->number)
        return;
    }
  append_extra (tables, tables->extras, table, info);
}

/* How files list the columns that are not in version 1. */

/* The column of that number, or NULL. */
static const FlamColumnInfo *
describes (FlamTable table, guint number)
{
  const FlamTableInfo *infos = &flam_table_infos[table];

  for (guint i = 0; i < infos->n_columns; i++)
    if (infos->columns[i].number == number &&
        infos->columns[i].encoding != FLAM_ENCODE_NOT)
      return &infos->columns[i];
  return NULL;
}

/* A crafted file may list a million. */
#define LISTED_MAX 100

void
flam_tables_add_listed (FlamTables *tables, guint32 from)
{
  const FlamColumnRows *rows = &tables->columns;

  for (guint32 i = from; i < MIN (rows->n, LISTED_MAX); i++)
    {
      gboolean own = rows->refers_to[i] == rows->table[i];
      FlamTable refers_to = flam_tables_of_number (tables, rows->refers_to[i]);
      FlamColumnInfo info = { .name = "of a newer version",
                              .number = (guint8)rows->number[i],
                              .encoding = (guint8)rows->encoding[i],
                              .refers_to = FLAM_TABLE_STRINGS };
      FlamTable table;

      /* A table is accepted if one of its columns can be kept. */
      if (rows->number[i] > G_MAXUINT8 ||
          rows->encoding[i] >= FLAM_ENCODE_TEXT ||
          (rows->encoding[i] == FLAM_ENCODE_ID && !own &&
           refers_to == FLAM_N_TABLES))
        continue;
      table = register_number (tables, rows->table[i]);
      if (rows->encoding[i] == FLAM_ENCODE_ID)
        info.refers_to = own ? table : refers_to;
      if (table != FLAM_N_TABLES && table != FLAM_TABLE_STRINGS &&
          describes (table, info.number) == NULL)
        add_extra (tables, table, &info);
    }
}

void
flam_tables_add_kept (FlamTables *tables, const FlamExtra *extra)
{
  FlamTable table = extra->table;
  guint32 n;
  gint64 *values;

  if (flam_table_is_newer (table))
    {
      flam_tables_reserve (tables, table, extra->n);
      tables->newer[table - FLAM_TABLE_NEWER] =
          (FlamNewerRows){ extra->n, extra->number };
    }
  n = *flam_tables_n (tables, table);
  add_extra (tables, table, &extra->info);
  values =
      g_array_index (tables->extras, FlamExtra, tables->extras->len - 1).data;
  memcpy (values, extra->data, MIN (n, extra->n) * sizeof *values);
  for (guint32 row = extra->n; row < n; row++)
    values[row] = extra->info.encoding == FLAM_ENCODE_ID ? FLAM_NONE : 0;
}

static gboolean
is_listed (const FlamTables *tables,
           FlamTable table,
           const FlamColumnInfo *info)
{
  for (guint32 i = 0; i < tables->columns.n; i++)
    if (tables->columns.table[i] == flam_tables_number (tables, table) &&
        tables->columns.number[i] == info->number)
      return TRUE;
  return FALSE;
}

static void
list (FlamTables *tables, FlamTable table, const FlamColumnInfo *info)
{
  gint64 values[] = { flam_tables_number (tables, table),
                      info->number,
                      info->encoding,
                      info->encoding == FLAM_ENCODE_ID
                          ? flam_tables_number (tables, info->refers_to)
                          : 0 };

  if (!is_listed (tables, table, info))
    flam_tables_add (tables, FLAM_TABLE_COLUMNS, values);
}

void
flam_tables_list (FlamTables *tables)
{
  for (guint t = 0; t < FLAM_N_TABLES; t++)
    for (guint i = flam_table_infos[t].n_first;
         (flam_table_infos[t].n_first > 0 || *flam_tables_n (tables, t) > 0) &&
         i < flam_table_infos[t].n_columns &&
         flam_table_infos[t].columns[i].encoding != FLAM_ENCODE_NOT;
         i++)
      list (tables, t, &flam_table_infos[t].columns[i]);
  for (guint i = 0; i < tables->extras->len; i++)
    {
      const FlamExtra *extra = &g_array_index (tables->extras, FlamExtra, i);

      list (tables, extra->table, &extra->info);
    }
}

GArray *
flam_tables_stored (const FlamTables *tables, FlamTable table)
{
  GArray *order = g_array_new (FALSE, FALSE, sizeof (FlamColumnIter));
  const FlamTableInfo *infos = &flam_table_infos[table];
  const FlamColumnRows *listed = &tables->columns;
  FlamColumnIter iter = { NULL };

  while (flam_tables_next (tables, table, &iter))
    if (iter.at <= infos->n_first && iter.extra == 0)
      g_array_append_val (order, iter);
    else if (iter.extra > 0 && iter.extra <= tables->weights->len)
      g_array_append_val (order, iter);
  for (guint32 i = 0; i < MIN (listed->n, LISTED_MAX); i++)
    {
      if (listed->table[i] != flam_tables_number (tables, table))
        continue;
      iter = (FlamColumnIter){ NULL };
      while (flam_tables_next (tables, table, &iter))
        if ((iter.extra > tables->weights->len ||
             (iter.extra == 0 && iter.at > infos->n_first &&
              iter.info->encoding != FLAM_ENCODE_NOT)) &&
            iter.info->number == listed->number[i])
          {
            g_array_append_val (order, iter);
            break;
          }
    }
  return order;
}

/* --- cells ---------------------------------------------------------------- */

gint64
flam_cell_get (gconstpointer data, const FlamColumnInfo *info, guint32 i)
{
  switch (info->size)
    {
    case 1:
      return ((const guint8 *)data)[i];
    case 2:
      return ((const guint16 *)data)[i];
    case 4:
      return info->flags & SIGNED ? ((const gint32 *)data)[i]
                                  : (gint64)((const guint32 *)data)[i];
    default:
      return ((const gint64 *)data)[i];
    }
}

void
flam_cell_set (gpointer data, const FlamColumnInfo *info, guint32 i, gint64 v)
{
  switch (info->size)
    {
    case 1:
      ((guint8 *)data)[i] = (guint8)v;
      break;
    case 2:
      ((guint16 *)data)[i] = (guint16)v;
      break;
    case 4:
      ((guint32 *)data)[i] = (guint32)v;
      break;
    default:
      ((gint64 *)data)[i] = v;
      break;
    }
}

gboolean
flam_tables_next (const FlamTables *tables,
                  FlamTable table,
                  FlamColumnIter *iter)
{
  const FlamTableInfo *infos = &flam_table_infos[table];

  if (iter->at < infos->n_columns)
    {
      iter->info = &infos->columns[iter->at++];
      iter->data = flam_tables_array (tables, iter->info);
      return TRUE;
    }
  while (iter->extra < tables->weights->len + tables->extras->len)
    {
      guint i = iter->extra++;
      FlamExtra *extra = i < tables->weights->len
                             ? &g_array_index (tables->weights, FlamExtra, i)
                             : &g_array_index (tables->extras,
                                               FlamExtra,
                                               i - tables->weights->len);

      iter->info = &extra->info;
      iter->data = &extra->data;
      if (extra->table == table)
        return TRUE;
    }
  return FALSE;
}

/* --- rows ----------------------------------------------------------------- */

#define FIRST_ROWS 64

static gboolean
is_interned (FlamTable table)
{
  const FlamTableInfo *infos = &flam_table_infos[table];

  return infos->n_columns > 0 && infos->columns[0].flags & KEY;
}

void
flam_tables_init (FlamTables *tables)
{
  flam_strings_init (&tables->strings);
  tables->weights = g_array_new (FALSE, FALSE, sizeof (FlamExtra));
  tables->extras = g_array_new (FALSE, FALSE, sizeof (FlamExtra));
  for (guint i = 0; i < FLAM_N_TABLES; i++)
    if (is_interned (i))
      flam_interner_init (&tables->interners[i]);
  flam_column_init (&tables->first_children, sizeof (FlamId));
}

void
flam_tables_copy (FlamTables *to, const FlamTables *from, FlamTable table)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  guint32 n = *flam_tables_n (from, table);

  g_assert (to->allocated[table] == 0 && !to->shared[table]);
  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];
      gpointer data = *flam_tables_array (from, info);

      if (data != NULL)
        *flam_tables_array (to, info) =
            g_memdup2 (data, MAX (n, 1) * (gsize)info->size);
    }
  *flam_tables_n (to, table) = n;
  to->allocated[table] = n;
  if (!is_interned (table))
    return;
  flam_interner_clear (&to->interners[table]);
  flam_interner_init_copy (&to->interners[table], &from->interners[table]);
  if (table == FLAM_TABLE_STACKS)
    flam_column_init_copy (&to->first_children, &from->first_children);
}

static void
copy_extras (GArray *to, const GArray *from, const FlamTables *tables)
{
  for (guint i = 0; i < from->len; i++)
    {
      FlamExtra extra = g_array_index (from, FlamExtra, i);
      guint32 n = *flam_tables_n (tables, extra.table);

      extra.data = g_memdup2 (extra.data, MAX (n, 1) * sizeof (gint64));
      g_array_append_val (to, extra);
    }
}

void
flam_tables_init_copy (FlamTables *tables, const FlamTables *from)
{
  flam_tables_init (tables);
  flam_strings_clear (&tables->strings);
  flam_strings_init_copy (&tables->strings, &from->strings);
  memcpy (tables->newer, from->newer, sizeof tables->newer);
  for (guint i = FLAM_TABLE_MODULES; i < FLAM_N_TABLES; i++)
    flam_tables_copy (tables, from, i);
  copy_extras (tables->weights, from->weights, from);
  copy_extras (tables->extras, from->extras, from);
}

#define SWAP(type, a, b)                                                       \
  {                                                                            \
    type swapped = a;                                                          \
    a = b;                                                                     \
    b = swapped;                                                               \
  }

void
flam_tables_swap (FlamTables *a, FlamTables *b, FlamTable table)
{
  const FlamTableInfo *infos = &flam_table_infos[table];

  if (table == FLAM_TABLE_STRINGS)
    {
      SWAP (FlamStrings, a->strings, b->strings);
      return;
    }
  for (guint i = 0; i < infos->n_columns; i++)
    SWAP (gpointer,
          *flam_tables_array (a, &infos->columns[i]),
          *flam_tables_array (b, &infos->columns[i]));
  if (table == FLAM_TABLE_SAMPLES)
    SWAP (GArray *, a->weights, b->weights);
  SWAP (guint32, *flam_tables_n (a, table), *flam_tables_n (b, table));
  SWAP (guint32, a->allocated[table], b->allocated[table]);
  SWAP (gboolean, a->shared[table], b->shared[table]);
  SWAP (FlamInterner, a->interners[table], b->interners[table]);
  if (table == FLAM_TABLE_STACKS)
    SWAP (FlamColumn, a->first_children, b->first_children);
}

void
flam_tables_share (FlamTables *tables, FlamTable table)
{
  guint32 n = *flam_tables_n (tables, table);
  FlamColumnIter iter = { NULL };

  if (tables->shared[table])
    return;
  tables->shared[table] = TRUE;
  while (flam_tables_next (tables, table, &iter))
    if (*iter.data != NULL)
      {
        g_autofree gpointer own = *iter.data;

        *iter.data = new_cells (tables, table, iter.info->size);
        memcpy (*iter.data, own, (gsize)n * iter.info->size);
      }
}

void
flam_tables_clear (FlamTables *tables)
{
  for (guint i = FLAM_TABLE_MODULES; i < FLAM_N_TABLES; i++)
    {
      FlamColumnIter iter = { NULL };

      while (flam_tables_next (tables, i, &iter))
        flam_cells_free (g_steal_pointer (iter.data), tables->shared[i]);
      flam_interner_clear (&tables->interners[i]);
    }
  flam_column_clear (&tables->first_children);
  flam_strings_clear (&tables->strings);
  g_array_unref (tables->weights);
  g_array_unref (tables->extras);
}

/* Whether each sample has a value in this column. */
static gboolean
is_of_all_samples (const FlamTables *tables, const FlamColumnIter *iter)
{
  return iter->extra > 0
             ? iter->extra <= tables->weights->len
             : iter->info == &flam_table_infos[FLAM_TABLE_SAMPLES].columns[0];
}

static void
reserve (FlamTables *tables, FlamTable table, guint32 n, gboolean unset)
{
  guint64 had = tables->allocated[table];
  guint64 wanted = MAX (MAX (had * 2, FIRST_ROWS), n);
  FlamColumnIter iter = { NULL };

  if (n <= had)
    return;
  g_assert (n < FLAM_NONE);
  wanted = MIN (wanted, FLAM_NONE);
  while (flam_tables_next (tables, table, &iter))
    {
      guint size = iter.info->size;

      if (*iter.data == NULL && iter.info->flags & OPTIONAL)
        continue;
      *iter.data = flam_cells_resize (
          *iter.data, had, wanted, size, tables->shared[table]);
      if ((iter.info->flags & OPTIONAL || iter.extra > 0) &&
          !(unset && is_of_all_samples (tables, &iter)))
        memset ((char *)*iter.data + had * size, 0, (wanted - had) * size);
    }
  tables->allocated[table] = (guint32)wanted;
}

void
flam_tables_reserve (FlamTables *tables, FlamTable table, guint32 n)
{
  reserve (tables, table, n, FALSE);
}

void
flam_tables_reserve_samples (FlamTables *tables, guint32 n)
{
  reserve (tables, FLAM_TABLE_SAMPLES, n, TRUE);
}

void
flam_tables_begin (FlamTables *tables,
                   FlamTable table,
                   const FlamColumnInfo *info)
{
  gpointer *data = flam_tables_array (tables, info);

  if (*data == NULL)
    *data = new_cells (tables, table, info->size);
}

void
flam_tables_add_weights (FlamTables *tables)
{
  static const FlamColumnInfo info = { .name = "weight",
                                       .encoding = FLAM_ENCODE_I64 };

  append_extra (tables, tables->weights, FLAM_TABLE_SAMPLES, &info);
}

void
flam_tables_drop (FlamTables *tables, FlamTable table, guint32 n)
{
  guint32 had = *flam_tables_n (tables, table);
  FlamColumnIter iter = { NULL };

  g_assert (!tables->shared[table]);
  while (n > 0 && flam_tables_next (tables, table, &iter))
    if (*iter.data != NULL)
      {
        char *cells = *iter.data;
        gsize size = iter.info->size;

        memmove (cells, cells + n * size, (had - n) * size);
        memset (cells + (had - n) * size, 0, n * size);
      }
  *flam_tables_n (tables, table) = had - n;
}

FlamId
flam_tables_add (FlamTables *tables, FlamTable table, const gint64 *values)
{
  FlamId row = flam_tables_push (tables, table);
  const FlamTableInfo *infos = &flam_table_infos[table];

  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];

      flam_cell_set (*flam_tables_array (tables, info),
                     info,
                     row,
                     i < infos->n_first ? values[i] : 0);
    }
  return row;
}

void
flam_tables_reorder (FlamTables *tables, FlamTable table, const guint32 *order)
{
  guint32 n = *flam_tables_n (tables, table);
  FlamColumnIter iter = { NULL };

  g_assert (order == NULL || !tables->shared[table]);
  while (order != NULL && flam_tables_next (tables, table, &iter))
    {
      guint size = iter.info->size;
      char *sorted;

      if (*iter.data == NULL)
        continue;
      sorted = g_malloc_n (MAX (n, 1), size);
      flam_order_take (sorted, *iter.data, size, n, order);
      g_free (*iter.data);
      *iter.data = sorted;
    }
  if (order != NULL)
    tables->allocated[table] = n;
}

void
flam_tables_drop_extras (FlamTables *tables, FlamTable table)
{
  for (guint i = tables->extras->len; i-- > 0;)
    {
      FlamExtra *extra = &g_array_index (tables->extras, FlamExtra, i);

      if (extra->table != table && (extra->info.encoding != FLAM_ENCODE_ID ||
                                    extra->info.refers_to != table))
        continue;
      flam_cells_free (extra->data, tables->shared[extra->table]);
      g_array_remove_index (tables->extras, i);
    }
}

/* --- interning ------------------------------------------------------------ */

typedef struct
{
  const FlamTables *tables;
  FlamTable table;
} Rows;

static gboolean
row_equal (gconstpointer data, FlamId row, gconstpointer keys)
{
  const Rows *rows = data;
  const FlamTableInfo *infos = &flam_table_infos[rows->table];
  const gint64 *key = keys;

  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];

      if (info->flags & KEY &&
          flam_cell_get (*flam_tables_array (rows->tables, info), info, row) !=
              *key++)
        return FALSE;
    }
  return TRUE;
}

static guint
count_keys (const FlamTableInfo *infos)
{
  guint n = 0;

  for (guint i = 0; i < infos->n_columns; i++)
    n += (infos->columns[i].flags & KEY) != 0;
  return n;
}

static FlamSlot *
find_row (FlamTables *tables, FlamTable table, const gint64 *keys, guint n)
{
  Rows rows = { tables, table };
  guint64 hash = 0;
  FlamSlot *slot;

  for (guint i = 0; i < n; i++)
    hash = flam_hash_mix (hash, (guint64)keys[i]);
  hash ^= hash >> 32;
  slot = flam_interner_find (
      &tables->interners[table], (guint32)hash, row_equal, &rows, keys);
  slot->hash = (guint32)hash;
  return slot;
}

static void
fill_slot (FlamTables *tables, FlamTable table, FlamSlot *slot, FlamId row)
{
  slot->id = row;
  tables->interners[table].used++;
}

FlamId
flam_tables_intern (FlamTables *tables, FlamTable table, const gint64 *keys)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  FlamSlot *slot = find_row (tables, table, keys, count_keys (infos));
  FlamId row;

  if (slot->id != FLAM_NONE)
    return slot->id;
  row = flam_tables_push (tables, table);
  fill_slot (tables, table, slot, row);
  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];

      flam_cell_set (*flam_tables_array (tables, info),
                     info,
                     row,
                     info->flags & KEY ? *keys++ : 0);
    }
  return row;
}

static gboolean
refers (const FlamColumnInfo *info)
{
  return info->encoding == FLAM_ENCODE_ID || info->flags & FLAM_COLUMN_REFERS;
}

/* The cell with the id that it has in `to`. */
static gint64
mapped_cell (const FlamTables *from,
             const FlamColumnInfo *info,
             guint32 row,
             FlamId *const *maps)
{
  gint64 value = flam_cell_get (*flam_tables_array (from, info), info, row);

  return refers (info) && value != FLAM_NONE ? maps[info->refers_to][value]
                                             : value;
}

/* Call once all rows of the table have a number. */
static void
merge_own (FlamTables *to,
           const FlamTables *from,
           FlamTable table,
           const FlamColumnInfo *info,
           FlamId *const *maps)
{
  for (guint32 i = 0; i < *flam_tables_n (from, table); i++)
    {
      gint64 value = mapped_cell (from, info, i, maps);

      if (value != FLAM_NONE)
        flam_cell_set (
            *flam_tables_array (to, info), info, maps[table][i], value);
    }
}

static FlamId
merge_row (FlamTables *to,
           const FlamTables *from,
           FlamTable table,
           guint32 row,
           FlamId *const *maps)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  guint32 had = *flam_tables_n (to, table);
  gint64 keys[16];
  FlamId id;

  for (guint i = 0, k = 0; i < infos->n_columns; i++)
    if (infos->columns[i].flags & KEY)
      keys[k++] = mapped_cell (from, &infos->columns[i], row, maps);
  id = flam_tables_intern (to, table, keys);
  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];
      gboolean own = refers (info) && info->refers_to == table;
      gpointer cells = *flam_tables_array (to, info);

      if (info->flags & KEY)
        continue;
      if (own && id == had)
        flam_cell_set (cells, info, id, FLAM_NONE);
      else if (!own && flam_cell_get (cells, info, id) == 0)
        flam_cell_set (cells, info, id, mapped_cell (from, info, row, maps));
    }
  return id;
}

void
flam_tables_merge (FlamTables *to,
                   const FlamTables *from,
                   FlamTable table,
                   FlamId *const *maps)
{
  const FlamTableInfo *infos = &flam_table_infos[table];

  for (guint32 i = 0; i < *flam_tables_n (from, table); i++)
    maps[table][i] = merge_row (to, from, table, i, maps);
  for (guint i = 0; i < infos->n_columns; i++)
    if (refers (&infos->columns[i]) && infos->columns[i].refers_to == table)
      merge_own (to, from, table, &infos->columns[i], maps);
}

static void
move_row (FlamTables *tables, FlamTable table, guint32 to, guint32 from)
{
  FlamColumnIter iter = { NULL };

  while (to != from && flam_tables_next (tables, table, &iter))
    memcpy ((char *)*iter.data + (gsize)to * iter.info->size,
            (char *)*iter.data + (gsize)from * iter.info->size,
            iter.info->size);
}

void
flam_tables_intern_rows (FlamTables *tables,
                         FlamTable table,
                         guint32 from,
                         FlamId *map)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  guint32 n = *flam_tables_n (tables, table);
  guint n_keys = count_keys (infos);
  gint64 keys[16];
  guint32 to = from;

  for (guint32 row = from; row < n; row++)
    {
      FlamSlot *slot;

      for (guint i = 0, k = 0; i < infos->n_columns; i++)
        if (infos->columns[i].flags & KEY)
          keys[k++] =
              flam_cell_get (*flam_tables_array (tables, &infos->columns[i]),
                             &infos->columns[i],
                             row);
      slot = find_row (tables, table, keys, n_keys);
      map[row - from] = slot->id == FLAM_NONE ? to : slot->id;
      if (slot->id != FLAM_NONE)
        continue;
      fill_slot (tables, table, slot, to);
      move_row (tables, table, to++, row);
    }
  *flam_tables_n (tables, table) = to;
}
