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

#define FLAM_PYTHON_PAGES_HINTS 48

/* Which pages were needed. */
typedef struct
{
  guint n;
  guint64 pages[FLAM_PYTHON_PAGES_HINTS];
} FlamPythonHints;

typedef struct _FlamPythonPages FlamPythonPages;

FlamPythonPages *flam_python_pages_new (void);
void flam_python_pages_free (FlamPythonPages *pages);
/* Drops all pages, and copies those in `hints`. */
void flam_python_pages_begin (FlamPythonPages *pages,
                              pid_t tid,
                              const FlamPythonHints *hints);
/* The read function of a FlamRuntimeMemory. */
bool flam_python_pages_read (gpointer pages,
                             guint64 address,
                             gpointer to,
                             gsize size);
/* Stores in `hints` the pages that were read since. */
void flam_python_pages_end (FlamPythonPages *pages, FlamPythonHints *hints);
