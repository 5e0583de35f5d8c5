/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Two trees -> what changed, by name: captures of different formats, programs
 * and machines share nothing else.
 *
 *   base   main 8   parse 5   old 3          name    base  new  delta
 *   new    main 9   parse 2   fresh 7   ─▶   fresh      0    7     +7
 *                                            old        3    0     -3
 *                                            parse      5    2     -3
 *                                            main       8    9     +1
 */

#include "flam-tree.h"

G_BEGIN_DECLS

typedef struct
{
  const char *name; /* valid as long as both trees */
  gint64 base;
  gint64 fresh;
  gint64 delta;
} FlamDiffRow;

/* Samples that are counted are always alike, other measures where they are:
 * flam_measure_is_like(). */
gboolean flam_diff_is_possible (const FlamTree *base, const FlamTree *fresh);

/* What the base is multiplied by before it is compared: to / from. */
typedef struct
{
  gint64 to, from;
} FlamDiffScale;

#define FLAM_DIFF_UNSCALED ((FlamDiffScale){ 1, 1 })

/* As if both totals were the new one's: shares are compared. */
FlamDiffScale flam_diff_scale_totals (const FlamTree *base,
                                      const FlamTree *fresh);

gint64 flam_diff_scaled (gint64 base, FlamDiffScale scale);

/* Rows for every function of either tree, largest change first, ties by name;
 * `n` rows, g_free. Totals, or with `self` selves. The trees must not be
 * inverted. */
FlamDiffRow *flam_diff_functions (const FlamTree *base,
                                  const FlamTree *fresh,
                                  gboolean self,
                                  FlamDiffScale scale,
                                  guint *n);

typedef enum
{
  FLAM_DIFF_FRESH,
  FLAM_DIFF_BASE,
} FlamDiffShape;

/* One of the trees again, each node beside what the same path of names holds
 * in the other (FlamTreeChange): the differential flame graph. Totals, or with
 * `self` selves. What the other alone has is not in it; the other shape shows
 * that. */
FlamTree *flam_diff_tree (const FlamTree *base,
                          const FlamTree *fresh,
                          FlamDiffShape shape,
                          gboolean self,
                          FlamDiffScale scale);

/* "root;…;leaf base new" lines, sorted bytewise, g_free: what difffolded.pl
 * writes and flamegraph.pl reads. */
char *flam_diff_folded (const FlamTree *base,
                        const FlamTree *fresh,
                        FlamDiffScale scale);

G_END_DECLS
