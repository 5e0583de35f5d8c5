/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-uftrace-symbols.h"

#include "flam-amount.h"
#include "flam-stack-text.h"

#include <string.h>

#define SECOND G_GINT64_CONSTANT (1000000000)
/* Addresses have 48 bits; those of the kernel have the highest of them. */
#define KERNEL (G_GUINT64_CONSTANT (1) << 47)
#define KERNEL_BITS (G_GUINT64_CONSTANT (0xffff) << 48)
#define MOST_SESSIONS 4096
#define MOST_OPENED 10000

typedef struct
{
  guint64 address;
  FlamStringId name; /* 0: the end of the range that has names */
  gboolean code;
} Symbol;

typedef struct
{
  FlamModuleId module;
  GArray *symbols; /* Symbol, ascending */
} Module;

typedef struct
{
  guint64 start, end;
  guint32 module; /* row */
} Mapping;

typedef struct
{
  gint64 time;
  gint32 pid;
  char *id;
  char *program;
  GArray *mappings; /* Mapping; NULL: not read yet */
} Session;

typedef struct
{
  gint32 id, of; /* a thread's process, or a process's parent */
} Link;

struct _FlamUftrace
{
  FlamLoad *load;
  char *folder;
  GArray *sessions;    /* Session, in order of time */
  GHashTable *pids;    /* tid -> pid */
  GHashTable *parents; /* pid -> parent */
  GArray *modules;     /* Module */
  GHashTable *by_path; /* -> row + 1 */
  GHashTable *frames;  /* session and address -> frame + 1 */
  guint opened;        /* lines of opened libraries */
};

FlamSource *
flam_uftrace_open (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  return g_file_test (path, G_FILE_TEST_IS_REGULAR)
             ? flam_source_open (path, NULL, NULL)
             : NULL;
}

/* --- task.txt ------------------------------------------------------------ */

/* The text after "name=" up to a space, or between quotes. */
static FlamSlice
value_of (FlamSlice line, const char *name)
{
  gsize at = flam_slice_find (line, name);
  FlamSlice value;

  if (at == line.length)
    return (FlamSlice){ "", 0 };
  value = flam_slice_from (line, at + strlen (name));
  if (flam_slice_begins (value, "\""))
    {
      value = flam_slice_from (value, 1);
      value.length = flam_slice_find (value, "\"");
    }
  else
    value.length = flam_slice_find (value, " ");
  return value;
}

static gint32
id_of (FlamSlice line, const char *name)
{
  gint64 id = flam_slice_number_after (line, name);

  return id >= 0 && id <= G_MAXINT32 ? (gint32)id : -1;
}

static gint64
time_of (FlamSlice line)
{
  FlamSlice text = value_of (line, " timestamp=");
  const char *p = text.text;
  gint64 time;

  return flam_amount_number (&p, p + text.length, SECOND, &time) ? time : 0;
}

static void
clear_session (gpointer data)
{
  Session *session = data;

  g_free (session->id);
  g_free (session->program);
  g_clear_pointer (&session->mappings, g_array_unref);
}

static void
clear_module (gpointer module)
{
  g_array_unref (((Module *)module)->symbols);
}

static void
add_session (FlamUftrace *uftrace, FlamSlice line)
{
  FlamSlice id = value_of (line, " sid=");
  FlamSlice program = value_of (line, " exename=");
  Session session = { .time = time_of (line), .pid = id_of (line, " pid=") };

  for (gsize i = 0; i < id.length; i++)
    if (!g_ascii_isxdigit (id.text[i]))
      return;
  if (uftrace->sessions->len >= MOST_SESSIONS)
    return;
  session.id = g_strndup (id.text, id.length);
  session.program = g_strndup (program.text, program.length);
  g_array_append_val (uftrace->sessions, session);
}

static guint32
find_module (FlamUftrace *uftrace, FlamSlice path, FlamSlice build_id);
static void read_mappings (FlamUftrace *uftrace, Session *session);

static void
add_opened (FlamUftrace *uftrace, FlamSlice line)
{
  FlamSlice id = value_of (line, " sid=");
  FlamSlice path = value_of (line, " libname=");
  FlamSlice base = value_of (line, " base=");
  const char *p = base.text;
  Mapping mapping;

  if (!flam_text_hex (&p, base.text + base.length, &mapping.start) ||
      uftrace->opened++ >= MOST_OPENED)
    return;
  mapping.module = find_module (uftrace, path, (FlamSlice){ "", 0 });
  {
    const GArray *symbols =
        g_array_index (uftrace->modules, Module, mapping.module).symbols;

    mapping.end = mapping.start;
    if (symbols->len > 0)
      mapping.end +=
          g_array_index (symbols, Symbol, symbols->len - 1).address + 1;
  }
  for (guint i = 0; i < uftrace->sessions->len; i++)
    {
      Session *session = &g_array_index (uftrace->sessions, Session, i);

      if (!flam_slice_is (id, session->id))
        continue;
      if (session->mappings == NULL)
        read_mappings (uftrace, session);
      g_array_append_val (session->mappings, mapping);
      return;
    }
}

static void
read_tasks (FlamUftrace *uftrace)
{
  g_autoptr (FlamSource) source =
      flam_uftrace_open (uftrace->folder, "task.txt");
  FlamText text;
  FlamSlice line;

  if (source == NULL)
    return;
  flam_text_init (&text, source);
  while (flam_text_next (&text, &line.text, &line.length))
    if (flam_slice_begins (line, "SESS "))
      add_session (uftrace, line);
    else if (flam_slice_begins (line, "TASK "))
      g_hash_table_insert (uftrace->pids,
                           GINT_TO_POINTER (id_of (line, " tid=")),
                           GINT_TO_POINTER (id_of (line, " pid=")));
    else if (flam_slice_begins (line, "FORK "))
      g_hash_table_insert (uftrace->parents,
                           GINT_TO_POINTER (id_of (line, " pid=")),
                           GINT_TO_POINTER (id_of (line, " ppid=")));
    else if (flam_slice_begins (line, "DLOP "))
      add_opened (uftrace, line);
}

/* --- modules ------------------------------------------------------------- */

static int
compare_symbols (gconstpointer a, gconstpointer b)
{
  const Symbol *x = a, *y = b;

  return x->address < y->address ? -1 : x->address > y->address;
}

/* "0000000000001050 P nanosleep" */
static void
read_symbols (FlamUftrace *uftrace, const char *path, GArray *symbols)
{
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *name = g_strconcat (base, ".sym", NULL);
  g_autoptr (FlamSource) source = flam_uftrace_open (uftrace->folder, name);
  FlamText text;
  FlamSlice line;

  if (source == NULL)
    return;
  flam_text_init (&text, source);
  while (flam_text_next (&text, &line.text, &line.length))
    {
      const char *p = line.text, *end = line.text + line.length;
      Symbol symbol = { 0 };

      if (!flam_text_hex (&p, end, &symbol.address) || end - p < 4 ||
          p[0] != ' ' || p[2] != ' ')
        continue;
      symbol.code = p[1] != '?' && strchr ("dDbBrR", p[1]) == NULL;
      if (symbol.code)
        symbol.name =
            flam_builder_string (uftrace->load->builder, p + 3, end - p - 3);
      g_array_append_val (symbols, symbol);
    }
  g_array_sort (symbols, compare_symbols);
}

static guint32
find_module (FlamUftrace *uftrace, FlamSlice path, FlamSlice build_id)
{
  g_autofree char *name = g_strndup (path.text, path.length);
  g_autofree char *id = g_strndup (build_id.text, build_id.length);
  gpointer found = g_hash_table_lookup (uftrace->by_path, name);
  FlamBuilder *builder = uftrace->load->builder;
  Module module;

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  module.module = flam_builder_module (builder, name, id, FLAM_ADDRESS_VADDR);
  module.symbols = g_array_new (FALSE, FALSE, sizeof (Symbol));
  read_symbols (uftrace, name, module.symbols);
  if (module.symbols->len > 0)
    flam_builder_set_module_symbols (
        builder, module.module, FLAM_SYMBOLS_CAPTURE, "");
  g_array_append_val (uftrace->modules, module);
  g_hash_table_insert (uftrace->by_path,
                       g_steal_pointer (&name),
                       GUINT_TO_POINTER (uftrace->modules->len));
  return uftrace->modules->len - 1;
}

/* "55d5-55d6 r-xp 00000000 00:00 0    /tmp/w build-id:f98d" */
static void
read_mappings (FlamUftrace *uftrace, Session *session)
{
  g_autofree char *name = g_strdup_printf ("sid-%s.map", session->id);
  g_autoptr (FlamSource) source = flam_uftrace_open (uftrace->folder, name);
  FlamText text;
  FlamSlice line;

  session->mappings = g_array_new (FALSE, FALSE, sizeof (Mapping));
  if (source == NULL)
    return;
  flam_text_init (&text, source);
  while (flam_text_next (&text, &line.text, &line.length))
    {
      const char *p = line.text, *end = line.text + line.length;
      gsize slash = flam_slice_find (line, " /");
      FlamSlice path, build_id = value_of (line, " build-id:");
      Mapping mapping;

      if (!flam_text_hex (&p, end, &mapping.start) || p == end || *p++ != '-' ||
          !flam_text_hex (&p, end, &mapping.end) || slash == line.length)
        continue;
      path = flam_slice_from (line, slash + 1);
      path.length = flam_slice_find (path, " build-id:");
      mapping.module = find_module (uftrace, path, build_id);
      g_array_append_val (session->mappings, mapping);
    }
}

/* --- looking up ---------------------------------------------------------- */

static int
compare_sessions (gconstpointer a, gconstpointer b)
{
  const Session *x = a, *y = b;

  return x->time < y->time ? -1 : x->time > y->time;
}

FlamUftrace *
flam_uftrace_new (FlamLoad *load, const char *folder)
{
  FlamUftrace *uftrace = flam_arena_new (load, FlamUftrace);

  uftrace->load = load;
  uftrace->folder = flam_arena_keep (load, g_strdup (folder), g_free);
  uftrace->sessions = flam_arena_array (load, Session);
  g_array_set_clear_func (uftrace->sessions, clear_session);
  uftrace->modules = flam_arena_array (load, Module);
  g_array_set_clear_func (uftrace->modules, clear_module);
  uftrace->by_path = flam_arena_table (load, FLAM_KEY_TEXT, NULL);
  uftrace->pids = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  uftrace->parents = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  uftrace->frames = flam_arena_table (load, FLAM_KEY_NUMBER, NULL);
  read_tasks (uftrace);
  g_array_sort (uftrace->sessions, compare_sessions);
  return uftrace;
}

static gint32
pid_of (FlamUftrace *uftrace, gint32 tid)
{
  gpointer pid;

  return g_hash_table_lookup_extended (
             uftrace->pids, GINT_TO_POINTER (tid), NULL, &pid)
             ? GPOINTER_TO_INT (pid)
             : tid;
}

/* The last of a process that began by `time`; FLAM_NONE. */
static guint32
session_of (FlamUftrace *uftrace, gint32 pid, gint64 time, gint64 *until)
{
  guint32 found = FLAM_NONE;

  for (guint32 i = 0; i < uftrace->sessions->len; i++)
    {
      const Session *session = &g_array_index (uftrace->sessions, Session, i);

      if (session->pid != pid)
        continue;
      if (session->time > time)
        {
          *until = MIN (*until, session->time);
          break;
        }
      found = i;
    }
  return found;
}

/* Files may have a circle of parents. */
#define MOST_PARENTS 64

guint32
flam_uftrace_session (FlamUftrace *uftrace,
                      gint32 tid,
                      gint64 time,
                      gint64 *until)
{
  gint32 pid = pid_of (uftrace, tid);
  guint32 session;
  gpointer parent;

  *until = G_MAXINT64;
  for (guint i = 0; i < MOST_PARENTS; i++)
    {
      session = session_of (uftrace, pid, time, until);
      if (session != FLAM_NONE)
        return session;
      if (!g_hash_table_lookup_extended (
              uftrace->parents, GINT_TO_POINTER (pid), NULL, &parent))
        break;
      pid = GPOINTER_TO_INT (parent);
    }
  return FLAM_NONE;
}

/* The symbol at or before an address; NULL: none. */
static const Symbol *
find_symbol (const GArray *symbols, guint64 address)
{
  guint first = 0, n = symbols->len;

  while (n > 0)
    {
      guint half = n / 2;

      if (g_array_index (symbols, Symbol, first + half).address <= address)
        {
          first += half + 1;
          n -= half + 1;
        }
      else
        n = half;
    }
  return first > 0 ? &g_array_index (symbols, Symbol, first - 1) : NULL;
}

static FlamFrameId
make_frame (FlamUftrace *uftrace, guint32 row, guint64 address)
{
  FlamBuilder *builder = uftrace->load->builder;
  FlamFunction function = { .module = FLAM_NONE };
  Session *session;

  if (address & KERNEL)
    {
      function.kind = FLAM_KIND_KERNEL;
      function.module =
          flam_builder_module (builder, "[kernel]", "", FLAM_ADDRESS_ABSOLUTE);
      return flam_builder_frame_of (
          builder, &function, address | KERNEL_BITS, 0, 0);
    }
  if (row == FLAM_NONE)
    return flam_builder_frame_of (builder, &function, 0, 0, 0);
  session = &g_array_index (uftrace->sessions, Session, row);
  if (session->mappings == NULL)
    read_mappings (uftrace, session);
  for (guint i = 0; i < session->mappings->len; i++)
    {
      const Mapping *map = &g_array_index (session->mappings, Mapping, i);
      const Module *module =
          &g_array_index (uftrace->modules, Module, map->module);
      const Symbol *symbol;

      if (address < map->start || address >= map->end)
        continue;
      function.module = module->module;
      symbol = find_symbol (module->symbols, address - map->start);
      if (symbol != NULL)
        function.name = symbol->name;
      return flam_builder_frame_of (builder,
                                    &function,
                                    function.name != 0 ? 0
                                                       : address - map->start,
                                    0,
                                    0);
    }
  return flam_builder_frame_of (builder, &function, 0, 0, 0);
}

FlamFrameId
flam_uftrace_frame (FlamUftrace *uftrace, guint32 session, guint64 address)
{
  gint64 key = (gint64)(address | (guint64)(session & 0xffff) << 48);
  gpointer found = g_hash_table_lookup (uftrace->frames, &key);
  FlamFrameId frame;

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  frame = make_frame (uftrace, session, address);
  g_hash_table_insert (uftrace->frames,
                       g_memdup2 (&key, sizeof key),
                       GUINT_TO_POINTER (frame + 1));
  return frame;
}

FlamThreadId
flam_uftrace_thread (FlamUftrace *uftrace, gint32 tid)
{
  FlamBuilder *builder = uftrace->load->builder;
  gint32 pid = pid_of (uftrace, tid);
  FlamProcessId process = flam_builder_process (builder, pid, 0);
  FlamThreadId thread = flam_builder_thread (builder, process, tid, 0);
  gint64 until;
  guint32 row = flam_uftrace_session (uftrace, tid, G_MAXINT64, &until);
  gpointer parent;

  if (row != FLAM_NONE)
    {
      const char *program =
          g_array_index (uftrace->sessions, Session, row).program;
      g_autofree char *name = g_path_get_basename (program);

      flam_builder_set_process_name (builder, process, name);
      if (tid == pid)
        flam_builder_set_thread_name (builder, thread, name);
    }
  if (g_hash_table_lookup_extended (
          uftrace->parents, GINT_TO_POINTER (pid), NULL, &parent) &&
      GPOINTER_TO_INT (parent) != pid)
    flam_builder_set_process_parent (
        builder,
        process,
        flam_builder_process (builder, GPOINTER_TO_INT (parent), 0));
  return thread;
}
