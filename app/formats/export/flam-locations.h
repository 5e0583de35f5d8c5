/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LOCATIONS_H
#define FLAM_LOCATIONS_H

/* The locations of a profile's stacks, for formats of pprof's kind: a location
 * is an address with all functions inlined there. Two stacks have the same
 * location if their leaves are the same and so are the locations that these
 * are inlined into. */

#include "flam-core-query.h"

typedef struct
{
  guint32 *of;   /* one per stack: its leaf's location, from 1 */
  GArray *first; /* FlamStackId: location i + 1 is the leaf of stack first[i] */
} FlamLocations;

void flam_locations_init (FlamLocations *self, const FlamProfile *profile);
void flam_locations_clear (FlamLocations *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamLocations, flam_locations_clear)

/* The stack that calls the stack's location, or FLAM_NONE. */
FlamStackId flam_locations_caller (const FlamProfile *profile,
                                   FlamStackId stack);

#endif
