/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

/* The memory of a process, written by a test: SIZE bytes at BASE, which the
 * test defines before it includes this. */

#include "flam-runtime-memory.h"

#include <glib.h>

typedef struct
{
  guint8 bytes[SIZE];
  guint texts; /* the number of texts so far, for the test */
  guint reads;
} Fake;

static inline bool
read_fake (void *data, uint64_t address, void *to, size_t size)
{
  Fake *fake = data;

  fake->reads++;
  if (address < BASE || size > SIZE || address - BASE > SIZE - size)
    return false;
  memcpy (to, fake->bytes + (address - BASE), size);
  return true;
}

static inline void
put (Fake *fake, guint64 address, guint64 value)
{
  memcpy (fake->bytes + (address - BASE), &value, sizeof value);
}

#endif
