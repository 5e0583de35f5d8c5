/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What is known of a Perfetto trace, and who is who in it. Times are those of
 * the boot clock, ns. */

#include "flam-perfetto.h"
#include "flam-trace-spans.h"

#define FLAM_PERFETTO_BOOT_CLOCK 6
/* As the sequence's defaults say. */
#define FLAM_PERFETTO_DEFAULT_CLOCK G_MAXUINT32
/* Clocks from here on are a sequence's own. */
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
  guint32 state; /* what its numbers hold in */
  guint32 clock; /* its default */
  FlamPerfettoClock own[FLAM_PERFETTO_N_OWN];
  guint64 track; /* its events' default; 0: none */
  FlamId thread; /* as a ThreadDescriptor said; FLAM_NONE */
  gint64 time;   /* of deltas, ns */
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

/* What a TrackDescriptor held, for what happens on it. */
typedef struct
{
  FlamId process;
  FlamId thread; /* FLAM_NONE: none yet */
  FlamId name;   /* 0: none */
  gboolean is_counter, is_made;
  guint counter; /* the builder's */
  FlamUnit unit;
  gint64 multiplier;
} FlamPerfettoTrack;

typedef struct
{
  FlamId thread;
  FlamId stack;
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
  GHashTable *heap; /* (pid, stack) -> what it has */
  FlamTraceSpans spans;
  guint64 n_marks;
  guint64 bad;      /* packets that are cut or make no sense */
  guint64 counters; /* values of counters that nothing describes */
  guint64 unwound;  /* samples whose stack could not be read to its end */
} FlamPerfetto;

/* -1: no process or thread has such an id. */
static inline gint32
flam_perfetto_id (guint64 value)
{
  return value <= G_MAXINT32 ? (gint32)value : -1;
}

/* Never so much that sums of two could not be held. */
static inline gint64
flam_perfetto_scaled (guint64 time, gint64 multiplier)
{
  gint64 result;

  if (time > G_MAXINT64 ||
      __builtin_mul_overflow ((gint64)time, MAX (multiplier, 1), &result))
    return 0;
  return MIN (result, G_MAXINT64 / 4);
}

/* Takes `name`, which may be NULL. */
FlamId flam_perfetto_thread (FlamPerfetto *trace,
                             guint64 pid,
                             guint64 tid,
                             char *name);
FlamId flam_perfetto_track (FlamPerfetto *trace,
                            const FlamPerfettoSequence *sequence,
                            guint64 uuid);
/* FALSE: the track is no counter's. */
gboolean flam_perfetto_count (FlamPerfetto *trace,
                              guint64 uuid,
                              gint64 time,
                              gint64 value);
void flam_perfetto_name_process (FlamPerfetto *trace, guint64 pid, char *name);
void flam_perfetto_read_processes (FlamPerfetto *trace, FlamProto tree);
void flam_perfetto_read_track (FlamPerfetto *trace, FlamProto track);
