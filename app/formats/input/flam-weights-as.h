/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_WEIGHTS_AS_H
#define FLAM_WEIGHTS_AS_H

/* The unit of a text's bare numbers: samples, µs, bytes or faults. */

#include "flam-formats.h"

/* From the options, or else from the file's name. */
FlamWeightsAs flam_weights_as_of (const FlamSource *source,
                                  const FlamLoadOptions *options);
typedef enum
{
  FLAM_WEIGHTS_NOW,
  FLAM_WEIGHTS_BEFORE, /* of a difference */
} FlamWeightsSide;

/* Adds a column and its measure; returns the measure's index. */
guint flam_weights_as_add_measure (FlamWeightsAs as,
                                   FlamBuilder *builder,
                                   FlamWeightsSide side);
/* A measure of one event's samples, in column 0. */
guint flam_weights_as_add_event (FlamWeightsAs as,
                                 FlamBuilder *builder,
                                 const char *name,
                                 guint16 event);
/* In the measure's unit. Overflow gives a sum that finish() refuses. */
gint64 flam_weights_as_scale (FlamWeightsAs as, gint64 weight);

#endif
