/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-peak-tracker.h"

void
flam_peak_tracker_init (FlamPeakTracker *tracker,
                        gconstpointer blank,
                        guint site_size)
{
  *tracker = (FlamPeakTracker){ .blank = blank };
  flam_column_init (&tracker->sites, site_size);
  flam_interner_init (&tracker->index);
}

void
flam_peak_tracker_clear (FlamPeakTracker *tracker)
{
  flam_column_clear (&tracker->sites);
  flam_interner_clear (&tracker->index);
}

static FlamPeakSite *
site_at (const FlamPeakTracker *tracker, gsize i)
{
  char *sites = tracker->sites.data;

  return (FlamPeakSite *)(gpointer)(sites + i * tracker->sites.element_size);
}

static guint32
site_key_hash (const FlamSiteKey *key)
{
  return flam_hash_pair ((guint64)key->thread << 32 | key->stack,
                         (guint64)key->size << 4 | key->allocator) +
         key->each * 0x9e3779b1u;
}

static gboolean
site_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  return flam_site_key_equal (&site_at (table, row)->key, key);
}

guint32
flam_peak_tracker_add_site (FlamPeakTracker *tracker, const FlamSiteKey *key)
{
  FlamPeakSite *site = flam_column_push (&tracker->sites);

  memcpy (site, tracker->blank, tracker->sites.element_size);
  site->key = *key;
  return tracker->sites.n - 1;
}

guint32
flam_peak_tracker_find_site (FlamPeakTracker *tracker, const FlamSiteKey *key)
{
  guint32 hash = site_key_hash (key);
  FlamSlot *slot =
      flam_interner_find (&tracker->index, hash, site_equal, tracker, key);

  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, tracker->sites.n };
  tracker->index.used++;
  return flam_peak_tracker_add_site (tracker, key);
}

void
flam_peak_tracker_finish (FlamPeakTracker *tracker)
{
  flam_peak_tracker_end_rise (tracker);
  for (gsize i = 0; i < tracker->sites.n; i++)
    flam_peak_tracker_note (tracker, site_at (tracker, i));
}
