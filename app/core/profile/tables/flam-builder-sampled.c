/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Sampled allocations are scaled to what was counted exactly.
 *
 * A sampled block of s bytes is a record with the probability p = 1 - exp(-s /
 * every), and stands for 1/p blocks: for itself, and for 1/p - 1 that no sample
 * saw. The sums of these are estimates; the target counted all bytes. So the
 * blocks that no sample saw are multiplied by what makes the sums right:
 *
 *                          seen     unseen
 *    all                  Σ s   +  g Σ s (1/p - 1)   =  allocated
 *    live at the end      Σ s   +  g Σ s (1/p - 1)   =  live at the end
 *    live at the peak     Σ s   +  g Σ s (1/p - 1)   =  peak
 *
 * The rows are of four kinds (at the peak or not, freed or not), and each kind
 * has a factor g of its own; the three equations are satisfied in turn until
 * all hold (iterative proportional fitting). Blocks much larger than `every`
 * are all seen, and stay as they are. What is left where there is no sample at
 * all becomes a row of its own, "[not sampled]". */

#include "flam-builder-private.h"

#include <math.h>

#define ROUNDS 50
#define AT_PEAK 1
#define LIVE 2
#define N_KINDS 4

typedef struct
{
  FlamBuilder *builder;
  guint32 from; /* the first row */
  double every;
  double seen[N_KINDS], unseen[N_KINDS]; /* bytes */
  double factor[N_KINDS];
  double carry[N_KINDS]; /* bytes lost by rounding */
} Scale;

static double
unseen_part (const Scale *scale, gint64 size)
{
  return exp (-(double)MAX (size, 1) / scale->every);
}

static gboolean
is_sampled (const FlamAllocations *rows, guint32 i)
{
  return rows->allocator[i] != FLAM_ALLOCATOR_MMAP &&
         rows->allocator[i] != FLAM_ALLOCATOR_BRK;
}

static guint
kind_of (const FlamAllocations *rows, guint32 i)
{
  return (rows->at_peak[i] > 0 ? AT_PEAK : 0) |
         (rows->freed_at[i] == FLAM_NEVER ? LIVE : 0);
}

/* --- rows ----------------------------------------------------------------- */

/* A row that was only partly live at the peak is split in two. */
static void
split (FlamBuilder *builder, guint32 i)
{
  const FlamAllocations *rows = &builder->tables.profile.allocations;
  gint64 more = rows->born_more[i];
  gint64 died = rows->died_more[i];
  gint64 count = rows->count[i] - rows->at_peak[i];
  FlamAllocation rest = {
    .time = rows->time[i],
    .freed_at = rows->freed_at[i],
    .thread = rows->thread[i],
    .stack = rows->stack[i],
    .size = rows->size[i],
    .count = count,
    .born_more = CLAMP (more, -count, count),
    .died_more = MIN (died, count),
    .distance = rows->distance[i],
    .allocator = rows->allocator[i],
  };

  cells (builder, gint64, profile.allocations.count)[i] = rows->at_peak[i];
  cells (builder, gint64, profile.allocations.born_more)[i] =
      more - rest.born_more;
  cells (builder, gint64, profile.allocations.died_more)[i] =
      died - rest.died_more;
  flam_builder_add_allocation (builder, &rest);
}

static void
split_all (Scale *scale)
{
  const FlamAllocations *rows = &scale->builder->tables.profile.allocations;
  guint32 end = rows->n;

  for (guint32 i = scale->from; i < end; i++)
    if (is_sampled (rows, i) && rows->at_peak[i] > 0 &&
        rows->at_peak[i] < rows->count[i])
      split (scale->builder, i);
}

static void
add_up (Scale *scale)
{
  const FlamAllocations *rows = &scale->builder->tables.profile.allocations;

  for (guint32 i = scale->from; i < rows->n; i++)
    if (is_sampled (rows, i))
      {
        double bytes = (double)rows->size[i] * (double)rows->count[i];
        double unseen = bytes * unseen_part (scale, rows->size[i]);

        scale->unseen[kind_of (rows, i)] += unseen;
        scale->seen[kind_of (rows, i)] += bytes - unseen;
      }
}

/* --- factors -------------------------------------------------------------- */

/* Scales the kinds that have all of the bits `with`. */
static void
fit (Scale *scale, guint with, double bytes)
{
  double seen = 0;
  double unseen = 0;

  for (guint kind = 0; kind < N_KINDS; kind++)
    if ((kind & with) == with)
      {
        seen += scale->seen[kind];
        unseen += scale->unseen[kind] * scale->factor[kind];
      }
  for (guint kind = 0; kind < N_KINDS; kind++)
    if ((kind & with) == with && unseen > 0)
      scale->factor[kind] *= MAX (bytes - seen, 0) / unseen;
}

/* The remainder: all bytes minus the bytes of the other rows. */
static void
fit_rest (Scale *scale, double bytes)
{
  double others = scale->seen[0];

  for (guint kind = 1; kind < N_KINDS; kind++)
    others += scale->seen[kind] + scale->unseen[kind] * scale->factor[kind];
  if (scale->unseen[0] > 0)
    scale->factor[0] = MAX (bytes - others, 0) / scale->unseen[0];
}

/* --- writing -------------------------------------------------------------- */

/* The rounding remainder is carried over to the next row of the kind. */
static void
scale_row (Scale *scale, guint32 i)
{
  FlamBuilder *builder = scale->builder;
  const FlamAllocations *rows = &builder->tables.profile.allocations;
  guint kind = kind_of (rows, i);
  double size = (double)MAX (rows->size[i], 1);
  double old = (double)rows->count[i];
  double unseen = old * unseen_part (scale, rows->size[i]);
  double count = old - unseen + unseen * scale->factor[kind];
  double rounded =
      CLAMP (round (count + scale->carry[kind] / size), 0, 0x1p62 / size);
  double ratio = old > 0 ? rounded / old : 0;

  scale->carry[kind] += (count - rounded) * size;
  cells (builder, gint64, profile.allocations.count)[i] = (gint64)rounded;
  if (kind & AT_PEAK)
    cells (builder, gint64, profile.allocations.at_peak)[i] = (gint64)rounded;
  cells (builder, gint64, profile.allocations.born_more)[i] =
      (gint64)((double)rows->born_more[i] * ratio);
  cells (builder, gint64, profile.allocations.died_more)[i] =
      (gint64)((double)rows->died_more[i] * ratio);
}

static void
add_unsampled (Scale *scale, guint kind, double bytes)
{
  FlamBuilder *builder = scale->builder;
  FlamFunctionId function = flam_builder_function_named (
      builder,
      flam_builder_string (builder, "[not sampled]", -1),
      FLAM_KIND_ROOT);
  FlamAllocation row = {
    .time = MAX (builder->peak_time, 0),
    .freed_at = kind & LIVE ? FLAM_NEVER : MAX (builder->peak_time, 0),
    .thread = FLAM_NONE,
    .stack = flam_builder_stack (
        builder, FLAM_NONE, flam_builder_frame (builder, function, 0, 0, 0)),
    .size = (gint64)bytes,
    .count = 1,
    .at_peak = kind & AT_PEAK ? 1 : 0,
    .distance = G_MAXUINT16,
    .allocator = FLAM_ALLOCATOR_MALLOC,
  };

  if (row.size > 0)
    flam_builder_add_allocation (builder, &row);
}

/* The amount that the rows with all of these bits lack after scaling: no sample
 * is of that kind, or each stands for its own block only, or another sum limits
 * them. What the fit leaves when it ends is less than a thousandth. */
static double
lacking (const Scale *scale, guint with, double bytes)
{
  double missing = bytes;

  for (guint kind = 0; kind < N_KINDS; kind++)
    if ((kind & with) == with)
      missing -= scale->seen[kind] + scale->unseen[kind] * scale->factor[kind];
  return missing > bytes / 1000 ? missing : 0;
}

void
flam_builder_scale_sampled (FlamBuilder *builder, guint32 from)
{
  gint64 every = flam_builder_noted_number (builder, "sample-bytes");
  gint64 all = flam_builder_noted_number (builder, "allocated-bytes");
  gint64 live = flam_builder_noted_number (builder, "live-bytes");
  gint64 peak = flam_builder_noted_number (builder, "peak-bytes");
  Scale scale = { .builder = builder,
                  .from = from,
                  .every = (double)every,
                  .factor = { 1, 1, 1, 1 } };
  double unseen_peak, unseen_live, unseen_all, both;

  if (every <= 0 || all <= 0 || builder->tables.profile.allocations.n == 0)
    return;
  live = CLAMP (live, 0, all);
  peak = CLAMP (peak, live, all);
  split_all (&scale);
  add_up (&scale);
  for (guint i = 0; i < ROUNDS; i++)
    {
      fit (&scale, AT_PEAK, (double)peak);
      fit (&scale, LIVE, (double)live);
      fit_rest (&scale, (double)all);
    }
  for (guint32 i = from; i < builder->tables.profile.allocations.n; i++)
    if (is_sampled (&builder->tables.profile.allocations, i))
      scale_row (&scale, i);
  unseen_peak = lacking (&scale, AT_PEAK, (double)peak);
  unseen_live = lacking (&scale, LIVE, (double)live);
  unseen_all = lacking (&scale, 0, (double)all);
  both = MIN (unseen_peak, unseen_live);
  add_unsampled (&scale, AT_PEAK | LIVE, both);
  add_unsampled (&scale, AT_PEAK, unseen_peak - both);
  add_unsampled (&scale, LIVE, unseen_live - both);
  add_unsampled (&scale, 0, unseen_all - MAX (unseen_peak, unseen_live));
}
