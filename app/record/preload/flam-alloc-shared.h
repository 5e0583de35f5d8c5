/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_ALLOC_SHARED_H
#define FLAM_ALLOC_SHARED_H

/* The data that libflambeau-alloc.so, inside the target, and the recorder
 * share: a folder with one `control` file and one file per process, all mapped
 * by both. Plain C, no GLib.
 *
 *   DIR/control       made by the recorder: settings, doorbell, heartbeat
 *   DIR/PID.N         made by the target: N counts the process's execs/forks
 *
 * A process's file (sparse; only what is used takes memory):
 *
 *   OFFSET              SIZE  WHAT
 *        0              4096  FlamAllocHeader
 *     4096   48 * MAX_MODULES FlamAllocModule, n_modules of them
 *        .        TEXT_SIZE   their paths
 *        .    16 * MAX_NODES  FlamAllocNode, n_nodes: stacks as a trie
 *        .     PYTHON_SIZE   FlamAllocPython, python_used bytes of them
 *        .  RING_BYTES each   rings: one per thread, FlamAllocRing + data
 *
 * Rings carry records of 16, 32 or 48 bytes, never split at the ring's end.
 * Their order over threads is that of their time stamps. For one address it is
 * also the order of publication: an allocation is published before its address
 * is returned to the program, a free before the address can be allocated again.
 * So a reader that notes the time T first, then takes everything that is
 * published in any ring, and handles the records up to time T, never sees a
 * free before its allocation.
 *
 * The files contain neither memory nor environment of the target: only
 * addresses, sizes, times, module paths; and the name, file and line table of
 * Python functions. */

#include <stdint.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#define FLAM_ALLOC_MAGIC 0x434f4c4c414d4c46ull /* "FLMALLOC" */
#define FLAM_ALLOC_VERSION 6

/* Variables that the recorder adds to the environment of a new program, after
 * an LD_PRELOAD; the library removes both. */
#define FLAM_ALLOC_ENV_DIR "FLAMBEAU_ALLOC_DIR"

/* Functions of the library that the recorder calls in a running program, by
 * ptrace: `attach` with the address of the folder's name returns
 * FLAM_ALLOC_ATTACHED, or the reason why it cannot record; `detach` takes
 * nothing and returns FLAM_ALLOC_ATTACHED. */
#define FLAM_ALLOC_ATTACH "flambeau_alloc_attach"
#define FLAM_ALLOC_DETACH "flambeau_alloc_detach"

int flambeau_alloc_attach (const char *directory);
int flambeau_alloc_detach (void);

enum
{
  /* Not the number of any system call: the thread may make one with it, if the
   * recorder is gone (tracer/flam-remote.h). */
  FLAM_ALLOC_ATTACHED = 0x46000000,
  FLAM_ALLOC_REFUSED_MALLOC,     /* no malloc is found */
  FLAM_ALLOC_REFUSED_OWN_MALLOC, /* it is a part of the program itself */
  FLAM_ALLOC_REFUSED_FILES,      /* the folder's files cannot be used */
};

#define FLAM_ALLOC_MAX_MODULES 4096
#define FLAM_ALLOC_TEXT_SIZE (1u << 20)
#define FLAM_ALLOC_MAX_NODES (8u << 20)
#define FLAM_ALLOC_PYTHON_SIZE (128u << 20)
#define FLAM_ALLOC_MAX_RINGS 4096
#define FLAM_ALLOC_RING_DATA (512u << 10)
#define FLAM_ALLOC_RING_BYTES (FLAM_ALLOC_RING_DATA + 4096u)

#define FLAM_ALLOC_MODULES_AT 4096ull
#define FLAM_ALLOC_TEXT_AT                                                     \
  (FLAM_ALLOC_MODULES_AT + 48ull * FLAM_ALLOC_MAX_MODULES)
#define FLAM_ALLOC_NODES_AT (FLAM_ALLOC_TEXT_AT + FLAM_ALLOC_TEXT_SIZE)
#define FLAM_ALLOC_PYTHON_AT                                                   \
  (FLAM_ALLOC_NODES_AT + 16ull * FLAM_ALLOC_MAX_NODES)
#define FLAM_ALLOC_RINGS_AT (FLAM_ALLOC_PYTHON_AT + FLAM_ALLOC_PYTHON_SIZE)
#define FLAM_ALLOC_FILE_SIZE                                                   \
  (FLAM_ALLOC_RINGS_AT + (uint64_t)FLAM_ALLOC_MAX_RINGS * FLAM_ALLOC_RING_BYTES)

/* The part of the recorder, in DIR/control. */
typedef struct
{
  uint64_t magic;
  uint32_t version;
  uint32_t follow;       /* record forked children too */
  uint64_t sample_bytes; /* 0: every allocation */
  uint64_t seed; /* seed of the random numbers; 0: a different one every time */
  uint32_t stopped; /* the recording is over; targets stop writing */
  uint32_t python;  /* Python frames too */
  /* These change all the time. They have cache lines of their own, since every
   * event reads the fields above. */
  uint32_t doorbell __attribute__ ((aligned (64)));  /* futex: a ring is half
                                                      * full */
  uint64_t heartbeat __attribute__ ((aligned (64))); /* the recorder is alive */
} FlamAllocControl;

enum
{
  FLAM_ALLOC_CLOCK_TSC,
  FLAM_ALLOC_CLOCK_NS, /* CLOCK_MONOTONIC, if there is no usable time stamp
                          counter */
};

typedef struct
{
  uint64_t magic;
  uint32_t version;
  int32_t pid;
  int32_t parent;
  uint32_t clock;
  uint64_t start_ticks; /* the same moment on */
  uint64_t start_ns;    /* both clocks (CLOCK_MONOTONIC) */
  uint32_t n_modules;
  uint32_t text_used;
  uint32_t n_nodes;     /* published; node 0 is "no stack" */
  uint32_t n_rings;     /* rings that were ever used */
  uint32_t python_used; /* bytes; the first 16 are not a record */
  uint32_t bypassed;    /* another malloc is used: no events will follow */
  uint32_t ready;
  uint64_t lost;      /* records dropped: no ring, or no reader */
  uint64_t truncated; /* stacks that do not reach their root */
  char name[16];      /* of the program, when the file was made */
  uint32_t full;      /* there was no memory to extend the file */
  uint32_t forked;    /* it began with a copy of its parent's blocks */
} FlamAllocHeader;

/* A mapping's code. A library that is loaded again gets a new row. */
typedef struct
{
  uint32_t path; /* in the text; 0: memory without a file */
  uint32_t unused;
  uint64_t bias; /* address - bias = offset in the file */
  uint64_t start;
  uint64_t end;
  uint64_t inode;
  uint64_t unused2;
} FlamAllocModule;

/* A stack: a caller's node and the location of the call. Leaves are calls to
 * the allocator. `location` is module << 44 | offset, return address - 1. */
typedef struct
{
  uint32_t parent; /* < own id; 0: this is a root */
  uint32_t unused;
  uint64_t location;
} FlamAllocNode;

#define FLAM_ALLOC_LOCATION(module, offset)                                    \
  ((uint64_t)(module) << 44 | ((offset)&0xfffffffffffull))
#define FLAM_ALLOC_LOCATION_MODULE(location) ((uint32_t)((location) >> 44))
#define FLAM_ALLOC_LOCATION_OFFSET(location) ((location)&0xfffffffffffull)

/* A Python frame is in this "module"; its offset consists of the position of
 * the record in the file / 16, and the code unit + 1: 0 is before the first. */
#define FLAM_ALLOC_PYTHON 0xfffffu
#define FLAM_ALLOC_PYTHON_LOCATION(number, unit)                               \
  FLAM_ALLOC_LOCATION (FLAM_ALLOC_PYTHON,                                      \
                       (uint64_t)(number) << 20 | ((unit)&0xfffff))
#define FLAM_ALLOC_PYTHON_NUMBER(location)                                     \
  ((uint32_t)((location) >> 20) & 0xffffff)
#define FLAM_ALLOC_PYTHON_UNIT(location) ((uint32_t)(location)&0xfffff)

/* A Python function. */
typedef struct
{
  uint32_t size; /* total size, a multiple of 16 */
  uint32_t version;
  uint32_t first_line;
  uint32_t n_name; /* with the NUL */
  uint32_t n_file; /* with the NUL */
  uint32_t n_lines;
  uint8_t data[]; /* name, file, line table */
} FlamAllocPython;

enum
{
  FLAM_ALLOC_RING_FREE,
  FLAM_ALLOC_RING_USED,
  FLAM_ALLOC_RING_DONE, /* its thread ended; free again once it is read */
};

typedef struct
{
  uint32_t state;
  int32_t tid;
  char name[16]; /* the thread's name when the ring was first used */
  uint64_t head __attribute__ ((aligned (64))); /* total of bytes written */
  uint64_t tail __attribute__ ((aligned (64))); /* total of bytes read */
  uint8_t data[] __attribute__ ((aligned (64)));
} FlamAllocRing;

/* The kind, in the low four bits of the first word; the rest is the time
 * stamp. */
enum
{
  FLAM_ALLOC_OP_PAD,    /* the rest of the ring up to its end is unused */
  FLAM_ALLOC_OP_FREE,   /* 16 bytes */
  FLAM_ALLOC_OP_UNMAP,  /* 32 bytes: a range */
  FLAM_ALLOC_OP_BREAK,  /* 32 bytes: the heap's end moved; size is signed */
  FLAM_ALLOC_OP_MALLOC, /* this and the following: 32 bytes, for a block */
  FLAM_ALLOC_OP_CALLOC,
  FLAM_ALLOC_OP_REALLOC,
  FLAM_ALLOC_OP_ALIGNED,
  FLAM_ALLOC_OP_MMAP,
  FLAM_ALLOC_OP_LEVEL, /* 48 bytes: FlamAllocLevel; with sampling */
};

typedef struct
{
  uint64_t stamp; /* ticks << 4 | op */
  uint64_t address;
} FlamAllocFree;

/* With sampling, the address's high 16 bits are the low 16 bits of the number
 * of allocations of the thread, sampled or not; those of a block, the bytes
 * that its allocator gave beyond its size, at most 65535. */
#define FLAM_ALLOC_ADDRESS(word) ((word)&0xffffffffffffull)
#define FLAM_ALLOC_MADE(word) ((uint16_t)((word) >> 48))
#define FLAM_ALLOC_SLACK(word) ((uint16_t)((word) >> 48))
#define FLAM_ALLOC_SLACK_MAX 65535u

typedef struct
{
  uint64_t stamp;
  uint64_t address;
  uint64_t size;
  uint32_t node;
  uint32_t made; /* allocations of the thread so far, this one included */
} FlamAllocBlock;

/* With sampling: the thread's count of all its blocks. Written with every
 * sampled block, and whenever `live` has changed by a few KiB or by the 128th
 * part of all that the thread allocated, whichever is more (at most 64 KiB). */
typedef struct
{
  uint64_t stamp;
  int64_t live;       /* bytes that it allocated, less those that it freed, as
                         the allocator rounded them; may be negative */
  uint64_t allocated; /* bytes that it asked for */
  uint32_t made;      /* blocks that it allocated, */
  uint32_t gone;      /* and those that it freed; both wrap around */
  uint32_t high; /* `live` was higher by this much since the last record, */
  uint32_t high_made; /* when `made` and `gone` were these */
  uint32_t high_gone;
  uint32_t unused;
} FlamAllocLevel;

/* Ticks are truncated to their low 60 bits: at 4 GHz that is 9 years. */
#define FLAM_ALLOC_STAMP(ticks, op) ((uint64_t)(ticks) << 4 | (op))
#define FLAM_ALLOC_STAMP_OP(stamp) ((unsigned)((stamp)&15))
#define FLAM_ALLOC_STAMP_TICKS(stamp) ((stamp) >> 4)

/* The processor's counter of FLAM_ALLOC_CLOCK_TSC, which others do not have. */
static inline uint64_t
flam_alloc_tsc (void)
{
#ifdef __x86_64__
  return __rdtsc ();
#else
  return 0;
#endif
}

#endif
