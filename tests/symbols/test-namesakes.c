/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What tells functions of one name apart. The names with parameters are
 * c++filt's, without its return types. */

#include "flam-namesakes.h"

static const struct
{
  const char *name;
  const char *linked; /* "": it has no other name */
  const char *whole;  /* NULL: the name is enough */
  const char *file, *module;
} functions[] = {
  { "area", "_Z4areai", "area(int)" },
  { "area", "_Z4aread", "area(double)" },
  { "area", "", NULL }, /* a C function, or an importer's text */
  { "turn", "_Z4turnv", NULL },
  { "shape::grow<int>", "_ZN5shape4growIiEEvT_", "shape::grow<int>(int)" },
  { "shape::grow<int>",
    "_ZN5shape4growIiEEvT_S1_",
    "shape::grow<int>(int, int)" },
  /* Complete and base object constructors. */
  { "Box::Box", "_ZN3BoxC1Ei", NULL },
  { "Box::Box", "_ZN3BoxC2Ei", NULL },
  { "cut", "_Z3cutv", "cut()" },
  { "cut", "_Z3cutv.part.0", "cut() [clone .part.0]" },
  { "main", "", NULL },
  /* Static functions. */
  { "init", "", "init (lexer.c)", "/home/me/lexer.c", "/bin/cc" },
  { "init", "", "init (parser.c)", "/home/me/parser.c", "/bin/cc" },
  { "init", "", "init (as)", "", "/bin/as" },
  { "init", "", NULL, "", NULL },
  /* Of one file in two libraries. */
  { "hash", "", "hash (liba.so)", "/home/me/hash.h", "/lib/liba.so" },
  { "hash", "", "hash (libb.so)", "/home/me/hash.h", "/lib/libb.so" },
  /* The files have the same name. */
  { "open", "", "open (a/io.c)", "/home/me/a/io.c", "/bin/cc" },
  { "open", "", "open (b/io.c)", "/home/me/b/io.c", "/bin/cc" },
  { "open", "", "open (tape.c)", "tape.c", "/bin/cc" },
  /* Overloads in anonymous namespaces. */
  { "run", "_Z3runi", "run(int) (lexer.c)", "lexer.c", NULL },
  { "run", "_Z3runi", "run(int) (parser.c)", "parser.c", NULL },
  { "run", "_Z3rund", "run(double)", "parser.c", NULL },
  { "[unknown]", "", NULL, "", "/lib/liba.so" },
  { "[unknown]", "", NULL, "", "/lib/libb.so" },
};

static FlamModuleId
module_of (FlamBuilder *builder, const char *path)
{
  return path != NULL
             ? flam_builder_module (builder, path, "", FLAM_ADDRESS_VADDR)
             : FLAM_NONE;
}

static void
test_names (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamNamesakes) namesakes = NULL;
  FlamId ids[G_N_ELEMENTS (functions)];

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      const FlamFunction function = {
        .name = flam_builder_string (builder, functions[i].name, -1),
        .system_name = flam_builder_string (builder, functions[i].linked, -1),
        .file = flam_builder_string (
            builder, functions[i].file != NULL ? functions[i].file : "", -1),
        .module = module_of (builder, functions[i].module),
        .line = i,
      };

      ids[i] = flam_builder_function (builder, &function);
    }
  profile = flam_builder_finish (builder, NULL);
  namesakes = flam_namesakes_new (profile);
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    g_assert_cmpstr (
        flam_namesakes_get (namesakes, ids[i]), ==, functions[i].whole);
  g_assert_null (flam_namesakes_get (namesakes, FLAM_NONE));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/namesakes/names", test_names);
  return g_test_run ();
}
