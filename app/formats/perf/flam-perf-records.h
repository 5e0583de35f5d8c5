/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_RECORDS_H
#define FLAM_PERF_RECORDS_H

/* The records of a perf.data file, in the order of the file or of time.
 *
 *   OFFSET  SIZE  WHAT
 *        0     4  type
 *        4     2  misc: bits 0-2 cpu mode, the rest depends on the type
 *        6     2  size, with these 8 bytes
 *        8     .  body; with sample_id_all it ends with a sample_id
 *
 * COMPRESSED records contain pieces of one zstd stream whose content is records
 * again, split anywhere; they are unpacked 1 MiB at a time:
 *
 *   file    [MMAP2][COMPRESSED....][COMPRESSED..][FINISHED_ROUND][COMPR...
 *   chunk          [SAMPLE][SAMPLE][SAM
 *   next                               PLE][SAMPLE] ...
 *
 * The records of each processor are in order of time. At a FINISHED_ROUND all
 * records older than the youngest one of the previous round have been read; so
 * these are sorted and returned, and chunks without waiting records are freed.
 * Records without a time keep their place. The files of a folder are read one
 * after the other, and all are sorted at its end.
 */

#include "flam-perf-file.h"

#include "flam-core-profile.h"

enum
{
  FLAM_PERF_MMAP = 1,
  FLAM_PERF_LOST = 2,
  FLAM_PERF_COMM = 3,
  FLAM_PERF_EXIT = 4,
  FLAM_PERF_THROTTLE = 5,
  FLAM_PERF_UNTHROTTLE = 6,
  FLAM_PERF_FORK = 7,
  FLAM_PERF_SAMPLE = 9,
  FLAM_PERF_MMAP2 = 10,
  FLAM_PERF_LOST_SAMPLES = 13,
  FLAM_PERF_SWITCH = 14,
  FLAM_PERF_SWITCH_CPU_WIDE = 15,
  FLAM_PERF_KERNEL_TYPES = 64, /* below: the kernel's own, with sample_id */
  FLAM_PERF_HEADER_ATTR = 64,
  FLAM_PERF_TRACING_DATA = 66,
  FLAM_PERF_HEADER_BUILD_ID = 67,
  FLAM_PERF_FINISHED_ROUND = 68,
  FLAM_PERF_AUXTRACE = 71,
  FLAM_PERF_EVENT_UPDATE = 78,
  FLAM_PERF_HEADER_FEATURE = 80,
  FLAM_PERF_COMPRESSED = 81,
  FLAM_PERF_COMPRESSED2 = 83,
};

enum
{
  FLAM_PERF_MISC_MODE = 7, /* 1 kernel, 2 user, 3 hypervisor, 4-5 guest */
  FLAM_PERF_MISC_KERNEL = 1,
  FLAM_PERF_MISC_USER = 2,
  FLAM_PERF_MISC_DATA = 1 << 13,    /* MMAP: not executable */
  FLAM_PERF_MISC_EXEC = 1 << 13,    /* COMM: by exec */
  FLAM_PERF_MISC_OUT = 1 << 13,     /* SWITCH: the thread left its CPU */
  FLAM_PERF_MISC_PREEMPT = 1 << 14, /* and would have gone on */
  FLAM_PERF_MISC_MMAP_ID = 1 << 14, /* MMAP2: has a build id */
  FLAM_PERF_MISC_BUILD_ID_SIZE = 1 << 15,
};

typedef struct _FlamPerfChunk FlamPerfChunk;

typedef struct
{
  guint32 type;
  guint16 misc;
  FlamPerfBytes body;
  guint64 time;         /* 0: none */
  int event;            /* index in file->events */
  FlamPerfChunk *chunk; /* NULL: the bytes are the file's */
} FlamPerfRecord;

static inline guint
flam_perf_count_bits (guint64 bits)
{
  return (guint)__builtin_popcountll (bits);
}

typedef struct _FlamPerfReader FlamPerfReader;

/* `unpack` FALSE: COMPRESSED records are returned as they are. */
FlamPerfReader *flam_perf_reader_new (const FlamPerfFile *file,
                                      gboolean unpack);
void flam_perf_reader_free (FlamPerfReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPerfReader, flam_perf_reader_free)

/* In the file's order; `time` and `event` are set. The bytes live as long as
 * the reader, those of a chunk until the next call unless it is kept. */
gboolean flam_perf_reader_next (FlamPerfReader *reader, FlamPerfRecord *record);
/* The data that follow the record TRACING_DATA that was returned last. */
FlamPerfBytes flam_perf_reader_payload (const FlamPerfReader *reader);
/* The thread of one of the kernel's records, from its sample_id. FALSE:
 * unknown. */
gboolean flam_perf_reader_thread (const FlamPerfReader *reader,
                                  const FlamPerfRecord *record,
                                  gint32 *pid,
                                  gint32 *tid);
/* The offset in the file; at the end, that of the end of the last whole
 * record. */
guint64 flam_perf_reader_offset (const FlamPerfReader *reader);
/* Why the records ended before the end of the data, for the user; NULL: they
 * did not. */
const char *flam_perf_reader_trouble (const FlamPerfReader *reader);

/* In order of time. The record's bytes are valid until the next call. */
typedef struct _FlamPerfQueue FlamPerfQueue;

FlamPerfQueue *flam_perf_queue_new (FlamPerfReader *reader);
void flam_perf_queue_free (FlamPerfQueue *queue);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPerfQueue, flam_perf_queue_free)
gboolean flam_perf_queue_next (FlamPerfQueue *queue, FlamPerfRecord *record);

/* --- samples ------------------------------------------------------------- */

typedef struct
{
  gboolean swap; /* of the bytes below, as FlamPerfBytes has it */
  guint64 ip;
  gint32 pid;
  gint32 tid;
  guint64 time;
  guint32 cpu;
  guint64 period;
  guint64 n_group;     /* values of the group's events, read together */
  const guint8 *group; /* value, id, and the members that `group_size` adds */
  guint group_size;
  guint64 n_chain;
  const guint8 *chain; /* n_chain addresses, not aligned */
  guint32 raw_size;
  const guint8 *raw; /* a tracepoint's fields */
  guint64 n_branches;
  const guint8 *branches; /* from, to, flags each; newest first */
  gboolean has_regs;      /* 64-bit user registers */
  guint64 regs[17];       /* by DWARF number; missing ones are 0 */
  const guint8 *stack;    /* NULL: none */
  guint64 stack_size;     /* the part of it that was filled */
} FlamPerfSample;

/* FALSE: the record is too short for its content. */
gboolean flam_perf_sample_parse (const FlamPerfEvent *event,
                                 const FlamPerfRecord *record,
                                 FlamPerfSample *sample);

char *flam_perf_hex (const guint8 *bytes, gsize size);

#endif
