/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_COPIES_H
#define FLAM_PERF_COPIES_H

/* The data of a runtime, such as the frames of an interpreter, as it was at a
 * sample. The kernel copies it right before it writes the sample, by a program
 * for bpf(2) that is part of this file, into the ring of the sample:
 *
 *   walk ──▶ the blocks it read ──▶ by thread ──▶ the program
 *    ▲                                               │ copies them as they are
 *    └── blocks, registers, stack ◀── a sample ◀─────┘
 *
 * So the next walk finds in the copies what the last ones needed; the rest,
 * such as the data of a new function, is read from the running process.
 *
 * Source: bpf(2), bpf-helpers(7), include/uapi/linux/bpf.h. */

#include <glib.h>

#include "flam-runtime-memory.h"

#define FLAM_PERF_BLOCK 256
/* Of a thread. A record has 64 KiB at most. */
#define FLAM_PERF_BLOCKS_MAX 192

typedef struct
{
  guint64 address; /* 0: it could not be read */
  guint8 bytes[FLAM_PERF_BLOCK];
} FlamPerfBlock;

/* Written before a sample. */
typedef struct
{
  guint64 thread; /* the kernel's number of the thread */
  guint64 n;
  FlamPerfBlock blocks[FLAM_PERF_BLOCKS_MAX];
} FlamPerfCopied;

typedef struct _FlamPerfCopies FlamPerfCopies;

/* NULL sets errno. */
FlamPerfCopies *flam_perf_copies_new (guint n_cpus);
void flam_perf_copies_free (FlamPerfCopies *copies);
/* Lets a program run at each sample of an event. FALSE sets errno. */
gboolean flam_perf_copies_watch (const FlamPerfCopies *copies, int event);
/* From now on, samples are preceded by copies. FALSE: it is not permitted. */
gboolean flam_perf_copies_begin (FlamPerfCopies *copies);
/* For events of CPUs instead of threads, which take no samples of the processes
 * in the map `strangers`. FALSE sets errno. */
gboolean flam_perf_copies_prepare_cpus (FlamPerfCopies *copies, int strangers);
gboolean flam_perf_copies_watch_cpu (const FlamPerfCopies *copies, int event);
/* The events of threads take no more samples. */
gboolean flam_perf_copies_silence_threads (const FlamPerfCopies *copies);
/* Opens the event by which the program writes into the ring of `ring_fd`;
 * returns the event, or -1 with errno set. */
int flam_perf_copies_open (const FlamPerfCopies *copies, int cpu, int ring_fd);
/* The addresses of blocks of a thread that are to be copied from now on. */
void flam_perf_copies_want (const FlamPerfCopies *copies,
                            guint64 thread,
                            const guint64 *addresses,
                            guint n);
void flam_perf_copies_forget (const FlamPerfCopies *copies, guint64 thread);

/* --- a sample's memory --------------------------------------------------- */

/* The blocks that the walks of a thread read, those of the latest first. */
typedef struct
{
  guint n;
  guint64 addresses[FLAM_PERF_BLOCKS_MAX];
} FlamPerfWanted;

/* The memory of a thread at a sample: its stack, the blocks, and for everything
 * else, `now`. */
typedef struct _FlamPerfMemory FlamPerfMemory;

FlamPerfMemory *flam_perf_memory_new (void);
void flam_perf_memory_free (FlamPerfMemory *memory);
/* Drops everything that was read before. `copied` may be NULL. All arguments
 * are used until the last read. */
void flam_perf_memory_begin (FlamPerfMemory *memory,
                             guint64 sp,
                             const guint8 *stack,
                             gsize n_stack,
                             const FlamPerfCopied *copied,
                             FlamRuntimeMemory now);
/* The read function of a FlamRuntimeMemory. */
bool flam_perf_memory_read (gpointer memory,
                            guint64 address,
                            gpointer to,
                            gsize size);
/* Puts the blocks that were read since, except those of the stack, before the
 * others, of which as many as fit are kept. Returns whether there are new
 * ones. */
gboolean flam_perf_memory_end (const FlamPerfMemory *memory,
                               FlamPerfWanted *wanted);

#endif
