/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRACE_CMD_FILE_H
#define FLAM_TRACE_CMD_FILE_H

/* The parts of trace-cmd's files that describe the events, and where these are:
 *
 *    version 6   head  header_page  formats of ftrace, then of each system
 *                kallsyms  printk formats  names of tasks
 *                options  "flyrecord"  {offset, size} of each CPU  data
 *    version 7   head  compression  offset of the options, which have the
 *                offsets of sections with the same content
 *
 * Source: trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5). */

#include "flam-kallsyms.h"
#include "flam-load.h"

typedef enum
{
  FLAM_TRACE_OTHER,
  FLAM_TRACE_ENTRY,    /* ftrace's funcgraph_entry: func */
  FLAM_TRACE_EXIT,     /* funcgraph_exit: func, calltime, rettime */
  FLAM_TRACE_FUNCTION, /* function: ip, parent_ip */
  FLAM_TRACE_STACK,    /* kernel_stack: caller */
  FLAM_TRACE_USER,     /* user_stack */
  FLAM_TRACE_SWITCH,   /* sched_switch: prev_pid, prev_state, next_pid, and the
                          names */
} FlamTraceKind;

typedef struct
{
  guint32 offset, size; /* size 0: the event does not have it */
} FlamTraceField;

#define FLAM_TRACE_MOST_FIELDS 5

typedef struct
{
  char *name; /* "sched:sched_switch" */
  FlamTraceKind kind;
  FlamTraceField type, pid;                      /* of every event */
  FlamTraceField fields[FLAM_TRACE_MOST_FIELDS]; /* as above */
} FlamTraceFormat;

typedef enum
{
  FLAM_TRACE_PLAIN,
  FLAM_TRACE_ZLIB,
  FLAM_TRACE_ZSTD,
} FlamTracePacking;

typedef struct
{
  guint32 cpu;
  guint64 offset, size; /* in the file, and inside of it */
  guint32 page;         /* bytes */
  gboolean packed;
} FlamTraceCpu;

typedef struct
{
  FlamLoad *load;
  gboolean big;    /* its byte order */
  guint long_size; /* of the recorded kernel */
  guint32 page;
  FlamTracePacking packing;
  GHashTable *formats; /* type -> FlamTraceFormat */
  const FlamTraceFormat *any;
  GHashTable *names;     /* pid -> char * */
  FlamKallsyms *symbols; /* or NULL */
  FlamColumn cpus;       /* FlamTraceCpu */
} FlamTraceFile;

gboolean
flam_trace_file_read (FlamTraceFile *file, FlamLoad *load, GError **error);

static inline guint64
flam_trace_get (const FlamTraceFile *file, const guint8 *at, guint size)
{
  guint64 value = 0;

  for (guint i = 0; i < size && i < 8; i++)
    value |= (guint64)at[i] << 8 * (file->big ? size - 1 - i : i);
  return value;
}

/* Unpacks one piece, {packed size, size, data}; g_free. NULL: it is damaged, or
 * too large. `*at` moves behind it. */
guint8 *flam_trace_file_unpack (const FlamTraceFile *file,
                                const guint8 **at,
                                const guint8 *end,
                                gsize *size);

#endif
