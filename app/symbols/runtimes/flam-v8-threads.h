/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_V8_THREADS_H
#define FLAM_V8_THREADS_H

/* What node's threads are for. Up to node 22, all have the process's name.
 *
 *   highest address   ┌────────────────┐
 *                     │ struct pthread │ its first word is its own address, and
 *                     │                │ so is the third; in it, the function
 *                     │                │ that the thread was started with, and
 *                     ├────────────────┤ the argument: a Worker has its number
 *                     │ thread's data  │
 *   top ─────────────▶├────────────────┤
 *                     │ stack          │
 *
 * The names are those that node 24 gives to its threads, and for JavaScript's
 * threads those of the developer tools, "Worker 2".
 *
 * Plain C without GLib. Sources: node's src/node_worker.cc,
 * src/node_platform.cc and src/inspector_agent.cc, libuv's src/threadpool.c,
 * glibc's nptl/descr.h. */

#include "flam-runtime-memory.h"

/* Functions that threads are started with. */
typedef enum
{
  FLAM_V8_START_WORKER, /* a JavaScript thread; its argument is a Worker */
  FLAM_V8_START_PLATFORM,
  FLAM_V8_START_DELAYED,
  FLAM_V8_START_INSPECTOR,
  FLAM_V8_START_POOL,
  FLAM_V8_N_STARTS
} FlamV8Start;

typedef struct
{
  uint64_t starts[FLAM_V8_N_STARTS]; /* as in the file; 0: unknown */
  uint32_t number; /* offset of a Worker's number, which is a u64 and, from node
                    * 18 on, is followed by a u64 and its name; 0: unknown */
} FlamV8Threads;

#define FLAM_V8_THREAD_NAME_SIZE 64

/* Where the constructor of Worker keeps its number: in `code`, which begins at
 * `address`, the offset from the object at which the result of the call of
 * `allocate` is stored; 0: it is not there. */
uint32_t flam_v8_threads_find_number (const uint8_t *code,
                                      size_t size,
                                      uint64_t address,
                                      uint64_t allocate);
/* The name of the thread whose stack begins at `top`; false: it has none. */
bool flam_v8_threads_name (const FlamV8Threads *threads,
                           uint64_t base,
                           const FlamRuntimeMemory *memory,
                           uint64_t top,
                           char name[FLAM_V8_THREAD_NAME_SIZE]);

#endif
