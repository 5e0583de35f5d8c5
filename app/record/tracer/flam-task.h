/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TASK_H
#define FLAM_TASK_H

/* The recorded processes and threads, and the data between the two threads.
 *
 *   tracer (flam-tracer)                    sampler (flam-sampler)
 *   ptrace, one event loop                  unwinds, interns, writes
 *        │  stop, copy registers and stack       ▲
 *        └────── FlamBatch of messages ──────────┘   (flam-batch)
 *                ◀── emptied batches, hints ──
 *
 * The tracer creates targets and tasks and fills its part of them. The rest
 * belongs to the sampler, which frees them when it reads their END message, so
 * that pointers in messages are always valid. The few `hint_` fields are
 * written by the sampler and read by the tracer, atomically. */

#include <glib.h>
#include <sys/types.h>

#include "flam-calls.h"
#include "flam-core-profile.h"
#include "flam-loader.h"
#include "flam-unwind-rows.h"
#include "flam-short-call.h"

typedef struct _FlamTarget FlamTarget;
typedef struct _FlamTask FlamTask;

/* Deeper stacks are truncated: native ones, and chains of managed frames. */
#define FLAM_FRAMES_MAX (1u << 18)

/* Of a descriptor; many threads end before they need it. */
#define FLAM_NOT_OPENED (-2)

/* A frame of a stack, and the stack up to that frame, as in the capture. */
typedef struct
{
  FlamFrameId frame;
  FlamStackId stack;
} FlamStep;

/* A process. */
struct _FlamTarget
{
  pid_t pid;
  FlamTarget *parent; /* valid while TARGET_NEW is read; may be NULL */
  guint n_tasks;      /* tracer's */
  gboolean chosen;    /* tracer's: not recorded as a child of another */
  gboolean foreign;   /* tracer's: not a program for this machine */
  gboolean injected;  /* tracer's: its program loads the allocation library */
  /* Tracer's: the library was put into it while it ran; or NULL. */
  struct _FlamAllocAttached *attached;
  char program[16];   /* tracer's: the name of that program */
  gint64 young_until; /* tracer's: until then its code is still being mapped */
  guint64 code_size;  /* tracer's: of mappings, when they were last reported */
  FlamLoader loader;  /* tracer's: the libraries it has loaded */
  GArray *joins;      /* tracer's: threads that may be joined, or NULL */
  gint64 cpu_begin;   /* tracer's: process clock at the beginning */
  gint64 cpu_ended;   /* tracer's: of threads that have ended */
  struct _FlamRuntimeKnown *runtimes; /* tracer's: managed functions */
  struct _FlamProcessMap *map;        /* sampler's: maps, modules, ids */
  struct _FlamCallSpace *calls; /* the sampler's: results of system calls */

  /* Tracer's hint: counts the programs it has run; /proc is of this one. */
  guint hint_program;
  /* Hint: its runtimes, or NULL. */
  const struct _FlamRuntimeSet *hint_runtimes;
  /* Hint: all samples before its ENDING message are read. */
  gboolean hint_read;
};

/* The scheduler's counts for a thread, times in ns. */
typedef struct
{
  gint64 cpu;    /* time on a CPU */
  gint64 queued; /* time waited for a CPU */
  guint64 count; /* how often it was put on one */
} FlamSchedstat;

/* The state of a thread at the tick that sent it an INTERRUPT:
 * flam-instant.c. */
typedef enum
{
  FLAM_AT_TICK_UNKNOWN,
  FLAM_AT_TICK_ON_CPU, /* on another CPU than the tracer's, and stayed there */
  FLAM_AT_TICK_PREEMPTED, /* on the tracer's CPU, until the tracer preempted it
                           */
  FLAM_AT_TICK_QUEUED,    /* waited for a CPU */
} FlamAtTick;

/* See flam-wall.h; times in ns. */
typedef struct
{
  gint64 until;       /* it is accounted for up to this time */
  FlamSchedstat stat; /* the counts at that time */
  gboolean asleep;    /* the state at that time */
  gint64 ran, queued; /* not in any sample yet */
  gint64 slept;       /* likewise; below 0: that much was counted twice */
} FlamWall;

/* Whether it stops when it ends: flam-ending.h. */
typedef enum
{
  FLAM_NOT_WATCHED,
  FLAM_TO_BE_WATCHED, /* INTERRUPT sent for it */
  FLAM_WATCHED,
} FlamWatched;

/* A thread. */
struct _FlamTask
{
  pid_t tid;
  FlamTarget *target;
  guint index;   /* in the tracer's list */
  char comm[16]; /* the tracer's: its name, as last read */

  /* The tracer's: kept descriptors of /proc, -1 where none is open. */
  int schedstat_fd;
  int syscall_fd; /* FLAM_NOT_OPENED until it is needed */
  int stat_fd;    /* opened when first needed, like sched_fd */
  int sched_fd;
  gboolean is_new;  /* its first stop is yet to come */
  gboolean pending; /* INTERRUPT sent, no stop yet */
  gint64 interrupted_at;
  gint64 tick_waited;        /* the tracer's wait for a CPU */
  gint64 tick_at;            /* time of the tick that sent it */
  FlamSchedstat interrupted; /* the scheduler's counts then */
  FlamAtTick at_tick;
  guint16 calls;          /* recent stops in calls, of 65536 */
  gboolean deep;          /* reading its stack took long the last time */
  gint64 rest_until;      /* for that reason, no samples until then */
  gboolean listening;     /* in a group stop */
  gboolean blocked;       /* asleep while its count is blocked_count */
  gboolean blocked_known; /* the stack of that sleep was taken */
  guint8 blocked_state;   /* FlamState */
  guint64 blocked_count;
  gint64 blocked_cpu;    /* CPU time used by then */
  guint blocked_line;    /* hash of the call in /proc */
  guint blocked_copy;    /* bytes of stack that were to be copied */
  gint64 blocked_until;  /* when it was last seen asleep */
  gboolean read_by_stop; /* this sleep's stack was read in a stop */
  gboolean wants_stop;   /* a stop is needed for that */
  gint64 cpu_begin;      /* its earlier CPU time is not recorded */
  gint64 cpu_seen;       /* it is accounted for up to this time */
  gint64 cpu_owed;       /* used before a pause, and not in any sample yet */
  guint64 count_begin;   /* its earlier times on a CPU are not recorded */
  guint64 count_seen;    /* when the recording last began or paused */
  FlamWall wall;
  struct _FlamRuntimeTask *runtimes; /* of its managed frames, or NULL */
  guint64 fs_base;                   /* as of its last stop, 0: unknown */
  FlamCall call;    /* the one that it is in, while `in_call` */
  gboolean in_call; /* its entry was seen, and not its exit */
  FlamShortCall short_call;
  gboolean is_kept; /* it has ended, and another one may still join it */
  FlamWatched watched;
  gint64 held_until; /* stopped at its end until then; 0: not */

  /* Hints. */
  gboolean too_deep; /* sampler's: too deep to be copied whole */
  guint hint_copy;   /* bytes of stack to copy */
  gsize hint_top;    /* the root's frame ends here, 0 unknown */
  /* Where a handler on an alternate signal stack stores the interrupted stack
   * pointer; 0: no such handler was seen. */
  gsize hint_interrupted;
  gboolean hint_needs_bp; /* its sleep is only readable in a stop */

  /* Sampler's. */
  FlamId id;
  FlamId last_stack;
  guint8 last_state; /* FlamState of the last message with a stack */
  GArray *path;      /* FlamStep of the last stack, from the root on; or NULL */
  FlamSample held;   /* the last one that ran: see put_running() */
  gint64 held_cpu, held_wall;
  gboolean holds;
  struct _FlamGaps *gaps;   /* of its siblings; NULL: it has none */
  struct _FlamWaits *waits; /* frame pointers of its waits; or NULL */
  char *name;
  gboolean name_own;   /* set for it, and not that of the thread it began in */
  gboolean name_whole; /* from its runtime; the kernel cuts names short */
  gboolean start_read; /* what its runtime started it for */
  gint64 name_since;
  gint64 name_read_at;
};

typedef enum
{
  FLAM_MESSAGE_TARGET_NEW,
  FLAM_MESSAGE_TARGET_EXEC,   /* text: /proc/PID/maps, or "" if they come with
                               * the first sample; comm; weights that are in
                               * no sample */
  FLAM_MESSAGE_TARGET_MAPS,   /* text: /proc/PID/maps as of the next sample */
  FLAM_MESSAGE_TARGET_MISSED, /* text: why allocations are not recorded */
  FLAM_MESSAGE_TARGET_ENDING, /* held until hint_read is set */
  FLAM_MESSAGE_TARGET_END,
  FLAM_MESSAGE_TASK_NEW, /* comm */
  FLAM_MESSAGE_TASK_END, /* comm; weights that are in no sample */
  FLAM_MESSAGE_SAMPLE,   /* registers and stack */
  FLAM_MESSAGE_ASLEEP,   /* the same without a stop: only pc and sp are known */
  FLAM_MESSAGE_STACK,    /* like SAMPLE, but without weights: for SAME */
  FLAM_MESSAGE_SAME,     /* the stack of the task's last message */
  FLAM_MESSAGE_COUNTED,  /* the same: `count` of `event` */
  FLAM_MESSAGE_TOTAL,    /* the exact number for all such since the last one */
  FLAM_MESSAGE_CALL,     /* the same: a FlamCallEvent */
  FLAM_MESSAGE_MARK,     /* text */
  FLAM_MESSAGE_WARNING,  /* text */
} FlamMessageKind;

/* DWARF register numbers: 0-15 general registers, 16 the program counter. */
#define FLAM_N_REGS FLAM_UNWIND_N_REGS

typedef struct
{
  guint32 size; /* of the whole message, a multiple of 16 */
  guint16 kind;
  guint8 state;    /* FlamState */
  guint8 limited;  /* a part of the stack was not copied */
  guint32 n_data;  /* bytes that follow the message: stack or text */
  guint32 n_items; /* number of FlamRuntimeItem before the stack */
  FlamTarget *target;
  FlamTask *task;
  gint64 time; /* ns since the recording began */
  gint64 cpu;  /* weights, ns */
  gint64 ran;  /* part of the wall time */
  gint64 queued;
  gint64 slept;
  /* Follows the stack: the interrupted one, if it is another. */
  guint64 other_sp;
  guint64 n_other; /* bytes; 0: none */
  /* Follow that: the kernel's addresses, innermost first, 8 bytes each. */
  guint32 n_kernel;    /* bytes */
  guint32 kernel_only; /* no user code: without registers and stack */
  gint64 count; /* COUNTED: about how often; TOTAL: how often; CALL: the event's
                   size */
  /* CALL: the event's; SAME: who ended the sleep, whose name is `comm`; 0. */
  guint64 at;
  guint32 event; /* COUNTED: its number in the capture; CALL: a FlamCallOp */
  guint32 unused;
  union
  {
    guint64 regs[FLAM_N_REGS];
    char comm[16]; /* the task's name; "" if unknown */
  };
} FlamMessage;

G_STATIC_ASSERT (sizeof (FlamMessage) % 16 == 0);

/* No thread of the recorded processes: an interrupt, or another program. */
#define FLAM_WAKER_OUTSIDE G_MAXUINT64

/* Managed frames: chain after chain, each a head and then its frames, innermost
 * first. Without a function an item is an entry, as in FlamRuntimeEntry. */
typedef struct
{
  gpointer of; /* FlamRuntimeFunction, or NULL; head: FlamRuntimeProcess */
  guint64 at;  /* position, or address of an entry; head: number of items */
} FlamRuntimeItem;

G_STATIC_ASSERT (sizeof (FlamRuntimeItem) == 16);

#endif
