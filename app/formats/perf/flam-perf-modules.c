/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-modules.h"
#include "flam-perf-kernel.h"

#include "flam-file-map.h"
#include "flam-path-access.h"
#include "flam-vdso.h"

#include <sys/auxv.h>
#include <unistd.h>

#define VDSO_SIZE 8192

struct _FlamPerfModules
{
  const FlamPerfFile *file;
  FlamBuilder *builder;
  FlamBinaries *binaries;
  GPtrArray *map_folders; /* folders of perf maps, NULL-terminated */
  GHashTable *by_name;    /* path \n build id -> FlamPerfModule */
  FlamPerfModule *kernel;
  FlamPerfKernel *kernel_names;
  gboolean kernel_tried;
  char *kernel_why;
  char *kernel_build_id;
  char *kernel_symbol; /* NULL: the file contains nothing about the kernel */
  guint64 kernel_address;
  guint64 kernel_start;
  guint64 kernel_size;
};

static void
module_free (gpointer data)
{
  FlamPerfModule *module = data;

  flam_unwind_table_free (module->table);
  g_free (module->path);
  g_free (module->build_id);
  g_free (module->why);
  g_free (module->jitdump);
  g_clear_pointer (&module->jit, flam_jit_free);
  g_free (module);
}

static void
forget_kernel (FlamPerfModules *modules)
{
  g_clear_pointer (&modules->kernel_names, flam_perf_kernel_free);
  g_free (modules->kernel_why);
  g_free (modules->kernel_build_id);
  g_free (modules->kernel_symbol);
}

FlamPerfModules *
flam_perf_modules_new (const FlamPerfFile *file,
                       FlamLoad *load,
                       const char *const *binaries)
{
  FlamPerfModules *modules = flam_arena_new (load, FlamPerfModules);

  modules->file = file;
  modules->builder = load->builder;
  modules->binaries = flam_arena_keep (
      load, flam_binaries_new (binaries, NULL), flam_binaries_free);
  flam_arena_keep (load, modules, forget_kernel);
  modules->map_folders = flam_arena_pointers (load, g_free);
  for (; binaries != NULL && *binaries != NULL; binaries++)
    g_ptr_array_add (modules->map_folders, g_strdup (*binaries));
  if (file->source->file != NULL) /* beside the capture */
    g_ptr_array_add (modules->map_folders,
                     g_path_get_dirname (file->source->path));
  g_ptr_array_add (modules->map_folders, NULL);
  modules->by_name = flam_arena_table (load, FLAM_KEY_TEXT, module_free);
  return modules;
}

static FlamPerfModuleKind
kind_of (const char *path)
{
  if (g_str_equal (path, "[vdso]"))
    return FLAM_PERF_MODULE_VDSO;
  if (g_str_has_prefix (path, "[kernel"))
    return FLAM_PERF_MODULE_KERNEL;
  if (path[0] != '/' || g_str_has_prefix (path, "//") ||
      g_str_has_prefix (path, "/memfd:") || g_str_has_prefix (path, "/dev/") ||
      g_str_has_prefix (path, "/SYSV"))
    return FLAM_PERF_MODULE_MEMORY;
  return FLAM_PERF_MODULE_FILE;
}

FlamPerfModule *
flam_perf_modules_get (FlamPerfModules *modules,
                       const char *path,
                       gsize length,
                       const char *build_id)
{
  g_autofree char *name = g_strndup (path, length);
  const char *known = g_hash_table_lookup (modules->file->build_ids, name);
  g_autofree char *key = NULL;
  FlamPerfModule *module;

  if (!*build_id && known)
    build_id = known;
  key = g_strconcat (name, "\n", build_id, NULL);
  module = g_hash_table_lookup (modules->by_name, key);
  if (module)
    return module;
  module = g_new0 (FlamPerfModule, 1);
  module->kind = kind_of (name);
  module->path = g_steal_pointer (&name);
  module->build_id = g_strdup (build_id);
  module->id = FLAM_NONE;
  g_hash_table_insert (modules->by_name, g_steal_pointer (&key), module);
  return module;
}

FlamPerfModule *
flam_perf_modules_generated (FlamPerfModules *modules,
                             gint32 pid,
                             const char *jitdump)
{
  g_autofree char *path = flam_jit_module_path (pid);
  FlamPerfModule *module =
      flam_perf_modules_get (modules, path, strlen (path), "");

  if (jitdump && !module->jitdump)
    module->jitdump = g_strdup (jitdump);
  return module;
}

FlamPerfModule *
flam_perf_modules_kernel (FlamPerfModules *modules)
{
  static const char name[] = "[kernel.kallsyms]";

  if (!modules->kernel)
    modules->kernel =
        flam_perf_modules_get (modules, name, sizeof name - 1, "");
  return modules->kernel;
}

void
flam_perf_modules_set_kernel (FlamPerfModules *modules,
                              const char *symbol,
                              const char *build_id,
                              guint64 address,
                              guint64 start,
                              guint64 size)
{
  g_free (modules->kernel_build_id);
  modules->kernel_build_id = g_strdup (build_id);
  g_free (modules->kernel_symbol);
  modules->kernel_symbol = g_strdup (symbol);
  modules->kernel_address = address;
  modules->kernel_start = start;
  modules->kernel_size = size;
}

static const char *
name_kernel (FlamPerfModules *modules, guint64 address)
{
  const char *build_id = modules->kernel_build_id;

  if (build_id == NULL || *build_id == '\0')
    build_id = modules->kernel->build_id;
  if (!modules->kernel_tried && modules->kernel_symbol)
    modules->kernel_names = flam_perf_kernel_open (build_id,
                                                   modules->file->release,
                                                   modules->kernel_symbol,
                                                   modules->kernel_address,
                                                   modules->kernel_start,
                                                   modules->kernel_size,
                                                   &modules->kernel_why);
  modules->kernel_tried = TRUE;
  return modules->kernel_names
             ? flam_perf_kernel_find (modules->kernel_names, address)
             : NULL;
}

/* --- unwinding ----------------------------------------------------------- */

static void
load_vdso (FlamPerfModule *module)
{
  g_autoptr (FlamSymbolModule) same = flam_vdso_open (module->build_id);
  gsize image = getauxval (AT_SYSINFO_EHDR);
  const char *why = N_ ("the vdso of the recorded kernel is not available");

  if (same && image)
    module->table =
        flam_unwind_table_new_memory ((const void *)image, VDSO_SIZE, &why);
  if (!module->table)
    module->why = g_strdup (why);
}

static void
load_file (FlamPerfModules *modules, FlamPerfModule *module)
{
  g_autofree char *path = flam_binaries_find (
      modules->binaries, module->path, module->build_id, &module->why);
  g_autoptr (FlamFileMap) file = NULL;
  struct stat info;
  int fd;
  const char *why = N_ ("it cannot be read");

  if (!path)
    return;
  fd = flam_path_access_open_regular (path, &info, NULL);
  if (fd >= 0)
    {
      file = flam_file_map_new (fd, (gsize)info.st_size);
      close (fd);
    }
  if (file && file->size > 0)
    module->table = flam_unwind_table_new_file (file->data, file->size, &why);
  if (!module->table)
    module->why = g_strdup (why);
}

const FlamUnwindTable *
flam_perf_modules_table (FlamPerfModules *modules, FlamPerfModule *module)
{
  if (module->tried)
    return module->table;
  module->tried = TRUE;
  if (module->kind == FLAM_PERF_MODULE_VDSO)
    load_vdso (module);
  else if (module->kind == FLAM_PERF_MODULE_FILE)
    load_file (modules, module);
  return module->table;
}

static int
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

void
flam_perf_modules_warn (const FlamPerfModules *modules)
{
  g_autoptr (GPtrArray) sorted = g_ptr_array_new_with_free_func (g_free);
  const FlamPerfModule *kernel = modules->kernel;
  GHashTableIter iter;
  gpointer value;

  if (kernel && kernel->id != FLAM_NONE)
    flam_builder_set_module_symbols (
        modules->builder,
        kernel->id,
        modules->kernel_names ? FLAM_SYMBOLS_SYMTAB : FLAM_SYMBOLS_NONE,
        modules->kernel_names            ? ""
        : modules->kernel_symbol == NULL ? N_ ("the file does not contain the "
                                               "address of the kernel's text")
                                         : modules->kernel_why);

  g_hash_table_iter_init (&iter, modules->by_name);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      const FlamPerfModule *module = value;
      if (module->jit)
        flam_builder_set_module_symbols (
            modules->builder, module->id, FLAM_SYMBOLS_SYMTAB, "");
      if (module->why)
        g_ptr_array_add (
            sorted, g_strdup_printf ("%s (%s)", module->path, module->why));
    }
  g_ptr_array_sort (sorted, compare_texts);
  for (guint i = 0; i < sorted->len; i++)
    flam_builder_warn (modules->builder,
                       N_ ("stacks may be truncated or wrong in %s"),
                       (const char *)g_ptr_array_index (sorted, i));
}

/* --- frames -------------------------------------------------------------- */

static FlamFunctionId
make_function (FlamPerfModules *modules, const FlamPerfModule *module)
{
  static const FlamFunctionKind kinds[] = {
    [FLAM_PERF_MODULE_MEMORY] = FLAM_KIND_JIT,
    [FLAM_PERF_MODULE_KERNEL] = FLAM_KIND_KERNEL,
  };
  FlamFunction function = { .module = module->id };

  if (module->kind != FLAM_PERF_MODULE_MEMORY &&
      module->kind != FLAM_PERF_MODULE_KERNEL)
    return flam_builder_function_unresolved (modules->builder, module->id);
  function.kind = kinds[module->kind];
  function.name = flam_builder_string (
      modules->builder,
      module->kind == FLAM_PERF_MODULE_KERNEL ? "[kernel]" : "[jit]",
      -1);
  return flam_builder_function (modules->builder, &function);
}

static void
introduce (FlamPerfModules *modules, FlamPerfModule *module)
{
  FlamAddressing addressing = FLAM_ADDRESS_ABSOLUTE;

  if (module->kind == FLAM_PERF_MODULE_FILE ||
      module->kind == FLAM_PERF_MODULE_VDSO)
    addressing = FLAM_ADDRESS_FILE_OFFSET;
  module->id = flam_builder_module (
      modules->builder, module->path, module->build_id, addressing);
  module->function = make_function (modules, module);
}

/* FLAM_NONE: unknown. */
static FlamId
name_generated (FlamPerfModules *modules,
                FlamPerfModule *module,
                guint64 address,
                guint64 time)
{
  FlamBuilder *builder = modules->builder;
  FlamFunction function = { .module = module->id };
  FlamJitFrame found;

  if (!module->jit_tried)
    module->jit =
        flam_jit_open_in (flam_jit_module_pid (module->path),
                          (const char *const *)modules->map_folders->pdata);
  if (!module->jit_tried && !module->jit && module->jitdump)
    module->jit = flam_jit_open_process (
        flam_jit_module_pid (module->path),
        module->jitdump,
        (gint64)MIN (modules->file->wall_clock, (guint64)G_MAXINT64),
        NULL);
  module->jit_tried = TRUE;
  if (!module->jit || !flam_jit_find (module->jit, address, time, &found))
    return FLAM_NONE;
  function.name = flam_builder_string (builder, found.name, -1);
  function.file = flam_builder_string (builder, found.file, -1);
  function.line = found.first_line;
  function.kind = found.kind;
  return flam_builder_frame_of (builder, &function, address, found.line, 0);
}

static FlamId
name_of_kernel (FlamPerfModules *modules, guint64 address)
{
  FlamBuilder *builder = modules->builder;
  const char *name = name_kernel (modules, address);
  FlamFunction function = { .module = modules->kernel->id,
                            .kind = FLAM_KIND_KERNEL };

  if (!name)
    return FLAM_NONE;
  function.name = flam_builder_string (builder, name, -1);
  return flam_builder_frame_of (builder, &function, address, 0, 0);
}

FlamFrameId
flam_perf_modules_frame (FlamPerfModules *modules,
                         FlamPerfModule *module,
                         guint64 address,
                         guint64 time)
{
  FlamFrameId frame = FLAM_NONE;

  if (module->id == FLAM_NONE)
    introduce (modules, module);
  if (module == modules->kernel)
    frame = name_of_kernel (modules, address);
  else if (module->jitdump || module->kind == FLAM_PERF_MODULE_MEMORY)
    frame = name_generated (modules, module, address, time);
  return frame != FLAM_NONE
             ? frame
             : flam_builder_frame (
                   modules->builder, module->function, address, 0, 0);
}
