/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Whom we record, and what passes between the recorder's two threads.
 *
 *   tracer (flam-tracer)                    sampler (flam-sampler)
 *   ptrace, one event loop                  unwinds, interns, writes
 *        │  stop, copy registers and stack       ▲
 *        └────── FlamBatch of messages ──────────┘   (flam-batch)
 *                ◀── emptied batches, hints ──
 *
 * The tracer makes targets and tasks and fills its part of them; the sampler
 * owns the rest, and frees them when their END message comes by, so that
 * pointers in messages are always good. The few `hint_` fields are written by
 * the sampler and read by the tracer, atomically. */

#include <glib.h>
#include <sys/types.h>

#include "flam-builder.h"

typedef struct _FlamTarget FlamTarget;
typedef struct _FlamTask FlamTask;

/* Deeper stacks are cut: native ones, and chains of Python's frames. */
#define FLAM_FRAMES_MAX (1u << 18)

/* A frame of a stack, and the stack up to it, as in the capture. */
typedef struct
{
  FlamId frame;
  FlamId stack;
} FlamStep;

/* A process. */
struct _FlamTarget
{
  pid_t pid;
  FlamTarget *parent; /* valid while TARGET_NEW is read; may be NULL */
  guint n_tasks;      /* tracer's */
  gboolean foreign;   /* tracer's: not a program for this machine */
  gboolean injected;  /* tracer's: its program loads the allocation library */
  char program[16];   /* tracer's: what that is called */
  gint64 young_until; /* tracer's: till then its code is still being mapped */
  guint64 code_size;  /* tracer's: of mappings, when they were last reported */
  gint64 cpu_begin;   /* tracer's: by the process clock; before, not ours */
  gint64 cpu_ended;   /* tracer's: of threads that are gone */
  struct _FlamPythonKnown *python; /* tracer's: code objects by address */
  struct _FlamProcessMap *map;     /* sampler's: maps, modules, ids */

  /* Tracer's hint: which program it runs, counted; /proc is of that one. */
  guint hint_program;
  /* Hint: where its Python is, or NULL. */
  const struct _FlamPythonInterpreter *hint_python;
};

/* What the scheduler has counted for a thread, in ns. */
typedef struct
{
  gint64 cpu;    /* ran */
  gint64 queued; /* waited for a CPU */
  guint64 count; /* was put on one so many times */
} FlamSchedstat;

/* See flam-wall.h; times in ns. */
typedef struct
{
  gint64 until;       /* up to here it is accounted for */
  FlamSchedstat stat; /* as of then */
  gboolean asleep;    /* it was */
  gint64 ran, queued; /* what no sample has yet */
  gint64 slept;       /* likewise; below 0 samples have too much */
} FlamWall;

/* A thread. */
struct _FlamTask
{
  pid_t tid;
  FlamTarget *target;
  guint index; /* in the tracer's list */

  /* Tracer's. Kept descriptors of /proc, -1 where there is none. */
  int schedstat_fd;
  int syscall_fd;
  int stat_fd;      /* opened when it is first needed */
  gboolean pending; /* INTERRUPT sent, no stop yet */
  gint64 interrupted_at;
  gint64 tick_waited;        /* we, for a CPU */
  gint64 tick_at;            /* of the tick that did it */
  FlamSchedstat interrupted; /* what the scheduler said then */
  gboolean deep;             /* reading its stack took long the last time */
  gint64 rest_until;         /* therefore it is let alone */
  gboolean listening;        /* in a group stop */
  gboolean blocked;          /* asleep as long as its count is blocked_count */
  gboolean blocked_known;    /* the stack of that sleep was taken */
  guint8 blocked_state;      /* FlamState */
  guint64 blocked_count;
  gint64 blocked_cpu;    /* it had used then */
  guint blocked_line;    /* hash of what /proc says it waits for */
  gint64 blocked_until;  /* it was seen asleep last */
  gboolean read_by_stop; /* of this sleep, as hint_needs_bp asked */
  gboolean wants_stop;   /* therefore */
  gint64 cpu_begin;      /* its CPU time until then is not ours */
  gint64 cpu_seen;       /* up to here it is accounted for */
  gint64 cpu_owed;       /* used before a pause, and in no sample yet */
  FlamWall wall;
  struct _FlamPythonTask *python; /* where its Python frames were, or NULL */

  /* Hints. */
  gboolean too_deep;      /* sampler's: too deep to be copied whole */
  guint hint_copy;        /* bytes of stack to copy */
  gsize hint_top;         /* the root's frame ends here, 0 unknown */
  gboolean hint_needs_bp; /* its sleep cannot be read without a stop */

  /* Sampler's. */
  FlamId id;
  FlamId last_stack;
  GArray *path;    /* FlamStep of the last stack, from the root on; or NULL */
  FlamSample held; /* the last one that ran: see put_running() */
  gint64 held_cpu, held_wall;
  gboolean holds;
  char name[16];
  gint64 name_read_at;
};

typedef enum
{
  FLAM_MESSAGE_TARGET_NEW,
  FLAM_MESSAGE_TARGET_EXEC,   /* text: /proc/PID/maps; comm */
  FLAM_MESSAGE_TARGET_MAPS,   /* text: /proc/PID/maps as of the next sample */
  FLAM_MESSAGE_TARGET_MISSED, /* text: why allocations are not recorded */
  FLAM_MESSAGE_TARGET_END,
  FLAM_MESSAGE_TASK_NEW, /* comm */
  FLAM_MESSAGE_TASK_END, /* comm; weights that no sample has */
  FLAM_MESSAGE_SAMPLE,   /* registers and stack */
  FLAM_MESSAGE_ASLEEP,  /* the same without a stop: pc and sp alone are known */
  FLAM_MESSAGE_SAME,    /* the stack of the task's last message */
  FLAM_MESSAGE_MARK,    /* text */
  FLAM_MESSAGE_WARNING, /* text */
} FlamMessageKind;

/* DWARF's numbers: 0-15 general registers, 16 the program counter. */
#define FLAM_N_REGS 17

typedef struct
{
  guint32 size; /* of the whole message, a multiple of 16 */
  guint16 kind;
  guint8 state;     /* FlamState */
  guint8 limited;   /* more of the stack was not copied */
  guint32 n_data;   /* bytes that follow the message: stack or text */
  guint32 n_python; /* before the stack, so many FlamPythonEntry */
  FlamTarget *target;
  FlamTask *task;
  gint64 time; /* ns since the recording began */
  gint64 cpu;  /* weights, ns */
  gint64 ran;  /* of the wall time */
  gint64 queued;
  gint64 slept;
  union
  {
    guint64 regs[FLAM_N_REGS];
    char comm[16]; /* the task's name; "" where it was not to be had */
  };
} FlamMessage;

G_STATIC_ASSERT (sizeof (FlamMessage) % 16 == 0);

/* A Python frame, innermost first; without `code` an entry: the frames since
 * the one before ran in the native frame that `pc` lies in. */
typedef struct
{
  struct _FlamPythonCode *code;
  guint64 pc; /* bytes from the code's first instruction, signed */
} FlamPythonEntry;

G_STATIC_ASSERT (sizeof (FlamPythonEntry) == 16);
