/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-editor.h"

static void
test_command (void)
{
  static const struct
  {
    const char *wanted, *visual, *editor;
    const char *command; /* NULL: the desktop chooses */
  } cases[] = {
    { "", NULL, NULL, NULL },
    { "", "vim", "nano", NULL },
    { "", NULL, "gedit", "gedit|+7|/a b/c.c" },
    { "", "vi", "kate", "kate|--line|7|/a b/c.c" },
    { "", "/opt/x y/bin/code", "gedit", "gedit|+7|/a b/c.c" },
    { "",
      "'/opt/x y/code' --wait",
      "gedit",
      "/opt/x y/code|--goto|/a b/c.c:7" },
    { "foot -e vim +%l %f", "gedit", NULL, "foot|-e|vim|+7|/a b/c.c" },
    { "mine", "gedit", NULL, "mine|/a b/c.c" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) command = flam_editor_command (cases[i].wanted,
                                                    cases[i].visual,
                                                    cases[i].editor,
                                                    "/a b/c.c",
                                                    7,
                                                    &error);
      g_autofree char *text =
          command != NULL ? g_strjoinv ("|", command) : NULL;

      g_assert_no_error (error);
      g_assert_cmpstr (text, ==, cases[i].command);
    }
}

/* Without a line, the first one is opened: editors have no line 0. */
static void
test_lines (void)
{
  static const struct
  {
    guint line;
    const char *command;
  } rows[] = { { 0, "gedit|+1|/c" },
               { 1, "gedit|+1|/c" },
               { 2, "gedit|+2|/c" },
               { G_MAXUINT, "gedit|+4294967295|/c" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (GStrv) command =
          flam_editor_command ("", "gedit", NULL, "/c", rows[i].line, NULL);
      g_autofree char *text = g_strjoinv ("|", command);

      g_assert_cmpstr (text, ==, rows[i].command);
    }
}

static void
test_refused (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (flam_editor_command ("mine \"", NULL, NULL, "/c", 1, &error));
  g_assert_nonnull (error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/editor/command", test_command);
  g_test_add_func ("/editor/lines", test_lines);
  g_test_add_func ("/editor/refused", test_refused);
  return g_test_run ();
}
