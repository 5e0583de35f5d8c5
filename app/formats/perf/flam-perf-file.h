/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_FILE_H
#define FLAM_PERF_FILE_H

/* The frame of a perf.data file: header, events, features. Records are
 * flam-perf-records.h's.
 *
 * File mode, in the order of bytes of the machine that recorded:
 *
 *   OFFSET  SIZE  WHAT
 *        0     8  "PERFILE2"; "2ELIFREP" from a big-endian machine
 *        8     8  size of this header, 104
 *       16     8  size of one entry of attrs
 *       24    16  attrs:  offset, size
 *       40    16  data:   offset, size (0: the recorder did not end well)
 *       56    16  event types, not used any more
 *       72    32  256 bits: which features are there
 *
 * The bits of the features are words there, and those of an attr's flags begin
 * with the highest one of each byte.
 *
 *   attrs:     entries of perf_event_attr and then offset, size of its ids
 *   features:  after the data, an offset and a size for each bit set
 *
 * `perf record --threads` makes a folder of such a file, `data`, and of data.0,
 * data.1 and so on, which are records alone. That feature is DIR_FORMAT.
 *
 * The feature TRACING_DATA has the layout of the tracepoints' fields:
 *
 *   0x17 0x08 "Dtracing", version, NUL, big endian, size of long, u32 page size
 *   "header_page" NUL, u64 size, text       "header_event" NUL, the same
 *   u32 number, and so many texts: u64 size, text
 *   u32 number of systems, each: name, NUL, u32 number, and so many texts
 *       name: kmalloc                      (sched_switch: prev_state, next_pid)
 *       ID: 507
 *       format:
 *               field:size_t bytes_alloc;  offset:32;  size:8;  signed:0;
 *
 * Pipe mode has 16 bytes, "PERFILE2" and their number; all the rest comes as
 * records (HEADER_ATTR, EVENT_UPDATE, HEADER_BUILD_ID, HEADER_FEATURE).
 *
 * perf_event_attr, as far as it is used:
 *
 *   OFFSET  SIZE  WHAT
 *        0     4  type                     40   8  flags
 *        4     4  size of the structure    72   8  branch_sample_type
 *        8     8  config                   80   8  sample_regs_user
 *       16     8  period or frequency      88   4  sample_stack_user
 *       24     8  sample_type              92   4  clockid
 *       32     8  read_format
 *
 * Sources: tools/perf/Documentation/perf.data-file-format.txt and
 * include/uapi/linux/perf_event.h of the Linux kernel. */

#include "flam-source.h"

#include <string.h>

/* The remaining bytes. Reading past the end gives 0 and sets `bad`. */
typedef struct
{
  const guint8 *p;
  const guint8 *end;
  gboolean bad;
  gboolean swap; /* recorded in the other order of bytes than this machine's */
} FlamPerfBytes;

static inline gsize
flam_perf_left (const FlamPerfBytes *bytes)
{
  return bytes->end - bytes->p;
}

static inline guint64
flam_perf_u64 (const guint8 *p, gboolean swap)
{
  guint64 value;

  memcpy (&value, p, 8);
  return G_UNLIKELY (swap) ? GUINT64_SWAP_LE_BE (value) : value;
}

static inline guint32
flam_perf_u32 (const guint8 *p, gboolean swap)
{
  guint32 value;

  memcpy (&value, p, 4);
  return G_UNLIKELY (swap) ? GUINT32_SWAP_LE_BE (value) : value;
}

static inline guint16
flam_perf_u16 (const guint8 *p, gboolean swap)
{
  guint16 value;

  memcpy (&value, p, 2);
  return G_UNLIKELY (swap) ? GUINT16_SWAP_LE_BE (value) : value;
}

static inline guint64
flam_perf_read_u64 (FlamPerfBytes *bytes)
{
  if (G_UNLIKELY (flam_perf_left (bytes) < 8))
    {
      bytes->p = bytes->end;
      bytes->bad = TRUE;
      return 0;
    }
  bytes->p += 8;
  return flam_perf_u64 (bytes->p - 8, bytes->swap);
}

static inline guint32
flam_perf_read_u32 (FlamPerfBytes *bytes)
{
  if (G_UNLIKELY (flam_perf_left (bytes) < 4))
    {
      bytes->p = bytes->end;
      bytes->bad = TRUE;
      return 0;
    }
  bytes->p += 4;
  return flam_perf_u32 (bytes->p - 4, bytes->swap);
}

/* Skips `size` bytes and returns their place; NULL if there are fewer. */
static inline const guint8 *
flam_perf_read_bytes (FlamPerfBytes *bytes, guint64 size)
{
  const guint8 *p = bytes->p;

  if (G_UNLIKELY (size > flam_perf_left (bytes)))
    {
      bytes->p = bytes->end;
      bytes->bad = TRUE;
      return NULL;
    }
  bytes->p += size;
  return p;
}

/* sample_type */
enum
{
  FLAM_PERF_IP = 1 << 0,
  FLAM_PERF_TID = 1 << 1,
  FLAM_PERF_TIME = 1 << 2,
  FLAM_PERF_ADDR = 1 << 3,
  FLAM_PERF_READ = 1 << 4,
  FLAM_PERF_CALLCHAIN = 1 << 5,
  FLAM_PERF_ID = 1 << 6,
  FLAM_PERF_CPU = 1 << 7,
  FLAM_PERF_PERIOD = 1 << 8,
  FLAM_PERF_STREAM_ID = 1 << 9,
  FLAM_PERF_RAW = 1 << 10,
  FLAM_PERF_BRANCH_STACK = 1 << 11,
  FLAM_PERF_REGS_USER = 1 << 12,
  FLAM_PERF_STACK_USER = 1 << 13,
  FLAM_PERF_IDENTIFIER = 1 << 16,
};

/* branch_sample_type */
enum
{
  FLAM_PERF_BRANCH_CALL_STACK = 1 << 11,
  FLAM_PERF_BRANCH_INDEX = 1 << 17,
  FLAM_PERF_BRANCH_COUNTERS = 1 << 19,
};

/* The bytes of a branch: from, to, flags. */
#define FLAM_PERF_BRANCH_SIZE 24

/* flags of perf_event_attr */
enum
{
  FLAM_PERF_FLAG_FREQ = 1 << 10,
  FLAM_PERF_FLAG_SAMPLE_ID_ALL = 1 << 18,
  FLAM_PERF_FLAG_CLOCKID = 1 << 25,
  FLAM_PERF_FLAG_SWITCHES = 1 << 26, /* has SWITCH records */
};

/* One perf_event_attr. */
typedef struct
{
  char *name; /* perf's name of it, or one made of type and config */
  guint32 type;
  guint64 config;
  guint64 period; /* or frequency */
  guint64 sample_type;
  guint64 read_format;
  guint64 flags;
  guint64 branch_type;
  guint64 regs_user;
  guint32 stack_user;
  gboolean monotonic; /* times are CLOCK_MONOTONIC's */
  guint32 bytes_at;   /* of 8 bytes in the raw part of its samples: the size of
                         an allocation; 0: there is none */
  guint32 state_at;   /* the same in sched_switch: why the thread leaves, */
  guint32 next_at;    /* and of 4 bytes: the thread that comes */
} FlamPerfEvent;

typedef struct
{
  const FlamSource *source;
  gboolean swap; /* as FlamPerfBytes has it */
  gboolean pipe;
  gboolean interrupted; /* the header does not contain the data's end */
  guint64 data_offset;
  guint64 data_end;
  guint64 whole_size; /* of the file before it was truncated, if it was */
  GPtrArray *parts;   /* FlamSource: more records, of a folder's data.N */
  gboolean parts_missing;
  GPtrArray *events;     /* FlamPerfEvent */
  GHashTable *ids;       /* guint64 -> index of event + 1 */
  GHashTable *build_ids; /* path -> hex */
  char *command;
  char *host;
  char *release; /* of its kernel */
  char *arch;
  gboolean counts;    /* of perf stat: no samples */
  guint64 wall_clock; /* ns since 1970 at `clock`; 0: unknown */
  guint64 clock;
} FlamPerfFile;

/* Whether it begins like such a file. */
gboolean flam_perf_file_probe (const FlamSource *source);
/* Reads the header, events and features. The header of a pipe describes
 * nothing: its descriptions are among its records. */
FlamPerfFile *flam_perf_file_new (const FlamSource *source,
                                  const FlamProgress *progress,
                                  GError **error);
/* Takes in a record that describes the file; others are left out. `body` is the
 * payload of TRACING_DATA. */
void flam_perf_file_note (FlamPerfFile *file,
                          guint32 type,
                          guint16 misc,
                          FlamPerfBytes body);
/* The same, with the descriptions among a pipe's records (flam-perf-open.c). */
FlamPerfFile *flam_perf_file_open (const FlamSource *source,
                                   const FlamProgress *progress,
                                   GError **error);
void flam_perf_file_free (FlamPerfFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPerfFile, flam_perf_file_free)

/* -1: no event has this id. */
static inline int
flam_perf_file_find_event (const FlamPerfFile *file, guint64 id)
{
  return GPOINTER_TO_INT (g_hash_table_lookup (file->ids, &id)) - 1;
}

#endif
