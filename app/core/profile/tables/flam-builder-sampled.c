/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Sampled allocations are scaled to what was counted exactly.
 *
 * A sampled block of s bytes is a record with the probability p = 1 - exp(-s /
 * every), and stands for 1/p blocks: for itself, and for 1/p - 1 that no sample
 * saw. The sums of these are estimates; the target counted all blocks and their
 * bytes. So the blocks that no sample saw are multiplied by what makes the sums
 * right:
 *
 *                          seen     unseen
 *    all                  sum  +  sum g (1/p - 1)   =  allocated
 *    live at the end      sum  +  sum g (1/p - 1)   =  live at the end
 *    live at the peak     sum  +  sum g (1/p - 1)   =  peak
 *
 * Each line is two equations, for blocks and for bytes. Of the factors g that
 * satisfy them, those closest to 1 are taken (of the least relative entropy):
 *
 *    log g = sum over the lines of the row: x + y * size
 *
 * Newton's method finds the numbers x and y, two per line. Rows that are in the
 * same lines and of nearly the same size are one cell. Blocks much larger than
 * `every` are all seen, and stay as they are.
 *
 * Where samples are missing, the equations may have no solution. So each line
 * also has cells of a ten-millionth of the blocks, of the mean size, and of a
 * much smaller and a larger one. They grow only where samples are missing, and
 * become rows of their own, "[not sampled]".
 *
 * Counts are whole numbers, so at last the largest rows get what the sums still
 * lack. */

#include "flam-builder-private.h"

#include <math.h>
#include <string.h>

#define AT_PEAK 1
#define LIVE 2
#define N_KINDS 4
#define N_LINES 3
#define N_UNKNOWN (2 * N_LINES)
#define PER_OCTAVE 4
#define N_BINS (64 * PER_OCTAVE)
#define N_SIZES (N_LINES + 2)
#define N_SAMPLED (N_KINDS * N_BINS)
#define N_CELLS (N_SAMPLED + N_KINDS * N_SIZES)
#define OF_MEAN 1e-7 /* of the blocks of the smallest line */
#define OF_OTHER 1e-10
#define SMALL 16
#define ROUNDED 0.001 /* of a sum */
#define STEPS 1000
#define HALVINGS 80
/* What an equation may be wrong by, times its unknown, which is at most about
 * 30: in blocks, and as a part of the bytes. */
#define SLACK_BLOCKS 1e-3
#define SLACK_BYTES 1e-6

typedef struct
{
  double bytes, blocks;
} Amount;

/* The counted sums of the kinds that have all of these bits. */
typedef struct
{
  guint kinds;
  gint64 bytes;
  gint64 blocks; /* -1: not counted */
  Amount rest;   /* without the blocks that were seen */
  double mean;   /* size of those that were not */
} Line;

typedef struct
{
  guint kind;
  Amount unseen;
  double factor;
} Cell;

/* Two per line: blocks, and bytes in units of the mean. */
typedef struct
{
  double right[N_UNKNOWN], slack[N_UNKNOWN];
  double x[N_UNKNOWN];
} Equations;

typedef struct
{
  FlamBuilder *builder;
  guint32 from; /* the first row */
  double every;
  Line line[N_LINES];
  Amount seen[N_KINDS];
  Cell cell[N_CELLS];    /* the first N_SAMPLED by kind and size */
  Amount carry[N_KINDS]; /* lost by rounding */
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

static guint
cell_of (const Scale *scale, guint32 i)
{
  const FlamAllocations *rows = &scale->builder->tables.profile.allocations;
  double size = (double)MAX (rows->size[i], 1);

  return kind_of (rows, i) * N_BINS + (guint)(log2 (size) * PER_OCTAVE);
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
add_up_seen (Scale *scale)
{
  const FlamAllocations *rows = &scale->builder->tables.profile.allocations;

  for (guint32 i = scale->from; i < rows->n; i++)
    if (is_sampled (rows, i))
      {
        double seen =
            (double)rows->count[i] * (1 - unseen_part (scale, rows->size[i]));

        scale->seen[kind_of (rows, i)].blocks += seen;
        scale->seen[kind_of (rows, i)].bytes += seen * (double)rows->size[i];
      }
}

static void
add_up_unseen (Scale *scale)
{
  const FlamAllocations *rows = &scale->builder->tables.profile.allocations;

  for (guint32 i = scale->from; i < rows->n; i++)
    if (is_sampled (rows, i))
      {
        double unseen =
            (double)rows->count[i] * unseen_part (scale, rows->size[i]);
        Amount *cell = &scale->cell[cell_of (scale, i)].unseen;

        cell->blocks += unseen;
        cell->bytes += unseen * (double)rows->size[i];
      }
}

/* --- cells ---------------------------------------------------------------- */

static gboolean
is_of (const Line *line, guint kind)
{
  return (kind & line->kinds) == line->kinds;
}

/* What the lines lack if each row stands only for its own blocks. */
static void
find_rests (Scale *scale)
{
  for (guint i = 0; i < N_LINES; i++)
    {
      Line *line = &scale->line[i];

      line->rest = (Amount){ (double)line->bytes, (double)line->blocks };
      for (guint kind = 0; kind < N_KINDS; kind++)
        if (is_of (line, kind))
          {
            line->rest.bytes -= scale->seen[kind].bytes;
            line->rest.blocks -= scale->seen[kind].blocks;
          }
      line->rest.bytes = MAX (line->rest.bytes, 0);
      line->rest.blocks = MAX (line->rest.blocks, 0);
      line->mean = line->rest.blocks > 0 ? line->rest.bytes / line->rest.blocks
                                         : scale->every;
      line->mean = MAX (line->mean, 1);
    }
}

static void
begin_cells (Scale *scale)
{
  const Line *all = &scale->line[N_LINES - 1];
  double sizes[N_SIZES] = { [N_LINES] = SMALL };
  double least = MAX (all->rest.bytes / all->mean, 1);

  for (guint i = 0; i < N_LINES; i++)
    {
      sizes[i] =
          scale->line[i].rest.bytes > 0 ? scale->line[i].mean : all->mean;
      if (scale->line[i].rest.blocks > 0)
        least = MIN (least, scale->line[i].rest.blocks);
      sizes[N_LINES] = MIN (sizes[N_LINES], sizes[i] / 2);
      sizes[N_LINES + 1] = MAX (sizes[N_LINES + 1], 2 * sizes[i]);
    }
  for (guint i = 0; i < N_SAMPLED; i++)
    scale->cell[i] = (Cell){ .kind = i / N_BINS, .factor = 1 };
  for (guint i = N_SAMPLED; i < N_CELLS; i++)
    {
      guint number = (i - N_SAMPLED) % N_SIZES;
      double blocks = least * (number < N_LINES ? OF_MEAN : OF_OTHER);

      scale->cell[i] = (Cell){ .kind = (i - N_SAMPLED) / N_SIZES,
                               .unseen = { blocks * sizes[number], blocks },
                               .factor = 1 };
    }
}

/* Cells of a line in which nothing is unseen are empty. */
static void
clear_empty (Scale *scale)
{
  for (guint i = 0; i < N_LINES; i++)
    {
      const Line *line = &scale->line[i];

      if (line->rest.bytes > 0 && (line->blocks < 0 || line->rest.blocks > 0))
        continue;
      for (guint k = 0; k < N_CELLS; k++)
        if (is_of (line, scale->cell[k].kind))
          scale->cell[k].unseen = (Amount){ 0 };
    }
}

/* --- factors -------------------------------------------------------------- */

static void
get_coefficients (const Scale *scale, const Cell *cell, double of[N_UNKNOWN])
{
  for (guint i = 0; i < N_LINES; i++)
    {
      const Line *line = &scale->line[i];
      gboolean in = is_of (line, cell->kind);

      of[2 * i] = in && line->blocks >= 0;
      of[2 * i + 1] =
          in ? cell->unseen.bytes / cell->unseen.blocks / line->mean : 0;
    }
}

static double
get_factor (const double of[N_UNKNOWN], const double x[N_UNKNOWN])
{
  double sum = 0;

  for (guint i = 0; i < N_UNKNOWN; i++)
    sum += of[i] * x[i];
  return exp (sum);
}

/* The function whose minimum is the solution. */
static double
get_height (const Scale *scale,
            const Equations *equations,
            const double x[N_UNKNOWN])
{
  double height = 0;

  for (guint i = 0; i < N_CELLS; i++)
    {
      const Cell *cell = &scale->cell[i];
      double of[N_UNKNOWN];

      if (cell->unseen.blocks <= 0)
        continue;
      get_coefficients (scale, cell, of);
      height += cell->unseen.blocks * get_factor (of, x);
    }
  for (guint i = 0; i < N_UNKNOWN; i++)
    height += x[i] * (equations->slack[i] * x[i] / 2 - equations->right[i]);
  return height;
}

/* Its slope, and the slopes of that. */
static void
get_slopes (const Scale *scale,
            const Equations *equations,
            double slope[N_UNKNOWN],
            double matrix[N_UNKNOWN][N_UNKNOWN])
{
  memset (matrix, 0, sizeof (double[N_UNKNOWN][N_UNKNOWN]));
  for (guint i = 0; i < N_UNKNOWN; i++)
    {
      slope[i] = equations->slack[i] * equations->x[i] - equations->right[i];
      matrix[i][i] = equations->slack[i];
    }
  for (guint k = 0; k < N_CELLS; k++)
    {
      const Cell *cell = &scale->cell[k];
      double of[N_UNKNOWN], blocks;

      if (cell->unseen.blocks <= 0)
        continue;
      get_coefficients (scale, cell, of);
      blocks = cell->unseen.blocks * get_factor (of, equations->x);
      for (guint i = 0; i < N_UNKNOWN; i++)
        {
          slope[i] += blocks * of[i];
          for (guint j = 0; j < N_UNKNOWN; j++)
            matrix[i][j] += blocks * of[i] * of[j];
        }
    }
}

/* Gauss's elimination of a positive definite matrix; the result replaces
 * `right`. */
static void
eliminate (double matrix[N_UNKNOWN][N_UNKNOWN], double right[N_UNKNOWN])
{
  for (guint i = 0; i < N_UNKNOWN; i++)
    for (guint j = i + 1; j < N_UNKNOWN; j++)
      {
        double part = matrix[j][i] / matrix[i][i];

        for (guint k = i; k < N_UNKNOWN; k++)
          matrix[j][k] -= part * matrix[i][k];
        right[j] -= part * right[i];
      }
  for (guint i = N_UNKNOWN; i-- > 0;)
    {
      for (guint j = i + 1; j < N_UNKNOWN; j++)
        right[i] -= matrix[i][j] * right[j];
      right[i] /= matrix[i][i];
    }
}

/* FALSE: it is as low as it gets. */
static gboolean
step_down (const Scale *scale, Equations *equations)
{
  double slope[N_UNKNOWN], matrix[N_UNKNOWN][N_UNKNOWN], step[N_UNKNOWN];
  double now = get_height (scale, equations, equations->x);
  double fall = 0;
  double part = 1;

  get_slopes (scale, equations, slope, matrix);
  memcpy (step, slope, sizeof step);
  eliminate (matrix, step);
  for (guint i = 0; i < N_UNKNOWN; i++)
    fall += slope[i] * step[i];
  if (!(fall > 1e-10))
    return FALSE;
  for (guint n = 0; n < HALVINGS; n++, part /= 2)
    {
      double x[N_UNKNOWN];

      for (guint i = 0; i < N_UNKNOWN; i++)
        x[i] = equations->x[i] - part * step[i];
      if (get_height (scale, equations, x) > now - part * fall / 4)
        continue;
      memcpy (equations->x, x, sizeof x);
      return TRUE;
    }
  return FALSE;
}

static void
fit (Scale *scale)
{
  Equations equations = { 0 };

  for (guint i = 0; i < N_LINES; i++)
    {
      const Line *line = &scale->line[i];

      equations.right[2 * i] = line->blocks >= 0 ? line->rest.blocks : 0;
      equations.right[2 * i + 1] = line->rest.bytes / line->mean;
      equations.slack[2 * i] = SLACK_BLOCKS;
      equations.slack[2 * i + 1] =
          SLACK_BYTES * MAX (equations.right[2 * i + 1], 1);
    }
  for (guint n = 0; n < STEPS && step_down (scale, &equations); n++)
    continue;
  for (guint i = 0; i < N_CELLS; i++)
    {
      Cell *cell = &scale->cell[i];
      double of[N_UNKNOWN];

      if (cell->unseen.blocks <= 0)
        continue;
      get_coefficients (scale, cell, of);
      cell->factor = get_factor (of, equations.x);
    }
}

/* --- writing -------------------------------------------------------------- */

/* Rounded so that the sum of each line is. */
static void
begin_carry (Scale *scale)
{
  double exact[N_KINDS], rounded[N_KINDS];

  for (guint kind = 0; kind < N_KINDS; kind++)
    exact[kind] = scale->seen[kind].blocks;
  for (guint i = 0; i < N_CELLS; i++)
    {
      const Cell *cell = &scale->cell[i];

      exact[cell->kind] += cell->unseen.blocks * cell->factor;
    }
  rounded[AT_PEAK | LIVE] = round (exact[AT_PEAK | LIVE]);
  for (guint kind = AT_PEAK; kind <= LIVE; kind++)
    rounded[kind] =
        round (exact[kind] + exact[AT_PEAK | LIVE]) - rounded[AT_PEAK | LIVE];
  rounded[0] =
      round (exact[0] + exact[AT_PEAK] + exact[LIVE] + exact[AT_PEAK | LIVE]) -
      rounded[AT_PEAK] - rounded[LIVE] - rounded[AT_PEAK | LIVE];
  for (guint kind = 0; kind < N_KINDS; kind++)
    scale->carry[kind].blocks = rounded[kind] - exact[kind];
}

static void
set_count (Scale *scale, guint32 i, gint64 count)
{
  FlamBuilder *builder = scale->builder;
  const FlamAllocations *rows = &builder->tables.profile.allocations;
  gint64 old = rows->count[i];
  double ratio = old > 0 ? (double)count / (double)old : 0;

  if (kind_of (rows, i) & AT_PEAK)
    cells (builder, gint64, profile.allocations.at_peak)[i] = count;
  cells (builder, gint64, profile.allocations.count)[i] = count;
  cells (builder, gint64, profile.allocations.born_more)[i] =
      (gint64)((double)rows->born_more[i] * ratio);
  cells (builder, gint64, profile.allocations.died_more)[i] =
      (gint64)((double)rows->died_more[i] * ratio);
}

/* The part of a block that rounding leaves is carried over to the next row of
 * the kind, which is of the same size or a smaller one: so the bytes that are
 * lost are never less than 0. */
static void
scale_row (Scale *scale, guint32 i)
{
  const FlamAllocations *rows = &scale->builder->tables.profile.allocations;
  Amount *carry = &scale->carry[kind_of (rows, i)];
  double size = (double)MAX (rows->size[i], 1);
  double old = (double)rows->count[i];
  double unseen = old * unseen_part (scale, rows->size[i]);
  double count = old - unseen + unseen * scale->cell[cell_of (scale, i)].factor;
  double rounded =
      CLAMP (floor (count + carry->blocks + 0.01), 0, 0x1p62 / size);

  carry->blocks += count - rounded;
  carry->bytes += (count - rounded) * size;
  set_count (scale, i, (gint64)rounded);
}

static int
compare_sizes (gconstpointer a, gconstpointer b, gpointer data)
{
  const gint64 *size = data;
  gint64 x = size[*(const guint32 *)a];
  gint64 y = size[*(const guint32 *)b];

  return (x > y) - (x < y);
}

static GArray *
sort_by_size (const Scale *scale)
{
  const FlamAllocations *rows = &scale->builder->tables.profile.allocations;
  GArray *order = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = scale->from; i < rows->n; i++)
    if (is_sampled (rows, i))
      g_array_append_val (order, i);
  g_array_sort_with_data (order, compare_sizes, (gpointer)rows->size);
  return order;
}

/* --- blocks without a sample ---------------------------------------------- */

static void
add_row (Scale *scale, guint kind, gint64 size, gint64 count)
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
    .size = size,
    .count = count,
    .at_peak = kind & AT_PEAK ? count : 0,
    .distance = G_MAXUINT16,
    .allocator = FLAM_ALLOCATOR_MALLOC,
  };

  if (count > 0)
    flam_builder_add_allocation (builder, &row);
}

/* The least sum of bytes that a kind belongs to. */
static double
get_least_whole (const Scale *scale, guint kind)
{
  double least = INFINITY;

  for (guint i = 0; i < N_LINES; i++)
    if (is_of (&scale->line[i], kind))
      least = MIN (least, (double)scale->line[i].bytes);
  return least;
}

/* Takes a block from the row of the smallest size that has one to spare;
 * returns its size, or -1. */
static gint64
take_block (Scale *scale, const GArray *order, guint kind)
{
  const FlamAllocations *rows = &scale->builder->tables.profile.allocations;

  for (guint k = 0; k < order->len; k++)
    {
      guint32 i = g_array_index (order, guint32, k);

      if (kind_of (rows, i) != kind || rows->count[i] < 2)
        continue;
      set_count (scale, i, rows->count[i] - 1);
      return rows->size[i];
    }
  return -1;
}

/* With the bytes that rounding lost, if they are more than nothing. */
static void
add_unsampled (Scale *scale, const GArray *order, guint kind)
{
  const Amount *carry = &scale->carry[kind];
  Amount sum = { 0 };
  gint64 blocks, bytes, larger, taken;

  for (guint i = N_SAMPLED; i < N_CELLS; i++)
    {
      const Cell *cell = &scale->cell[i];

      if (cell->kind != kind)
        continue;
      sum.bytes += cell->unseen.bytes * cell->factor;
      sum.blocks += cell->unseen.blocks * cell->factor;
    }
  blocks = (gint64)CLAMP (round (sum.blocks + carry->blocks), 0, 0x1p62);
  bytes = (gint64)CLAMP (round (sum.bytes + carry->bytes), 0, 0x1p62);
  if (blocks == 0 && carry->bytes > get_least_whole (scale, kind) * ROUNDED &&
      (taken = take_block (scale, order, kind)) >= 0)
    {
      blocks = 1;
      bytes += taken;
    }
  if (blocks == 0)
    return;
  larger = bytes % blocks;
  add_row (scale, kind, bytes / blocks, blocks - larger);
  add_row (scale, kind, bytes / blocks + 1, larger);
}

static void
write_all (Scale *scale)
{
  g_autoptr (GArray) order = sort_by_size (scale);

  begin_carry (scale);
  for (guint k = order->len; k-- > 0;)
    scale_row (scale, g_array_index (order, guint32, k));
  for (guint kind = 0; kind < N_KINDS; kind++)
    add_unsampled (scale, order, kind);
}

/* --- what the sums lack --------------------------------------------------- */

/* Files are untrusted: sums may wrap around. */
static gint64
amount_of (const FlamAllocations *rows, guint32 i, gboolean bytes)
{
  gint64 amount;

  return __builtin_mul_overflow (
             rows->count[i], bytes ? rows->size[i] : 1, &amount)
             ? G_MAXINT64
             : amount;
}

static void
find_missing (const Scale *scale, gboolean bytes, guint64 missing[N_LINES])
{
  const FlamAllocations *rows = &scale->builder->tables.profile.allocations;

  for (guint line = 0; line < N_LINES; line++)
    missing[line] = (guint64)(bytes ? scale->line[line].bytes
                                    : MAX (scale->line[line].blocks, 0));
  for (guint32 i = scale->from; i < rows->n; i++)
    for (guint line = 0; is_sampled (rows, i) && line < N_LINES; line++)
      if (is_of (&scale->line[line], kind_of (rows, i)))
        missing[line] -= (guint64)amount_of (rows, i, bytes);
  for (guint line = 0; line < N_LINES; line++)
    if (!bytes && scale->line[line].blocks < 0)
      missing[line] = 0;
}

/* The row of the kind that stands for the most bytes or blocks that no sample
 * saw; FLAM_NONE: there is none. */
static FlamId
find_largest (const Scale *scale, guint kind, gboolean bytes)
{
  const FlamAllocations *rows = &scale->builder->tables.profile.allocations;
  FlamId largest = FLAM_NONE;
  double most = 0.5;

  for (guint32 i = scale->from; i < rows->n; i++)
    {
      double amount = (double)amount_of (rows, i, bytes) *
                      unseen_part (scale, rows->size[i]);

      if (!is_sampled (rows, i) || kind_of (rows, i) != kind || amount <= most)
        continue;
      largest = i;
      most = amount;
    }
  return largest;
}

/* `n` of the row's blocks get another size. */
static void
resize (Scale *scale, guint32 i, gint64 n, gint64 size)
{
  FlamBuilder *builder = scale->builder;
  const FlamAllocations *rows = &builder->tables.profile.allocations;
  gint64 left = rows->count[i] - n;
  gint64 more = rows->born_more[i];
  gint64 died = rows->died_more[i];
  FlamAllocation row = {
    .time = rows->time[i],
    .freed_at = rows->freed_at[i],
    .thread = rows->thread[i],
    .stack = rows->stack[i],
    .size = size,
    .count = n,
    .at_peak = rows->at_peak[i] > 0 ? n : 0,
    .distance = rows->distance[i],
    .allocator = rows->allocator[i],
  };

  if (n == 0)
    return;
  if (left == 0)
    {
      cells (builder, gint64, profile.allocations.size)[i] = size;
      return;
    }
  set_count (scale, i, left);
  row.born_more = CLAMP (more - rows->born_more[i], -n, n);
  row.died_more = CLAMP (died - rows->died_more[i], 0, n);
  flam_builder_add_allocation (builder, &row);
}

/* FALSE, and nothing is done: the kind has no blocks that could get them. */
static gboolean
give (Scale *scale, guint kind, gboolean bytes, gint64 more, gboolean tries)
{
  const FlamAllocations *rows = &scale->builder->tables.profile.allocations;
  FlamId i = more != 0 ? find_largest (scale, kind, bytes) : FLAM_NONE;
  gint64 size, n, rest;

  if (i == FLAM_NONE)
    return more == 0;
  if (more == G_MININT64 || ABS (more) > amount_of (rows, i, bytes) / 2)
    return FALSE;
  if (tries)
    return TRUE;
  if (!bytes)
    {
      set_count (scale, i, rows->count[i] + more);
      return TRUE;
    }
  /* None gets more than half of its size. */
  size = rows->size[i];
  n = MIN (2 * ABS (more) / size + 1, rows->count[i]);
  rest = ABS (more) % n;
  resize (scale, i, n - rest, size + more / n);
  if (rest > 0)
    resize (scale, i, rest, size + more / n + (more < 0 ? -1 : 1));
  return TRUE;
}

/* A kind may be part of several lines, so there are several solutions. */
static void
give_missing (Scale *scale, gboolean bytes)
{
  guint64 missing[N_LINES];
  guint64 both[4] = { 0 };

  find_missing (scale, bytes, missing);
  both[1] = missing[0];
  both[2] = missing[1];
  both[3] = missing[0] + missing[1] - missing[2];
  for (guint n = 0; n < G_N_ELEMENTS (both); n++)
    {
      const gint64 of_kind[N_KINDS] = {
        (gint64)(missing[2] - missing[0] - missing[1] + both[n]),
        (gint64)(missing[0] - both[n]),
        (gint64)(missing[1] - both[n]),
        (gint64)both[n],
      };
      gboolean all = TRUE;

      for (guint kind = 0; kind < N_KINDS; kind++)
        all = all && give (scale, kind, bytes, of_kind[kind], TRUE);
      for (guint kind = 0; all && kind < N_KINDS; kind++)
        give (scale, kind, bytes, of_kind[kind], FALSE);
      if (all)
        return;
    }
}

/* -1: the capture is of a version that did not count blocks, or they are not
 * counted because the program had older ones. */
static gint64
get_blocks (FlamBuilder *builder, const char *key, gint64 bytes)
{
  gint64 blocks = flam_builder_noted_number (builder, key);

  return blocks > 0 || bytes == 0 ? MAX (blocks, 0) : -1;
}

void
flam_builder_scale_sampled (FlamBuilder *builder, guint32 from)
{
  gint64 every = flam_builder_noted_number (builder, "sample-bytes");
  gint64 all = flam_builder_noted_number (builder, "allocated-bytes");
  gint64 live = flam_builder_noted_number (builder, "live-bytes");
  gint64 peak = flam_builder_noted_number (builder, "peak-bytes");
  g_autofree Scale *scale = NULL;

  if (every <= 0 || all <= 0 || builder->tables.profile.allocations.n == 0)
    return;
  live = CLAMP (live, 0, all);
  peak = CLAMP (peak, live, all);
  scale = g_new0 (Scale, 1);
  scale->builder = builder;
  scale->from = from;
  scale->every = (double)every;
  scale->line[0] =
      (Line){ .kinds = AT_PEAK,
              .bytes = peak,
              .blocks = get_blocks (builder, "peak-blocks", peak) };
  scale->line[1] =
      (Line){ .kinds = LIVE,
              .bytes = live,
              .blocks = get_blocks (builder, "live-blocks", live) };
  scale->line[2] =
      (Line){ .bytes = all,
              .blocks = get_blocks (builder, "allocated-blocks", all) };
  split_all (scale);
  add_up_seen (scale);
  find_rests (scale);
  begin_cells (scale);
  add_up_unseen (scale);
  clear_empty (scale);
  fit (scale);
  write_all (scale);
  give_missing (scale, FALSE);
  give_missing (scale, TRUE);
}

double
flam_builder_blocks_spread (const FlamAllocations *rows, gint64 every)
{
  double variance = 0, bytes = 0;

  for (guint32 i = 0; every > 0 && i < rows->n; i++)
    if (rows->allocator == NULL || is_sampled (rows, i))
      {
        double size = (double)MAX (rows->size[i], 1);
        double count = (double)rows->count[i];

        variance += count / expm1 (size / (double)every);
        bytes += count * size;
      }
  return bytes > 0 ? variance / bytes : 0;
}
