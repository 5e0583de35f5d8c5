/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-preload-python.h"
#include "flam-python-walk.h"

#include <string.h>

#define TABLE_SIZE (1u << 16)
#define NAME_MAX 1024
#define FILE_MAX 4096
#define LINES_MAX (1u << 16)

PreloadInterpreter *_Atomic preload_interpreter;
static _Atomic uint32_t unloading;

/* A code object that was met: its number in the file. One that takes its place
 * in memory looks different (flam-python-frames.h), and gets a new one. */
typedef struct
{
  uint64_t address;
  uint64_t look;
  uint32_t number;
} Code;

/* Code objects by address. Read without a lock; what a slot points to does not
 * change. */
static Code *_Atomic *table;
static Code *codes; /* from pages, one after another */
static uint32_t n_codes;
static atomic_flag lock = ATOMIC_FLAG_INIT;

/* --- is there one ? ------------------------------------------------------ */

static bool
find_interpreter (const PreloadModule *module, PreloadInterpreter *found)
{
  uint64_t runtime = preload_find_symbol (module, "_PyRuntime");
  uint64_t version = runtime ? preload_find_symbol (module, "Py_Version") : 0;
  uint8_t offsets[FLAM_PYTHON_DEBUG_OFFSETS_SIZE];
  uint64_t number, function;

  if (version == 0 || !preload_read (version, &number, sizeof number) ||
      !preload_read (runtime, offsets, sizeof offsets))
    return false;
  /* Of the stable interface: the thread's own state, whether or not it holds
   * the lock; reads one thread-specific value. */
  function = preload_find_symbol (module, "PyGILState_GetThisThreadState");
  *found = (PreloadInterpreter){ .start = module->image,
                                 .end = module->image_end,
                                 .code = module->start,
                                 .module = module->id,
                                 .late = module->late };
  *(uint64_t *)(void *)&found->this_thread = function;
  return function != 0 &&
         flam_python_layout_init (
             &found->layout, (uint32_t)number, offsets, sizeof offsets) == NULL;
}

/* Of several in one process, the first is taken. What is known of those that
 * go is kept, as somebody may be reading it. */
void
preload_python_meet (const PreloadModule *module)
{
  PreloadInterpreter *none = NULL;
  PreloadInterpreter *fresh;
  PreloadInterpreter found;

  if (preload_control->python == 0 || atomic_load (&preload_interpreter) ||
      !find_interpreter (module, &found))
    return;
  fresh = preload_allocate (sizeof found);
  if (fresh == NULL)
    return;
  *fresh = found;
  if (!atomic_compare_exchange_strong (&preload_interpreter, &none, fresh))
    preload_release (fresh);
}

void
preload_python_may_go (void)
{
  atomic_fetch_add (&unloading, 1);
}

void
preload_python_may_stay (void)
{
  atomic_fetch_sub (&unloading, 1);
}

bool
preload_python_is_safe (void)
{
  return atomic_load (&unloading) == 0;
}

void
preload_python_reset (void)
{
  table = NULL;
  n_codes = 0;
  unloading = 0;
  atomic_flag_clear (&lock);
}

/* --- code objects -------------------------------------------------------- */

static bool
read_carefully (void *data, uint64_t address, void *to, size_t size)
{
  (void)data;
  return preload_read (address, to, size);
}

/* Pages that were there when they were last asked for. */
#define PAGES 1024
static _Atomic uint64_t pages[PAGES];

static inline bool
is_there (uint64_t page)
{
  _Atomic uint64_t *known = &pages[page % PAGES];
  uint8_t byte;

  if (LIKELY (atomic_load_explicit (known, memory_order_relaxed) == page))
    return true;
  if (!preload_read (page << 12, &byte, 1))
    return false;
  atomic_store_explicit (known, page, memory_order_relaxed);
  return true;
}

/* The interpreter's chain is whole whenever it calls malloc; but the call may
 * come from a signal handler in the middle of anything. */
static inline bool
read_directly (void *data, uint64_t address, void *to, size_t size)
{
  (void)data;
  if (!is_there (address >> 12) || !is_there ((address + size - 1) >> 12))
    return false;
  __builtin_memcpy (to, (const void *)address, size);
  return true;
}

static uint64_t
mix (uint64_t hash, const uint64_t *words, size_t size)
{
  for (size_t i = 0; i < size / 8; i++)
    hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull, hash ^= hash >> 29;
  return hash;
}

/* 0: it cannot be read. */
static uint64_t
look_of (const FlamPythonLayout *layout, uint64_t code)
{
  uint64_t piece[FLAM_PYTHON_CODE_SIZE / 8];
  uint64_t name[FLAM_PYTHON_NAME_SIZE / 8];
  FlamPythonCodeParts parts;

  if (!read_directly (
          NULL, flam_python_code_piece (layout, code), piece, sizeof piece))
    return 0;
  flam_python_code_parts (layout, (const uint8_t *)piece, &parts);
  if (!read_directly (
          NULL, flam_python_name_piece (parts.name), name, sizeof name))
    return 0;
  return mix (mix (code, piece, sizeof piece), name, sizeof name) | 1;
}

/* Writes what a code object is into the file; 0: no room. With the lock. */
static uint32_t
write_code (const FlamPythonLayout *layout, uint64_t code)
{
  static char name[NAME_MAX], file[FILE_MAX];
  static uint8_t lines[LINES_MAX];
  FlamPythonMemory memory = { read_carefully, NULL };
  uint8_t piece[FLAM_PYTHON_CODE_SIZE];
  FlamPythonCodeParts parts;
  FlamAllocHeader *header = preload_header;
  FlamAllocPython *record;
  uint32_t used = header->python_used;
  size_t n_name, n_file, n_lines, size;

  if (!preload_read (
          flam_python_code_piece (layout, code), piece, sizeof piece))
    return 0;
  flam_python_code_parts (layout, piece, &parts);
  if (!flam_python_text (layout, &memory, parts.name, name, sizeof name) ||
      !flam_python_text (layout, &memory, parts.file, file, sizeof file))
    return 0;
  n_lines = flam_python_bytes (&memory, parts.lines, lines, sizeof lines);
  n_name = strlen (name) + 1;
  n_file = strlen (file) + 1;
  size = (sizeof *record + n_name + n_file + n_lines + 15) & ~(size_t)15;
  if (used < 16)
    used = 16;
  if (size > FLAM_ALLOC_PYTHON_SIZE - used)
    return 0;
  record = (FlamAllocPython *)((char *)header + FLAM_ALLOC_PYTHON_AT + used);
  *record = (FlamAllocPython){ .size = (uint32_t)size,
                               .version = layout->version,
                               .first_line = parts.first_line,
                               .n_name = (uint32_t)n_name,
                               .n_file = (uint32_t)n_file,
                               .n_lines = (uint32_t)n_lines };
  memcpy (record->data, name, n_name);
  memcpy (record->data + n_name, file, n_file);
  memcpy (record->data + n_name + n_file, lines, n_lines);
  __atomic_store_n (
      &header->python_used, used + (uint32_t)size, __ATOMIC_RELEASE);
  return used / 16;
}

static bool
make_table (void)
{
  if (table != NULL)
    return true;
  codes = preload_pages (TABLE_SIZE * 4 * sizeof *codes);
  table = codes ? preload_pages (TABLE_SIZE * sizeof *table) : NULL;
  return table != NULL;
}

static Code *_Atomic *
slot_of (uint64_t address)
{
  uint32_t i =
      (uint32_t)((address >> 4) * 0x9e3779b97f4a7c15ull >> 40) % TABLE_SIZE;

  for (;; i = (i + 1) % TABLE_SIZE)
    {
      const Code *code = table[i];

      if (code == NULL || code->address == address)
        return &table[i];
    }
}

static uint32_t
number_anew (const FlamPythonLayout *layout, uint64_t address, uint64_t look)
{
  uint32_t number = 0;

  while (atomic_flag_test_and_set_explicit (&lock, memory_order_acquire))
    __builtin_ia32_pause ();
  if (make_table ())
    {
      Code *_Atomic *slot = slot_of (address);

      if (*slot != NULL && (*slot)->look == look)
        number = (*slot)->number;
      else if (n_codes < TABLE_SIZE * 4 &&
               (*slot != NULL || n_codes < TABLE_SIZE / 2))
        {
          Code *code = &codes[n_codes++];

          number = write_code (layout, address);
          *code = (Code){ address, look, number };
          atomic_store (slot, code);
        }
    }
  atomic_flag_clear_explicit (&lock, memory_order_release);
  return number;
}

static uint32_t
number_of (const FlamPythonLayout *layout, uint64_t address)
{
  uint64_t look = look_of (layout, address);
  const Code *code = table != NULL ? *slot_of (address) : NULL;

  if (LIKELY (code != NULL && code->look == look))
    return code->number;
  return look == 0 ? 0 : number_anew (layout, address, look);
}

/* --- the chain ----------------------------------------------------------- */

/* How many frames from the root on are as they were. A sample may be long ago:
 * only among all events are those that look the same the same. */
static uint32_t
count_same (const FlamPythonFrame *now,
            uint32_t n,
            const FlamPythonFrame *last,
            uint32_t n_last)
{
  uint32_t most = n < n_last ? n : n_last;
  uint32_t same = 0;

  if (preload_control->sample_bytes != 0)
    return 0;
  while (same < most &&
         now[n - 1 - same].code == last[n_last - 1 - same].code &&
         now[n - 1 - same].place == last[n_last - 1 - same].place)
    same++;
  return same;
}

/* From 3.14 on there are entries besides those on the native stack. */
static uint32_t
drop_others (FlamPythonFrame *frames, uint32_t all, uint64_t low, uint64_t high)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < all; i++)
    if (frames[i].code != 0 ||
        (frames[i].place >= low && frames[i].place < high))
      frames[n++] = frames[i];
  return n;
}

void
preload_python_read (PreloadPython *python,
                     const PreloadInterpreter *interpreter,
                     uint64_t low,
                     uint64_t high)
{
  const FlamPythonMemory memory = { read_directly, NULL };
  const FlamPythonFrame *last = python->chains[python->turn];
  FlamPythonFrame *now = python->chains[python->turn ^ 1];
  void *thread = interpreter != NULL ? interpreter->this_thread () : NULL;
  uint32_t n, all = 0;

  if (thread != NULL)
    all = (uint32_t)flam_python_walk_inline (&interpreter->layout,
                                             memory,
                                             (uint64_t)thread,
                                             now,
                                             PRELOAD_PYTHON_FRAMES);
  n = all;
  if (all > 0 && interpreter->layout.version >= 0x030e0000)
    n = drop_others (now, all, low, high);
  python->same = count_same (now, n, last, python->n);
  python->n = n;
  python->frames = now;
  python->interpreter = interpreter;
  python->turn ^= 1;
}

uint64_t
preload_python_next (const PreloadPython *python, uint32_t taken)
{
  const FlamPythonFrame *frame = &python->frames[python->n - 1 - taken];

  return taken < python->n && frame->code == 0 ? frame->place : 0;
}

uint64_t
preload_python_take (const PreloadPython *python, uint32_t *taken)
{
  const FlamPythonFrame *frame = &python->frames[python->n - 1 - *taken];
  const FlamPythonLayout *layout;
  uint64_t unit;

  if (*taken >= python->n || frame->code == 0)
    return 0;
  ++*taken;
  layout = &python->interpreter->layout;
  /* -2, before the first instruction, is unit 0. */
  unit = (frame->place - frame->code - layout->code_instructions + 2) / 2;
  return FLAM_ALLOC_PYTHON_PLACE (number_of (layout, frame->code), unit);
}
