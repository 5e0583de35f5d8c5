/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-transport.h"

#include <string.h>

#define WORDS_MAX 10

/* In the words, %s is the name, which is a word of its own or the end of one.
 */
static const struct
{
  const char *prefix;
  const char *words[WORDS_MAX];
  gboolean in_name;   /* the prefix is a part of the name */
  gboolean by_shell;  /* the script passes a login shell */
  gboolean prompts;   /* on the terminal, for a password */
  gboolean by_system; /* the script's $ would be expanded by systemd */
} transports[] = {
  { "podman:", { "podman", "exec", "-i", "%s" } },
  { "docker:", { "docker", "exec", "-i", "%s" } },
  { "machine:",
    { "systemd-run",
      "--machine=%s",
      "--pipe",
      "--wait",
      "--quiet",
      "--collect",
      "--" },
    .by_system = TRUE },
  { "adb:", { "adb", "-s", "%s", "shell", "-T" }, .by_shell = TRUE },
  { "pod/", { "kubectl", "exec", "--stdin", "%s", "--" }, .in_name = TRUE },
  /* A lost connection is noticed within a minute. */
  { "",
    { "ssh",
      "-T",
      "-o",
      "ServerAliveInterval=15",
      "-o",
      "ServerAliveCountMax=3",
      "--",
      "%s" },
    .by_shell = TRUE,
    .prompts = TRUE },
};

static guint
find (const char *host)
{
  guint i = 0;

  while (!g_str_has_prefix (host, transports[i].prefix))
    i++;
  return i;
}

/* A name that begins with - would be an option of the client. */
gboolean
flam_transport_check (const char *host, GError **error)
{
  const char *name = host + strlen (transports[find (host)].prefix);

  if (*name != '\0' && *name != '-' && strpbrk (host, " \t\r\n") == NULL &&
      g_utf8_validate (host, -1, NULL))
    return TRUE;
  return flam_error_set (
      error,
      FLAM_ERROR_INVALID,
      N_ ("--host “%s”: expected an SSH host, podman:NAME, docker:NAME, "
          "machine:NAME, pod/NAME or adb:SERIAL"),
      host);
}

static char *
replace (const char *text, const char *from, const char *to)
{
  g_auto (GStrv) parts = g_strsplit (text, from, -1);

  return g_strjoinv (to, parts);
}

char **
flam_transport_command (const char *host, const char *script)
{
  guint which = find (host);
  const char *name = transports[which].in_name
                         ? host
                         : host + strlen (transports[which].prefix);
  GPtrArray *command = g_ptr_array_new ();

  for (const char *const *word = transports[which].words; *word != NULL; word++)
    g_ptr_array_add (command, replace (*word, "%s", name));
  if (transports[which].by_shell)
    g_ptr_array_add (command, g_strdup_printf ("exec /bin/sh -c '%s'", script));
  else
    {
      g_ptr_array_add (command, g_strdup ("/bin/sh"));
      g_ptr_array_add (command, g_strdup ("-c"));
      g_ptr_array_add (command,
                       transports[which].by_system ? replace (script, "$", "$$")
                                                   : g_strdup (script));
    }
  g_ptr_array_add (command, NULL);
  return (char **)g_ptr_array_free (command, FALSE);
}

gboolean
flam_transport_prompts (const char *host)
{
  return transports[find (host)].prompts;
}
