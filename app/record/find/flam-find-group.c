/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-find.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flam-proc.h"

#define MOUNT "/sys/fs/cgroup"

/* --- a folder of the control groups -------------------------------------- */

static void
read_folder (const char *path, GArray *pids)
{
  g_autofree char *list = g_build_filename (path, "cgroup.procs", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GDir) dir = NULL;
  const char *name;

  if (g_file_get_contents (list, &text, NULL, NULL))
    lines = g_strsplit (text, "\n", -1);
  /* 0: a process of another pid namespace. */
  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    {
      pid_t pid = (pid_t)g_ascii_strtoll (lines[i], NULL, 10);

      if (pid > 0)
        g_array_append_val (pids, pid);
    }
  dir = g_dir_open (path, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *below = g_build_filename (path, name, NULL);
      struct stat st;

      if (lstat (below, &st) == 0 && S_ISDIR (st.st_mode))
        read_folder (below, pids);
    }
}

/* --- by the groups of each process --------------------------------------- */

typedef gboolean (*Matches) (const char *path, const char *name);

/* Lines of /proc/PID/cgroup are "ID:CONTROLLERS:/PATH", one for each hierarchy.
 * With the first version of control groups, a process may be in different
 * groups of them. */
static gboolean
is_in_group (pid_t pid, Matches matches, const char *name)
{
  g_autofree char *text = flam_proc_text (pid, pid, "cgroup");
  g_auto (GStrv) lines = g_strsplit (text != NULL ? text : "", "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *path = strchr (lines[i], '/');

      if (path != NULL && matches (path, name))
        return TRUE;
    }
  return FALSE;
}

static GArray *
find_in_groups (Matches matches, const char *name)
{
  g_autoptr (GArray) all = flam_proc_all ();
  GArray *pids = g_array_new (FALSE, FALSE, sizeof (pid_t));

  for (guint i = 0; i < all->len; i++)
    {
      pid_t pid = g_array_index (all, FlamKin, i).pid;

      if (is_in_group (pid, matches, name) && flam_proc_lives (pid))
        g_array_append_val (pids, pid);
    }
  return pids;
}

static gboolean
is_at_or_below (const char *path, const char *group)
{
  gsize n = strlen (group);

  return strncmp (path, group, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

GArray *
flam_find_in_cgroup (const char *path)
{
  g_autofree char *group = g_strconcat (*path == '/' ? "" : "/", path, NULL);
  GArray *pids;

  while (g_str_has_suffix (group, "/"))
    group[strlen (group) - 1] = '\0';
  if (!is_at_or_below (group, MOUNT))
    return find_in_groups (is_at_or_below, group);
  pids = g_array_new (FALSE, FALSE, sizeof (pid_t));
  read_folder (group, pids);
  return pids;
}

static gboolean
has_part (const char *path,
          gboolean (*matches) (const char *part, const char *name),
          const char *name)
{
  g_auto (GStrv) parts = g_strsplit (path, "/", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (matches (parts[i], name))
      return TRUE;
  return FALSE;
}

static char *
pid_namespace (pid_t pid)
{
  g_autofree char *link = g_strdup_printf ("/proc/%d/ns/pid", (int)pid);

  return g_file_read_link (link, NULL);
}

/* --- programs that are asked ---------------------------------------------- */

/* What it prints; NULL: it failed. It waits for a service that may not answer.
 * Signals are blocked here, and so they are in the program. */
static char *
output_of (const char *const *program, const char *name)
{
  static const char *const limit[] = { "timeout", "--signal=KILL", "5" };
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autofree char *found = g_find_program_in_path (program[0]);
  g_autofree char *text = NULL;
  int status;

  for (guint i = 0; i < G_N_ELEMENTS (limit); i++)
    g_ptr_array_add (argv, (gpointer)limit[i]);
  for (guint i = 0; program[i] != NULL; i++)
    g_ptr_array_add (argv, (gpointer)program[i]);
  g_ptr_array_add (argv, (gpointer) "--");
  g_ptr_array_add (argv, (gpointer)name);
  g_ptr_array_add (argv, NULL);
  if (found != NULL &&
      g_spawn_sync (NULL,
                    (char **)argv->pdata,
                    NULL,
                    G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
                    NULL,
                    NULL,
                    &text,
                    NULL,
                    &status,
                    NULL) &&
      status == 0)
    return g_steal_pointer (&text);
  return NULL;
}

/* --- units of systemd ----------------------------------------------------- */

static gboolean
is_unit (const char *part, const char *unit)
{
  gsize n = strlen (unit);

  /* "_memory.service": without it, the kernel could take the name for that of a
   * file of its own. */
  part += *part == '_';
  return n > 0 && strncmp (part, unit, n) == 0 &&
         (part[n] == '\0' ||
          (strchr (unit, '.') == NULL && strcmp (part + n, ".service") == 0));
}

static gboolean
is_in_unit (const char *path, const char *unit)
{
  /* The root of all units. */
  return strcmp (unit, "-.slice") == 0 || has_part (path, is_unit, unit);
}

/* A container may have a unit of the same name. Which namespace a process of
 * another user is in cannot be read. */
static void
prefer_ours (GArray *pids)
{
  g_autofree char *ours = pid_namespace (getpid ());
  g_autoptr (GArray) here = g_array_new (FALSE, FALSE, sizeof (pid_t));

  for (guint i = 0; i < pids->len; i++)
    {
      pid_t pid = g_array_index (pids, pid_t, i);
      g_autofree char *its = pid_namespace (pid);

      if (its == NULL || strcmp (its, ours) == 0)
        g_array_append_val (here, pid);
    }
  if (here->len == 0)
    return;
  g_array_set_size (pids, 0);
  g_array_append_vals (pids, here->data, here->len);
}

GArray *
flam_find_in_unit (const char *unit)
{
  /* Other names of a unit, as sshd.service is one of ssh.service in Debian, and
   * patterns. */
  static const char *const clients[][6] = {
    { "systemctl", "show", "--property=ControlGroup", "--value", NULL },
    { "systemctl",
      "--user",
      "show",
      "--property=ControlGroup",
      "--value",
      NULL },
  };
  GArray *pids = find_in_groups (is_in_unit, unit);

  for (guint i = 0; i < G_N_ELEMENTS (clients) && pids->len == 0; i++)
    {
      g_autofree char *text = output_of (clients[i], unit);
      g_auto (GStrv) groups = g_strsplit (text != NULL ? text : "", "\n", -1);

      for (guint j = 0; groups[j] != NULL; j++)
        if (*groups[j] == '/' && groups[j][1] != '\0')
          {
            g_autoptr (GArray) more = flam_find_in_cgroup (groups[j]);

            g_array_append_vals (pids, more->data, more->len);
          }
    }
  prefer_ours (pids);
  return pids;
}

/* --- containers ---------------------------------------------------------- */

/* Long enough to be one of the numbers by which podman and docker name groups,
 * or its beginning, as their lists show it. */
static gboolean
is_number (const char *name)
{
  return strlen (name) >= 12 &&
         strspn (name, "0123456789abcdef") == strlen (name);
}

/* The groups of systemd-nspawn, LXC, podman, docker, containerd and CRI-O;
 * without systemd, docker's is the number alone. */
static gboolean
is_container (const char *part, const char *name)
{
  static const char *const prefixes[] = {
    "machine-",     "systemd-nspawn@", "lxc.payload.",
    "lxc-payload.", "libpod-",         "docker-",
    "crio-",        "cri-containerd-", "",
  };
  g_auto (GStrv) pieces = g_strsplit (part, "\\x2d", -1); /* systemd's "-" */
  g_autofree char *plain = g_strjoinv ("-", pieces);
  gboolean by_number = is_number (name);

  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++)
    {
      const char *rest = plain + strlen (prefixes[i]);

      if (!g_str_has_prefix (plain, prefixes[i]) ||
          (*prefixes[i] == '\0' && !by_number))
        continue;
      if (g_str_has_prefix (rest, name) &&
          (by_number || rest[strlen (name)] == '\0' ||
           strcmp (rest + strlen (name), ".scope") == 0 ||
           strcmp (rest + strlen (name), ".service") == 0))
        return TRUE;
    }
  return FALSE;
}

static gboolean
is_in_container (const char *path, const char *name)
{
  return has_part (path, is_container, name);
}

static pid_t
first_process (const char *const *client, const char *name)
{
  g_autofree char *text = output_of (client, name);
  gint64 pid = text != NULL ? g_ascii_strtoll (text, NULL, 10) : 0;

  return pid > 0 && pid <= G_MAXINT32 ? (pid_t)pid : 0;
}

/* Programs that were started in it later do not descend from its first
 * process. */
static GArray *
with_same_namespace (pid_t first)
{
  g_autofree char *wanted = pid_namespace (first);
  g_autofree char *ours = pid_namespace (getpid ());
  g_autoptr (GArray) all = flam_proc_all ();
  GArray *pids = g_array_new (FALSE, FALSE, sizeof (pid_t));

  g_array_append_val (pids, first);
  for (guint i = 0; i < all->len && wanted != NULL; i++)
    {
      pid_t pid = g_array_index (all, FlamKin, i).pid;
      g_autofree char *its = pid_namespace (pid);

      if (pid != first && strcmp (wanted, ours) != 0 &&
          g_strcmp0 (its, wanted) == 0 && flam_proc_lives (pid))
        g_array_append_val (pids, pid);
    }
  return pids;
}

GArray *
flam_find_in_container (const char *name)
{
  static const char *const clients[][6] = {
    { "podman",
      "inspect",
      "--type=container",
      "--format={{.State.Pid}}",
      NULL },
    { "docker",
      "inspect",
      "--type=container",
      "--format={{.State.Pid}}",
      NULL },
    { "machinectl", "show", "--property=Leader", "--value", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (clients); i++)
    {
      pid_t first = first_process (clients[i], name);

      if (first > 0)
        return with_same_namespace (first);
    }
  return find_in_groups (is_in_container, name);
}
