/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-process-list.h"

#include <glib/gi18n.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_US (300 * 1000)
#define STEP_US (20 * 1000)

G_DEFINE_FINAL_TYPE (FlamProcess, flam_process, G_TYPE_OBJECT)

static void
flam_process_finalize (GObject *object)
{
  FlamProcess *self = FLAM_PROCESS (object);

  g_free (self->name);
  g_free (self->command);
  g_free (self->reason);
  G_OBJECT_CLASS (flam_process_parent_class)->finalize (object);
}

static void
flam_process_class_init (FlamProcessClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_process_finalize;
}

static void
flam_process_init (FlamProcess *self)
{
}

static char *
read_proc (int pid, const char *file, gsize *length)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/%s", pid, file);
  char *text = NULL;

  return g_file_get_contents (path, &text, length, NULL) ? text : NULL;
}

/* utime + stime in clock ticks: fields 14 and 15 of stat, proc(5). Fields are
 * counted after the name, which may contain spaces and parentheses. */
static gint64
cpu_ticks (int pid)
{
  g_autofree char *stat = read_proc (pid, "stat", NULL);
  const char *rest = stat != NULL ? strrchr (stat, ')') : NULL;
  g_auto (GStrv) fields = NULL;

  if (rest == NULL)
    return 0;
  fields = g_strsplit (g_strchug ((char *)rest + 1), " ", 15);
  if (g_strv_length (fields) < 14)
    return 0;
  return g_ascii_strtoll (fields[11], NULL, 10) +
         g_ascii_strtoll (fields[12], NULL, 10);
}

static char *
command_of (int pid)
{
  gsize length = 0;
  char *text = read_proc (pid, "cmdline", &length);
  char *valid;

  if (text == NULL)
    return g_strdup ("");
  for (gsize i = 0; i + 1 < length; i++)
    if (text[i] == '\0')
      text[i] = ' ';
  valid = g_utf8_make_valid (text, -1);
  g_free (text);
  return valid;
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

static char *
why_not (int pid, int scope)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d", pid);
  g_autofree char *status = read_proc (pid, "status", NULL);
  gint64 tracer = status_field (status, "\nTracerPid:");
  struct stat info;

  if (tracer != 0)
    return g_strdup_printf (_ ("Already traced by process %d"), (int)tracer);
  if (geteuid () == 0 && scope < 3)
    return NULL;
  if (stat (path, &info) == 0 && info.st_uid != geteuid ())
    {
      struct passwd *owner = getpwuid (info.st_uid);
      return g_strdup_printf (_ ("Belongs to %s"),
                              owner != NULL ? owner->pw_name
                                            : _ ("somebody else"));
    }
  if (scope == 1)
    return g_strdup (
        _ ("The system lets only a parent process attach. To allow it, run: "
           "sudo sysctl kernel.yama.ptrace_scope=0"));
  if (scope >= 2)
    return g_strdup_printf (_ ("The system does not allow attaching "
                               "(kernel.yama.ptrace_scope is %d)"),
                            scope);
  return NULL;
}

static FlamProcess *
process_new (int pid, int scope)
{
  g_autofree char *status = read_proc (pid, "status", NULL);
  g_autofree char *comm = read_proc (pid, "comm", NULL);
  FlamProcess *self;

  if (comm == NULL || status_field (status, "\nPPid:") == 2 || pid == 2)
    return NULL;
  self = g_object_new (FLAM_TYPE_PROCESS, NULL);
  self->pid = pid;
  self->name = g_utf8_make_valid (g_strchomp (comm), -1);
  self->command = command_of (pid);
  self->reason = why_not (pid, scope);
  self->cpu = -(double)cpu_ticks (pid);
  return self;
}

static int
busiest_first (gconstpointer a, gconstpointer b)
{
  const FlamProcess *x = *(FlamProcess *const *)a;
  const FlamProcess *y = *(FlamProcess *const *)b;

  if ((x->reason == NULL) != (y->reason == NULL))
    return x->reason == NULL ? -1 : 1;
  if (x->cpu != y->cpu)
    return x->cpu < y->cpu ? 1 : -1;
  return y->pid - x->pid;
}

gpointer
flam_process_list_work (gpointer unused,
                        const FlamProgress *progress,
                        GError **error)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GDir) dir = g_dir_open ("/proc", 0, error);
  double ticks = (double)sysconf (_SC_CLK_TCK) * WINDOW_US / 1e6;
  int scope = ptrace_scope ();
  const char *name;

  if (dir == NULL)
    return NULL;
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      int pid = atoi (name);
      FlamProcess *process =
          pid > 0 && pid != getpid () ? process_new (pid, scope) : NULL;
      if (process != NULL)
        g_ptr_array_add (list, process);
    }
  for (int waited = 0; waited < WINDOW_US; waited += STEP_US)
    {
      if (!flam_progress_step (progress, (double)waited / WINDOW_US, error))
        return NULL;
      g_usleep (STEP_US);
    }
  for (guint i = 0; i < list->len; i++)
    {
      FlamProcess *process = list->pdata[i];
      process->cpu =
          MAX (0, ((double)cpu_ticks (process->pid) + process->cpu) / ticks);
    }
  g_ptr_array_sort (list, busiest_first);
  return g_steal_pointer (&list);
}
