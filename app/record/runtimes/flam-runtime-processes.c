/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-processes.h"

#include "flam-stops.h"

/* The pause until an interpreter that was not ready is tried again, ns, and its
 * part of the time since the first try. */
#define FIRST_PAUSE (1 * 1000000ll)
#define LAST_PAUSE (500 * 1000000ll)
#define PAUSE_PART 8

typedef enum
{
  NEW,
  OPENED,
  REFUSED,
} State;

typedef struct
{
  FlamRuntimeProcess process;      /* the first member */
  const FlamRuntimeBinary *binary; /* NULL: of a program before an exec */
  State state;
  gboolean present; /* in the current mappings */
  gint64 try_at;    /* 0: at once */
  gint64 since;     /* of the first try */
} Instance;

struct _FlamRuntimeProcesses
{
  pid_t pid;
  GPtrArray *instances; /* all that ever existed: the tracer may use them */
  GPtrArray *sets;      /* likewise; the last one is current */
  guint n_waiting;      /* present and not opened yet */
  gboolean stale;       /* the last set does not match the instances */
};

static void
instance_free (gpointer data)
{
  Instance *instance = data;

  if (instance->process.runtime->close != NULL)
    instance->process.runtime->close (&instance->process);
  else
    {
      g_free (instance->process.layout);
      g_free (instance->process.cache);
    }
  g_free (instance);
}

FlamRuntimeProcesses *
flam_runtime_processes_new (pid_t pid)
{
  FlamRuntimeProcesses *processes = g_new0 (FlamRuntimeProcesses, 1);

  processes->pid = pid;
  processes->instances = g_ptr_array_new_with_free_func (instance_free);
  processes->sets = g_ptr_array_new_with_free_func (g_free);
  return processes;
}

void
flam_runtime_processes_free (FlamRuntimeProcesses *processes)
{
  g_ptr_array_unref (processes->sets);
  g_ptr_array_unref (processes->instances);
  g_free (processes);
}

static Instance *
instance_at (const FlamRuntimeProcesses *processes, guint i)
{
  return g_ptr_array_index (processes->instances, i);
}

void
flam_runtime_processes_begin (FlamRuntimeProcesses *processes)
{
  for (guint i = 0; i < processes->instances->len; i++)
    instance_at (processes, i)->present = FALSE;
  processes->n_waiting = 0;
  processes->stale = TRUE;
}

void
flam_runtime_processes_forget (FlamRuntimeProcesses *processes)
{
  flam_runtime_processes_begin (processes);
  for (guint i = 0; i < processes->instances->len; i++)
    instance_at (processes, i)->binary = NULL;
}

void
flam_runtime_processes_note (FlamRuntimeProcesses *processes,
                             const FlamRuntimeBinary *binary,
                             guint64 base)
{
  Instance *instance = NULL;
  const Instance *first = NULL;

  for (guint i = 0; i < processes->instances->len; i++)
    {
      Instance *known = instance_at (processes, i);
      if (known->binary == binary && known->process.base == base)
        instance = known;
      else if (known->binary == binary && known->state != REFUSED &&
               known->present && first == NULL)
        first = known;
    }
  if (instance == NULL)
    {
      instance = g_new0 (Instance, 1);
      instance->binary = binary;
      instance->process =
          (FlamRuntimeProcess){ .runtime = binary->runtime,
                                .file = &binary->file,
                                .first = first != NULL ? &first->process : NULL,
                                .base = base,
                                .pid = processes->pid,
                                .path = binary->path };
      instance->state = binary->file.why != NULL ? REFUSED : NEW;
      g_ptr_array_add (processes->instances, instance);
    }
  if (!instance->present && instance->state == NEW)
    processes->n_waiting++;
  instance->present = TRUE;
}

void
flam_runtime_processes_inherit (FlamRuntimeProcesses *processes,
                                const FlamRuntimeProcesses *parent)
{
  flam_runtime_processes_begin (processes);
  for (guint i = 0; i < parent->instances->len; i++)
    {
      const Instance *instance = instance_at (parent, i);
      if (instance->present)
        flam_runtime_processes_note (
            processes, instance->binary, instance->process.base);
    }
}

const FlamRuntimeSet *
flam_runtime_processes_get (const FlamRuntimeProcesses *processes)
{
  guint n = processes->sets->len;

  return n > 0 ? g_ptr_array_index (processes->sets, n - 1) : NULL;
}

static gboolean
sets_equal (const FlamRuntimeSet *a, const FlamRuntimeSet *b)
{
  if (a == NULL || a->n != b->n)
    return a == NULL && b->n == 0;
  for (guint i = 0; i < a->n; i++)
    if (a->items[i] != b->items[i])
      return FALSE;
  return TRUE;
}

/* Returns whether it has changed. */
static gboolean
make_set (FlamRuntimeProcesses *processes)
{
  FlamRuntimeSet set = { 0 };

  processes->stale = FALSE;
  for (guint i = 0;
       i < processes->instances->len && set.n < FLAM_RUNTIME_SET_MAX;
       i++)
    {
      const Instance *instance = instance_at (processes, i);
      if (instance->present && instance->state == OPENED)
        {
          set.items[set.n++] = &instance->process;
          set.reads_later |= instance->process.runtime->step != NULL;
        }
    }
  if (sets_equal (flam_runtime_processes_get (processes), &set))
    return FALSE;
  g_ptr_array_add (processes->sets, g_memdup2 (&set, sizeof set));
  return TRUE;
}

static bool
read_process (gpointer data, guint64 address, gpointer to, gsize size)
{
  return flam_read_memory (GPOINTER_TO_INT (data), address, to, size) == size;
}

static void
try_to_open (Instance *instance,
             pid_t tid,
             gint64 now,
             FlamRuntimeRefused refused,
             gpointer data)
{
  FlamRuntimeProcess *process = &instance->process;
  FlamRuntimeMemory memory = { read_process, GINT_TO_POINTER (tid) };
  const char *why = NULL, *help = NULL;
  FlamRuntimeOpened opened =
      process->runtime->open != NULL
          ? process->runtime->open (process, &memory, &why, &help)
          : FLAM_RUNTIME_OPENED;

  if (opened == FLAM_RUNTIME_OPENED)
    instance->state = OPENED;
  else if (opened == FLAM_RUNTIME_UNREADABLE)
    instance->state = REFUSED;
  if (instance->state != NEW && why != NULL)
    refused (data, process->runtime, process->path, process->file, why, help);
  if (instance->try_at == 0)
    instance->since = now;
  instance->try_at =
      now +
      CLAMP ((now - instance->since) / PAUSE_PART, FIRST_PAUSE, LAST_PAUSE);
}

gboolean
flam_runtime_processes_open (FlamRuntimeProcesses *processes,
                             pid_t tid,
                             gint64 now,
                             FlamRuntimeRefused refused,
                             gpointer data)
{
  if (processes->n_waiting > 0)
    {
      processes->n_waiting = 0;
      for (guint i = 0; i < processes->instances->len; i++)
        {
          Instance *instance = instance_at (processes, i);

          if (!instance->present || instance->state != NEW)
            continue;
          if (now >= instance->try_at)
            try_to_open (instance, tid, now, refused, data);
          processes->n_waiting += instance->state == NEW;
          processes->stale |= instance->state != NEW;
        }
    }
  return processes->stale && make_set (processes);
}
