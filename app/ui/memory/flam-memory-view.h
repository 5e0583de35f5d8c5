/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MEMORY_VIEW_H
#define FLAM_MEMORY_VIEW_H

/* The page about the memory as a whole: what was allocated, temporary, at the
 * peak and leaked (which also selects the measure), the sizes of blocks, and
 * tables of allocators (which selects those that count), threads and suppressed
 * leaks. */

#include "flam-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_MEMORY_VIEW (flam_memory_view_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamMemoryView, flam_memory_view, FLAM, MEMORY_VIEW, FlamPage)

G_END_DECLS

#endif
