/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_SCRIPT_PART_H
#define FLAM_PERF_SCRIPT_PART_H

/* A part of perf script's text, read by one core. Data that all parts share
 * (names of threads, measures) is only collected in it. */

#include "flam-perf-script-stacks.h"

#define FLAM_SCRIPT_MAX_EVENTS G_MAXUINT16

/* A measure, with the same index. */
typedef struct
{
  FlamSlice name;
  gboolean is_time;  /* its periods are ns */
  gboolean is_bytes; /* its samples weigh the bytes that were allocated */
} FlamScriptEvent;

typedef struct
{
  FlamSlice comm;
  gint32 pid;
  gint32 tid;
} FlamScriptWho;

typedef struct
{
  FlamId block; /* a row of `stacks.blocks`, or FLAM_NONE */
  FlamThreadId thread;
  guint event; /* of the part */
  gint64 time;
  gint64 weight;
} FlamScriptSample;

/* The call chain of a sample is looked up with those of the next samples: the
 * tables are larger than the processor's cache. */
typedef struct
{
  FlamId sample;
  FlamScriptBlock block;
} FlamScriptWaiting;

#define FLAM_SCRIPT_WAITING 32

typedef struct
{
  FlamBuilder *builder;
  const FlamSource *source;
  FlamText text;
  FlamScriptStacks stacks;
  FlamScriptLast last;
  FlamPieces threads; /* texts that identify a sample's thread */
  FlamColumn whos;    /* FlamScriptWho, one per row of `threads` */
  FlamColumn events;  /* FlamScriptEvent */
  FlamColumn samples; /* FlamScriptSample */
  FlamScriptWaiting waiting[FLAM_SCRIPT_WAITING];
  guint n_waiting;
  char *command; /* or NULL */
  guint64 lost;
  gboolean has_times;
  gboolean has_facts; /* a header had a time or a period */
  gboolean guessed;   /* assumed, as no header had */
} FlamScriptPart;

/* The builder and the key are the caller's. With `later` the caller makes the
 * stacks of `stacks.blocks`. */
void flam_script_part_init (FlamScriptPart *part,
                            const FlamSource *source,
                            const FlamText *text,
                            FlamBuilder *builder,
                            const FlamFingerprintKey *key,
                            gboolean later);
void flam_script_part_clear (FlamScriptPart *part);
gboolean flam_script_part_read (FlamScriptPart *part,
                                const FlamProgress *progress,
                                GError **error);
/* Its row, the last one if it was added. */
guint flam_script_find_event (FlamColumn *events, const FlamScriptEvent *event);

#endif
