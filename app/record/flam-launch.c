/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-launch.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flam-unwind-rows.h"

extern char **environ;

#define SHELL "/bin/sh"
#define STATUS_MAX 16384

/* --- the program --------------------------------------------------------- */

static gboolean
is_foreign (const char *path)
{
  guint8 head[20] = { 0 };
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n;

  if (fd < 0)
    return FALSE;
  n = read (fd, head, sizeof head);
  close (fd);
  return n == sizeof head && memcmp (head, ELFMAG, SELFMAG) == 0 &&
         (head[EI_CLASS] != ELFCLASS64 ||
          (head[18] | head[19] << 8) != FLAM_UNWIND_ELF_MACHINE);
}

/* The file that a relative path refers to in the program's folder. */
static char *
in_directory (const FlamLaunch *launch, const char *path)
{
  return launch->directory != NULL && !g_path_is_absolute (path)
             ? g_build_filename (launch->directory, path, NULL)
             : g_strdup (path);
}

static char *
search_path (const FlamLaunch *launch)
{
  const char *name = launch->argv[0];
  const char *path = g_getenv ("PATH");
  g_auto (GStrv) parts = NULL;
  char *seen = NULL;

  for (guint i = 0; launch->environment && launch->environment[i]; i++)
    if (g_str_has_prefix (launch->environment[i], "PATH="))
      path = launch->environment[i] + 5;
  parts = g_strsplit (path != NULL ? path : "/usr/bin:/bin", ":", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    {
      g_autofree char *joined =
          g_build_filename (*parts[i] ? parts[i] : ".", name, NULL);
      g_autofree char *file = in_directory (launch, joined);
      if (!g_file_test (file, G_FILE_TEST_IS_REGULAR))
        continue;
      if (access (file, X_OK) == 0)
        {
          g_free (seen);
          return g_steal_pointer (&joined);
        }
      if (seen == NULL)
        seen = g_steal_pointer (&joined);
    }
  return seen;
}

char *
flam_launch_find (const FlamLaunch *launch, GError **error)
{
  const char *name = launch->argv[0];
  g_autofree char *path =
      strchr (name, '/') != NULL ? g_strdup (name) : search_path (launch);
  g_autofree char *file = path != NULL ? in_directory (launch, path) : NULL;
  const char *why = NULL;

  if (launch->directory != NULL &&
      !g_file_test (launch->directory, G_FILE_TEST_IS_DIR))
    return flam_error_null (error,
                            FLAM_ERROR_SYSTEM,
                            N_ ("%s: no such folder to start in"),
                            launch->directory);
  if (file == NULL || !g_file_test (file, G_FILE_TEST_EXISTS))
    why = N_ ("no such program");
  else if (g_file_test (file, G_FILE_TEST_IS_DIR))
    why = N_ ("is a folder, not a program");
  else if (access (file, X_OK) != 0)
    why = N_ ("is not executable (permission denied)");
  else if (is_foreign (file))
    why = N_ ("is not a 64-bit program for this processor; only those can be "
              "recorded");
  if (why != NULL)
    return flam_error_null (error, FLAM_ERROR_UNSUPPORTED, "%s: %s", name, why);
  return g_steal_pointer (&path);
}

static GStrv
merged_environment (const FlamLaunch *launch)
{
  GStrv result = g_strdupv (environ);

  for (guint i = 0; launch->environment && launch->environment[i]; i++)
    {
      g_auto (GStrv) pair = g_strsplit (launch->environment[i], "=", 2);
      if (pair[0] != NULL && pair[1] != NULL)
        result = g_environ_setenv (result, pair[0], pair[1], TRUE);
      else if (pair[0] != NULL)
        result = g_environ_unsetenv (result, pair[0]);
    }
  return result;
}

/* A script without an interpreter line is run by the shell, as in execvp() and
 * the shells; a file that is not text is not executable. */
static gboolean
is_text (const FlamLaunch *launch, const char *path)
{
  g_autofree char *file = in_directory (launch, path);
  char head[256];
  int fd = open (file, O_RDONLY | O_CLOEXEC);
  ssize_t n;

  if (fd < 0)
    return FALSE;
  n = read (fd, head, sizeof head);
  close (fd);
  return n >= 0 && memchr (head, '\0', (gsize)n) == NULL;
}

/* The array, g_free; the words are not copied. */
static const char **
shell_words (const FlamLaunch *launch, const char *path)
{
  GPtrArray *words = g_ptr_array_new ();

  g_ptr_array_add (words, (gpointer)SHELL);
  g_ptr_array_add (words, (gpointer)path);
  for (guint i = 1; launch->argv[i] != NULL; i++)
    g_ptr_array_add (words, (gpointer)launch->argv[i]);
  g_ptr_array_add (words, NULL);
  return (const char **)g_ptr_array_free (words, FALSE);
}

/* Runs between fork and exec: allocates no memory. `shell`: NULL, or the
 * command that is run if the kernel cannot run the program. */
static G_GNUC_NORETURN void
child_main (const FlamLaunch *launch,
            const char *path,
            const char **shell,
            char **environment,
            int go,
            int report)
{
  char byte;
  int saved;
  sigset_t none;

  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
  while (read (go, &byte, 1) < 0 && errno == EINTR)
    ;
  if (launch->directory != NULL && chdir (launch->directory) != 0)
    goto failed;
  execve (path, (char *const *)launch->argv, environment);
  if (errno == ENOEXEC && shell != NULL)
    execve (SHELL, (char *const *)shell, environment);
failed:
  saved = errno;
  if (write (report, &saved, sizeof saved) < 0)
    _exit (126);
  _exit (127);
}

static const char *
exec_problem (int code)
{
  switch (code)
    {
    case ENOEXEC:
      return N_ ("is neither a program nor a script");
    case ENOENT:
      return N_ ("needs an interpreter that does not exist");
    default:
      return g_strerror (code);
    }
}

/* A message with a remedy. */
static const char *
problem_text (int code)
{
  switch (code)
    {
    case EMFILE:
      return N_ ("too many open files: raise the limit (ulimit -n)");
    case ENFILE:
      return N_ ("too many open files on this machine: end other programs, or "
                 "raise /proc/sys/fs/file-max");
    case EAGAIN:
      return N_ ("too many processes: raise the limit (ulimit -u), or end "
                 "other programs");
    case EPERM:
      return N_ ("the system does not permit tracing (a sandbox or container "
                 "without the ptrace system call): record outside of it");
    default:
      return g_strerror (code);
    }
}

static gboolean
seize (pid_t tid, unsigned long options)
{
  return ptrace (PTRACE_SEIZE, tid, NULL, (void *)options) == 0;
}

/* Releases the child and waits until its exec stop is due, or for its error.
 * With SEIZE the exec stop closes `report` first. */
static gboolean
let_go (pid_t pid, int go, int report, const char *name, GError **error)
{
  int code = 0;
  ssize_t n;

  if (write (go, "", 1) != 1)
    code = errno;
  close (go);
  do
    n = read (report, &code, sizeof code);
  while (n < 0 && errno == EINTR);
  close (report);
  if (n != sizeof code)
    return TRUE;
  while (waitpid (pid, NULL, __WALL) < 0 && errno == EINTR)
    ;
  return flam_error_set (
      error, FLAM_ERROR_SYSTEM, "%s: %s", name, exec_problem (code));
}

gboolean
flam_launch_trace (pid_t pid, gpointer options, GError **error)
{
  return seize (pid, *(const unsigned long *)options) ||
         flam_error_set (error,
                         FLAM_ERROR_SYSTEM,
                         N_ ("cannot be started under ptrace: %s"),
                         problem_text (errno));
}

pid_t
flam_launch_start (const FlamLaunch *launch,
                   const char *path,
                   FlamLaunchPrepare prepare,
                   gpointer data,
                   GError **error)
{
  g_auto (GStrv) environment = merged_environment (launch);
  g_autofree const char **shell =
      is_text (launch, path) ? shell_words (launch, path) : NULL;
  int go[2], report[2];
  pid_t pid;

  if (pipe2 (go, O_CLOEXEC) != 0 || pipe2 (report, O_CLOEXEC) != 0)
    goto failed;
  pid = fork ();
  if (pid < 0)
    goto failed;
  if (pid == 0)
    child_main (launch, path, shell, environment, go[0], report[1]);
  close (go[0]);
  close (report[1]);
  if (!prepare (pid, data, error))
    {
      kill (pid, SIGKILL);
      waitpid (pid, NULL, 0);
      close (go[1]);
      close (report[0]);
      g_prefix_error (error, "%s: ", launch->argv[0]);
      return -1;
    }
  return let_go (pid, go[1], report[0], launch->argv[0], error) ? pid : -1;

failed:
  flam_error_set (error,
                  FLAM_ERROR_SYSTEM,
                  N_ ("%s: cannot be started: %s"),
                  launch->argv[0],
                  problem_text (errno));
  return -1;
}

/* --- attaching ----------------------------------------------------------- */

/* Two or three times as fast as g_file_get_contents(), which matters for
 * thousands of short processes. */
static char *
proc_status_text (pid_t pid)
{
  char path[40], text[STATUS_MAX];
  ssize_t n;
  int fd;

  g_snprintf (path, sizeof path, "/proc/%d/status", (int)pid);
  fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return NULL;
  n = read (fd, text, sizeof text - 1);
  close (fd);
  return n > 0 ? g_strndup (text, (gsize)n) : NULL;
}

static const char *
status_value (const char *text, const char *name)
{
  gsize length = strlen (name);

  for (const char *line = text; line != NULL; line = strchr (line, '\n'))
    {
      line += *line == '\n';
      if (strncmp (line, name, length) == 0 && line[length] == ':')
        return line + length + 1 + strspn (line + length + 1, "\t ");
      if (*line == '\0')
        break;
    }
  return NULL;
}

gint64
flam_proc_status (pid_t pid, const char *name)
{
  g_autofree char *text = proc_status_text (pid);
  const char *value = text != NULL ? status_value (text, name) : NULL;

  return value != NULL ? g_ascii_strtoll (value, NULL, 10) : -1;
}

gboolean
flam_proc_family (pid_t tid, pid_t *pid, pid_t *parent, char comm[16])
{
  g_autofree char *text = proc_status_text (tid);
  const char *name = text != NULL ? status_value (text, "Name") : NULL;
  const char *group = text != NULL ? status_value (text, "Tgid") : NULL;
  const char *above = text != NULL ? status_value (text, "PPid") : NULL;

  if (group == NULL || above == NULL)
    return FALSE;
  *pid = (pid_t)g_ascii_strtoll (group, NULL, 10);
  *parent = (pid_t)g_ascii_strtoll (above, NULL, 10);
  /* Here, some characters are escaped. */
  if (comm != NULL && name != NULL && strcspn (name, "\n\\") < 16 &&
      name[strcspn (name, "\n\\")] == '\n')
    g_strlcpy (comm, name, strcspn (name, "\n") + 1);
  return TRUE;
}

static gboolean
yama_restricts (void)
{
  g_autofree char *text = NULL;

  return g_file_get_contents (
             "/proc/sys/kernel/yama/ptrace_scope", &text, NULL, NULL) &&
         text[0] != '0';
}

char *
flam_attach_obstacle (pid_t pid)
{
  g_autofree char *text = proc_status_text (pid);
  const char *value;
  gint64 number;

  if (text == NULL)
    return g_strdup (N_ ("no such process"));
  value = status_value (text, "Tgid");
  number = value != NULL ? g_ascii_strtoll (value, NULL, 10) : pid;
  if (number != pid)
    return g_strdup_printf (N_ ("is a thread; its process is %d"), (int)number);
  value = status_value (text, "State");
  if (value != NULL && (*value == 'Z' || *value == 'X'))
    return g_strdup (N_ ("has already ended (a zombie)"));
  value = status_value (text, "TracerPid");
  number = value != NULL ? g_ascii_strtoll (value, NULL, 10) : 0;
  if (number > 0)
    return g_strdup_printf (
        N_ ("is already traced by process %d (a debugger or another recorder): "
            "end that one first"),
        (int)number);
  if (status_value (text, "VmSize") == NULL)
    return g_strdup (N_ ("is a kernel thread"));
  if (geteuid () == 0)
    return NULL;
  value = status_value (text, "Uid");
  if (value != NULL && g_ascii_strtoll (value, NULL, 10) != (gint64)getuid ())
    return g_strdup (N_ ("belongs to another user: record it as that user or "
                         "as root"));
  if (yama_restricts ())
    return g_strdup (
        N_ ("the system lets a process trace only its children (Yama: "
            "/proc/sys/kernel/yama/ptrace_scope is not 0): launch it from "
            "here, or record it as root"));
  return NULL;
}

static gboolean
contains (const GArray *tids, pid_t tid)
{
  for (guint i = 0; i < tids->len; i++)
    if (g_array_index (tids, pid_t, i) == tid)
      return TRUE;
  return FALSE;
}

/* One pass over the threads; returns how many new ones were seized. */
static guint
seize_threads (pid_t pid, unsigned long options, GArray *tids, int *problem)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/task", pid);
  GDir *dir = g_dir_open (path, 0, NULL);
  const char *name;
  guint n = 0;

  if (dir == NULL)
    return 0;
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      pid_t tid = (pid_t)g_ascii_strtoll (name, NULL, 10);
      if (contains (tids, tid))
        continue;
      if (seize (tid, options))
        {
          g_array_append_val (tids, tid);
          n++;
        }
      else if (tid == pid)
        *problem = errno;
    }
  g_dir_close (dir);
  return n;
}

GArray *
flam_attach (pid_t pid, unsigned long options, GError **error)
{
  g_autoptr (GArray) tids = g_array_new (FALSE, FALSE, sizeof (pid_t));
  g_autofree char *obstacle = flam_attach_obstacle (pid);
  int problem = 0;

  if (obstacle == NULL)
    while (seize_threads (pid, options, tids, &problem) > 0)
      ;
  if (tids->len > 0)
    return g_steal_pointer (&tids);
  if (obstacle == NULL)
    obstacle = g_strdup (problem == EPERM
                             ? N_ ("the system does not allow it to be traced, "
                                   "because it has other privileges, forbids "
                                   "it, or is in a sandbox: record it as root, "
                                   "outside of containers")
                             : problem_text (problem != 0 ? problem : ESRCH));
  return flam_error_null (
      error, FLAM_ERROR_SYSTEM, "process %d: %s", (int)pid, obstacle);
}
