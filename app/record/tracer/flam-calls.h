/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CALLS_H
#define FLAM_CALLS_H

/* The effects of a system call on the memory that a process has mapped, and on
 * its descriptors:
 *
 *   at its entry    what it gives back: before another thread can get the same
 *                   address or number again
 *   at its exit     what it got
 *
 *   mmap (0, 8192, ...) = A        exit:  MAP A 8192
 *   mremap (A, 8192, 12288) = B    entry: UNMAP A 8192    exit: MAP B 12288
 *   pipe (at) = 0                  exit:  OPEN 5, OPEN 6
 *   close (5)                      entry: CLOSE 5 1 */

#include "flam-record-options.h"

typedef enum
{
  FLAM_CALL_MAP,      /* anonymous memory at `at`, `size` bytes */
  FLAM_CALL_MAP_FILE, /* the same of a file */
  FLAM_CALL_RESERVE,  /* addresses without memory (PROT_NONE) */
  FLAM_CALL_UNMAP,
  FLAM_CALL_ALLOW,        /* what is reserved there becomes memory */
  FLAM_CALL_FORBID,       /* memory there becomes reserved */
  FLAM_CALL_BREAK,        /* the heap's end is `at` */
  FLAM_CALL_OPEN,         /* descriptor `at` */
  FLAM_CALL_CLOSE,        /* `size` descriptors from `at` on, as far as open */
  FLAM_CALL_BEGIN_THREAD, /* `at`: its number */
  FLAM_CALL_END_THREAD,
} FlamCallOp;

typedef struct
{
  FlamCallOp op;
  guint64 at;
  guint64 size;
} FlamCallEvent;

/* Descriptors that one message can carry (SCM_MAX_FD), and those of a call. */
#define FLAM_CALL_EVENTS_MAX 256

typedef struct
{
  long number; /* below 0: none */
  guint64 arguments[6];
} FlamCall;

/* Both write at most FLAM_CALL_EVENTS_MAX events and return how many. The
 * process is read where the call has pointers. */
guint flam_call_enter (FlamRecordWhat what,
                       const FlamCall *call,
                       pid_t pid,
                       FlamCallEvent *events);
guint flam_call_leave (FlamRecordWhat what,
                       const FlamCall *call,
                       pid_t pid,
                       gint64 result,
                       FlamCallEvent *events);
/* Whether calls with these events obtain something, so that their stack is
 * needed. */
gboolean flam_call_gets (const FlamCallEvent *events, guint n);

#endif
