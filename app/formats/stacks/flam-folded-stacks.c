/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Distinct texts of folded stacks into stacks, by one core. The frames that a
 * stack shares with the one before are reused, and only the rest is interned:
 *
 *    last     main ; parse ; read          ends   4   10   15
 *    stacks   0      1       2
 *    text     main ; parse ; write;poll    shared ^ 11 bytes: starts at stack 1
 */

#include "flam-folded.h"

#include <string.h>

static FlamId
find_frame (FlamFoldedStacks *stacks, const char *name, gsize length)
{
  gboolean is_new;
  FlamId row =
      flam_pieces_find (&stacks->frames, name, length, FLAM_NONE, &is_new);

  if (is_new)
    *flam_pieces_value (&stacks->frames, row) =
        flam_folded_frame (&stacks->names, name, length);
  return *flam_pieces_value (&stacks->frames, row);
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

/* Drops the frames from `last` that the new stack does not begin with; returns
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
void
flam_folded_stacks_add (FlamFoldedStacks *stacks,
                        const char *text,
                        gsize length,
                        FlamFoldedSample *sample)
{
  gsize at = keep_shared (stacks, text, length);
  gsize n = stacks->last_stacks.n;

  sample->stack =
      n > 0 ? flam_column_at (&stacks->last_stacks, FlamId, n - 1) : FLAM_NONE;
  sample->thread =
      n > 0 ? flam_column_at (&stacks->last_threads, FlamId, n - 1) : FLAM_NONE;
  if (n == 0)
    stacks->names.process = FLAM_NONE;
  stacks->path.n = 0;
  while (at < length)
    {
      const char *stop = memchr (text + at, ';', length - at);
      gsize end = stop != NULL ? (gsize)(stop - text) : length;
      gboolean begun = sample->stack != FLAM_NONE || stacks->path.n > 0;

      flam_column_append (&stacks->last_ends, guint32, end);
      if (!begun && flam_folded_thread (
                        &stacks->names, text + at, end - at, &sample->thread))
        {
          flam_column_append (&stacks->last_stacks, FlamId, FLAM_NONE);
          flam_column_append (&stacks->last_threads, FlamId, sample->thread);
        }
      else
        flam_column_append (
            &stacks->path, FlamId, find_frame (stacks, text + at, end - at));
      at = end + 1;
    }
  push_path (stacks, sample);
  if (sample->thread == FLAM_NONE)
    sample->thread = flam_folded_main_thread (&stacks->names);
}

void
flam_folded_stacks_init (FlamFoldedStacks *stacks,
                         FlamBuilder *builder,
                         const FlamSource *source)
{
  *stacks = (FlamFoldedStacks){ .builder = builder, .last = "" };
  flam_folded_names_init (&stacks->names, builder, source);
  flam_pieces_init (&stacks->frames);
  flam_pieces_copy (&stacks->frames);
  flam_column_init (&stacks->path, sizeof (FlamId));
  flam_column_init (&stacks->last_ends, sizeof (guint32));
  flam_column_init (&stacks->last_stacks, sizeof (FlamId));
  flam_column_init (&stacks->last_threads, sizeof (FlamId));
}

void
flam_folded_stacks_clear (FlamFoldedStacks *stacks)
{
  flam_pieces_clear (&stacks->frames);
  flam_column_clear (&stacks->path);
  flam_column_clear (&stacks->last_ends);
  flam_column_clear (&stacks->last_stacks);
  flam_column_clear (&stacks->last_threads);
}
