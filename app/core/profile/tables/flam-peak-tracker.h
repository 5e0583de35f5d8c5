/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PEAK_TRACKER_H
#define FLAM_PEAK_TRACKER_H

/* The state of a heap after events of allocation and release: how many blocks
 * of each site are live, and how many were at the high-water mark, exactly, at
 * the cost of one comparison per event.
 *
 * The mark moves with almost every event while a program grows, so nothing may
 * be copied then. Instead, the first event that does not raise the mark ends
 * the rise and begins a new epoch; a site that changes for the first time in an
 * epoch has not changed since the mark, so its count is saved first:
 *
 *    event   live  highest  epoch   site: live  at_peak (epoch)
 *     +       1       1       0             1      0  (0)
 *     +       2       2       0             2      0  (0)    <- the mark so far
 *     -       1       2       1             1      2  (1)
 *     +       2       2       1             2      2  (1)
 *     +       3       3       1             3      2  (1)    <- a new mark
 *     -       2       3       2             2      3  (2)
 *
 * Of equal marks the first one counts, unless `last` is set. */

#include "flam-columns.h"

G_BEGIN_DECLS

/* Blocks that have all of this in common form a site. */
typedef struct
{
  gint64 size;
  FlamStackId stack;
  FlamThreadId thread;
  guint32 each;      /* the number of the program's blocks that each represents
                        (sampling) */
  guint32 allocator; /* FlamAllocator */
} FlamSiteKey;

typedef struct
{
  FlamSiteKey key;
  gint64 live; /* blocks */
  gint64 at_peak;
  guint64 epoch; /* the epoch in which at_peak was saved */
} FlamPeakSite;

typedef struct
{
  FlamColumn sites; /* the caller's structs, a FlamPeakSite first */
  FlamInterner index;
  gconstpointer blank; /* the initial value of a site */
  gint64 live;         /* bytes */
  gint64 highest;      /* the maximum of live bytes, */
  gint64 highest_time; /* and its time, by the caller's clock */
  guint64 epoch;
  gboolean rising;   /* `live` is at a new mark */
  gboolean last;     /* of equal marks, the last one counts */
  gboolean overflow; /* the sizes together exceeded 2^63: nothing is valid */
} FlamPeakTracker;

static inline gboolean
flam_site_key_equal (const FlamSiteKey *a, const FlamSiteKey *b)
{
  return a->stack == b->stack && a->size == b->size && a->thread == b->thread &&
         a->each == b->each && a->allocator == b->allocator;
}

/* `blank`: `site_size` bytes that are valid as long as the tracker. */
void flam_peak_tracker_init (FlamPeakTracker *tracker,
                             gconstpointer blank,
                             guint site_size);
void flam_peak_tracker_clear (FlamPeakTracker *tracker);

/* A new site; the numbers of sites count up from 0. */
guint32 flam_peak_tracker_add_site (FlamPeakTracker *tracker,
                                    const FlamSiteKey *key);
/* The same, or the equal site that exists already. */
guint32 flam_peak_tracker_find_site (FlamPeakTracker *tracker,
                                     const FlamSiteKey *key);

static inline void
flam_peak_tracker_end_rise (FlamPeakTracker *tracker)
{
  if (G_LIKELY (!tracker->rising))
    return;
  tracker->rising = FALSE;
  tracker->epoch++;
}

static inline void
flam_peak_tracker_note (const FlamPeakTracker *tracker, FlamPeakSite *site)
{
  if (site->epoch == tracker->epoch)
    return;
  site->at_peak = site->live;
  site->epoch = tracker->epoch;
}

/* One more block of this site. `bytes`: 0 for memory that does not count as
 * part of the heap. */
static inline void
flam_peak_tracker_raise (FlamPeakTracker *tracker,
                         FlamPeakSite *site,
                         gint64 bytes,
                         gint64 time)
{
  if (G_UNLIKELY (
          __builtin_add_overflow (tracker->live, bytes, &tracker->live)))
    tracker->overflow = TRUE;
  if (tracker->live > tracker->highest - tracker->last)
    {
      tracker->highest = tracker->live;
      tracker->highest_time = time;
      tracker->rising = TRUE;
    }
  else
    {
      flam_peak_tracker_end_rise (tracker);
      flam_peak_tracker_note (tracker, site);
    }
  site->live++;
}

static inline void
flam_peak_tracker_lower (FlamPeakTracker *tracker,
                         FlamPeakSite *site,
                         gint64 bytes)
{
  flam_peak_tracker_end_rise (tracker);
  flam_peak_tracker_note (tracker, site);
  site->live--;
  tracker->live = (gint64)((guint64)tracker->live - (guint64)bytes);
}

/* For sites whose bytes are estimates: the exact amount has changed. */
static inline void
flam_peak_tracker_move (FlamPeakTracker *tracker, gint64 bytes, gint64 time)
{
  if (G_UNLIKELY (
          __builtin_add_overflow (tracker->live, bytes, &tracker->live)))
    tracker->overflow = TRUE;
  if (tracker->live > tracker->highest)
    {
      tracker->highest = tracker->live;
      tracker->highest_time = time;
      tracker->rising = TRUE;
    }
  else
    flam_peak_tracker_end_rise (tracker);
}

/* After the last event: makes at_peak valid for every site. */
void flam_peak_tracker_finish (FlamPeakTracker *tracker);

/* How certain it is that blocks allocated and freed together were live at the
 * peak: 3 if they were there before and after that time, 1 if both happened in
 * it, 0 if they were not. */
static inline guint
flam_peak_tracker_certainty (gint64 born, gint64 died, gint64 peak)
{
  return born > peak || died < peak ? 0 : 1 + (born < peak) + (died > peak);
}

/* Of the `left` blocks of a site that were live at the peak, those that are
 * among `count`; subtracted from `left`. Take the most certain ones first. */
static inline gint64
flam_peak_tracker_share (gint64 *left, gint64 count)
{
  gint64 share = CLAMP (*left, 0, count);

  *left -= share;
  return share;
}

G_END_DECLS

#endif
