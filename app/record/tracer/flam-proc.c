/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "flam-launch.h"

#define TEXT_STEP 16384

static gboolean starved;

void
flam_proc_note_error (int error)
{
  if (error == EMFILE || error == ENFILE)
    g_atomic_int_set (&starved, TRUE);
}

gboolean
flam_proc_starved (void)
{
  return g_atomic_int_get (&starved);
}

/* The kernel makes two files less of a process of which only the leader is
 * read, which many processes end too soon to be worth. */
int
flam_proc_open (pid_t pid, pid_t tid, const char *name)
{
  char path[80];
  int fd;

  if (pid == tid)
    g_snprintf (path, sizeof path, "/proc/%d/%s", (int)pid, name);
  else
    g_snprintf (
        path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
  fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    flam_proc_note_error (errno);
  return fd;
}

/* The kernel assigns the lowest free number: descriptors in the lower half are
 * kept, and the upper half is for temporary or single ones. */
int
flam_proc_open_kept (pid_t pid, pid_t tid, const char *name)
{
  static gsize most; /* descriptors, plus 1: getrlimit() once */
  int fd = flam_proc_open (pid, tid, name);

  if (g_once_init_enter (&most))
    {
      struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

      getrlimit (RLIMIT_NOFILE, &limit);
      g_once_init_leave (&most, (gsize)MIN (limit.rlim_cur, G_MAXINT) + 1);
    }
  if (fd >= 0 && (gsize)fd >= (most - 1) / 2)
    {
      close (fd);
      fd = -1;
    }
  return fd;
}

char *
flam_proc_text (pid_t pid, pid_t tid, const char *name)
{
  int fd = flam_proc_open (pid, tid, name);
  gsize size = TEXT_STEP, used = 0;
  char *text;
  ssize_t n;

  if (fd < 0)
    return NULL;
  text = g_malloc (size);
  while ((n = read (fd, text + used, size - used - 1)) > 0)
    {
      used += (gsize)n;
      if (size - used < TEXT_STEP / 2)
        text = g_realloc (text, size *= 2);
    }
  close (fd);
  text[used] = '\0';
  if (used == 0)
    g_clear_pointer (&text, g_free);
  return text;
}

static gboolean
read_once (pid_t pid, pid_t tid, const char *name, char *text, gsize size)
{
  int fd = flam_proc_open (pid, tid, name);
  ssize_t n;

  if (fd < 0)
    return FALSE;
  n = read (fd, text, size - 1);
  close (fd);
  text[MAX (n, 0)] = '\0';
  return n > 0;
}

static guint64
signal_mask (const char *status, const char *name)
{
  const char *at = strstr (status, name);

  return at != NULL ? g_ascii_strtoull (at + strlen (name), NULL, 16) : 0;
}

gboolean
flam_proc_ignores (pid_t pid, int sig)
{
  g_autofree char *status = flam_proc_text (pid, pid, "status");
  guint64 bit = 1ull << (sig - 1);

  if (status == NULL)
    return FALSE;
  if (signal_mask (status, "\nSigIgn:\t") & bit)
    return TRUE;
  return (sig == SIGCHLD || sig == SIGURG || sig == SIGWINCH) &&
         !(signal_mask (status, "\nSigCgt:\t") & bit);
}

gboolean
flam_proc_comm (pid_t pid, pid_t tid, char comm[16])
{
  char text[64];

  if (!read_once (pid, tid, "comm", text, sizeof text))
    return FALSE;
  text[strcspn (text, "\n")] = '\0';
  g_strlcpy (comm, text, 16);
  return comm[0] != '\0';
}

/* VmExe is the program's own code, VmLib that of all other mappings: proc(5).
 * In the kernel they are one number, without and with the first one
 * subtracted. */
guint64
flam_proc_code_size (pid_t pid, pid_t tid)
{
  char text[4096];
  guint64 size = 0;

  if (!read_once (pid, tid, "status", text, sizeof text))
    return 0;
  for (guint i = 0; i < 2; i++)
    {
      const char *line = strstr (text, i == 0 ? "\nVmExe:" : "\nVmLib:");

      if (line != NULL)
        size += g_ascii_strtoull (line + strlen ("\nVmExe:"), NULL, 10);
    }
  return size;
}

/* The text after the colon of the line that begins with `name` (which itself
 * begins with a line break); NULL: no such line. */
static const char *
value_of (const char *text, const char *name)
{
  const char *line = strstr (text, name);
  gsize n = line != NULL ? strcspn (line + 1, ":\n") : 0;

  return n > 0 && line[1 + n] == ':' ? line + n + 2 : NULL;
}

/* Times are in ms with six decimals, that is, in ns. */
static gint64
ns_of (const char *ms)
{
  char *end;
  gint64 ns = g_ascii_strtoll (ms, &end, 10) * 1000000;

  return *end == '.' ? ns + g_ascii_strtoll (end + 1, NULL, 10) : ns;
}

gboolean
flam_proc_parse_switches (const char *text, FlamSwitches *switches)
{
  /* The previous line has the thread's name, which may contain anything. */
  const char *body = strstr (text, "\n----------------");
  const char *moved = body ? value_of (body, "\nse.exec_start ") : NULL;
  const char *cpu = body ? value_of (body, "\nse.sum_exec_runtime ") : NULL;
  const char *left = body ? value_of (body, "\nnr_switches ") : NULL;

  if (moved == NULL || cpu == NULL || left == NULL)
    return FALSE;
  switches->moved_at = ns_of (moved);
  switches->cpu = ns_of (cpu);
  switches->left = g_ascii_strtoull (left, NULL, 10);
  return TRUE;
}

gboolean
flam_proc_lives (pid_t pid)
{
  return flam_proc_status (pid, "VmSize") >= 0;
}

char *
flam_proc_command (pid_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/cmdline", (int)pid);
  g_autofree char *text = NULL;
  char comm[16];
  gsize size = 0;

  if (!g_file_get_contents (path, &text, &size, NULL) || size == 0)
    return flam_proc_comm (pid, pid, comm)
               ? g_strdup (comm)
               : g_strdup_printf ("process %d", (int)pid);
  for (gsize i = 0; i + 1 < size; i++)
    if ((guint8)text[i] < ' ')
      text[i] = ' ';
  return g_utf8_make_valid (text, -1);
}

char *
flam_proc_folder (pid_t pid)
{
  g_autofree char *link = g_strdup_printf ("/proc/%d/cwd", (int)pid);
  g_autofree char *path = g_file_read_link (link, NULL);

  /* The kernel appends " (deleted)" to a folder that was removed, and puts
   * "(unreachable)" before one outside the recorder's root folder. */
  if (path == NULL || *path != '/' || g_str_has_suffix (path, " (deleted)"))
    return NULL;
  return g_steal_pointer (&path);
}

gint64
flam_proc_last (void)
{
  g_autofree char *text = NULL;
  const char *last;

  if (!g_file_get_contents ("/proc/loadavg", &text, NULL, NULL))
    return -1;
  last = strrchr (text, ' ');
  return last != NULL ? g_ascii_strtoll (last + 1, NULL, 10) : -1;
}

GArray *
flam_proc_all (void)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (FlamKin));
  GDir *dir = g_dir_open ("/proc", 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      FlamKin kin = { (pid_t)g_ascii_strtoll (name, NULL, 10), 0 };

      if (kin.pid > 0 && kin.pid != getpid () &&
          flam_proc_family (kin.pid, &kin.pid, &kin.parent, NULL))
        g_array_append_val (all, kin);
    }
  if (dir != NULL)
    g_dir_close (dir);
  return all;
}

GArray *
flam_proc_below (const GArray *pids)
{
  g_autoptr (GArray) all = flam_proc_all ();
  GArray *below = g_array_new (FALSE, FALSE, sizeof (FlamKin));

  for (guint at = 0; at < pids->len + below->len; at++)
    {
      pid_t parent = at < pids->len
                         ? g_array_index (pids, pid_t, at)
                         : g_array_index (below, FlamKin, at - pids->len).pid;

      for (guint i = 0; i < all->len; i++)
        {
          const FlamKin *kin = &g_array_index (all, FlamKin, i);

          if (kin->parent == parent && flam_proc_lives (kin->pid))
            g_array_append_vals (below, kin, 1);
        }
    }
  return below;
}
