/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DATES_H
#define FLAM_DATES_H

/* Marks of an axis of dates: at midnight, on the first of a month, at full
 * hours, by the calendar of a time zone. */

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gint64 date; /* ns since 1970 */
  char *text;  /* as much of the date as the distance of the marks requires */
} FlamDateMark;

/* The marks from `from` to `to` (ns since 1970), about one for each `room`
 * pixels of `width`, in order; at most 100. g_array_unref. */
GArray *flam_dates_marks (
    gint64 from, gint64 to, double width, double room, GTimeZone *zone);
/* "2026-11-23 14:05", followed by the zone if `with_zone`; g_free. */
char *flam_dates_text (gint64 date, GTimeZone *zone, gboolean with_zone);

G_END_DECLS

#endif
