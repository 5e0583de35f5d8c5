/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RANGES_H
#define FLAM_RANGES_H

/* The mappings of a process: ranges of addresses that never overlap, because a
 * new mapping replaces the older ones at its addresses. A tree, so that a
 * capture with a million mappings is read in acceptable time.
 *
 *    add 10..50 A     |--------A--------|
 *    add 20..30 B     |-A-|--B--|---A---|
 */

#include <glib.h>

typedef struct
{
  guint64 start;
  guint64 end;
  guint64 offset; /* of start, in the file */
  guint32 value;
} FlamRange;

typedef struct _FlamRanges FlamRanges;

FlamRanges *flam_ranges_new (void);
void flam_ranges_free (FlamRanges *ranges);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamRanges, flam_ranges_free)

void flam_ranges_add (FlamRanges *ranges, const FlamRange *range);
void flam_ranges_remove (FlamRanges *ranges, guint64 start, guint64 end);
/* The first range that ends after `address`, and the one that contains it.
 * Valid until the next change; NULL for none. */
const FlamRange *flam_ranges_next (const FlamRanges *ranges, guint64 address);
const FlamRange *flam_ranges_find (const FlamRanges *ranges, guint64 address);
guint flam_ranges_get_n (const FlamRanges *ranges);
/* Adds all ranges of `from`, for a forked process. */
void flam_ranges_copy (FlamRanges *ranges, const FlamRanges *from);

#endif
