/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-python-reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "flam-python-pages.h"
#include "flam-stops.h"

#define THREADS_MAX 4
#define CODES_MAX (1u << 17) /* maximum for a process; more is invalid data */
#define TEXT_MAX 4096
#define LINES_MAX (1u << 20)
#define BATCH 64

/* Without a thread state: the pause until the next search for one, ns, and its
 * part of the time since the first: however slowly an interpreter starts, its
 * frames are found before it has run for an eighth longer. */
#define FIRST_PAUSE (1 * 1000000ll)
#define LAST_PAUSE (500 * 1000000ll)
#define PAUSE_PART 8
/* With one: the thread may work for another interpreter too. */
#define LOOK_EVERY (100 * 1000000ll)

/* See FlamPythonCodeParts. */
typedef struct
{
  guint8 code[FLAM_PYTHON_CODE_SIZE];
  guint8 name[FLAM_PYTHON_NAME_SIZE];
} Pieces;

typedef struct
{
  Pieces pieces;
  guint64 name;
  FlamPythonCode *code; /* NULL: not read yet */
  guint seen;           /* `round` at whose stop pieces.code was read */
  guint checked;        /* the reader's `round` */
} Known;

struct _FlamPythonKnown
{
  GHashTable *codes; /* address -> Known */
};

struct _FlamPythonTask
{
  const FlamPythonInterpreter *interpreter;
  guint64 id; /* the thread's number in the target's pid namespace */
  guint64 threads[THREADS_MAX];
  guint n_threads;
  gint64 since; /* the first search, 0 before it */
  gint64 look_at;
  FlamPythonHints hints;
};

struct _FlamPythonReader
{
  FlamPythonCodes *codes;
  FlamPythonPages *pages;
  FlamPythonFrame *frames; /* FLAM_FRAMES_MAX */
  guint n;
  guint round;          /* the walks so far */
  guint64 batch[BATCH]; /* code objects to be checked */
  guint n_batch;
  guint8 lines[LINES_MAX];
};

FlamPythonReader *
flam_python_reader_new (void)
{
  FlamPythonReader *reader = g_new0 (FlamPythonReader, 1);

  reader->codes = flam_python_codes_new ();
  reader->pages = flam_python_pages_new ();
  reader->frames = g_new (FlamPythonFrame, FLAM_FRAMES_MAX);
  return reader;
}

void
flam_python_reader_free (FlamPythonReader *reader)
{
  flam_python_codes_free (reader->codes);
  flam_python_pages_free (reader->pages);
  g_free (reader->frames);
  g_free (reader);
}

struct _FlamPythonKnown *
flam_python_known_copy (const struct _FlamPythonKnown *known)
{
  struct _FlamPythonKnown *copy = g_new0 (struct _FlamPythonKnown, 1);
  GHashTableIter iter;
  gpointer address, value;

  copy->codes = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  if (known == NULL)
    return copy;
  g_hash_table_iter_init (&iter, known->codes);
  while (g_hash_table_iter_next (&iter, &address, &value))
    g_hash_table_insert (
        copy->codes, address, g_memdup2 (value, sizeof (Known)));
  return copy;
}

void
flam_python_known_free (struct _FlamPythonKnown *known)
{
  g_hash_table_unref (known->codes);
  g_free (known);
}

/* --- stopped: the chain -------------------------------------------------- */

/* "NSpid:\t100\t7": its number in each pid namespace, the innermost last. */
static guint64
inner_id (const FlamTask *task)
{
  char path[64], line[256];
  guint64 id = (guint64)task->tid;
  FILE *file;

  g_snprintf (path,
              sizeof path,
              "/proc/%d/task/%d/status",
              (int)task->target->pid,
              (int)task->tid);
  file = fopen (path, "re");
  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    if (strncmp (line, "NSpid:", 6) == 0)
      for (char *at = line + 6, *end;; at = end)
        {
          guint64 value = g_ascii_strtoull (at, &end, 10);
          if (end == at)
            break;
          id = value;
        }
  if (file != NULL)
    fclose (file);
  return id;
}

static void
look_for_threads (FlamPythonReader *reader, FlamTask *task, gint64 now)
{
  static const FlamPythonHints none = { 0 };
  struct _FlamPythonTask *state = task->python;
  FlamRuntimeMemory memory = { flam_python_pages_read, reader->pages };

  flam_python_pages_begin (reader->pages, task->tid, &none);
  state->n_threads =
      (guint)flam_python_find_threads (state->interpreter->layout,
                                       &memory,
                                       state->interpreter->runtime,
                                       state->id,
                                       state->threads,
                                       THREADS_MAX);
  if (state->since == 0 || state->n_threads > 0)
    state->since = now;
  state->look_at =
      now + (state->n_threads > 0 ? LOOK_EVERY
                                  : CLAMP ((now - state->since) / PAUSE_PART,
                                           FIRST_PAUSE,
                                           LAST_PAUSE));
  flam_python_pages_begin (reader->pages, task->tid, &none);
}

static void
start_task (FlamTask *task, const FlamPythonInterpreter *interpreter)
{
  if (task->python == NULL)
    {
      task->python = g_new0 (struct _FlamPythonTask, 1);
      task->python->id = inner_id (task);
    }
  task->python->interpreter = interpreter;
  task->python->n_threads = 0;
  task->python->look_at = 0;
  task->python->since = 0;
  task->python->hints.n = 0;
}

static Known *
known_of (FlamTarget *target, guint64 code)
{
  if (target->python == NULL)
    target->python = flam_python_known_copy (NULL);
  return g_hash_table_lookup (target->python->codes, GSIZE_TO_POINTER (code));
}

static void
see_batch (FlamPythonReader *reader, FlamTask *task, Known **known)
{
  const FlamPythonLayout *layout = task->python->interpreter->layout;
  guint8 pieces[BATCH][FLAM_PYTHON_CODE_SIZE];
  struct iovec local = { pieces, sizeof pieces }, remote[BATCH];
  ssize_t n;

  for (guint i = 0; i < reader->n_batch; i++)
    remote[i] = (struct iovec){ GSIZE_TO_POINTER (flam_python_code_piece (
                                    layout, reader->batch[i])),
                                FLAM_PYTHON_CODE_SIZE };
  n = process_vm_readv (task->tid, &local, 1, remote, reader->n_batch, 0);
  for (guint i = 0; n > 0 && i < (guint)n / FLAM_PYTHON_CODE_SIZE; i++)
    {
      memcpy (known[i]->pieces.code, pieces[i], FLAM_PYTHON_CODE_SIZE);
      known[i]->seen = reader->round;
    }
  reader->n_batch = 0;
}

/* A new code object: the pieces it consists of are read while it cannot be
 * freed. Once the thread runs on, another object may take its place before the
 * names are read, which may be delayed for long on a busy machine. */
static void
see_new_codes (FlamPythonReader *reader, FlamTask *task)
{
  Known *known[BATCH];
  guint64 last = 0;

  if (task->target->python != NULL &&
      g_hash_table_size (task->target->python->codes) > CODES_MAX)
    g_hash_table_remove_all (task->target->python->codes);

  for (guint i = 0; i < reader->n; i++)
    {
      guint64 code = reader->frames[i].code;
      Known *one;

      if (code == 0 || code == last)
        continue;
      last = code;
      one = known_of (task->target, code);
      if (one != NULL && (one->code != NULL || one->seen == reader->round))
        continue;
      if (one == NULL)
        {
          one = g_new0 (Known, 1);
          g_hash_table_insert (
              task->target->python->codes, GSIZE_TO_POINTER (code), one);
        }
      known[reader->n_batch] = one;
      reader->batch[reader->n_batch++] = code;
      if (reader->n_batch == BATCH)
        see_batch (reader, task, known);
    }
  if (reader->n_batch > 0)
    see_batch (reader, task, known);
}

guint
flam_python_reader_walk (FlamPythonReader *reader, FlamTask *task, gint64 now)
{
  const FlamPythonInterpreter *interpreter =
      g_atomic_pointer_get (&task->target->hint_python);
  FlamRuntimeMemory memory = { flam_python_pages_read, reader->pages };
  struct _FlamPythonTask *state;
  gboolean fresh = TRUE;
  gsize n = 0;

  reader->n = 0;
  reader->round++;
  if (task->python == NULL ? interpreter != NULL
                           : task->python->interpreter != interpreter)
    start_task (task, interpreter);
  state = task->python;
  if (interpreter == NULL || (state->n_threads == 0 && now < state->look_at))
    return 0;
  flam_python_pages_begin (reader->pages, task->tid, &state->hints);
  for (guint i = 0; i < state->n_threads; i++)
    fresh = fresh &&
            flam_python_is_thread (
                interpreter->layout, &memory, state->threads[i], state->id);
  if (state->n_threads == 0 || !fresh || now >= state->look_at)
    look_for_threads (reader, task, now);
  for (guint i = 0; i < state->n_threads; i++)
    n += flam_python_walk (interpreter->layout,
                           &memory,
                           state->threads[i],
                           reader->frames + n,
                           FLAM_FRAMES_MAX - n);
  flam_python_pages_end (reader->pages, &state->hints);
  reader->n = (guint)n;
  see_new_codes (reader, task);
  return reader->n;
}

gboolean
flam_python_reader_has_news (const FlamTask *task)
{
  const FlamPythonInterpreter *interpreter =
      g_atomic_pointer_get (&task->target->hint_python);

  return task->python == NULL ? interpreter != NULL
                              : task->python->interpreter != interpreter;
}

/* --- resumed: the code objects ------------------------------------------- */

static bool
read_memory (gpointer data, guint64 address, gpointer to, gsize size)
{
  return flam_read_memory ((pid_t)GPOINTER_TO_INT (data), address, to, size) ==
         size;
}

static FlamPythonCode *
read_code (FlamPythonReader *reader,
           pid_t tid,
           const FlamPythonLayout *layout,
           const FlamPythonCodeParts *parts)
{
  FlamRuntimeMemory memory = { read_memory, GINT_TO_POINTER (tid) };
  char name[TEXT_MAX], file[TEXT_MAX];
  gsize n;

  if (!flam_python_text (layout, &memory, parts->name, name, sizeof name) ||
      !flam_python_text (layout, &memory, parts->file, file, sizeof file))
    return NULL;
  n = flam_python_bytes (&memory, parts->lines, reader->lines, LINES_MAX);
  return flam_python_codes_get (reader->codes,
                                layout->version,
                                name,
                                file,
                                parts->first_line,
                                reader->lines,
                                n);
}

/* A freed object is unchanged but for its first word, the count of references,
 * in which the allocator stores the address of another free block, or none. The
 * words that it refers to may be in use again by then. Counts are below 2^32;
 * from 3.14 on the upper 16 bits hold flags. */
static gboolean
is_alive (pid_t tid, guint64 object)
{
  guint64 count;

  if (!read_memory (GINT_TO_POINTER (tid), object, &count, sizeof count))
    return FALSE;
  return count != 0 && (count >> 48 != 0 || count >> 32 == 0);
}

/* `pieces` are the current content; that of the name is only valid if it is at
 * the same address. A code object that differs from the one at the stop, or
 * changes while its names are read, gets no name. */
static void
check_code (FlamPythonReader *reader,
            FlamTask *task,
            guint64 address,
            Known *known,
            const Pieces *pieces)
{
  const FlamPythonLayout *layout = task->python->interpreter->layout;
  gboolean same =
      memcmp (known->pieces.code, pieces->code, FLAM_PYTHON_CODE_SIZE) == 0;
  FlamPythonCodeParts parts;

  if (known->code != NULL &&
      memcmp (&known->pieces, pieces, sizeof *pieces) == 0)
    return;
  if (known->code == NULL && !(known->seen == reader->round && same))
    return;
  flam_python_code_parts (layout, pieces->code, &parts);
  known->name = parts.name;
  known->pieces = *pieces;
  read_memory (GINT_TO_POINTER (task->tid),
               flam_python_name_piece (parts.name),
               known->pieces.name,
               FLAM_PYTHON_NAME_SIZE);
  known->code = read_code (reader, task->tid, layout, &parts);
  if (read_code (reader, task->tid, layout, &parts) != known->code ||
      !is_alive (task->tid, address))
    known->code = NULL;
}

/* One call for all objects. An unreadable object ends the copy: it is removed
 * from the table, and the rest is read again. For a process that has ended the
 * table stays unchanged. A new object has no name yet: any address is read for
 * it. */
static void
check_batch (FlamPythonReader *reader, FlamTask *task)
{
  const FlamPythonLayout *layout = task->python->interpreter->layout;
  Pieces pieces[BATCH];
  Known *known[BATCH];
  struct iovec remote[2 * BATCH];
  guint done = 0;

  for (guint i = 0; i < reader->n_batch; i++)
    {
      guint64 piece = flam_python_code_piece (layout, reader->batch[i]);
      guint64 name;

      known[i] = g_hash_table_lookup (task->target->python->codes,
                                      GSIZE_TO_POINTER (reader->batch[i]));
      name = known[i]->code ? flam_python_name_piece (known[i]->name) : piece;
      remote[2 * i] =
          (struct iovec){ GSIZE_TO_POINTER (piece), FLAM_PYTHON_CODE_SIZE };
      remote[2 * i + 1] =
          (struct iovec){ GSIZE_TO_POINTER (name), FLAM_PYTHON_NAME_SIZE };
    }
  while (done < reader->n_batch)
    {
      struct iovec local = { pieces, sizeof pieces };
      ssize_t n = process_vm_readv (task->tid,
                                    &local,
                                    1,
                                    remote + 2 * done,
                                    2 * (reader->n_batch - done),
                                    0);
      guint whole = n > 0 ? (guint)n / sizeof (Pieces) : 0;

      for (guint i = 0; i < whole; i++)
        check_code (
            reader, task, reader->batch[done + i], known[done + i], &pieces[i]);
      done += whole;
      if (n < 0 && errno == ESRCH)
        break;
      if (done < reader->n_batch)
        known[done++]->code = NULL;
    }
  reader->n_batch = 0;
}

static void
check_all (FlamPythonReader *reader, FlamTask *task)
{
  guint64 last = 0;

  for (guint i = 0; i < reader->n; i++)
    {
      guint64 code = reader->frames[i].code;
      Known *known;

      if (code == 0 || code == last)
        continue;
      last = code;
      known = known_of (task->target, code);
      if (known == NULL || known->checked == reader->round)
        continue;
      known->checked = reader->round;
      reader->batch[reader->n_batch++] = reader->frames[i].code;
      if (reader->n_batch == BATCH)
        check_batch (reader, task);
    }
  check_batch (reader, task);
}

void
flam_python_reader_resolve (FlamPythonReader *reader,
                            FlamTask *task,
                            FlamPythonEntry *entries)
{
  const FlamPythonLayout *layout;
  const Known *known = NULL;
  FlamPythonCode *unknown;

  if (reader->n == 0)
    return;
  layout = task->python->interpreter->layout;
  unknown = flam_python_codes_get (
      reader->codes, layout->version, "(unreadable)", "", 0, NULL, 0);
  check_all (reader, task);
  for (guint i = 0; i < reader->n; i++)
    {
      const FlamPythonFrame *frame = &reader->frames[i];

      if (i == 0 || frame->code != frame[-1].code)
        known = known_of (task->target, frame->code);
      entries[i] = (FlamPythonEntry){ NULL, frame->pc };
      if (frame->code == 0)
        continue;
      entries[i].code = known && known->code ? known->code : unknown;
      entries[i].pc = frame->pc - frame->code - layout->code_instructions;
    }
}
