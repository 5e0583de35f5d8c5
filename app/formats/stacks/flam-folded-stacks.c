/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Distinct texts of folded stacks into stacks, by one core. The frames that a
 * stack shares with the one before are reused, and only the rest is interned:
 *
 *    last     main ; parse ; read          ends   4   10   15
 *    stacks   0      1       2
 *    text     main ; parse ; write;poll    shared ^ 11 bytes: starts at stack 1
 *
 * The names of the rest are looked up together: they may be anywhere in a table
 * that is larger than the processor's cache, and the data of each is prefetched
 * before the first is looked up. They are identified by their fingerprints,
 * since their texts would be in yet another place. */

#include "flam-folded.h"

#include <string.h>

#define BATCH 64

/* A text between semicolons. */
typedef struct
{
  const char *text;
  gsize length;
  FlamFingerprint print;
} Name;

typedef struct
{
  FlamFingerprint print;
  FlamFrameId frame;
} Known;

static gboolean
known_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  return flam_fingerprint_equal (&((const Known *)table + row)->print, key);
}

static FlamFrameId
find_frame (FlamFoldedStacks *stacks, const Name *name)
{
  guint32 hash = (guint32)name->print.a;
  FlamSlot *slot = flam_interner_find (
      &stacks->interner, hash, known_equal, stacks->known.data, &name->print);
  Known known = { name->print, FLAM_NONE };

  if (slot->id != FLAM_NONE)
    return flam_column_at (&stacks->known, Known, slot->id).frame;
  *slot = (FlamSlot){ hash, stacks->known.n };
  stacks->interner.used++;
  known.frame = flam_folded_frame (&stacks->names, name->text, name->length);
  flam_column_append (&stacks->known, Known, known);
  return known.frame;
}

/* Takes up to BATCH names from the text, starting at `*at`. */
static guint
take_names (FlamFoldedStacks *stacks,
            const char *text,
            gsize length,
            gsize *at,
            Name *names)
{
  guint n = 0;

  for (; n < BATCH && *at < length; n++)
    {
      const char *start = text + *at;
      const char *stop = memchr (start, ';', length - *at);
      Name *name = &names[n];

      if (stop == NULL)
        stop = text + length;
      name->text = start;
      name->length = stop - start;
      name->print = flam_fingerprint (stacks->key, start, name->length);
      flam_interner_prefetch (&stacks->interner, (guint32)name->print.a);
      *at = stop - text + 1;
    }
  return n;
}

static gsize
common_length (const char *a, const char *b, gsize length)
{
  gsize i = 0;
  guint64 x, y;

  for (; i + 8 <= length; i += 8)
    {
      memcpy (&x, a + i, 8);
      memcpy (&y, b + i, 8);
      if (x != y)
        break;
    }
  while (i < length && a[i] == b[i])
    i++;
  return i;
}

/* Drops the frames from `last` with which the new stack does not begin; returns
 * the start of its first frame after the shared ones. */
static gsize
keep_shared (FlamFoldedStacks *stacks, const char *stack, gsize length)
{
  gsize shared =
      common_length (stacks->last, stack, MIN (stacks->last_length, length));
  gsize n = stacks->last_ends.n;

  while (n > 0 && flam_column_at (&stacks->last_ends, guint32, n - 1) >= shared)
    n--;
  stacks->last_ends.n = n;
  stacks->last_stacks.n = n;
  stacks->last_threads.n = n;
  stacks->last = stack;
  stacks->last_length = length;
  return n > 0 ? flam_column_at (&stacks->last_ends, guint32, n - 1) + 1 : 0;
}

static void
push_path (FlamFoldedStacks *stacks, FlamFoldedSample *sample)
{
  gsize n = stacks->path.n;
  gsize had = stacks->last_stacks.n;
  FlamId *ids;

  if (n == 0)
    return;
  flam_column_reserve (&stacks->last_stacks, had + n);
  ids = &flam_column_at (&stacks->last_stacks, FlamId, had);
  flam_builder_stack_path (
      stacks->builder, sample->stack, stacks->path.data, n, ids);
  stacks->last_stacks.n = had + n;
  for (gsize i = 0; i < n; i++)
    flam_column_append (&stacks->last_threads, FlamId, sample->thread);
  sample->stack = ids[n - 1];
}

/* The text before the first frame may identify the thread. */
static void
push_name (FlamFoldedStacks *stacks, const Name *name, FlamFoldedSample *sample)
{
  gboolean begun = sample->stack != FLAM_NONE || stacks->path.n > 0;

  flam_column_append (&stacks->last_ends,
                      guint32,
                      (guint32)(name->text + name->length - stacks->last));
  if (!begun && flam_folded_thread (
                    &stacks->names, name->text, name->length, &sample->thread))
    {
      flam_column_append (&stacks->last_stacks, FlamId, FLAM_NONE);
      flam_column_append (&stacks->last_threads, FlamId, sample->thread);
    }
  else
    flam_column_append (&stacks->path, FlamId, find_frame (stacks, name));
}

void
flam_folded_stacks_add (FlamFoldedStacks *stacks,
                        const char *text,
                        gsize length,
                        FlamFoldedSample *sample)
{
  gsize at = keep_shared (stacks, text, length);
  gsize n = stacks->last_stacks.n;
  Name names[BATCH];

  sample->stack =
      n > 0 ? flam_column_at (&stacks->last_stacks, FlamId, n - 1) : FLAM_NONE;
  sample->thread =
      n > 0 ? flam_column_at (&stacks->last_threads, FlamId, n - 1) : FLAM_NONE;
  if (n == 0)
    stacks->names.process = FLAM_NONE;
  stacks->path.n = 0;
  while (at < length)
    {
      guint taken = take_names (stacks, text, length, &at, names);

      for (guint i = 0; i < taken; i++)
        flam_interner_prefetch_row (
            &stacks->interner, (guint32)names[i].print.a, &stacks->known);
      for (guint i = 0; i < taken; i++)
        push_name (stacks, &names[i], sample);
    }
  push_path (stacks, sample);
  if (sample->thread == FLAM_NONE)
    sample->thread = flam_folded_main_thread (&stacks->names);
}

void
flam_folded_stacks_init (FlamFoldedStacks *stacks,
                         FlamBuilder *builder,
                         const FlamSource *source,
                         const FlamFingerprintKey *key)
{
  *stacks = (FlamFoldedStacks){ .builder = builder, .key = key, .last = "" };
  flam_folded_names_init (&stacks->names, builder, source);
  flam_column_init (&stacks->known, sizeof (Known));
  flam_interner_init (&stacks->interner);
  flam_column_init (&stacks->path, sizeof (FlamId));
  flam_column_init (&stacks->last_ends, sizeof (guint32));
  flam_column_init (&stacks->last_stacks, sizeof (FlamId));
  flam_column_init (&stacks->last_threads, sizeof (FlamId));
}

void
flam_folded_stacks_clear (FlamFoldedStacks *stacks)
{
  flam_column_clear (&stacks->known);
  flam_interner_clear (&stacks->interner);
  flam_column_clear (&stacks->path);
  flam_column_clear (&stacks->last_ends);
  flam_column_clear (&stacks->last_stacks);
  flam_column_clear (&stacks->last_threads);
}
