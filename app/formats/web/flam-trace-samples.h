/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRACE_SAMPLES_H
#define FLAM_TRACE_SAMPLES_H

/* Samples of the Trace Event Format itself, and the stacks that they name:
 *
 *    "stackFrames":{"5":{"name":"main","category":"app"},
 *                   "7":{"name":"parse","parent":"5"},…}
 *    "samples":[{"tid":1,"ts":µs,"name":"cycles","sf":"7","weight":3},…]
 *
 * A frame is the innermost one of a stack; its callers are its parents. Samples
 * with the same name have the same measure. */

#include "flam-json.h"

G_BEGIN_DECLS

typedef struct
{
  FlamBuilder *builder;
  GArray *frames;      /* Frame */
  GHashTable *by_id;   /* the id's string -> index + 1 */
  GHashTable *threads; /* tid -> thread + 1: samples name no process */
  GHashTable *events;  /* a sample's name -> event + 1 */
  GArray *open;        /* guint32: frames whose stacks are being made */
  guint n_events;      /* event 0 was added by the caller */
  guint64 bad;
} FlamTraceSamples;

/* Hermes and some others write their numbers in quotes. */
gint64 flam_trace_number (FlamJson *json, guint32 scale);

void flam_trace_samples_init (FlamTraceSamples *samples, FlamLoad *load);

/* The thread of a "tid". */
void flam_trace_samples_see_thread (FlamTraceSamples *samples,
                                    gint64 tid,
                                    FlamThreadId thread);
/* Reads the values of the members of these names, all of one document. */
void flam_trace_samples_read (FlamTraceSamples *samples,
                              FlamJsonText frames,
                              FlamJsonText list);

G_END_DECLS

#endif
