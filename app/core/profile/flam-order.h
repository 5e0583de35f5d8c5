/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ORDER_H
#define FLAM_ORDER_H

/* Rows in order of time, without a comparison: from the lowest byte of the
 * times to the highest, they are distributed by that byte, and those with the
 * same byte keep their order. Instead of n * log n comparisons, this takes at
 * most eight passes over the rows, and none for bytes that all times share:
 *
 *    time   0x0203 0x0102 0x0202 0x0103
 *    row         0      1      2      3
 *    byte 0      1      2      0      3     ..02 ..02 ..03 ..03
 *    byte 1      1      3      2      0     0102 0103 0202 0203 */

#include <glib.h>

G_BEGIN_DECLS

/* Rows with the same time keep their order. FALSE: they were in order. */
gboolean flam_order_by_time (guint32 *order, guint32 n, const gint64 *times);
/* to[i] = from[order[i]], of elements of that size. */
void flam_order_take (gpointer to,
                      gconstpointer from,
                      guint size,
                      guint32 n,
                      const guint32 *order);

G_END_DECLS

#endif
