/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-tree-private.h"

#include "flam-columns.h"

/* From stacks to tree in three steps, each a loop:
 *
 *   stacks (trie of frames)         draft (trie of keys)       tree
 *   every stack with weight below ─▶ node per distinct path ─▶ preorder
 *
 * The draft merges what the selection calls the same (a function, a line, a
 * module) and leaves out what its transforms hide, so it is often much smaller
 * than the stacks. Its nodes come parents first. */

#define STEP_ROWS (1 << 14)

typedef struct
{
  FlamId parent;
  FlamId function; /* or module, file, thread: the key */
  guint32 line;
  gboolean thread; /* the key is a thread */
} DraftKey;

typedef struct
{
  FlamColumn keys;        /* DraftKey */
  FlamColumn self;        /* gint64 */
  FlamColumn frame;       /* FlamId */
  FlamColumn frame_total; /* gint64: what made `frame` the heaviest */
  FlamInterner interner;
} Draft;

static void
draft_init (Draft *draft)
{
  flam_column_init (&draft->keys, sizeof (DraftKey));
  flam_column_init (&draft->self, sizeof (gint64));
  flam_column_init (&draft->frame, sizeof (FlamId));
  flam_column_init (&draft->frame_total, sizeof (gint64));
  flam_interner_init (&draft->interner);
}

static void
draft_clear (Draft *draft)
{
  flam_column_clear (&draft->keys);
  flam_column_clear (&draft->self);
  flam_column_clear (&draft->frame);
  flam_column_clear (&draft->frame_total);
  flam_interner_clear (&draft->interner);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Draft, draft_clear)

#define draft_key(draft, node)                                                 \
  (&flam_column_at (&(draft)->keys, DraftKey, (node)))

static gboolean
draft_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const DraftKey *a = draft_key ((const Draft *)table, row);
  const DraftKey *b = key;

  return a->parent == b->parent && a->function == b->function &&
         a->line == b->line && a->thread == b->thread;
}

static FlamId
draft_node (Draft *draft, const DraftKey *key)
{
  guint32 hash = flam_hash_pair ((guint64)key->parent << 32 | key->function,
                                 (guint64)key->line << 1 | key->thread);
  FlamSlot *slot =
      flam_interner_find (&draft->interner, hash, draft_equal, draft, key);

  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, draft->keys.n };
  draft->interner.used++;
  flam_column_append (&draft->keys, DraftKey, *key);
  flam_column_append (&draft->self, gint64, 0);
  flam_column_append (&draft->frame, FlamId, FLAM_NONE);
  flam_column_append (&draft->frame_total, gint64, -1);
  return slot->id;
}

static void
draft_offer_frame (Draft *draft, FlamId node, FlamId frame, gint64 total)
{
  if (total <= flam_column_at (&draft->frame_total, gint64, node))
    return;
  flam_column_at (&draft->frame_total, gint64, node) = total;
  flam_column_at (&draft->frame, FlamId, node) = frame;
}

/* --- step 1: stacks -> draft --------------------------------------------- */

/* What has happened on the way from the root to a stack. */
typedef struct
{
  guint64 seen; /* bit per transform: FOCUS and FILTER that matched */
  FlamId node;
  gboolean dropped;   /* IGNORE matched */
  gboolean swallowed; /* below a COLLAPSE or PRUNE */
} Path;

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  guint64 *matches; /* per function: bit per transform */
  guint64 required; /* FOCUS and FILTER bits a stack must have seen */
  Draft *draft;
  Path *paths;         /* per stack */
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
         (selection->hide_imports && (flags & FLAM_FUNCTION_IMPORT) != 0) ||
         (selection->no_native && kind != FLAM_KIND_INTERPRETED &&
          kind != FLAM_KIND_ROOT);
}

/* Applies the transforms to one frame; FALSE when it is not to be seen. */
static gboolean
transform_frame (const Walk *walk, Path *path, FlamId frame)
{
  const GPtrArray *transforms = walk->selection->transforms;
  guint64 matches = walk->matches[walk->profile->frames.function[frame]];
  gboolean swallow = FALSE;

  if (switched_off (walk, frame))
    return FALSE;
  for (guint t = 0; t < transforms->len; t++)
    {
      const FlamTransform *transform = transforms->pdata[t];
      guint64 bit = 1ull << t;
      gboolean match = (matches & bit) != 0;

      if (transform->kind == FLAM_TRANSFORM_FOCUS && !match &&
          !(path->seen & bit))
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
        path->seen |= bit;
    }
  if (path->swallowed)
    return FALSE;
  path->swallowed = swallow;
  return TRUE;
}

static DraftKey
frame_key (const Walk *walk, FlamId frame)
{
  const FlamProfile *profile = walk->profile;
  FlamId function = profile->frames.function[frame];
  DraftKey key = { .function = function };

  switch (walk->selection->by)
    {
    case FLAM_BY_LINE:
      key.line = profile->frames.line[frame];
      break;
    case FLAM_BY_MODULE:
      key.function = profile->functions.module[function];
      break;
    case FLAM_BY_FILE:
      key.function = profile->functions.file[function];
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
find_recursion (const Walk *walk, FlamId node, const DraftKey *key)
{
  FlamRecursion recursion = walk->selection->recursion;
  FlamBy by = walk->selection->by;
  gboolean merge_neighbours = recursion != FLAM_RECURSION_OFF ||
                              by == FLAM_BY_MODULE || by == FLAM_BY_FILE;

  if (!merge_neighbours)
    return FLAM_NONE;
  while (node != 0)
    {
      const DraftKey *other = draft_key (walk->draft, node);

      if (other->function == key->function && other->line == key->line &&
          !other->thread)
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
  DraftKey key;
  FlamId same;

  if (prefix != FLAM_NONE)
    path = walk->paths[prefix];
  if (!path.dropped && transform_frame (walk, &path, frame))
    {
      key = frame_key (walk, frame);
      same = find_recursion (walk, path.node, &key);
      key.parent = path.node;
      path.node = same != FLAM_NONE ? same : draft_node (walk->draft, &key);
      draft_offer_frame (
          walk->draft, path.node, frame, walk->stack_total[stack]);
    }
  walk->paths[stack] = path;
}

static gint64 *
stack_self (Walk *walk, FlamId stack)
{
  const Path *path = &walk->paths[stack];

  if (path->dropped || (path->seen & walk->required) != walk->required)
    return NULL;
  return &flam_column_at (&walk->draft->self, gint64, path->node);
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
      walk->stack_total[s] += weights->weight[s];
      if (stacks->prefix[s] != FLAM_NONE)
        walk->stack_total[stacks->prefix[s]] += walk->stack_total[s];
    }
  for (FlamId s = 0; s < stacks->n; s++)
    {
      gint64 *self;

      if (s % STEP_ROWS == 0 &&
          !flam_progress_step (progress, 0.7 * s / stacks->n, error))
        return FALSE;
      if (walk->stack_total[s] == 0)
        continue;
      walk_stack (walk, s, 0);
      self = weights->weight[s] != 0 ? stack_self (walk, s) : NULL;
      if (self != NULL)
        *self += weights->weight[s];
    }
  if (weights->no_stack > 0 && walk->required == 0)
    flam_column_at (&walk->draft->self, gint64, 0) += weights->no_stack;
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
  DraftKey key = { 0, rows[0].thread, 0, TRUE };
  FlamId root = draft_node (walk->draft, &key);

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
      gint64 *self = NULL;

      if (rows[i].stack != FLAM_NONE)
        self = stack_self (walk, rows[i].stack);
      else if (walk->required == 0)
        self = &flam_column_at (&walk->draft->self, gint64, root);
      if (self != NULL)
        *self += rows[i].weight;
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

/* --- step 1b: upside down ------------------------------------------------ */

/* Every path with weight, walked from its leaf to its root, into a new draft.
 * The weight stands at the path's last node: where the stack began. */
static gboolean
invert_draft (const Draft *forward,
              Draft *inverted,
              const FlamProgress *progress,
              GError **error)
{
  flam_column_at (&inverted->self, gint64, 0) =
      flam_column_at (&forward->self, gint64, 0);
  for (FlamId leaf = 1; leaf < forward->keys.n; leaf++)
    {
      gint64 self = flam_column_at (&forward->self, gint64, leaf);
      FlamId to = 0;

      if (leaf % 1024 == 0 &&
          !flam_progress_step (
              progress, 0.7 + 0.1 * leaf / forward->keys.n, error))
        return FALSE;
      for (FlamId from = leaf; self != 0 && from != 0;
           from = draft_key (forward, from)->parent)
        {
          DraftKey key = *draft_key (forward, from);

          key.parent = to;
          to = draft_node (inverted, &key);
          draft_offer_frame (inverted,
                             to,
                             flam_column_at (&forward->frame, FlamId, from),
                             self);
        }
      if (self != 0)
        flam_column_at (&inverted->self, gint64, to) += self;
    }
  return TRUE;
}

/* --- step 2: draft -> preorder ------------------------------------------- */

typedef struct
{
  const Draft *draft;
  const FlamProfile *profile;
  FlamBy by;
  FlamTreeOrder order;
  gint64 *total;
} Siblings;

static int
compare_siblings (gconstpointer a, gconstpointer b, gpointer data)
{
  const Siblings *s = data;
  FlamId x = *(const FlamId *)a;
  FlamId y = *(const FlamId *)b;
  const DraftKey *key_x = draft_key (s->draft, x);
  const DraftKey *key_y = draft_key (s->draft, y);
  int order;

  if (s->order == FLAM_ORDER_TOTAL && s->total[x] != s->total[y])
    return s->total[x] > s->total[y] ? -1 : 1;
  order = strcmp (
      flam_tree_key_name (s->profile, s->by, key_x->function, key_x->thread),
      flam_tree_key_name (s->profile, s->by, key_y->function, key_y->thread));
  if (order == 0)
    order = (key_x->line > key_y->line) - (key_x->line < key_y->line);
  return order != 0 ? order : (x > y) - (x < y);
}

/* Children of each node as slices of one array, sorted: slice of node i is
 * children[first[i]] .. children[first[i + 1]]. */
static FlamId *
sort_children (const Siblings *siblings, guint32 *first)
{
  const Draft *draft = siblings->draft;
  guint32 n = draft->keys.n;
  FlamId *children = g_new (FlamId, n + 1);
  g_autofree guint32 *fill = g_new0 (guint32, n + 1);

  for (FlamId i = 1; i < n; i++)
    if (siblings->total[i] != 0)
      first[draft_key (draft, i)->parent + 1]++;
  for (FlamId i = 0; i < n; i++)
    first[i + 1] += first[i];
  for (FlamId i = 1; i < n; i++)
    {
      FlamId parent = draft_key (draft, i)->parent;

      if (siblings->total[i] != 0)
        children[first[parent] + fill[parent]++] = i;
    }
  for (FlamId i = 0; i < n; i++)
    if (first[i + 1] - first[i] > 1)
      g_qsort_with_data (children + first[i],
                         first[i + 1] - first[i],
                         sizeof *children,
                         compare_siblings,
                         (gpointer)siblings);
  return children;
}

static gint64 *
sum_totals (const Draft *draft, guint32 *sizes)
{
  guint32 n = draft->keys.n;
  gint64 *total = g_new (gint64, n);

  memcpy (total, draft->self.data, n * sizeof *total);
  for (FlamId i = n; i-- > 1;)
    {
      FlamId parent = draft_key (draft, i)->parent;

      total[parent] += total[i];
      if (total[i] == 0)
        continue;
      sizes[i]++;
      sizes[parent] += sizes[i];
    }
  sizes[0]++;
  return total;
}

static void
allocate_columns (FlamTree *tree, guint32 n)
{
  tree->n = n;
  tree->parent = g_new (FlamId, n);
  tree->subtree_end = g_new (FlamId, n);
  tree->depth = g_new (guint32, n);
  tree->function = g_new (FlamId, n);
  tree->line = g_new (guint32, n);
  tree->frame = g_new (FlamId, n);
  tree->self = g_new (gint64, n);
  tree->total = g_new (gint64, n);
}

static void
place_node (FlamTree *tree,
            const Draft *draft,
            FlamId from,
            FlamId to,
            FlamId parent,
            guint32 size,
            gint64 total)
{
  const DraftKey *key = draft_key (draft, from);

  tree->parent[to] = parent;
  tree->subtree_end[to] = to + size;
  tree->depth[to] = parent == FLAM_NONE ? 0 : tree->depth[parent] + 1;
  tree->function[to] = from == 0 ? FLAM_NONE : key->function;
  tree->line[to] = key->line;
  tree->frame[to] = flam_column_at (&draft->frame, FlamId, from);
  tree->self[to] = flam_column_at (&draft->self, gint64, from);
  tree->total[to] = total;
  tree->max_depth = MAX (tree->max_depth, tree->depth[to]);
}

/* Draft nodes come parents first, so each hands its children their places:
 * the first right behind it, the next behind the first's subtree. */
static void
place_nodes (FlamTree *tree, const Draft *draft, FlamTreeOrder order)
{
  guint32 n = draft->keys.n;
  g_autofree guint32 *sizes = g_new0 (guint32, n + 1);
  g_autofree guint32 *first = g_new0 (guint32, n + 2);
  g_autofree FlamId *place = g_new (FlamId, n);
  g_autofree gint64 *total = sum_totals (draft, sizes);
  Siblings siblings = { draft, tree->profile, tree->by, order, total };
  g_autofree FlamId *children = sort_children (&siblings, first);

  allocate_columns (tree, sizes[0]);
  place[0] = 0;
  place_node (tree, draft, 0, 0, FLAM_NONE, sizes[0], total[0]);
  for (FlamId i = 0; i < n; i++)
    {
      FlamId next = place[i] + 1;

      if (i > 0 && total[i] == 0)
        continue;
      for (guint32 c = first[i]; c < first[i + 1]; c++)
        {
          FlamId child = children[c];

          place[child] = next;
          place_node (
              tree, draft, child, next, place[i], sizes[child], total[child]);
          next += sizes[child];
        }
    }
}

static void
walk_clear (Walk *walk)
{
  g_free (walk->matches);
  g_free (walk->paths);
  g_free (walk->stack_total);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Walk, walk_clear)

static gboolean
fill_draft (Draft *draft,
            const FlamWeights *weights,
            const FlamSelection *selection,
            const FlamProgress *progress,
            GError **error)
{
  guint32 n_stacks = weights->profile->stacks.n;
  g_auto (Walk) walk = { weights->profile, selection, .draft = draft };

  walk.paths = g_new (Path, n_stacks + 1);
  walk.stack_total = g_new0 (gint64, n_stacks + 1);
  if (!match_functions (&walk, progress, error))
    return FALSE;
  return weights->by_thread != NULL
             ? walk_by_thread (&walk, weights, progress, error)
             : walk_all (&walk, weights, progress, error);
}

FlamTree *
flam_tree_new (const FlamWeights *weights,
               const FlamSelection *selection,
               FlamTreeOrder order,
               const FlamProgress *progress,
               GError **error)
{
  static const DraftKey root = { FLAM_NONE, FLAM_NONE, 0, FALSE };
  g_auto (Draft) draft = { 0 };
  g_auto (Draft) inverted = { 0 };
  g_autoptr (FlamTree) tree = NULL;

  draft_init (&draft);
  draft_init (&inverted);
  draft_node (&draft, &root);
  draft_node (&inverted, &root);
  if (!fill_draft (&draft, weights, selection, progress, error))
    return NULL;
  if (selection->invert && !invert_draft (&draft, &inverted, progress, error))
    return NULL;

  tree = g_atomic_rc_box_new0 (FlamTree);
  tree->profile = flam_profile_ref (weights->profile);
  tree->by = selection->by;
  tree->inverted = selection->invert;
  tree->measure = selection->measure;
  tree->counted = selection->count;
  place_nodes (tree, selection->invert ? &inverted : &draft, order);
  if (!flam_progress_step (progress, 1, error))
    return NULL;
  return g_steal_pointer (&tree);
}
