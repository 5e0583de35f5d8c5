/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Parameters where names collide; the names with them are c++filt's,
 * without its return types. */

#include "flam-namesakes.h"

static const struct
{
  const char *name;
  const char *linked; /* "": it has no other name */
  const char *whole;  /* NULL: no parameters are needed */
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
};

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
        .module = FLAM_NONE,
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
