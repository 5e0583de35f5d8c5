/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CALL_LOG_H
#define FLAM_CALL_LOG_H

/* System calls as tracers print them -> a sample each, as long as the call, in
 * its thread:
 *
 *    id, start, duration, name ──▶ call      process ◀── threads
 *            lines of a stack ──▶ its callers
 *
 * Without a stack, a thread only has the calls. Which ids are threads of one
 * process may follow from a later line, so samples are made at the end. */

#include "flam-stack-text.h"

typedef struct
{
  FlamLoad *load;
  FlamBuilder *builder;
  /* Of a line of a stack, once each. */
  void (*parse_frame) (FlamSlice text, FlamTextFrame *frame);
  GArray *threads; /* Thread */
  GHashTable *by_id;
  FlamColumn calls;   /* Call */
  FlamPieces frames;  /* lines of stacks, and names of calls */
  FlamPieces errors;  /* "ENOENT" -> labels */
  FlamId leaf;        /* the last call, whose stack may follow; FLAM_NONE */
  GArray *stack;      /* FlamId: its callers, innermost first */
  gint64 end;         /* ns: the last time */
  gint64 started;     /* ns since 1970, or 0 */
  gboolean untimed;   /* a call has no time */
  gboolean undurated; /* a call has no duration */
} FlamCallLog;

void flam_call_log_init (FlamCallLog *log, FlamLoad *load);

/* The row of a thread; -1: the one without an id. */
guint32 flam_call_log_thread (FlamCallLog *log, gint64 id);
void flam_call_log_set_id (FlamCallLog *log, guint32 thread, gint64 id);
void flam_call_log_set_name (FlamCallLog *log, guint32 thread, FlamSlice name);
/* It belongs to the process of the thread `of`. */
void flam_call_log_set_process (FlamCallLog *log, guint32 thread, guint32 of);

/* A time in the log, in ns. */
void flam_call_log_see (FlamCallLog *log, gint64 time);
/* A call that returned; `error` may be empty. */
void flam_call_log_add (FlamCallLog *log,
                        guint32 thread,
                        FlamSlice name,
                        gint64 start,
                        gint64 duration,
                        FlamSlice error);
/* A call whose return is expected in a later line, one per thread; taking it
 * returns FALSE if none was open. */
void flam_call_log_begin (FlamCallLog *log,
                          guint32 thread,
                          FlamSlice name,
                          gint64 start);
gboolean flam_call_log_take (FlamCallLog *log, guint32 thread, gint64 *start);
/* A frame of the stack of the call that was added last, innermost first. */
void flam_call_log_frame (FlamCallLog *log, FlamSlice line);
/* Frames that follow belong to no call. */
void flam_call_log_end_stack (FlamCallLog *log);

/* Adds measures and samples. `what`: the name of the text, for messages. */
gboolean
flam_call_log_finish (FlamCallLog *log, const char *what, GError **error);

#endif
