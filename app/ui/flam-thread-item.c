/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-thread-item.h"

#include <glib/gi18n.h>

G_DEFINE_FINAL_TYPE (FlamThreadItem, flam_thread_item, G_TYPE_OBJECT)

static void
flam_thread_item_finalize (GObject *object)
{
  g_free (FLAM_THREAD_ITEM (object)->name);
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

static char *
item_name (const char *name, gint32 id, const char *nameless)
{
  if (*name == '\0')
    name = nameless;
  return id >= 0 ? g_strdup_printf ("%s (%d)", name, id) : g_strdup (name);
}

FlamThreadItem *
flam_thread_item_new (const FlamProfile *profile,
                      FlamId process,
                      FlamId thread,
                      gint64 weight)
{
  FlamThreadItem *self = g_object_new (FLAM_TYPE_THREAD_ITEM, NULL);

  self->process = process;
  self->thread = thread;
  self->weight = weight;
  if (thread == FLAM_NONE)
    self->name = item_name (
        flam_profile_string (profile, profile->processes.name[process]),
        profile->processes.pid[process],
        _ ("Process"));
  else
    self->name =
        item_name (flam_profile_string (profile, profile->threads.name[thread]),
                   profile->threads.tid[thread],
                   _ ("Thread"));
  return self;
}

typedef struct
{
  gint64 process_weight;
  FlamThreadItem *item;
} Entry;

static int
compare_entries (gconstpointer a, gconstpointer b)
{
  const Entry *x = a;
  const Entry *y = b;

  if (x->process_weight != y->process_weight)
    return x->process_weight < y->process_weight ? 1 : -1;
  if (x->item->process != y->item->process)
    return x->item->process < y->item->process ? -1 : 1;
  if ((x->item->thread == FLAM_NONE) != (y->item->thread == FLAM_NONE))
    return x->item->thread == FLAM_NONE ? -1 : 1;
  if (x->item->weight != y->item->weight)
    return x->item->weight < y->item->weight ? 1 : -1;
  return (x->item->thread > y->item->thread) -
         (x->item->thread < y->item->thread);
}

GPtrArray *
flam_thread_items_new (const FlamProfile *profile, const gint64 *weights)
{
  g_autofree gint64 *of_process =
      g_new0 (gint64, MAX (profile->processes.n, 1));
  g_autofree gboolean *used = g_new0 (gboolean, MAX (profile->processes.n, 1));
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  GPtrArray *items = g_ptr_array_new_with_free_func (g_object_unref);

  for (FlamId i = 0; i < profile->threads.n; i++)
    {
      of_process[profile->threads.process[i]] += weights[i];
      used[profile->threads.process[i]] = TRUE;
    }
  for (FlamId i = 0; i < profile->processes.n; i++)
    if (used[i])
      {
        Entry entry = { of_process[i],
                        flam_thread_item_new (
                            profile, i, FLAM_NONE, of_process[i]) };
        g_array_append_val (entries, entry);
      }
  for (FlamId i = 0; i < profile->threads.n; i++)
    {
      FlamId process = profile->threads.process[i];
      Entry entry = { of_process[process],
                      flam_thread_item_new (profile, process, i, weights[i]) };
      g_array_append_val (entries, entry);
    }
  g_array_sort (entries, compare_entries);
  for (guint i = 0; i < entries->len; i++)
    g_ptr_array_add (items, g_array_index (entries, Entry, i).item);
  return items;
}
