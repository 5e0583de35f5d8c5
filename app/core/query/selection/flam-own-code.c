/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-own-code.h"

#include <string.h>

static gboolean
has_prefix_of (const char *text, const char *const *prefixes)
{
  for (guint i = 0; prefixes[i] != NULL; i++)
    if (g_str_has_prefix (text, prefixes[i]))
      return TRUE;
  return FALSE;
}

/* Interpreters and virtual machines, wherever they are installed. */
static gboolean
is_runtime (const char *module)
{
  static const char *const names[] = {
    "libpython", "python", "libruby",  "ruby",     "libperl",    "perl",
    "libjvm",    "java",   "libnode",  "node",     "libphp",     "php",
    "liblua",    "lua",    "beam.smp", "libjulia", "libcoreclr", NULL
  };

  return has_prefix_of (module, names);
}

/* --- what a capture shows ------------------------------------------------- */

struct _FlamOwnCode
{
  GPtrArray *systems; /* char: root folders of other systems, without "/" */
  GPtrArray *own;     /* char: programs and folders that are the user's although
                       * they are where packages are installed */
};

static void
add_once (GPtrArray *list, char *text)
{
  if (*text == '\0' ||
      g_ptr_array_find_with_equal_func (list, text, g_str_equal, NULL))
    g_free (text);
  else
    g_ptr_array_add (list, text);
}

static gboolean
is_below (const char *path, const char *folder)
{
  gsize n = strlen (folder);

  return strncmp (path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static gboolean
is_below_any (const GPtrArray *folders, const char *path)
{
  for (guint i = 0; i < folders->len; i++)
    if (is_below (path, folders->pdata[i]))
      return TRUE;
  return FALSE;
}

/* The loader and the C library, which are not the user's, wherever they are. */
static gboolean
is_c_library (const char *module)
{
  static const char *const names[] = { "ld-linux",  "ld-musl", "libc.so.",
                                       "libc.musl", "libc-2.", NULL };

  return has_prefix_of (module, names);
}

/* Removes the last part if it begins with `prefix`. */
static gboolean
take_part (char *path, const char *prefix)
{
  char *slash = strrchr (path, '/');

  if (slash == NULL || !g_str_has_prefix (slash + 1, prefix))
    return FALSE;
  *slash = '\0';
  return TRUE;
}

/* The root folder of a container or a chroot is what precedes the path of its C
 * library: /srv/root[/usr]/lib[/x86_64-linux-gnu]/libc.so.6. */
static void
find_systems (FlamOwnCode *code, const FlamProfile *profile)
{
  const FlamModules *modules = &profile->modules;

  for (FlamId i = 0; i < modules->n; i++)
    if (is_c_library (flam_profile_string (profile, modules->name[i])))
      {
        g_autofree char *folder = g_path_get_dirname (
            flam_profile_string (profile, modules->path[i]));
        char *last = strrchr (folder, '/');

        if (last != NULL && strstr (last, "-linux-") != NULL)
          *last = '\0';
        if (!take_part (folder, "lib"))
          continue;
        take_part (folder, "usr");
        add_once (code->systems, g_steal_pointer (&folder));
      }
}

/* A program that was started from where packages are installed, or any of its
 * arguments there, shows that this one was not merely installed: of /opt the
 * product's folder counts, of /usr/local the program. */
static void
add_word (FlamOwnCode *code, const char *word, gboolean is_program)
{
  const char *name = strrchr (word, '/');

  if (name == NULL || is_runtime (name + 1))
    return;
  if (is_program && g_str_has_prefix (word, "/usr/local/"))
    add_once (code->own, g_strdup (word));
  if (g_str_has_prefix (word, "/opt/"))
    add_once (
        code->own,
        g_strndup (word,
                   strlen ("/opt/") + strcspn (word + strlen ("/opt/"), "/")));
}

/* Attached programs' commands are separated by "; ". */
static void
find_own (FlamOwnCode *code, const FlamProfile *profile)
{
  const FlamWorkingFolders *folders = &profile->working_folders;
  const char *folder =
      folders->n > 0 ? flam_profile_string (profile, folders->path[0]) : "/";
  g_auto (GStrv) words = g_strsplit_set (profile->facts.command, " '\"", -1);
  gboolean is_program = TRUE;

  for (guint i = 0; words[i] != NULL; i++)
    {
      gsize n = strcspn (words[i], ";");
      g_autofree char *word = g_strndup (words[i], n);
      g_autofree char *path = NULL;

      if (*words[i] == '\0')
        continue;
      if (is_program && *word != '/' && strchr (word, '/') != NULL)
        path = g_canonicalize_filename (word, folder);
      add_word (code, path != NULL ? path : word, is_program);
      is_program = words[i][n] == ';';
    }
  for (FlamId i = 0; i < folders->n; i++)
    {
      g_autofree char *inside = g_strconcat (
          flam_profile_string (profile, folders->path[i]), "/", NULL);

      add_word (code, inside, FALSE);
    }
}

FlamOwnCode *
flam_own_code_new (const FlamProfile *profile)
{
  FlamOwnCode *code = g_new0 (FlamOwnCode, 1);

  code->systems = g_ptr_array_new_with_free_func (g_free);
  code->own = g_ptr_array_new_with_free_func (g_free);
  find_systems (code, profile);
  find_own (code, profile);
  return code;
}

void
flam_own_code_free (FlamOwnCode *code)
{
  if (code == NULL)
    return;
  g_ptr_array_unref (code->systems);
  g_ptr_array_unref (code->own);
  g_free (code);
}

/* --- paths and names ------------------------------------------------------ */

/* Julia records its own files as "int.jl" or "./compiler/typeinfer.jl", and all
 * others with their whole path. */
static gboolean
is_of_julia (const char *file)
{
  return g_str_has_suffix (file, ".jl") && *file != '/' &&
         strchr (file, ':') == NULL;
}

gboolean
flam_own_code_has_path (const FlamOwnCode *code, const char *recorded)
{
  static const char *const roots[] = { "/usr/", "/lib/",       "/lib64/",
                                       "/opt/", "/rustc/",     "/nix/store/",
                                       "./",    "/gnu/store/", "../",
                                       "<",     "node:",       NULL };
  static const char *const folders[] = {
    "/site-packages/", "/dist-packages/", "/node_modules/",
    "/.cargo/",        "/.rustup/",       "/pkg/mod/",
    "/lib/python",     "/share/julia/",   "/.julia/",
  };

  if (has_prefix_of (recorded, roots) &&
      !g_str_has_prefix (recorded, "/usr/src/") &&
      !is_below_any (code->own, recorded))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    if (strstr (recorded, folders[i]) != NULL)
      return FALSE;
  return *recorded != '\0' && !is_of_julia (recorded);
}

gboolean
flam_own_code_is_name (const char *name)
{
  static const char *const pseudo[] = { "(root)", "(idle)", "(program)", NULL };

  return *name != '\0' && *name != '[' && !g_str_has_prefix (name, "0x") &&
         !g_strv_contains (pseudo, name);
}

/* Languages' own packages and name spaces; some are recorded with the name of a
 * file without its folder. */
static gboolean
has_library_name (const char *name)
{
  static const char *const prefixes[] = {
    "java.",           "javax.",      "jdk.",     "sun.",       "com.sun.",
    "java/",           "javax/",      "jdk/",     "sun/",       "com/sun/",
    "kotlin.",         "scala.",      "System.",  "Microsoft.", "erlang:",
    "gen_server:",     "proc_lib:",   "lists:",   "ets:",       "maps:",
    "std::",           "__gnu_cxx::", "core::",   "alloc::",    "<alloc::",
    "<core::",         "<std::",      "runtime.", "__libc_",    "operator new",
    "operator delete", NULL
  };

  return has_prefix_of (name, prefixes);
}

gboolean
flam_own_code_is_start (const char *name)
{
  static const char *const names[] = {
    "_start", "start_thread", "clone", "clone3", NULL
  };

  return g_strv_contains (names, name) || g_str_has_prefix (name, "__libc_");
}

static gboolean
is_library_function (const char *name)
{
  static const char *const names[] = { "malloc", "calloc",  "realloc", "free",
                                       "memcpy", "memmove", "memset",  NULL };

  return flam_own_code_is_start (name) || g_strv_contains (names, name);
}

/* A program that is installed may be the user's own if its source is. */
static gboolean
has_own_module (const FlamOwnCode *code,
                const FlamProfile *profile,
                FlamId module,
                gboolean has_file)
{
  static const char *const libraries[] = { "/usr/lib",    "/lib/",
                                           "/lib32/",     "/lib64/",
                                           "/nix/store/", "/gnu/store/",
                                           "[",           NULL };
  static const char *const installed[] = {
    "/usr/", "/opt/", "/bin/", "/sbin/", NULL
  };
  const char *path, *name;

  if (module == FLAM_NONE)
    return TRUE;
  path = flam_profile_string (profile, profile->modules.path[module]);
  name = flam_profile_string (profile, profile->modules.name[module]);
  for (guint i = 0; i < code->systems->len; i++)
    if (is_below (path, code->systems->pdata[i]))
      {
        path += strlen (code->systems->pdata[i]);
        break;
      }
  return !has_prefix_of (path, libraries) && !is_runtime (name) &&
         (has_file ||
          (!is_c_library (name) && (!has_prefix_of (path, installed) ||
                                    is_below_any (code->own, path))));
}

/* Where interpreted functions have files, one without is built in. */
static gboolean
has_script_files (const FlamProfile *profile)
{
  const FlamFunctions *functions = &profile->functions;

  for (FlamId i = 0; i < functions->n; i++)
    if (functions->kind[i] == FLAM_KIND_INTERPRETED && functions->file[i] != 0)
      return TRUE;
  return FALSE;
}

/* "./work.lua" of a script, where a library's "./malloc/malloc.c" is not the
 * user's. */
static const char *
without_dots (const char *file)
{
  while (g_str_has_prefix (file, "./") || g_str_has_prefix (file, "../"))
    file += file[1] == '/' ? 2 : 3;
  return file;
}

static gboolean
is_own (const FlamOwnCode *code,
        const FlamProfile *profile,
        FlamId function,
        gboolean scripts)
{
  const FlamFunctions *functions = &profile->functions;
  const char *name = flam_profile_function_name (profile, function);
  const char *file = flam_profile_string (profile, functions->file[function]);
  FlamFunctionKind kind = functions->kind[function];

  if (kind != FLAM_KIND_NATIVE && kind != FLAM_KIND_JIT &&
      kind != FLAM_KIND_INTERPRETED)
    return FALSE;
  if (functions->flags[function] &
      (FLAM_FUNCTION_IRRELEVANT | FLAM_FUNCTION_IMPORT))
    return FALSE;
  if (!flam_own_code_is_name (name) || has_library_name (name))
    return FALSE;
  if (kind == FLAM_KIND_NATIVE &&
      !has_own_module (
          code, profile, functions->module[function], *file != '\0'))
    return FALSE;
  if (kind == FLAM_KIND_INTERPRETED && scripts && *file == '\0')
    return FALSE;
  if (kind != FLAM_KIND_NATIVE)
    file = without_dots (file);
  return *file != '\0' ? flam_own_code_has_path (code, file)
                       : !is_library_function (name);
}

guint8 *
flam_own_code_functions (const FlamProfile *profile)
{
  guint8 *own = g_new0 (guint8, profile->functions.n + 1);
  gboolean scripts = has_script_files (profile);
  g_autoptr (FlamOwnCode) code = flam_own_code_new (profile);

  for (FlamId i = 0; i < profile->functions.n; i++)
    own[i] = is_own (code, profile, i, scripts);
  return own;
}
