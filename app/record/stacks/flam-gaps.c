/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-gaps.h"

/* Of random ticks, one gap in nine million is longer than this many periods. */
#define MOST_PERIODS 16
/* Children that run at the same time leave as many gaps open. */
#define MOST_OPEN 64

typedef struct
{
  FlamStackId stack; /* of the sample before it; FLAM_NONE: none */
  GArray *pieces;
  gint64 cpu; /* their sum */
} Gap;

struct _FlamGaps
{
  gint64 period;
  FlamGapPut put;
  gpointer data;
  GQueue open; /* of Gap, the oldest first */
};

FlamGaps *
flam_gaps_new (gint64 period, FlamGapPut put, gpointer data)
{
  FlamGaps *gaps = g_new0 (FlamGaps, 1);

  gaps->period = period;
  gaps->put = put;
  gaps->data = data;
  g_queue_init (&gaps->open);
  return gaps;
}

static void
gap_free (Gap *gap)
{
  g_array_unref (gap->pieces);
  g_free (gap);
}

/* Hands over the part of the piece that is within `cpu` ns, and subtracts
 * it. */
static void
put_part (FlamGaps *gaps, FlamGapPiece *piece, gint64 cpu, FlamStackId stack)
{
  FlamGapPiece part = *piece;

  part.cpu = CLAMP (cpu, 0, piece->cpu);
  if (part.cpu < piece->cpu)
    part.ran =
        (gint64)((double)piece->ran * (double)part.cpu / (double)piece->cpu);
  if (part.cpu > 0 || part.ran > 0)
    gaps->put (gaps->data, &part, stack);
  piece->cpu -= part.cpu;
  piece->ran -= part.ran;
}

/* The first `cpu` ns with one stack, the rest with another. */
static void
put_pieces (FlamGaps *gaps, Gap *gap, gint64 cpu, FlamId before, FlamId after)
{
  for (guint i = 0; i < gap->pieces->len; i++)
    {
      FlamGapPiece *piece = &g_array_index (gap->pieces, FlamGapPiece, i);
      gint64 left = piece->cpu;

      put_part (gaps, piece, cpu, before);
      put_part (gaps, piece, piece->cpu, after);
      cpu = MAX (cpu - left, 0);
    }
}

/* No sample follows: the time near the previous sample belongs to it. */
static void
put_last (FlamGaps *gaps, Gap *gap)
{
  put_pieces (gaps,
              gap,
              gap->stack != FLAM_NONE ? gaps->period : 0,
              gap->stack,
              FLAM_NONE);
  gap_free (gap);
}

void
flam_gaps_free (FlamGaps *gaps)
{
  Gap *gap;

  while ((gap = g_queue_pop_head (&gaps->open)) != NULL)
    put_last (gaps, gap);
  g_free (gaps);
}

void
flam_gaps_begin (FlamGaps *gaps, FlamGapPiece *head, FlamStackId stack)
{
  Gap *gap = g_queue_pop_head (&gaps->open);
  gint64 total, half;

  if (gap == NULL)
    return;
  total = gap->cpu + head->cpu;
  if (total > MOST_PERIODS * gaps->period)
    {
      put_last (gaps, gap);
      return;
    }
  half = gap->stack != FLAM_NONE ? total / 2 : 0;
  put_pieces (gaps, gap, half, gap->stack, stack);
  if (half > gap->cpu)
    put_part (gaps, head, half - gap->cpu, gap->stack);
  gap_free (gap);
}

void
flam_gaps_end (FlamGaps *gaps, const FlamGapPiece *rest, FlamStackId stack)
{
  Gap *gap = g_queue_peek_tail (&gaps->open);

  if (gap == NULL || stack != FLAM_NONE)
    {
      gap = g_new0 (Gap, 1);
      gap->stack = stack;
      gap->pieces = g_array_new (FALSE, FALSE, sizeof (FlamGapPiece));
      g_queue_push_tail (&gaps->open, gap);
    }
  gap->cpu += rest->cpu;
  g_array_append_vals (gap->pieces, rest, 1);
  if (gaps->open.length > MOST_OPEN)
    put_last (gaps, g_queue_pop_head (&gaps->open));
}
