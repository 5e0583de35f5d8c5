/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-tree-private.h"

/* Steps one and three: the stacks are walked, and the tree is put together
 * (flam-tree-private.h). */

#define STEP_ROWS (1 << 14)

/* --- step 1: stacks -> draft --------------------------------------------- */

/* What has happened on the way from the root to a stack. */
typedef struct
{
  FlamId node;
  guint8 dropped;   /* IGNORE matched */
  guint8 swallowed; /* below a COLLAPSE or PRUNE */
  guint8 importing; /* hidden: at or below import machinery */
} Path;

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  guint64 *matches; /* per function: bit per transform */
  guint64 required; /* FOCUS and FILTER bits a stack must have seen */
  FlamDraft *draft;
  Path *paths;         /* per stack */
  guint64 *seen;       /* per stack: bits of FOCUS and FILTER that matched on
                          the way; NULL when there are none */
  gint64 *stack_total; /* per stack: weight at and below */
} Walk;

/* "NAME" or "NAME,FILE". */
static gboolean
prune_matches (const FlamProfile *profile, FlamId function, const char *pattern)
{
  const char *name = flam_profile_function_name (profile, function);
  gsize length = strlen (name);
  const char *file;

  if (strcmp (name, pattern) == 0)
    return TRUE;
  if (strncmp (name, pattern, length) != 0 || pattern[length] != ',')
    return FALSE;
  file = flam_profile_string (profile, profile->functions.file[function]);
  return g_str_has_suffix (file, pattern + length + 1);
}

static gboolean
transform_matches (const FlamProfile *profile,
                   FlamId function,
                   const FlamTransform *transform)
{
  if (transform->kind == FLAM_TRANSFORM_PRUNE)
    return prune_matches (profile, function, transform->pattern);
  return g_regex_match (transform->regex,
                        flam_profile_function_name (profile, function),
                        0,
                        NULL);
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
      for (FlamId f = 0; f < profile->functions.n; f++)
        {
          if (transform_matches (profile, f, transform))
            walk->matches[f] |= 1ull << t;
          if (f % 1024 == 0 && !flam_progress_step (progress, 0, error))
            return FALSE;
        }
    }
  return TRUE;
}

/* Frames that the selection's switches leave out, cost to the caller. */
static gboolean
switched_off (const Walk *walk, FlamId frame)
{
  const FlamSelection *selection = walk->selection;
  FlamId function = walk->profile->frames.function[frame];
  guint flags = walk->profile->functions.flags[function];
  guint kind = walk->profile->functions.kind[function];

  return (selection->no_inlines &&
          walk->profile->frames.inline_depth[frame] > 0) ||
         (selection->hide_irrelevant &&
          (flags & FLAM_FUNCTION_IRRELEVANT) != 0) ||
         (selection->no_native && kind != FLAM_KIND_INTERPRETED &&
          kind != FLAM_KIND_ROOT);
}

/* An import is its machinery and all that runs because of it: the cost stands
 * at the one who imports. */
static gboolean
is_import (const Walk *walk, FlamId frame)
{
  const FlamProfile *profile = walk->profile;
  FlamId function = profile->frames.function[frame];

  return walk->selection->hide_imports &&
         (profile->functions.flags[function] & FLAM_FUNCTION_IMPORT) != 0;
}

/* Applies the transforms to one frame; FALSE when it is not to be seen. */
static gboolean
transform_frame (const Walk *walk, Path *path, guint64 *seen, FlamId frame)
{
  const GPtrArray *transforms = walk->selection->transforms;
  guint64 matches = walk->matches[walk->profile->frames.function[frame]];
  gboolean swallow = FALSE;

  path->importing |= is_import (walk, frame);
  if (path->importing || switched_off (walk, frame))
    return FALSE;
  for (guint t = 0; t < transforms->len; t++)
    {
      const FlamTransform *transform = transforms->pdata[t];
      guint64 bit = 1ull << t;
      gboolean match = (matches & bit) != 0;

      if (transform->kind == FLAM_TRANSFORM_FOCUS && !match && !(*seen & bit))
        return FALSE;
      if (!match)
        continue;
      if (transform->kind == FLAM_TRANSFORM_HIDE)
        return FALSE;
      if (transform->kind == FLAM_TRANSFORM_IGNORE)
        path->dropped = TRUE;
      else if (transform->kind == FLAM_TRANSFORM_COLLAPSE ||
               transform->kind == FLAM_TRANSFORM_PRUNE)
        swallow = TRUE;
      else
        *seen |= bit;
    }
  if (path->swallowed)
    return FALSE;
  path->swallowed = swallow;
  return TRUE;
}

static FlamDraftKey
frame_key (const Walk *walk, FlamId frame)
{
  const FlamProfile *profile = walk->profile;
  FlamId function = profile->frames.function[frame];
  FlamDraftKey key = { .function = function };

  switch (walk->selection->by)
    {
    case FLAM_BY_LINE:
      key.line = profile->frames.line[frame];
      key.file = profile->frames.file[frame];
      break;
    case FLAM_BY_MODULE:
      key.function = profile->functions.module[function];
      break;
    case FLAM_BY_FILE:
      key.function = profile->frames.file[frame];
      break;
    case FLAM_BY_FUNCTION:
    case FLAM_BY_THREAD:
      break;
    }
  return key;
}

/* The nearest node at or above `node` that is the same thing, as far up as the
 * selection's recursion setting looks; FLAM_NONE when there is none. */
static FlamId
find_recursion (const Walk *walk, FlamId node, const FlamDraftKey *key)
{
  FlamRecursion recursion = walk->selection->recursion;
  FlamBy by = walk->selection->by;
  gboolean merge_neighbours = recursion != FLAM_RECURSION_OFF ||
                              by == FLAM_BY_MODULE || by == FLAM_BY_FILE;

  if (!merge_neighbours)
    return FLAM_NONE;
  while (node != 0)
    {
      const FlamDraftKey *other = flam_draft_key (walk->draft, node);

      if (other->function == key->function && other->line == key->line &&
          other->file == key->file && !other->thread)
        return node;
      if (recursion != FLAM_RECURSION_COLLAPSE)
        return FLAM_NONE;
      node = other->parent;
    }
  return FLAM_NONE;
}

static void
walk_stack (const Walk *walk, FlamId stack, FlamId root)
{
  FlamId prefix = walk->profile->stacks.prefix[stack];
  FlamId frame = walk->profile->stacks.frame[stack];
  Path path = { .node = root };
  guint64 seen = 0;
  FlamDraftKey key;
  FlamId same;

  if (prefix != FLAM_NONE)
    path = walk->paths[prefix];
  if (prefix != FLAM_NONE && walk->seen != NULL)
    seen = walk->seen[prefix];
  if (!path.dropped && transform_frame (walk, &path, &seen, frame))
    {
      key = frame_key (walk, frame);
      same = find_recursion (walk, path.node, &key);
      key.parent = path.node;
      path.node =
          same != FLAM_NONE ? same : flam_draft_node (walk->draft, &key);
      flam_draft_offer_frame (
          walk->draft, path.node, frame, walk->stack_total[stack]);
    }
  walk->paths[stack] = path;
  if (walk->seen != NULL)
    walk->seen[stack] = seen;
}

/* The node that the stack's own weight belongs to, or FLAM_NONE. */
static FlamId
stack_node (const Walk *walk, FlamId stack)
{
  const Path *path = &walk->paths[stack];

  if (path->dropped || (walk->seen != NULL &&
                        (walk->seen[stack] & walk->required) != walk->required))
    return FLAM_NONE;
  return path->node;
}

static const FlamStateSplit *
split_of (const FlamWeights *weights, FlamId stack)
{
  return weights->split != NULL ? &weights->split[stack] : NULL;
}

static gboolean
walk_all (Walk *walk,
          const FlamWeights *weights,
          const FlamProgress *progress,
          GError **error)
{
  const FlamStacks *stacks = &walk->profile->stacks;

  for (FlamId s = stacks->n; s-- > 0;)
    {
      gint64 total = walk->stack_total[s] + weights->weight[s];

      if (total == 0)
        continue;
      walk->stack_total[s] = total;
      if (stacks->prefix[s] != FLAM_NONE)
        walk->stack_total[stacks->prefix[s]] += total;
    }
  for (FlamId s = 0; s < stacks->n; s++)
    {
      FlamId node;

      if (s % STEP_ROWS == 0 &&
          !flam_progress_step (progress, 0.7 * s / stacks->n, error))
        return FALSE;
      if (walk->stack_total[s] == 0)
        continue;
      walk_stack (walk, s, 0);
      node = weights->weight[s] != 0 ? stack_node (walk, s) : FLAM_NONE;
      if (node != FLAM_NONE)
        flam_draft_add (
            walk->draft, node, weights->weight[s], split_of (weights, s));
    }
  if (weights->no_stack > 0 && walk->required == 0)
    flam_draft_add (
        walk->draft, 0, weights->no_stack, split_of (weights, stacks->n));
  return TRUE;
}

/* One thread's rows: its stacks and all their prefixes, ascending, so that
 * callers come first. `stamp` remembers which thread saw a stack last. */
static void
collect_stacks (const FlamStacks *stacks,
                const FlamThreadWeight *rows,
                guint n,
                FlamId *stamp,
                GArray *list)
{
  g_array_set_size (list, 0);
  for (guint i = 0; i < n; i++)
    for (FlamId s = rows[i].stack; s != FLAM_NONE; s = stacks->prefix[s])
      {
        if (stamp[s] == rows[i].thread + 1)
          break;
        stamp[s] = rows[i].thread + 1;
        g_array_append_val (list, s);
      }
}

static int
compare_ids (gconstpointer a, gconstpointer b)
{
  FlamId x = *(const FlamId *)a;
  FlamId y = *(const FlamId *)b;

  return (x > y) - (x < y);
}

static void
walk_thread (Walk *walk, const FlamThreadWeight *rows, guint n, GArray *list)
{
  const FlamStacks *stacks = &walk->profile->stacks;
  FlamDraftKey key = { .function = rows[0].thread, .thread = TRUE };
  FlamId root = flam_draft_node (walk->draft, &key);

  for (guint i = 0; i < list->len; i++)
    walk->stack_total[g_array_index (list, FlamId, i)] = 0;
  for (guint i = 0; i < n; i++)
    if (rows[i].stack != FLAM_NONE)
      walk->stack_total[rows[i].stack] += rows[i].weight;
  for (guint i = list->len; i-- > 0;)
    {
      FlamId s = g_array_index (list, FlamId, i);

      if (stacks->prefix[s] != FLAM_NONE)
        walk->stack_total[stacks->prefix[s]] += walk->stack_total[s];
    }
  for (guint i = 0; i < list->len; i++)
    walk_stack (walk, g_array_index (list, FlamId, i), root);
  for (guint i = 0; i < n; i++)
    {
      FlamStateSplit split = { { 0 } };
      FlamId node = FLAM_NONE;

      if (rows[i].stack != FLAM_NONE)
        node = stack_node (walk, rows[i].stack);
      else if (walk->required == 0)
        node = root;
      split.weight[rows[i].state] = rows[i].weight;
      if (node != FLAM_NONE)
        flam_draft_add (walk->draft, node, rows[i].weight, &split);
    }
}

static gboolean
walk_by_thread (Walk *walk,
                const FlamWeights *weights,
                const FlamProgress *progress,
                GError **error)
{
  const FlamThreadWeight *rows =
      (const FlamThreadWeight *)(const void *)weights->by_thread->data;
  guint n_rows = weights->by_thread->len;
  g_autofree FlamId *stamp = g_new0 (FlamId, walk->profile->stacks.n + 1);
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (FlamId));

  memset (stamp, 0xff, (gsize)walk->profile->stacks.n * sizeof *stamp);
  for (guint i = 0, end; i < n_rows; i = end)
    {
      for (end = i + 1; end < n_rows && rows[end].thread == rows[i].thread;)
        end++;
      if (!flam_progress_step (progress, 0.7 * i / n_rows, error))
        return FALSE;
      collect_stacks (&walk->profile->stacks, rows + i, end - i, stamp, list);
      g_array_sort (list, compare_ids);
      walk_thread (walk, rows + i, end - i, list);
    }
  return TRUE;
}

/* --- other columns ------------------------------------------------------- */

/* stack ──paths──▶ draft node [──end──▶ inverted draft node] ──place──▶ node */
static void
map_stacks (FlamTree *tree,
            const Walk *walk,
            const FlamId *end,
            const FlamId *place)
{
  guint32 n = tree->profile->stacks.n;

  tree->stack_node = g_new (FlamId, n + 1);
  for (FlamId s = 0; s < n; s++)
    {
      FlamId node =
          walk->stack_total[s] != 0 ? stack_node (walk, s) : FLAM_NONE;

      if (node != FLAM_NONE && end != NULL)
        node = end[node];
      tree->stack_node[s] = node != FLAM_NONE ? place[node] : FLAM_NONE;
    }
}

static void
add_other (FlamTree *tree, const FlamWeights *weights)
{
  tree->other_self = g_new (gint64, tree->n);
  tree->other_total = g_new (gint64, tree->n);
  flam_tree_sum (tree, weights->other, tree->other_self, tree->other_total);
}

static void
walk_clear (Walk *walk)
{
  g_free (walk->matches);
  g_free (walk->paths);
  g_free (walk->seen);
  g_free (walk->stack_total);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Walk, walk_clear)

static gboolean
fill_draft (Walk *walk,
            const FlamWeights *weights,
            const FlamProgress *progress,
            GError **error)
{
  guint32 n_stacks = weights->profile->stacks.n;

  walk->paths = g_new (Path, n_stacks + 1);
  walk->stack_total = g_new0 (gint64, n_stacks + 1);
  if (!match_functions (walk, progress, error))
    return FALSE;
  if (walk->required != 0)
    walk->seen = g_new (guint64, n_stacks + 1);
  return weights->by_thread != NULL
             ? walk_by_thread (walk, weights, progress, error)
             : walk_all (walk, weights, progress, error);
}

FlamTree *
flam_tree_new (const FlamWeights *weights,
               const FlamSelection *selection,
               FlamTreeOrder order,
               const FlamProgress *progress,
               GError **error)
{
  static const FlamDraftKey root = { FLAM_NONE, FLAM_NONE, 0, FALSE };
  g_auto (FlamDraft) draft = { 0 };
  g_auto (FlamDraft) inverted = { 0 };
  g_auto (Walk) walk = { weights->profile, selection, .draft = &draft };
  g_autoptr (FlamTree) tree = NULL;
  g_autofree FlamId *end = NULL;
  g_autofree FlamId *place = NULL;

  flam_draft_init (&draft, weights->split != NULL);
  flam_draft_init (&inverted, weights->split != NULL);
  flam_draft_node (&draft, &root);
  flam_draft_node (&inverted, &root);
  if (!fill_draft (&walk, weights, progress, error))
    return NULL;
  if (selection->invert)
    end = g_new (FlamId, draft.keys.n);
  if (end != NULL &&
      !flam_draft_invert (&draft, &inverted, end, progress, error))
    return NULL;

  tree = g_atomic_rc_box_new0 (FlamTree);
  tree->profile = flam_profile_ref (weights->profile);
  tree->by = selection->by;
  tree->inverted = selection->invert;
  tree->measure = selection->measure;
  tree->counted = selection->count;
  place = flam_draft_place (tree, end != NULL ? &inverted : &draft, order);
  if (weights->by_thread == NULL)
    map_stacks (tree, &walk, end, place);
  if (tree->stack_node != NULL && weights->other != NULL)
    add_other (tree, weights);
  if (!flam_progress_step (progress, 1, error))
    return NULL;
  return g_steal_pointer (&tree);
}
