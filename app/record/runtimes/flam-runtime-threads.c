/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-threads.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "flam-stops.h"

#define EVERY G_GINT64_CONSTANT (100000000) /* ns */
/* The part of the time that may be spent on it. */
#define PART 200

struct _FlamRuntimeThreads
{
  pid_t pid;
  GHashTable *names;  /* tid -> name; NULL: none were read */
  GHashTable *before; /* the names before these: a thread that ends loses its
                       * name in the language first */
  GHashTable *next;   /* the ones that are being read */
  GHashTable *kept;   /* those that were read once; NULL: none */
  FlamRuntimeName *scratch;
  gint64 look_at;
  gboolean foreign; /* it has other numbers for its threads than we have */
};

/* "NSpid:\t100\t7": its number in each pid namespace. */
static gboolean
is_foreign (pid_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/status", (int)pid);
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return FALSE;
  line = strstr (text, "\nNSpid:\t");
  if (line == NULL)
    return FALSE;
  line += strlen ("\nNSpid:\t");
  return line[strcspn (line, "\t\n")] == '\t';
}

FlamRuntimeThreads *
flam_runtime_threads_new (pid_t pid)
{
  FlamRuntimeThreads *threads = g_new0 (FlamRuntimeThreads, 1);

  threads->pid = pid;
  return threads;
}

void
flam_runtime_threads_free (FlamRuntimeThreads *threads)
{
  g_clear_pointer (&threads->names, g_hash_table_unref);
  g_clear_pointer (&threads->before, g_hash_table_unref);
  g_clear_pointer (&threads->kept, g_hash_table_unref);
  g_free (threads->scratch);
  g_free (threads);
}

static bool
read_memory (gpointer data, guint64 address, gpointer to, gsize size)
{
  return flam_read_memory ((pid_t)GPOINTER_TO_INT (data), address, to, size) ==
         size;
}

static void
take (gpointer data, guint32 tid, const char *name)
{
  FlamRuntimeThreads *threads = data;

  if (name[0] != '\0')
    g_hash_table_replace (
        threads->next, GUINT_TO_POINTER (tid), g_strdup (name));
}

/* Of this thread, ns: on a busy machine, much time may pass meanwhile. */
static gint64
own_time (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * G_GINT64_CONSTANT (1000000000) + time.tv_nsec;
}

void
flam_runtime_threads_refresh (FlamRuntimeThreads *threads,
                              const FlamRuntimeSet *set,
                              pid_t tid,
                              gint64 now)
{
  FlamRuntimeMemory memory = { read_memory, GINT_TO_POINTER (tid) };
  gint64 began = own_time ();
  gboolean any = FALSE;

  if (now < threads->look_at || threads->foreign)
    return;
  for (guint i = 0; set != NULL && i < set->n; i++)
    any |= set->items[i]->runtime->threads != NULL;
  if (!any)
    return;
  if (threads->scratch == NULL)
    {
      threads->foreign = is_foreign (threads->pid);
      threads->scratch = flam_runtime_name_new ();
    }
  threads->next = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  for (guint i = 0; !threads->foreign && i < set->n; i++)
    if (set->items[i]->runtime->threads != NULL)
      set->items[i]->runtime->threads (
          set->items[i], &memory, threads->scratch, take, threads);
  /* None: the process has ended, and its threads keep their names. */
  if (g_hash_table_size (threads->next) == 0)
    g_clear_pointer (&threads->next, g_hash_table_unref);
  else
    {
      g_clear_pointer (&threads->before, g_hash_table_unref);
      threads->before = g_steal_pointer (&threads->names);
      threads->names = g_steal_pointer (&threads->next);
    }
  threads->look_at = now + MAX (EVERY, PART * (own_time () - began));
}

void
flam_runtime_threads_read (FlamRuntimeThreads *threads,
                           const FlamRuntimeSet *set,
                           pid_t tid,
                           guint64 top)
{
  FlamRuntimeMemory memory = { read_memory, GINT_TO_POINTER (tid) };
  char name[FLAM_RUNTIME_THREAD_SIZE];

  for (guint i = 0; set != NULL && i < set->n; i++)
    if (set->items[i]->runtime->thread != NULL &&
        set->items[i]->runtime->thread (set->items[i], &memory, top, name))
      {
        if (threads->kept == NULL)
          threads->kept = g_hash_table_new_full (NULL, NULL, NULL, g_free);
        g_hash_table_replace (
            threads->kept, GINT_TO_POINTER (tid), g_strdup (name));
        return;
      }
}

void
flam_runtime_threads_forget (FlamRuntimeThreads *threads, pid_t tid)
{
  if (threads->kept != NULL)
    g_hash_table_remove (threads->kept, GINT_TO_POINTER (tid));
}

const char *
flam_runtime_threads_get (const FlamRuntimeThreads *threads, pid_t tid)
{
  gpointer key = GINT_TO_POINTER (tid);
  const char *name =
      threads->names != NULL ? g_hash_table_lookup (threads->names, key) : NULL;

  if (name == NULL && threads->before != NULL)
    name = g_hash_table_lookup (threads->before, key);
  if (name == NULL && threads->kept != NULL)
    name = g_hash_table_lookup (threads->kept, key);
  return name;
}
