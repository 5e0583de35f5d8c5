/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include <string.h>

#include "flam-python.h"
#include "flam-python-threads.h"

/* CPython 3.11 to 3.14: flam-python-frames.h. A function's key is the address
 * of its code object, its position the offset of the instruction. */

/* Without a thread state: the pause until the next search for one, ns, and its
 * part of the time since the first: however slowly an interpreter starts, its
 * frames are found before it has run for an eighth longer. */
#define FIRST_PAUSE (1 * 1000000ll)
#define LAST_PAUSE (500 * 1000000ll)
#define PAUSE_PART 8
/* With one: the thread may work for another interpreter too. */
#define LOOK_EVERY (100 * 1000000ll)

#define STATES_MAX 4
/* It writes a map of its functions on request. */
#define FIRST_WITH_MAPS 0x030c0000

/* FlamRuntimeThread.own: its thread states, one for each interpreter that it
 * works for. */
typedef struct
{
  guint64 states[STATES_MAX];
  guint64 n_states;
  gint64 since; /* the first search, 0 before it */
  gint64 look_at;
} Own;

G_STATIC_ASSERT (sizeof (Own) <= FLAM_RUNTIME_OWN_WORDS * sizeof (guint64));

static gboolean
find (const FlamElf *elf, int fd, const char *path, FlamRuntimeFile *file)
{
  FlamPythonElf python;

  if (!flam_python_find (elf, fd, path, &python))
    return FALSE;
  file->why = python.why;
  if (python.why != NULL && python.version >= FIRST_WITH_MAPS)
    {
      file->help = N_ ("start it with -X perf");
      file->variable = "PYTHONPERFSUPPORT=1";
    }
  if (python.layout.version != 0)
    g_snprintf (file->version,
                sizeof file->version,
                "%u.%u",
                python.layout.version >> 24,
                python.layout.version >> 16 & 0xff);
  file->facts = g_memdup2 (&python, sizeof python);
  return TRUE;
}

static const FlamPythonElf *
python_of (const FlamRuntimeProcess *process)
{
  return process->file->facts;
}

static const FlamPythonLayout *
layout_of (const FlamRuntimeProcess *process)
{
  return &python_of (process)->layout;
}

static void
look_for_states (const FlamRuntimeProcess *process,
                 const FlamRuntimeThread *thread,
                 const FlamRuntimeMemory *memory,
                 Own *own)
{
  own->n_states =
      flam_python_find_threads (layout_of (process),
                                memory,
                                process->base + python_of (process)->runtime,
                                thread->id,
                                own->states,
                                STATES_MAX);
  if (own->since == 0 || own->n_states > 0)
    own->since = thread->now;
  own->look_at =
      thread->now + (own->n_states > 0
                         ? LOOK_EVERY
                         : CLAMP ((thread->now - own->since) / PAUSE_PART,
                                  FIRST_PAUSE,
                                  LAST_PAUSE));
}

/* flam_python_walk() writes its frames to the end of the room, so that each is
 * read before the entry that is made of it overwrites it. */
static gsize
walk_state (const FlamRuntimeProcess *process,
            const FlamRuntimeMemory *memory,
            guint64 state,
            FlamRuntimeEntry *entries,
            gsize limit)
{
  const FlamPythonLayout *layout = layout_of (process);
  FlamPythonFrame *frames =
      (FlamPythonFrame *)((guint8 *)entries +
                          limit * (sizeof *entries - sizeof *frames));
  gsize n = flam_python_walk (layout, memory, state, frames, limit);

  for (gsize i = 0; i < n; i++)
    {
      FlamPythonFrame frame;

      memcpy (&frame, frames + i, sizeof frame);
      entries[i] = (FlamRuntimeEntry){
        .function = frame.code,
        .at = frame.code != 0
                  ? frame.pc - frame.code - layout->code_instructions
                  : frame.pc,
      };
    }
  return n;
}

static gsize
walk (const FlamRuntimeProcess *process,
      FlamRuntimeThread *thread,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entries,
      gsize limit)
{
  Own own;
  gboolean fresh = TRUE;
  gsize n = 0;

  memcpy (&own, thread->own, sizeof own);
  if (own.n_states == 0 && thread->now < own.look_at)
    return 0;
  for (guint i = 0; i < own.n_states; i++)
    fresh =
        fresh && flam_python_is_thread (
                     layout_of (process), memory, own.states[i], thread->id);
  if (own.n_states == 0 || !fresh || thread->now >= own.look_at)
    look_for_states (process, thread, memory, &own);
  memcpy (thread->own, &own, sizeof own);
  for (guint i = 0; i < own.n_states; i++)
    n += walk_state (process, memory, own.states[i], entries + n, limit - n);
  return n;
}

/* A code object that replaces another one may have its name, file and lines at
 * the same addresses, so the hash of its name is compared as well. */
static guint
pieces (const FlamRuntimeProcess *process,
        guint64 function,
        const guint8 *first,
        FlamRuntimePiece *pieces)
{
  const FlamPythonLayout *layout = layout_of (process);
  FlamPythonCodeParts parts;

  pieces[0] = (FlamRuntimePiece){ flam_python_code_piece (layout, function),
                                  FLAM_PYTHON_CODE_SIZE };
  if (first == NULL)
    return 1;
  flam_python_code_parts (layout, first, &parts);
  pieces[1] = (FlamRuntimePiece){ flam_python_name_piece (parts.name),
                                  FLAM_PYTHON_NAME_SIZE };
  return 2;
}

static gboolean
read_texts (const FlamPythonLayout *layout,
            const FlamRuntimeMemory *memory,
            const FlamPythonCodeParts *parts,
            FlamRuntimeName *name,
            FlamRuntimeNamed *named)
{
  char text[FLAM_RUNTIME_TEXT_MAX];

  if (!flam_python_text (layout, memory, parts->name, text, sizeof text))
    return FALSE;
  named->function = flam_runtime_name_utf8 (name, text, sizeof text);
  if (!flam_python_text (layout, memory, parts->file, text, sizeof text))
    return FALSE;
  named->file = flam_runtime_name_utf8 (name, text, sizeof text);
  return TRUE;
}

/* The texts are read twice: they may change meanwhile. */
static gboolean
name_code (const FlamRuntimeProcess *process,
           const FlamRuntimeEntry *entry,
           const guint8 *first,
           const FlamRuntimeMemory *memory,
           FlamRuntimeName *name)
{
  const FlamPythonLayout *layout = layout_of (process);
  FlamRuntimeNamed *named = flam_runtime_name_add (name);
  FlamRuntimeNamed again;
  FlamPythonCodeParts parts;

  flam_python_code_parts (layout, first, &parts);
  if (!read_texts (layout, memory, &parts, name, named))
    return FALSE;
  named->first_line = parts.first_line;
  named->hidden = flam_python_is_hidden (named->function, named->file);
  name->lines_version = layout->version;
  name->n_lines = flam_python_bytes (
      memory, parts.lines, name->lines, FLAM_RUNTIME_LINES_MAX);
  return read_texts (layout, memory, &parts, name, &again) &&
         strcmp (again.function, named->function) == 0 &&
         strcmp (again.file, named->file) == 0 &&
         flam_python_is_alive (memory, entry->function);
}

static guint
flags (const FlamRuntimeNamed *named)
{
  return flam_python_flags (named->file);
}

static void
threads (const FlamRuntimeProcess *process,
         const FlamRuntimeMemory *memory,
         FlamRuntimeName *scratch,
         FlamRuntimeTakeThread take,
         gpointer data)
{
  flam_python_name_threads (layout_of (process),
                            memory,
                            process->base + python_of (process)->runtime,
                            scratch,
                            take,
                            data);
}

const FlamRuntime flam_runtime_python = {
  .id = "python",
  .label = "Python",
  .find = find,
  .walk = walk,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .pieces = pieces,
  .name = name_code,
  .line = flam_python_line_at,
  .flags = flags,
  .joint = ".",
  .threads = threads,
};
