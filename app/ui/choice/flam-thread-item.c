/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-thread-item.h"

#include "flam-core-picture.h"
#include "flam-value-text.h"

#include <glib/gi18n.h>

G_DEFINE_FINAL_TYPE (FlamThreadItem, flam_thread_item, G_TYPE_OBJECT)

static void
flam_thread_item_finalize (GObject *object)
{
  FlamThreadItem *self = FLAM_THREAD_ITEM (object);

  g_free (self->name);
  g_free (self->former);
  g_clear_object (&self->children);
  g_clear_pointer (&self->group, g_array_unref);
  g_clear_pointer (&self->process_tree, flam_process_tree_unref);
  G_OBJECT_CLASS (flam_thread_item_parent_class)->finalize (object);
}

static void
flam_thread_item_class_init (FlamThreadItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_thread_item_finalize;
}

static void
flam_thread_item_init (FlamThreadItem *self)
{
}

FlamThreadItem *
flam_thread_item_new (const FlamProfile *profile,
                      FlamProcessId process,
                      FlamThreadId thread,
                      gint64 weight)
{
  FlamThreadItem *self = g_object_new (FLAM_TYPE_THREAD_ITEM, NULL);

  self->process = process;
  self->thread = thread;
  self->weight = weight;
  self->former = g_strdup ("");
  if (thread == FLAM_NONE)
    self->name = flam_value_text_task (
        flam_profile_string (profile, profile->processes.name[process]),
        profile->processes.pid[process],
        _ ("Process"));
  else
    self->name = flam_value_text_task (
        flam_profile_string (profile, profile->threads.name[thread]),
        profile->threads.tid[thread],
        _ ("Thread"));
  return self;
}

const FlamThreadId *
flam_thread_item_get_threads (const FlamThreadItem *self, guint32 *n)
{
  const FlamProcessTree *process_tree = self->process_tree;
  guint32 first;

  *n = 1;
  if (self->thread != FLAM_NONE)
    return &self->thread;
  if (self->group != NULL)
    {
      *n = self->group->len;
      return (const FlamThreadId *)(void *)self->group->data;
    }
  first = process_tree->first_thread[self->row];
  *n = process_tree->first_thread[process_tree->end[self->row]] - first;
  return process_tree->threads + first;
}

typedef struct
{
  const FlamProfile *profile;
  FlamProcessTree *process_tree;
  const gint64 *weights;
  const char *search;
} Tree;

static void
set_former (const Tree *tree, FlamThreadItem *item, FlamId first)
{
  GString *text = g_string_new (NULL);

  for (FlamId i = first; i != FLAM_NONE; i = tree->process_tree->next_former[i])
    {
      const FlamFormerNames *former = &tree->profile->former_names;
      g_autofree char *until =
          flam_format_value (former->until[i], FLAM_UNIT_NS);
      g_autofree char *name = flam_format_visible (
          flam_profile_string (tree->profile, former->name[i]));

      g_string_append (text, text->len > 0 ? ", " : "");
      /* Translators: a former name, and when it changed */
      g_string_append_printf (text, _ ("%s until %s"), name, until);
    }
  g_free (item->former);
  item->former = g_string_free (text, FALSE);
}

static gboolean
matches (const Tree *tree, const FlamThreadItem *item)
{
  g_autofree char *name = g_utf8_casefold (item->name, -1);
  g_autofree char *former = g_utf8_casefold (item->former, -1);

  return strstr (name, tree->search) != NULL ||
         strstr (former, tree->search) != NULL;
}

static int
heavier_first (gconstpointer a, gconstpointer b, gpointer data)
{
  const FlamThreadItem *x = a;
  const FlamThreadItem *y = b;

  if ((x->thread == FLAM_NONE) != (y->thread == FLAM_NONE))
    return x->thread == FLAM_NONE ? 1 : -1;
  if (x->weight != y->weight)
    return x->weight < y->weight ? 1 : -1;
  if (x->process != y->process)
    return x->process < y->process ? -1 : 1;
  return (x->thread > y->thread) - (x->thread < y->thread);
}

static void
add_child (FlamThreadItem *parent, FlamThreadItem *child)
{
  if (parent->children == NULL)
    parent->children = g_list_store_new (FLAM_TYPE_THREAD_ITEM);
  g_list_store_append (parent->children, child);
}

static FlamThreadItem *
process_item_new (const Tree *tree, guint32 row)
{
  FlamThreadItem *item = flam_thread_item_new (
      tree->profile, tree->process_tree->process[row], FLAM_NONE, 0);

  item->process_tree = flam_process_tree_ref (tree->process_tree);
  item->row = row;
  return item;
}

/* TRUE if it or one of its threads matches the search. If a process matches by
 * its own name, all of its threads are shown. */
static gboolean
fill_process (const Tree *tree, FlamThreadItem *item)
{
  const FlamProcessTree *process_tree = tree->process_tree;
  gboolean own, any;

  set_former (tree, item, process_tree->process_former[item->process]);
  own = any = matches (tree, item);
  for (guint32 i = process_tree->first_thread[item->row];
       i < process_tree->first_thread[item->row + 1];
       i++)
    {
      FlamId id = process_tree->threads[i];
      g_autoptr (FlamThreadItem) thread = flam_thread_item_new (
          tree->profile, item->process, id, tree->weights[id]);

      set_former (tree, thread, process_tree->thread_former[id]);
      item->weight += tree->weights[id];
      if (!own && !matches (tree, thread))
        continue;
      add_child (item, thread);
      any = TRUE;
    }
  return any;
}

/* --- ranks and hosts ------------------------------------------------------ */

static FlamThreadItem *
group_new (char *name)
{
  FlamThreadItem *self = g_object_new (FLAM_TYPE_THREAD_ITEM, NULL);

  self->process = FLAM_NONE;
  self->thread = FLAM_NONE;
  self->name = name;
  self->former = g_strdup ("");
  self->group = g_array_new (FALSE, FALSE, sizeof (FlamThreadId));
  self->children = g_list_store_new (FLAM_TYPE_THREAD_ITEM);
  return self;
}

static void
add_to_group (FlamThreadItem *group, FlamThreadItem *item)
{
  guint32 n;
  const FlamThreadId *threads = flam_thread_item_get_threads (item, &n);

  group->weight += item->weight;
  g_array_append_vals (group->group, threads, n);
}

/* Processes of no rank come last. */
static guint32
place_of (const FlamThreadItem *item)
{
  return item->group != NULL ? item->row : G_MAXUINT32;
}

static int
by_place (gconstpointer a, gconstpointer b, gpointer data)
{
  guint32 x = place_of (a), y = place_of (b);

  return (x > y) - (x < y);
}

static guint32
count_hosts (const FlamProfile *profile)
{
  g_autoptr (GHashTable) hosts = g_hash_table_new (NULL, NULL);

  for (FlamId i = 0; i < profile->processes.n; i++)
    if (profile->processes.rank[i] != 0)
      g_hash_table_add (hosts,
                        GUINT_TO_POINTER ((guint)profile->processes.host[i]));
  return g_hash_table_size (hosts);
}

typedef struct
{
  const FlamProfile *profile;
  GListStore *top;
  GHashTable *hosts; /* the string's id -> FlamThreadItem */
  GHashTable *ranks; /* the rank -> the same */
  gboolean has_hosts;
} Groups;

/* The group's `row` is its place among its siblings. */
static FlamThreadItem *
host_of (const Groups *groups, FlamStringId host)
{
  gpointer key = GUINT_TO_POINTER ((guint)host);
  FlamThreadItem *item = g_hash_table_lookup (groups->hosts, key);

  if (item != NULL)
    return item;
  item = group_new (
      flam_format_visible (flam_profile_string (groups->profile, host)));
  item->row = g_hash_table_size (groups->hosts);
  g_hash_table_insert (groups->hosts, key, item);
  g_list_store_append (groups->top, item);
  return item;
}

static FlamThreadItem *
rank_of (const Groups *groups, FlamProcessId process)
{
  guint32 rank = groups->profile->processes.rank[process];
  FlamThreadItem *item =
      g_hash_table_lookup (groups->ranks, GUINT_TO_POINTER (rank));

  if (item != NULL)
    return item;
  /* Translators: one of the processes of a parallel job */
  item = group_new (g_strdup_printf (_ ("Rank %u"), rank - 1));
  item->row = rank;
  g_hash_table_insert (groups->ranks, GUINT_TO_POINTER (rank), item);
  g_list_store_append (
      groups->has_hosts
          ? host_of (groups, groups->profile->processes.host[process])->children
          : groups->top,
      item);
  return item;
}

static void
group_item (const Groups *groups, FlamThreadItem *item)
{
  FlamThreadItem *rank;

  if (groups->profile->processes.rank[item->process] == 0)
    {
      g_list_store_append (groups->top, item);
      return;
    }
  rank = rank_of (groups, item->process);
  g_list_store_append (rank->children, item);
  add_to_group (rank, item);
  if (groups->has_hosts)
    add_to_group (
        host_of (groups, groups->profile->processes.host[item->process]), item);
}

/* The same processes, below their ranks and hosts. */
static GListStore *
group_by_rank (const FlamProfile *profile, GListStore *roots, guint32 n_hosts)
{
  g_autoptr (GHashTable) hosts =
      g_hash_table_new_full (NULL, NULL, NULL, g_object_unref);
  g_autoptr (GHashTable) ranks =
      g_hash_table_new_full (NULL, NULL, NULL, g_object_unref);
  Groups groups = {
    profile, g_list_store_new (FLAM_TYPE_THREAD_ITEM), hosts, ranks, n_hosts > 1
  };
  GHashTableIter iter;
  gpointer item;

  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (roots)); i++)
    {
      g_autoptr (FlamThreadItem) process =
          g_list_model_get_item (G_LIST_MODEL (roots), i);

      group_item (&groups, process);
    }
  g_list_store_sort (groups.top, by_place, NULL);
  g_hash_table_iter_init (&iter, hosts);
  while (g_hash_table_iter_next (&iter, NULL, &item))
    g_list_store_sort (FLAM_THREAD_ITEM (item)->children, by_place, NULL);
  return groups.top;
}

GListStore *
flam_thread_items_new (const FlamProfile *profile,
                       const gint64 *weights,
                       const char *search)
{
  g_autoptr (FlamProcessTree) process_tree = flam_process_tree_new (profile);
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func (g_object_unref);
  g_autofree gboolean *wanted = g_new0 (gboolean, (gsize)process_tree->n + 1);
  g_autofree guint32 *parent = g_new (guint32, (gsize)process_tree->n + 1);
  GListStore *roots = g_list_store_new (FLAM_TYPE_THREAD_ITEM);
  Tree tree = { profile, process_tree, weights, search };
  guint32 n_hosts;

  /* Parents come before their children, so the loop runs backwards. */
  for (guint32 row = 0; row < process_tree->n; row++)
    {
      FlamThreadItem *item = process_item_new (&tree, row);
      guint32 above = row - 1;

      g_ptr_array_add (items, item);
      wanted[row] = fill_process (&tree, item);
      while (process_tree->depth[row] > 0 &&
             process_tree->depth[above] >= process_tree->depth[row])
        above = parent[above];
      parent[row] = process_tree->depth[row] > 0 ? above : G_MAXUINT32;
    }
  for (guint32 row = process_tree->n; row-- > 0;)
    {
      FlamThreadItem *item = items->pdata[row];
      FlamThreadItem *above =
          parent[row] != G_MAXUINT32 ? items->pdata[parent[row]] : NULL;

      if (above != NULL)
        above->weight += item->weight;
      if (!wanted[row] || (item->children == NULL && *search == '\0' &&
                           process_tree->first_thread[row] ==
                               process_tree->first_thread[row + 1]))
        continue;
      if (item->children != NULL)
        g_list_store_sort (item->children, heavier_first, NULL);
      if (above == NULL)
        g_list_store_append (roots, item);
      else
        {
          add_child (above, item);
          wanted[parent[row]] = TRUE;
        }
    }
  g_list_store_sort (roots, heavier_first, NULL);
  n_hosts = count_hosts (profile);
  if (n_hosts > 0)
    {
      g_autoptr (GListStore) plain = roots;

      return group_by_rank (profile, plain, n_hosts);
    }
  return roots;
}
