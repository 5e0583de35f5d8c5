/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TABLES_H
#define FLAM_TABLES_H

/* The tables while they grow, and the one description of them.
 *
 *   FlamTables                              flam_table_infos[] (flam-tables.c)
 *   .profile.stacks   n        3            "stacks"  number 4 on disk
 *                     prefix  [- 0 1 . .] <-  0 ID    refers to stacks
 *                     frame   [4 7 4 . .] <-  1 ID    refers to frames,
 * required .allocated[STACKS]         5
 *
 * A column is a plain array in a plain struct, most of them those of
 * FlamProfile, and a row in the description that says where it lies. Everything
 * that is the same for all columns uses the description: growing, interning,
 * ordering, shifting of times, freezing, dumping, writing, reading and its
 * checks. The meaning of a column is documented at the struct.
 *
 * The tables that are not in FlamProfile are written by a recorder as things
 * happen, in order of time: names, blocks of memory and their release, the
 * functions found for addresses. flam_builder_finish() converts them into those
 * of the profile.
 *
 * A new column needs a member of the struct, a row in the description, and code
 * that fills and reads it (for samples, which are added one by one, also a
 * member of FlamSample beside theirs). Its number on disk is the next one of
 * its table and stays. */

#include "flam-builder.h"
#include "flam-strings.h"

G_BEGIN_DECLS

/* Columns of weights of the samples in a file. */
#define FLAM_MAX_WEIGHTS 35
/* Tables of a newer version that are kept. */
#define FLAM_N_NEWER 8

/* In the order in which they are written, since rows refer to rows that come
 * earlier in the file. */
typedef enum
{
  FLAM_TABLE_STRINGS,
  FLAM_TABLE_MODULES,
  FLAM_TABLE_FUNCTIONS,
  FLAM_TABLE_FRAMES,
  FLAM_TABLE_STACKS,
  FLAM_TABLE_PROCESSES,
  FLAM_TABLE_THREADS,
  FLAM_TABLE_NEWER, /* a table of a newer version, from a file */
  FLAM_TABLE_NEWER_LAST = FLAM_TABLE_NEWER + FLAM_N_NEWER - 1,
  FLAM_TABLE_NAMES,
  FLAM_TABLE_MEASURES,
  FLAM_TABLE_SAMPLES,
  FLAM_TABLE_ALLOCATIONS,
  FLAM_TABLE_BLOCKS,
  FLAM_TABLE_RELEASES,
  FLAM_TABLE_AT_PEAK,
  FLAM_TABLE_COUNTERS,
  FLAM_TABLE_COUNTER_VALUES,
  FLAM_TABLE_MARKS,
  FLAM_TABLE_LABELS,
  FLAM_TABLE_FACTS,
  FLAM_TABLE_WARNINGS,
  FLAM_TABLE_SYMBOLS,
  FLAM_TABLE_MODULE_SYMBOLS,
  FLAM_TABLE_END,
  FLAM_TABLE_RENAMES,
  FLAM_TABLE_NOTES,
  FLAM_TABLE_SOURCES,
  FLAM_TABLE_JUMPS,
  FLAM_TABLE_WORKING_FOLDERS,
  FLAM_TABLE_COLUMNS,
  FLAM_TABLE_FORMER_NAMES,
  FLAM_N_TABLES
} FlamTable;

/* The encoding of a cell; the bytes are described in flam-capture.h. The
 * numbers are those of COLUMNS in files. */
typedef enum
{
  FLAM_ENCODE_U32,
  FLAM_ENCODE_I64,
  FLAM_ENCODE_DELTA,
  FLAM_ENCODE_ID,
  FLAM_ENCODE_TEXT,
  FLAM_ENCODE_NOT, /* not in files */
} FlamEncoding;

typedef enum
{
  FLAM_COLUMN_REQUIRED = 1 << 0, /* FLAM_NONE is an error */
  FLAM_COLUMN_EMPTY = 1 << 1,    /* a string: FLAM_NONE is "" */
  FLAM_COLUMN_KEY = 1 << 2,      /* rows equal in all of these are one */
  FLAM_COLUMN_OPTIONAL = 1 << 3, /* NULL until a value is not the default */
  FLAM_COLUMN_TIME = 1 << 4,     /* a time on the capture's clock */
  FLAM_COLUMN_SPAN = 1 << 5,     /* a time that the capture must include */
  FLAM_COLUMN_SIGNED = 1 << 6,
  FLAM_COLUMN_REFERS = 1 << 7, /* to rows of a table, but not in files */
} FlamColumnFlags;

/* What the texts of a column contain, so that private names can be removed
 * (flam-anonymize.c). A column without a role is treated as private. */
typedef enum
{
  FLAM_ROLE_PRIVATE,
  FLAM_ROLE_FUNCTION,
  FLAM_ROLE_MODULE, /* a path */
  FLAM_ROLE_FILE,   /* of a source */
  FLAM_ROLE_TASK,   /* a process, a thread, a machine */
  FLAM_ROLE_MARK,
  FLAM_ROLE_LABEL,   /* also its unit */
  FLAM_ROLE_MEASURE, /* also a counter */
  FLAM_ROLE_BUILD_ID,
  FLAM_ROLE_FACT, /* its key */
  FLAM_ROLE_VALUE,
  FLAM_ROLE_MESSAGE, /* reasons and warnings */
  FLAM_ROLE_NOTE,
  FLAM_ROLE_SOURCE,
  FLAM_N_ROLES
} FlamTextRole;

typedef struct
{
  const char *name;
  guint8 number;   /* on disk */
  guint8 encoding; /* FlamEncoding */
  guint8 size;     /* of a cell, bytes */
  gsize offset;    /* of the array, in FlamTables */
  FlamTable refers_to;
  guint flags; /* FlamColumnFlags */
  gsize given; /* of the cell in FlamSample; 0: not copied from there */
  guint32
      limit; /* U32: values that are not below it become `otherwise`; 0: none */
  guint32 otherwise; /* for values of a newer version */
  FlamTextRole role; /* for columns that refer to strings */
} FlamColumnInfo;

typedef struct
{
  const char *name;
  guint number; /* of its blocks on disk; 0: not written */
  gsize offset; /* of its struct, which begins with `guint32 n` */
  const FlamColumnInfo *columns;
  guint n_columns; /* those on disk first, in the order of their numbers */
  guint n_first;   /* those of version 1; files list the later ones */
  gboolean kept;   /* written by a recorder at the time: rows refer to it */
} FlamTableInfo;

extern const FlamTableInfo flam_table_infos[FLAM_N_TABLES];

static inline gboolean
flam_table_is_newer (FlamTable table)
{
  return table >= FLAM_TABLE_NEWER && table <= FLAM_TABLE_NEWER_LAST;
}

/* --- records during reading ----------------------------------------------- */

typedef enum
{
  FLAM_NAMED_PROCESS, /* files contain these numbers */
  FLAM_NAMED_THREAD,
  FLAM_N_NAMED
} FlamNamed;

typedef struct
{
  guint32 n;
  const guint8 *what; /* FlamNamed */
  const FlamId *row;  /* of that table */
  const gint64 *time; /* valid from then on */
  const FlamStringId *name;
} FlamNameRows;

typedef struct
{
  guint32 n;
  const FlamId *id;
  const FlamStringId *name;
  const guint8 *unit;
  const guint8 *kind;
  const guint8 *source;
  const gint64 *column; /* -1: 1 each */
  const gint64 *event;  /* -1: all */
  const gint64 *denominator;
  const guint8 *spans; /* FlamSpans */
} FlamMeasureRows;

/* Blocks of memory that were alike, made in one tick; rows count from 0. */
typedef struct
{
  guint32 n;
  const gint64 *time;
  const FlamThreadId *thread;
  const FlamStackId *stack;
  const gint64 *size;
  const gint64 *count;
  const guint8 *allocator;
  const gint64 *more; /* live at the peak of the tick but not at its end;
                         negative: the reverse */
} FlamBlockRows;

/* `count` blocks of row `row` were freed then, after `distance` other
 * allocations of their thread. A row beyond the last one is ignored. */
typedef struct
{
  guint32 n;
  const gint64 *time;
  const gint64 *row;
  const gint64 *count;
  const guint16 *distance;
  const gint64 *more; /* of a row of an earlier tick, live at the highest moment
                         of the tick */
} FlamReleaseRows;

/* How many blocks of a kind were live at the highest point: for all kinds or
 * for none; rows of one kind add up. */
typedef struct
{
  guint32 n;
  const FlamThreadId *thread;
  const FlamStackId *stack;
  const gint64 *size;
  const guint8 *allocator;
  const gint64 *count;
} FlamPeakRows;

typedef struct
{
  guint32 n;
  const FlamId *id;
  const guint8 *unit;
} FlamCounterRows;

typedef struct
{
  guint32 n;
  const FlamId *counter;
  const gint64 *time;
  const gint64 *value;
} FlamCounterValueRows;

/* The last value of a key counts. */
typedef struct
{
  guint32 n;
  const FlamId *key;
  const FlamId *value;
} FlamFactRows;

typedef struct
{
  guint32 n;
  const FlamStringId *text;
} FlamWarningRows;

/* Consecutive rows of one frame are its chain, caller (inline depth 0) first.
 * Rows with a time are for generated code: they apply from that time on. */
typedef struct
{
  guint32 n;
  const FlamFrameId *frame;
  const gint64 *time; /* only in RENAMES */
  const FlamFunctionId *function;
  const guint32 *line;
  const FlamStringId *file; /* FLAM_NONE: the function's */
} FlamSymbolRows;

typedef struct
{
  guint32 n;
  const FlamModuleId *module;
  const guint8 *state; /* FlamSymbolState */
  const FlamStringId *why;
} FlamModuleSymbolRows;

/* Written when the recording ended regularly. */
typedef struct
{
  guint32 n;
  const gint64 *duration;
} FlamEndRows;

/* Columns in a file that version 1 does not have. */
typedef struct
{
  guint32 n;
  const guint32 *table;  /* its number */
  const guint32 *number; /* the column's */
  const guint32 *encoding;
  const guint32 *refers_to; /* a table's number */
} FlamColumnRows;

/* A table that is not in the description: its columns are in `extras`. */
typedef struct
{
  guint32 n;
  guint number; /* on disk; 0: none */
} FlamNewerRows;

/* A column that is not in the description, with cells of 8 bytes: weights of
 * samples, and columns of newer versions, which are kept to be written
 * again. */
typedef struct
{
  FlamTable table;
  guint number;        /* the table's */
  FlamColumnInfo info; /* `offset` is unused */
  gpointer data;
  guint32 n; /* rows, for that of a profile */
} FlamExtra;

typedef struct
{
  FlamProfile profile;
  FlamStrings strings;

  const FlamId *frame_module; /* of addresses that have no function */
  const guint32 *process_generation;
  const guint32 *thread_generation;
  const FlamId *thread_key; /* string, for columns without a number */
  const FlamId *sample_thread;

  FlamNameRows names;
  FlamMeasureRows measures;
  FlamBlockRows blocks;
  FlamReleaseRows releases;
  FlamPeakRows at_peak;
  FlamCounterRows counters;
  FlamCounterValueRows counter_values;
  FlamFactRows facts;
  FlamWarningRows warnings;
  FlamSymbolRows symbols;
  FlamModuleSymbolRows module_symbols;
  FlamEndRows end;
  FlamSymbolRows renames;
  FlamColumnRows columns;
  FlamNewerRows newer[FLAM_N_NEWER];

  GArray *weights; /* FlamExtra: columns over the samples */
  GArray *extras;  /* FlamExtra: of a newer version */
  guint32 allocated[FLAM_N_TABLES];
  gboolean shared[FLAM_N_TABLES]; /* snapshots refer to the existing rows */
  FlamInterner interners[FLAM_N_TABLES];
  FlamColumn first_children; /* FlamId: of indexed stacks; see flam-builder.c */
} FlamTables;

FlamTables *flam_builder_tables (FlamBuilder *builder);
/* The tables are from a file: recorded rows in them are to be converted. */
void flam_builder_set_recorded (FlamBuilder *builder);
/* The stacks of BLOCKS and AT_PEAK are numbers chosen by the caller: they are
 * replaced by stacks[number]. */
void flam_builder_map_blocks (FlamBuilder *builder, const FlamStackId *stacks);
/* Converts BLOCKS, RELEASES and AT_PEAK into allocations at once, for tables
 * that are not from a file. */
void flam_builder_fold_memory (FlamBuilder *builder);
/* Rows from `from` on were read from a file: they become equal to rows that the
 * functions of flam-builder.h add. `map` gets the new number of each. */
void
flam_builder_intern_modules (FlamBuilder *builder, guint32 from, FlamId *map);
void
flam_builder_intern_functions (FlamBuilder *builder, guint32 from, FlamId *map);
/* The text in the last row of FACTS with that key, or NULL; valid until a
 * string is added. */
const char *flam_builder_noted (const FlamBuilder *builder, const char *key);

void flam_tables_init (FlamTables *tables);
/* The same rows in memory of their own. */
void flam_tables_init_copy (FlamTables *tables, const FlamTables *from);
void flam_tables_clear (FlamTables *tables);
/* Copies the rows of one table; `to` has no rows of it. */
void flam_tables_copy (FlamTables *to, const FlamTables *from, FlamTable table);
/* Exchanges the rows of a table; the weights go with the samples. */
void flam_tables_swap (FlamTables *a, FlamTables *b, FlamTable table);
/* Call when the table will only grow: its memory can then be lent to profiles,
 * which keep it when it moves. */
void flam_tables_share (FlamTables *tables, FlamTable table);

static inline guint32 *
flam_tables_n (const FlamTables *tables, FlamTable table)
{
  return (guint32 *)((char *)tables + flam_table_infos[table].offset);
}

/* The array of a described column. */
static inline gpointer *
flam_tables_array (const FlamTables *tables, const FlamColumnInfo *info)
{
  return (gpointer *)((char *)tables + info->offset);
}

/* Readers of the profile's tables get const pointers. */
#define flam_cell(column, type, row) (((type *)(gpointer)(column))[row])

/* The number of a table on disk; 0: it is not written. */
guint flam_tables_number (const FlamTables *tables, FlamTable table);
/* FLAM_N_TABLES: the number is not known. */
FlamTable flam_tables_of_number (const FlamTables *tables, guint number);

void flam_tables_reserve (FlamTables *tables, FlamTable table, guint32 n);
/* For samples that are all added by the builder: the cells of times and weights
 * are not zeroed, since it sets them. */
void flam_tables_reserve_samples (FlamTables *tables, guint32 n);
/* Adds a row, its cells not set (those of optional columns are 0). */
static inline FlamId
flam_tables_push (FlamTables *tables, FlamTable table)
{
  guint32 *n = flam_tables_n (tables, table);

  if (G_UNLIKELY (*n == tables->allocated[table]))
    flam_tables_reserve (tables, table, *n + 1);
  return (*n)++;
}

/* Adds a row of `values`, one per column of version 1; the others are 0. */
FlamId
flam_tables_add (FlamTables *tables, FlamTable table, const gint64 *values);
/* The same, unless there is a row with the same keys; `values` are the keys in
 * order. A new row becomes the last one. */
FlamId
flam_tables_intern (FlamTables *tables, FlamTable table, const gint64 *keys);
/* Adds existing rows, from `from` on, to the interner; duplicates are removed.
 * `map` gets the new number of each. */
void flam_tables_intern_rows (FlamTables *tables,
                              FlamTable table,
                              guint32 from,
                              FlamId *map);
/* Interns the rows of `from`: the rows that they refer to are maps[table][row]
 * in `to`, and maps[table] gets the new number of each. If a row already
 * exists, its cells that are 0 get the values of the other one; of rows that
 * refer to another row of their own table, the last one is kept. */
void flam_tables_merge (FlamTables *to,
                        const FlamTables *from,
                        FlamTable table,
                        FlamId *const *maps);
/* Call when an optional column is needed. */
void flam_tables_begin (FlamTables *tables,
                        FlamTable table,
                        const FlamColumnInfo *info);
/* Adds a column of weights; 0 in the existing rows. */
void flam_tables_add_weights (FlamTables *tables);

static inline gint64 *
flam_tables_weights (const FlamTables *tables, guint column)
{
  return g_array_index (tables->weights, FlamExtra, column).data;
}

/* Row `i` becomes the former row order[i], in all columns. */
void
flam_tables_reorder (FlamTables *tables, FlamTable table, const guint32 *order);
/* Drops the first `n` rows, keeps the memory. */
void flam_tables_drop (FlamTables *tables, FlamTable table, guint32 n);

gint64
flam_cell_get (gconstpointer data, const FlamColumnInfo *info, guint32 i);
void
flam_cell_set (gpointer data, const FlamColumnInfo *info, guint32 i, gint64 v);

/* All columns of a table, the described ones and then the others. */
typedef struct
{
  const FlamColumnInfo *info;
  gpointer *data; /* where the array is stored; NULL there: not begun */
  guint at;
  guint extra;
} FlamColumnIter;

gboolean flam_tables_next (const FlamTables *tables,
                           FlamTable table,
                           FlamColumnIter *iter);

/* Drops the extras of a table, and those that refer to it. */
void flam_tables_drop_extras (FlamTables *tables, FlamTable table);
/* Adds one that a profile has kept; its rows that were added since are
 * unset. */
void flam_tables_add_kept (FlamTables *tables, const FlamExtra *extra);
/* Adds the columns listed in COLUMNS from `from` on that are not described. */
void flam_tables_add_listed (FlamTables *tables, guint32 from);
/* The reverse: adds the rows for columns that are not in version 1. */
void flam_tables_list (FlamTables *tables);
/* FlamColumnIter: the columns of a table in files, in order. */
GArray *flam_tables_stored (const FlamTables *tables, FlamTable table);

G_END_DECLS

#endif
