/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ALLOC_ATTACH_H
#define FLAM_ALLOC_ATTACH_H

/* The allocation library in a process that runs already: one of its threads, at
 * a safe point, is made to call dlopen() and then the library, which changes
 * the slots through which functions call the allocator; at the end it changes
 * them back (preload/flam-preload-slots.c). The library stays loaded, without
 * any effect, as the program may have kept pointers to its functions; it is
 * used again by the next recording.
 *
 * The children that the process forks meanwhile inherit the hooks. If children
 * are recorded too, they are released likewise at the end; if not, their hooks
 * pass everything on to the allocator.
 *
 * Threads must be traced by the calling one. */

#include "flam-inject.h"
#include "flam-remote.h"

typedef struct _FlamAllocAttached FlamAllocAttached;

/* The reason why that is not possible, which continues a sentence after "it ";
 * NULL if none is known. Best before the process is traced. */
const char *flam_alloc_attach_obstacle (const FlamInjection *injection,
                                        pid_t pid);
/* NULL with the reason, g_free, which continues a sentence after "it ". It is
 * translatable up to a colon. */
FlamAllocAttached *flam_alloc_attach (const FlamInjection *injection,
                                      const FlamTracing *tracing,
                                      pid_t pid,
                                      char **why);
/* For a forked child, which has the same code in the same places. */
FlamAllocAttached *flam_alloc_attached_copy (const FlamAllocAttached *parent,
                                             pid_t pid);
/* Restores the process, and frees. FALSE: no thread could be used; the hooks
 * remain, and do nothing. */
gboolean flam_alloc_detach (FlamAllocAttached *attached,
                            const FlamTracing *tracing);
/* After the end of the process, or its exec. */
void flam_alloc_attached_free (FlamAllocAttached *attached);

#endif
