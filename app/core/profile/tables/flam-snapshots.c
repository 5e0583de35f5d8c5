/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-snapshots.h"

#include "flam-builder-private.h"

#define FIRST_ROOM 64

struct _FlamSnapshots
{
  FlamBuilder *recorded;
  FlamTables tables; /* FRAMES, STACKS and SAMPLES in the form of a profile */
  FlamLaid laid;
  guint32 n_samples; /* recorded rows that are converted */
};

static guint
new_lineage (void)
{
  static gint lineages;

  return (guint)g_atomic_int_add (&lineages, 1) + 1;
}

/* Nothing is converted yet; the columns of weights are the recorded ones. */
static void
begin (FlamSnapshots *self)
{
  FlamTables *recorded = &self->recorded->tables;

  self->tables = (FlamTables){ { { 0 } } };
  flam_tables_init (&self->tables);
  flam_tables_share (&self->tables, FLAM_TABLE_FRAMES);
  flam_tables_share (&self->tables, FLAM_TABLE_STACKS);
  flam_tables_share (&self->tables, FLAM_TABLE_SAMPLES);
  for (guint i = 0; i < recorded->weights->len; i++)
    flam_tables_add_weights (&self->tables);
  self->laid = (FlamLaid){ .first = G_MAXINT64, .last = G_MININT64 };
  flam_stack_map_init (&self->laid.map);
  flam_column_init (&self->laid.lanes, sizeof (FlamLane));
  self->laid.lineage = new_lineage ();
  self->n_samples = 0;
}

static void
clear (FlamSnapshots *self)
{
  flam_tables_clear (&self->tables);
  flam_stack_map_clear (&self->laid.map);
  flam_column_clear (&self->laid.lanes);
}

FlamSnapshots *
flam_snapshots_new (FlamBuilder *builder)
{
  FlamSnapshots *self = g_new0 (FlamSnapshots, 1);

  self->recorded = builder;
  flam_column_share (&builder->tables.strings.blob);
  flam_column_share (&builder->tables.strings.offsets);
  flam_tables_share (&builder->tables, FLAM_TABLE_FUNCTIONS);
  begin (self);
  return self;
}

void
flam_snapshots_free (FlamSnapshots *self)
{
  clear (self);
  g_free (self);
}

/* --- the whole ------------------------------------------------------------ */

static FlamBuilder *
copy_facts (const FlamBuilder *builder)
{
  FlamBuilder *copy = flam_builder_new ();

  copy->has_times = builder->has_times;
  copy->has_origin = builder->has_origin;
  copy->recorded = builder->recorded;
  copy->origin = builder->origin;
  copy->peak_time = builder->peak_time;
  flam_builder_copy_told_facts (copy, &builder->facts);
  for (guint i = 0; i < builder->warnings->len; i++)
    flam_builder_warn (copy, "%s", (const char *)builder->warnings->pdata[i]);
  return copy;
}

static FlamProfile *
take_whole (const FlamBuilder *builder, GError **error)
{
  g_autoptr (FlamBuilder) copy = copy_facts (builder);

  flam_tables_clear (&copy->tables);
  flam_tables_init_copy (&copy->tables, &builder->tables);
  return flam_builder_finish (copy, error);
}

/* --- samples -------------------------------------------------------------- */

static gint64
time_at (const FlamTables *tables, guint32 row)
{
  const gint64 *time = tables->profile.samples.time;

  return time != NULL ? time[row] : 0;
}

/* Cells of all columns, within the table. */
static void
move_cells (FlamTables *tables, guint32 to, guint32 from, guint32 n)
{
  FlamColumnIter iter = { NULL };

  while (flam_tables_next (tables, FLAM_TABLE_SAMPLES, &iter))
    if (*iter.data != NULL)
      memmove ((char *)*iter.data + (gsize)to * iter.info->size,
               (char *)*iter.data + (gsize)from * iter.info->size,
               (gsize)n * iter.info->size);
}

/* Makes room for `n` more samples in a lane, at the table's end if needed. */
static void
make_room (FlamTables *tables, FlamLane *lane, guint32 n, gboolean elsewhere)
{
  guint32 *end = flam_tables_n (tables, FLAM_TABLE_SAMPLES);
  guint32 room = lane->room, first = lane->first;

  if (lane->room - lane->n >= n && !elsewhere)
    return;
  if (lane->room - lane->n < n)
    room = MAX (lane->n + MAX (lane->n, n), FIRST_ROOM);
  if (elsewhere || lane->first + lane->room != *end)
    first = *end;
  flam_tables_reserve (tables, FLAM_TABLE_SAMPLES, first + room);
  *end = first + room;
  if (first != lane->first)
    move_cells (tables, first, lane->first, lane->n);
  *lane = (FlamLane){ first, lane->n, room };
}

/* Writes the cells of a recorded sample. A column that has not begun is all
 * 0. */
static void
copy_cells (FlamTables *to,
            guint32 row,
            const FlamTables *recorded,
            guint32 recorded_row)
{
  FlamColumnIter from = { NULL }, here = { NULL };

  while (flam_tables_next (recorded, FLAM_TABLE_SAMPLES, &from) &&
         flam_tables_next (to, FLAM_TABLE_SAMPLES, &here))
    {
      guint size = here.info->size;

      if (*from.data != NULL && *here.data == NULL)
        flam_tables_begin (to, FLAM_TABLE_SAMPLES, here.info);
      if (*from.data != NULL)
        memcpy ((char *)*here.data + (gsize)row * size,
                (char *)*from.data + (gsize)recorded_row * size,
                size);
      else if (*here.data != NULL)
        memset ((char *)*here.data + (gsize)row * size, 0, size);
    }
}

static gboolean
lay_sample (FlamSnapshots *self,
            FlamTables *tables,
            FlamLane *lane,
            guint32 recorded_row,
            GError **error)
{
  const FlamTables *recorded = &self->recorded->tables;
  FlamLaid *laid = &self->laid;
  gint64 time = time_at (recorded, recorded_row);
  guint32 end = lane->first + lane->n, row = end;
  const guint8 *state;

  while (row > lane->first && time_at (tables, row - 1) > time)
    row--;
  move_cells (tables, row + 1, row, end - row);
  copy_cells (tables, row, recorded, recorded_row);
  flam_cell (tables->profile.samples.stack, FlamId, row) =
      flam_stack_map_stack (&laid->map,
                            recorded->profile.samples.stack[recorded_row]);
  state = tables->profile.samples.state;
  laid->states |= 1u << (state != NULL ? state[row] : FLAM_STATE_RUNNING);
  laid->first = MIN (laid->first, time);
  laid->last = MAX (laid->last, time);
  for (guint c = 0; c < tables->weights->len; c++)
    if (!flam_builder_check_weight (
            &laid->sums[c], flam_tables_weights (tables, c)[row], error))
      return FALSE;
  lane->n++;
  laid->n++;
  return TRUE;
}

static int
compare_samples (gconstpointer a, gconstpointer b, gpointer data)
{
  const FlamTables *recorded = data;
  guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
  FlamThreadId threads[] = { recorded->sample_thread[x],
                             recorded->sample_thread[y] };
  gint64 times[] = { time_at (recorded, x), time_at (recorded, y) };

  if (threads[0] != threads[1])
    return threads[0] < threads[1] ? -1 : 1;
  if (times[0] != times[1])
    return times[0] < times[1] ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* Adds the new samples of one thread, ascending. Where they begin before the
 * last existing one, the lane is copied, since profiles refer to the old one;
 * data derived from those does not apply to the new one. */
static gboolean
lay_thread (FlamSnapshots *self,
            FlamTables *tables,
            const guint32 *rows,
            guint32 n,
            GError **error)
{
  const FlamTables *recorded = &self->recorded->tables;
  FlamThreadId thread = recorded->sample_thread[rows[0]];
  FlamColumn *lanes = &self->laid.lanes;
  FlamLane *lane;
  gboolean goes_back;

  flam_column_backfill (lanes, thread + 1);
  lane = &flam_column_at (lanes, FlamLane, thread);
  goes_back = lane->n > 0 && time_at (tables, lane->first + lane->n - 1) >
                                 time_at (recorded, rows[0]);
  if (goes_back)
    self->laid.lineage = new_lineage ();
  make_room (tables, lane, n, goes_back);
  for (guint32 i = 0; i < n; i++)
    if (!lay_sample (self, tables, lane, rows[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
lay_samples (FlamSnapshots *self, FlamTables *tables, GError **error)
{
  const FlamTables *recorded = &self->recorded->tables;
  guint32 n = recorded->profile.samples.n - self->n_samples;
  g_autofree guint32 *rows = g_new (guint32, n + 1);

  for (guint32 i = 0; i < n; i++)
    rows[i] = self->n_samples + i;
  g_qsort_with_data (
      rows, n, sizeof *rows, compare_samples, (gpointer)recorded);
  for (guint32 i = 0, end; i < n; i = end)
    {
      for (end = i + 1; end < n && recorded->sample_thread[rows[end]] ==
                                       recorded->sample_thread[rows[i]];)
        end++;
      if (!lay_thread (self, tables, rows + i, end - i, error))
        return FALSE;
    }
  self->n_samples += n;
  return TRUE;
}

/* --- a snapshot ----------------------------------------------------------- */

/* Whether the recorded rows can be added to the converted ones. */
static gboolean
is_plain (const FlamSnapshots *self)
{
  const FlamBuilder *builder = self->recorded;
  const char *times = flam_builder_noted (builder, FLAM_FACT_HAS_TIMES);

  return builder->tables.renames.n == 0 && builder->tables.extras->len == 0 &&
         flam_builder_noted (builder, FLAM_FACT_SPANS) == NULL &&
         flam_builder_noted (builder, FLAM_FACT_SAMPLED_SPANS) == NULL &&
         g_strcmp0 (times, "0") != 0 &&
         builder->tables.weights->len <= FLAM_MAX_WEIGHTS;
}

/* Gives the samples the recorded columns of weights. The unused space between
 * lanes is not much larger than the number of samples. */
static gboolean
fits (const FlamSnapshots *self)
{
  const FlamTables *tables = &self->tables;
  guint64 cells = *flam_tables_n (tables, FLAM_TABLE_SAMPLES);

  return tables->weights->len == self->recorded->tables.weights->len &&
         cells <= 8 * (guint64)self->laid.n +
                      FIRST_ROOM * (guint64)self->laid.lanes.n;
}

static const FlamTable lent[] = { FLAM_TABLE_STRINGS, FLAM_TABLE_FUNCTIONS };
static const FlamTable own[] = { FLAM_TABLE_FRAMES,
                                 FLAM_TABLE_STACKS,
                                 FLAM_TABLE_SAMPLES };

/* For the duration of a snapshot, and back. */
static void
swap_tables (FlamSnapshots *self, FlamBuilder *copy)
{
  for (guint i = 0; i < G_N_ELEMENTS (lent); i++)
    flam_tables_swap (&copy->tables, &self->recorded->tables, lent[i]);
  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    flam_tables_swap (&copy->tables, &self->tables, own[i]);
}

static gboolean
is_copied (FlamTable table)
{
  return table != FLAM_TABLE_FUNCTIONS && table != FLAM_TABLE_FRAMES &&
         table != FLAM_TABLE_STACKS && table != FLAM_TABLE_SAMPLES &&
         table != FLAM_TABLE_SYMBOLS;
}

static FlamProfile *
take_new (FlamSnapshots *self)
{
  const FlamTables *recorded = &self->recorded->tables;
  g_autoptr (FlamBuilder) copy = copy_facts (self->recorded);
  FlamProfile *profile = NULL;

  for (guint t = FLAM_TABLE_MODULES; t < FLAM_N_TABLES; t++)
    if (is_copied (t))
      flam_tables_copy (&copy->tables, recorded, t);
  copy->laid = &self->laid;
  swap_tables (self, copy);
  flam_builder_set_has_times (copy);
  if (flam_stack_map_extend (&self->laid.map, recorded, copy, NULL, NULL) &&
      lay_samples (self, &copy->tables, NULL))
    {
      flam_column_backfill (&self->laid.lanes, copy->tables.profile.threads.n);
      profile = flam_builder_finish (copy, NULL);
    }
  swap_tables (self, copy);
  copy->laid = NULL;
  return profile;
}

FlamProfile *
flam_snapshots_take (FlamSnapshots *self, GError **error)
{
  FlamTables *recorded = &self->recorded->tables;
  FlamProfile *profile;

  if (!is_plain (self))
    return take_whole (self->recorded, error);
  if (flam_stack_map_is_stale (&self->laid.map, recorded) || !fits (self))
    {
      clear (self);
      begin (self);
    }
  profile = take_new (self);
  if (profile == NULL)
    {
      clear (self);
      begin (self);
    }
  return profile != NULL ? profile : take_whole (self->recorded, error);
}
