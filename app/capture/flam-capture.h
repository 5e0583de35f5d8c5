/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CAPTURE_H
#define FLAM_CAPTURE_H

/* The .flambeau container, version 1: the common part of its writer and its
 * reader. All numbers are little endian. A file is a header and then blocks, to
 * its end; nothing is ever rewritten, so a recorder that is killed leaves a
 * file that is readable up to its last whole block, and a file can be read
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
 *        4    2  type: a table, by its number in flam-tables.c
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
 * an ID must refer to an earlier row. Tables and columns are listed in
 * flam-tables.c, with their numbers. A block's columns are those of version 1
 * in order, in SAMPLES one I64 for each column of weights in MEASURES, and then
 * those that rows of COLUMNS have listed for the table, in their order, with
 * their name, encoding and referenced table. So a reader can keep columns that
 * it does not support, and write them again. It uses 0 (none) for missing
 * columns, and ignores columns that are not listed. All columns of a table that
 * is not in version 1 are listed, so that it is kept likewise.
 *
 * Times are ns from the start of the recording. The file holds only names and
 * numbers: neither memory nor environment of the target. Paths are those of the
 * recorded machine: of modules, of sources, and of the working folders, which
 * WORKING_FOLDERS lists in order of time, so that relative paths of sources can
 * be found. */

#include "flam-core-profile.h"

#define FLAM_CAPTURE_MAGIC "FLAMBEAU"
#define FLAM_CAPTURE_BLOCK_MAGIC "FBLK"
#define FLAM_CAPTURE_MAJOR 1
#define FLAM_CAPTURE_MINOR 0
#define FLAM_CAPTURE_HEADER_SIZE 16
#define FLAM_CAPTURE_BLOCK_HEADER_SIZE 20
#define FLAM_CAPTURE_BLOCK_MAX (8u << 20)
#define FLAM_CAPTURE_FLAG_ZSTD 1

/* Of a whole block, including the header; its payload has `stored` bytes. */
guint32 flam_capture_checksum (const guint8 *block, gsize stored);

/* Rows [from, to) -> payload, appended to `out`. */
void flam_capture_encode (const FlamTables *tables,
                          FlamTable table,
                          guint32 from,
                          guint32 to,
                          GByteArray *out);

/* Maps the ids of a file to those of the tables it is read into, which were
 * empty. */
typedef struct
{
  FlamBuilder *builder;
  guint32 n[FLAM_N_TABLES];      /* rows of the file so far */
  FlamColumn map[FLAM_N_TABLES]; /* FlamId: the row of each interned row */
} FlamCaptureIds;

void flam_capture_ids_init (FlamCaptureIds *ids, FlamBuilder *builder);
void flam_capture_ids_clear (FlamCaptureIds *ids);
/* Payload -> more rows; on an error (set in `why`), none are added. */
gboolean flam_capture_decode (FlamCaptureIds *ids,
                              FlamTable table,
                              const guint8 *payload,
                              gsize size,
                              const char **why);

#endif
