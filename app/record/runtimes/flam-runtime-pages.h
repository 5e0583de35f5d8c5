/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The memory of a stopped thread, by pages: the pages that the last walk needed
 * are copied in one call; a missing page then takes a call of its own; for a
 * deep chain one call reads several pages. At most 1 MiB is kept.
 *
 *   last time  │ thread state │ frames │ stack │
 *   now        └──────────── one call ─────────┘ + a new page */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#define FLAM_RUNTIME_PAGES_HINTS 48

/* Which pages were needed. */
typedef struct
{
  guint n;
  guint64 pages[FLAM_RUNTIME_PAGES_HINTS];
} FlamRuntimeHints;

typedef struct _FlamRuntimePages FlamRuntimePages;

FlamRuntimePages *flam_runtime_pages_new (void);
void flam_runtime_pages_free (FlamRuntimePages *pages);
/* Drops all pages. Those in `hints` are copied at the first read. */
void flam_runtime_pages_begin (FlamRuntimePages *pages,
                               pid_t tid,
                               const FlamRuntimeHints *hints);
/* The read function of a FlamRuntimeMemory. */
bool flam_runtime_pages_read (gpointer pages,
                              guint64 address,
                              gpointer to,
                              gsize size);
/* Stores in `hints` the pages that were read since. */
void flam_runtime_pages_end (FlamRuntimePages *pages, FlamRuntimeHints *hints);
