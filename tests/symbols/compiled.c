/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compiled.h"

#include <string.h>

static const char program_source[] =
    "namespace geo {\n"
    "struct Point { int x, y; int norm () const; };\n"
    "static inline __attribute__ ((always_inline)) int\n"
    "square (int v)\n"
    "{ return v * v + (v >> 1); }\n"
    "inline __attribute__ ((always_inline)) int\n"
    "sum (int a, int b)\n"
    "{ int t = square (a);\n"
    "  return t + square (b); }\n"
    "__attribute__ ((noinline)) int\n"
    "Point::norm () const\n"
    "{ int r = sum (x, y);\n"
    "  return r ^ (r >> 3); }\n"
    "}\n"
    "static __attribute__ ((noinline)) int hidden (int v)\n"
    "{ geo::Point p { v, v + 1 };\n"
    "  return p.norm () + 1; }\n"
    "int main (int argc, char **)\n"
    "{ auto shift = [] (int v)\n"
    "  { asm volatile (\"nop\" : \"+r\" (v)); return v << 2; };\n"
    "  return shift (hidden (argc)) & 4; }\n";

/* A second unit, so that one of them is not at the beginning. */
static const char second_source[] =
    "static inline __attribute__ ((always_inline)) long\n"
    "twice (long v)\n"
    "{ return v + (v ^ 1); }\n"
    "struct Sink { long total; void add (long v); };\n"
    "__attribute__ ((noinline)) void\n"
    "Sink::add (long v)\n"
    "{ for (long i = 0; i < v; i++)\n"
    "    { if (__builtin_expect (i == 77, 0)) __builtin_abort ();\n"
    "      total += twice (i); } }\n"
    "long poured (long v)\n"
    "{ Sink sink { v };\n"
    "  sink.add (v);\n"
    "  return twice (sink.total); }\n";

static char *folder;

char *
in_folder (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

gboolean
run (const char *format, ...)
{
  g_autofree char *command = NULL;
  g_auto (GStrv) argv = NULL;
  int status = 0;
  va_list arguments;

  va_start (arguments, format);
  command = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  argv = g_strsplit (command, " ", -1);
  return g_spawn_sync (folder,
                       argv,
                       NULL,
                       G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
                       NULL,
                       NULL,
                       NULL,
                       NULL,
                       &status,
                       NULL) &&
         g_spawn_check_wait_status (status, NULL);
}

char *
describe (const char *path,
          const FlamSymbolModuleOptions *options,
          gboolean names_alone)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamSymbolModule) module =
      flam_symbol_module_open (path, options, &error);
  GString *text = g_string_new (NULL);
  FlamElfSection code;

  g_assert_no_error (error);
  g_assert_true (flam_elf_get_section (
      flam_symbol_module_get_elf (module), ".text", &code));
  for (guint64 at = code.vaddr; at < code.vaddr + code.size; at++)
    {
      FlamSymbolChain chain;

      flam_symbol_module_lookup (module, at, &chain);
      g_string_append_printf (text, "%" G_GINT64_MODIFIER "x", at);
      for (guint i = 0; i < (names_alone ? MIN (chain.n, 1) : chain.n); i++)
        {
          g_autofree char *file = g_path_get_basename (chain.frames[i].file);

          g_string_append_printf (text, " %s", chain.frames[i].name);
          if (!names_alone)
            g_string_append_printf (text, ":%s:%u", file, chain.frames[i].line);
        }
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

void
assert_same (const char *text, const char *wanted)
{
  g_auto (GStrv) have = g_strsplit (text, "\n", -1);
  g_auto (GStrv) want = g_strsplit (wanted, "\n", -1);

  for (guint i = 0; have[i] && want[i]; i++)
    g_assert_cmpstr (have[i], ==, want[i]);
  g_assert_cmpuint (g_strv_length (have), ==, g_strv_length (want));
}

void
compiled_begin (void)
{
  g_autofree char *program = NULL;
  g_autofree char *second = NULL;

  /* A compiler cache does not restore all of split debug information. */
  g_setenv ("CCACHE_DISABLE", "1", TRUE);
  folder = g_dir_make_tmp ("flam-compiled-XXXXXX", NULL);
  program = in_folder ("program.cc");
  second = in_folder ("second.cc");
  g_assert_true (g_file_set_contents (program, program_source, -1, NULL));
  g_assert_true (g_file_set_contents (second, second_source, -1, NULL));
}

void
compiled_end (void)
{
  run ("rm -r %s", folder);
  g_clear_pointer (&folder, g_free);
}
