/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERFETTO_THREADS_H
#define FLAM_PERFETTO_THREADS_H

/* The state of a Perfetto trace that is being read, and its processes and
 * threads. Times are those of the boot clock, ns. */

#include "flam-perfetto.h"
#include "flam-trace-spans.h"

#define FLAM_PERFETTO_BOOT_CLOCK 6
/* As given by the sequence's defaults. */
#define FLAM_PERFETTO_DEFAULT_CLOCK G_MAXUINT32
/* Clocks from here on are local to a sequence. */
#define FLAM_PERFETTO_OWN_CLOCKS 64
#define FLAM_PERFETTO_N_OWN 4

typedef struct
{
  gint64 offset; /* to the boot clock */
  gint64 last;   /* incremental: the sum so far */
  gint64 multiplier;
  gboolean known, incremental;
} FlamPerfettoClock;

/* A writer of packets. */
typedef struct
{
  guint32 state; /* the state in which its numbers are valid */
  guint32 clock; /* the default clock */
  FlamPerfettoClock own[FLAM_PERFETTO_N_OWN];
  guint64 track;       /* the default track of its events; 0: none */
  FlamThreadId thread; /* from a ThreadDescriptor; FLAM_NONE */
  gint64 time;         /* of deltas, ns */
} FlamPerfettoSequence;

typedef struct
{
  guint64 time;
  gboolean has_time;
  guint32 clock;
  guint64 sequence_id;
  FlamPerfettoSequence *sequence; /* from flam_perfetto_begin() */
  gint64 at;                      /* on the boot clock */
} FlamPerfettoPacket;

/* The content of a TrackDescriptor, for the events on it. */
typedef struct
{
  FlamProcessId process;
  FlamThreadId thread; /* FLAM_NONE: none yet */
  FlamStringId name;   /* 0: none */
  gboolean is_counter, is_made;
  guint counter; /* of the builder */
  FlamUnit unit;
  gint64 multiplier;
} FlamPerfettoTrack;

typedef struct
{
  FlamThreadId thread;
  FlamStackId stack;
  gint64 time;
} FlamPerfettoSample;

typedef struct
{
  FlamPerfettoNames names;
  GHashTable *sequences; /* id -> FlamPerfettoSequence */
  guint32 n_states;
  FlamPerfettoClock clocks[FLAM_PERFETTO_OWN_CLOCKS];
  GHashTable *tracks; /* uuid -> FlamPerfettoTrack */
  guint n_tracks;
  GArray *samples;  /* FlamPerfettoSample */
  GHashTable *heap; /* (pid, stack) -> its sums */
  FlamTraceSpans spans;
  guint64 n_marks;
  guint64 bad;      /* truncated or invalid packets */
  guint64 counters; /* values of counters without a description */
  guint64 unwound;  /* samples with truncated stacks */
} FlamPerfetto;

/* -1: no process or thread can have such an id. */
static inline gint32
flam_perfetto_id (guint64 value)
{
  return value <= G_MAXINT32 ? (gint32)value : -1;
}

/* Limited so that the sum of two does not overflow. */
static inline gint64
flam_perfetto_scaled (const FlamPerfetto *trace,
                      guint64 time,
                      gint64 multiplier)
{
  return flam_builder_limit (trace->names.builder,
                             (__int128)(gint64)time * MAX (multiplier, 1),
                             0,
                             G_MAXINT64 / 4,
                             NULL);
}

/* Takes ownership of `name`, which may be NULL. */
FlamThreadId flam_perfetto_thread (FlamPerfetto *trace,
                                   guint64 pid,
                                   guint64 tid,
                                   char *name);
FlamId flam_perfetto_track (FlamPerfetto *trace,
                            const FlamPerfettoSequence *sequence,
                            guint64 uuid);
/* `part`: thousandths of a real number beyond its whole one. FALSE: the track
 * is not a counter's, or the value is out of range. */
gboolean flam_perfetto_count (
    FlamPerfetto *trace, guint64 uuid, gint64 time, gint64 value, guint part);
void flam_perfetto_name_process (FlamPerfetto *trace, guint64 pid, char *name);
void flam_perfetto_read_processes (FlamPerfetto *trace, FlamProto tree);
void flam_perfetto_read_track (FlamPerfetto *trace, FlamProto track);

#endif
