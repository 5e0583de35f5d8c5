/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RUNTIME_PAGES_H
#define FLAM_RUNTIME_PAGES_H

/* The memory of a thread, by pages. The memory that a walk will probably need
 * is copied in one call: the stack, and the parts of pages that the last walks
 * needed. Each page that is missing takes a call of its own; for a deep chain
 * one call reads several. At most 1 MiB is kept, besides the stack.
 *
 *   last times  │ thread state │ frames │ ... │
 *   now     stack └──────── one call ─────────┘ + a new page */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#define FLAM_RUNTIME_PAGES_HINTS 48

/* A part of a page. */
typedef struct
{
  guint16 from;
  guint16 to;
} FlamRuntimePart;

typedef struct
{
  guint64 page;
  FlamRuntimePart part; /* to be copied */
  FlamRuntimePart last; /* needed by the last walk that needed any */
  guint unused;         /* walks since then */
} FlamRuntimeHint;

/* The pages that were needed. */
typedef struct
{
  guint n;
  FlamRuntimeHint hints[FLAM_RUNTIME_PAGES_HINTS];
} FlamRuntimeHints;

typedef struct _FlamRuntimePages FlamRuntimePages;

FlamRuntimePages *flam_runtime_pages_new (void);
void flam_runtime_pages_free (FlamRuntimePages *pages);
/* Drops all pages. At the first read, those in `hints` are copied, which must
 * stay valid until the end, and `n_stack` bytes from `sp` on. */
void flam_runtime_pages_begin (FlamRuntimePages *pages,
                               pid_t tid,
                               const FlamRuntimeHints *hints,
                               guint64 sp,
                               gsize n_stack);
/* The read function of a FlamRuntimeMemory. */
bool flam_runtime_pages_read (gpointer pages,
                              guint64 address,
                              gpointer to,
                              gsize size);
/* The bytes of the stack that were copied; NULL: none. Valid until the next
 * begin. */
gconstpointer flam_runtime_pages_stack (const FlamRuntimePages *pages,
                                        gsize *size);
/* Stores the reads since then in `hints`. */
void flam_runtime_pages_end (FlamRuntimePages *pages, FlamRuntimeHints *hints);

#endif
