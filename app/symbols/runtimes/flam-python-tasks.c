/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-python-tasks.h"

#include <stdio.h>

#define INTERPRETERS_MAX 64
#define READS_MAX 200000
#define STOPPED_READS_MAX 4000
#define LOOPS_MAX 64
/* ns */
#define LOOK_EVERY (5 * 1000000ll)
/* A loop may end, and another one take its place, for another thread. */
#define CHECK_EVERY (100 * 1000000ll)
#define NAME_SIZE 64 /* of the object, for a cookie */
#define TEXT_MAX 256

/* Of a task: its coroutine, and its name after it; of a coroutine: its
 * qualified name. */
typedef struct
{
  uint32_t version;
  uint16_t coroutine;
  uint16_t name;
} Offsets;

static const Offsets offsets[] = {
  { 0x03080000, 112, 56 }, { 0x03090000, 152, 56 }, { 0x030a0000, 160, 48 },
  { 0x030b0000, 136, 40 }, { 0x030c0000, 136, 32 }, { 0x030d0000, 120, 32 },
};

static const Offsets *
offsets_of (const FlamPythonLayout *layout)
{
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
    if (offsets[i].version == (layout->version & 0xffff0000))
      return &offsets[i];
  return NULL;
}

uint64_t
flam_python_find_tasks (const FlamPythonLayout *layout,
                        const FlamRuntimeMemory *memory,
                        uint64_t runtime)
{
  FlamPythonLimit limited = { memory, READS_MAX };
  FlamRuntimeMemory once = { flam_python_read_limited, &limited };
  FlamPythonReader reader = { layout, &once };
  uint64_t interpreter = 0, tasks = 0;

  if (layout->interpreter_modules == 0 || offsets_of (layout) == NULL)
    return 0;
  for (unsigned i = 0; tasks == 0 && i < INTERPRETERS_MAX; i++)
    {
      interpreter =
          flam_python_next_interpreter (&reader, runtime, interpreter);
      if (interpreter == 0)
        break;
      tasks = flam_python_find_item (
          &reader,
          flam_python_module (&reader, interpreter, "_asyncio"),
          "_current_tasks");
    }
  return tasks;
}

/* --- the current one ----------------------------------------------------- */

typedef struct
{
  const FlamPythonReader *reader;
  uint64_t thread; /* 0: the task of `loop` */
  uint64_t loop;
  uint64_t task; /* 0: not found */
  unsigned n;
} Search;

static uint64_t
thread_of (const FlamPythonReader *reader, uint64_t loop)
{
  return flam_python_number (
      reader,
      flam_python_find_item (
          reader, flam_python_attributes (reader, loop), "_thread_id"));
}

static bool
compare (void *data, uint64_t key, uint64_t value)
{
  Search *search = data;

  if (search->thread != 0 ? thread_of (search->reader, key) == search->thread
                          : key == search->loop)
    {
      search->loop = key;
      search->task = value;
    }
  return search->task == 0 && ++search->n < LOOPS_MAX;
}

/* Only loops that run a task have an entry. The entry of the thread's last loop
 * is found by its address. Searching for another loop's entry takes longer, and
 * many threads have none, so it is done at intervals. */
static uint64_t
find_task (const FlamPythonReader *reader,
           uint64_t tasks,
           uint64_t thread,
           int64_t now,
           FlamPythonLoop *loop)
{
  FlamPythonItems items = flam_python_dict (reader, tasks);
  Search own = { .reader = reader, .loop = loop->loop };
  Search any = { .reader = reader, .thread = thread };

  if (loop->loop != 0)
    flam_python_for_each (reader, items, compare, &own);
  if (own.task != 0 && now < loop->check_at)
    return own.task;
  if (own.task == 0 && now < loop->look_at)
    return 0;
  flam_python_for_each (reader, items, compare, &any);
  loop->look_at = now + LOOK_EVERY;
  if (any.task == 0)
    return 0;
  loop->loop = any.loop;
  loop->check_at = now + CHECK_EVERY;
  return any.task;
}

/* For the object that is its name: the length, the hash and the first
 * characters, or the number. */
static bool
make_cookie (const FlamPythonReader *reader, uint64_t task, uint64_t *cookie)
{
  uint64_t words[2], hash = 0xcbf29ce484222325ull;
  uint8_t name[NAME_SIZE];

  if (!flam_runtime_read (reader->memory,
                          task + offsets_of (reader->layout)->coroutine,
                          words,
                          sizeof words) ||
      !flam_runtime_read (reader->memory, words[1] + 8, name, sizeof name))
    return false;
  for (size_t i = 0; i < 8; i++)
    hash = (hash ^ (words[0] >> 8 * i & 0xff)) * 0x100000001b3ull;
  for (size_t i = 0; i < sizeof name; i++)
    hash = (hash ^ name[i]) * 0x100000001b3ull;
  *cookie = hash;
  return true;
}

bool
flam_python_current_task (const FlamPythonLayout *layout,
                          const FlamRuntimeMemory *memory,
                          uint64_t tasks,
                          uint64_t thread,
                          int64_t now,
                          FlamPythonLoop *loop,
                          uint64_t *task,
                          uint64_t *cookie)
{
  FlamPythonLimit limited = { memory, STOPPED_READS_MAX };
  FlamRuntimeMemory once = { flam_python_read_limited, &limited };
  FlamPythonReader reader = { layout, &once };

  if (tasks == 0 || thread == 0 || offsets_of (layout) == NULL)
    return false;
  *task = find_task (&reader, tasks, thread, now, loop);
  return *task != 0 && make_cookie (&reader, *task, cookie);
}

/* --- its names ----------------------------------------------------------- */

static void
add_label (FlamRuntimeName *name, const char *key, const char *value)
{
  FlamRuntimeNamed *named = flam_runtime_name_add (name);

  named->file = key;
  named->function = flam_runtime_name_utf8 (name, value, strlen (value));
}

/* From 3.12 on it is a number until the program reads it. */
static bool
read_name (const FlamPythonReader *reader, uint64_t object, char *text)
{
  uint64_t number = flam_python_number (reader, object);

  if (flam_python_text (
          reader->layout, reader->memory, object, text, TEXT_MAX) &&
      text[0] != '\0')
    return true;
  snprintf (text, TEXT_MAX, "Task-%llu", (unsigned long long)number);
  return number != 0;
}

bool
flam_python_name_task (const FlamPythonLayout *layout,
                       const FlamRuntimeMemory *memory,
                       uint64_t task,
                       uint64_t cookie,
                       FlamRuntimeName *name)
{
  FlamPythonReader reader = { layout, memory };
  const Offsets *at = offsets_of (layout);
  uint64_t words[2], again;
  char text[TEXT_MAX], coroutine[TEXT_MAX];

  if (!flam_runtime_read (memory, task + at->coroutine, words, sizeof words) ||
      !read_name (&reader, words[1], text))
    return false;
  if (!flam_python_text (layout,
                         memory,
                         flam_python_word (&reader, words[0] + at->name),
                         coroutine,
                         sizeof coroutine))
    coroutine[0] = '\0';
  if (!make_cookie (&reader, task, &again) || again != cookie)
    return false;
  add_label (name, "task", text);
  if (coroutine[0] != '\0')
    add_label (name, "coroutine", coroutine);
  return true;
}
