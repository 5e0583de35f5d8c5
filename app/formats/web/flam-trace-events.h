/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The events of one of Chrome's traces, or of a part of them (flam-parts.h),
 * sorted by what is made of them. Nothing but the text is needed to read them,
 * so that parts can be read at the same time; names and tasks have numbers of
 * the part's own, in the order in which they come.
 *
 *    {"ph":"B","pid":1,"tid":2,"ts":1.5,"name":"parse"}
 *        name 3: "parse"    task 0: pid 1, tid 2
 *        task 0, moments: …, { begin, name 3, 1500 }                        */

#include "flam-columns.h"
#include "flam-json.h"
#include "flam-strings.h"
#include "flam-trace-spans.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_TRACE_THREAD,
  FLAM_TRACE_PROCESS, /* is named, which makes no thread */
  FLAM_TRACE_PROFILE, /* the first piece of one: its thread */
} FlamTraceTaskKind;

typedef struct
{
  FlamTraceTaskKind kind;
  gint64 pid, tid;
  FlamId tid_name;    /* a name: a tid that is a text, or 0 */
  FlamId id;          /* a name: a profile is told by it, and not by its thread;
                         or 0 */
  gint64 time;        /* ns: the first piece's of a profile */
  FlamColumn moments; /* FlamMoment */
} FlamTraceTask;

typedef struct
{
  guint32 task;
  FlamId name;
} FlamTraceNaming;

typedef struct
{
  gint64 time;
  guint32 task;
  FlamId name;
} FlamTraceMark;

typedef struct
{
  guint32 task;
  FlamJsonText args;
} FlamTracePiece;

typedef struct
{
  FlamJson json;       /* where it is read */
  const guint8 *until; /* where the next part begins; NULL: there is none */
  gboolean arrived;    /* an event begins there, and it was read up to it */

  FlamStrings names;
  FlamColumn tasks;   /* FlamTraceTask */
  FlamColumn namings; /* FlamTraceNaming: what tasks are called */
  FlamColumn marks;   /* FlamTraceMark: moments of their own */
  FlamColumn pieces;  /* FlamTracePiece: of V8's profiles */
  gint64 end;         /* ns: the last that happened */
  guint64 n;
  guint64 others; /* of kinds that are not shown */

  FlamInterner task_index;
  guint32 last_task;
} FlamTraceEvents;

/* `json` is what the reader is to go on from, and the events' from then on. */
void flam_trace_events_init (FlamTraceEvents *events, FlamJson *json);
void flam_trace_events_clear (FlamTraceEvents *events);

/* Where an event may begin, at `at` or soon behind it; `end`: none was found.
 * That it does is certain only when the part before arrives there. */
const guint8 *flam_trace_events_find (const guint8 *at, const guint8 *end);

/* The elements of the array at `depth` up to its end, or to where the next part
 * begins. FALSE: cancelled. */
gboolean flam_trace_events_read (FlamTraceEvents *events,
                                 guint depth,
                                 const FlamProgress *progress,
                                 GError **error);

G_END_DECLS
