/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRACE_EVENTS_H
#define FLAM_TRACE_EVENTS_H

/* The events of a Chrome trace, or of a part of it (flam-parts.h), sorted by
 * their use. Reading them needs only the text, so that parts can be read in
 * parallel; names and tasks have numbers that are local to the part, in order
 * of their first use.
 *
 *    {"ph":"B","pid":1,"tid":2,"ts":1.5,"name":"parse"}
 *        name 3: "parse"    task 0: pid 1, tid 2
 *        task 0, moments: …, { begin, name 3, 1500 } */

#include "flam-core-profile.h"
#include "flam-json.h"
#include "flam-trace-counters.h"
#include "flam-trace-spans.h"
#include "flam-trace-threads.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_TRACE_THREAD,
  FLAM_TRACE_PROCESS, /* only has a name, and is not a thread */
  FLAM_TRACE_PROFILE, /* the first piece of a profile: its thread */
} FlamTraceTaskKind;

typedef struct
{
  FlamTraceTaskKind kind;
  FlamTraceWho who;   /* its texts are names */
  FlamId id;          /* a name: identifies a profile in place of its thread; or
                         0 */
  FlamColumn moments; /* FlamMoment */
} FlamTraceTask;

typedef struct
{
  guint32 task;
  FlamStringId name;
} FlamTraceNaming;

typedef struct
{
  guint32 task;
  FlamTraceWho who; /* of its event; its texts are names */
  gint64 time;      /* ns */
  FlamJsonText args;
} FlamTracePiece;

/* The location of a span's function, as in an event's "args" and "cat" in
 * Flambeau's own traces. Texts are names; 0: unknown. */
typedef struct
{
  FlamStringId name, file;
  FlamModuleId module;
  guint32 line;
  FlamFunctionKind kind;
} FlamTracePlace;

#define FLAM_TRACE_RECENT_TASKS 32

typedef struct
{
  FlamJson json;       /* reads the events */
  const guint8 *until; /* start of the next part; NULL: this is the last */
  gboolean arrived;    /* an event begins there, and all before it is read */

  FlamStrings names;
  FlamColumn tasks;   /* FlamTraceTask */
  FlamColumn namings; /* FlamTraceNaming: names of tasks */
  FlamColumn marks;   /* FlamTraceMark */
  FlamColumn counts;  /* FlamTraceCount */
  FlamColumn pieces;  /* FlamTracePiece: of V8's profiles */
  FlamColumn places;  /* FlamTracePlace: row i is place i + 1 of moments */
  gint64 end;         /* ns: the time of the last event */
  guint64 n;
  guint64 others;      /* events of kinds that are not shown */
  FlamLimited limited; /* of times and durations */

  FlamInterner task_index;
  FlamInterner place_index;
  guint32 recent[FLAM_TRACE_RECENT_TASKS]; /* tasks, by the tid */
  FlamJsonText no_kind; /* a category that is not a kind of code */
} FlamTraceEvents;

/* `json` is the reader to continue with; the events take ownership of it. */
void flam_trace_events_init (FlamTraceEvents *events, FlamJson *json);
void flam_trace_events_clear (FlamTraceEvents *events);

/* A place where an event may begin, at or soon after `at`; `end`: none found.
 * It is only certain when the previous part reaches it. */
const guint8 *flam_trace_events_find (const guint8 *at, const guint8 *end);

/* Reads the elements of the array at `depth` up to its end, or to the start of
 * the next part. FALSE: cancelled. */
gboolean flam_trace_events_read (FlamTraceEvents *events,
                                 guint depth,
                                 const FlamProgress *progress,
                                 GError **error);

G_END_DECLS

#endif
