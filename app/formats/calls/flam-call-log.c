/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-call-log.h"

#define NO_ROW G_MAXUINT32
#define NO_TIME G_MININT64

typedef struct
{
  gint64 id;       /* -1 */
  guint32 process; /* the row of a thread of the same process; NO_ROW */
  FlamSlice name;
  FlamSlice open; /* the call that has not returned; empty: none */
  gint64 since;
} Thread;

typedef struct
{
  guint32 thread;
  FlamStackId stack;
  guint32 labels;
  gint64 start, duration;
} Call;

/* The meaning of a piece of text in `frames`. */
enum
{
  FRAME_OF_STACK,
  FRAME_OF_CALL,
};

static Thread *
get_thread (const FlamCallLog *log, guint32 row)
{
  return &g_array_index (log->threads, Thread, row);
}

void
flam_call_log_init (FlamCallLog *log, FlamLoad *load)
{
  log->load = load;
  log->builder = load->builder;
  log->threads = flam_arena_array (load, Thread);
  log->by_id = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  log->stack = flam_arena_array (load, FlamId);
  log->end = NO_TIME;
  log->leaf = FLAM_NONE;
  flam_arena_column (load, &log->calls, Call);
  flam_arena_pieces (load, &log->frames);
  flam_arena_pieces (load, &log->errors);
}

/* --- threads ------------------------------------------------------------- */

static gpointer
key_of (gint64 id)
{
  return GINT_TO_POINTER ((gint32)CLAMP (id, -1, G_MAXINT32));
}

guint32
flam_call_log_thread (FlamCallLog *log, gint64 id)
{
  Thread thread = { .id = id >= 0 && id <= G_MAXINT32 ? id : -1,
                    .process = NO_ROW,
                    .name = { "", 0 },
                    .open = { "", 0 } };
  gpointer found = g_hash_table_lookup (log->by_id, key_of (id));

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  g_array_append_val (log->threads, thread);
  g_hash_table_insert (
      log->by_id, key_of (id), GUINT_TO_POINTER (log->threads->len));
  return log->threads->len - 1;
}

void
flam_call_log_set_id (FlamCallLog *log, guint32 thread, gint64 id)
{
  get_thread (log, thread)->id = id >= 0 && id <= G_MAXINT32 ? id : -1;
  g_hash_table_insert (log->by_id, key_of (id), GUINT_TO_POINTER (thread + 1));
}

void
flam_call_log_set_name (FlamCallLog *log, guint32 thread, FlamSlice name)
{
  get_thread (log, thread)->name = name;
}

/* The first thread of its process; the way to it gets shorter. */
static guint32
process_row (const FlamCallLog *log, guint32 row)
{
  Thread *thread = get_thread (log, row);

  while (thread->process != NO_ROW)
    {
      Thread *next = get_thread (log, thread->process);

      row = thread->process;
      if (next->process != NO_ROW)
        thread->process = next->process;
      thread = next;
    }
  return row;
}

void
flam_call_log_set_process (FlamCallLog *log, guint32 thread, guint32 of)
{
  guint32 process = process_row (log, of);

  if (process_row (log, thread) == thread && process != thread)
    get_thread (log, thread)->process = process;
}

/* --- calls --------------------------------------------------------------- */

void
flam_call_log_see (FlamCallLog *log, gint64 time)
{
  log->end = MAX (log->end, time);
}

static FlamFrameId
find_frame (FlamCallLog *log, FlamSlice text, FlamId what)
{
  gboolean is_new;
  FlamTextFrame frame = { .name = { "", 0 },
                          .module = { "", 0 },
                          .file = { "", 0 },
                          .kind = FLAM_KIND_NATIVE };
  FlamId row, id;

  text.length = MIN (text.length, (gsize)G_MAXINT32);
  row = flam_pieces_find (&log->frames, text.text, text.length, what, &is_new);
  if (!is_new)
    return *flam_pieces_value (&log->frames, row);
  if (what == FRAME_OF_CALL)
    {
      frame.name = text;
      frame.kind = FLAM_KIND_KERNEL;
    }
  else
    log->parse_frame (text, &frame);
  id = flam_text_frame_make (log->builder, &frame);
  *flam_pieces_value (&log->frames, row) = id;
  return id;
}

static guint32
find_labels (FlamCallLog *log, FlamSlice error)
{
  gboolean is_new;
  FlamId row;

  if (error.length == 0)
    return 0;
  row = flam_pieces_find (&log->errors,
                          error.text,
                          MIN (error.length, (gsize)G_MAXINT32),
                          FLAM_NONE,
                          &is_new);
  if (is_new)
    {
      g_autofree char *value = g_strndup (error.text, error.length);
      FlamSampleLabel label = { "error", value, 0, NULL };

      *flam_pieces_value (&log->errors, row) =
          flam_builder_add_labels (log->builder, &label, 1);
    }
  return *flam_pieces_value (&log->errors, row);
}

void
flam_call_log_end_stack (FlamCallLog *log)
{
  if (log->leaf == FLAM_NONE)
    return;
  g_array_prepend_val (log->stack, log->leaf);
  flam_column_at (&log->calls, Call, log->calls.n - 1).stack =
      flam_load_stack (log->builder, log->stack);
  g_array_set_size (log->stack, 0);
  log->leaf = FLAM_NONE;
}

void
flam_call_log_add (FlamCallLog *log,
                   guint32 thread,
                   FlamSlice name,
                   gint64 start,
                   gint64 duration,
                   FlamSlice error)
{
  Call call = { thread, FLAM_NONE, find_labels (log, error), start, duration };
  gint64 end;

  flam_call_log_end_stack (log);
  log->leaf = find_frame (log, name, FRAME_OF_CALL);
  if (!__builtin_add_overflow (start, duration, &end))
    flam_call_log_see (log, end);
  flam_column_append (&log->calls, Call, call);
}

void
flam_call_log_begin (FlamCallLog *log,
                     guint32 thread,
                     FlamSlice name,
                     gint64 start)
{
  Thread *row = get_thread (log, thread);

  row->open = name;
  row->since = start;
}

gboolean
flam_call_log_take (FlamCallLog *log, guint32 thread, gint64 *start)
{
  Thread *row = get_thread (log, thread);
  gboolean open = row->open.length > 0;

  *start = row->since;
  row->open.length = 0;
  return open;
}

void
flam_call_log_frame (FlamCallLog *log, FlamSlice line)
{
  FlamId frame;

  if (log->leaf == FLAM_NONE)
    return;
  frame = find_frame (log, line, FRAME_OF_STACK);
  g_array_append_val (log->stack, frame);
}

/* --- samples ------------------------------------------------------------- */

/* A call that does not return lasts until the end. */
static void
close_calls (FlamCallLog *log)
{
  guint64 open = 0;

  for (guint32 i = 0; i < log->threads->len; i++)
    {
      Thread *thread = get_thread (log, i);

      if (thread->open.length == 0 || log->untimed)
        continue;
      open++;
      flam_call_log_add (log,
                         i,
                         thread->open,
                         thread->since,
                         log->end - thread->since,
                         (FlamSlice){ "", 0 });
    }
  flam_call_log_end_stack (log);
  flam_load_warn_open (log->builder, open);
}

static FlamThreadId *
make_threads (FlamCallLog *log)
{
  FlamThreadId *ids =
      flam_arena_vector (log->load, FlamThreadId, log->threads->len + 1);

  for (guint32 i = 0; i < log->threads->len; i++)
    {
      const Thread *thread = get_thread (log, i);
      guint32 of = process_row (log, i);
      FlamProcessId process = flam_builder_process (
          log->builder, (gint32)get_thread (log, of)->id, 0);

      ids[i] = flam_builder_thread (
          log->builder, process, (gint32)thread->id, thread->id < 0 ? i : 0);
      if (thread->name.length > 0)
        {
          g_autofree char *name =
              g_strndup (thread->name.text, thread->name.length);

          flam_builder_set_thread_name (log->builder, ids[i], name);
          if (of == i)
            flam_builder_set_process_name (log->builder, process, name);
        }
    }
  return ids;
}

gboolean
flam_call_log_finish (FlamCallLog *log, const char *what, GError **error)
{
  FlamThreadId *threads;
  FlamSample sample = { 0 };

  close_calls (log);
  if (log->calls.n == 0)
    return flam_source_invalid (log->load->source,
                                error,
                                log->undurated
                                    ? N_ ("the calls in this %s have no "
                                          "durations; record with the option "
                                          "-T, too")
                                    : N_ ("this %s has no calls"),
                                what);
  threads = make_threads (log);
  if (!log->untimed)
    {
      flam_builder_set_has_times (log->builder);
      flam_builder_facts (log->builder)->start_unix_ns = log->started;
    }
  flam_builder_set_spans (
      log->builder,
      flam_load_measures (log->builder, FLAM_STANDARD_WALL_TIME),
      FLAM_SPANS_CALLS);
  flam_builder_add_standard_measure (
      log->builder, FLAM_STANDARD_CALLS, -1, FLAM_NONE);
  flam_builder_reserve_samples (log->builder, log->calls.n);
  for (gsize i = 0; i < log->calls.n; i++)
    {
      const Call *call = &flam_column_at (&log->calls, Call, i);

      sample.thread = threads[call->thread];
      sample.stack = call->stack;
      sample.time = call->start;
      sample.labels = call->labels;
      flam_builder_add_sample (log->builder, &sample, &call->duration);
    }
  return TRUE;
}
