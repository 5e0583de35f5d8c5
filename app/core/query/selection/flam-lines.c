/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-lines.h"

#include "flam-columns.h"
#include "flam-shown.h"

/* The weight at, and at and below, each stack; NULL: there is none. */
typedef struct
{
  gint64 *self;
  gint64 *total;
} Column;

/* The shown stacks, and their weights. */
typedef struct
{
  FlamShown shown;
  gint64 *self;
  gint64 *total;
  Column other; /* see FlamWeights; only where estimates are shown */
  FlamSpread *spread_self, *spread_total; /* NULL: there are none */
} Sums;

static Column
column_of (const FlamShown *shown, const FlamWeights *weights, gint64 *weight)
{
  Column column = { NULL };

  if (weight == NULL)
    return column;
  column.self = flam_shown_sum (shown, weights->profile->stacks.n, weight);
  column.total = g_new (gint64, shown->n + 1);
  memcpy (column.total, column.self, shown->n * sizeof *column.total);
  for (FlamId s = shown->n; s-- > 0;)
    if (shown->prefix[s] != FLAM_NONE)
      column.total[shown->prefix[s]] += column.total[s];
  return column;
}

static void
sums_init (Sums *sums,
           const FlamWeights *weights,
           const FlamSelection *selection)
{
  FlamShown *shown = &sums->shown;
  g_autoptr (FlamSelection) by_line = flam_selection_copy (selection);
  Column weight;

  /* In a tree the frames of a module are one row, but here they are lines. */
  if (by_line->by == FLAM_BY_MODULE || by_line->by == FLAM_BY_FILE)
    by_line->by = FLAM_BY_FUNCTION;
  flam_shown_init (shown, weights->profile, by_line, NULL, NULL);
  weight = column_of (shown, weights, weights->weight);
  sums->self = weight.self;
  sums->total = weight.total;
}

static void
add_spreads (Sums *sums, const FlamWeights *weights)
{
  const FlamShown *shown = &sums->shown;

  if (weights->spread == NULL)
    return;
  sums->spread_self = g_new0 (FlamSpread, shown->n + 1);
  for (FlamId s = 0; s < weights->profile->stacks.n; s++)
    {
      FlamId to = flam_shown_of (shown, s);

      if (to != FLAM_NONE)
        flam_spread_add (&sums->spread_self[to], &weights->spread[s]);
    }
  sums->spread_total =
      g_memdup2 (sums->spread_self, shown->n * sizeof (FlamSpread));
  for (FlamId s = shown->n; s-- > 0;)
    if (shown->prefix[s] != FLAM_NONE)
      flam_spread_add (&sums->spread_total[shown->prefix[s]],
                       &sums->spread_total[s]);
}

static void
add_estimates (Sums *sums, const FlamWeights *weights)
{
  sums->other = column_of (&sums->shown, weights, weights->other);
  add_spreads (sums, weights);
}

static void
sums_clear (Sums *sums)
{
  flam_shown_clear (&sums->shown);
  g_free (sums->self);
  g_free (sums->total);
  g_free (sums->other.self);
  g_free (sums->other.total);
  g_free (sums->spread_self);
  g_free (sums->spread_total);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sums, sums_clear)

static FlamStringId
find_string (const FlamProfile *profile, const char *text)
{
  for (FlamId f = 0; f < profile->frames.n; f++)
    {
      FlamStringId file = profile->frames.file[f];

      if (file != 0 && strcmp (flam_profile_string (profile, file), text) == 0)
        return file;
    }
  return FLAM_NONE;
}

static int
compare_lines (gconstpointer a, gconstpointer b)
{
  guint32 x = ((const FlamLineRow *)a)->line;
  guint32 y = ((const FlamLineRow *)b)->line;

  return (x > y) - (x < y);
}

static gboolean
is_wanted (const FlamProfile *profile,
           FlamFrameId frame,
           FlamStringId file,
           FlamFunctionId function)
{
  FlamId owner = profile->frames.function[frame];

  return profile->frames.file[frame] == file &&
         profile->frames.line[frame] != 0 &&
         (function == FLAM_NONE || owner == function);
}

static FlamLineRow *
row_of (GHashTable *index, GArray *rows, guint32 line)
{
  gpointer known;
  FlamLineRow row = { line };

  if (!g_hash_table_lookup_extended (
          index, GUINT_TO_POINTER (line), NULL, &known))
    {
      known = GUINT_TO_POINTER (rows->len);
      g_hash_table_insert (index, GUINT_TO_POINTER (line), known);
      g_array_append_val (rows, row);
    }
  return &g_array_index (rows, FlamLineRow, GPOINTER_TO_UINT (known));
}

static void
add_line_self (FlamLineRow *row, const Sums *sums, FlamId s)
{
  row->self += sums->self[s];
  if (sums->other.self != NULL)
    row->other_self += sums->other.self[s];
  if (sums->spread_self != NULL)
    flam_spread_add (&row->spread_self, &sums->spread_self[s]);
}

static void
add_line_total (FlamLineRow *row, const Sums *sums, FlamId s)
{
  row->total += sums->total[s];
  if (sums->other.total != NULL)
    row->other_total += sums->other.total[s];
  if (sums->spread_total != NULL)
    flam_spread_add (&row->spread_total, &sums->spread_total[s]);
}

static FlamFigure
figure_of (const FlamWeights *weights,
           gint64 weight,
           gint64 other,
           const FlamSpread *spread)
{
  return (FlamFigure){ weight, weights->other != NULL ? other : -1, *spread };
}

FlamFigure
flam_lines_self (const FlamWeights *weights, const FlamLineRow *row)
{
  return figure_of (weights, row->self, row->other_self, &row->spread_self);
}

FlamFigure
flam_lines_total (const FlamWeights *weights, const FlamLineRow *row)
{
  return figure_of (weights, row->total, row->other_total, &row->spread_total);
}

FlamLineRow *
flam_lines_new (const FlamWeights *weights,
                const FlamSelection *selection,
                const char *file,
                FlamFunctionId function,
                guint *n)
{
  const FlamProfile *profile = weights->profile;
  FlamId wanted = find_string (profile, file);
  g_auto (Sums) sums = { 0 };
  const FlamShown *stacks = &sums.shown;
  /* The nearest stack at or above this one whose frame is in the file. */
  g_autofree FlamId *near = NULL;
  g_autoptr (GHashTable) index = g_hash_table_new (NULL, NULL);
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (FlamLineRow));

  sums_init (&sums, weights, selection);
  add_estimates (&sums, weights);
  near = g_new (FlamId, stacks->n + 1);
  for (FlamId s = 0; wanted != FLAM_NONE && s < stacks->n; s++)
    {
      FlamStackId prefix = stacks->prefix[s];
      FlamId above = prefix == FLAM_NONE ? FLAM_NONE : near[prefix];
      guint32 line = profile->frames.line[stacks->frame[s]];
      FlamLineRow *row;

      near[s] = above;
      if (!is_wanted (profile, stacks->frame[s], wanted, function))
        continue;
      near[s] = s;
      if (sums.total[s] == 0)
        continue;
      row = row_of (index, rows, line);
      add_line_self (row, &sums, s);
      while (above != FLAM_NONE &&
             profile->frames.line[stacks->frame[above]] != line)
        {
          prefix = stacks->prefix[above];
          above = prefix == FLAM_NONE ? FLAM_NONE : near[prefix];
        }
      if (above == FLAM_NONE)
        add_line_total (row, &sums, s);
    }
  g_array_sort (rows, compare_lines);
  *n = rows->len;
  return (FlamLineRow *)(void *)g_array_free (rows, FALSE);
}

/* --- all files ------------------------------------------------------------ */

static gboolean
line_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamFileLineRow *a =
      &flam_column_at ((FlamColumn *)table, FlamFileLineRow, row);
  const FlamFileLineRow *b = key;

  return a->file == b->file && a->row.line == b->row.line;
}

static FlamId
number_line (FlamColumn *rows, FlamInterner *interner, FlamFileLineRow key)
{
  guint32 hash = flam_hash_pair (key.file, key.row.line);
  FlamSlot *slot = flam_interner_find (interner, hash, line_equal, rows, &key);

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, (FlamId)rows->n };
      interner->used++;
      flam_column_append (rows, FlamFileLineRow, key);
    }
  return slot->id;
}

/* The row of each frame, FLAM_NONE if its line is unknown; g_free. */
static FlamId *
number_lines (const FlamProfile *profile, FlamColumn *rows)
{
  const FlamFrames *frames = &profile->frames;
  FlamId *row = g_new (FlamId, frames->n + 1);
  FlamInterner interner;

  flam_interner_init (&interner);
  for (FlamId f = 0; f < frames->n; f++)
    row[f] =
        frames->file[f] != 0 && frames->line[f] != 0
            ? number_line (rows,
                           &interner,
                           (FlamFileLineRow){ frames->file[f],
                                              { .line = frames->line[f] } })
            : FLAM_NONE;
  flam_interner_clear (&interner);
  return row;
}

static void
sum_lines (const Sums *sums, const FlamId *row_of_frame, FlamFileLineRow *rows)
{
  const FlamShown *stacks = &sums->shown;

  for (FlamId s = 0; s < stacks->n; s++)
    {
      FlamId row = row_of_frame[stacks->frame[s]];
      FlamId above = stacks->prefix[s];

      if (row == FLAM_NONE || sums->total[s] == 0)
        continue;
      add_line_self (&rows[row].row, sums, s);
      while (above != FLAM_NONE && row_of_frame[stacks->frame[above]] != row)
        above = stacks->prefix[above];
      if (above == FLAM_NONE)
        add_line_total (&rows[row].row, sums, s);
    }
}

FlamFileLineRow *
flam_lines_all (const FlamWeights *weights,
                const FlamSelection *selection,
                guint *n)
{
  g_auto (Sums) sums = { 0 };
  g_autofree FlamId *row_of_frame = NULL;
  FlamColumn column;
  FlamFileLineRow *rows;
  guint kept = 0;

  flam_column_init (&column, sizeof (FlamFileLineRow));
  row_of_frame = number_lines (weights->profile, &column);
  rows = g_memdup2 (column.data, column.n * sizeof *rows);
  sums_init (&sums, weights, selection);
  add_estimates (&sums, weights);
  sum_lines (&sums, row_of_frame, rows);
  for (gsize i = 0; i < column.n; i++)
    if (rows[i].row.total != 0)
      rows[kept++] = rows[i];
  flam_column_clear (&column);
  *n = kept;
  return rows;
}

/* --- first line ----------------------------------------------------------- */

static void
leave_out_recorder (Sums *sums, const FlamProfile *profile)
{
  const FlamShown *stacks = &sums->shown;
  g_autofree guint8 *recorder = flam_shown_in_recorder (stacks, profile);

  for (FlamId s = 0; s < stacks->n; s++)
    {
      sums->self[s] = recorder[s] ? 0 : sums->self[s];
      sums->total[s] = sums->self[s];
    }
  for (FlamId s = stacks->n; s-- > 0;)
    if (stacks->prefix[s] != FLAM_NONE)
      sums->total[stacks->prefix[s]] += sums->total[s];
}

/* The cost of a line as the innermost one with source, per FlamLinesText. */
typedef struct
{
  gint64 inner[FLAM_N_TEXTS];
} Inner;

static gboolean
is_heavier (const FlamFileLineRow *row,
            gint64 inner,
            const FlamFileLineRow *than,
            gint64 than_inner)
{
  if (inner != than_inner)
    return inner > than_inner;
  if (row->row.total != than->row.total)
    return row->row.total > than->row.total;
  return row->row.self > than->row.self;
}

/* The heaviest of the lines with such a source, by its cost and that of its
 * callees except calls into such lines; or by its total. */
static int
heaviest (const FlamFileLineRow *rows,
          const Inner *inner,
          guint n,
          const guint8 *sources,
          guint source,
          gint64 least,
          gboolean by_total)
{
  int best = -1;

  for (guint i = 0; i < n; i++)
    {
      gint64 own = by_total ? 0 : inner[i].inner[source];

      if (sources[rows[i].file] < source || rows[i].row.total <= 0 ||
          rows[i].row.total < least || (!by_total && own <= 0))
        continue;
      if (best < 0 || is_heavier (&rows[i],
                                  own,
                                  &rows[best],
                                  by_total ? 0 : inner[best].inner[source]))
        best = (int)i;
    }
  return best;
}

static void
add_inner (const Sums *sums,
           const FlamId *row_of_frame,
           const FlamFileLineRow *rows,
           const guint8 *sources,
           guint source,
           Inner *inner)
{
  const FlamShown *stacks = &sums->shown;
  g_autofree FlamId *near = g_new (FlamId, stacks->n + 1);

  for (FlamId s = 0; s < stacks->n; s++)
    {
      FlamStackId prefix = stacks->prefix[s];
      FlamId row = row_of_frame[stacks->frame[s]];

      near[s] = row != FLAM_NONE && sources[rows[row].file] >= source ? row
                : prefix != FLAM_NONE ? near[prefix]
                                      : FLAM_NONE;
      if (near[s] != FLAM_NONE)
        inner[near[s]].inner[source] += sums->self[s];
    }
}

gboolean
flam_lines_begin (const FlamWeights *weights,
                  const FlamSelection *selection,
                  const guint8 *sources,
                  FlamFileLineRow *found)
{
  static const struct
  {
    guint source;
    gboolean by_total;
    gboolean any; /* however little it is */
  } ways[] = {
    { FLAM_TEXT_OWN, FALSE, FALSE },  { FLAM_TEXT_OWN, TRUE, FALSE },
    { FLAM_TEXT_HERE, FALSE, FALSE }, { FLAM_TEXT_HERE, TRUE, FALSE },
    { FLAM_TEXT_HERE, TRUE, TRUE },
  };
  g_auto (Sums) sums = { 0 };
  g_autofree FlamId *row_of_frame = NULL;
  g_autofree FlamFileLineRow *rows = NULL;
  g_autofree Inner *inner = NULL;
  FlamColumn column;
  guint n;
  gint64 whole = 0;
  int best = -1;

  flam_column_init (&column, sizeof (FlamFileLineRow));
  row_of_frame = number_lines (weights->profile, &column);
  n = column.n;
  rows = flam_column_steal (&column);
  inner = g_new0 (Inner, n + 1);
  sums_init (&sums, weights, selection);
  leave_out_recorder (&sums, weights->profile);
  sum_lines (&sums, row_of_frame, rows);
  for (FlamId s = 0; s < sums.shown.n; s++)
    whole += sums.self[s];
  for (guint source = FLAM_TEXT_HERE; source < FLAM_N_TEXTS; source++)
    add_inner (&sums, row_of_frame, rows, sources, source, inner);
  for (guint i = 0; i < G_N_ELEMENTS (ways) && best < 0; i++)
    best = heaviest (rows,
                     inner,
                     n,
                     sources,
                     ways[i].source,
                     ways[i].any ? 0 : whole / 100,
                     ways[i].by_total);
  if (best >= 0)
    *found = rows[best];
  return best >= 0;
}

/* --- machine code --------------------------------------------------------- */

/* The row of every frame: frames of one address (inlined functions) have the
 * same. */
static guint32 *
rows_of_frames (const FlamProfile *profile,
                FlamModuleId module,
                FlamRowOfAddress find_row,
                gpointer data)
{
  guint32 *row = g_new (guint32, profile->frames.n + 1);

  for (FlamId f = 0; f < profile->frames.n; f++)
    {
      FlamId owner = profile->functions.module[profile->frames.function[f]];

      row[f] = owner == module && profile->frames.address[f] != 0
                   ? find_row (data, profile->frames.address[f])
                   : FLAM_NONE;
    }
  return row;
}

gint64
flam_lines_weigh_addresses (const FlamWeights *weights,
                            const FlamSelection *selection,
                            FlamModuleId module,
                            FlamRowOfAddress find_row,
                            gpointer data,
                            FlamAddressCost *costs)
{
  const FlamProfile *profile = weights->profile;
  g_auto (Sums) sums = { 0 };
  const FlamShown *stacks = &sums.shown;
  g_autofree guint32 *rows = rows_of_frames (profile, module, find_row, data);
  /* The nearest stack at or above this one whose frame has a row. */
  g_autofree FlamId *near = NULL;
  gint64 through = 0;

  sums_init (&sums, weights, selection);
  near = g_new (FlamId, stacks->n + 1);
  for (FlamId s = 0; s < stacks->n; s++)
    {
      FlamStackId prefix = stacks->prefix[s];
      FlamId above = prefix == FLAM_NONE ? FLAM_NONE : near[prefix];
      guint32 row = rows[stacks->frame[s]];

      near[s] = above;
      if (row == FLAM_NONE)
        continue;
      near[s] = s;
      costs[row].self += sums.self[s];
      if (above == FLAM_NONE)
        through += sums.total[s];
      while (above != FLAM_NONE && rows[stacks->frame[above]] != row)
        {
          prefix = stacks->prefix[above];
          above = prefix == FLAM_NONE ? FLAM_NONE : near[prefix];
        }
      if (above == FLAM_NONE)
        costs[row].total += sums.total[s];
    }
  return through;
}

/* --- files --------------------------------------------------------------- */

static int
compare_files (gconstpointer a, gconstpointer b)
{
  const FlamFileRow *x = a;
  const FlamFileRow *y = b;

  if (x->self != y->self)
    return x->self > y->self ? -1 : 1;
  return (x->total < y->total) - (x->total > y->total);
}

FlamFileRow *
flam_lines_files (const FlamWeights *weights,
                  const FlamSelection *selection,
                  guint *n)
{
  const FlamProfile *profile = weights->profile;
  g_auto (Sums) sums = { 0 };
  const FlamShown *stacks = &sums.shown;
  g_autofree FlamId *row_of_file =
      g_new (FlamId, flam_profile_n_strings (profile));
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (FlamFileRow));

  sums_init (&sums, weights, selection);
  memset (row_of_file, 0xff, 4 * (gsize)flam_profile_n_strings (profile));
  for (FlamId s = 0; s < stacks->n; s++)
    {
      FlamStringId file = profile->frames.file[stacks->frame[s]];
      FlamId above = stacks->prefix[s];
      FlamFileRow *row;

      if (file == 0 || sums.total[s] == 0)
        continue;
      if (row_of_file[file] == FLAM_NONE)
        {
          FlamFileRow fresh = { file };

          row_of_file[file] = rows->len;
          g_array_append_val (rows, fresh);
        }
      row = &g_array_index (rows, FlamFileRow, row_of_file[file]);
      row->self += sums.self[s];
      while (above != FLAM_NONE &&
             profile->frames.file[stacks->frame[above]] != file)
        above = stacks->prefix[above];
      if (above == FLAM_NONE)
        row->total += sums.total[s];
    }
  g_array_sort (rows, compare_files);
  *n = rows->len;
  return (FlamFileRow *)(void *)g_array_free (rows, FALSE);
}

const char *
flam_lines_find_file (const FlamWeights *weights,
                      const FlamSelection *selection,
                      const char *path)
{
  guint n;
  g_autofree FlamFileRow *rows = flam_lines_files (weights, selection, &n);
  g_autofree char *suffix = g_strconcat ("/", path, NULL);
  const char *best = "";

  for (guint i = 0; i < n; i++)
    {
      const char *file = flam_profile_string (weights->profile, rows[i].file);

      if (strcmp (file, path) == 0)
        return file;
      if (best[0] == 0 && g_str_has_suffix (file, suffix))
        best = file;
    }
  return best;
}

/* A function's node only has the line of its heaviest frame. */
FlamNodeId
flam_lines_find_node (const FlamTree *tree, const char *file, guint32 line)
{
  const FlamProfile *profile = tree->profile;
  const FlamFrames *frames = &profile->frames;
  g_autofree guint8 *is_there = g_malloc0 ((gsize)profile->functions.n + 1);
  FlamId own = FLAM_NONE, any = FLAM_NONE;

  for (FlamId i = 0; i < frames->n; i++)
    if (frames->line[i] == line &&
        strcmp (flam_profile_string (profile, frames->file[i]), file) == 0)
      is_there[frames->function[i]] = 1;
  for (FlamId i = 1; i < tree->n; i++)
    {
      FlamFunctionId function = flam_tree_function (tree, i);
      const char *at = "";

      if (function == FLAM_NONE || !is_there[function])
        continue;
      if (any == FLAM_NONE || tree->total[i] > tree->total[any])
        any = i;
      if (flam_tree_source_line (tree, i, &at) == line &&
          strcmp (at, file) == 0 &&
          (own == FLAM_NONE || tree->total[i] > tree->total[own]))
        own = i;
    }
  return own != FLAM_NONE ? own : any;
}
