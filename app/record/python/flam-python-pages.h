/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A stopped thread's memory, by pages: those that the last look at it needed
 * are copied in one call, what is missing then costs a call each; where that is
 * much, a call for several. No more than 1 MiB is kept.
 *
 *   last time  │ thread state │ frames │ stack │
 *   now        └──────────── one call ─────────┘ + a page that is new
 */

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
/* Drops all, and copies what `hints` names. */
void flam_python_pages_begin (FlamPythonPages *pages,
                              pid_t tid,
                              const FlamPythonHints *hints);
/* A FlamPythonMemory's. */
bool flam_python_pages_read (gpointer pages,
                             guint64 address,
                             gpointer to,
                             gsize size);
/* What was read since. */
void flam_python_pages_end (FlamPythonPages *pages, FlamPythonHints *hints);
