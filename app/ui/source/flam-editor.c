/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-editor.h"

#include <string.h>

/* Editors that open a window, and their option for the line. Terminal editors
 * are missing: there is no terminal to run them in. */
static const struct
{
  const char *program;
  const char *arguments;
} editors[] = {
  { "clion", "--line %l %f" },
  { "code", "--goto %f:%l" },
  { "codium", "--goto %f:%l" },
  { "emacs", "+%l %f" },
  { "emacsclient", "-n +%l %f" },
  { "geany", "+%l %f" },
  { "gedit", "+%l %f" },
  { "gnome-builder", "%f" },
  { "gnome-text-editor", "%f" },
  { "gvim", "+%l %f" },
  { "idea", "--line %l %f" },
  { "kate", "--line %l %f" },
  { "kwrite", "--line %l %f" },
  { "mousepad", "--line=%l %f" },
  { "pluma", "+%l %f" },
  { "qtcreator", "-client %f:%l" },
  { "subl", "%f:%l" },
  { "xed", "+%l %f" },
  { "zed", "%f:%l" },
};

static char *
fill_in (const char *word, const char *path, guint line)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (const char *at = word; *at != '\0'; at++)
    if (at[0] == '%' && at[1] == 'f')
      {
        g_string_append (text, path);
        at++;
      }
    else if (at[0] == '%' && at[1] == 'l')
      {
        g_string_append_printf (text, "%u", line);
        at++;
      }
    else
      g_string_append_c (text, *at);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char **
command_of (const char *words, const char *path, guint line, GError **error)
{
  g_autoptr (GStrvBuilder) command = g_strv_builder_new ();
  g_auto (GStrv) parts = NULL;
  gboolean has_file = strstr (words, "%f") != NULL;

  if (!g_shell_parse_argv (words, NULL, &parts, error))
    return NULL;
  for (guint i = 0; parts[i] != NULL; i++)
    {
      g_autofree char *word = fill_in (parts[i], path, line);

      g_strv_builder_add (command, word);
    }
  if (!has_file)
    g_strv_builder_add (command, path);
  return g_strv_builder_end (command);
}

/* The command in a variable, "code --wait", with the line in its place. */
static char **
command_of_variable (const char *value, const char *path, guint line)
{
  g_auto (GStrv) words = NULL;
  g_autofree char *base = NULL;

  if (value == NULL || !g_shell_parse_argv (value, NULL, &words, NULL))
    return NULL;
  base = g_path_get_basename (words[0]);
  for (guint i = 0; i < G_N_ELEMENTS (editors); i++)
    if (strcmp (base, editors[i].program) == 0)
      {
        g_autofree char *program = g_shell_quote (words[0]);
        g_autofree char *command =
            g_strconcat (program, " ", editors[i].arguments, NULL);

        return command_of (command, path, line, NULL);
      }
  return NULL;
}

char **
flam_editor_command (const char *wanted,
                     const char *visual,
                     const char *editor,
                     const char *path,
                     guint line,
                     GError **error)
{
  char **command;

  line = MAX (line, 1);
  if (*wanted != '\0')
    return command_of (wanted, path, line, error);
  command = command_of_variable (visual, path, line);
  return command != NULL ? command : command_of_variable (editor, path, line);
}
