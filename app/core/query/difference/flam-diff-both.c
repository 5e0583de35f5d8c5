/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-diff-private.h"

#include "flam-builder.h"

#include <string.h>

/* The origin of a path's node: the heaviest node of the path, in the newer tree
 * if that has the path. */
typedef struct
{
  guint side;
  FlamNodeId node;
} Model;

typedef struct
{
  const FlamDiffPaths *paths;
  FlamDiffScale scale;
  guint32 n;        /* paths */
  gboolean changed; /* without those that did not change */
  Model *model;
  gint64 *self, *total; /* widths */
  FlamId *order;        /* paths, caller by caller, heaviest first */
  guint32 *first;       /* first callee of each path in the order; n + 1 */
  FlamBuilder *builder;
  FlamFunctionId
      *functions[FLAM_DIFF_N_SIDES]; /* ids in the builder, or FLAM_NONE */
} Both;

/* --- widths --------------------------------------------------------------- */

static void
find_models (Both *both)
{
  both->model = g_new (Model, both->n);
  for (guint32 p = 0; p < both->n; p++)
    both->model[p].node = FLAM_NONE;
  for (guint i = 0; i < FLAM_DIFF_N_SIDES; i++)
    {
      guint side = i == 0 ? FLAM_DIFF_SIDE_FRESH : FLAM_DIFF_SIDE_BASE;
      const FlamTree *tree = both->paths->tree[side];

      for (FlamNodeId node = 0; node < tree->n; node++)
        {
          Model *model = &both->model[both->paths->path[side][node]];

          if (model->node == FLAM_NONE ||
              (model->side == side &&
               tree->total[node] > tree->total[model->node]))
            *model = (Model){ side, node };
        }
    }
}

static const FlamDiffPath *
path_at (const Both *both, FlamId path)
{
  return &flam_column_at (&both->paths->paths, FlamDiffPath, path);
}

static void
find_widths (Both *both)
{
  both->self = g_new (gint64, both->n);
  both->total = g_new (gint64, both->n);
  for (guint32 p = 0; p < both->n; p++)
    {
      gint64 was = flam_diff_scaled (both->paths->self[FLAM_DIFF_SIDE_BASE][p],
                                     both->scale);
      gint64 is = both->paths->self[FLAM_DIFF_SIDE_FRESH][p];

      both->self[p] = both->changed && was == is ? 0 : MAX (MAX (was, 0), is);
      both->total[p] = both->self[p];
    }
  for (guint32 p = both->n; p-- > 1;)
    {
      gint64 *total = &both->total[path_at (both, p)->parent];

      if (__builtin_add_overflow (*total, both->total[p], total))
        *total = G_MAXINT64;
    }
}

static const char *
name_of (const Both *both, FlamId path)
{
  const Model *model = &both->model[path];

  return flam_tree_plain_name (both->paths->tree[model->side], model->node);
}

static int
compare_paths (gconstpointer a, gconstpointer b, gpointer data)
{
  const Both *both = data;
  FlamId x = *(const FlamId *)a, y = *(const FlamId *)b;
  FlamId p = path_at (both, x)->parent, q = path_at (both, y)->parent;

  if (p != q)
    return p < q ? -1 : 1;
  if (both->total[x] != both->total[y])
    return both->total[x] > both->total[y] ? -1 : 1;
  return strcmp (name_of (both, x), name_of (both, y));
}

/* The callees of each path are neighbours; those without width are dropped. */
static void
find_order (Both *both)
{
  guint32 n = 0;

  both->order = g_new (FlamId, both->n);
  both->first = g_new0 (guint32, (gsize)both->n + 1);
  for (guint32 p = 1; p < both->n; p++)
    if (both->total[p] > 0)
      both->order[n++] = p;
  g_qsort_with_data (
      both->order, (gint)n, sizeof (FlamId), compare_paths, both);
  for (guint32 i = 0; i < n; i++)
    both->first[path_at (both, both->order[i])->parent + 1]++;
  for (guint32 p = 0; p < both->n; p++)
    both->first[p + 1] += both->first[p];
}

/* --- names ---------------------------------------------------------------- */

static FlamStringId
copy_text (Both *both, const FlamProfile *profile, FlamStringId string)
{
  return flam_builder_string (
      both->builder, flam_profile_string (profile, string), -1);
}

static FlamModuleId
copy_module (Both *both, const FlamProfile *profile, FlamModuleId module)
{
  const FlamModules *modules = &profile->modules;

  if (module == FLAM_NONE)
    return FLAM_NONE;
  return flam_builder_module (
      both->builder,
      flam_profile_string (profile, modules->path[module]),
      flam_profile_string (profile, modules->build_id[module]),
      modules->addressing[module]);
}

static FlamFunctionId
copy_function (Both *both, guint side, FlamId id)
{
  const FlamProfile *profile = both->paths->tree[side]->profile;
  const FlamFunctions *functions = &profile->functions;
  FlamId *known;

  if (id == FLAM_NONE)
    return FLAM_NONE;
  known = &both->functions[side][id];
  if (*known == FLAM_NONE)
    {
      FlamFunction function = {
        .name = copy_text (both, profile, functions->name[id]),
        .system_name = copy_text (both, profile, functions->system_name[id]),
        .file = copy_text (both, profile, functions->file[id]),
        .module = copy_module (both, profile, functions->module[id]),
        .line = functions->line[id],
        .kind = functions->kind[id],
        .flags = functions->flags[id],
      };

      *known = flam_builder_function (both->builder, &function);
    }
  return *known;
}

static FlamFrameId
copy_frame (Both *both, guint side, FlamId id)
{
  const FlamProfile *profile = both->paths->tree[side]->profile;
  const FlamFrames *frames = &profile->frames;

  if (id == FLAM_NONE)
    return FLAM_NONE;
  return flam_builder_recorded_frame (
      both->builder,
      &(FlamRecordedFrame){ FLAM_NONE,
                            frames->address[id],
                            copy_function (both, side, frames->function[id]),
                            copy_text (both, profile, frames->file[id]),
                            frames->line[id],
                            frames->inline_depth[id],
                            frames->status[id] });
}

static FlamThreadId
copy_thread (Both *both, const FlamProfile *profile, FlamId id)
{
  const char *name = flam_profile_string (profile, profile->threads.name[id]);
  FlamId key = flam_builder_string (both->builder, name, -1);
  FlamThreadId thread = flam_builder_thread_keyed (
      both->builder, flam_builder_process (both->builder, -1, 0), key);

  flam_builder_set_thread_name (both->builder, thread, name);
  return thread;
}

/* Processes of the same name are one, whatever their numbers. */
static FlamProcessId
copy_process (Both *both, const FlamProfile *profile, FlamId id)
{
  const char *name = flam_profile_string (profile, profile->processes.name[id]);
  FlamStringId key = flam_builder_string (both->builder, name, -1);
  FlamProcessId process = flam_builder_process (both->builder, -1, 1 + key);

  flam_builder_set_process_name (both->builder, process, name);
  return process;
}

static FlamTreeKey
copy_key (Both *both, const Model *model)
{
  const FlamTree *tree = both->paths->tree[model->side];
  FlamTreeKey key = tree->key[model->node];

  if (key.row == FLAM_NONE)
    return key;
  if (flam_tree_is_top (tree, model->node))
    key.row = tree->by == FLAM_BY_LABEL
                  ? (FlamId)copy_text (both, tree->profile, key.row)
              : tree->by == FLAM_BY_PROCESS
                  ? (FlamId)copy_process (both, tree->profile, key.row)
                  : (FlamId)copy_thread (both, tree->profile, key.row);
  else if (tree->by == FLAM_BY_MODULE)
    key.row = copy_module (both, tree->profile, key.row);
  else if (tree->by == FLAM_BY_FILE)
    key.row = copy_text (both, tree->profile, key.row);
  else
    key.row = copy_function (both, model->side, key.row);
  return key;
}

static void
add_measure (Both *both)
{
  const FlamTree *tree = both->paths->tree[FLAM_DIFF_SIDE_FRESH];
  const FlamProfile *profile = tree->profile;
  FlamMeasure measure = flam_tree_measure (tree);

  flam_builder_add_measure (both->builder,
                            flam_profile_string (profile, measure.id),
                            flam_profile_string (profile, measure.name),
                            measure.unit,
                            measure.kind,
                            -1,
                            FLAM_NONE);
  flam_builder_set_denominator (both->builder, 0, measure.denominator);
}

/* --- the tree ------------------------------------------------------------- */

static FlamTree *
tree_for (const Both *both, guint32 n)
{
  const FlamTree *fresh = both->paths->tree[FLAM_DIFF_SIDE_FRESH];
  FlamTree *tree = g_atomic_rc_box_new0 (FlamTree);

  tree->by = fresh->by;
  tree->rooted = fresh->rooted;
  tree->counted = fresh->counted;
  tree->n = n;
  tree->parent = g_new (FlamId, n);
  tree->subtree_end = g_new (FlamId, n);
  tree->depth = g_new (guint32, n);
  tree->key = g_new (FlamTreeKey, n);
  tree->line = tree->by == FLAM_BY_LINE ? g_new (guint32, n) : NULL;
  tree->frame = g_new (FlamId, n);
  tree->self = g_new (gint64, n);
  tree->total = g_new (gint64, n);
  if (fresh->status != NULL ||
      both->paths->tree[FLAM_DIFF_SIDE_BASE]->status != NULL)
    tree->status = g_new0 (guint8, n);
  tree->change = flam_diff_change_new (n);
  tree->change->both = TRUE;
  return tree;
}

static FlamEstimate
estimate_of (const Both *both, guint side, FlamId path, gboolean self)
{
  const FlamDiffPaths *paths = both->paths;
  gint64 value = self ? paths->self[side][path] : paths->total[side][path];

  return flam_diff_paths_estimate (
      paths, side, path, value, value, both->scale);
}

static void
add_node (
    Both *both, FlamTree *tree, FlamNodeId node, FlamId path, gboolean self)
{
  const FlamDiffPaths *paths = both->paths;
  gint64 *const *value = self ? paths->self : paths->total;
  const Model *model = &both->model[path];
  const FlamTree *of = paths->tree[model->side];

  tree->key[node] = copy_key (both, model);
  if (tree->line != NULL)
    tree->line[node] = flam_tree_line (of, model->node);
  if (tree->status != NULL)
    tree->status[node] = (guint8)flam_tree_status (of, model->node);
  tree->frame[node] = copy_frame (both, model->side, of->frame[model->node]);
  tree->self[node] = both->self[path];
  tree->total[node] = both->total[path];
  flam_diff_change_set (
      tree->change,
      node,
      flam_diff_paths_kind (paths, path),
      flam_diff_scaled (value[FLAM_DIFF_SIDE_BASE][path], both->scale),
      value[FLAM_DIFF_SIDE_FRESH][path]);
  if (tree->change->estimate != NULL)
    tree->change->estimate[node] = flam_estimate_of_change (
        estimate_of (both, FLAM_DIFF_SIDE_BASE, path, self),
        estimate_of (both, FLAM_DIFF_SIDE_FRESH, path, self));
}

/* Preorder: `at` is the next callee of each path on the way down. */
static void
add_nodes (Both *both, FlamTree *tree, gboolean self)
{
  g_autofree guint32 *at = g_memdup2 (both->first, both->n * sizeof (guint32));
  g_autofree FlamId *node_of = g_new (FlamId, both->n);
  FlamId path = 0;
  FlamId next = 1;

  node_of[0] = 0;
  tree->parent[0] = FLAM_NONE;
  tree->depth[0] = 0;
  add_node (both, tree, 0, 0, self);
  while (path != FLAM_NONE)
    {
      FlamId callee;

      if (at[path] == both->first[path + 1])
        {
          tree->subtree_end[node_of[path]] = next;
          path = path_at (both, path)->parent;
          continue;
        }
      callee = both->order[at[path]++];
      tree->parent[next] = node_of[path];
      tree->depth[next] = tree->depth[node_of[path]] + 1;
      tree->max_depth = MAX (tree->max_depth, tree->depth[next]);
      node_of[callee] = next;
      add_node (both, tree, next++, callee, self);
      path = callee;
    }
}

FlamTree *
flam_diff_both (FlamDiffPaths *paths,
                gboolean changed,
                gboolean self,
                FlamDiffScale scale)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  Both both = { .paths = paths,
                .scale = scale,
                .n = paths->paths.n,
                .changed = changed,
                .builder = builder };
  FlamTree *tree;

  for (guint side = 0; side < FLAM_DIFF_N_SIDES; side++)
    {
      gsize size = paths->tree[side]->profile->functions.n * sizeof (FlamId);

      both.functions[side] = g_malloc (size + 1);
      memset (both.functions[side], 0xff, size);
    }
  find_models (&both);
  find_widths (&both);
  find_order (&both);
  add_measure (&both);
  tree = tree_for (&both, both.first[both.n] + 1);
  tree->change->self = self;
  if (flam_diff_paths_add_errors (paths, self))
    tree->change->estimate = g_new (FlamChangeEstimate, tree->n);
  add_nodes (&both, tree, self);
  /* This could only fail for bad weights, which cannot occur here. */
  tree->profile = flam_builder_finish (builder, NULL);
  for (guint side = 0; side < FLAM_DIFF_N_SIDES; side++)
    g_free (both.functions[side]);
  g_free (both.model);
  g_free (both.self);
  g_free (both.total);
  g_free (both.order);
  g_free (both.first);
  return tree;
}
