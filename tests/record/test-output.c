/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flam-output.h"
#include "recording.h"

/* The file that a recording writes: earlier content, and the content that is
 * left if it fails or is killed. Each test has its own folder, in which the
 * recorder is started. */

#define BEFORE "what stood there before"

typedef struct
{
  char *folder;
  char *target;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = g_dir_make_tmp ("flam-output-XXXXXX", NULL);
  fixture->target = target_path ("cases");
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (fixture->folder, name, NULL);
      g_assert_cmpint (g_remove (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (fixture->folder), ==, 0);
  g_free (fixture->folder);
  g_free (fixture->target);
}

static void
in_folder (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  umask (0);
}

/* Its arguments up to NULL, without argv[0]. */
static GPid
start (const Fixture *fixture, int *error_fd, ...)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  GPid pid;
  va_list arguments;
  const char *argument;

  g_ptr_array_add (argv, (gpointer)g_getenv ("FLAMBEAU_RECORDER"));
  va_start (arguments, error_fd);
  while ((argument = va_arg (arguments, const char *)) != NULL)
    g_ptr_array_add (argv, (gpointer)argument);
  va_end (arguments);
  g_ptr_array_add (argv, NULL);
  g_assert_true (g_spawn_async_with_pipes (fixture->folder,
                                           (char **)argv->pdata,
                                           NULL,
                                           G_SPAWN_DO_NOT_REAP_CHILD |
                                               G_SPAWN_STDOUT_TO_DEV_NULL,
                                           in_folder,
                                           NULL,
                                           &pid,
                                           NULL,
                                           NULL,
                                           error_fd,
                                           NULL));
  return pid;
}

static void
assert_ends (GPid pid, int error_fd, int status, const char *says)
{
  char text[4096] = "";
  gsize n = 0;
  ssize_t got;
  int ended;

  while ((got = read (error_fd, text + n, sizeof text - 1 - n)) > 0)
    n += (gsize)got;
  close (error_fd);
  text[n] = '\0';
  g_assert_cmpint (waitpid (pid, &ended, 0), ==, pid);
  if (!WIFEXITED (ended) || WEXITSTATUS (ended) != status ||
      (says == NULL) != (n == 0) ||
      (says != NULL && strstr (text, says) == NULL))
    g_error ("status %d, it said: %s", ended, text);
}

#define run(fixture, status, says, ...)                                        \
  do                                                                           \
    {                                                                          \
      int error_fd;                                                            \
      GPid started = start (fixture, &error_fd, __VA_ARGS__, NULL);            \
      assert_ends (started, error_fd, status, says);                           \
    }                                                                          \
  while (0)

static char *
path_of (const Fixture *fixture, const char *name)
{
  return g_build_filename (fixture->folder, name, NULL);
}

static void
put_before (const Fixture *fixture, const char *name)
{
  g_autofree char *path = path_of (fixture, name);

  g_assert_true (g_file_set_contents (path, BEFORE, -1, NULL));
}

static void
assert_as_before (const Fixture *fixture, const char *name)
{
  g_autofree char *path = path_of (fixture, name);
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, BEFORE);
}

/* Readable only by its owner, whatever the umask. */
static void
assert_capture (const Fixture *fixture, const char *name)
{
  g_autofree char *path = path_of (fixture, name);
  g_autofree char *text = NULL;
  GStatBuf st;
  gsize size;

  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  g_assert_cmpuint (size, >, 100);
  g_assert_cmpint (memcmp (text, "FLAMBEAU", 8), ==, 0);
  g_assert_cmpint (g_stat (path, &st), ==, 0);
  g_assert_cmpint (st.st_mode & 07777, ==, 0600);
}

static guint
count_files (const Fixture *fixture)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

/* The one that is not NAME; g_free. */
static char *
other_file (const Fixture *fixture, const char *known)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (strcmp (name, known) != 0)
      return g_strdup (name);
  g_assert_not_reached ();
}

/* --- names --------------------------------------------------------------- */

static void
test_names (Fixture *fixture, gconstpointer data)
{
  run (fixture, 0, NULL, "--", "true");
  run (fixture, 0, NULL, "--", "/bin/true");
  put_before (fixture, "true-3.flambeau");
  run (fixture, 0, NULL, "--", "true");
  assert_capture (fixture, "true.flambeau");
  assert_capture (fixture, "true-2.flambeau");
  assert_as_before (fixture, "true-3.flambeau");
  assert_capture (fixture, "true-4.flambeau");
  run (fixture, 1, "no such program", "--", "no-such-program-anywhere");
  g_assert_cmpuint (count_files (fixture), ==, 4);
}

static void
test_name_of_process (Fixture *fixture, gconstpointer data)
{
  pid_t pid = target_start ("cases", "spin");
  g_autofree char *number = g_strdup_printf ("%d", (int)pid);
  g_autofree char *name = g_strdup_printf ("pid-%d.flambeau", (int)pid);

  run (fixture, 0, NULL, "--duration", "0.1", "--pid", number);
  assert_capture (fixture, name);
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
}

/* --- shown text ----------------------------------------------------------- */

static void
test_refused (Fixture *fixture, gconstpointer data)
{
  put_before (fixture, "out");
  run (fixture,
       1,
       "out: already exists; --force replaces it",
       "--output",
       "out",
       "--",
       "touch",
       "started");
  assert_as_before (fixture, "out");
  g_assert_cmpuint (count_files (fixture), ==, 1);
}

static void
test_replaced (Fixture *fixture, gconstpointer data)
{
  put_before (fixture, "out");
  /* The target still finds the old file. */
  run (fixture,
       0,
       NULL,
       "--force",
       "--output",
       "out",
       "--",
       "grep",
       "-q",
       "^" BEFORE "$",
       "out");
  assert_capture (fixture, "out");
  run (fixture, 0, NULL, "--force", "--output", "new", "--", "true");
  assert_capture (fixture, "new");
  g_assert_cmpuint (count_files (fixture), ==, 2);
}

static void
test_failed_start (Fixture *fixture, gconstpointer data)
{
  const char *modes[] = { "cpu", "alloc" };

  put_before (fixture, "out");
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    for (guint force = 0; force < 2; force++)
      run (fixture,
           1,
           force ? "no such program" : "already exists",
           force ? "--force" : "--follow",
           "--mode",
           modes[i],
           "--output",
           "out",
           "--",
           "no-such-program-anywhere");
  run (fixture,
       1,
       "no such process",
       "--force",
       "--output",
       "out",
       "--pid",
       "2147483000");
  assert_as_before (fixture, "out");
  g_assert_cmpuint (count_files (fixture), ==, 1);
}

/* Neither the device nor its name is removed. */
static void
test_not_a_file (Fixture *fixture, gconstpointer data)
{
  g_autofree char *pipe = path_of (fixture, "pipe");
  g_autofree char *link = path_of (fixture, "link");
  GStatBuf st;

  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  g_assert_cmpint (symlink ("/dev/null", link), ==, 0);
  for (guint i = 0; i < 2; i++)
    {
      const char *out = i == 0 ? "pipe" : "link";

      run (fixture, 1, "already exists", "--output", out, "--", "true");
      run (fixture,
           1,
           "is not a regular file",
           "--force",
           "--output",
           out,
           "--",
           "true");
    }
  g_assert_cmpint (g_lstat (pipe, &st), ==, 0);
  g_assert_true (S_ISFIFO (st.st_mode));
  g_assert_cmpint (g_lstat (link, &st), ==, 0);
  g_assert_true (S_ISLNK (st.st_mode));
  g_assert_cmpuint (count_files (fixture), ==, 2);
}

/* --- killed --------------------------------------------------------------- */

/* After a second, data was written and can be found. */
static void
test_killed (Fixture *fixture, gconstpointer data)
{
  for (guint replace = 0; replace < 2; replace++)
    {
      const char *out = "old.flambeau";
      g_autofree char *name = NULL;
      int error_fd;
      GPid pid;

      if (replace)
        put_before (fixture, out);
      pid = start (fixture,
                   &error_fd,
                   "--force",
                   "--output",
                   out,
                   "--",
                   "timeout",
                   "3",
                   fixture->target,
                   "spin",
                   NULL);
      g_usleep (1200000);
      kill (pid, SIGKILL);
      waitpid (pid, NULL, 0);
      close (error_fd);
      if (!replace)
        {
          assert_capture (fixture, out);
          continue;
        }
      assert_as_before (fixture, out);
      name = other_file (fixture, out);
      g_assert_true (g_str_has_prefix (name, "old-"));
      g_assert_true (g_str_has_suffix (name, ".flambeau"));
      assert_capture (fixture, name);
    }
}

/* --- messages ------------------------------------------------------------- */

/* All output of the recorder on a terminal. g_free. */
static char *
said_on_terminal (Fixture *fixture, const char *const *arguments)
{
  int terminal = posix_openpt (O_RDWR | O_NOCTTY), status;
  g_autoptr (GString) said = g_string_new (NULL);
  char text[256];
  ssize_t got;
  pid_t pid;

  g_assert_cmpint (grantpt (terminal), ==, 0);
  g_assert_cmpint (unlockpt (terminal), ==, 0);
  pid = fork ();
  if (pid == 0)
    {
      setsid ();
      dup2 (open (ptsname (terminal), O_RDWR), 2);
      if (chdir (fixture->folder) == 0)
        execv (g_getenv ("FLAMBEAU_RECORDER"), (char *const *)arguments);
      _exit (127);
    }
  while ((got = read (terminal, text, sizeof text)) > 0)
    g_string_append_len (said, text, got);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (status, ==, 0);
  close (terminal);
  return g_string_free (g_steal_pointer (&said), FALSE);
}

static void
test_terminal (Fixture *fixture, gconstpointer data)
{
  const char *count = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
  const char *arguments[] = { "it", "--", "sh", "-c", count, NULL };
  g_autofree char *said = said_on_terminal (fixture, arguments);

  /* A warning follows if the recorder had to wait for a CPU. */
  g_assert_true (g_regex_match_simple (
      "^it: wrote sh\\.flambeau\r\n(it: the recorder had to wait [^\n]*\n)?$",
      said,
      0,
      0));
}

/* It ends before the first sample is due. */
static void
test_warned (Fixture *fixture, gconstpointer data)
{
  const char *arguments[] = { "it", "--rate", "1", "--", "true", NULL };
  g_autofree char *said = said_on_terminal (fixture, arguments);

  g_assert_true (g_str_has_prefix (
      said, "it: wrote true.flambeau\r\nit: no samples: the program "));
}

/* It waits; the few samples that it may have are those of its start. */
static void
test_idle (Fixture *fixture, gconstpointer data)
{
  const char *arguments[] = { "it", "--", "sleep", "1", NULL };
  g_autofree char *said = said_on_terminal (fixture, arguments);

  g_assert_nonnull (strstr (said, "used almost no CPU while it was recorded"));
  g_assert_nonnull (strstr (said, "--mode wall"));
}

/* An incomplete file is removed, but only if it is still the one that was
 * begun. */
static void
test_abandoned (void)
{
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "x.flambeau", NULL);
  g_autofree char *other = g_build_filename (folder, "other", NULL);

  for (guint replaced = 0; replaced < 2; replaced++)
    {
      FlamRecordOptions options = { .output = path };
      FlamOutput output;
      g_autoptr (GError) error = NULL;

      g_assert_true (flam_output_open (&output, &options, &error));
      g_assert_no_error (error);
      if (replaced)
        {
          g_assert_true (g_file_set_contents (other, "mine", 4, NULL));
          g_assert_no_errno (g_rename (other, path));
        }
      flam_output_abandon (&output);
      g_assert_cmpint (g_file_test (path, G_FILE_TEST_EXISTS), ==, replaced);
      flam_output_clear (&output);
    }
  g_assert_no_errno (g_remove (path));
  g_assert_no_errno (g_rmdir (folder));
}

/* As mpirun does with all ranks if one of them fails. */
static void
test_killed_soon (void)
{
  g_autofree char *target = target_path ("cases");
  const char *arguments[] = { "--", target, "spin", NULL };
  Running *running = recorder_start (arguments);
  g_autofree char *line = recorder_wait_for_line (running, "target ");
  g_autoptr (Recording) recording = NULL;
  pid_t pid;

  g_assert_nonnull (line);
  pid = (pid_t)g_ascii_strtoll (line + strlen ("target "), NULL, 10);
  g_assert_true (recorder_wait_for (running, "status "));
  kill (running->pid, SIGKILL);
  kill (pid, SIGKILL);
  recording = recorder_end (running);
  g_assert_cmpint (recording->status, ==, 128 + SIGKILL);
  g_assert_nonnull (recording->profile);
  g_assert_true (
      g_str_has_suffix (recording->profile->facts.command, "cases spin"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, function)                                                    \
  g_test_add (path, Fixture, NULL, set_up, function, tear_down)
  ADD ("/output/quick/names", test_names);
  ADD ("/output/quick/name-of-process", test_name_of_process);
  ADD ("/output/quick/refused", test_refused);
  ADD ("/output/quick/replaced", test_replaced);
  ADD ("/output/quick/failed-start", test_failed_start);
  ADD ("/output/quick/not-a-file", test_not_a_file);
  ADD ("/output/killed", test_killed);
  ADD ("/output/quick/terminal", test_terminal);
  ADD ("/output/quick/warned", test_warned);
  ADD ("/output/quick/idle", test_idle);
  g_test_add_func ("/output/quick/abandoned", test_abandoned);
  g_test_add_func ("/output/killed-soon", test_killed_soon);
  return g_test_run ();
}
