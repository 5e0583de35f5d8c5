/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GAPS_H
#define FLAM_GAPS_H

/* The CPU time between the samples of short-lived processes: of children of one
 * parent that run the same program, one after another or at once.
 *
 * A server that has a child process for each request works like one that has a
 * thread which waits between requests, and its time is divided in the same way:
 * half of the time between two samples belongs to each, even if the next one is
 * of another child, and even if children in between ended before a tick came.
 *
 *    child 1           child 2       child 3
 *   |---x-----x----|  |----------|  |--x-------
 *             |  a        a  b         |          a: stack of the sample before
 *             '------gap-----|---------'          b: of the sample after
 *
 * What each child used is a row of its own thread; only the stack is another
 * one's. If the gap is longer than chance explains, the samples beside it do
 * not represent it. */

#include "flam-core-profile.h"

G_BEGIN_DECLS

typedef struct
{
  FlamThreadId thread;
  gint64 time;     /* ns, when it was last counted */
  gint64 cpu, ran; /* ns */
} FlamGapPiece;

/* Part of a child's time with the stack that it is attributed to; FLAM_NONE:
 * no sample is near it. */
typedef void (*FlamGapPut) (gpointer data,
                            const FlamGapPiece *piece,
                            FlamStackId stack);

typedef struct _FlamGaps FlamGaps;

/* `period`: the mean time between two ticks, ns. */
FlamGaps *flam_gaps_new (gint64 period, FlamGapPut put, gpointer data);
/* Hands over the remaining time. */
void flam_gaps_free (FlamGaps *gaps);
/* A child was sampled for the first time, and has used `head` before. The
 * remainder of `head` belongs to this sample. */
void flam_gaps_begin (FlamGaps *gaps, FlamGapPiece *head, FlamStackId stack);
/* A child has ended, and has used `rest` since its last sample, whose stack is
 * given; FLAM_NONE: it was never sampled. */
void
flam_gaps_end (FlamGaps *gaps, const FlamGapPiece *rest, FlamStackId stack);

G_END_DECLS

#endif
