/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the bare numbers of a text are: samples, µs, bytes or faults. */

#include "flam-formats.h"

/* As the options say, or else the file's name. */
FlamWeightsAs flam_weights_as_of (const FlamSource *source,
                                  const FlamLoadOptions *options);
typedef enum
{
  FLAM_WEIGHTS_NOW,
  FLAM_WEIGHTS_BEFORE, /* of a difference */
} FlamWeightsSide;

/* A column and its measure, whose index is returned. */
guint flam_weights_as_add_measure (FlamWeightsAs as,
                                   FlamBuilder *builder,
                                   FlamWeightsSide side);
/* A measure of one event's samples, in the column 0. */
guint flam_weights_as_add_event (FlamWeightsAs as,
                                 FlamBuilder *builder,
                                 const char *name,
                                 guint16 event);
/* In the measure's unit. What does not fit makes a sum that finish()
 * refuses. */
gint64 flam_weights_as_scale (FlamWeightsAs as, gint64 weight);
