/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What happened in a Perfetto trace: samples, allocations, slices, and who is
 * who. Times become those of the boot clock, ns. */

#include "flam-perfetto.h"
#include "flam-trace-spans.h"

G_BEGIN_DECLS

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
  GHashTable *tracks; /* uuid -> thread */
  guint n_tracks;
  GArray *samples;  /* FlamPerfettoSample */
  GHashTable *heap; /* (pid, stack) -> what it has */
  FlamTraceSpans spans;
  guint64 n_marks;
  guint64 bad;      /* packets that are cut or make no sense */
  guint64 counters; /* values of counters, which are not shown */
  guint64 unwound;  /* samples whose stack could not be read to its end */
} FlamPerfetto;

void flam_perfetto_init (FlamPerfetto *trace, FlamBuilder *builder);
void flam_perfetto_clear (FlamPerfetto *trace);
/* A packet's facts are known: finds its sequence, reads what the others of its
 * fields refer to, and its time. */
void flam_perfetto_begin (FlamPerfetto *trace,
                          FlamPerfettoPacket *packet,
                          gboolean cleared,
                          FlamProto fields);
/* One of its fields, a message. */
void flam_perfetto_read (FlamPerfetto *trace,
                         const FlamPerfettoPacket *packet,
                         guint64 number,
                         FlamProto message);
/* After the last: into the builder. FALSE: there is nothing to show. */
gboolean flam_perfetto_finish (FlamPerfetto *trace);

G_END_DECLS
