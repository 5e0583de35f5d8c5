/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SYSPROF_COUNTERS_H
#define FLAM_SYSPROF_COUNTERS_H

/* The counters of a Sysprof capture: frames that define counters, and frames
 * with values of any of them.
 *
 *    8 define   u16 n, 6 bytes, then n times 128 bytes:
 *                 0   text category[32], name[32], description[52]
 *               116   u24 id, u8 type (0: i64, 1: double)   120  first value
 *    9 set      u16 n, 6 bytes, then n times u32 ids[8], 8-byte values[8]
 *
 * Fractions are rounded. Source of facts: Sysprof 50, sysprof-capture-types.h.
 */

#include "flam-load.h"

typedef struct
{
  GHashTable *known; /* id -> 1 + number in `all` */
  GArray *all;       /* FlamSysprofCounter */
  guint64 unknown;   /* values of counters that are not defined */
  guint64 infinite;  /* values that are not numbers */
} FlamSysprofCounters;

void flam_sysprof_counters_init (FlamSysprofCounters *counters, FlamLoad *load);
/* The body of a frame, after its head. */
void flam_sysprof_counters_define (FlamSysprofCounters *counters,
                                   gint64 time,
                                   const guint8 *body,
                                   gsize length);
void flam_sysprof_counters_set (FlamSysprofCounters *counters,
                                gint64 time,
                                const guint8 *body,
                                gsize length);
/* Adds them, their values in order of time; warns of unknown ones. */
void flam_sysprof_counters_finish (FlamSysprofCounters *counters,
                                   FlamBuilder *builder);

#endif
