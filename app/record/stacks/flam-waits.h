/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_WAITS_H
#define FLAM_WAITS_H

/* The frame pointers with which a thread has waited. A thread that sleeps is
 * read without a stop, so its frame pointer is unknown; if its stack cannot be
 * followed without, it is stopped once:
 *
 *   asleep   pc, rsp, ?        ──▶ cut off ──▶ a stop
 *   stopped  pc, rsp, rbp      ──▶ kept, with the two words at rbp
 *   asleep   the same pc, rsp  ──▶ rbp, if these words are the same
 *
 * Two words that are those of the frame, the saved rbp and the return address,
 * at the same place below the same rsp: it is the same frame. */

#include "flam-unwind-rows.h"

#include <glib.h>

typedef struct _FlamWaits FlamWaits;

void flam_waits_free (FlamWaits *waits);
/* `waits` is made when it is needed. */
void flam_waits_keep (FlamWaits **waits,
                      const FlamUnwindMemory *stack,
                      guint64 pc,
                      guint64 bp);
/* FALSE: unknown. */
gboolean flam_waits_find (const FlamWaits *waits,
                          const FlamUnwindMemory *stack,
                          guint64 pc,
                          guint64 *bp);

#endif
