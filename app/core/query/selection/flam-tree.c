/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-tree-private.h"

#include <string.h>

/* A finished tree: its memory, its names and the queries on it. flam-tree-
 * build.c creates it. */

const char *
flam_tree_key_name (const FlamProfile *profile,
                    FlamBy by,
                    FlamTreeKey key,
                    gboolean top)
{
  if (top && by == FLAM_BY_LABEL)
    return key.row == FLAM_NONE ? "[no label]"
                                : flam_profile_string (profile, key.row);
  if (top && by == FLAM_BY_PROCESS)
    return key.row == FLAM_NONE || profile->processes.name[key.row] == 0
               ? "[unknown process]"
               : flam_profile_string (profile,
                                      profile->processes.name[key.row]);
  if (top)
    return key.row == FLAM_NONE
               ? "[unknown thread]"
               : flam_profile_string (profile, profile->threads.name[key.row]);
  if (by == FLAM_BY_MODULE)
    return key.row == FLAM_NONE
               ? FLAM_UNKNOWN_PLACE
               : flam_profile_string (profile, profile->modules.name[key.row]);
  if (by == FLAM_BY_FILE)
    return key.row == 0 ? FLAM_UNKNOWN_PLACE
                        : flam_profile_string (profile, key.row);
  return flam_profile_function_name (profile, key.row);
}

static void
tree_clear (gpointer data)
{
  FlamTree *tree = data;

  flam_cells_drop (tree->parent);
  flam_cells_drop (tree->subtree_end);
  flam_cells_drop (tree->depth);
  flam_cells_drop (tree->key);
  flam_cells_drop (tree->line);
  flam_cells_drop (tree->frame);
  flam_cells_drop (tree->self);
  flam_cells_drop (tree->total);
  g_free (tree->split);
  g_free (tree->status);
  if (tree->change != NULL)
    {
      g_free (tree->change->base);
      g_free (tree->change->delta);
      g_free (tree->change->kind);
      g_free (tree->change->estimate);
      g_free (tree->change);
    }
  g_free (tree->other_self);
  g_free (tree->other_total);
  g_free (tree->spread_self);
  g_free (tree->spread_total);
  flam_cells_drop (tree->stack_node);
  g_clear_pointer (&tree->top_names, g_ptr_array_unref);
  flam_profile_unref (tree->profile);
}

FlamTree *
flam_tree_ref (FlamTree *tree)
{
  return g_atomic_rc_box_acquire (tree);
}

void
flam_tree_unref (FlamTree *tree)
{
  g_atomic_rc_box_release_full (tree, tree_clear);
}

FlamMeasure
flam_tree_measure (const FlamTree *tree)
{
  FlamMeasure measure = tree->profile->measures[tree->measure];

  if (tree->counted)
    measure.unit = FLAM_UNIT_COUNT;
  return measure;
}

guint
flam_tree_states (const FlamTree *tree)
{
  guint states = 0;

  for (guint i = 0; tree->split != NULL && i < FLAM_N_STATES; i++)
    if (tree->split[0].weight[i] != 0)
      states |= 1u << i;
  return states;
}

FlamUnit
flam_tree_other_unit (const FlamTree *tree)
{
  return tree->profile->measures[tree->measure].unit == FLAM_UNIT_BYTES
             ? FLAM_UNIT_COUNT
             : FLAM_UNIT_BYTES;
}

void
flam_tree_sum (const FlamTree *tree,
               const gint64 *weight,
               gint64 *self,
               gint64 *total)
{
  memset (self, 0, tree->n * sizeof *self);
  for (FlamId s = 0; s < tree->profile->stacks.n; s++)
    if (tree->stack_node[s] != FLAM_NONE)
      self[tree->stack_node[s]] += weight[s];
  memcpy (total, self, tree->n * sizeof *total);
  for (FlamNodeId node = tree->n; node-- > 1;)
    total[tree->parent[node]] += total[node];
}

void
flam_tree_sum_spread (const FlamTree *tree,
                      const FlamSpread *spread,
                      FlamSpread *self,
                      FlamSpread *total)
{
  memset (self, 0, tree->n * sizeof *self);
  for (FlamId s = 0; s < tree->profile->stacks.n; s++)
    if (tree->stack_node[s] != FLAM_NONE)
      flam_spread_add (&self[tree->stack_node[s]], &spread[s]);
  memcpy (total, self, tree->n * sizeof *total);
  for (FlamNodeId node = tree->n; node-- > 1;)
    flam_spread_add (&total[tree->parent[node]], &total[node]);
}

/* Tops are the first nodes below the root of an upright tree and the last ones
 * of an inverted tree, where they are the nodes without a frame. */
gboolean
flam_tree_is_top (const FlamTree *tree, FlamNodeId node)
{
  return flam_by_has_tops (tree->by) && (node != 0 || tree->rooted) &&
         tree->frame[node] == FLAM_NONE;
}

guint64
flam_tree_address (const FlamTree *tree, FlamNodeId node)
{
  return tree->by == FLAM_BY_ADDRESS && tree->frame[node] != FLAM_NONE
             ? tree->profile->frames.address[tree->frame[node]]
             : 0;
}

char *
flam_tree_detail (const FlamTree *tree, FlamNodeId node)
{
  guint64 address = flam_tree_address (tree, node);

  if (tree->by == FLAM_BY_LINE && flam_tree_line (tree, node) != 0)
    return g_strdup_printf (":%u", flam_tree_line (tree, node));
  return address != 0 ? g_strdup_printf ("@0x%" G_GINT64_MODIFIER "x", address)
                      : g_strdup ("");
}

const char *
flam_tree_plain_name (const FlamTree *tree, FlamNodeId node)
{
  return node == 0 && !tree->rooted
             ? "all"
             : flam_tree_key_name (tree->profile,
                                   tree->by,
                                   tree->key[node],
                                   flam_tree_is_top (tree, node));
}

/* "rank 3: app (4711)": on several hosts, numbers of processes and threads may
 * be equal. Takes the name. */
static char *
name_of_rank (const FlamProcesses *processes, FlamProcessId i, char *name)
{
  g_autofree char *own = name;

  return i < processes->n && processes->rank[i] != 0
             ? g_strdup_printf ("rank %u: %s", processes->rank[i] - 1, own)
             : g_steal_pointer (&own);
}

static char *
name_process (const FlamProcesses *processes, FlamProcessId i, const char *name)
{
  return name_of_rank (
      processes,
      i,
      processes->pid[i] >= 0
          ? g_strdup_printf ("%s (%d)", name, processes->pid[i])
          : g_strdup (name));
}

static void
name_processes (FlamTree *tree)
{
  const FlamProcesses *processes = &tree->profile->processes;

  for (FlamId i = 0; i < processes->n; i++)
    {
      const char *name = flam_tree_key_name (
          tree->profile, FLAM_BY_PROCESS, (FlamTreeKey){ i }, TRUE);

      g_ptr_array_add (tree->top_names, name_process (processes, i, name));
    }
}

static void
name_threads (FlamTree *tree)
{
  const FlamThreads *threads = &tree->profile->threads;
  g_autoptr (GHashTable) met = g_hash_table_new (g_str_hash, g_str_equal);
  g_autofree const char **names = g_new (const char *, threads->n + 1);

  for (FlamId i = 0; i < threads->n; i++)
    {
      guint n;

      names[i] = flam_tree_key_name (
          tree->profile, FLAM_BY_THREAD, (FlamTreeKey){ i }, TRUE);
      n = GPOINTER_TO_UINT (g_hash_table_lookup (met, names[i]));
      g_hash_table_insert (met, (gpointer)names[i], GUINT_TO_POINTER (n + 1));
    }
  for (FlamId i = 0; i < threads->n; i++)
    {
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (met, names[i]));

      g_ptr_array_add (
          tree->top_names,
          name_of_rank (
              &tree->profile->processes,
              threads->process[i],
              n > 1 && threads->tid[i] >= 0
                  ? g_strdup_printf ("%s (%d)", names[i], threads->tid[i])
                  : g_strdup (names[i])));
    }
}

void
flam_tree_name_tops (FlamTree *tree)
{
  if (tree->by != FLAM_BY_PROCESS && tree->by != FLAM_BY_THREAD)
    return;
  tree->top_names = g_ptr_array_new_with_free_func (g_free);
  if (tree->by == FLAM_BY_PROCESS)
    name_processes (tree);
  else
    name_threads (tree);
}

static gboolean
has_own_name (const FlamTree *tree, FlamNodeId node)
{
  return tree->top_names != NULL && flam_tree_is_top (tree, node) &&
         tree->key[node].row < tree->top_names->len;
}

const char *
flam_tree_name (const FlamTree *tree, FlamNodeId node)
{
  return has_own_name (tree, node) ? tree->top_names->pdata[tree->key[node].row]
                                   : flam_tree_plain_name (tree, node);
}

FlamFunctionId
flam_tree_function (const FlamTree *tree, FlamNodeId node)
{
  if ((node == 0 && !tree->rooted) || flam_tree_is_top (tree, node))
    return FLAM_NONE;
  if (tree->by == FLAM_BY_MODULE || tree->by == FLAM_BY_FILE)
    return tree->profile->frames.function[tree->frame[node]];
  return tree->key[node].row;
}

FlamThreadId
flam_tree_thread (const FlamTree *tree, FlamNodeId node)
{
  FlamThreadId thread = FLAM_NONE;

  if (tree->by == FLAM_BY_THREAD && flam_tree_is_top (tree, node))
    thread = tree->key[node].row;
  return thread;
}

FlamProcessId
flam_tree_process (const FlamTree *tree, FlamNodeId node)
{
  FlamProcessId process = FLAM_NONE;

  if (tree->by == FLAM_BY_PROCESS && flam_tree_is_top (tree, node))
    process = tree->key[node].row;
  return process;
}

FlamModuleId
flam_tree_module (const FlamTree *tree, FlamNodeId node)
{
  return tree->by == FLAM_BY_MODULE ? tree->key[node].row : FLAM_NONE;
}

gboolean
flam_tree_is_same (const FlamTree *tree,
                   FlamNodeId node,
                   const FlamTree *other_tree,
                   FlamId other)
{
  return tree->by == other_tree->by &&
         tree->key[node].row == other_tree->key[other].row &&
         flam_tree_line (tree, node) == flam_tree_line (other_tree, other) &&
         flam_tree_address (tree, node) ==
             flam_tree_address (other_tree, other) &&
         flam_tree_is_top (tree, node) == flam_tree_is_top (other_tree, other);
}

FlamFunctionKind
flam_tree_kind (const FlamTree *tree, FlamNodeId node)
{
  FlamFunctionId function = flam_tree_function (tree, node);

  return function == FLAM_NONE ? FLAM_KIND_ROOT
                               : tree->profile->functions.kind[function];
}

gboolean
flam_tree_is_inlined (const FlamTree *tree, FlamNodeId node)
{
  return flam_tree_is_inlined_in (tree, node, flam_tree_function (tree, node));
}

gboolean
flam_tree_is_inlined_in (const FlamTree *tree,
                         FlamNodeId node,
                         FlamFunctionId function)
{
  const FlamProfile *profile = tree->profile;
  FlamFrameId frame = tree->frame[node];

  if (frame != FLAM_NONE && profile->frames.inline_depth[frame] > 0)
    return TRUE;
  return function != FLAM_NONE &&
         (profile->functions.flags[function] & FLAM_FUNCTION_INLINED);
}

char *
flam_tree_annotated_name (const FlamTree *tree, FlamNodeId node)
{
  static const char *const marks[FLAM_N_KINDS] = {
    [FLAM_KIND_KERNEL] = "_[k]",
    [FLAM_KIND_JIT] = "_[j]",
    [FLAM_KIND_WAKER] = "_[w]",
  };
  const char *mark = NULL;

  if (node == 0 && !tree->rooted)
    return g_strdup ("");
  mark = marks[flam_tree_kind (tree, node)];
  if (mark == NULL && tree->by != FLAM_BY_MODULE && tree->by != FLAM_BY_FILE &&
      flam_tree_is_inlined (tree, node))
    mark = "_[i]";
  return g_strconcat (flam_tree_name (tree, node), mark, NULL);
}

guint32
flam_tree_source_line (const FlamTree *tree, FlamNodeId node, const char **file)
{
  const FlamProfile *profile = tree->profile;
  FlamFrameId frame = tree->frame[node];
  FlamFunctionId function;

  *file = "";
  if (frame == FLAM_NONE)
    return 0;
  if (profile->frames.line[frame] != 0)
    {
      *file = flam_profile_string (profile, profile->frames.file[frame]);
      return profile->frames.line[frame];
    }
  function = profile->frames.function[frame];
  *file = flam_profile_string (profile, profile->functions.file[function]);
  return profile->functions.line[function];
}

/* The child of `parent` with this name, or, of processes and threads, the first
 * with this plain name; FLAM_NONE: there is none. */
static FlamId
child_named (const FlamTree *tree, FlamId parent, const char *name)
{
  FlamNodeId alike = FLAM_NONE;

  for (FlamNodeId child = flam_tree_first_child (tree, parent);
       child != FLAM_NONE;
       child = flam_tree_next_sibling (tree, child))
    if (strcmp (flam_tree_name (tree, child), name) == 0)
      return child;
    else if (alike == FLAM_NONE && has_own_name (tree, child) &&
             strcmp (flam_tree_plain_name (tree, child), name) == 0)
      alike = child;
  return alike;
}

char **
flam_tree_get_path (const FlamTree *tree, FlamNodeId node)
{
  guint32 depth = tree->depth[node];
  char **names = g_new0 (char *, depth + 1);

  for (; node != 0 && depth > 0; node = tree->parent[node])
    names[--depth] = g_strdup (flam_tree_name (tree, node));
  return names;
}

FlamNodeId
flam_tree_find_names (const FlamTree *tree, const char *const *names)
{
  FlamId found = 0;

  for (; *names != NULL; names++)
    {
      FlamNodeId child = child_named (tree, found, *names);

      if (child == FLAM_NONE)
        break;
      found = child;
    }
  return found;
}

/* Whether a node represents the same thing as `key`. */
static gboolean
is_of_key (const FlamTree *tree, FlamNodeId node, const FlamShownKey *key)
{
  FlamFrameId frame = tree->frame[node];

  return tree->key[node].row == key->thing &&
         flam_tree_line (tree, node) == key->line &&
         flam_tree_address (tree, node) == key->address &&
         !flam_tree_is_top (tree, node) &&
         (tree->by != FLAM_BY_LINE || frame == FLAM_NONE ||
          tree->profile->frames.file[frame] == key->file);
}

static FlamId
child_of_key (const FlamTree *tree, FlamId parent, const FlamShownKey *key)
{
  FlamNodeId child = flam_tree_first_child (tree, parent);

  while (child != FLAM_NONE && !is_of_key (tree, child, key))
    child = flam_tree_next_sibling (tree, child);
  return child;
}

FlamShownKey
flam_tree_key (const FlamTree *tree, FlamNodeId node)
{
  FlamFrameId frame = tree->frame[node];
  FlamShownKey key = { .thing = tree->key[node].row,
                       .line = flam_tree_line (tree, node),
                       .address = flam_tree_address (tree, node) };

  if (tree->by == FLAM_BY_LINE && frame != FLAM_NONE)
    key.file = tree->profile->frames.file[frame];
  return key;
}

/* The node reached from `node` by following each key in turn, or FLAM_NONE. */
static FlamId
descend (const FlamTree *tree,
         FlamNodeId node,
         const FlamShownKey *keys,
         guint32 n,
         gboolean from_last)
{
  for (guint32 i = 0; i < n && node != FLAM_NONE; i++)
    node = child_of_key (tree, node, &keys[from_last ? n - 1 - i : i]);
  return node;
}

FlamNodeId
flam_tree_find_stack (const FlamTree *tree,
                      const FlamShownKey *keys,
                      guint32 n,
                      FlamId top)
{
  FlamId best = 0;

  if (tree->by == FLAM_BY_PROCESS && top < tree->profile->threads.n)
    top = tree->profile->threads.process[top];
  if (n == 0)
    return 0;
  if (tree->inverted)
    return flam_tree_find_calls (tree, keys, n, TRUE);
  if (!flam_by_has_tops (tree->by))
    {
      FlamId found = descend (tree, 0, keys, n, FALSE);

      return found != FLAM_NONE ? found : 0;
    }
  for (FlamId i = flam_tree_first_child (tree, 0); i != FLAM_NONE;
       i = flam_tree_next_sibling (tree, i))
    {
      FlamId found = tree->by != FLAM_BY_LABEL && tree->key[i].row != top
                         ? FLAM_NONE
                         : descend (tree, i, keys, n, FALSE);

      if (found != FLAM_NONE &&
          (best == 0 || tree->total[found] > tree->total[best]))
        best = found;
    }
  return best;
}

FlamNodeId
flam_tree_find_calls (const FlamTree *tree,
                      const FlamShownKey *keys,
                      guint32 n,
                      gboolean callee)
{
  const FlamShownKey *first = tree->inverted ? &keys[n - 1] : &keys[0];
  const FlamShownKey *rest = tree->inverted ? keys : keys + 1;
  gboolean deepest = callee != tree->inverted;
  gint64 most = 0;
  FlamId best = 0;

  for (FlamId i = 1; i < tree->n; i++)
    {
      FlamId end;

      if (!is_of_key (tree, i, first))
        continue;
      end = descend (tree, i, rest, n - 1, tree->inverted);
      if (end == FLAM_NONE || (best != 0 && tree->total[end] <= most))
        continue;
      most = tree->total[end];
      best = deepest ? end : i;
    }
  return best;
}

static FlamId
child_on_top (const FlamTree *tree, FlamId parent, FlamTreeKey key)
{
  FlamNodeId child = flam_tree_first_child (tree, parent);

  while (child != FLAM_NONE &&
         (tree->key[child].row != key.row || !flam_tree_is_top (tree, child)))
    child = flam_tree_next_sibling (tree, child);
  return child;
}

/* Functions of two modules, and two processes, may share a name: trees of one
 * profile distinguish them. */
static FlamId
find_same (const FlamTree *from, FlamNodeId node, const FlamTree *to)
{
  guint32 depth = from->depth[node];
  g_autofree FlamId *path = g_new (FlamId, depth + 1);
  FlamId found = 0;

  for (guint32 i = depth; i > 0; node = from->parent[node])
    path[--i] = node;
  for (guint32 i = 0; i < depth; i++)
    {
      FlamShownKey key = flam_tree_key (from, path[i]);
      FlamNodeId child = flam_tree_is_top (from, path[i])
                             ? child_on_top (to, found, from->key[path[i]])
                             : child_of_key (to, found, &key);

      if (child == FLAM_NONE)
        break;
      found = child;
    }
  return found;
}

FlamNodeId
flam_tree_find_path (const FlamTree *from, FlamNodeId node, const FlamTree *to)
{
  g_auto (GStrv) names = NULL;

  if (from->profile == to->profile && from->by == to->by && !from->rooted &&
      !to->rooted)
    return find_same (from, node, to);
  names = flam_tree_get_path (from, node);
  /* Processes and threads of another capture have different ids. */
  for (guint32 i = from->depth[node]; node != 0; node = from->parent[node])
    if (has_own_name (from, node))
      {
        g_free (names[--i]);
        names[i] = g_strdup (flam_tree_plain_name (from, node));
      }
    else
      i--;
  return flam_tree_find_names (to, (const char *const *)names);
}

/* The path of `node`, the root's child first, and for each function its last
 * position in the path, plus 1; 0: not in it. */
typedef struct
{
  FlamFunctionId *function;
  guint32 n;
  guint32 *last;
} Chain;

static void
chain_of (const FlamTree *tree, FlamNodeId node, Chain *chain)
{
  guint n_functions = tree->profile->functions.n;
  guint32 i = tree->depth[node];

  chain->n = i;
  chain->function = g_new (FlamId, i);
  chain->last = g_new0 (guint32, n_functions);
  for (; node != 0; node = tree->parent[node])
    {
      FlamFunctionId function = flam_tree_function (tree, node);

      chain->function[--i] = function;
      if (function != FLAM_NONE && chain->last[function] == 0)
        chain->last[function] = i + 1;
    }
}

/* How many functions of the chain are on the path to a node, in the chain's
 * order: a transform that removes some frames keeps the order of the rest. */
static guint32
steps_on (const Chain *chain, guint32 met, FlamFunctionId function)
{
  if (function == FLAM_NONE || chain->last[function] <= met)
    return met;
  while (chain->function[met] != function)
    met++;
  return met + 1;
}

/* The node with more of the chain on its way is better, then the one with fewer
   other functions, then the heavier one. */
static gboolean
is_better (const FlamTree *tree, const guint32 *hits, FlamId a, FlamId b)
{
  if (b == 0 || hits[a] != hits[b])
    return b == 0 || hits[a] > hits[b];
  if (tree->depth[a] != tree->depth[b])
    return tree->depth[a] < tree->depth[b];
  return tree->total[a] > tree->total[b];
}

static FlamId
find_alike (const FlamTree *from, FlamNodeId node, const FlamTree *to)
{
  g_autofree guint32 *met = g_new0 (guint32, to->n);
  g_autofree guint32 *hits = g_new0 (guint32, to->n);
  FlamId wanted = flam_tree_function (from, node);
  Chain chain;
  FlamId best = 0;

  chain_of (from, node, &chain);
  for (FlamId i = 1; i < to->n; i++)
    {
      FlamId parent = to->parent[i];
      FlamFunctionId function = flam_tree_function (to, i);

      met[i] = steps_on (&chain, met[parent], function);
      hits[i] = hits[parent] + (met[i] != met[parent]);
      if (function == wanted && is_better (to, hits, i, best))
        best = i;
    }
  g_free (chain.function);
  g_free (chain.last);
  return best;
}

FlamNodeId
flam_tree_find_again (const FlamTree *from, FlamNodeId node, const FlamTree *to)
{
  FlamId found = flam_tree_find_path (from, node, to);
  FlamId alike;

  if (to->depth[found] == from->depth[node] || to->profile != from->profile ||
      flam_tree_function (from, node) == FLAM_NONE)
    return found;
  alike = find_alike (from, node, to);
  return alike != 0 ? alike : found;
}

gint64
flam_tree_search (const FlamTree *tree, FlamRegex *regex, guint8 *matched)
{
  guint n_keys = MAX (tree->profile->functions.n, tree->profile->modules.n);
  g_autofree guint8 *known = NULL;
  FlamId counted_until = 0;
  gint64 sum = 0;

  memset (matched, 0, tree->n);
  if (regex == NULL)
    return 0;
  n_keys = MAX (n_keys, flam_profile_n_strings (tree->profile));
  known = g_new0 (guint8, n_keys + 1);
  for (FlamId i = 1; i < tree->n; i++)
    {
      guint8 fresh = 0;
      FlamId key = tree->key[i].row;
      guint8 *answer =
          flam_tree_is_top (tree, i) || key == FLAM_NONE ? &fresh : &known[key];

      if (*answer == 0)
        *answer = flam_regex_match (regex, flam_tree_name (tree, i)) ? 2 : 1;
      matched[i] = *answer == 2;
      if (!matched[i] || i < counted_until)
        continue;
      sum += tree->total[i];
      counted_until = tree->subtree_end[i];
    }
  if (flam_regex_get_slow (regex) == NULL)
    return sum;
  memset (matched, 0, tree->n);
  return 0;
}

FlamNodeId
flam_tree_find_name (const FlamTree *tree, const char *name)
{
  FlamId best = FLAM_NONE;

  for (FlamId i = 1; i < tree->n; i++)
    if ((best == FLAM_NONE || tree->total[i] > tree->total[best]) &&
        strcmp (flam_tree_name (tree, i), name) == 0)
      best = i;
  return best;
}

FlamNodeId
flam_tree_find_function (const FlamTree *tree, FlamFunctionId function)
{
  FlamId best = 0;

  for (FlamId i = 1; i < tree->n && function != FLAM_NONE; i++)
    if ((best == 0 || tree->total[i] > tree->total[best]) &&
        flam_tree_function (tree, i) == function)
      best = i;
  return best;
}

FlamNodeId
flam_tree_find_same (const FlamTree *from, FlamNodeId node, const FlamTree *to)
{
  FlamId best = 0;

  for (FlamId i = 1; i < to->n; i++)
    if ((best == 0 || to->total[i] > to->total[best]) &&
        flam_tree_is_same (from, node, to, i))
      best = i;
  return best;
}
