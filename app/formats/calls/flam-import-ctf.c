/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Traces in the Common Trace Format, as LTTng, barectf and others write them:
 *
 *    session/ust/uid/0/64-bit/   metadata    the description of
 *                                channel0_0  events, a file per CPU
 *    session/kernel/             the same
 *
 * All traces of a session are read. Events become calls in three ways:
 *
 *    lttng_ust_cyg_profile:func_entry, func_exit   programs compiled with
 *            -finstrument-functions; named by address, from the modules that
 *            lttng_ust_statedump and lttng_ust_lib list
 *    x:read_begin, x:read_end    any two events whose names differ in such a
 *            pair of words: the span "x:read"
 *    others  marks
 *
 * Threads are named by the contexts vpid, vtid and procname, in a kernel trace
 * by tid or by the switches of the CPU; without any, by CPU. Sources of facts:
 * the specification of CTF 1.8.3 and LTTng's manual. */

#include "flam-formats.h"
#include "flam-bytes.h"
#include "flam-ctf-metadata.h"
#include "flam-ctf-stream.h"
#include "flam-text.h"
#include "flam-trace-spans.h"

#include <string.h>

/* Folders and files in a session. */
#define MOST_FILES 4096
#define MOST_LEVELS 5
/* Modules of a process that are searched, the last ones first. */
#define MOST_LOOKED 4096
/* Clocks that count from 1970, not from the start of the machine, ns. */
#define IN_2001 (G_GINT64_CONSTANT (1000000000) * 1000000000)

typedef enum
{
  UNKNOWN, /* not looked at yet */
  MARK,
  MESSAGE,  /* a mark with its text */
  ENTER,    /* a function, at an address */
  LEAVE,    /* one */
  BEGIN,    /* a span */
  FINISH,   /* a span */
  MODULE,   /* is loaded */
  BUILD_ID, /* of a module */
  UNLOAD,   /* a module */
  PROGRAM,  /* the process's name; its modules follow */
  SWITCH,   /* a CPU to another thread */
  TASK,     /* a thread that exists */
  IGNORED,
} Role;

/* What an event of the description is. */
typedef struct
{
  Role role;
  FlamStringId name; /* of the span or the mark */
} Kind;

typedef struct
{
  gint64 time;
  guint64 value;  /* ENTER: address; else a string */
  guint32 thread; /* a row of threads; FLAM_NONE: the CPU's */
  guint16 cpu;
  guint8 role;
} Moment;

typedef struct
{
  FlamThreadId thread; /* FLAM_NONE: not made yet */
  gint32 pid, tid;
  char name[16];
} Thread;

typedef struct
{
  gint64 time;  /* it is loaded, */
  gint64 until; /* and unloaded */
  gint32 pid;
  guint64 start, end;
  gboolean fixed; /* not position-independent */
  char *path;
  char *build_id;
  FlamModuleId module; /* FLAM_NONE: not made yet */
} Module;

typedef struct
{
  gint64 time;
  guint32 cpu;
  gint32 tid;
} Switch;

typedef struct
{
  FlamLoad *load;
  FlamTraceSpans spans;
  GArray *threads;       /* Thread */
  GHashTable *by_id;     /* pid and tid -> 1 + a row of threads */
  GArray *by_cpu;        /* 1 + a row of threads */
  GHashTable *processes; /* tid -> pid, of a kernel trace */
  GPtrArray *modules;    /* Module */
  GHashTable *loaded;    /* pid and address -> Module */
  gboolean changes;      /* other modules come to the same addresses */
  GHashTable *frames;    /* pid and address -> 1 + a frame */
  GArray *switches;      /* Switch, by CPU and time once all is read */
  FlamColumn moments;    /* Moment, in the order of the files */
  guint64 lost;
  gboolean lttng; /* a trace of programs by LTTng */
  gint64 first;   /* ns since 1970, of all events */
  guint streams;  /* files */
  guint damaged;  /* of them */
  /* Of the trace that is read: */
  GArray *kinds;      /* Kind, by the event's place */
  GHashTable *places; /* FlamCtfEvent -> 1 + its place */
  struct
  {
    guint32 vpid, vtid, pid, tid, procname, addr, baddr, memsz, path, is_pic,
        build_id, msg, next_tid, next_comm, name;
  } names;
} Trace;

/* --- roles --------------------------------------------------------------- */

static const struct
{
  const char *name; /* "*": any provider */
  Role role;
} known[] = {
  { "lttng_ust_cyg_profile:func_entry", ENTER },
  { "lttng_ust_cyg_profile:func_exit", LEAVE },
  { "lttng_ust_cyg_profile_fast:func_entry", ENTER },
  { "lttng_ust_cyg_profile_fast:func_exit", LEAVE },
  { "lttng_ust_statedump:bin_info", MODULE },
  { "lttng_ust_statedump:build_id", BUILD_ID },
  { "lttng_ust_statedump:procname", PROGRAM },
  { "lttng_ust_statedump:start", IGNORED },
  { "lttng_ust_statedump:end", IGNORED },
  { "lttng_ust_statedump:debug_link", IGNORED },
  { "lttng_ust_lib:load", MODULE },
  { "lttng_ust_lib:build_id", BUILD_ID },
  { "lttng_ust_lib:unload", UNLOAD },
  { "lttng_ust_lib:debug_link", IGNORED },
  { "lttng_ust_dl:dlopen", MODULE },
  { "lttng_ust_dl:dlmopen", MODULE },
  { "lttng_ust_dl:build_id", BUILD_ID },
  { "lttng_ust_dl:debug_link", IGNORED },
  { "lttng_ust_dl:dlclose", UNLOAD },
  { "lttng_ust_tracef:event", MESSAGE },
  { "sched_switch", SWITCH },
  { "lttng_statedump_process_state", TASK },
};

/* The words of a pair of events. */
static const char *const pairs[][2] = {
  { "entry", "exit" },   { "enter", "exit" },   { "enter", "leave" },
  { "begin", "end" },    { "start", "end" },    { "start", "stop" },
  { "start", "done" },   { "start", "finish" }, { "req", "acq" },
  { "begin", "finish" },
};

/* Where a word is in a name, between other characters than letters; -1. */
static gssize
find_word (const char *name, const char *word)
{
  gsize length = strlen (word);

  for (const char *p = strstr (name, word); p != NULL; p = strstr (p + 1, word))
    if ((p == name || !g_ascii_isalnum (p[-1])) && !g_ascii_isalnum (p[length]))
      return p - name;
  return -1;
}

static gboolean
has_event (const FlamCtf *ctf, const char *name)
{
  for (guint i = 0; i < ctf->events->len; i++)
    if (strcmp (((FlamCtfEvent *)ctf->events->pdata[i])->name, name) == 0)
      return TRUE;
  return FALSE;
}

/* "x:read_begin" -> "x:read", if there is an "x:read_end". */
static char *
span_name (const FlamCtf *ctf, const char *name, gboolean *begins)
{
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    for (guint side = 0; side < 2; side++)
      {
        const char *word = pairs[i][side];
        gssize at = find_word (name, word);
        const char *after = at >= 0 ? name + at + strlen (word) : NULL;
        g_autofree char *other = NULL;

        if (at < 0)
          continue;
        other = g_strdup_printf (
            "%.*s%s%s", (int)at, name, pairs[i][1 - side], after);
        if (!has_event (ctf, other))
          continue;
        *begins = side == 0;
        if (at > 0)
          at--;
        else if (*after != '\0')
          after++;
        return g_strdup_printf ("%.*s%s", (int)at, name, after);
      }
  return NULL;
}

static void
look_at (Trace *trace,
         const FlamCtf *ctf,
         const FlamCtfEvent *event,
         Kind *kind)
{
  FlamBuilder *builder = trace->load->builder;
  g_autofree char *span = NULL;
  gboolean begins;

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (event->name, known[i].name) == 0)
      {
        kind->role = known[i].role;
        return;
      }
  if (g_str_has_prefix (event->name, "lttng_ust_tracelog:"))
    {
      kind->role = MESSAGE;
      return;
    }
  if (g_str_has_prefix (event->name, "lttng_statedump_"))
    {
      kind->role = IGNORED;
      return;
    }
  span = span_name (ctf, event->name, &begins);
  kind->role = span == NULL ? MARK : begins ? BEGIN : FINISH;
  kind->name =
      flam_builder_string (builder, span != NULL ? span : event->name, -1);
}

/* --- threads ------------------------------------------------------------- */

static gboolean
get_text (const FlamCtfReader *reader, guint32 name, FlamSlice *text)
{
  const FlamCtfValue *value = flam_ctf_reader_value (reader, name);
  const guint8 *nul;

  if (value == NULL || value->type != NULL)
    return FALSE;
  nul = value->length > 0 ? memchr (value->data, 0, value->length) : NULL;
  text->text = (const char *)value->data;
  text->length = nul != NULL ? (gsize)(nul - value->data) : value->length;
  return TRUE;
}

static gint32
get_id (const FlamCtfReader *reader, guint32 name, guint32 other)
{
  guint64 number;

  if (!flam_ctf_reader_number (reader, name, &number) &&
      !flam_ctf_reader_number (reader, other, &number))
    return -1;
  return number <= G_MAXINT32 ? (gint32)number : -1;
}

static guint32
thread_of (Trace *trace, gint32 pid, gint32 tid)
{
  gint64 key = (gint64)((guint64)(guint32)pid << 32 | (guint32)tid);
  gpointer found = g_hash_table_lookup (trace->by_id, &key);
  Thread thread = { .thread = FLAM_NONE, .pid = pid, .tid = tid };

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  g_array_append_val (trace->threads, thread);
  g_hash_table_insert (trace->by_id,
                       g_memdup2 (&key, sizeof key),
                       GUINT_TO_POINTER (trace->threads->len));
  return trace->threads->len - 1;
}

static void
name_thread (Trace *trace, guint32 row, FlamSlice name)
{
  Thread *thread = &g_array_index (trace->threads, Thread, row);
  gsize length = MIN (name.length, sizeof thread->name - 1);

  if (length == 0)
    return;
  memcpy (thread->name, name.text, length);
  thread->name[length] = '\0';
}

/* Threads of which the trace only has names, such as LTTng's own, are left
 * out. */
static FlamThreadId
make_thread (Trace *trace, guint32 row)
{
  FlamBuilder *builder = trace->load->builder;
  Thread *thread = &g_array_index (trace->threads, Thread, row);

  if (thread->thread != FLAM_NONE)
    return thread->thread;
  thread->thread = flam_builder_thread (
      builder, flam_builder_process (builder, thread->pid, 0), thread->tid, 0);
  if (thread->name[0] != '\0')
    flam_builder_set_thread_name (builder, thread->thread, thread->name);
  return thread->thread;
}

/* The thread that an event names; FLAM_NONE. */
static guint32
thread_of_event (Trace *trace, const FlamCtfReader *reader)
{
  gint32 tid = get_id (reader, trace->names.vtid, trace->names.tid);
  gint32 pid = get_id (reader, trace->names.vpid, trace->names.pid);
  FlamSlice name;
  guint32 row;

  if (tid < 0 && pid < 0)
    return FLAM_NONE;
  row = thread_of (trace, pid >= 0 ? pid : tid, tid >= 0 ? tid : pid);
  if (get_text (reader, trace->names.procname, &name))
    name_thread (trace, row, name);
  return row;
}

/* --- modules ------------------------------------------------------------- */

static void
free_module (gpointer data)
{
  Module *module = data;

  g_free (module->path);
  g_free (module->build_id);
  g_free (module);
}

static gint64
key_of (gint32 pid, guint64 address)
{
  return (gint64)(address ^ (guint64)(guint32)pid << 48);
}

/* The last one that was loaded there. */
static Module *
find_loaded (Trace *trace, gint32 pid, guint64 start)
{
  gint64 key = key_of (pid, start);

  return g_hash_table_lookup (trace->loaded, &key);
}

static void
add_module (Trace *trace, const FlamCtfReader *reader, gint32 pid)
{
  guint64 start, size, pic = 1;
  FlamSlice path;
  Module *module;
  gint64 key;

  if (!flam_ctf_reader_number (reader, trace->names.baddr, &start) ||
      !flam_ctf_reader_number (reader, trace->names.memsz, &size) ||
      !get_text (reader, trace->names.path, &path) ||
      trace->modules->len >= 1 << 20)
    return;
  flam_ctf_reader_number (reader, trace->names.is_pic, &pic);
  module = g_new0 (Module, 1);
  module->time = reader->time;
  module->until = G_MAXINT64;
  module->pid = pid;
  module->start = start;
  module->end = start + MIN (size, G_MAXUINT64 - start);
  module->fixed = pic == 0;
  module->path = g_strndup (path.text, path.length);
  module->module = FLAM_NONE;
  g_ptr_array_add (trace->modules, module);
  key = key_of (pid, start);
  g_hash_table_replace (trace->loaded, g_memdup2 (&key, sizeof key), module);
}

static void
set_build_id (Trace *trace, const FlamCtfReader *reader, gint32 pid)
{
  const FlamCtfValue *id =
      flam_ctf_reader_value (reader, trace->names.build_id);
  guint64 start;
  Module *module;
  GString *text;

  if (id == NULL || id->type != NULL || id->length > FLAM_BUILD_ID_MAX / 2 ||
      !flam_ctf_reader_number (reader, trace->names.baddr, &start))
    return;
  module = find_loaded (trace, pid, start);
  if (module == NULL || module->build_id != NULL)
    return;
  text = g_string_new (NULL);
  for (gsize i = 0; i < id->length; i++)
    g_string_append_printf (text, "%02x", id->data[i]);
  module->build_id = g_string_free (text, FALSE);
}

static int
compare_modules (gconstpointer a, gconstpointer b)
{
  const Module *x = *(const Module *const *)a, *y = *(const Module *const *)b;

  if (x->pid != y->pid)
    return x->pid < y->pid ? -1 : 1;
  return x->time < y->time ? -1 : x->time > y->time;
}

static int
compare_starts (gconstpointer a, gconstpointer b)
{
  const Module *x = *(const Module *const *)a, *y = *(const Module *const *)b;

  if (x->pid != y->pid)
    return x->pid < y->pid ? -1 : 1;
  return x->start < y->start ? -1 : x->start > y->start;
}

/* Whether other modules come to the same addresses; sorts by time. */
static void
sort_modules (Trace *trace)
{
  const Module *last = NULL;

  g_ptr_array_sort (trace->modules, compare_starts);
  for (guint i = 0; i < trace->modules->len; i++)
    {
      const Module *module = trace->modules->pdata[i];

      if (last != NULL && last->pid == module->pid &&
          module->start < last->end && strcmp (module->path, last->path) != 0)
        trace->changes = TRUE;
      if (last == NULL || last->pid != module->pid || module->end > last->end)
        last = module;
    }
  g_ptr_array_sort (trace->modules, compare_modules);
}

static FlamFrameId
make_frame (Trace *trace, gint32 pid, guint64 address, gint64 time)
{
  FlamBuilder *builder = trace->load->builder;
  FlamFunction function = { .module = FLAM_NONE };
  guint first = 0, n = trace->modules->len;

  /* The end of the process's modules. */
  while (n > 0)
    {
      guint half = n / 2;
      const Module *module = trace->modules->pdata[first + half];

      if (module->pid <= pid)
        {
          first += half + 1;
          n -= half + 1;
        }
      else
        n = half;
    }
  for (guint k = 0; k < MOST_LOOKED && first-- > 0; k++)
    {
      Module *module = trace->modules->pdata[first];

      if (module->pid != pid)
        break;
      if (address < module->start || address >= module->end ||
          (trace->changes && (module->time > time || module->until < time)))
        continue;
      if (module->module == FLAM_NONE)
        module->module = flam_builder_module (
            builder,
            module->path,
            module->build_id != NULL ? module->build_id : "",
            FLAM_ADDRESS_VADDR);
      function.module = module->module;
      return flam_builder_frame_of (builder,
                                    &function,
                                    module->fixed ? address
                                                  : address - module->start,
                                    0,
                                    0);
    }
  return flam_builder_frame_of (builder, &function, address, 0, 0);
}

static FlamFrameId
frame_of (Trace *trace, gint32 pid, guint64 address, gint64 time)
{
  gint64 key = key_of (pid, address);
  gpointer found =
      trace->changes ? NULL : g_hash_table_lookup (trace->frames, &key);
  FlamFrameId frame;

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  frame = make_frame (trace, pid, address, time);
  if (!trace->changes)
    g_hash_table_insert (trace->frames,
                         g_memdup2 (&key, sizeof key),
                         GUINT_TO_POINTER (frame + 1));
  return frame;
}

/* --- events -------------------------------------------------------------- */

static void
add_task (Trace *trace, const FlamCtfReader *reader)
{
  gint32 tid = get_id (reader, trace->names.tid, 0);
  gint32 pid = get_id (reader, trace->names.pid, 0);
  FlamSlice name;

  if (tid < 0 || pid < 0)
    return;
  g_hash_table_insert (
      trace->processes, GINT_TO_POINTER (tid), GINT_TO_POINTER (pid + 1));
  if (get_text (reader, trace->names.name, &name))
    name_thread (trace, thread_of (trace, pid, tid), name);
}

static void
add_switch (Trace *trace, const FlamCtfReader *reader)
{
  Switch next = { .time = reader->time,
                  .cpu = reader->cpu,
                  .tid = get_id (reader, trace->names.next_tid, 0) };
  gint32 pid = GPOINTER_TO_INT (g_hash_table_lookup (
                   trace->processes, GINT_TO_POINTER (next.tid))) -
               1;
  FlamSlice name;

  g_array_append_val (trace->switches, next);
  if (next.tid > 0 && get_text (reader, trace->names.next_comm, &name))
    name_thread (
        trace, thread_of (trace, pid >= 0 ? pid : next.tid, next.tid), name);
}

static void
add_moment (Trace *trace,
            const FlamCtfReader *reader,
            guint32 thread,
            Role role,
            guint64 value)
{
  Moment moment = { .time = reader->time,
                    .value = value,
                    .thread = thread,
                    .cpu = (guint16)reader->cpu,
                    .role = role };

  flam_column_append (&trace->moments, Moment, moment);
}

static gboolean
read_event (FlamCtfReader *reader, const FlamCtfEvent *event, gpointer data)
{
  Trace *trace = data;
  guint place =
      GPOINTER_TO_UINT (g_hash_table_lookup (trace->places, event)) - 1;
  Kind *kind = &g_array_index (trace->kinds, Kind, place);
  guint32 thread = thread_of_event (trace, reader);
  gint32 pid = thread != FLAM_NONE
                   ? g_array_index (trace->threads, Thread, thread).pid
                   : -1;
  FlamSlice text;
  guint64 number;
  Module *module;

  if (kind->role == UNKNOWN)
    look_at (trace, reader->ctf, event, kind);
  flam_trace_spans_see (&trace->spans, reader->time);
  trace->first = MIN (trace->first, reader->time);
  switch (kind->role)
    {
    case ENTER:
      if (flam_ctf_reader_number (reader, trace->names.addr, &number))
        add_moment (trace, reader, thread, ENTER, number);
      break;
    case MARK:
    case LEAVE:
    case BEGIN:
    case FINISH:
      add_moment (trace, reader, thread, kind->role, kind->name);
      break;
    case MESSAGE:
      if (get_text (reader, trace->names.msg, &text))
        add_moment (trace,
                    reader,
                    thread,
                    MARK,
                    flam_builder_string (
                        trace->load->builder, text.text, (gssize)text.length));
      break;
    case MODULE:
      add_module (trace, reader, pid);
      break;
    case BUILD_ID:
      set_build_id (trace, reader, pid);
      break;
    case UNLOAD:
      if (flam_ctf_reader_number (reader, trace->names.baddr, &number) &&
          (module = find_loaded (trace, pid, number)) != NULL)
        module->until = reader->time;
      break;
    case PROGRAM:
      /* The context has a name of its own, that of the thread. */
      if (pid >= 0 && get_text (reader, trace->names.procname, &text))
        {
          g_autofree char *name = g_strndup (text.text, text.length);

          flam_builder_set_process_name (
              trace->load->builder,
              flam_builder_process (trace->load->builder, pid, 0),
              name);
        }
      break;
    case SWITCH:
      add_switch (trace, reader);
      break;
    case TASK:
      add_task (trace, reader);
      break;
    case UNKNOWN:
    case IGNORED:
      break;
    }
  return trace->moments.n % 65536 != 0 ||
         flam_progress_step (trace->load->options->progress, 0, NULL);
}

/* --- from moments to spans ----------------------------------------------- */

static int
compare_switches (gconstpointer a, gconstpointer b)
{
  const Switch *x = a, *y = b;

  if (x->cpu != y->cpu)
    return x->cpu < y->cpu ? -1 : 1;
  return x->time < y->time ? -1 : x->time > y->time;
}

/* Linux calls what runs on an idle CPU swapper, process 0. */
static guint32
lane_of_cpu (Trace *trace, guint32 cpu)
{
  FlamBuilder *builder = trace->load->builder;
  gboolean idle = trace->switches->len > 0;
  FlamProcessId process = flam_builder_process (builder, idle ? 0 : -1, 0);
  g_autofree char *name =
      cpu == G_MAXUINT16 ? g_strdup ("") : g_strdup_printf ("CPU %u", cpu);
  Thread lane = { .pid = -1 };

  if (cpu >= trace->by_cpu->len)
    g_array_set_size (trace->by_cpu, cpu + 1);
  if (g_array_index (trace->by_cpu, guint32, cpu) != 0)
    return g_array_index (trace->by_cpu, guint32, cpu) - 1;
  if (idle)
    flam_builder_set_process_name (builder, process, "swapper");
  lane.thread = flam_builder_thread_keyed (
      builder, process, flam_builder_string (builder, name, -1));
  flam_builder_set_thread_name (builder, lane.thread, name);
  g_array_append_val (trace->threads, lane);
  g_array_index (trace->by_cpu, guint32, cpu) = trace->threads->len;
  return trace->threads->len - 1;
}

/* The thread that ran on a CPU, or the CPU itself. */
static guint32
thread_of_cpu (Trace *trace, guint32 cpu, gint64 time)
{
  Switch key = { .time = time, .cpu = cpu };
  guint first = 0, n = trace->switches->len;

  while (n > 0)
    {
      guint half = n / 2;

      if (compare_switches (
              &g_array_index (trace->switches, Switch, first + half), &key) <=
          0)
        {
          first += half + 1;
          n -= half + 1;
        }
      else
        n = half;
    }
  if (first > 0)
    {
      const Switch *before =
          &g_array_index (trace->switches, Switch, first - 1);

      if (before->cpu == cpu && before->tid > 0)
        {
          gint32 pid = GPOINTER_TO_INT (g_hash_table_lookup (
                           trace->processes, GINT_TO_POINTER (before->tid))) -
                       1;

          return thread_of (trace, pid >= 0 ? pid : before->tid, before->tid);
        }
    }
  return lane_of_cpu (trace, cpu);
}

static void
make_spans (Trace *trace)
{
  FlamBuilder *builder = trace->load->builder;
  const FlamProfile *tables = &flam_builder_tables (builder)->profile;

  sort_modules (trace);
  g_array_sort (trace->switches, compare_switches);
  for (gsize i = 0; i < trace->moments.n; i++)
    {
      const Moment *moment = &flam_column_at (&trace->moments, Moment, i);
      guint32 row = moment->thread != FLAM_NONE
                        ? moment->thread
                        : thread_of_cpu (trace, moment->cpu, moment->time);
      FlamThreadId thread = make_thread (trace, row);
      FlamFrameId frame;

      switch ((Role)moment->role)
        {
        case ENTER:
          frame = frame_of (trace,
                            g_array_index (trace->threads, Thread, row).pid,
                            moment->value,
                            moment->time);
          flam_trace_spans_begin_in (
              &trace->spans,
              thread,
              tables->functions.name[tables->frames.function[frame]],
              frame,
              moment->time);
          break;
        case LEAVE:
          flam_trace_spans_end (&trace->spans, thread, 0, moment->time);
          break;
        case BEGIN:
          flam_trace_spans_begin (
              &trace->spans, thread, (FlamStringId)moment->value, moment->time);
          break;
        case FINISH:
          flam_trace_spans_end (
              &trace->spans, thread, (FlamStringId)moment->value, moment->time);
          break;
        default:
          flam_builder_add_mark (
              builder,
              moment->time,
              0,
              thread,
              flam_builder_get_string (builder, (FlamStringId)moment->value));
        }
    }
}

/* --- files --------------------------------------------------------------- */

static int
compare_paths (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static gboolean
read_trace (Trace *trace, const FlamSource *metadata, GError **error)
{
  FlamLoad *load = trace->load;
  FlamCtf *ctf = flam_ctf_read (load, metadata, error);
  g_autofree char *folder = g_path_get_dirname (metadata->path);
  g_autoptr (GDir) dir = NULL;
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  FlamCtfReader reader;
  const char *name;

  if (ctf == NULL)
    return FALSE;
#define NAME(member)                                                           \
  trace->names.member = flam_ctf_name (ctf, #member, strlen (#member))
  NAME (vpid);
  NAME (vtid);
  NAME (pid);
  NAME (tid);
  NAME (procname);
  NAME (addr);
  NAME (baddr);
  NAME (memsz);
  NAME (path);
  NAME (is_pic);
  NAME (build_id);
  NAME (msg);
  NAME (next_tid);
  NAME (next_comm);
  NAME (name);
#undef NAME
  g_array_set_size (trace->kinds, 0);
  g_array_set_size (trace->kinds, ctf->events->len);
  g_hash_table_remove_all (trace->places);
  for (guint i = 0; i < ctf->events->len; i++)
    g_hash_table_insert (
        trace->places, ctf->events->pdata[i], GUINT_TO_POINTER (i + 1));
  trace->lttng |= strcmp (ctf->domain, "ust") == 0;
  if (*ctf->host != '\0')
    flam_builder_set_fact (load->builder, FLAM_FACT_HOST, ctf->host);
  flam_ctf_reader_init (&reader, ctf);
  reader.event = read_event;
  reader.data = trace;
  if (g_file_test (metadata->path, G_FILE_TEST_IS_REGULAR))
    dir = g_dir_open (folder, 0, NULL);
  while (dir != NULL && files->len < MOST_FILES &&
         (name = g_dir_read_name (dir)) != NULL)
    if (*name != '.' && strcmp (name, "metadata") != 0)
      g_ptr_array_add (files, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (files, compare_paths);
  for (guint i = 0; i < files->len; i++)
    {
      g_autoptr (FlamSource) source = NULL;

      if (!g_file_test (files->pdata[i], G_FILE_TEST_IS_REGULAR))
        continue;
      source =
          flam_source_open (files->pdata[i], load->options->progress, NULL);
      if (source == NULL)
        {
          if (!flam_progress_step (load->options->progress, 0, error))
            return FALSE;
          trace->damaged++;
          continue;
        }
      if (!flam_ctf_reader_read (&reader, source))
        return flam_progress_step (load->options->progress, 0, error);
      trace->lost += reader.discarded;
      trace->damaged += reader.damaged && reader.stream != NULL;
      trace->streams += reader.stream != NULL;
    }
  return TRUE;
}

/* The folder of LTTng's whole session, or NULL. */
static char *
find_session (const char *metadata)
{
  g_autofree char *folder = g_path_get_dirname (metadata);

  for (guint i = 0; i < MOST_LEVELS; i++)
    {
      g_autofree char *name = g_path_get_basename (folder);
      char *parent = g_path_get_dirname (folder);

      if (strcmp (name, "ust") == 0 || strcmp (name, "kernel") == 0)
        return parent;
      g_free (folder);
      folder = parent;
    }
  return NULL;
}

static void
find_traces (GPtrArray *found, const char *folder, guint levels)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autofree char *metadata = g_build_filename (folder, "metadata", NULL);
  const char *name;

  if (g_file_test (metadata, G_FILE_TEST_IS_REGULAR))
    {
      g_ptr_array_add (found, g_steal_pointer (&metadata));
      return;
    }
  while (levels > 0 && dir != NULL && found->len < MOST_FILES &&
         (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (*name != '.' && !g_file_test (path, G_FILE_TEST_IS_SYMLINK) &&
          g_file_test (path, G_FILE_TEST_IS_DIR))
        find_traces (found, path, levels - 1);
    }
}

static gboolean
read_session (Trace *trace, GError **error)
{
  const FlamSource *given = trace->load->source;
  g_autofree char *session = find_session (given->path);
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free);

  if (!read_trace (trace, given, error))
    return FALSE;
  if (session != NULL)
    find_traces (found, session, MOST_LEVELS);
  g_ptr_array_sort (found, compare_paths);
  for (guint i = 0; i < found->len; i++)
    {
      g_autoptr (FlamSource) metadata = NULL;

      if (strcmp (found->pdata[i], given->path) == 0)
        continue;
      metadata = flam_source_open (
          found->pdata[i], trace->load->options->progress, error);
      if (metadata == NULL || !read_trace (trace, metadata, error))
        return FALSE;
    }
  return TRUE;
}

/* perf writes such traces as well (flam-refused.c). */
static guint
probe (const FlamSource *source)
{
  return flam_source_head_has (source, 64, "/* CTF 1.8") &&
                 !flam_source_head_has (source, 65536, "tracer_name = \"perf\"")
             ? 100
             : 0;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamBuilder *builder = load->builder;
  Trace *trace = flam_arena_new (load, Trace);

  trace->load = load;
  trace->first = G_MAXINT64;
  trace->threads = flam_arena_array (load, Thread);
  trace->by_id = flam_arena_table (load, FLAM_KEY_NUMBER, NULL);
  trace->by_cpu = flam_arena_zeroed (load, guint32);
  trace->processes = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  trace->modules = flam_arena_pointers (load, free_module);
  trace->loaded = flam_arena_table (load, FLAM_KEY_NUMBER, NULL);
  trace->frames = flam_arena_table (load, FLAM_KEY_NUMBER, NULL);
  trace->switches = flam_arena_array (load, Switch);
  trace->kinds = flam_arena_zeroed (load, Kind);
  trace->places = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  flam_arena_column (load, &trace->moments, Moment);
  flam_builder_set_has_times (builder);
  flam_builder_set_spans (builder,
                          flam_load_measures (builder,
                                              FLAM_STANDARD_WALL_TIME,
                                              FLAM_STANDARD_CALLS),
                          FLAM_SPANS_CALLS);
  flam_trace_spans_init (&trace->spans, load);
  if (!read_session (trace, error))
    return FALSE;
  if (trace->streams == 0)
    return flam_source_invalid (
        load->source,
        error,
        N_ ("the files with the events are not beside this file; open the "
            "folder of the trace"));
  if (trace->first > IN_2001 && trace->first < G_MAXINT64)
    {
      flam_builder_set_origin (builder, trace->first);
      flam_builder_facts (builder)->start_unix_ns = trace->first;
    }
  make_spans (trace);
  if (flam_trace_spans_close (&trace->spans) == 0)
    return flam_source_error (
        load->source,
        error,
        FLAM_ERROR_UNSUPPORTED,
        FLAM_NO_OFFSET,
        N_ ("this trace (CTF) has events but no calls; record calls with LTTng "
            "and “LD_PRELOAD=liblttng-ust-cyg-profile.so PROGRAM”, or samples "
            "with “perf record -g”"));
  flam_trace_spans_make_samples (&trace->spans, TRUE);
  flam_builder_facts (builder)->lost += trace->lost;
  if (trace->lttng && trace->by_cpu->len > 0)
    flam_builder_warn (
        builder,
        N_ ("events without a thread are shown by CPU: add the contexts with "
            "“lttng add-context -u -t vpid -t vtid -t procname”"));
  flam_builder_warn_count (
      builder,
      trace->damaged,
      "%" PRIu64 " file of the trace is damaged: a part of "
      "it is missing",
      "%" PRIu64 " files of the trace are damaged: parts of "
      "them are missing");
  flam_load_warn_open (builder, trace->spans.open);
  return TRUE;
}

const FlamImporter flam_import_ctf = {
  .id = "ctf",
  .label = "Common Trace Format, LTTng",
  .written_by = "lttng, barectf",
  .suffixes = FLAM_LIST ("metadata"),
  .signs = FLAM_SIGNS ({ FLAM_MAGIC ("\x57\x1d\xd1\x75"), .score = 100 },
                       { FLAM_MAGIC ("\x75\xd1\x1d\x57"), .score = 100 }),
  .probe = probe,
  .load = load,
  .folder = FLAM_LIST ("metadata",
                       "kernel/metadata",
                       "ust/uid/*/*/metadata",
                       "ust/pid/*/metadata"),
  .base_lines = TRUE,
};
