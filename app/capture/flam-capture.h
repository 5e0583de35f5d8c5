/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The .flambeau container, version 1: what both its writer and its reader
 * know. All numbers are little endian. A file is a header and then blocks, to
 * its end; nothing is ever rewritten, so a recorder that dies leaves a file
 * that is readable to its last whole block, and a growing file can be read
 * while it grows.
 *
 *   file header
 *   OFFSET SIZE
 *        0    8  "FLAMBEAU"
 *        8    2  major version, 1: a reader refuses one that is newer
 *       10    2  minor version, 0: newer ones add block types and columns,
 *                which a reader skips
 *       12    4  size of this header, 16: the first block begins there
 *
 *   block
 *   OFFSET SIZE
 *        0    4  "FBLK"
 *        4    2  type: a table of FlamCaptureTable
 *        6    2  flags: 1 = the payload is one zstd frame; others 0
 *        8    4  S, size of the payload as stored
 *       12    4  size of the payload unpacked, at most 8 MiB
 *       16    4  CRC-32 (IEEE 802.3, as zlib's) of bytes 4 to 15 and of the
 *                payload as stored
 *       20    S  payload
 *
 *   payload, unpacked; `varint` is unsigned LEB128 of at most 10 bytes
 *        varint  R, number of rows
 *        varint  C, number of columns, at least half of those known
 *        C times a column:
 *          varint  size in bytes of what follows
 *          R values, each by the column's kind:
 *            U32, I64   zigzag varint
 *            DELTA      zigzag varint, difference to the row before; the
 *                       first row of a block differs from 0
 *            ID         varint: a row of another table, plus 1; 0 is none
 *            TEXT       varint length, then as many bytes, no NUL at the end
 *
 * A table's rows are numbered in order of appearance, through all its blocks;
 * an ID may only name a row that came before. The columns of each table stand
 * in flam-capture.c. A reader ignores columns after those it knows, and takes
 * 0 (none) for columns that are missing.
 *
 * Times are ns from the start of the recording. The file holds names and
 * numbers alone: neither memory nor environment of the target. */

#include "flam-columns.h"

G_BEGIN_DECLS

#define FLAM_CAPTURE_MAGIC "FLAMBEAU"
#define FLAM_CAPTURE_BLOCK_MAGIC "FBLK"
#define FLAM_CAPTURE_MAJOR 1
#define FLAM_CAPTURE_MINOR 0
#define FLAM_CAPTURE_HEADER_SIZE 16
#define FLAM_CAPTURE_BLOCK_HEADER_SIZE 20
#define FLAM_CAPTURE_BLOCK_MAX (8u << 20)
#define FLAM_CAPTURE_FLAG_ZSTD 1
#define FLAM_CAPTURE_MAX_COLUMNS 40

typedef enum
{
  FLAM_CAPTURE_STRINGS = 1,
  FLAM_CAPTURE_MODULES,
  FLAM_CAPTURE_FUNCTIONS,
  FLAM_CAPTURE_FRAMES,
  FLAM_CAPTURE_STACKS,
  FLAM_CAPTURE_PROCESSES,
  FLAM_CAPTURE_THREADS,
  FLAM_CAPTURE_NAMES,
  FLAM_CAPTURE_MEASURES,
  FLAM_CAPTURE_SAMPLES,
  FLAM_CAPTURE_ALLOCATIONS,
  FLAM_CAPTURE_BLOCKS,
  FLAM_CAPTURE_RELEASES,
  FLAM_CAPTURE_AT_PEAK,
  FLAM_CAPTURE_COUNTERS,
  FLAM_CAPTURE_COUNTER_VALUES,
  FLAM_CAPTURE_MARKS,
  FLAM_CAPTURE_FACTS,
  FLAM_CAPTURE_WARNINGS,
  FLAM_CAPTURE_SYMBOLS,
  FLAM_CAPTURE_MODULE_SYMBOLS,
  FLAM_CAPTURE_END,
  FLAM_CAPTURE_RENAMES,
  FLAM_CAPTURE_N_TABLES
} FlamCaptureTable;

typedef enum
{
  FLAM_CAPTURE_U32,
  FLAM_CAPTURE_I64,
  FLAM_CAPTURE_DELTA,
  FLAM_CAPTURE_ID,
  FLAM_CAPTURE_TEXT,
} FlamCaptureKind;

typedef struct
{
  const char *name;
  FlamCaptureKind kind;
  FlamCaptureTable refers_to; /* ID */
  gboolean required;          /* ID: none is an error */
} FlamCaptureColumn;

/* The columns of a table by number, in the order below. */
const FlamCaptureColumn *flam_capture_columns (FlamCaptureTable table,
                                               guint *n);

/* SAMPLES has these and then one I64 a weight column. */
#define FLAM_CAPTURE_SAMPLE_COLUMNS 5
#define FLAM_CAPTURE_MAX_WEIGHTS                                               \
  (FLAM_CAPTURE_MAX_COLUMNS - FLAM_CAPTURE_SAMPLE_COLUMNS)

/* What a row of NAMES names. */
typedef enum
{
  FLAM_CAPTURE_NAME_PROCESS,
  FLAM_CAPTURE_NAME_THREAD,
} FlamCaptureNamed;

/* Rows of FACTS are a key and a text, numbers in decimal; the last one of a key
 * stays. Those of FlamFacts are in flam-facts.c; these say how the recording
 * was made: */
#define FLAM_FACT_MODE "mode"
#define FLAM_FACT_RATE "rate-hz"
#define FLAM_FACT_EXIT_STATUS "exit-status"
/* And these how the tables are to be read. Of the tick in which the highest
 * point of AT_PEAK was. */
#define FLAM_FACT_PEAK_TIME "peak-time-ns"
#define FLAM_FACT_HAS_TIMES "has-times"
/* 1: of the measures of allocations there are those in the table alone; else
 * all are there if one is. */
#define FLAM_FACT_MEASURES_LISTED "measures-listed"
/* The measure whose samples are spans: they last their weight. */
#define FLAM_FACT_SPANS "spans"

/* Of a block, header and all, whose payload has `stored` bytes. */
guint32 flam_capture_checksum (const guint8 *block, gsize stored);

/* Rows of one table, as columns: guint32 for U32 and ID (none: FLAM_NONE),
 * gint64 for I64 and DELTA; TEXT is an offset (guint64) into `text`, each
 * NUL-terminated there. */
typedef struct
{
  guint32 n;
  guint n_columns;
  FlamColumn columns[FLAM_CAPTURE_MAX_COLUMNS];
  FlamColumn text;
} FlamCaptureRows;

/* `n_extra` I64 columns after the table's own (SAMPLES). */
void flam_capture_rows_init (FlamCaptureRows *rows,
                             FlamCaptureTable table,
                             guint n_extra);
void flam_capture_rows_clear (FlamCaptureRows *rows);
/* Forgets the rows, keeps the memory. */
void flam_capture_rows_reset (FlamCaptureRows *rows);

static inline guint32
flam_capture_u32 (const FlamCaptureRows *rows, guint column, guint32 row)
{
  return flam_column_at (&rows->columns[column], guint32, row);
}

static inline gint64
flam_capture_i64 (const FlamCaptureRows *rows, guint column, guint32 row)
{
  return flam_column_at (&rows->columns[column], gint64, row);
}

static inline const char *
flam_capture_text (const FlamCaptureRows *rows, guint32 row)
{
  return (const char *)rows->text.data +
         flam_column_at (&rows->columns[0], guint64, row);
}

/* A row, one value a column in order (IDs: FLAM_NONE is none), without text. */
void flam_capture_rows_push (FlamCaptureRows *rows, const gint64 *values);
void flam_capture_rows_push_text (FlamCaptureRows *rows, const char *text);

/* Rows [from, to) -> payload, appended to `out`. */
void flam_capture_encode (const FlamCaptureRows *rows,
                          FlamCaptureTable table,
                          guint32 from,
                          guint32 to,
                          GByteArray *out);
/* Payload -> more rows; on an error the rows are as they were. The IDs are
 * not checked here, as other tables' sizes are needed for that. */
gboolean flam_capture_decode (FlamCaptureRows *rows,
                              FlamCaptureTable table,
                              const guint8 *payload,
                              gsize size,
                              const char **error);

G_END_DECLS
