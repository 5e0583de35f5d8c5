/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GO_EVENTS_H
#define FLAM_GO_EVENTS_H

/* The events of a Go execution trace:
 *
 *    generation 1                          generation 2
 *    batches of M 1    of M 2   tables     …
 *    start g7
 *      +12 block       start g8  stacks
 *      +3  start g8…   +9 block  strings
 *
 * Each batch has the events of one M (a thread), or of one P before Go 1.22, in
 * their order, with times relative to the event before. Ids of stacks and
 * strings are those of the generation; a trace before Go 1.22 is one
 * generation. The events of one goroutine are in no order until they are
 * sorted. */

#include "flam-load.h"
#include "flam-text.h"

typedef enum
{
  FLAM_GO_CREATE, /* it can run; its stack is its first function */
  FLAM_GO_CREATE_BLOCKED,
  FLAM_GO_STATUS, /* the state in which a generation begins */
  FLAM_GO_START,
  FLAM_GO_YIELD, /* it could go on */
  FLAM_GO_BLOCK,
  FLAM_GO_UNBLOCK,
  FLAM_GO_CALL,    /* a system call, which matters only if it blocks */
  FLAM_GO_SYSCALL, /* that one blocks; or one that has its own stack */
  FLAM_GO_RETURN,  /* from it, and runs on */
  FLAM_GO_RETURN_BLOCKED,
  FLAM_GO_END,
  FLAM_GO_REGION,
  FLAM_GO_REGION_END,
  FLAM_GO_SAMPLE, /* of the CPU profiler */
} FlamGoKind;

typedef enum
{
  FLAM_GO_UNKNOWN,
  FLAM_GO_RUNNABLE,
  FLAM_GO_RUNNING,
  FLAM_GO_IN_SYSCALL,
  FLAM_GO_WAITING,
  FLAM_GO_DEAD,
} FlamGoState;

typedef struct
{
  gint64 time; /* ns */
  guint64 goroutine;
  FlamStackId stack;   /* or FLAM_NONE */
  FlamStringId reason; /* string: why it blocks, or a region's name */
  guint8 kind;         /* FlamGoKind */
  guint8 state;        /* FlamGoState of a status */
} FlamGoEvent;

typedef struct
{
  FlamLoad *load;
  FlamColumn events; /* FlamGoEvent */
  guint64 samples;   /* of them, FLAM_GO_SAMPLE */
  gint64 end;        /* ns: the last time */

  /* Of the generation that is being read; times are ticks, and stacks and
   * reasons are its own ids, from the event `first` on. */
  gsize first;
  FlamColumn stacks;  /* of the file */
  FlamColumn strings; /* FlamSlice */
  GHashTable *stack_rows;
  GHashTable *string_rows;
  FlamColumn ids; /* guint64, two per event: stack, reason */
  FlamColumn heap;
  FlamColumn collections; /* times of the garbage collector */
  double tick;            /* ns */
  gint64 origin;          /* ticks */
  gboolean has_origin;
  guint counter; /* of the heap; G_MAXUINT: none */
} FlamGoEvents;

void flam_go_events_init (FlamGoEvents *events, FlamLoad *load);
/* Reads all of them; the first damaged one ends the trace. */
gboolean flam_go_events_read (FlamGoEvents *events, GError **error);

#endif
