/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A part of perf script's text, read by one core. What is the same for all
 * parts (names of threads, measures) it only notes. */

#include "flam-perf-script-stacks.h"

#define FLAM_SCRIPT_MAX_EVENTS G_MAXUINT16

/* A measure, with the same index. */
typedef struct
{
  FlamSlice name;
  gboolean is_time; /* its periods are ns */
} FlamScriptEvent;

typedef struct
{
  FlamSlice comm;
  gint32 pid;
  gint32 tid;
} FlamScriptWho;

typedef struct
{
  FlamId stack;
  FlamId thread;
  guint event; /* of the part */
  gint64 time;
  gint64 weight;
} FlamScriptSample;

typedef struct
{
  FlamBuilder *builder;
  const FlamSource *source;
  FlamText text;
  FlamScriptStacks stacks;
  FlamPieces threads; /* texts that say whose a sample is */
  FlamColumn whos;    /* FlamScriptWho, a row of `threads` each */
  FlamColumn events;  /* FlamScriptEvent */
  FlamColumn samples; /* FlamScriptSample */
  char *command;      /* or NULL */
  guint64 lost;
  gboolean has_times;
  gboolean has_facts; /* a header had a time or a period */
  gboolean guessed;   /* by there being none */
} FlamScriptPart;

/* The builder is the caller's. */
void flam_script_part_init (FlamScriptPart *part,
                            const FlamSource *source,
                            const FlamText *text,
                            FlamBuilder *builder);
void flam_script_part_clear (FlamScriptPart *part);
gboolean flam_script_part_read (FlamScriptPart *part,
                                const FlamProgress *progress,
                                GError **error);
/* Its row, which is the last one if it was not there. */
guint flam_script_find_event (FlamColumn *events, const FlamScriptEvent *event);
