/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-symbol-module.h"

#include "flam-demangle.h"
#include "flam-dwarf-index.h"
#include "flam-function-ranges.h"
#include "flam-python.h"
#include "flam-source-path.h"

#include <string.h>

/* A linker name and the readable name for it. */
typedef struct
{
  const char *shown;
  const char *system;
  guint flags;
} Names;

struct _FlamSymbolModule
{
  FlamElf *elf;
  FlamElf *debug; /* separate debug file, or NULL */
  FlamSymbolDetail detail;
  char **debug_directories;
  char *debug_path;
  FlamSymbolTable *table;
  FlamDwarfIndex *dwarf;
  gboolean loaded;
  char *name;                /* for functions without names */
  FlamFunctionRanges ranges; /* read when such a function is first met */
  gboolean ranges_read;
  gboolean python;   /* it contains the interpreter */
  gboolean haskell;  /* GHC's */
  gboolean recorder; /* it is the library that records allocations */
  GStringChunk *strings;
  GHashTable *names; /* raw name's address -> Names */
  GHashTable *files; /* raw path's address -> normalized path */
  GArray *dwarf_frames;
  GArray *frames;
};

/* GHC's compiler or linker leaves a mark. */
static gboolean
is_haskell (const FlamElf *elf)
{
  const char *soname = flam_elf_get_soname (elf);
  FlamElfSection section;

  return (soname != NULL && g_str_has_prefix (soname, "libHS")) ||
         flam_elf_get_section (elf, ".debug-ghc-link-info", &section);
}

static FlamSymbolModule *
module_new (FlamElf *elf, const FlamSymbolModuleOptions *options)
{
  FlamSymbolModule *module = g_new0 (FlamSymbolModule, 1);

  module->elf = elf;
  module->python = flam_python_is_in (elf);
  module->recorder =
      g_strcmp0 (flam_elf_get_soname (elf), FLAM_RECORDER_LIBRARY) == 0;
  if (options)
    {
      module->detail = options->detail;
      module->debug_path = g_strdup (options->debug_path);
      module->debug_directories =
          g_strdupv ((char **)options->debug_directories);
    }
  module->name = g_path_get_basename (
      options && options->name ? options->name : flam_elf_get_path (elf));
  module->strings = g_string_chunk_new (4096);
  module->names = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  module->files = g_hash_table_new (NULL, NULL);
  module->dwarf_frames = g_array_new (FALSE, FALSE, sizeof (FlamDwarfFrame));
  module->frames = g_array_new (FALSE, FALSE, sizeof (FlamSymbolFrame));
  module->haskell = is_haskell (elf);
  return module;
}

FlamSymbolModule *
flam_symbol_module_open (const char *path,
                         const FlamSymbolModuleOptions *options,
                         GError **error)
{
  g_autoptr (FlamElf) elf = flam_elf_open (path, error);
  const char *wanted = options && options->build_id ? options->build_id : "";

  if (!elf)
    return NULL;
  if (*wanted && strcmp (wanted, flam_elf_get_build_id (elf)) != 0)
    return flam_error_null (
        error,
        FLAM_ERROR_INVALID,
        N_ ("%s: build ID differs: recorded %s, this file has %s"),
        path,
        wanted,
        *flam_elf_get_build_id (elf) ? flam_elf_get_build_id (elf) : "none");
  return module_new (g_steal_pointer (&elf), options);
}

FlamSymbolModule *
flam_symbol_module_new_from_data (const char *name,
                                  const void *data,
                                  gsize size)
{
  FlamElf *elf = flam_elf_new_from_data (name, data, size, NULL);
  return elf ? module_new (elf, NULL) : NULL;
}

void
flam_symbol_module_free (FlamSymbolModule *module)
{
  if (!module)
    return;
  flam_dwarf_index_free (module->dwarf);
  flam_symbol_table_free (module->table);
  flam_elf_free (module->debug);
  flam_elf_free (module->elf);
  g_strfreev (module->debug_directories);
  g_free (module->debug_path);
  g_free (module->name);
  flam_function_ranges_clear (&module->ranges);
  g_hash_table_destroy (module->names);
  g_hash_table_destroy (module->files);
  g_string_chunk_free (module->strings);
  g_array_free (module->dwarf_frames, TRUE);
  g_array_free (module->frames, TRUE);
  g_free (module);
}

const FlamElf *
flam_symbol_module_get_elf (const FlamSymbolModule *module)
{
  return module->elf;
}

static FlamElf *
find_debug (FlamSymbolModule *module)
{
  const char *build_id = flam_elf_get_build_id (module->elf);
  g_autoptr (FlamElf) given =
      module->debug_path ? flam_elf_open (module->debug_path, NULL) : NULL;

  if (given && *build_id &&
      strcmp (flam_elf_get_build_id (given), build_id) == 0)
    return g_steal_pointer (&given);
  return flam_debug_file_find (
      module->elf, (const char *const *)module->debug_directories, NULL);
}

static gboolean
wants_dwarf (const FlamSymbolModule *module)
{
  switch (module->detail)
    {
    case FLAM_SYMBOL_DETAIL_SYMTAB:
      return FALSE;
    case FLAM_SYMBOL_DETAIL_LASTING:
      return !module->debug || !flam_debug_file_is_installed (module->debug);
    default:
      return TRUE;
    }
}

static void
load (FlamSymbolModule *module)
{
  const char *const *directories =
      (const char *const *)module->debug_directories;

  if (module->loaded)
    return;
  module->loaded = TRUE;
  if (!flam_elf_has_section (module->elf, ".symtab") ||
      !flam_elf_has_section (module->elf, ".debug_info"))
    module->debug = find_debug (module);
  module->table = flam_symbol_table_new (module->elf, module->debug);
  if (!wants_dwarf (module))
    return;
  if (module->debug)
    module->dwarf =
        flam_dwarf_index_new (module->debug, module->elf, directories);
  if (!module->dwarf)
    module->dwarf =
        flam_dwarf_index_new (module->elf, module->elf, directories);
  if (module->dwarf && flam_dwarf_index_count (module->dwarf, NULL) == 0)
    g_clear_pointer (&module->dwarf, flam_dwarf_index_free);
}

static FlamSymbolState
table_state (const FlamSymbolModule *module)
{
  return flam_symbol_table_is_stripped (module->table) ? FLAM_SYMBOLS_DYNSYM
                                                       : FLAM_SYMBOLS_SYMTAB;
}

FlamSymbolState
flam_symbol_module_get_state (FlamSymbolModule *module)
{
  guint32 n;

  load (module);
  if (module->dwarf)
    return FLAM_SYMBOLS_DWARF;
  flam_symbol_table_get (module->table, &n);
  return n == 0 ? FLAM_SYMBOLS_NONE : table_state (module);
}

const char *
flam_symbol_module_get_why (FlamSymbolModule *module)
{
  const FlamGoTable *go;

  switch (flam_symbol_module_get_state (module))
    {
    case FLAM_SYMBOLS_DWARF:
      return flam_dwarf_index_count_missing (module->dwarf) > 0
                 ? N_ ("split debug information (.dwo, .dwp) not found: its "
                       "inlined functions are missing")
                 : "";
    case FLAM_SYMBOLS_SYMTAB:
      if (!wants_dwarf (module))
        return "";
      go = flam_symbol_table_get_go (module->table);
      if (go != NULL && flam_go_table_has_inlined (go))
        return "";
      return go != NULL ? N_ ("only Go's own table: inlined functions are "
                              "shown as part of their callers")
                        : N_ ("no debug information: lines and inlined "
                              "functions are missing");
    case FLAM_SYMBOLS_DYNSYM:
      return N_ ("stripped: functions that it does not export are named by "
                 "their addresses");
    default:
      return N_ ("no symbol table");
    }
}

/* A version that the linker appended to the name is not part of the function's
 * name. */
static char *
without_version (const char *name)
{
  const char *at = strchr (name, '@');

  if (!at || at == name || strcmp (at, "@plt") == 0)
    return NULL;
  if (g_str_has_suffix (at, "@plt"))
    return g_strdup_printf ("%.*s@plt", (int)(at - name), name);
  return g_strndup (name, (gsize)(at - name));
}

static char *
shown_name (const FlamSymbolModule *module, const char *name)
{
  g_autofree char *plain = without_version (name);
  const char *base = plain ? plain : name;
  const char *plt = g_str_has_suffix (base, "@plt") ? "@plt" : "";
  g_autofree char *mangled = g_strndup (base, strlen (base) - strlen (plt));
  g_autofree char *demangled =
      module->haskell ? flam_demangle_haskell (mangled) : NULL;

  if (demangled == NULL)
    demangled = flam_demangle (mangled);
  if (demangled)
    return g_strconcat (demangled, plt, NULL);
  return g_strdup (base);
}

/* By the name's address: symbols and DWARF strings do not move, so that each
 * name is demangled only once. */
static const Names *
names_of (FlamSymbolModule *module, const char *raw, gboolean linkage)
{
  Names *names = g_hash_table_lookup (module->names, raw);
  g_autofree char *shown = NULL;

  if (names)
    return names;
  names = g_new0 (Names, 1);
  shown = linkage ? shown_name (module, raw) : g_strdup (raw);
  names->system = raw;
  names->shown = strcmp (shown, raw) == 0
                     ? raw
                     : g_string_chunk_insert_const (module->strings, shown);
  if (module->python)
    names->flags = flam_python_native_flags (names->shown);
  g_hash_table_insert (module->names, (char *)raw, names);
  return names;
}

/* By the path's address too: a relative one belongs to its unit. */
static const char *
file_of (FlamSymbolModule *module, const char *raw, const char *directory)
{
  const char *file = g_hash_table_lookup (module->files, raw);
  g_autofree char *full = NULL;
  g_autofree char *path = NULL;

  if (file)
    return file;
  full = *raw != '/' && directory ? g_build_filename (directory, raw, NULL)
                                  : g_strdup (raw);
  path = flam_source_path_normalize (full);
  file = g_string_chunk_insert_const (module->strings, path);
  g_hash_table_insert (module->files, (char *)raw, (char *)file);
  return file;
}

/* A line may be of another file than the function: an included file, or one
 * named by #line. */
static void
locate_frame (FlamSymbolModule *module,
              const FlamDwarfFrame *dwarf,
              FlamSymbolFrame *frame)
{
  const char *line_file =
      dwarf->line_file
          ? file_of (module, dwarf->line_file, dwarf->line_directory)
          : NULL;

  if (dwarf->file)
    {
      frame->file = file_of (module, dwarf->file, dwarf->directory);
      frame->first_line = dwarf->first_line;
    }
  else if (line_file)
    frame->file = line_file;
  if (line_file)
    {
      frame->line_file = line_file;
      frame->line = dwarf->line;
    }
}

static void
add_frame (FlamSymbolModule *module,
           const Names *names,
           const FlamDwarfFrame *dwarf)
{
  FlamSymbolFrame frame = {
    .name = names->shown,
    .system_name = names->system,
    .file = "",
    .flags = names->flags,
  };

  if (dwarf)
    locate_frame (module, dwarf, &frame);
  g_array_append_val (module->frames, frame);
}

/* Go's own table, outermost first, as if it came from DWARF. */
static gboolean
look_up_go (FlamSymbolModule *module, guint64 vaddr)
{
  const FlamGoTable *go = flam_symbol_table_get_go (module->table);
  FlamGoFrame frames[FLAM_GO_FRAMES_MAX];
  guint n;

  if (go == NULL || module->detail == FLAM_SYMBOL_DETAIL_SYMTAB)
    return FALSE;
  n = flam_go_table_look_up (go, vaddr, frames);
  for (guint i = n; i-- > 0;)
    {
      FlamDwarfFrame frame = {
        .name = frames[i].name,
        .linkage = TRUE,
        .file = frames[i].file,
        .first_line = frames[i].first_line,
        .line_file = frames[i].line_file,
        .line = frames[i].line,
      };

      g_array_append_val (module->dwarf_frames, frame);
    }
  return n > 0;
}

static const Names *
dwarf_names (FlamSymbolModule *module, const FlamDwarfFrame *dwarf)
{
  return dwarf->name ? names_of (module, dwarf->name, dwarf->linkage) : NULL;
}

static guint
unnamed_flags (const FlamSymbolModule *module)
{
  return module->python ? FLAM_FUNCTION_IRRELEVANT : FLAM_FUNCTION_PLAIN;
}

/* The recorder's library is a single function: its parts do not belong to the
 * recorded program. */
static gboolean
look_up_recorder (FlamSymbolModule *module, FlamSymbolChain *chain)
{
  const FlamSymbolFrame frame = {
    .name = FLAM_RECORDER_NAME,
    .system_name = FLAM_RECORDER_NAME,
    .file = "",
  };

  g_array_append_val (module->frames, frame);
  *chain = (FlamSymbolChain){
    .n = 1,
    .frames = (const FlamSymbolFrame *)module->frames->data,
    .state = FLAM_SYMBOLS_SYMTAB,
    .kind = FLAM_KIND_NATIVE,
  };
  return TRUE;
}

gboolean
flam_symbol_module_find_bounds (FlamSymbolModule *module,
                                guint64 vaddr,
                                guint64 *start,
                                guint64 *end)
{
  const FlamSymbol *symbol;

  load (module);
  symbol = flam_symbol_table_find (module->table, vaddr);
  if (symbol != NULL)
    {
      *start = symbol->start;
      *end = symbol->end;
      return TRUE;
    }
  if (!module->ranges_read)
    flam_function_ranges_init (&module->ranges, module->elf);
  module->ranges_read = TRUE;
  return flam_function_ranges_find (&module->ranges, vaddr, start, end);
}

/* Named by its address, which is the same in each recording of this build. */
static void
add_nameless (FlamSymbolModule *module, guint64 vaddr)
{
  FlamSymbolFrame frame = { .file = "", .flags = unnamed_flags (module) };
  g_autofree char *name = NULL;
  guint64 start, end;

  if (!flam_symbol_module_find_bounds (module, vaddr, &start, &end))
    return;
  name = g_strdup_printf ("%s+0x%" G_GINT64_MODIFIER "x", module->name, start);
  frame.name = frame.system_name =
      g_string_chunk_insert_const (module->strings, name);
  g_array_append_val (module->frames, frame);
}

gboolean
flam_symbol_module_lookup (FlamSymbolModule *module,
                           guint64 vaddr,
                           FlamSymbolChain *chain)
{
  const FlamSymbol *symbol;
  const FlamDwarfFrame *dwarf;
  gboolean found, go, named;

  load (module);
  g_array_set_size (module->frames, 0);
  g_array_set_size (module->dwarf_frames, 0);
  if (module->recorder)
    return look_up_recorder (module, chain);
  symbol = flam_symbol_table_find (module->table, vaddr);
  found = module->dwarf &&
          flam_dwarf_index_lookup (module->dwarf, vaddr, module->dwarf_frames);
  go = !found && look_up_go (module, vaddr);
  dwarf = (const FlamDwarfFrame *)module->dwarf_frames->data;
  if (symbol)
    add_frame (module,
               names_of (module, symbol->name, TRUE),
               found || go ? dwarf : NULL);
  else if (found && dwarf->name)
    add_frame (module, dwarf_names (module, dwarf), dwarf);
  for (guint i = 1; module->frames->len > 0 && i < module->dwarf_frames->len;
       i++)
    if (dwarf[i].name)
      add_frame (module, dwarf_names (module, &dwarf[i]), &dwarf[i]);
  named = module->frames->len > 0;
  if (!named)
    add_nameless (module, vaddr);
  *chain = (FlamSymbolChain){
    .n = module->frames->len,
    .frames = (const FlamSymbolFrame *)module->frames->data,
    .state = !named  ? FLAM_SYMBOLS_NONE
             : found ? FLAM_SYMBOLS_DWARF
                     : table_state (module),
    .kind = named ? FLAM_KIND_NATIVE : FLAM_KIND_UNRESOLVED,
    .flags = unnamed_flags (module),
  };
  return chain->n > 0;
}

gboolean
flam_symbol_module_lookup_offset (FlamSymbolModule *module,
                                  guint64 offset,
                                  FlamSymbolChain *chain)
{
  guint64 vaddr;

  if (flam_elf_offset_to_vaddr (module->elf, offset, &vaddr))
    return flam_symbol_module_lookup (module, vaddr, chain);
  *chain = (FlamSymbolChain){ .state = FLAM_SYMBOLS_NONE,
                              .flags = unnamed_flags (module) };
  return FALSE;
}
