/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-ssh-hosts.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_MAX 64
#define BYTES_MAX (1 << 20)
#define HOSTS_MAX 1000

typedef struct
{
  char *folder; /* for relative names */
  GPtrArray *hosts;
  GQueue files; /* to be read */
  guint n_files;
} Reading;

/* FALSE for patterns, and for names that no host can have. */
static gboolean
is_host (const char *name)
{
  for (const char *p = name; *p != '\0'; p++)
    if ((guchar)*p <= ' ' || *p == 0x7f || strchr ("*?!", *p) != NULL)
      return FALSE;
  return *name != '\0' && *name != '-' && g_utf8_validate (name, -1, NULL);
}

static void
add_host (Reading *reading, const char *name)
{
  if (!is_host (name) || reading->hosts->len >= HOSTS_MAX ||
      g_ptr_array_find_with_equal_func (
          reading->hosts, name, g_str_equal, NULL))
    return;
  g_ptr_array_add (reading->hosts, g_strdup (name));
}

static void
add_files (Reading *reading, const char *pattern)
{
  g_autofree char *whole =
      *pattern == '~' || g_path_is_absolute (pattern)
          ? g_strdup (pattern)
          : g_build_filename (reading->folder, pattern, NULL);
  glob_t found;

  if (glob (whole, GLOB_TILDE, NULL, &found) != 0)
    return;
  for (gsize i = 0; i < found.gl_pathc && reading->n_files < FILES_MAX; i++)
    {
      g_queue_push_tail (&reading->files, g_strdup (found.gl_pathv[i]));
      reading->n_files++;
    }
  globfree (&found);
}

/* "Host a b" or "Host=a"; words may be quoted, and a comment may follow. */
static void
read_line (Reading *reading, const char *line)
{
  gboolean of_host, of_include;
  g_auto (GStrv) words = NULL;
  gsize key;

  line += strspn (line, " \t");
  key = strcspn (line, " \t=");
  of_host = key == 4 && g_ascii_strncasecmp (line, "host", key) == 0;
  of_include = key == 7 && g_ascii_strncasecmp (line, "include", key) == 0;
  line += key + strspn (line + key, " \t");
  line += *line == '=';
  if ((!of_host && !of_include) ||
      !g_shell_parse_argv (line, NULL, &words, NULL))
    return;
  for (guint i = 0; words[i] != NULL; i++)
    if (of_host)
      add_host (reading, words[i]);
    else if (*words[i] != '\0')
      add_files (reading, words[i]);
}

static void
read_file (Reading *reading, const char *path)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  struct stat info;

  if (stat (path, &info) != 0 || !S_ISREG (info.st_mode) ||
      info.st_size > BYTES_MAX ||
      !g_file_get_contents (path, &text, NULL, NULL))
    return;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    read_line (reading, g_strchomp (lines[i]));
}

char **
flam_ssh_hosts (const char *path)
{
  g_autofree char *usual =
      g_build_filename (g_get_home_dir (), ".ssh", "config", NULL);
  const char *first = path != NULL ? path : usual;
  g_autofree char *folder = g_path_get_dirname (first);
  Reading reading = { .folder = folder,
                      .hosts = g_ptr_array_new (),
                      .files = G_QUEUE_INIT };
  char *file;

  g_queue_push_tail (&reading.files, g_strdup (first));
  while ((file = g_queue_pop_head (&reading.files)) != NULL)
    {
      read_file (&reading, file);
      g_free (file);
    }
  g_ptr_array_add (reading.hosts, NULL);
  return (char **)g_ptr_array_free (reading.hosts, FALSE);
}
