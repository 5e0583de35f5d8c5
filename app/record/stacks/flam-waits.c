/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-waits.h"

#include <string.h>

#define KEPT 16

typedef struct
{
  guint64 pc; /* 0: free */
  guint64 sp;
  guint64 bp;
  guint64 words[2];
} Wait;

struct _FlamWaits
{
  Wait list[KEPT];
  guint next; /* the one that is replaced next */
};

void
flam_waits_free (FlamWaits *waits)
{
  g_free (waits);
}

static gboolean
words_at (const FlamUnwindMemory *stack, guint64 bp, guint64 words[2])
{
  guint64 at = bp - stack->base;

  if (at >= stack->size || stack->size - at < 2 * sizeof *words)
    return FALSE;
  memcpy (words, (const char *)stack->copy + at, 2 * sizeof *words);
  return TRUE;
}

static Wait *
find (FlamWaits *waits, guint64 pc, guint64 sp)
{
  for (guint i = 0; i < KEPT; i++)
    if (waits->list[i].pc == pc && waits->list[i].sp == sp)
      return &waits->list[i];
  return NULL;
}

void
flam_waits_keep (FlamWaits **waits,
                 const FlamUnwindMemory *stack,
                 guint64 pc,
                 guint64 bp)
{
  Wait wait = { .pc = pc, .sp = stack->base, .bp = bp };
  Wait *known;

  if (!words_at (stack, bp, wait.words))
    return;
  if (*waits == NULL)
    *waits = g_new0 (FlamWaits, 1);
  known = find (*waits, pc, stack->base);
  if (known == NULL)
    {
      known = &(*waits)->list[(*waits)->next];
      (*waits)->next = ((*waits)->next + 1) % KEPT;
    }
  *known = wait;
}

gboolean
flam_waits_find (const FlamWaits *waits,
                 const FlamUnwindMemory *stack,
                 guint64 pc,
                 guint64 *bp)
{
  const Wait *known =
      waits != NULL ? find ((FlamWaits *)waits, pc, stack->base) : NULL;
  guint64 words[2];

  if (known == NULL || !words_at (stack, known->bp, words) ||
      memcmp (words, known->words, sizeof words) != 0)
    return FALSE;
  *bp = known->bp;
  return TRUE;
}
