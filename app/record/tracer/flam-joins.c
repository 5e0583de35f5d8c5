/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-joins.h"

#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "flam-call-tell.h"
#include "flam-machine.h"
#include "flam-mapping.h"
#include "flam-proc.h"
#include "flam-symbol-table.h"

#define LISTED_MAX 65536
#define TRIES 3
/* struct clone_args: clone3(2). */
#define CLONE_ARGS_TLS 56

typedef struct
{
  pid_t tid;
  guint64 at; /* its struct pthread */
  gboolean ended;
} Thread;

typedef struct
{
  GArray *threads;  /* Thread, without those that are gone */
  guint64 lists[2]; /* heads; 0: unknown */
  guint n_tries;    /* of finding them */
  guint32 list_at;  /* in struct pthread */
  guint32 tid_at;
} FlamJoins;

static void
clear_joins (gpointer data)
{
  g_array_unref (((FlamJoins *)data)->threads);
}

/* NULL: the process has created no thread. */
static FlamJoins *
joins_of (const FlamTarget *target)
{
  return target->joins != NULL ? &g_array_index (target->joins, FlamJoins, 0)
                               : NULL;
}

static FlamJoins *
make_joins (FlamTarget *target)
{
  FlamJoins joins = { .threads = g_array_new (FALSE, FALSE, sizeof (Thread)) };

  target->joins = g_array_new (FALSE, TRUE, sizeof (FlamJoins));
  g_array_set_clear_func (target->joins, clear_joins);
  g_array_append_val (target->joins, joins);
  return joins_of (target);
}

/* --- the C library ------------------------------------------------------- */

typedef struct
{
  guint64 base;
  FlamElf *elf;
} Library;

static void
clear_library (Library *library)
{
  g_clear_pointer (&library->elf, flam_elf_free);
}

static Library
find_library (pid_t pid, const char *maps, const char *name)
{
  const char *at = maps, *end = maps + strlen (maps);
  FlamMapping mapping;

  while (flam_mapping_next (&at, end, &mapping))
    {
      g_autofree char *path = g_strndup (mapping.path, mapping.length);
      g_autofree char *base = g_path_get_basename (path);
      g_autofree char *seen = NULL;

      if (!g_str_has_prefix (base, name))
        continue;
      seen = g_strdup_printf ("/proc/%d/root%s", (int)pid, path);
      return (Library){ mapping.start - mapping.offset,
                        flam_elf_open (seen, NULL) };
    }
  return (Library){ 0 };
}

static guint64
find_symbol (const Library *library, const char *name)
{
  guint64 at, size;

  return library->elf != NULL &&
                 flam_elf_find_symbol (library->elf, name, &at, &size) &&
                 at != 0
             ? library->base + at
             : 0;
}

/* A member's offset, as the library has it for debuggers: its size in bits, its
 * number, its offset. */
static gboolean
read_offset (pid_t pid, const Library *libc, const char *name, guint32 *offset)
{
  g_autofree char *full = g_strconcat ("_thread_db_", name, NULL);
  guint64 at = find_symbol (libc, full);
  guint32 row[3];

  if (at == 0 || flam_read_memory (pid, at, row, sizeof row) != sizeof row)
    return FALSE;
  *offset = row[2];
  return TRUE;
}

static void
find_lists (FlamJoins *joins, pid_t pid)
{
  static const char *const names[] = { "rtld_global__dl_stack_used",
                                       "rtld_global__dl_stack_user" };
  g_autofree char *maps = flam_proc_text (pid, pid, "maps");
  Library libc, loader;
  guint64 global;
  guint32 offset;

  if (maps == NULL)
    return;
  libc = find_library (pid, maps, "libc.so.6");
  loader = find_library (pid, maps, FLAM_MACHINE_LOADER);
  global = find_symbol (&loader, "_rtld_global");
  if (global != 0 &&
      read_offset (pid, &libc, "pthread_list", &joins->list_at) &&
      read_offset (pid, &libc, "pthread_tid", &joins->tid_at))
    for (guint i = 0; i < G_N_ELEMENTS (names); i++)
      if (read_offset (pid, &libc, names[i], &offset))
        joins->lists[i] = global + offset;
  clear_library (&libc);
  clear_library (&loader);
}

/* --- threads ------------------------------------------------------------- */

static gboolean
find_in_lists (const FlamJoins *joins, pid_t pid, const Thread *thread)
{
  guint64 wanted = thread->at + joins->list_at;

  for (guint i = 0; i < G_N_ELEMENTS (joins->lists); i++)
    {
      guint64 head = joins->lists[i], at = head;

      for (guint n = 0; head != 0 && n < LISTED_MAX; n++)
        {
          if (flam_read_memory (pid, at, &at, sizeof at) != sizeof at ||
              at == head)
            break;
          if (at == wanted)
            return TRUE;
        }
    }
  return FALSE;
}

/* Another thread may change a list while it is read. */
static gboolean
is_listed (const FlamJoins *joins, pid_t pid, const Thread *thread)
{
  for (guint i = 0; i < TRIES; i++)
    if (find_in_lists (joins, pid, thread))
      return TRUE;
  return FALSE;
}

/* For a thread that has ended. */
static gboolean
is_joined (const FlamJoins *joins, pid_t pid, const Thread *thread)
{
  gint32 number;

  return flam_read_memory (
             pid, thread->at + joins->tid_at, &number, sizeof number) !=
             sizeof number ||
         (number != 0 && number != thread->tid) ||
         !is_listed (joins, pid, thread);
}

void
flam_joins_look (FlamTracer *tracer, FlamTask *task)
{
  FlamJoins *joins = joins_of (task->target);

  for (guint i = joins != NULL ? joins->threads->len : 0; i-- > 0;)
    {
      const Thread *thread = &g_array_index (joins->threads, Thread, i);

      if (!thread->ended || !is_joined (joins, task->target->pid, thread))
        continue;
      flam_call_tell (
          tracer,
          task,
          (FlamCallEvent){ FLAM_CALL_END_THREAD, (guint64)thread->tid, 1 });
      g_array_remove_index_fast (joins->threads, i);
    }
}

/* The thread pointer that the call gives to the new thread. */
static guint64
pointer_of_new (const FlamTask *task)
{
  const guint64 *arguments = task->call.arguments;
  guint64 at = 0;

  if (!task->in_call)
    return 0;
  if (task->call.number == SYS_clone)
    return arguments[0] & CLONE_SETTLS ? arguments[FLAM_MACHINE_CLONE_TLS] : 0;
  if (task->call.number != SYS_clone3 ||
      flam_read_memory (
          task->tid, arguments[0] + CLONE_ARGS_TLS, &at, sizeof at) !=
          sizeof at)
    return 0;
  return at;
}

void
flam_joins_begin (FlamTracer *tracer, FlamTask *task, pid_t created)
{
  FlamTarget *target = task->target;
  FlamJoins *joins = joins_of (target);
  Thread thread = { created, pointer_of_new (task), FALSE };

  if (joins == NULL)
    joins = make_joins (target);
  for (; joins->lists[0] == 0 && joins->n_tries < TRIES; joins->n_tries++)
    find_lists (joins, target->pid);
  flam_joins_look (tracer, task);
  if (thread.at != 0 && joins->lists[0] != 0)
    g_array_append_val (joins->threads, thread);
}

static Thread *
find_thread (FlamJoins *joins, pid_t tid)
{
  for (guint i = 0; joins != NULL && i < joins->threads->len; i++)
    if (g_array_index (joins->threads, Thread, i).tid == tid)
      return &g_array_index (joins->threads, Thread, i);
  return NULL;
}

/* By exit(); otherwise its process ends. */
static gboolean
ends_alone (const FlamTask *task)
{
  return task->in_call && task->call.number == SYS_exit;
}

void
flam_joins_end (FlamTracer *tracer, FlamTask *task)
{
  FlamJoins *joins = joins_of (task->target);
  Thread *thread = find_thread (joins, task->tid);

  if (!ends_alone (task))
    {
      flam_joins_look (tracer, task);
      task->is_kept = TRUE;
    }
  else if (thread != NULL)
    {
      thread->ended = is_listed (joins, task->target->pid, thread);
      task->is_kept = thread->ended;
      if (!thread->ended)
        g_array_remove_index_fast (
            joins->threads,
            (guint)(thread - (Thread *)(gpointer)joins->threads->data));
    }
}

void
flam_joins_exec (FlamTracer *tracer, FlamTask *task)
{
  FlamJoins *joins = joins_of (task->target);

  for (guint i = 0; joins != NULL && i < joins->threads->len; i++)
    flam_call_tell (
        tracer,
        task,
        (FlamCallEvent){ FLAM_CALL_END_THREAD,
                         (guint64)g_array_index (joins->threads, Thread, i).tid,
                         1 });
  g_clear_pointer (&task->target->joins, g_array_unref);
}
