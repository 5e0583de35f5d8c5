/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-find.h"

#include <string.h>
#include <sys/stat.h>

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

/* A group of the first version is below the mount of one of its
 * controllers. */
static char *
folder_of (const char *path)
{
  g_autofree char *unified = g_build_filename (MOUNT, path, NULL);
  g_autoptr (GDir) dir = NULL;
  const char *name;

  if (g_str_has_prefix (path, MOUNT "/"))
    return g_strdup (path);
  if (g_file_test (unified, G_FILE_TEST_IS_DIR))
    return g_steal_pointer (&unified);
  dir = g_dir_open (MOUNT, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *folder = g_build_filename (MOUNT, name, path, NULL);

      if (g_file_test (folder, G_FILE_TEST_IS_DIR))
        return g_steal_pointer (&folder);
    }
  return NULL;
}

GArray *
flam_find_in_cgroup (const char *path)
{
  g_autofree char *folder = folder_of (path);
  GArray *pids = g_array_new (FALSE, FALSE, sizeof (pid_t));

  if (folder != NULL)
    read_folder (folder, pids);
  return pids;
}

/* --- by the groups of each process --------------------------------------- */

typedef gboolean (*Matches) (const char *part, const char *name);

/* Lines of /proc/PID/cgroup are "ID:CONTROLLERS:/PATH". */
static gboolean
is_in_group (pid_t pid, Matches matches, const char *name)
{
  g_autofree char *text = flam_proc_text (pid, pid, "cgroup");
  g_auto (GStrv) lines = g_strsplit (text != NULL ? text : "", "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *path = strchr (lines[i], '/');
      g_auto (GStrv) parts = g_strsplit (path != NULL ? path : "", "/", -1);

      for (guint j = 0; parts[j] != NULL; j++)
        if (matches (parts[j], name))
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
is_unit (const char *part, const char *unit)
{
  gsize n = strlen (unit);

  return n > 0 && strncmp (part, unit, n) == 0 &&
         (part[n] == '\0' ||
          (strchr (unit, '.') == NULL && strcmp (part + n, ".service") == 0));
}

GArray *
flam_find_in_unit (const char *unit)
{
  return find_in_groups (is_unit, unit);
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

/* A client waits for a service that may not answer. Signals are blocked here,
 * and so they are in the client. */
static pid_t
first_process (const char *const *client, const char *name)
{
  static const char *const limit[] = { "timeout", "--signal=KILL", "5" };
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autofree char *found = g_find_program_in_path (client[0]);
  g_autofree char *text = NULL;
  gint64 pid = 0;
  int status;

  for (guint i = 0; i < G_N_ELEMENTS (limit); i++)
    g_ptr_array_add (argv, (gpointer)limit[i]);
  for (guint i = 0; client[i] != NULL; i++)
    g_ptr_array_add (argv, (gpointer)client[i]);
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
    pid = g_ascii_strtoll (text, NULL, 10);
  return pid > 0 && pid <= G_MAXINT32 ? (pid_t)pid : 0;
}

static char *
pid_namespace (const char *process)
{
  g_autofree char *link = g_strdup_printf ("/proc/%s/ns/pid", process);

  return g_file_read_link (link, NULL);
}

/* Programs that were started in it later do not descend from its first
 * process. */
static GArray *
with_same_namespace (pid_t first)
{
  g_autofree char *number = g_strdup_printf ("%d", (int)first);
  g_autofree char *wanted = pid_namespace (number);
  g_autofree char *ours = pid_namespace ("self");
  g_autoptr (GArray) all = flam_proc_all ();
  GArray *pids = g_array_new (FALSE, FALSE, sizeof (pid_t));

  g_array_append_val (pids, first);
  for (guint i = 0; i < all->len && wanted != NULL; i++)
    {
      pid_t pid = g_array_index (all, FlamKin, i).pid;
      g_autofree char *text = g_strdup_printf ("%d", (int)pid);
      g_autofree char *its = pid_namespace (text);

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
  return find_in_groups (is_container, name);
}
