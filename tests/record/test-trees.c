/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which running processes are recorded: by number, name, control group, and
 * when one appears. */

#include "flam-perf-rings.h"
#include "recording.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flam-debug-files.h"

/* The exit status of the server of targets/prefork.c. */
#define SUM (10 + 11)

/* No other process has it. */
static char *
own_name (const char *suffix)
{
  return g_strdup_printf ("fl%d%s", (int)getpid (), suffix);
}

/* Has its workers already. */
static pid_t
start_server (const char *name)
{
  pid_t pid = target_start ("prefork", name);
  g_autofree char *path =
      g_strdup_printf ("/proc/%d/task/%d/children", (int)pid, (int)pid);

  for (;;)
    {
      g_autofree char *children = NULL;
      g_auto (GStrv) words = NULL;

      g_assert_true (g_file_get_contents (path, &children, NULL, NULL));
      words = g_strsplit (g_strchomp (children), " ", -1);
      if (g_strv_length (words) == 2)
        return pid;
      g_usleep (1000);
    }
}

static void
end_server (pid_t pid)
{
  int status = 0;

  kill (pid, SIGTERM);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, SUM);
}

static guint
count_processes (const Recording *recording, const char *name)
{
  const FlamProfile *profile = recording->profile;
  guint n = 0;

  for (guint32 i = 0; i < profile->processes.n; i++)
    n += strcmp (flam_profile_string (profile, profile->processes.name[i]),
                 name) == 0;
  return n;
}

static void
assert_tree (const Recording *recording, const char *name)
{
  const FlamProcesses *processes = &recording->profile->processes;

  assert_ended (recording, 0);
  g_assert_cmpuint (processes->n, ==, 3);
  g_assert_cmpuint (count_processes (recording, name), ==, 3);
  for (guint32 i = 1; i < 3; i++)
    g_assert_cmpuint (processes->parent[i], ==, 0);
  g_assert_cmpint (
      weight_of (recording->profile, "samples", "serve", FALSE), >, 0);
}

/* Until there are samples, however busy the machine is. */
static Recording *
record_some (const char *const *arguments)
{
  Running *running = recorder_start (arguments);
  guint64 samples = 0;

  while (samples < 5)
    {
      g_autofree char *said = recorder_wait_for_line (running, "status");

      if (said == NULL)
        return recorder_end (running);
      sscanf (said, "status %*u %" G_GUINT64_FORMAT, &samples);
    }
  recorder_say (running, "stop");
  return recorder_end (running);
}

/* One of two servers ends; the other is recorded until the recording stops. */
static void
test_several (void)
{
  g_autofree char *one = own_name ("a");
  g_autofree char *two = own_name ("b");
  pid_t first = start_server (one), second = start_server (two);
  g_autofree char *pids = g_strdup_printf ("%d,%d", (int)first, (int)second);
  const char *arguments[] = { "--children", "--pid", pids, NULL };
  Running *running = recorder_start (arguments);
  g_autoptr (Recording) recording = NULL;

  g_assert_true (recorder_wait_for (running, "target"));
  end_server (first);
  g_usleep (200000);
  recorder_say (running, "stop");
  recording = recorder_end (running);
  end_server (second);
  assert_ended (recording, 0);
  g_assert_cmpuint (recording->profile->processes.n, ==, 6);
  g_assert_cmpuint (count_processes (recording, one), ==, 3);
  g_assert_cmpuint (count_processes (recording, two), ==, 3);
  g_assert_cmpint (recording->profile->facts.duration_ns, >, 200000000);
  g_assert_nonnull (strstr (recording->profile->facts.command, one));
  g_assert_nonnull (strstr (recording->profile->facts.command, two));
  g_assert_null (strstr (recording->said, "exited"));
}

static void
test_all_end (void)
{
  g_autofree char *name = own_name ("");
  pid_t first = start_server (name), second = start_server (name);
  g_autofree char *one = g_strdup_printf ("%d", (int)first);
  g_autofree char *two = g_strdup_printf ("%d", (int)second);
  const char *arguments[] = { "--pid", one, "--pid", two, NULL };
  Running *running = recorder_start (arguments);
  g_autoptr (Recording) recording = NULL;

  g_assert_true (recorder_wait_for (running, "status"));
  end_server (first);
  end_server (second);
  recording = recorder_end (running);
  assert_ended (recording, 0);
  g_assert_cmpuint (count_processes (recording, name), ==, 6);
}

static void
test_name (void)
{
  g_autofree char *name = own_name ("");
  pid_t pid = start_server (name);
  const char *arguments[] = { "--process", name, NULL };
  g_autoptr (Recording) recording = record_some (arguments);

  end_server (pid);
  assert_tree (recording, name);
}

static const char *
first_folder (const FlamProfile *profile)
{
  g_autofree FlamStringId *folders = flam_profile_working_folders (profile);

  return flam_profile_string (profile, folders[0]);
}

/* The folder in which each process works, also after another program was
 * started in another one. */
static void
test_working_folders (void)
{
  const char *spin = "cd /usr && exec sh -c 'i=0; while [ $i -lt 300000 ]; do "
                     "i=$((i+1)); done'";
  const char *launched[] = { "--", "sh", "-c", spin, NULL };
  char *program[] = {
    (char *)"sh", (char *)"-c", (char *)"while :; do :; done", NULL
  };
  GPid pid = 0;
  gboolean started =
      g_spawn_async ("/etc",
                     program,
                     NULL,
                     G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                     NULL,
                     NULL,
                     &pid,
                     NULL);
  g_autofree char *number = g_strdup_printf ("%d", (int)pid);
  const char *attached[] = { "--pid", number, NULL };
  g_autoptr (Recording) one = record (launched);
  g_autoptr (Recording) two = started ? record_some (attached) : NULL;

  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  assert_ended (one, 0);
  g_assert_cmpstr (first_folder (one->profile), ==, "/usr");
  assert_ended (two, 0);
  g_assert_cmpstr (first_folder (two->profile), ==, "/etc");
}

static void
test_ambiguous_name (void)
{
  g_autofree char *name = own_name ("");
  pid_t first = start_server (name), second = start_server (name);
  g_autofree char *one =
      g_strdup_printf ("\n  %7d  prefork %s\n", (int)first, name);
  g_autofree char *two =
      g_strdup_printf ("\n  %7d  prefork %s\n", (int)second, name);
  const char *arguments[] = { "--process", name, NULL };
  g_autoptr (Recording) recording = record (arguments);

  end_server (first);
  end_server (second);
  g_assert_cmpint (recording->status, ==, 1);
  g_assert_null (recording->profile);
  g_assert_nonnull (strstr (recording->error, "2 processes are named fl"));
  g_assert_nonnull (strstr (recording->error, one));
  g_assert_nonnull (strstr (recording->error, two));
}

static void
test_unknown (void)
{
  static const char *const lines[][4] = {
    { "--process", "no-such-name", "no process named “no-such-name”" },
    { "--unit", "no-such-name", "unit no-such-name: it has no running" },
    { "--cgroup", "/no-such-name", "control group /no-such-name: it does" },
    { "--container", "no-such-name", "container no-such-name: neither" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      const char *arguments[] = { lines[i][0], lines[i][1], NULL };
      g_autoptr (Recording) recording = record (arguments);

      g_assert_cmpint (recording->status, ==, 1);
      g_assert_null (recording->profile);
      g_assert_nonnull (strstr (recording->error, lines[i][2]));
    }
}

/* Its output on a terminal. */
static char *
record_on_terminal (pid_t pid, const char *option)
{
  g_autofree char *capture = own_name (".flambeau");
  g_autofree char *command =
      g_strdup_printf ("script -qec '%s --force --duration 0.25 %s --output "
                       "%s/%s --pid %d' /dev/null",
                       g_getenv ("FLAMBEAU_RECORDER"),
                       option,
                       g_get_tmp_dir (),
                       capture,
                       (int)pid);
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), capture, NULL);
  char *text = NULL;
  g_autoptr (GError) error = NULL;

  if (!g_spawn_command_line_sync (command, &text, NULL, NULL, &error))
    g_error ("%s", error->message);
  g_unlink (path);
  return text;
}

static void
test_duration (void)
{
  g_autofree char *tool = g_find_program_in_path ("script");
  g_autofree char *name = own_name ("");
  g_autofree char *all = NULL, *alone = NULL;
  g_autofree char *two = g_strdup_printf ("Recording ended after 0.25 s; %s "
                                          "and 2 other processes are still "
                                          "running.\r\n",
                                          name);
  g_autofree char *one = g_strdup_printf (
      "Recording ended after 0.25 s; %s is still running.\r\n", name);
  pid_t pid;

  if (tool == NULL)
    {
      g_test_skip ("script is not installed");
      return;
    }
  pid = start_server (name);
  all = record_on_terminal (pid, "");
  alone = record_on_terminal (pid, "--no-children");
  end_server (pid);
  g_assert_nonnull (strstr (all, two));
  g_assert_nonnull (strstr (alone, one));
}

/* --- a process that appears ----------------------------------------------- */

static void
test_wait (void)
{
  g_autofree char *name = own_name ("");
  const char *arguments[] = { "--wait-for", name,          "--duration",
                              "0.2",        "--no-follow", NULL };
  Running *running = recorder_start (arguments);
  g_autoptr (Recording) recording = NULL;
  g_autofree char *said = NULL;
  pid_t pid;

  g_assert_true (recorder_wait_for (running, "waiting"));
  pid = target_start ("prefork", name);
  said = recorder_wait_for_line (running, "target");
  g_assert_nonnull (said);
  recording = recorder_end (running);
  end_server (pid);
  assert_ended (recording, 0);
  g_assert_cmpuint (count_processes (recording, name), >, 0);
}

static void
test_wait_ended (void)
{
  static const struct
  {
    int sig;
    int status;
  } cases[] = { { SIGINT, 1 }, { SIGTERM, 128 + SIGTERM }, { 0, 1 } };
  g_autofree char *name = own_name ("none");
  const char *arguments[] = { "--wait-for", name, NULL };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Running *running = recorder_start (arguments);
      g_autoptr (Recording) recording = NULL;

      g_assert_true (recorder_wait_for (running, "waiting"));
      if (cases[i].sig != 0)
        kill (running->pid, cases[i].sig);
      else
        recorder_say (running, "stop");
      recording = recorder_end (running);
      g_assert_cmpint (recording->status, ==, cases[i].status);
      g_assert_nonnull (strstr (recording->error, "nothing was recorded"));
      g_assert_false (g_file_test (recording->path, G_FILE_TEST_EXISTS));
    }
}

/* The program itself has 2 MB; its child keeps 64 MB that it has read. */
static void
test_resident (void)
{
  const char *arguments[] = { "--",
                              "sh",
                              "-c",
                              "head -c 67108864 /dev/zero | "
                              "tail -c 67108864 | (sleep 0.5; wc -c) >&2",
                              NULL };
  g_autoptr (Recording) recording = record (arguments);
  const FlamProfile *profile = recording->profile;
  gint64 most = 0;

  assert_ended (recording, 0);
  for (guint32 i = 0; i < profile->n_counters; i++)
    if (strcmp (flam_profile_string (profile, profile->counters[i].id),
                "rss") == 0)
      for (guint32 k = 0; k < profile->counters[i].n; k++)
        most = MAX (most, profile->counters[i].value[k]);
  g_test_message ("%" G_GINT64_FORMAT " bytes", most);
  g_assert_cmpint (most, >, 64 << 20);
  g_assert_cmpint (most, <, 128 << 20);
}

/* --- control groups ------------------------------------------------------- */

/* A new group of the unified hierarchy; NULL: none can be made here. */
static char *
make_group (const char *name)
{
  static const char *const mounts[] = { "/sys/fs/cgroup/unified",
                                        "/sys/fs/cgroup" };

  for (guint i = 0; i < G_N_ELEMENTS (mounts); i++)
    {
      g_autofree char *probe =
          g_build_filename (mounts[i], "cgroup.procs", NULL);
      g_autofree char *path = g_build_filename (mounts[i], name, NULL);

      if (access (probe, W_OK) == 0 && g_mkdir (path, 0755) == 0)
        return g_steal_pointer (&path);
    }
  return NULL;
}

static gboolean
move (pid_t pid, const char *group)
{
  g_autofree char *path = g_build_filename (group, "cgroup.procs", NULL);
  FILE *file = fopen (path, "w");

  return file != NULL && fprintf (file, "%d\n", (int)pid) > 0 &&
         fclose (file) == 0;
}

static gboolean
enter (const char *group)
{
  return move (getpid (), group);
}

static pid_t
first_child (pid_t pid)
{
  g_autofree char *path =
      g_strdup_printf ("/proc/%d/task/%d/children", (int)pid, (int)pid);
  g_autofree char *children = NULL;

  g_assert_true (g_file_get_contents (path, &children, NULL, NULL));
  return (pid_t)g_ascii_strtoll (children, NULL, 10);
}

static void
record_group (const char *group, const char *option, const char *value)
{
  g_autofree char *name = own_name ("");
  g_autofree char *above = g_path_get_dirname (group);
  const char *arguments[] = { option, value, NULL };
  g_autoptr (Recording) recording = NULL;
  pid_t pid;

  if (!enter (group))
    {
      g_test_skip ("no process may enter a new control group");
      return;
    }
  pid = start_server (name);
  g_assert_true (enter (above));
  recording = record_some (arguments);
  end_server (pid);
  assert_tree (recording, name);
}

static void
leave_group (const char *group)
{
  for (guint tries = 0; g_rmdir (group) != 0 && tries < 1000; tries++)
    g_usleep (1000);
}

static void
test_groups (void)
{
  static const char *const cases[][3] = {
    { "--cgroup", "fl-tree", "/fl-tree" },
    { "--unit", "fl-tree.service", "fl-tree" },
    { "--unit", "fl-tree.scope", "fl-tree.scope" },
    { "--unit", "_cpu.service", "cpu" },
    { "--container", "machine-fl\\x2dtree.scope", "fl-tree" },
    { "--container",
      "docker-0123456789abcdef0123456789abcdef.scope",
      "0123456789ab" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *group = make_group (cases[i][1]);

      if (group == NULL)
        {
          g_test_skip ("no control group can be made here");
          return;
        }
      record_group (group, cases[i][0], cases[i][2]);
      leave_group (group);
    }
}

/* A child process that is in another unit is not recorded with its parent's,
 * but with its parent. */
static void
test_strangers (void)
{
  g_autofree char *name = own_name ("");
  g_autofree char *group = make_group ("fl-tree.service");
  g_autofree char *above = group != NULL ? g_path_get_dirname (group) : NULL;
  g_autofree char *number = NULL;
  const char *cases[][5] = {
    { "--unit", "fl-tree", "--engine", "ptrace" },
    { "--unit", "fl-tree", "--engine", "auto" },
    { "--unit", "fl-tree", "--pid" },
  };
  pid_t pid;

  if (group == NULL || !enter (group))
    {
      g_test_skip ("no process may enter a new control group");
      return;
    }
  pid = start_server (name);
  number = g_strdup_printf ("%d", (int)pid);
  cases[2][3] = number;
  g_assert_true (enter (above));
  g_assert_true (move (first_child (pid), above));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Recording) recording = record_some (cases[i]);

      assert_ended (recording, 0);
      g_assert_cmpuint (count_processes (recording, name), ==, i == 2 ? 3 : 2);
      g_assert_cmpuint (recording->profile->processes.n, ==, i == 2 ? 3 : 2);
    }
  end_server (pid);
  leave_group (group);
}

/* A unit has other names, which systemd resolves. */
static void
test_alias (void)
{
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  g_autofree char *client = g_build_filename (folder, "systemctl", NULL);
  g_autofree char *old = g_strdup (g_getenv ("PATH"));
  g_autofree char *path = g_strconcat (folder, ":", old, NULL);
  g_autofree char *group = make_group ("fl-tree.service");

  if (group == NULL)
    {
      g_test_skip ("no control group can be made here");
      return;
    }
  g_assert_true (g_file_set_contents (
      client,
      "#!/bin/sh\n"
      "test \"$*\" = 'show --property=ControlGroup --value -- elder' &&\n"
      "  echo /fl-tree.service\n",
      -1,
      NULL));
  g_assert_cmpint (g_chmod (client, 0700), ==, 0);
  g_setenv ("PATH", path, TRUE);
  record_group (group, "--unit", "elder");
  g_setenv ("PATH", old, TRUE);
  leave_group (group);
  g_unlink (client);
  g_rmdir (folder);
}

static pid_t
start_in (const char *group)
{
  g_autofree char *above = g_path_get_dirname (group);
  pid_t pid;

  g_assert_true (enter (group));
  pid = target_start ("cases", "spin");
  g_assert_true (enter (above));
  return pid;
}

static void
kill_target (pid_t pid)
{
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
}

static void
check_restart (const char *engine)
{
  const char *arguments[] = {
    "--engine", engine, "--cgroup", "/fl-again", NULL
  };
  g_autofree char *group = make_group ("fl-again");
  g_autoptr (Recording) recording = NULL;
  const FlamProfile *profile;
  Running *running;
  pid_t pid;

  if (group == NULL || !enter (group))
    {
      g_test_skip ("no process may enter a new control group");
      return;
    }
  pid = start_in (group);
  running = recorder_start (arguments);
  g_assert_true (recorder_wait_for (running, "status "));
  kill_target (pid);
  pid = start_in (group);
  for (guint i = 0; i < 10; i++)
    g_assert_true (recorder_wait_for (running, "status "));
  kill_target (pid);
  recording = recorder_end (running);
  leave_group (group);
  assert_ended (recording, 0);
  profile = recording->profile;
  g_assert_cmpuint (profile->processes.n, ==, 2);
  g_assert_cmpint (profile->processes.pid[1], ==, pid);
  for (guint32 i = 0; i < profile->threads.n; i++)
    g_test_message ("%s: %u samples of process %d",
                    engine,
                    profile->threads.n_samples[i],
                    (int)profile->threads.tid[i]);
  g_assert_cmpuint (profile->threads.n, ==, 2);
  g_assert_cmpuint (profile->threads.n_samples[1], >, 1);
}

/* The second process is not a descendant of the first. */
static void
test_restart (void)
{
  check_restart ("ptrace");
  if (flam_perf_obstacle () == NULL)
    check_restart ("perf");
}

/* In the first version, one path names a group of each hierarchy, which may
 * have different processes. */
static void
test_hierarchies (void)
{
  static const char *const mounts[] = { "/sys/fs/cgroup/freezer",
                                        "/sys/fs/cgroup/pids" };
  char *groups[G_N_ELEMENTS (mounts)];

  for (guint i = 0; i < G_N_ELEMENTS (mounts); i++)
    if (access (mounts[i], W_OK) != 0)
      {
        g_test_skip ("the groups of cgroups version 1 cannot be written here");
        return;
      }
  for (guint i = 0; i < G_N_ELEMENTS (mounts); i++)
    {
      groups[i] = g_build_filename (mounts[i], "fl-tree", NULL);
      g_assert_cmpint (g_mkdir (groups[i], 0755), ==, 0);
    }
  for (guint i = 0; i < G_N_ELEMENTS (mounts); i++)
    record_group (groups[i], "--cgroup", "/fl-tree");
  for (guint i = 0; i < G_N_ELEMENTS (mounts); i++)
    {
      leave_group (groups[i]);
      g_free (groups[i]);
    }
}

/* --- other files ---------------------------------------------------------- */

/* Becomes the program, stripped, in a root folder of its own, which only its
 * mount namespace has, and where its debug file is. */
static const char script[] =
    "mount -t tmpfs none \"$1\" && mkdir -p \"$1/bin\" \"$1/${3%/*}\" && "
    "strip -o \"$1/bin/$4\" \"$2\" && "
    "objcopy --only-keep-debug \"$2\" \"$1/$3\" && "
    "exec chroot \"$1\" \"/bin/$4\" 100000";

/* FALSE: the child has ended before it became the program. */
static gboolean
await_program (pid_t child, const char *name)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/comm", (int)child);

  while (waitpid (child, NULL, WNOHANG) == 0)
    {
      g_autofree char *comm = NULL;

      if (g_file_get_contents (path, &comm, NULL, NULL) &&
          strcmp (g_strchomp (comm), name) == 0)
        return TRUE;
      g_usleep (1000);
    }
  return FALSE;
}

static void
test_other_root (void)
{
  char folder[] = "/tmp/flam-XXXXXX";
  g_autofree char *name = own_name ("root");
  g_autofree char *program = target_path ("shares-static");
  g_autofree char *tool = g_find_program_in_path ("objcopy");
  g_autoptr (FlamElf) elf = flam_elf_open (program, NULL);
  g_autofree char *debug = flam_debug_file_path (
      "usr/lib/debug", flam_elf_get_build_id (elf), ".debug");
  g_autofree char *pid = NULL;
  const char *argv[] = { "unshare", "-m",    "sh",  "-c", script, "sh",
                         folder,    program, debug, name, NULL };
  const char *arguments[] = { "--pid", NULL, NULL };
  g_autoptr (Recording) recording = NULL;
  GPid child;

  if (geteuid () != 0 || tool == NULL || debug == NULL)
    {
      g_test_skip ("needs root, objcopy and build ids");
      return;
    }
  g_assert_nonnull (mkdtemp (folder));
  g_assert_true (g_spawn_async (NULL,
                                (char **)argv,
                                NULL,
                                G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                                NULL,
                                NULL,
                                &child,
                                NULL));
  if (!await_program (child, name))
    {
      g_rmdir (folder);
      g_test_skip ("the root folder cannot be made private, as in a chroot");
      return;
    }
  arguments[1] = pid = g_strdup_printf ("%d", (int)child);
  recording = record_some (arguments);
  kill (child, SIGKILL);
  waitpid (child, NULL, 0);
  g_rmdir (folder);
  assert_ended (recording, 0);
  g_assert_cmpint (
      weight_of (recording->profile, "samples", "main", FALSE), >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/trees/several", test_several);
  g_test_add_func ("/trees/all-end", test_all_end);
  g_test_add_func ("/trees/name", test_name);
  g_test_add_func ("/trees/working-folders", test_working_folders);
  g_test_add_func ("/trees/ambiguous-name", test_ambiguous_name);
  g_test_add_func ("/trees/unknown", test_unknown);
  g_test_add_func ("/trees/duration", test_duration);
  g_test_add_func ("/trees/wait", test_wait);
  g_test_add_func ("/trees/wait-ended", test_wait_ended);
  g_test_add_func ("/trees/resident", test_resident);
  g_test_add_func ("/trees/groups", test_groups);
  g_test_add_func ("/trees/restart", test_restart);
  g_test_add_func ("/trees/alias", test_alias);
  g_test_add_func ("/trees/strangers", test_strangers);
  g_test_add_func ("/trees/hierarchies", test_hierarchies);
  g_test_add_func ("/trees/other-root", test_other_root);
  return g_test_run ();
}
