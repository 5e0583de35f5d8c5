/* SPDX-License-Identifier: GPL-3.0-or-later */

/* ELF files with their symbol tables and DWARF; and the vdso, which is an ELF
 * file in memory. */

#include "flam-binaries.h"
#include "flam-debuginfod.h"
#include "flam-symbol-source.h"
#include "flam-vdso.h"

#include <string.h>

typedef struct
{
  FlamSymbolModule *module;
  gboolean by_offset;
} File;

static File *
file_new (FlamSymbolModule *module, const FlamSymbolTarget *target)
{
  File *file = g_new (File, 1);

  *file = (File){ module, target->addressing == FLAM_ADDRESS_FILE_OFFSET };
  return file;
}

static void
file_close (gpointer opened)
{
  File *file = opened;

  flam_symbol_module_free (file->module);
  g_free (file);
}

static gboolean
file_look_up (gpointer opened,
              guint64 address,
              guint64 time,
              FlamSymbolChain *chain)
{
  File *file = opened;

  return file->by_offset
             ? flam_symbol_module_lookup_offset (file->module, address, chain)
             : flam_symbol_module_lookup (file->module, address, chain);
}

static FlamSymbolState
file_get_state (gpointer opened, const char **why)
{
  File *file = opened;

  *why = flam_symbol_module_get_why (file->module);
  return flam_symbol_module_get_state (file->module);
}

/* --- the vdso ------------------------------------------------------------ */

static gboolean
vdso_matches (const FlamSymbolTarget *target)
{
  return strcmp (target->name, "[vdso]") == 0;
}

static gpointer
vdso_open (FlamSymbolContext *context,
           const FlamSymbolTarget *target,
           GError **error)
{
  FlamSymbolModule *module = NULL;

  if (target->image)
    module = flam_symbol_module_new_from_data (
        target->path, target->image, target->image_size);
  else if (*target->build_id || flam_symbol_context_is_here (context))
    module = flam_vdso_open (target->build_id);
  if (module)
    return file_new (module, target);
  return flam_error_null (
      error,
      FLAM_ERROR_UNSUPPORTED,
      N_ ("the vdso of the recorded kernel is not available"));
}

const FlamSymbolSource flam_symbols_vdso = {
  .name = "vdso",
  .matches = vdso_matches,
  .open = vdso_open,
  .look_up = file_look_up,
  .get_state = file_get_state,
  .close = file_close,
};

/* --- files --------------------------------------------------------------- */

/* "[stack]", "//anon", "/memfd:x": memory, not a file, unless the caller has
 * one. */
static gboolean
file_matches (const FlamSymbolTarget *target)
{
  const char *path = target->path;

  if (target->addressing == FLAM_ADDRESS_ABSOLUTE || path[0] != '/')
    return FALSE;
  return (target->files != NULL && target->files[0] != NULL) ||
         (!g_str_has_prefix (path, "//") &&
          !g_str_has_prefix (path, "/memfd:") &&
          !g_str_has_prefix (path, "/SYSV") &&
          !g_str_has_prefix (path, "/dev/"));
}

static FlamSymbolModule *
open_module (const FlamSymbolContext *context,
             const FlamSymbolTarget *target,
             const char *path,
             const char *debug_path,
             GError **error)
{
  FlamSymbolModuleOptions options = {
    .build_id = target->build_id,
    .debug_directories = context->binaries,
    .debug_path = debug_path,
    .detail = context->detail,
    .name = target->name,
  };

  return flam_symbol_module_open (path, &options, error);
}

static FlamSymbolModule *
open_given (const FlamSymbolContext *context,
            const FlamSymbolTarget *target,
            GError **error)
{
  FlamSymbolModule *module = NULL;

  for (gsize i = 0; !module && target->files[i]; i++)
    {
      g_clear_error (error);
      module = open_module (context, target, target->files[i], NULL, error);
    }
  return module;
}

static FlamBinaries *
get_binaries (FlamSymbolContext *context)
{
  FlamBinaries *binaries = g_datalist_get_data (&context->kept, "binaries");

  if (!binaries)
    {
      binaries = flam_binaries_new (context->binaries, context->root);
      g_datalist_set_data_full (&context->kept,
                                "binaries",
                                binaries,
                                (GDestroyNotify)flam_binaries_free);
    }
  return binaries;
}

static void
debuginfod_free (gpointer data)
{
  FlamDebuginfod **debuginfod = data;

  flam_debuginfod_free (*debuginfod);
  g_free (debuginfod);
}

/* NULL: not allowed, or unavailable, which is reported once. */
static FlamDebuginfod *
get_debuginfod (FlamSymbolContext *context)
{
  FlamDebuginfod **tried = g_datalist_get_data (&context->kept, "debuginfod");
  g_autoptr (GError) error = NULL;

  if (!context->debuginfod || tried)
    return tried ? *tried : NULL;
  tried = g_new (FlamDebuginfod *, 1);
  *tried = flam_debuginfod_new (&error);
  g_datalist_set_data_full (
      &context->kept, "debuginfod", tried, debuginfod_free);
  if (!*tried && context->warnings)
    g_ptr_array_add (context->warnings, g_strdup (error->message));
  return *tried;
}

typedef char *(*Find) (FlamDebuginfod *debuginfod,
                       const char *build_id,
                       const FlamProgress *progress,
                       GError **error);

/* FALSE only if cancelled. */
static gboolean
download (FlamSymbolContext *context,
          const FlamSymbolTarget *target,
          Find find,
          char **path,
          GError **error)
{
  FlamDebuginfod *debuginfod =
      *target->build_id ? get_debuginfod (context) : NULL;
  g_autoptr (GError) local = NULL;

  if (!debuginfod)
    return TRUE;
  *path = find (debuginfod, target->build_id, context->progress, &local);
  if (!g_error_matches (local, FLAM_ERROR, FLAM_ERROR_CANCELLED))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

/* Without a build ID, it cannot be proved that the file at that path is the
 * recorded one; but a file that was written later certainly is not. */
static void
check_age (const FlamSymbolContext *context,
           const FlamSymbolTarget *target,
           const char *path)
{
  struct stat status;

  if (*target->build_id || context->known_unix_ns <= 0 ||
      context->warnings == NULL || strcmp (path, target->path) != 0 ||
      stat (path, &status) != 0 ||
      flam_symbol_context_written (&status) <= context->known_unix_ns)
    return;
  g_ptr_array_add (
      context->warnings,
      g_strdup_printf (N_ ("%s changed after the recording, and the capture "
                           "has no build ID for it: its names may be wrong"),
                       path));
}

/* For a stripped program, in the directories that the user has chosen. */
static char *
find_debug (FlamSymbolContext *context, const char *path)
{
  g_autoptr (FlamElf) elf =
      context->binaries != NULL ? flam_elf_open (path, NULL) : NULL;

  if (!elf || flam_elf_has_section (elf, ".debug_info"))
    return NULL;
  return flam_binaries_find_debug (get_binaries (context),
                                   flam_elf_get_build_id (elf));
}

static FlamSymbolModule *
open_found (FlamSymbolContext *context,
            const FlamSymbolTarget *target,
            GError **error)
{
  g_autofree char *why = NULL;
  g_autofree char *path = flam_binaries_find (
      get_binaries (context), target->path, target->build_id, &why);
  g_autofree char *debug_path = NULL;
  g_autoptr (FlamSymbolModule) module = NULL;

  if (!path &&
      !download (
          context, target, flam_debuginfod_find_executable, &path, error))
    return NULL;
  if (!path)
    return flam_error_null (error, FLAM_ERROR_SYSTEM, "%s", why);
  debug_path = find_debug (context, path);
  module = open_module (context, target, path, debug_path, error);
  g_clear_pointer (&debug_path, g_free);
  if (module)
    check_age (context, target, path);
  if (!module || context->detail != FLAM_SYMBOL_DETAIL_FULL ||
      !context->debuginfod ||
      flam_symbol_module_get_state (module) == FLAM_SYMBOLS_DWARF)
    return g_steal_pointer (&module);
  if (!download (
          context, target, flam_debuginfod_find_debuginfo, &debug_path, error))
    return NULL;
  return debug_path ? open_module (context, target, path, debug_path, error)
                    : g_steal_pointer (&module);
}

static gpointer
file_open (FlamSymbolContext *context,
           const FlamSymbolTarget *target,
           GError **error)
{
  FlamSymbolModule *module;

  if (target->gone)
    return flam_error_null (error, FLAM_ERROR_SYSTEM, "%s", target->gone);
  module = target->files ? open_given (context, target, error)
                         : open_found (context, target, error);
  return module ? file_new (module, target) : NULL;
}

const FlamSymbolSource flam_symbols_file = {
  .name = "file",
  .matches = file_matches,
  .open = file_open,
  .look_up = file_look_up,
  .get_state = file_get_state,
  .close = file_close,
};
