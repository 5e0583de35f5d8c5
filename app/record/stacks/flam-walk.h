/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_WALK_H
#define FLAM_WALK_H

/* The native frames of a sample, found with maps that are recent enough for
 * it. */

#include "flam-sampler.h"

typedef struct
{
  gsize n; /* frames in the sampler's `pcs` and `sps`, leaf first */
  FlamUnwindEnd end;
  guint64 last_sp;
  /* The managed ones among them. Valid until the next walk. */
  const FlamRuntimeManaged *managed;
  guint n_managed;
} FlamWalk;

FlamWalk flam_walk_message (FlamSampler *sampler, FlamMessage *message);

#endif
