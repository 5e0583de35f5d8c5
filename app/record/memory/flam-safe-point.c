/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-safe-point.h"

#include <string.h>
#include <sys/stat.h>

#include "flam-core-profile.h"
#include "flam-file-map.h"
#include "flam-mapping.h"
#include "flam-proc.h"
#include "flam-stops.h"
#include "flam-symbol-table.h"
#include "flam-unwind-space.h"

#include <fcntl.h>
#include <unistd.h>

#define FRAMES_MAX 4096
#define STACK_MAX (1u << 20) /* bytes that are copied */
#define SYSCALL_RET "\x0f\x05\xc3"
/* mov $15, %rax; syscall: debuggers recognize it by these bytes. */
#define SIGRETURN "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"

/* Functions of the C library that may hold locks which a call of the loader
 * needs. */
static const char *const functions[] = {
  "malloc",
  "free",
  "calloc",
  "realloc",
  "reallocarray",
  "memalign",
  "aligned_alloc",
  "posix_memalign",
  "valloc",
  "pvalloc",
  "malloc_trim",
  "mallinfo",
  "mallinfo2",
  "malloc_info",
  "malloc_stats",
  "mallopt",
  "fork",
  "_Fork",
  "dlopen",
  "dlmopen",
  "dlclose",
  "dlsym",
  "dlvsym",
  "dladdr",
  "dladdr1",
  "dlinfo",
  "dlerror",
  "dl_iterate_phdr",
  "exit",
  "pthread_exit",
  "abort",
  "pthread_create",
  "__libc_freeres",
  "_dl_find_object",
  "__cxa_thread_atexit_impl",
  "__libc_dlopen_mode",
};

typedef enum
{
  PROGRAM, /* and its libraries */
  LIBC,
  NOT_ALLOWED, /* the loader; an allocator */
} Part;

/* A file, however often it is mapped. */
typedef struct
{
  char *path;
  guint64 inode;
  guint64 base; /* where the beginning of the file is, or would be */
  Part part;
  FlamUnwindTable *table;
  gboolean table_tried;
} Module;

typedef struct
{
  guint64 start;
  guint64 end;
} Span;

struct _FlamSafePoint
{
  pid_t pid;
  GPtrArray *modules;
  FlamUnwindSpace *space;
  FlamUnwindCache *cache;
  FlamElf *libc;
  guint64 libc_base;
  guint64 code_start, code_end;
  guint64 gate, leave;
  GArray *spans; /* of the functions */
  guint8 *stack;
  guint64 *pcs;
};

static void
module_free (gpointer data)
{
  Module *module = data;

  g_free (module->path);
  flam_unwind_table_free (module->table);
  g_free (module);
}

/* As the process sees it; not if another file has taken its place. */
static int
open_module (const FlamSafePoint *safe, const Module *module)
{
  g_autofree char *path =
      g_strdup_printf ("/proc/%d/root%s", (int)safe->pid, module->path);
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat st;

  if (fd >= 0 && (fstat (fd, &st) != 0 || !S_ISREG (st.st_mode) ||
                  (module->inode != 0 && st.st_ino != module->inode)))
    {
      close (fd);
      fd = -1;
    }
  return fd;
}

static FlamElf *
open_elf (const FlamSafePoint *safe, const Module *module)
{
  int fd = open_module (safe, module);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  FlamElf *elf = fd >= 0 ? flam_elf_open (path, NULL) : NULL;

  if (fd >= 0)
    close (fd);
  return elf;
}

static FlamUnwindTable *
read_table (const FlamSafePoint *safe, const Module *module)
{
  int fd = open_module (safe, module);
  FlamUnwindTable *table = NULL;
  const char *why;
  struct stat st;

  if (fd >= 0 && fstat (fd, &st) == 0 && st.st_size > 0)
    {
      g_autoptr (FlamFileMap) file = flam_file_map_new (fd, (gsize)st.st_size);

      if (file != NULL)
        table = flam_unwind_table_new_file (file->data, file->size, &why);
    }
  if (fd >= 0)
    close (fd);
  return table;
}

static const FlamUnwindTable *
load_table (void *data, const FlamUnwindMap *map)
{
  Module *module = map->user;

  if (module == NULL)
    return NULL;
  if (!module->table_tried)
    module->table = read_table (data, module);
  module->table_tried = TRUE;
  return module->table;
}

/* --- modules ------------------------------------------------------------- */

static gboolean
is_named (const char *path, const char *prefix)
{
  const char *name = strrchr (path, '/');

  return g_str_has_prefix (name != NULL ? name + 1 : path, prefix);
}

static gboolean
is_libc (const char *path)
{
  return is_named (path, "libc.so.6") || is_named (path, "libc-2.");
}

static gboolean
defines_malloc (const FlamSafePoint *safe, const Module *module)
{
  g_autoptr (FlamElf) elf = open_elf (safe, module);
  guint64 at, size;

  return elf != NULL && flam_elf_find_symbol (elf, "malloc", &at, &size) &&
         at != 0;
}

static Part
part_of (const FlamSafePoint *safe, const Module *module)
{
  if (is_libc (module->path))
    return LIBC;
  if (is_named (module->path, "ld-linux") || is_named (module->path, "ld-2.") ||
      defines_malloc (safe, module))
    return NOT_ALLOWED;
  return PROGRAM;
}

static Module *
module_of (FlamSafePoint *safe, const FlamMapping *mapping)
{
  Module *module;
  g_autofree char *path = g_strndup (mapping->path, mapping->length);

  if (path[0] != '/' || g_str_has_suffix (path, " (deleted)"))
    return NULL;
  for (guint i = 0; i < safe->modules->len; i++)
    {
      module = g_ptr_array_index (safe->modules, i);
      if (module->inode == mapping->inode && strcmp (module->path, path) == 0)
        return module;
    }
  module = g_new0 (Module, 1);
  module->path = g_steal_pointer (&path);
  module->inode = mapping->inode;
  module->base = mapping->start - mapping->offset;
  module->part = part_of (safe, module);
  g_ptr_array_add (safe->modules, module);
  return module;
}

static void
read_mappings (FlamSafePoint *safe)
{
  g_autofree char *text = flam_proc_text (safe->pid, safe->pid, "maps");
  const char *at = text, *end = text != NULL ? text + strlen (text) : NULL;
  FlamMapping mapping;

  while (text != NULL && flam_mapping_next (&at, end, &mapping))
    {
      Module *module;

      if (!mapping.executable)
        continue;
      module = module_of (safe, &mapping);
      flam_unwind_space_add (safe->space,
                             mapping.start,
                             mapping.end,
                             mapping.offset,
                             NULL,
                             module);
      if (module == NULL || module->part != LIBC)
        continue;
      safe->code_start = mapping.start;
      safe->code_end = mapping.end;
    }
}

/* --- the C library ------------------------------------------------------- */

static Module *
find_libc (const FlamSafePoint *safe)
{
  for (guint i = 0; i < safe->modules->len; i++)
    {
      Module *module = g_ptr_array_index (safe->modules, i);

      if (module->part == LIBC)
        return module;
    }
  return NULL;
}

static void
find_spans (FlamSafePoint *safe)
{
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      Span span;
      guint64 size;

      if (!flam_elf_find_symbol (safe->libc, functions[i], &span.start, &size))
        continue;
      span.start += safe->libc_base;
      span.end = span.start + size;
      g_array_append_val (safe->spans, span);
    }
}

/* Instructions, also in the middle of others. */
static guint64
find_code (const FlamSafePoint *safe, const char *code, gsize n)
{
  for (guint64 at = safe->code_start; at < safe->code_end;)
    {
      gsize size = flam_read_memory (
          safe->pid, at, safe->stack, MIN (STACK_MAX, safe->code_end - at));
      const guint8 *found = memmem (safe->stack, size, code, n);

      if (found != NULL)
        return at + (guint64)(found - safe->stack);
      if (size <= n)
        break;
      at += size - n;
    }
  return 0;
}

guint64
flam_safe_point_function (const FlamSafePoint *safe, const char *name)
{
  guint64 at, size;

  return flam_elf_find_symbol (safe->libc, name, &at, &size) && at != 0
             ? at + safe->libc_base
             : 0;
}

guint64
flam_safe_point_gate (const FlamSafePoint *safe)
{
  return safe->gate;
}

guint64
flam_safe_point_leave (const FlamSafePoint *safe)
{
  return safe->leave;
}

/* --- creation ------------------------------------------------------------ */

FlamSafePoint *
flam_safe_point_new (pid_t pid, const char **why)
{
  g_autoptr (FlamSafePoint) safe = g_new0 (FlamSafePoint, 1);
  Module *libc;

  safe->pid = pid;
  safe->modules = g_ptr_array_new_with_free_func (module_free);
  safe->space = flam_unwind_space_new ();
  safe->cache = flam_unwind_cache_new ();
  safe->spans = g_array_new (FALSE, FALSE, sizeof (Span));
  safe->stack = g_malloc (STACK_MAX);
  safe->pcs = g_new (guint64, FRAMES_MAX);
  flam_unwind_space_set_load (safe->space, load_table, safe);
  read_mappings (safe);
  libc = find_libc (safe);
  *why = N_ ("has not loaded the GNU C library");
  if (libc == NULL)
    return NULL;
  safe->libc = open_elf (safe, libc);
  safe->libc_base = libc->base;
  safe->gate = find_code (safe, SYSCALL_RET, strlen (SYSCALL_RET));
  safe->leave = find_code (safe, SIGRETURN, sizeof SIGRETURN - 1);
  *why = N_ ("uses a C library whose file has been replaced or cannot be read");
  if (safe->libc == NULL || safe->gate == 0 || safe->leave == 0)
    return NULL;
  find_spans (safe);
  return g_steal_pointer (&safe);
}

void
flam_safe_point_free (FlamSafePoint *safe)
{
  g_ptr_array_unref (safe->modules);
  flam_unwind_space_free (safe->space);
  flam_unwind_cache_free (safe->cache);
  g_clear_pointer (&safe->libc, flam_elf_free);
  g_array_unref (safe->spans);
  g_free (safe->stack);
  g_free (safe->pcs);
  g_free (safe);
}

/* --- a thread ------------------------------------------------------------ */

static gboolean
is_in_function (const FlamSafePoint *safe, guint64 pc)
{
  for (guint i = 0; i < safe->spans->len; i++)
    {
      const Span *span = &g_array_index (safe->spans, Span, i);

      if (pc >= span->start && pc < span->end)
        return TRUE;
    }
  return FALSE;
}

/* `in_program`: set where the code is the program's own. */
static gboolean
allows_code (const FlamSafePoint *safe, guint64 pc, gboolean *in_program)
{
  const FlamUnwindMap *map = flam_unwind_space_find (safe->space, pc);
  const Module *module = map != NULL ? map->user : NULL;

  /* Generated code, the vdso: not of the C library. */
  if (module == NULL || module->part == PROGRAM)
    *in_program |= module != NULL;
  return module == NULL || module->part == PROGRAM ||
         (module->part == LIBC && !is_in_function (safe, pc));
}

gboolean
flam_safe_point_allows (FlamSafePoint *safe, pid_t tid)
{
  guint64 regs[FLAM_N_REGS];
  FlamStopContext context;
  gboolean in_program = FALSE;
  FlamUnwindRegs at;
  FlamUnwindMemory memory;
  FlamUnwindEnd end;
  gsize n, size;

  /* A call that the stop has interrupted is to be restarted. */
  if (!flam_stop_registers (tid, TRUE, regs, &context))
    return FALSE;
  at = (FlamUnwindRegs){ .pc = regs[FLAM_UNWIND_PC],
                         .sp = regs[FLAM_UNWIND_SP],
                         .bp = regs[FLAM_UNWIND_FP],
                         .bx = regs[FLAM_UNWIND_BX],
                         .bx_state = 1,
                         .all = regs };
  size = flam_read_memory (tid, regs[FLAM_UNWIND_SP], safe->stack, STACK_MAX);
  memory = (FlamUnwindMemory){ .copy = safe->stack,
                               .base = regs[FLAM_UNWIND_SP],
                               .size = size };
  n = flam_unwind_walk (safe->space,
                        safe->cache,
                        &memory,
                        &at,
                        safe->pcs,
                        NULL,
                        FRAMES_MAX,
                        &end);
  for (gsize i = 0; i < n; i++)
    if (!allows_code (safe, safe->pcs[i], &in_program))
      return FALSE;
  return in_program;
}
