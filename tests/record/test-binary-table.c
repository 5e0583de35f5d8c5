/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The warnings about runtimes whose frames cannot be read. */

#include "flam-binary-table.h"

static void
test_refuse (void)
{
  static const FlamRuntime runtime = { .id = "x", .label = "Lua" };
  static const struct
  {
    const char *version, *help, *warning;
  } cases[] = {
    { "5.1", NULL, "/l.so: its Lua 5.1 functions cannot be shown: too new" },
    { "", NULL, "/l.so: its Lua functions cannot be shown: too new" },
    { "5.1",
      "ask",
      "/l.so: its Lua 5.1 functions cannot be shown: too new; ask" },
    { "", "ask", "/l.so: its Lua functions cannot be shown: too new; ask" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (FlamBuilder) builder = flam_builder_new ();
      g_autoptr (FlamProfile) profile = NULL;
      FlamRecordOptions options = { 0 };
      FlamRuntimeFile file = { 0 };
      FlamBinaryTable *binaries = flam_binary_table_new (builder, &options);

      g_strlcpy (file.version, cases[i].version, sizeof file.version);
      flam_binary_table_refuse (
          binaries, &runtime, "/l.so", &file, "too new", cases[i].help);
      flam_binary_table_free (binaries);
      profile = flam_builder_finish (builder, NULL);
      g_assert_cmpstr (profile->facts.warnings[0], ==, cases[i].warning);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/binary-table/refuse", test_refuse);
  return g_test_run ();
}
