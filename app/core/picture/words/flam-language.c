/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-language.h"

#include <string.h>

static const char *const names[FLAM_N_LANGUAGES] = {
  [FLAM_LANGUAGE_UNKNOWN] = "",
  [FLAM_LANGUAGE_C] = "C",
  [FLAM_LANGUAGE_CPP] = "C++",
  [FLAM_LANGUAGE_RUST] = "Rust",
  [FLAM_LANGUAGE_GO] = "Go",
  [FLAM_LANGUAGE_PYTHON] = "Python",
  [FLAM_LANGUAGE_JAVASCRIPT] = "JavaScript",
  [FLAM_LANGUAGE_JAVA] = "Java",
  [FLAM_LANGUAGE_KOTLIN] = "Kotlin",
  [FLAM_LANGUAGE_SCALA] = "Scala",
  [FLAM_LANGUAGE_DOTNET] = ".NET",
  [FLAM_LANGUAGE_JULIA] = "Julia",
  [FLAM_LANGUAGE_RUBY] = "Ruby",
  [FLAM_LANGUAGE_PHP] = "PHP",
  [FLAM_LANGUAGE_PERL] = "Perl",
  [FLAM_LANGUAGE_LUA] = "Lua",
  [FLAM_LANGUAGE_SWIFT] = "Swift",
  [FLAM_LANGUAGE_OBJECTIVE_C] = "Objective-C",
  [FLAM_LANGUAGE_D] = "D",
  [FLAM_LANGUAGE_ZIG] = "Zig",
  [FLAM_LANGUAGE_HASKELL] = "Haskell",
  [FLAM_LANGUAGE_OCAML] = "OCaml",
  [FLAM_LANGUAGE_FORTRAN] = "Fortran",
  [FLAM_LANGUAGE_ADA] = "Ada",
  [FLAM_LANGUAGE_ASSEMBLER] = "Assembler",
};

/* Suffixes as compilers treat them; .C is C++ and .S assembler, so case
 * counts. */
static const struct
{
  const char *endings;
  FlamLanguage language;
} by_ending[] = {
  { " c h ", FLAM_LANGUAGE_C },
  { " cc cpp cxx c++ C hh hpp hxx h++ ipp ixx tcc inl cu cuh ",
    FLAM_LANGUAGE_CPP },
  { " rs ", FLAM_LANGUAGE_RUST },
  { " go ", FLAM_LANGUAGE_GO },
  { " py pyx pyi pyw ", FLAM_LANGUAGE_PYTHON },
  { " js mjs cjs jsx ts mts cts tsx ", FLAM_LANGUAGE_JAVASCRIPT },
  { " java ", FLAM_LANGUAGE_JAVA },
  { " kt kts ", FLAM_LANGUAGE_KOTLIN },
  { " scala sc ", FLAM_LANGUAGE_SCALA },
  { " cs fs vb ", FLAM_LANGUAGE_DOTNET },
  { " jl ", FLAM_LANGUAGE_JULIA },
  { " rb ", FLAM_LANGUAGE_RUBY },
  { " php ", FLAM_LANGUAGE_PHP },
  { " pl pm ", FLAM_LANGUAGE_PERL },
  { " lua ", FLAM_LANGUAGE_LUA },
  { " swift ", FLAM_LANGUAGE_SWIFT },
  { " m mm ", FLAM_LANGUAGE_OBJECTIVE_C },
  { " d di ", FLAM_LANGUAGE_D },
  { " zig ", FLAM_LANGUAGE_ZIG },
  { " hs lhs ", FLAM_LANGUAGE_HASKELL },
  { " ml mli ", FLAM_LANGUAGE_OCAML },
  { " f for ftn f77 f90 f95 f03 f08 F F90 ", FLAM_LANGUAGE_FORTRAN },
  { " adb ads ", FLAM_LANGUAGE_ADA },
  { " s S asm ", FLAM_LANGUAGE_ASSEMBLER },
};

#define ENDING_MAX 8

/* Old Rust names are mangled like C++ and end in a hash: "17h" and 16 hex
 * digits. */
static gboolean
is_old_rust (const char *name)
{
  gsize length = strlen (name);
  const char *hash = name + length - 20;

  return length > 23 && g_str_has_suffix (name, "E") &&
         strncmp (hash, "17h", 3) == 0 &&
         strspn (hash + 3, "0123456789abcdef") == 16;
}

static FlamLanguage
language_of_name (const char *name)
{
  if (g_str_has_prefix (name, "_R") && g_ascii_isalnum (name[2]))
    return FLAM_LANGUAGE_RUST;
  if (g_str_has_prefix (name, "_Z"))
    return is_old_rust (name) ? FLAM_LANGUAGE_RUST : FLAM_LANGUAGE_CPP;
  if (g_str_has_prefix (name, "$s") || g_str_has_prefix (name, "_$s"))
    return FLAM_LANGUAGE_SWIFT;
  if (g_str_has_prefix (name, "_D") && g_ascii_isdigit (name[2]))
    return FLAM_LANGUAGE_D;
  if (g_str_has_prefix (name, "-[") || g_str_has_prefix (name, "+["))
    return FLAM_LANGUAGE_OBJECTIVE_C;
  return FLAM_LANGUAGE_UNKNOWN;
}

/* The query that follows the path in the address of a script is ignored. */
static FlamLanguage
language_of_file (const char *file)
{
  gsize length = strcspn (file, "?#");
  const char *dot = g_strrstr_len (file, (gssize)length, ".");
  char word[ENDING_MAX + 3];
  gsize n;

  if (dot == NULL)
    return FLAM_LANGUAGE_UNKNOWN;
  n = (gsize)(file + length - dot) - 1;
  if (n == 0 || n > ENDING_MAX || memchr (dot, ' ', n + 1) != NULL)
    return FLAM_LANGUAGE_UNKNOWN;
  g_snprintf (word, sizeof word, " %.*s ", (int)n, dot + 1);
  for (guint i = 0; i < G_N_ELEMENTS (by_ending); i++)
    if (strstr (by_ending[i].endings, word) != NULL)
      return by_ending[i].language;
  return FLAM_LANGUAGE_UNKNOWN;
}

const char *
flam_language_name (FlamLanguage language)
{
  return names[language];
}

FlamLanguage
flam_language_of_function (const FlamProfile *profile, FlamFunctionId function)
{
  const FlamFunctions *functions = &profile->functions;
  FlamLanguage language = language_of_name (
      flam_profile_string (profile, functions->system_name[function]));

  return language != FLAM_LANGUAGE_UNKNOWN
             ? language
             : language_of_file (
                   flam_profile_string (profile, functions->file[function]));
}
