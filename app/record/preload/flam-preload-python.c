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

/* A known code object: its number in the file, and its content. Another one
 * that takes its place in memory has a different content
 * (flam-python-frames.h), and gets a new number. */
struct _PreloadCode
{
  uint64_t address;
  uint64_t piece_at;
  uint64_t name_at;
  uint64_t piece[FLAM_PYTHON_CODE_SIZE / 8];
  uint64_t name[FLAM_PYTHON_NAME_SIZE / 8];
  uint32_t number;
};

/* PreloadCode objects by address. Read without a lock; an object that a slot
 * points to does not change. */
static PreloadCode *_Atomic *table;
static PreloadCode *codes; /* from pages, one after another */
static uint32_t n_codes;
static atomic_flag lock = ATOMIC_FLAG_INIT;

/* --- detection ----------------------------------------------------------- */

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
  /* Part of the stable interface: the thread's own state, whether or not it
   * holds the lock; the function reads one thread-specific value. */
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

/* If a process has several interpreters, the first is used. The data of an
 * unloaded one is kept, since another thread may be reading it. */
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

/* Pages that were mapped at the last check. */
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

/* The interpreter's chain is consistent whenever it calls malloc; but the call
 * may come from a signal handler at any point. */
static inline bool
are_there (uint64_t address, size_t size)
{
  uint64_t first = address >> 12;
  uint64_t last = (address + size - 1) >> 12;

  return is_there (first) && (LIKELY (last == first) || is_there (last));
}

static inline const uint8_t *
look_directly (const FlamRuntimeMemory *memory,
               uint64_t address,
               uint8_t *room,
               size_t size)
{
  (void)memory;
  (void)room;
  return are_there (address, size) ? (const uint8_t *)address : NULL;
}

/* Like memcmp(), but without a call. */
static inline bool
is_equal (const uint64_t *was, uint64_t address, size_t n)
{
  const uint64_t *is = (const uint64_t *)address;
  uint64_t differ = 0;

  for (size_t i = 0; i < n; i++)
    differ |= was[i] ^ is[i];
  return differ == 0;
}

static inline bool
looks_as_it_did (const PreloadCode *code)
{
  return are_there (code->piece_at, sizeof code->piece) &&
         is_equal (code->piece, code->piece_at, sizeof code->piece / 8) &&
         are_there (code->name_at, sizeof code->name) &&
         is_equal (code->name, code->name_at, sizeof code->name / 8);
}

/* Reads the current content. False: it cannot be read. */
static bool
look_at (const FlamPythonLayout *layout, uint64_t address, PreloadCode *code)
{
  FlamPythonCodeParts parts;

  code->address = address;
  code->piece_at = flam_python_code_piece (layout, address);
  if (!preload_read (code->piece_at, code->piece, sizeof code->piece))
    return false;
  flam_python_code_parts (layout, (const uint8_t *)code->piece, &parts);
  code->name_at = flam_python_name_piece (parts.name);
  return preload_read (code->name_at, code->name, sizeof code->name);
}

/* Writes a code object into the file; 0: no space. The lock must be held. */
static uint32_t
write_code (const FlamPythonLayout *layout, uint64_t code)
{
  static char name[NAME_MAX], file[FILE_MAX];
  static uint8_t lines[LINES_MAX];
  FlamRuntimeMemory memory = { read_carefully, NULL };
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
  if (!preload_room (record, size))
    return 0;
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

static PreloadCode *_Atomic *
slot_of (uint64_t address)
{
  uint32_t i =
      (uint32_t)((address >> 4) * 0x9e3779b97f4a7c15ull >> 40) % TABLE_SIZE;

  for (;; i = (i + 1) % TABLE_SIZE)
    {
      const PreloadCode *code = table[i];

      if (code == NULL || code->address == address)
        return &table[i];
    }
}

static const PreloadCode *
meet_code (const FlamPythonLayout *layout, uint64_t address)
{
  const PreloadCode *met = NULL;

  while (atomic_flag_test_and_set_explicit (&lock, memory_order_acquire))
    preload_pause ();
  if (make_table ())
    {
      PreloadCode *_Atomic *slot = slot_of (address);
      PreloadCode *code = &codes[n_codes];

      if (*slot != NULL && looks_as_it_did (*slot))
        met = *slot;
      else if (n_codes < TABLE_SIZE * 4 &&
               (*slot != NULL || n_codes < TABLE_SIZE / 2) &&
               look_at (layout, address, code))
        {
          code->number = write_code (layout, address);
          n_codes++;
          atomic_store (slot, code);
          met = code;
        }
    }
  atomic_flag_clear_explicit (&lock, memory_order_release);
  return met;
}

/* NULL: it cannot be read, or there is no space. */
static const PreloadCode *
code_at (const FlamPythonLayout *layout, uint64_t address)
{
  const PreloadCode *code = LIKELY (table != NULL) ? *slot_of (address) : NULL;

  return LIKELY (code != NULL && looks_as_it_did (code))
             ? code
             : meet_code (layout, address);
}

/* --- the chain ----------------------------------------------------------- */

/* From 3.14 on there are entries in addition to those on the native stack. */
static uint32_t
drop_others (FlamPythonFrame *frames, uint32_t all, uint64_t low, uint64_t high)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < all; i++)
    if (frames[i].code != 0 || (frames[i].pc >= low && frames[i].pc < high))
      frames[n++] = frames[i];
  return n;
}

void
preload_python_read (PreloadPython *python,
                     const PreloadInterpreter *interpreter,
                     uint64_t low,
                     uint64_t high)
{
  void *thread = interpreter != NULL ? interpreter->this_thread () : NULL;
  uint32_t n = 0;

  if (python->frames == NULL)
    {
      python->frames = python->chains[0];
      python->last = python->chains[1];
    }
  if (thread != NULL)
    n = (uint32_t)flam_python_walk_inline (&interpreter->layout,
                                           look_directly,
                                           NULL,
                                           (uint64_t)thread,
                                           python->frames,
                                           PRELOAD_PYTHON_FRAMES);
  if (n > 0 && interpreter->layout.version >= 0x030e0000)
    n = drop_others (python->frames, n, low, high);
  python->n = n;
  python->interpreter = interpreter;
}

static inline bool
is_same (const FlamPythonFrame *is,
         const FlamPythonFrame *was,
         const PreloadCode *code)
{
  return is->code == was->code && is->pc == was->pc &&
         (is->code == 0 || (code != NULL && looks_as_it_did (code)));
}

bool
preload_python_is (const PreloadPython *python,
                   const FlamPythonFrame *frames,
                   const PreloadCode *const *whose,
                   uint32_t n)
{
  if (python->n != n)
    return false;
  for (uint32_t i = 0; i < n; i++)
    if (!is_same (&python->frames[i], &frames[i], whose[n - 1 - i]))
      return false;
  return true;
}

uint32_t
preload_python_keep (PreloadPython *python)
{
  FlamPythonFrame *now = python->frames;
  FlamPythonFrame *last = python->last;
  uint32_t most = python->n < python->n_last ? python->n : python->n_last;
  uint32_t same = 0;

  while (same < most && is_same (&now[python->n - 1 - same],
                                 &last[python->n_last - 1 - same],
                                 python->codes[same]))
    same++;
  python->last = now;
  python->n_last = python->n;
  python->frames = last;
  return same;
}

uint64_t
preload_python_take (PreloadPython *python, uint32_t *taken)
{
  const FlamPythonFrame *frame = &python->last[python->n_last - 1 - *taken];
  const FlamPythonLayout *layout;
  const PreloadCode *code;
  uint64_t unit;

  if (*taken >= python->n_last || frame->code == 0)
    return 0;
  layout = &python->interpreter->layout;
  code = code_at (layout, frame->code);
  python->codes[(*taken)++] = code;
  /* -2, before the first instruction, becomes unit 0. */
  unit = (frame->pc - frame->code - layout->code_instructions + 2) / 2;
  return FLAM_ALLOC_PYTHON_LOCATION (code ? code->number : 0, unit);
}
