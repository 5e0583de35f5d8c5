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
  return roots;
}
