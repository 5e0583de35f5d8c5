/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-processes.h"

#include <string.h>

#define PROT_EXECUTABLE 4
#define COMM_LENGTH 15
#define DELETED " (deleted)" /* behind the path of a file that is gone */
/* A limit for hostile files: Linux itself allows a process 65530 mappings. */
#define MAX_MAPS 65536
#define MAX_MAPS_OF_ALL (4 << 20)

/* Shared by parent and child until one of them changes it: most children call
 * exec at once. */
typedef struct
{
  guint refs;
  FlamUnwindSpace *space;
} Mappings;

typedef struct _Process Process;

struct _Process
{
  gint32 pid;
  guint generation;
  Process *parent; /* or NULL */
  char *name;
  FlamId id;          /* FLAM_NONE until a sample needs it */
  guint n_threads;    /* alive */
  Mappings *mappings; /* NULL: none */
};

typedef struct
{
  Process *process;
  gint32 tid;
  guint generation;
  char *name;
  FlamId id; /* as the process's */
  gboolean exited;
} Thread;

struct _FlamPerfProcesses
{
  FlamBuilder *builder;
  FlamPerfModules *modules;
  GPtrArray *all;        /* Process: all, also past ones */
  GHashTable *processes; /* pid -> Process, the present one */
  GHashTable *threads;   /* tid -> Thread, the present one */
  gsize n_maps;          /* of all processes */
  gboolean too_many;
};

static void
mappings_unref (Mappings *mappings)
{
  if (!mappings || --mappings->refs > 0)
    return;
  flam_unwind_space_free (mappings->space);
  g_free (mappings);
}

static void
process_free (gpointer data)
{
  Process *process = data;

  mappings_unref (process->mappings);
  g_free (process->name);
  g_free (process);
}

static void
thread_free (gpointer data)
{
  Thread *thread = data;

  g_free (thread->name);
  g_free (thread);
}

FlamPerfProcesses *
flam_perf_processes_new (FlamLoad *load, FlamPerfModules *modules)
{
  FlamPerfProcesses *processes = flam_arena_new (load, FlamPerfProcesses);

  processes->builder = load->builder;
  processes->modules = modules;
  processes->all = flam_arena_pointers (load, process_free);
  processes->processes = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  processes->threads = flam_arena_table (load, FLAM_KEY_DIRECT, thread_free);
  return processes;
}

/* --- mappings ------------------------------------------------------------ */

static const FlamUnwindTable *
load_table (void *data, const FlamUnwindMap *map)
{
  FlamPerfProcesses *processes = data;

  return map->user ? flam_perf_modules_table (processes->modules, map->user)
                   : NULL;
}

static void
drop_mappings (FlamPerfProcesses *processes, Process *process)
{
  Mappings *mappings = process->mappings;

  process->mappings = NULL;
  if (mappings && mappings->refs == 1)
    processes->n_maps -= flam_unwind_space_size (mappings->space);
  mappings_unref (mappings);
}

static FlamUnwindSpace *
get_space (FlamPerfProcesses *processes, Process *process)
{
  if (!process->mappings)
    {
      process->mappings = g_new0 (Mappings, 1);
      process->mappings->refs = 1;
      process->mappings->space = flam_unwind_space_new ();
      flam_unwind_space_set_load (
          process->mappings->space, load_table, processes);
    }
  return process->mappings->space;
}

/* The process's own copy, for changes. */
static FlamUnwindSpace *
own_space (FlamPerfProcesses *processes, Process *process)
{
  FlamUnwindSpace *shared = get_space (processes, process);
  gsize n = flam_unwind_space_size (shared);

  if (process->mappings->refs == 1)
    return shared;
  drop_mappings (processes, process);
  if (processes->n_maps + n > MAX_MAPS_OF_ALL)
    {
      processes->too_many = TRUE;
      return get_space (processes, process);
    }
  process->mappings = g_new0 (Mappings, 1);
  process->mappings->refs = 1;
  process->mappings->space = flam_unwind_space_copy (shared);
  processes->n_maps += n;
  return process->mappings->space;
}

/* --- processes and threads ----------------------------------------------- */

/* A new process with this pid; `parent` NULL: its parent is unknown. */
static Process *
add_process (FlamPerfProcesses *processes, gint32 pid, Process *parent)
{
  const Process *before =
      g_hash_table_lookup (processes->processes, GINT_TO_POINTER (pid));
  Process *process = g_new0 (Process, 1);

  process->pid = pid;
  process->generation = before ? before->generation + 1 : 0;
  process->parent = parent;
  process->id = FLAM_NONE;
  if (parent && parent->mappings)
    {
      process->mappings = parent->mappings;
      process->mappings->refs++;
    }
  process->name = g_strdup (parent     ? parent->name
                            : pid == 0 ? "swapper"
                                       : NULL);
  g_ptr_array_add (processes->all, process);
  g_hash_table_insert (processes->processes, GINT_TO_POINTER (pid), process);
  return process;
}

static Process *
get_process (FlamPerfProcesses *processes, gint32 pid)
{
  Process *process =
      g_hash_table_lookup (processes->processes, GINT_TO_POINTER (pid));

  return process ? process : add_process (processes, pid, NULL);
}

/* The last thread releases the mappings. */
static void
end_thread (FlamPerfProcesses *processes, Thread *thread)
{
  if (thread->exited)
    return;
  thread->exited = TRUE;
  if (--thread->process->n_threads == 0)
    drop_mappings (processes, thread->process);
}

static Thread *
add_thread (FlamPerfProcesses *processes,
            Process *process,
            gint32 tid,
            const char *name)
{
  Thread *before =
      g_hash_table_lookup (processes->threads, GINT_TO_POINTER (tid));
  Thread *thread = g_new0 (Thread, 1);

  process->n_threads++;
  if (before)
    end_thread (processes, before);
  thread->process = process;
  thread->tid = tid;
  thread->generation = before ? before->generation + 1 : 0;
  thread->name = g_strdup (name);
  thread->id = FLAM_NONE;
  g_hash_table_insert (processes->threads, GINT_TO_POINTER (tid), thread);
  return thread;
}

static Thread *
get_thread (FlamPerfProcesses *processes, gint32 pid, gint32 tid)
{
  Process *process = get_process (processes, pid);
  Thread *thread =
      g_hash_table_lookup (processes->threads, GINT_TO_POINTER (tid));

  if (thread && thread->process == process)
    return thread;
  return add_thread (processes, process, tid, process->name);
}

/* Assigns ids from the youngest to the eldest without one; a chain of parents
 * cannot have a loop, since a parent is older than its child. */
static void
introduce_process (FlamPerfProcesses *processes, Process *process)
{
  FlamBuilder *builder = processes->builder;

  for (Process *child = NULL; process;
       child = process, process = process->parent)
    {
      gboolean is_new = process->id == FLAM_NONE;
      if (is_new)
        {
          process->id =
              flam_builder_process (builder, process->pid, process->generation);
          if (process->name)
            flam_builder_set_process_name (builder, process->id, process->name);
        }
      if (child)
        flam_builder_set_process_parent (builder, child->id, process->id);
      if (!is_new)
        return;
    }
}

FlamThreadId
flam_perf_processes_thread (FlamPerfProcesses *processes,
                            gint32 pid,
                            gint32 tid)
{
  Thread *thread = get_thread (processes, pid, tid);

  if (thread->id != FLAM_NONE)
    return thread->id;
  introduce_process (processes, thread->process);
  thread->id = flam_builder_thread (
      processes->builder, thread->process->id, tid, thread->generation);
  if (thread->name)
    flam_builder_set_thread_name (processes->builder, thread->id, thread->name);
  return thread->id;
}

gboolean
flam_perf_processes_too_many (const FlamPerfProcesses *processes)
{
  return processes->too_many;
}

FlamUnwindSpace *
flam_perf_processes_space (FlamPerfProcesses *processes, gint32 pid)
{
  return get_space (processes, get_process (processes, pid));
}

/* --- records ------------------------------------------------------------- */

/* `time` 0: unknown. */
static void
rename_thread (FlamPerfProcesses *processes,
               Thread *thread,
               guint64 time,
               const char *name)
{
  g_free (thread->name);
  thread->name = g_strdup (name);
  if (thread->id == FLAM_NONE)
    return;
  if (time > 0)
    flam_builder_rename_thread (
        processes->builder, thread->id, (gint64)MIN (time, G_MAXINT64), name);
  else
    flam_builder_set_thread_name (processes->builder, thread->id, name);
}

static void
rename_process (FlamPerfProcesses *processes,
                Process *process,
                guint64 time,
                const char *name)
{
  g_free (process->name);
  process->name = g_strdup (name);
  if (process->id == FLAM_NONE)
    return;
  if (time > 0)
    flam_builder_rename_process (
        processes->builder, process->id, (gint64)MIN (time, G_MAXINT64), name);
  else
    flam_builder_set_process_name (processes->builder, process->id, name);
}

/* pid, tid, name. */
static void
note_comm (FlamPerfProcesses *processes, const FlamPerfRecord *record)
{
  FlamPerfBytes in = record->body;
  gint32 pid = (gint32)flam_perf_read_u32 (&in);
  gint32 tid = (gint32)flam_perf_read_u32 (&in);
  g_autofree char *name = g_strndup ((const char *)in.p, flam_perf_left (&in));
  Thread *thread;

  if (in.bad)
    return;
  thread = get_thread (processes, pid, tid);
  if (record->misc & FLAM_PERF_MISC_EXEC)
    drop_mappings (processes, thread->process);
  if (pid == tid)
    rename_process (processes, thread->process, record->time, name);
  rename_thread (processes, thread, record->time, name);
}

/* pid, parent's pid, tid, parent's tid. */
static void
note_fork (FlamPerfProcesses *processes, const FlamPerfRecord *record)
{
  FlamPerfBytes in = record->body;
  gint32 pid = (gint32)flam_perf_read_u32 (&in);
  gint32 parent_pid = (gint32)flam_perf_read_u32 (&in);
  gint32 tid = (gint32)flam_perf_read_u32 (&in);
  gint32 parent_tid = (gint32)flam_perf_read_u32 (&in);
  Process *process;
  g_autofree char *name = NULL;

  if (in.bad || tid == parent_tid)
    return;
  name = g_strdup (get_thread (processes, parent_pid, parent_tid)->name);
  process = get_process (processes, parent_pid);
  if (pid != parent_pid)
    {
      process = add_process (processes, pid, process);
      g_free (process->name);
      process->name = g_strdup (name);
    }
  add_thread (processes, process, tid, name);
}

/* pid, parent's pid, tid, parent's tid. */
static void
note_exit (FlamPerfProcesses *processes, const FlamPerfRecord *record)
{
  FlamPerfBytes in = record->body;
  gint32 tid;
  Thread *thread;

  flam_perf_read_u64 (&in);
  tid = (gint32)flam_perf_read_u32 (&in);
  thread = g_hash_table_lookup (processes->threads, GINT_TO_POINTER (tid));
  if (thread && !in.bad)
    end_thread (processes, thread);
}

/* A map's path: up to the first NUL. */
static gsize
path_length (const FlamPerfBytes *in)
{
  return strnlen ((const char *)in->p, flam_perf_left (in));
}

/* The runtime of process 123 maps "/anywhere/jit-123.dump" once, only so that
 * the mapping is recorded. */
static gboolean
is_jitdump (const char *path)
{
  const char *slash = strrchr (path, '/');

  return slash && g_str_has_prefix (slash, "/jit-") &&
         g_str_has_suffix (slash, ".dump");
}

/* Addresses in anonymous memory are valid in only one process; its runtime may
 * have written their names. */
static FlamPerfModule *
find_module (FlamPerfProcesses *processes,
             gint32 pid,
             const FlamPerfBytes *path,
             const char *build_id)
{
  FlamPerfModule *module = flam_perf_modules_get (
      processes->modules, (const char *)path->p, path_length (path), build_id);

  if (is_jitdump (module->path))
    return flam_perf_modules_generated (processes->modules, pid, module->path);
  if (module->kind == FLAM_PERF_MODULE_MEMORY)
    return flam_perf_modules_generated (processes->modules, pid, NULL);
  return module;
}

/* The kernel cuts names; a program's file has all of it. */
static void
complete_name (FlamPerfProcesses *processes,
               Process *process,
               const FlamPerfBytes *path)
{
  g_autofree char *whole = NULL;
  const char *slash, *base;

  if (process->name == NULL || strlen (process->name) != COMM_LENGTH)
    return;
  whole = g_strndup ((const char *)path->p, path_length (path));
  slash = strrchr (whole, '/');
  base = slash != NULL ? slash + 1 : whole;
  if (!g_str_has_prefix (base, process->name))
    return;
  g_free (process->name);
  process->name = g_strndup (base,
                             g_str_has_suffix (base, DELETED)
                                 ? strlen (base) - strlen (DELETED)
                                 : strlen (base));
  if (process->id != FLAM_NONE)
    flam_builder_set_process_name (
        processes->builder, process->id, process->name);
}

static void
map (FlamPerfProcesses *processes,
     gint32 pid,
     guint64 start,
     guint64 size,
     guint64 offset,
     gboolean executable,
     const char *build_id,
     const FlamPerfBytes *path)
{
  FlamUnwindSpace *space;
  FlamPerfModule *module;
  gsize before;

  if (path->bad || size == 0 || size > G_MAXUINT64 - start)
    return;
  if (executable)
    complete_name (processes, get_process (processes, pid), path);
  space = own_space (processes, get_process (processes, pid));
  before = flam_unwind_space_size (space);
  if (!executable)
    flam_unwind_space_remove (space, start, start + size);
  else if (before >= MAX_MAPS)
    processes->too_many = TRUE;
  else
    {
      module = find_module (processes, pid, path, build_id);
      flam_unwind_space_add (space, start, start + size, offset, NULL, module);
    }
  processes->n_maps += flam_unwind_space_size (space) - before;
}

/* "[kernel.kallsyms]_text", whose offset is that symbol's address. */
static void
note_kernel (FlamPerfProcesses *processes,
             guint64 start,
             guint64 size,
             guint64 offset,
             const char *build_id,
             const FlamPerfBytes *path)
{
  static const char prefix[] = "[kernel.kallsyms]";
  g_autofree char *name =
      g_strndup ((const char *)path->p, flam_perf_left (path));

  if (!path->bad && g_str_has_prefix (name, prefix) &&
      name[sizeof prefix - 1] != '\0')
    flam_perf_modules_set_kernel (processes->modules,
                                  name + sizeof prefix - 1,
                                  build_id,
                                  offset,
                                  start,
                                  size);
}

/* pid, tid, address, size, offset, path. The kernel's own are of pid -1. */
static void
note_mmap (FlamPerfProcesses *processes, const FlamPerfRecord *record)
{
  FlamPerfBytes in = record->body;
  gint32 pid = (gint32)flam_perf_read_u32 (&in);
  guint64 start, size, offset;

  flam_perf_read_u32 (&in);
  start = flam_perf_read_u64 (&in);
  size = flam_perf_read_u64 (&in);
  offset = flam_perf_read_u64 (&in);
  if ((record->misc & FLAM_PERF_MISC_MODE) == FLAM_PERF_MISC_KERNEL)
    note_kernel (processes, start, size, offset, "", &in);
  if ((record->misc & FLAM_PERF_MISC_MODE) == FLAM_PERF_MISC_USER)
    map (processes,
         pid,
         start,
         size,
         offset,
         !(record->misc & FLAM_PERF_MISC_DATA),
         "",
         &in);
}

/* Linux 3.12 to 3.15 wrote no protection and no flags: then these bytes are the
 * path, which is a large number. */
static gboolean
is_protection (guint32 word)
{
  return word < 1 << 16;
}

/* As MMAP, but before the path there are 24 bytes of inode or build id,
 * protection and flags. */
static void
note_mmap2 (FlamPerfProcesses *processes, const FlamPerfRecord *record)
{
  FlamPerfBytes in = record->body;
  gint32 pid = (gint32)flam_perf_read_u32 (&in);
  g_autofree char *build_id = NULL;
  guint64 start, size, offset;
  const guint8 *identity;
  guint32 protection;

  flam_perf_read_u32 (&in);
  start = flam_perf_read_u64 (&in);
  size = flam_perf_read_u64 (&in);
  offset = flam_perf_read_u64 (&in);
  identity = flam_perf_read_bytes (&in, 24);
  protection = flam_perf_read_u32 (&in);
  if (is_protection (protection))
    flam_perf_read_u32 (&in);
  else
    {
      in.p -= 4;
      protection = record->misc & FLAM_PERF_MISC_DATA ? 0 : PROT_EXECUTABLE;
    }
  if (identity && (record->misc & FLAM_PERF_MISC_MMAP_ID) && identity[0] <= 20)
    build_id = flam_perf_hex (identity + 4, identity[0]);
  if ((record->misc & FLAM_PERF_MISC_MODE) == FLAM_PERF_MISC_KERNEL)
    note_kernel (processes, start, size, offset, build_id ? build_id : "", &in);
  if ((record->misc & FLAM_PERF_MISC_MODE) == FLAM_PERF_MISC_USER)
    map (processes,
         pid,
         start,
         size,
         offset,
         protection & PROT_EXECUTABLE,
         build_id ? build_id : "",
         &in);
}

void
flam_perf_processes_note (FlamPerfProcesses *processes,
                          const FlamPerfRecord *record)
{
  static void (*const notes[]) (FlamPerfProcesses * processes,
                                const FlamPerfRecord *record) = {
    [FLAM_PERF_COMM] = note_comm,   [FLAM_PERF_FORK] = note_fork,
    [FLAM_PERF_EXIT] = note_exit,   [FLAM_PERF_MMAP] = note_mmap,
    [FLAM_PERF_MMAP2] = note_mmap2,
  };

  if (record->type < G_N_ELEMENTS (notes) && notes[record->type] != NULL)
    notes[record->type](processes, record);
}
