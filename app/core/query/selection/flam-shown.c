/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-shown.h"

#define STEP_ROWS (1 << 14)
#define NOT_SWALLOWED G_MAXUINT8

/* The state on the path from the root to a stack. */
typedef struct
{
  FlamStackId stack; /* shown stack; FLAM_NONE: nothing visible so far */
  guint8 dropped;
  guint8 swallowed; /* below a COLLAPSE, STOP_AT or PRUNE: its number */
  guint8 importing; /* hidden: at or below import machinery */
} Path;

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  FlamShown *shown;
  guint64 *matches;                       /* per function: bit per transform */
  FlamStringId file[FLAM_TRANSFORMS_MAX]; /* of those that match files */
  guint64 of_files;                       /* which transforms match files */
  guint8 *quiet;    /* per function: nothing in the selection is about it */
  guint64 required; /* FOCUS and FILTER bits that a stack must match */
  guint64 focused;  /* of these, the FOCUS bits */
  gboolean folds;   /* recursion */
  Path *paths;      /* per stack */
  guint64 *seen;    /* per stack: bits of FOCUS and FILTER that matched on
                       the way; NULL when there are none */
  FlamId recorder;  /* the module of the recorder's library, or FLAM_NONE */
} Walk;

static FlamId
recorder_of (const FlamProfile *profile)
{
  for (FlamId m = 0; m < profile->modules.n; m++)
    if (strcmp (flam_profile_string (profile, profile->modules.name[m]),
                FLAM_RECORDER_LIBRARY) == 0)
      return m;
  return FLAM_NONE;
}

static gboolean
is_of_recorder (const Walk *walk, FlamFunctionId function)
{
  return walk->recorder != FLAM_NONE &&
         walk->profile->functions.module[function] == walk->recorder;
}

static gboolean
is_recorder (const Walk *walk, FlamFrameId frame)
{
  return is_of_recorder (walk, walk->profile->frames.function[frame]);
}

guint8 *
flam_shown_in_recorder (const FlamShown *shown, const FlamProfile *profile)
{
  guint8 *within = g_new0 (guint8, (gsize)shown->n + 1);
  FlamId recorder = recorder_of (profile);

  for (FlamId s = 0; recorder != FLAM_NONE && s < shown->n; s++)
    {
      FlamId function = profile->frames.function[shown->frame[s]];
      FlamId prefix = shown->prefix[s];

      within[s] = profile->functions.module[function] == recorder ||
                  (prefix != FLAM_NONE && within[prefix]);
    }
  return within;
}

static void
walk_clear (Walk *walk)
{
  g_free (walk->matches);
  g_free (walk->quiet);
  flam_cells_drop (walk->paths);
  flam_cells_drop (walk->seen);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Walk, walk_clear)

/* --- matches ------------------------------------------------------------- */

/* The file of that name; FLAM_NONE: the capture has none. */
static FlamStringId
find_file (const FlamProfile *profile, const char *name)
{
  guint32 n = flam_profile_n_strings (profile);

  if (strcmp (name, FLAM_UNKNOWN_PLACE) == 0)
    return 0;
  for (FlamStringId i = 1; i < n; i++)
    if (strcmp (flam_profile_string (profile, i), name) == 0)
      return i;
  return FLAM_NONE;
}

/* The transforms that a frame matches. */
static guint64
matches_of (const Walk *walk, FlamFrameId frame)
{
  guint64 matches = walk->matches[walk->profile->frames.function[frame]];

  for (guint t = 0; t < walk->selection->transforms->len && walk->of_files != 0;
       t++)
    if ((walk->of_files >> t & 1) != 0 &&
        walk->profile->frames.file[frame] == walk->file[t])
      matches |= 1ull << t;
  return matches;
}

static gboolean
match_functions (Walk *walk, const FlamProgress *progress, GError **error)
{
  const FlamProfile *profile = walk->profile;
  const GPtrArray *transforms = walk->selection->transforms;

  walk->matches = g_new0 (guint64, profile->functions.n + 1);
  for (guint t = 0; t < transforms->len; t++)
    {
      const FlamTransform *transform = transforms->pdata[t];

      if (transform->kind == FLAM_TRANSFORM_FOCUS ||
          transform->kind == FLAM_TRANSFORM_FILTER)
        walk->required |= 1ull << t;
      if (transform->kind == FLAM_TRANSFORM_FOCUS)
        walk->focused |= 1ull << t;
      if (transform->of == FLAM_BY_FILE)
        {
          walk->of_files |= 1ull << t;
          walk->file[t] = find_file (profile, transform->pattern);
          continue;
        }
      for (FlamId f = 0; f < profile->functions.n; f++)
        {
          if (flam_transform_matches (transform, profile, f))
            walk->matches[f] |= 1ull << t;
          if (f % 1024 == 0 && !flam_progress_step (progress, 0, error))
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean
is_switched_off (const Walk *walk, FlamFunctionId function)
{
  const FlamSelection *selection = walk->selection;
  guint flags = walk->profile->functions.flags[function];
  guint kind = walk->profile->functions.kind[function];

  return ((selection->hide_irrelevant &&
           (flags & FLAM_FUNCTION_IRRELEVANT) != 0) ||
          (selection->no_native && kind != FLAM_KIND_INTERPRETED &&
           kind != FLAM_KIND_JIT && kind != FLAM_KIND_ROOT)) &&
         !is_of_recorder (walk, function);
}

/* Frames that the selection's switches remove, cost to the caller. */
static gboolean
switched_off (const Walk *walk, FlamFrameId frame)
{
  return (walk->selection->no_inlines &&
          walk->profile->frames.inline_depth[frame] > 0) ||
         is_switched_off (walk, walk->profile->frames.function[frame]);
}

/* An import is its machinery and everything that runs because of it: the cost
 * goes to the importing frame. */
static gboolean
is_import (const Walk *walk, FlamFunctionId function)
{
  return walk->selection->hide_imports &&
         (walk->profile->functions.flags[function] & FLAM_FUNCTION_IMPORT) != 0;
}

/* Most functions are, so their frames need no look at each transform. */
static void
find_quiet (Walk *walk)
{
  const FlamSelection *selection = walk->selection;
  guint32 n = walk->profile->functions.n;

  walk->quiet = g_new0 (guint8, n + 1);
  for (FlamId f = 0; f < n && !selection->no_inlines && !selection->no_repl &&
                     walk->of_files == 0;
       f++)
    walk->quiet[f] = walk->matches[f] == 0 && !is_import (walk, f) &&
                     !is_switched_off (walk, f) && !is_of_recorder (walk, f);
}

/* Only what runs below it is shown, as if the stack began there. */
static gboolean
is_repl (const Walk *walk, FlamFrameId frame)
{
  return walk->selection->no_repl &&
         (walk->profile->frames.status[frame] & FLAM_STATUS_REPL) != 0;
}

/* Applies the transforms to one frame, in their order: frames removed by one of
 * them are not processed by later ones. FALSE if the frame is not shown. */
static gboolean
transform_frame (const Walk *walk, Path *path, guint64 *seen, FlamFrameId frame)
{
  const GPtrArray *transforms = walk->selection->transforms;
  guint64 matches = matches_of (walk, frame);
  guint swallowed = path->swallowed;

  path->importing |= is_import (walk, walk->profile->frames.function[frame]);
  if (path->importing || switched_off (walk, frame))
    return FALSE;
  for (guint t = 0; t < transforms->len; t++)
    {
      const FlamTransform *transform = transforms->pdata[t];
      guint64 bit = 1ull << t;
      gboolean match = (matches & bit) != 0;

      if (t == swallowed ||
          (transform->kind == FLAM_TRANSFORM_FOCUS && !match &&
           !(*seen & bit)) ||
          (transform->kind == FLAM_TRANSFORM_HIDE && match))
        return FALSE;
      if (!match)
        continue;
      if (transform->kind == FLAM_TRANSFORM_IGNORE)
        path->dropped = TRUE;
      else if (transform->kind == FLAM_TRANSFORM_COLLAPSE ||
               transform->kind == FLAM_TRANSFORM_STOP_AT)
        path->swallowed = MIN (path->swallowed, t);
      else if (transform->kind == FLAM_TRANSFORM_PRUNE)
        {
          path->swallowed = MIN (path->swallowed, t);
          return FALSE;
        }
      else
        *seen |= bit;
    }
  return TRUE;
}

/* --- the shown stacks ---------------------------------------------------- */

static gboolean
same_thing (const Walk *walk, FlamId a, FlamId b)
{
  FlamBy by = walk->selection->by;
  FlamShownKey x = flam_shown_key (walk->profile, by, a);
  FlamShownKey y = flam_shown_key (walk->profile, by, b);

  return flam_shown_key_equal (&x, &y);
}

static gboolean
folds (const FlamSelection *selection)
{
  return selection->recursion != FLAM_RECURSION_OFF ||
         selection->by == FLAM_BY_MODULE || selection->by == FLAM_BY_FILE;
}

/* The nearest stack at or above `stack` that ends in the same thing, as far up
 * as the selection's recursion setting allows; FLAM_NONE when there is none. */
static FlamId
find_recursion (const Walk *walk, FlamStackId stack, FlamFrameId frame)
{
  if (!walk->folds)
    return FLAM_NONE;
  for (; stack != FLAM_NONE; stack = walk->shown->prefix[stack])
    {
      if (same_thing (walk, walk->shown->frame[stack], frame))
        return stack;
      if (walk->selection->recursion != FLAM_RECURSION_COLLAPSE)
        break;
    }
  return FLAM_NONE;
}

/* Recursion as iteration: the frame is put in the place of the earlier frame of
 * the same thing. */
static FlamId
show (Walk *walk, FlamId above, FlamFrameId frame)
{
  FlamShown *shown = walk->shown;
  FlamId same = find_recursion (walk, above, frame);

  shown->own_prefix[shown->n] = same != FLAM_NONE ? shown->prefix[same] : above;
  shown->own_frame[shown->n] = frame;
  return shown->n++;
}

/* Calls within the recorder's library are one frame. */
static gboolean
goes_on_in_recorder (const Walk *walk, const Path *path, FlamFrameId frame)
{
  return path->stack != FLAM_NONE && is_recorder (walk, frame) &&
         is_recorder (walk, walk->shown->frame[path->stack]);
}

/* Whether a quiet frame is shown. */
static inline gboolean
goes_on (const Walk *walk, const Path *path, guint64 seen)
{
  return !path->dropped && !path->importing &&
         path->swallowed == NOT_SWALLOWED &&
         (seen & walk->focused) == walk->focused;
}

static void
walk_stack (Walk *walk, FlamStackId stack)
{
  FlamStackId prefix = walk->profile->stacks.prefix[stack];
  FlamFrameId frame = walk->profile->stacks.frame[stack];
  const Path start = { FLAM_NONE, .swallowed = NOT_SWALLOWED };
  Path path = start;
  guint64 seen = 0;

  if (prefix != FLAM_NONE)
    path = walk->paths[prefix];
  if (prefix != FLAM_NONE && walk->seen != NULL)
    seen = walk->seen[prefix];
  if (walk->quiet[walk->profile->frames.function[frame]])
    {
      if (goes_on (walk, &path, seen))
        path.stack = show (walk, path.stack, frame);
    }
  else if (is_repl (walk, frame))
    {
      path = start;
      seen = 0;
    }
  else if (!path.dropped && !goes_on_in_recorder (walk, &path, frame) &&
           transform_frame (walk, &path, &seen, frame))
    path.stack = show (walk, path.stack, frame);
  walk->paths[stack] = path;
  if (walk->seen != NULL)
    walk->seen[stack] = seen;
}

/* --- branches ------------------------------------------------------------- */

typedef struct
{
  FlamId above; /* a branch, or FLAM_NONE */
  FlamShownKey key;
  gboolean wanted; /* has a match at, above or below it */
  gboolean matches;
} Branch;

static gboolean
branch_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const Branch *a = (const Branch *)table + row;
  const Branch *b = key;

  return a->above == b->above && flam_shown_key_equal (&a->key, &b->key);
}

/* The branches of the tree: shown stacks of the same things are one. Returns
 * that of each shown stack. */
static FlamId *
find_branches (const Walk *walk, FlamColumn *branches)
{
  const FlamShown *shown = walk->shown;
  FlamBy by = flam_by_has_tops (walk->selection->by) ? FLAM_BY_FUNCTION
                                                     : walk->selection->by;
  FlamId *branch = flam_new_cells (FlamId, shown->n + 1);
  FlamInterner interner;

  flam_interner_init (&interner);
  for (FlamId s = 0; s < shown->n; s++)
    {
      FlamId prefix = shown->prefix[s];
      Branch new = { prefix != FLAM_NONE ? branch[prefix] : FLAM_NONE,
                     flam_shown_key (walk->profile, by, shown->frame[s]) };
      guint32 hash = flam_hash_pair (new.above, new.key.thing ^ new.key.line);
      FlamSlot *slot = flam_interner_find (
          &interner, hash, branch_equal, branches->data, &new);

      if (slot->id == FLAM_NONE)
        {
          *slot = (FlamSlot){ hash, branches->n };
          interner.used++;
          flam_column_append (branches, Branch, new);
        }
      branch[s] = slot->id;
    }
  flam_interner_clear (&interner);
  return branch;
}

/* Which shown stacks are those of selected ones, or above them. */
static guint8 *
find_used (const Walk *walk)
{
  const FlamShown *shown = walk->shown;
  guint8 *used = flam_new_cells0 (guint8, shown->n + 1);

  for (FlamId s = 0; s < walk->profile->stacks.n; s++)
    if (shown->of[s] < shown->n)
      used[shown->of[s]] = TRUE;
  for (FlamId s = shown->n; s-- > 0;)
    if (used[s] && shown->prefix[s] != FLAM_NONE)
      used[shown->prefix[s]] = TRUE;
  return used;
}

static void
want_branches (const Walk *walk,
               FlamColumn *branches,
               const FlamId *branch,
               guint64 bit)
{
  guint8 *used = find_used (walk);
  Branch *all = branches->data;

  for (gsize b = 0; b < branches->n; b++)
    all[b].matches = all[b].wanted = FALSE;
  for (FlamId s = 0; s < walk->shown->n; s++)
    {
      FlamFrameId frame = walk->shown->frame[s];
      FlamFunctionId function = walk->profile->frames.function[frame];

      all[branch[s]].matches |= used[s] && (walk->matches[function] & bit) != 0;
    }
  flam_cells_drop (used);
  for (gsize b = branches->n; b-- > 0;)
    {
      all[b].wanted |= all[b].matches;
      if (all[b].wanted && all[b].above != FLAM_NONE)
        all[all[b].above].wanted = TRUE;
    }
  /* What is below a match stays. */
  for (gsize b = 0; b < branches->n; b++)
    if (all[b].above != FLAM_NONE && all[all[b].above].matches)
      all[b].matches = all[b].wanted = TRUE;
}

/* Below an unwanted branch, no branch is wanted. */
static void
cut_branches (const Walk *walk, const FlamColumn *branches, FlamId *branch)
{
  FlamShown *shown = walk->shown;
  FlamId *to = branch; /* the nearest stack that stays */

  for (FlamId s = 0; s < shown->n; s++)
    if (flam_column_at (branches, Branch, branch[s]).wanted)
      to[s] = s;
    else
      to[s] = shown->prefix[s] != FLAM_NONE ? to[shown->prefix[s]] : shown->n;
  for (FlamId s = 0; s < walk->profile->stacks.n; s++)
    {
      if (shown->of[s] < shown->n)
        shown->of[s] = to[shown->of[s]];
      if (shown->last == NULL || shown->last[s] == FLAM_NONE)
        continue;
      shown->last[s] = to[shown->last[s]];
      if (shown->last[s] == shown->n)
        shown->last[s] = FLAM_NONE;
    }
}

static gboolean
keep_branches (const Walk *walk, const FlamProgress *progress, GError **error)
{
  const GPtrArray *transforms = walk->selection->transforms;

  for (guint t = 0; t < transforms->len; t++)
    {
      FlamColumn branches;
      FlamId *branch;

      if (((FlamTransform *)transforms->pdata[t])->kind !=
          FLAM_TRANSFORM_BRANCHES)
        continue;
      if (!flam_progress_step (progress, 0.5, error))
        return FALSE;
      flam_column_init (&branches, sizeof (Branch));
      branch = find_branches (walk, &branches);
      want_branches (walk, &branches, branch, 1ull << t);
      cut_branches (walk, &branches, branch);
      flam_cells_drop (branch);
      flam_column_clear (&branches);
    }
  return TRUE;
}

/* --- all of them ---------------------------------------------------------- */

static gboolean
is_in (const Walk *walk, FlamStackId stack)
{
  return !walk->paths[stack].dropped &&
         (walk->seen == NULL ||
          (walk->seen[stack] & walk->required) == walk->required);
}

static gboolean
walk_all (Walk *walk, const FlamProgress *progress, GError **error)
{
  guint32 n = walk->profile->stacks.n;
  FlamShown *shown = walk->shown;

  shown->n = 0;
  shown->prefix = shown->own_prefix = flam_new_cells (FlamId, n + 1);
  shown->frame = shown->own_frame = flam_new_cells (FlamId, n + 1);
  walk->paths = flam_new_cells (Path, n + 1);
  if (!match_functions (walk, progress, error))
    return FALSE;
  find_quiet (walk);
  walk->folds = folds (walk->selection);
  if (walk->required != 0)
    walk->seen = flam_new_cells (guint64, n + 1);
  for (FlamId s = 0; s < n; s++)
    {
      if (s % STEP_ROWS == 0 &&
          !flam_progress_step (progress, 0.5 * s / n, error))
        return FALSE;
      walk_stack (walk, s);
    }
  shown->of = flam_new_cells (FlamId, n + 1);
  for (FlamId s = 0; s < n; s++)
    {
      shown->of[s] = FLAM_NONE;
      if (is_in (walk, s))
        shown->of[s] = MIN (walk->paths[s].stack, shown->n);
    }
  if (flam_profile_statuses (walk->profile) != 0)
    shown->last = flam_new_cells (FlamId, n + 1);
  for (FlamId s = 0; s < n && shown->last != NULL; s++)
    shown->last[s] = walk->paths[s].stack;
  shown->no_stack = walk->required == 0 ? shown->n : FLAM_NONE;
  return keep_branches (walk, progress, error);
}

/* --- public functions ---------------------------------------------------- */

static gboolean
shows_all (const Walk *walk)
{
  const FlamSelection *selection = walk->selection;

  return walk->recorder == FLAM_NONE && selection->transforms->len == 0 &&
         !folds (selection) && !selection->no_native &&
         !selection->hide_irrelevant && !selection->hide_imports &&
         !selection->no_inlines && !selection->no_repl;
}

gboolean
flam_shown_init (FlamShown *shown,
                 const FlamProfile *profile,
                 const FlamSelection *selection,
                 const FlamProgress *progress,
                 GError **error)
{
  const FlamStacks *stacks = &profile->stacks;
  g_auto (Walk)
      walk = { profile, selection, shown, .recorder = recorder_of (profile) };

  *shown = (FlamShown){
    stacks->n, stacks->prefix, stacks->frame, .no_stack = stacks->n
  };
  return shows_all (&walk) || walk_all (&walk, progress, error);
}

void
flam_shown_clear (FlamShown *shown)
{
  g_clear_pointer (&shown->own_prefix, flam_cells_drop);
  g_clear_pointer (&shown->own_frame, flam_cells_drop);
  g_clear_pointer (&shown->of, flam_cells_drop);
  g_clear_pointer (&shown->last, flam_cells_drop);
}

/* --- one of each ---------------------------------------------------------- */

typedef struct
{
  FlamStackId prefix;
  FlamFrameId frame;
} Key;

static gboolean
key_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamShown *shown = table;
  const Key *k = key;

  return shown->prefix[row] == k->prefix && shown->frame[row] == k->frame;
}

/* Kept entries move up, and never overwrite entries that are still to be
 * read. */
static FlamId
keep (FlamShown *shown, FlamInterner *interner, const Key *key, FlamId *n)
{
  guint32 hash = flam_hash_pair (key->prefix, key->frame);
  FlamSlot *slot = flam_interner_find (interner, hash, key_equal, shown, key);

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, (*n)++ };
      interner->used++;
      shown->own_prefix[slot->id] = key->prefix;
      shown->own_frame[slot->id] = key->frame;
    }
  return slot->id;
}

void
flam_shown_unite (FlamShown *shown, guint32 n_stacks)
{
  g_autofree FlamId *kept = g_new (FlamId, shown->n + 1);
  FlamInterner interner;
  FlamId n = 0;

  if (shown->of == NULL)
    return;
  flam_interner_init (&interner);
  for (FlamId s = 0; s < shown->n; s++)
    {
      Key key = { shown->prefix[s], shown->frame[s] };

      if (key.prefix != FLAM_NONE)
        key.prefix = kept[key.prefix];
      kept[s] = keep (shown, &interner, &key, &n);
    }
  flam_interner_clear (&interner);
  kept[shown->n] = n;
  for (FlamId s = 0; s < n_stacks; s++)
    {
      if (shown->of[s] != FLAM_NONE)
        shown->of[s] = kept[shown->of[s]];
      if (shown->last != NULL && shown->last[s] != FLAM_NONE)
        shown->last[s] = kept[shown->last[s]];
    }
  if (shown->no_stack != FLAM_NONE)
    shown->no_stack = kept[shown->no_stack];
  shown->n = n;
}

gint64 *
flam_shown_sum (const FlamShown *shown, guint32 n_stacks, const gint64 *weight)
{
  gint64 *sum = flam_new_cells0 (gint64, shown->n + 1);

  for (FlamId s = 0; s < n_stacks; s++)
    {
      FlamId to = flam_shown_of (shown, s);

      if (to != FLAM_NONE)
        sum[to] += weight[s];
    }
  return sum;
}

gpointer
flam_shown_take (const FlamShown *shown,
                 guint32 n_stacks,
                 gconstpointer rows,
                 guint size)
{
  char *taken = flam_cells_new ((gsize)n_stacks + 1, size);

  memcpy (taken, rows, ((gsize)n_stacks + 1) * size);
  for (FlamId s = 0; s <= n_stacks; s++)
    if (flam_shown_of (shown, s < n_stacks ? s : FLAM_NONE) == FLAM_NONE)
      memset (taken + (gsize)s * size, 0, size);
  return taken;
}

gboolean
flam_selection_drops_stacks (const FlamSelection *selection)
{
  for (guint i = 0; i < selection->transforms->len; i++)
    {
      const FlamTransform *transform = selection->transforms->pdata[i];

      if (transform->kind == FLAM_TRANSFORM_FOCUS ||
          transform->kind == FLAM_TRANSFORM_FILTER ||
          transform->kind == FLAM_TRANSFORM_IGNORE)
        return TRUE;
    }
  return FALSE;
}

/* --- keys ----------------------------------------------------------------- */

static guint
hash_key (gconstpointer data)
{
  const FlamShownKey *key = data;

  return ((key->thing * 0x9e3779b1u ^ key->line) * 31 ^ key->file) * 31 ^
         (guint)key->address;
}

static gboolean
equal_keys (gconstpointer a, gconstpointer b)
{
  return flam_shown_key_equal (a, b);
}

GHashTable *
flam_shown_key_table_new (void)
{
  return g_hash_table_new_full (hash_key, equal_keys, g_free, NULL);
}

void
flam_shown_key_table_set (GHashTable *table,
                          const FlamShownKey *key,
                          gpointer value)
{
  g_hash_table_insert (table, g_memdup2 (key, sizeof *key), value);
}
