/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ALLOC_RUNTIMES_H
#define FLAM_ALLOC_RUNTIMES_H

/* Runtimes that keep their language's objects in a heap of their own, not in
 * malloc blocks: of such a program only the runtime's own allocations are
 * recorded. */

#include <glib.h>

typedef struct
{
  const char *sentence; /* names a tool for that heap */
  const char *mapped;   /* the same if the memory that it maps is recorded */
  const char *mapper;   /* "[mapped by Go]" */
} FlamAllocRuntime;

/* For a mapped file, or NULL. Go programs are recognized by a section of the
 * file, others by its name. */
const FlamAllocRuntime *flam_alloc_runtime (const char *path);

#endif
