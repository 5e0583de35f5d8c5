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

gboolean
flam_own_code_has_path (const char *recorded)
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
      !g_str_has_prefix (recorded, "/usr/src/"))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    if (strstr (recorded, folders[i]) != NULL)
      return FALSE;
  return *recorded != '\0';
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

/* A program that is installed may be the user's own if its source is. */
static gboolean
has_own_module (const FlamProfile *profile, FlamId module, gboolean has_file)
{
  static const char *const libraries[] = { "/usr/lib",    "/lib/",
                                           "/lib32/",     "/lib64/",
                                           "/nix/store/", "/gnu/store/",
                                           "[",           NULL };
  static const char *const installed[] = { "/usr/", "/opt/", NULL };
  const char *path;

  if (module == FLAM_NONE)
    return TRUE;
  path = flam_profile_string (profile, profile->modules.path[module]);
  return !has_prefix_of (path, libraries) &&
         !is_runtime (
             flam_profile_string (profile, profile->modules.name[module])) &&
         (has_file || !has_prefix_of (path, installed));
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

static gboolean
is_own (const FlamProfile *profile, FlamId function, gboolean scripts)
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
      !has_own_module (profile, functions->module[function], *file != '\0'))
    return FALSE;
  if (kind == FLAM_KIND_INTERPRETED && scripts && *file == '\0')
    return FALSE;
  return *file != '\0' ? flam_own_code_has_path (file)
                       : !is_library_function (name);
}

guint8 *
flam_own_code_functions (const FlamProfile *profile)
{
  guint8 *own = g_new0 (guint8, profile->functions.n + 1);
  gboolean scripts = has_script_files (profile);

  for (FlamId i = 0; i < profile->functions.n; i++)
    own[i] = is_own (profile, i, scripts);
  return own;
}
