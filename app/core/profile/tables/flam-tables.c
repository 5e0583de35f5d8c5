/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The description. The code that uses it is in flam-table-rows.c. */

#include "flam-tables.h"

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
  ENUM (1, counters.unit, FLAM_UNIT_BYTES + 1, FLAM_UNIT_BYTES),
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

FlamTable
flam_tables_know_number (FlamTables *tables, guint number)
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
