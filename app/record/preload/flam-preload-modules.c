/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The mappings of code: /proc/self/maps, read without the loader's lock. The
 * list in use is never changed, only replaced, so hooks read it without a lock:
 *
 *   current ──▶ [start end bias table] [ … ] [ … ]   ascending
 */

#include "flam-preload-files.h"
#include "flam-preload-python.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAPS_MAX (8u << 20)
#define FIRST_PAUSE 1000000ll /* ns */
#define LAST_PAUSE 100000000ll

_Atomic uint32_t preload_code_epoch = 1;
static PreloadModules *_Atomic current;
static atomic_flag refreshing = ATOMIC_FLAG_INIT;
static _Atomic int64_t next_refresh, refresh_pause;

/* --- reading ------------------------------------------------------------- */

static size_t
read_file (const char *path, char *text, size_t size)
{
  long fd = syscall (SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  size_t used = 0;

  if (fd < 0)
    return 0;
  while (used < size)
    {
      long n = syscall (SYS_read, fd, text + used, size - used);

      if (n <= 0)
        break;
      used += n;
    }
  syscall (SYS_close, fd);
  return used;
}

static size_t
read_maps (char *text)
{
  return read_file ("/proc/self/maps", text, MAPS_MAX);
}

/* Field 47 of proc(5)'s /proc/PID/stat. The second, in parentheses, may contain
 * anything. */
uint64_t
preload_begin_of_heap (void)
{
  char text[2048];
  size_t size = read_file ("/proc/self/stat", text, sizeof text);
  size_t at = size;
  uint64_t begin = 0;
  unsigned field = 2;

  while (at > 0 && text[at - 1] != ')')
    at--;
  for (; at > 0 && at < size && field < 48; at++)
    if (text[at] == ' ')
      field++;
    else if (field == 47 && text[at] >= '0' && text[at] <= '9')
      begin = begin * 10 + (uint64_t)(text[at] - '0');
  return begin;
}

/* --- the list ------------------------------------------------------------ */

static uint32_t
share_path (const char *path, size_t length)
{
  FlamAllocHeader *header = preload_header;
  char *text = (char *)header + FLAM_ALLOC_TEXT_AT;
  uint32_t at = header->text_used;

  if (at == 0)
    header->text_used = at = 1;
  if (length == 0 || at + length + 1 > FLAM_ALLOC_TEXT_SIZE ||
      !preload_room (text + at, length + 1))
    return 0;
  memcpy (text + at, path, length);
  text[at + length] = 0;
  header->text_used = at + length + 1;
  return at;
}

/* The row in the table for a new module. */
static uint32_t
share_module (const FlamMapping *mapping, uint64_t bias)
{
  FlamAllocHeader *header = preload_header;
  FlamAllocModule *row =
      (FlamAllocModule *)((char *)header + FLAM_ALLOC_MODULES_AT);
  uint32_t id = header->n_modules;

  if (id == FLAM_ALLOC_MAX_MODULES || !preload_room (&row[id], sizeof *row))
    return 0;
  row[id] = (FlamAllocModule){
    .path = share_path (mapping->path, mapping->length),
    .bias = bias,
    .start = mapping->start,
    .end = mapping->end,
    .inode = mapping->inode,
  };
  atomic_thread_fence (memory_order_release);
  header->n_modules = id + 1;
  return id;
}

static const PreloadModule *
find_in (const PreloadModules *list, uint64_t pc)
{
  uint32_t low = 0;
  uint32_t high = list ? list->n : 0;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (list->modules[middle].end <= pc)
        low = middle + 1;
      else
        high = middle;
    }
  return list != NULL && low < list->n && list->modules[low].start <= pc
             ? &list->modules[low]
             : NULL;
}

/* The start of the ELF image: the first readable mapping of the same file at or
 * below this one; 0: it is not an ELF image. */
static uint64_t
find_image (const FlamMapping *mapping)
{
  if (mapping->offset != 0 || !mapping->readable ||
      memcmp ((const void *)mapping->start, "\177ELF", 4) != 0)
    return 0;
  return mapping->start;
}

static bool
same_file (const FlamMapping *a, const FlamMapping *b)
{
  return a->length == b->length && a->length > 0 &&
         memcmp (a->path, b->path, a->length) == 0;
}

/* One past the last byte that is readable after the start of the image. */
static uint64_t
image_end (const char *text, size_t size, const FlamMapping *image)
{
  uint64_t reached = image->start;
  const char *at = text;
  FlamMapping mapping;

  while (flam_mapping_next (&at, text + size, &mapping))
    {
      if (mapping.start < image->start)
        continue;
      if (mapping.start != reached || !mapping.readable ||
          !same_file (&mapping, image))
        break;
      reached = mapping.end;
    }
  return reached;
}

static void
add_module (PreloadModules *list,
            const PreloadModules *before,
            const FlamMapping *mapping,
            const FlamMapping *image,
            const char *text,
            size_t size)
{
  PreloadModule *module = &list->modules[list->n++];
  uint64_t bias = mapping->start - mapping->offset;
  const PreloadModule *known = find_in (before, mapping->start);

  if (known != NULL && known->start == mapping->start &&
      known->end == mapping->end && known->bias == bias)
    {
      *module = *known;
      return;
    }
  *module = (PreloadModule){ mapping->start, mapping->end, bias };
  module->late = before != NULL;
  module->id = share_module (mapping, bias);
  if (!same_file (mapping, image))
    image = mapping;
  module->image = find_image (image);
  if (module->image != 0)
    module->image_end = image_end (text, size, image);
}

static PreloadModules *
parse_maps (const char *text, size_t size, const PreloadModules *before)
{
  const char *at = text;
  FlamMapping image = { 0 };
  FlamMapping mapping;
  size_t lines = 0;
  PreloadModules *list;

  for (size_t i = 0; i < size; i++)
    lines += text[i] == '\n';
  list = preload_allocate (sizeof *list + lines * sizeof list->modules[0]);
  if (list == NULL)
    return NULL;
  list->n = 0;
  while (flam_mapping_next (&at, text + size, &mapping))
    {
      if (mapping.offset == 0 && !same_file (&mapping, &image))
        image = mapping;
      if (mapping.executable)
        add_module (list, before, &mapping, &image, text, size);
    }
  return list;
}

/* Whether a known module has been unloaded or replaced. */
static bool
lost_code (const PreloadModules *before, const PreloadModules *after)
{
  for (uint32_t i = 0; before != NULL && i < before->n; i++)
    {
      const PreloadModule *was = &before->modules[i];
      const PreloadModule *is = find_in (after, was->start);

      if (is == NULL || is->id != was->id)
        return true;
    }
  return false;
}

/* Forgets an interpreter that was unloaded. */
static void
forget_python (const PreloadModules *list)
{
  PreloadInterpreter *python = atomic_load (&preload_interpreter);
  const PreloadModule *module = python ? find_in (list, python->code) : NULL;

  if (python != NULL && (module == NULL || module->id != python->module))
    atomic_compare_exchange_strong (&preload_interpreter, &python, NULL);
}

static void
refresh (void)
{
  static char *text;
  PreloadModules *before = atomic_load (&current);
  PreloadModules *after;
  size_t size;

  if (text == NULL)
    text = preload_pages (MAPS_MAX);
  if (text == NULL)
    return;
  size = read_maps (text);
  after = parse_maps (text, size, before);
  if (after == NULL)
    return;
  atomic_store (&current, after);
  if (!lost_code (before, after))
    return;
  forget_python (after);
  atomic_fetch_add (&preload_code_epoch, 1);
}

/* FALSE: another thread is refreshing the list. */
static bool
refresh_once (void)
{
  if (atomic_flag_test_and_set (&refreshing))
    return false;
  refresh ();
  atomic_flag_clear (&refreshing);
  return true;
}

void
preload_modules_changed (void)
{
  refresh_once ();
}

void
preload_modules_reset (void)
{
  atomic_store (&current, NULL);
  atomic_fetch_add (&preload_code_epoch, 1);
}

void
preload_visit_mappings (void (*visit) (const FlamMapping *mapping))
{
  char *text = preload_pages (MAPS_MAX);
  size_t size = text != NULL ? read_maps (text) : 0;
  const char *at = text;
  FlamMapping mapping;

  while (size > 0 && flam_mapping_next (&at, text + size, &mapping))
    visit (&mapping);
  if (text != NULL)
    preload_release_pages (text, MAPS_MAX);
}

/* New code appears with dlopen(), and is searched for at once; addresses
 * without code come from stacks that were followed wrongly, any number of
 * times. */
static void
set_pause (bool useful)
{
  int64_t pause = 2 * atomic_load (&refresh_pause) + FIRST_PAUSE;

  pause = useful ? 0 : pause < LAST_PAUSE ? pause : LAST_PAUSE;
  atomic_store (&refresh_pause, pause);
  atomic_store (&next_refresh, preload_now_ns () + pause);
}

const PreloadModule *
preload_module_at (uint64_t pc)
{
  const PreloadModule *module = find_in (atomic_load (&current), pc);

  if (LIKELY (module != NULL))
    return module;
  if (atomic_load (&current) != NULL &&
      preload_now_ns () < atomic_load (&next_refresh))
    return NULL;
  if (!refresh_once ())
    return NULL;
  module = find_in (atomic_load (&current), pc);
  set_pause (module != NULL);
  return module;
}

/* Compiled when a stack first runs through the module: for most modules that
 * never happens. As their code is on that stack, the image is mapped. At the
 * same time the module is searched for Python. */
const FlamUnwindTable *
preload_module_table (const PreloadModule *constant)
{
  PreloadModule *module = (PreloadModule *)constant;
  FlamUnwindTable *table = atomic_load (&module->table);
  FlamUnwindTable *other = NULL;
  const char *why;

  if (table != NULL || module->image == 0 || atomic_load (&module->tried))
    return table;
  preload_python_meet (module);
  table = flam_unwind_table_new_memory (
      (const void *)module->image, module->image_end - module->image, &why);
  if (table == NULL)
    atomic_store (&module->tried, true);
  else if (!atomic_compare_exchange_strong (&module->table, &other, table))
    {
      flam_unwind_table_free (table);
      return other;
    }
  return table;
}
