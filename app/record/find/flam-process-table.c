/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-process-table.h"

#include "flam-core-profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_US (300 * 1000)

static char *
read_proc (int pid, const char *file, gsize *length)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/%s", pid, file);
  char *text = NULL;

  return g_file_get_contents (path, &text, length, NULL) ? text : NULL;
}

/* Numbers of fields of stat, proc(5), counted after the name, which may contain
 * spaces and parentheses. */
enum
{
  STAT_PARENT = 1,
  STAT_SESSION = 3,
  STAT_USER_TIME = 11,
  STAT_SYSTEM_TIME = 12,
  STAT_BEGAN = 19,
  N_STAT,
};

/* All 0 if the process has ended. */
static void
read_stat (int pid, gint64 values[N_STAT])
{
  g_autofree char *text = read_proc (pid, "stat", NULL);
  const char *rest = text != NULL ? strrchr (text, ')') : NULL;
  g_auto (GStrv) fields = NULL;

  memset (values, 0, N_STAT * sizeof *values);
  if (rest == NULL)
    return;
  fields = g_strsplit (g_strchug ((char *)rest + 1), " ", N_STAT + 1);
  for (guint i = 0; i < N_STAT && fields[i] != NULL; i++)
    values[i] = g_ascii_strtoll (fields[i], NULL, 10);
}

/* In clock ticks. */
static gint64
cpu_ticks (int pid)
{
  gint64 values[N_STAT];

  read_stat (pid, values);
  return values[STAT_USER_TIME] + values[STAT_SYSTEM_TIME];
}

static char *
command_of (int pid)
{
  gsize length = 0;
  char *text = read_proc (pid, "cmdline", &length);

  if (text == NULL)
    return g_strdup ("");
  for (gsize i = 0; i + 1 < length; i++)
    if (text[i] == '\0')
      text[i] = ' ';
  return text;
}

static gint64
status_field (const char *status, const char *field)
{
  const char *at = status != NULL ? strstr (status, field) : NULL;

  return at != NULL ? g_ascii_strtoll (at + strlen (field), NULL, 10) : 0;
}

static int
ptrace_scope (void)
{
  g_autofree char *text = NULL;

  if (!g_file_get_contents (
          "/proc/sys/kernel/yama/ptrace_scope", &text, NULL, NULL))
    return 0;
  return atoi (text);
}

/* The name of a user in /etc/passwd. (getpwuid() would load modules of this
 * machine, made for another C library than the one that was carried here.) */
static char *
owner_of (uid_t uid)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (g_file_get_contents ("/etc/passwd", &text, NULL, NULL))
    lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], ":", 4);

      if (g_strv_length (fields) == 4 &&
          g_ascii_strtoull (fields[2], NULL, 10) == uid)
        return g_strdup (fields[0]);
    }
  return g_strdup_printf ("%u", (guint)uid);
}

static char *
obstacle_of (int pid, int scope)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d", pid);
  g_autofree char *status = read_proc (pid, "status", NULL);
  gint64 tracer = status_field (status, "\nTracerPid:");
  struct stat info;

  if (tracer != 0)
    return g_strdup_printf (N_ ("Already traced by process %d"), (int)tracer);
  if (geteuid () == 0 && scope < 3)
    return g_strdup ("");
  if (stat (path, &info) == 0 && info.st_uid != geteuid ())
    {
      g_autofree char *owner = owner_of (info.st_uid);

      return g_strdup_printf (N_ ("Belongs to %s"), owner);
    }
  if (scope == 1)
    return g_strdup (
        N_ ("The system lets only a parent process attach. To allow it, run: "
            "sudo sysctl kernel.yama.ptrace_scope=0"));
  if (scope >= 2)
    return g_strdup_printf (N_ ("The system does not allow attaching "
                                "(kernel.yama.ptrace_scope is %d)"),
                            scope);
  return g_strdup ("");
}

/* Ended, but not yet reaped. A process whose first thread alone has ended is
 * also shown as a zombie, but has other threads. */
static gboolean
has_ended (const char *status)
{
  return status == NULL || (strstr (status, "\nState:\tZ") != NULL &&
                            status_field (status, "\nThreads:") <= 1);
}

static gboolean
read_process (int pid, int scope, FlamProcessLine *line)
{
  g_autofree char *status = read_proc (pid, "status", NULL);
  g_autofree char *comm = read_proc (pid, "comm", NULL);
  gint64 values[N_STAT];

  if (comm == NULL || has_ended (status) ||
      status_field (status, "\nPPid:") == 2 || pid == 2)
    return FALSE;
  read_stat (pid, values);
  *line = (FlamProcessLine){
    .pid = pid,
    .parent = (int)values[STAT_PARENT],
    .session = (int)values[STAT_SESSION],
    .began = values[STAT_BEGAN],
    .cpu = -(double)(values[STAT_USER_TIME] + values[STAT_SYSTEM_TIME]),
    .name = g_strdup (g_strchomp (comm)),
    .command = command_of (pid),
    .obstacle = obstacle_of (pid, scope),
  };
  return TRUE;
}

static GArray *
read_processes (GError **error)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc", 0, error);
  GArray *table;
  int scope = ptrace_scope ();
  const char *name;

  if (dir == NULL)
    return NULL;
  table = g_array_new (FALSE, FALSE, sizeof (FlamProcessLine));
  g_array_set_clear_func (table, (GDestroyNotify)flam_process_line_clear);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      int pid = atoi (name);
      FlamProcessLine line;

      if (pid > 0 && pid != getpid () && read_process (pid, scope, &line))
        g_array_append_val (table, line);
    }
  return table;
}

static void
measure (GArray *table)
{
  double ticks = (double)sysconf (_SC_CLK_TCK) * WINDOW_US / 1e6;

  g_usleep (WINDOW_US);
  for (guint i = 0; i < table->len; i++)
    {
      FlamProcessLine *line = &g_array_index (table, FlamProcessLine, i);

      line->cpu = MAX (0, ((double)cpu_ticks (line->pid) + line->cpu) / ticks);
    }
}

static char *
table_text (const GArray *table)
{
  GString *text = g_string_new (FLAM_PROCESS_TITLES "\n");

  for (guint i = 0; i < table->len; i++)
    {
      g_autofree char *line = flam_process_line_to_text (
          &g_array_index (table, FlamProcessLine, i));

      g_string_append_printf (text, "%s\n", line);
    }
  return g_string_free (text, FALSE);
}

/* FALSE: nobody reads it. */
static gboolean
write_text (const char *text)
{
  gsize size = strlen (text);

  while (size > 0)
    {
      ssize_t n = write (STDOUT_FILENO, text, size);

      if (n > 0)
        {
          text += n;
          size -= (gsize)n;
        }
      else if (n == 0 || errno != EINTR)
        return FALSE;
    }
  return TRUE;
}

gboolean
flam_process_table_print (double every, GError **error)
{
  for (;;)
    {
      g_autoptr (GArray) table = read_processes (error);
      g_autofree char *text = NULL;

      if (table == NULL)
        return FALSE;
      measure (table);
      text = table_text (table);
      if (!write_text (text) || every == 0 || !write_text ("\n"))
        return TRUE;
      g_usleep ((gulong)(MAX (every * 1e6 - WINDOW_US, 0)));
    }
}
