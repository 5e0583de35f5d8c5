/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flam-launch.h"
#include "recording.h"

/* The target's input and its results are the same as without a recorder; and
 * if the system prevents recording, the recorder reports it. Some of this
 * needs root, or namespaces, as a setup; each such test then runs in its own
 * process. */

#define NOBODY 65534

/* In its own process; as "subprocess" it does not run by itself. */
static void
play (const char *name)
{
  g_autofree char *path = g_strconcat ("/target/stage/subprocess/", name, NULL);

  g_test_trap_subprocess (path, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  if (g_test_trap_has_passed ())
    g_test_trap_assert_passed ();
  else
    g_test_fail ();
}

static void
become_nobody (void)
{
  g_assert_cmpint (setresgid (NOBODY, NOBODY, NOBODY), ==, 0);
  g_assert_cmpint (setresuid (NOBODY, NOBODY, NOBODY), ==, 0);
}

/* A copy of a program in `folder`, which other users may enter, unlike the
 * build folder, which may be in a home of mode 0700; g_free. */
static char *
copy_program (const char *program, const char *folder, int mode)
{
  g_autofree char *name = g_path_get_basename (program);
  g_autofree char *text = NULL;
  char *copy = g_build_filename (folder, name, NULL);
  gsize size;

  g_assert_true (g_file_get_contents (program, &text, &size, NULL));
  g_assert_true (g_file_set_contents_full (
      copy, text, (gssize)size, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
  g_assert_cmpint (g_chmod (copy, mode), ==, 0);
  return copy;
}

static void
test_arguments (void)
{
  g_autofree char *target = target_path ("given");
  const char *arguments[] = {
    "--",
    target,
    "arguments",
    "two words",
    "two\nlines",
    "",
    "\xff\xfe not UTF-8",
    "$HOME",
    "`id` ; 'a\"b",
    "--output",
    "*",
    NULL,
  };
  g_autoptr (Recording) recording = record (arguments);

  assert_good (recording, 0);
  g_assert_true (g_utf8_validate (recording->profile->facts.command, -1, NULL));
}

/* --- a crash ------------------------------------------------------------- */

static gboolean
cores_are_files (void)
{
  g_autofree char *text = NULL;

  return g_file_get_contents (
             "/proc/sys/kernel/core_pattern", &text, NULL, NULL) &&
         g_str_has_prefix (text, "core") && strchr (text, '/') == NULL;
}

/* The size of the core file that the crash leaves in `folder`; 0: none. */
static gint64
core_size (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  gint64 size = 0;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      GStatBuf st;
      g_assert_cmpint (g_stat (path, &st), ==, 0);
      size = st.st_size;
      g_unlink (path);
    }
  return size;
}

static gint64
crash_alone (const char *target, const char *folder)
{
  pid_t pid = fork ();
  int status;

  if (pid == 0)
    {
      if (chdir (folder) == 0)
        execl (target, "cases", "crash", NULL);
      _exit (127);
    }
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGSEGV);
  return core_size (folder);
}

static void
test_core (void)
{
  g_autofree char *target = target_path ("cases");
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  const char *arguments[] = { "--cwd", folder, "--", target, "crash", NULL };
  const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
  const char *sanitizer = g_getenv ("ASAN_OPTIONS");
  /* A recorder under AddressSanitizer would start without core files. */
  g_autofree char *with_cores = g_strconcat (
      sanitizer != NULL ? sanitizer : "", ":disable_coredump=0", NULL);
  g_autoptr (Recording) recording = NULL;
  gint64 alone;

  if (!cores_are_files () || setrlimit (RLIMIT_CORE, &all) != 0)
    {
      g_test_skip ("this system leaves no core files");
      return;
    }
  g_setenv ("ASAN_OPTIONS", with_cores, TRUE);
  alone = crash_alone (target, folder);
  recording = record (arguments);
  assert_good (recording, 128 + SIGSEGV);
  g_assert_cmpint (alone, >, 0);
  assert_share (core_size (folder), alone, 1, 0.2);
  g_rmdir (folder);
}

/* --- full memory --------------------------------------------------------- */

static void
assert_kept (const Recording *recording, int status, const char *why)
{
  g_assert_cmpint (recording->status, ==, status);
  if (strstr (recording->error, why) == NULL ||
      strstr (recording->error, recording->path) == NULL)
    g_error (
        "%d: %s: %s", recording->status, recording->error, recording->said);
  g_assert_nonnull (recording->profile);
  g_assert_cmpuint (recording->profile->samples.n, >, 10);
}

/* A file system of a few pages: the recording ends with a message, the written
 * part is readable, and the target continues. The recorder waits for the end of
 * one that it launched. */
static void
stage_disk_full (void)
{
  char folder[] = "/tmp/flam-XXXXXX";
  g_autofree char *text = NULL;
  g_autofree char *spin = target_path ("cases");
  g_autofree char *script = g_strdup_printf ("timeout 3 %s spin; exit 7", spin);
  const char *attached[] = { "--rate", "5000", "--pid", NULL, NULL };
  const char *launched[] = { "--rate", "5000", "--", "sh", "-c", script, NULL };
  static const char *const sizes[] = { "size=4k", "size=48k" };
  pid_t pid;

  g_assert_nonnull (mkdtemp (folder));
  g_assert_cmpint (
      unshare (CLONE_NEWNS | (geteuid () != 0 ? CLONE_NEWUSER : 0)), ==, 0);
  mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  pid = target_start ("cases", "spin");
  attached[3] = text = g_strdup_printf ("%d", (int)pid);
  g_setenv ("TMPDIR", folder, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (Recording) first = NULL;
      g_autoptr (Recording) second = NULL;

      g_assert_cmpint (mount ("none", folder, "tmpfs", 0, sizes[i]), ==, 0);
      first = record (attached);
      assert_kept (first, 1, "the disk is full");
      g_unlink (first->path);
      if (i == 0)
        {
          second = record (launched);
          assert_kept (second, 7, "the disk is full");
        }
      umount (folder);
    }
  g_assert_cmpint (kill (pid, 0), ==, 0);
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  rmdir (folder);
}

/* Likewise where the limit of a file's size is reached. */
static void
stage_file_too_large (void)
{
  g_autofree char *spin = target_path ("cases");
  g_autofree char *script = g_strdup_printf ("timeout 3 %s spin; exit 7", spin);
  const char *arguments[] = {
    "--rate", "5000", "--", "sh", "-c", script, NULL
  };
  const struct rlimit limit = { 8192, 8192 };
  g_autoptr (Recording) recording = NULL;

  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
  recording = record (arguments);
  assert_kept (recording, 7, "ulimit -f");
}

/* Allocations need a larger file than that in the target: refused before it
 * starts, where the limit is 100 MB, too. */
static void
stage_no_room_for_allocations (void)
{
  const char *arguments[] = { "--mode", "alloc", "--", "touch", NULL, NULL };
  const struct rlimit limit = { 100 << 20, 100 << 20 };
  g_autofree char *folder = g_dir_make_tmp ("flambeau-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (folder, "started", NULL);
  g_autoptr (Recording) recording = NULL;

  arguments[4] = file;
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
  recording = record (arguments);
  g_assert_cmpint (recording->status, ==, 1);
  g_assert_nonnull (strstr (recording->error, "ulimit -f unlimited"));
  g_assert_false (g_file_test (file, G_FILE_TEST_EXISTS));
  g_rmdir (folder);
}

static void
test_no_room_for_allocations (void)
{
  play ("no-room-for-allocations");
}

static void
test_file_too_large (void)
{
  play ("file-too-large");
}

/* Whether namespaces can be created here. */
static gboolean
may_unshare (int what)
{
  pid_t pid = fork ();
  int status;

  if (pid == 0)
    _exit (unshare (what | (geteuid () != 0 ? CLONE_NEWUSER : 0)) != 0);
  waitpid (pid, &status, 0);
  return status == 0;
}

/* /dev/shm smaller than the allocation library needs: a missing page must not
 * end the target. */
static void
stage_memory_full (void)
{
  static const char *const sizes[] = {
    "size=16k", "size=48k", "size=300k", "size=1m"
  };
  g_autofree char *target = target_path ("blocks");
  const char *arguments[] = { "--mode", "alloc", "--exact", "--",
                              target,   "known", NULL };

  g_assert_cmpint (
      unshare (CLONE_NEWNS | (geteuid () != 0 ? CLONE_NEWUSER : 0)), ==, 0);
  mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (Recording) recording = NULL;

      g_assert_cmpint (mount ("none", "/dev/shm", "tmpfs", 0, sizes[i]), ==, 0);
      recording = record (arguments);
      umount ("/dev/shm");
      assert_ended (recording, 3);
      if (!has_warning (recording->profile, "/dev/shm is full") &&
          !has_warning (recording->profile, "never sent any events"))
        g_error ("nothing is said");
    }
}

/* Older kernels do not have the request that could be refused. */
static gboolean
may_ask_for_pages (void)
{
  void *page =
      mmap (NULL, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int result = madvise (page, 4096, 23); /* MADV_POPULATE_WRITE */

  munmap (page, 4096);
  return result == 0;
}

static void
test_memory_full (void)
{
  if (may_unshare (CLONE_NEWNS) && may_ask_for_pages ())
    play ("memory-full");
  else
    g_test_skip ("no mount namespaces for us here, or an old kernel");
}

static void
test_disk_full (void)
{
  if (may_unshare (CLONE_NEWNS))
    play ("disk-full");
  else
    g_test_skip ("no mount namespaces for us here");
}

/* --- rights -------------------------------------------------------------- */

/* The kernel gives a traced program no rights that its tracer lacks. */
/* What a play of `stage` needs to record a copy of `program` as another user.
 */
static void
play_copies (const char *stage, const char *program, int mode)
{
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  g_autofree char *path = target_path (program);
  g_autofree char *copy = NULL;
  g_autofree char *recorder = NULL;
  struct statvfs system;

  g_chmod (folder, 0755);
  copy = copy_program (path, folder, mode);
  recorder = copy_program (g_getenv ("FLAMBEAU_RECORDER"), folder, 0755);
  g_setenv ("FLAM_COPY", copy, TRUE);
  g_setenv ("FLAM_COPY_RECORDER", recorder, TRUE);
  if ((mode & S_ISUID) != 0 &&
      (statvfs (folder, &system) != 0 || (system.f_flag & ST_NOSUID)))
    g_test_skip ("no set-user-ID programs here");
  else
    play (stage);
  g_unlink (copy);
  g_unlink (recorder);
  g_rmdir (folder);
}

/* As the user nobody, if this is root. */
static Recording *
record_copy (const char *argument)
{
  const char *arguments[] = { "--", g_getenv ("FLAM_COPY"), argument, NULL };
  const char *sanitizer = g_getenv ("ASAN_OPTIONS");
  /* The file of suppressions may be unreadable for that user. */
  g_autofree char *without =
      g_strconcat (sanitizer != NULL ? sanitizer : "", ":suppressions=", NULL);

  g_setenv ("ASAN_OPTIONS", without, TRUE);
  g_setenv ("FLAMBEAU_RECORDER", g_getenv ("FLAM_COPY_RECORDER"), TRUE);
  if (geteuid () == 0)
    become_nobody ();
  return record (arguments);
}

static void
stage_set_user_id (void)
{
  g_autoptr (Recording) recording = record_copy ("rights");
  g_autofree char *warnings = NULL;

  assert_good (recording, 0);
  warnings = g_strjoinv ("\n", (char **)recording->profile->facts.warnings);
  if (strstr (warnings, "set-user-ID") == NULL)
    g_error ("%s", warnings);
}

static void
test_set_user_id (void)
{
  if (geteuid () == 0)
    play_copies ("set-user-id", "given", 04755);
  else
    g_test_skip ("needs root to make a set-user-ID program");
}

/* When root records, everything is readable. */
static void
stage_not_dumpable (void)
{
  g_autoptr (Recording) recording = record_copy ("not-dumpable");

  assert_ended (recording, 0);
  g_assert_true (has_warning (recording->profile, "PR_SET_DUMPABLE"));
}

static void
test_not_dumpable (void)
{
  play_copies ("not-dumpable", "cases", 0755);
}

static void
assert_obstacle (pid_t pid, const char *why)
{
  g_autofree char *obstacle = flam_attach_obstacle (pid);

  if (obstacle == NULL || strstr (obstacle, why) == NULL)
    g_error ("%s", obstacle);
}

/* If the check itself ends the program with an error, the user must learn
 * why. */
static void
test_leak_check (void)
{
  g_autofree char *leaks = target_path ("leaks");
  const char *arguments[] = { "--", leaks, NULL };
  g_autoptr (Recording) recording = NULL;
  g_autofree char *warnings = NULL;

  if (!g_file_test (leaks, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the compiler has no LeakSanitizer");
      return;
    }
  recording = record (arguments);
  warnings = g_strjoinv ("\n", (char **)recording->profile->facts.warnings);
  if (strstr (warnings, "detect_leaks=0") == NULL)
    g_error ("%s", warnings);
}

/* A simulated Yama, mounted over /proc/sys/kernel. */
static void
stage_yama (void)
{
  pid_t pid;

  g_assert_cmpint (unshare (CLONE_NEWNS), ==, 0);
  mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  g_assert_cmpint (mount ("none", "/proc/sys/kernel", "tmpfs", 0, NULL), ==, 0);
  g_mkdir ("/proc/sys/kernel/yama", 0755);
  g_assert_true (g_file_set_contents (
      "/proc/sys/kernel/yama/ptrace_scope", "1\n", 2, NULL));
  become_nobody ();
  pid = fork ();
  if (pid == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      for (;;)
        pause ();
    }
  assert_obstacle (pid, "Yama");
  assert_obstacle (1, "another user");
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
}

static void
test_yama (void)
{
  if (geteuid () == 0 && may_unshare (CLONE_NEWNS))
    play ("yama");
  else
    g_test_skip ("needs root and a mount namespace");
}

/* A sandbox whose filter of system calls lacks ptrace(), as in containers. */
static void
forbid_ptrace (void)
{
  struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { G_N_ELEMENTS (filter), filter };

  g_assert_cmpint (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), ==, 0);
  g_assert_cmpint (
      prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), ==, 0);
}

/* Nothing is recorded, and the message has the remedy. */
static void
assert_told (const Recording *recording, const char *remedy)
{
  g_assert_cmpint (recording->status, ==, 1);
  g_assert_null (recording->profile);
  if (strstr (recording->error, remedy) == NULL)
    g_error ("%s", recording->error);
}

static void
stage_no_ptrace (void)
{
  g_autofree char *given = target_path ("given");
  const char *launched[] = { "--", given, NULL };
  pid_t pid = target_start ("cases", "spin");
  g_autofree char *text = g_strdup_printf ("%d", (int)pid);
  const char *attached[] = { "--pid", text, NULL };
  g_autoptr (Recording) first = NULL;
  g_autoptr (Recording) second = NULL;

  forbid_ptrace ();
  first = record (launched);
  second = record (attached);
  kill (pid, SIGKILL);
  assert_told (first,
               "(a sandbox or container without the ptrace system call)"
               ": record outside of it");
  assert_told (second,
               "or is in a sandbox: record it as root, outside of "
               "containers");
}

static void
test_no_ptrace (void)
{
  play ("no-ptrace");
}

static void
add_stage (const char *name, void (*function) (void))
{
  g_autofree char *path = g_strconcat ("/target/stage/subprocess/", name, NULL);

  g_test_add_func (path, function);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/target/quick/arguments", test_arguments);
  g_test_add_func ("/target/core", test_core);
  g_test_add_func ("/target/disk-full", test_disk_full);
  g_test_add_func ("/target/file-too-large", test_file_too_large);
  g_test_add_func ("/target/no-room-for-allocations",
                   test_no_room_for_allocations);
  g_test_add_func ("/target/not-dumpable", test_not_dumpable);
  g_test_add_func ("/target/memory-full", test_memory_full);
  g_test_add_func ("/target/set-user-id", test_set_user_id);
  g_test_add_func ("/target/leak-check", test_leak_check);
  g_test_add_func ("/target/yama", test_yama);
  g_test_add_func ("/target/no-ptrace", test_no_ptrace);
  add_stage ("disk-full", stage_disk_full);
  add_stage ("file-too-large", stage_file_too_large);
  add_stage ("no-room-for-allocations", stage_no_room_for_allocations);
  add_stage ("not-dumpable", stage_not_dumpable);
  add_stage ("memory-full", stage_memory_full);
  add_stage ("set-user-id", stage_set_user_id);
  add_stage ("yama", stage_yama);
  add_stage ("no-ptrace", stage_no_ptrace);
  return g_test_run ();
}
