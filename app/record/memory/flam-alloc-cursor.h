/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ALLOC_CURSOR_H
#define FLAM_ALLOC_CURSOR_H

/* The reader's position in a ring. The content of the ring is the target's and
 * may change at any time: counts of bytes may have any value and wrap around,
 * so that the rest is computed as a difference, never more than a ring's size
 * and never less than 0; the size of a record is read only once.
 *
 *        at                  end           head
 *   ──────┬─ size ─┬──────────┬─────────────┬──
 *         │ next   │ of this  │ of the next │
 *         │ event  │ round    │ round       │
 */

#include "flam-alloc-shared.h"

#include <glib.h>
#include <string.h>

typedef struct
{
  FlamAllocRing *ring;
  guint64 at;       /* bytes read */
  guint64 end;      /* bytes published in this round */
  guint64 ticks;    /* of the next event; G_MAXUINT64 none */
  guint size;       /* of the next event */
  gboolean damaged; /* the ring held invalid records */
} FlamAllocCursor;

static inline const guint8 *
flam_alloc_cursor_record (const FlamAllocCursor *cursor)
{
  return cursor->ring->data + cursor->at % FLAM_ALLOC_RING_DATA;
}

static inline guint
flam_alloc_record_size (unsigned op, guint64 at)
{
  if (op == FLAM_ALLOC_OP_PAD)
    return FLAM_ALLOC_RING_DATA - at % FLAM_ALLOC_RING_DATA;
  if (op == FLAM_ALLOC_OP_LEVEL)
    return sizeof (FlamAllocLevel);
  return op == FLAM_ALLOC_OP_FREE ? sizeof (FlamAllocFree)
                                  : sizeof (FlamAllocBlock);
}

/* Skips records that are not events, and reads the time of the next event. */
static inline void
flam_alloc_cursor_look_ahead (FlamAllocCursor *cursor)
{
  guint64 left;

  cursor->ticks = G_MAXUINT64;
  while ((left = cursor->end - cursor->at) >= sizeof (FlamAllocFree))
    {
      guint64 stamp;
      unsigned op;

      memcpy (&stamp, flam_alloc_cursor_record (cursor), sizeof stamp);
      op = FLAM_ALLOC_STAMP_OP (stamp);
      cursor->size = flam_alloc_record_size (op, cursor->at);
      if (cursor->size > left)
        break;
      if (G_LIKELY (op != FLAM_ALLOC_OP_PAD))
        {
          cursor->ticks = FLAM_ALLOC_STAMP_TICKS (stamp);
          return;
        }
      cursor->at += cursor->size;
    }
  /* Records are published completely, never in part. */
  cursor->damaged = cursor->damaged || left > 0;
  cursor->at = cursor->end;
}

/* Moves behind the event that was read. */
static inline void
flam_alloc_cursor_skip (FlamAllocCursor *cursor)
{
  cursor->at += cursor->size;
}

/* Takes the bytes published up to now. */
static inline void
flam_alloc_cursor_begin_round (FlamAllocCursor *cursor)
{
  cursor->end = __atomic_load_n (&cursor->ring->head, __ATOMIC_ACQUIRE);
  if (cursor->end - cursor->at > FLAM_ALLOC_RING_DATA)
    {
      cursor->damaged = TRUE;
      cursor->at = cursor->end;
    }
  flam_alloc_cursor_look_ahead (cursor);
}

/* The writer may be waiting for space in the ring. */
static inline void
flam_alloc_cursor_say_read (const FlamAllocCursor *cursor)
{
  __atomic_store_n (&cursor->ring->tail, cursor->at, __ATOMIC_RELEASE);
}

#endif
