/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording.h"

/* How the allocation library gets into programs: into which ones, what they can
 * see of it, and the messages about the others. */

#define NOBODY 65534

static Recording *record_script (const char *format, ...) G_GNUC_PRINTF (1, 2);

static Recording *
record_script (const char *format, ...)
{
  g_autofree char *script = NULL;
  const char *arguments[] = { "--mode", "alloc", "--exact", "--",
                              "sh",     "-c",    NULL,      NULL };
  va_list values;

  va_start (values, format);
  script = g_strdup_vprintf (format, values);
  va_end (values);
  arguments[6] = script;
  return record (arguments);
}

static void
assert_known_blocks (const Recording *recording)
{
  assert_ended (recording, 3);
  g_assert_cmpint (
      weight_of (recording->profile, "leaked", "leak_small", TRUE), ==, 24000);
  if (has_warning (recording->profile, "allocations of"))
    g_error ("%s", recording->profile->facts.warnings[0]);
  g_assert_cmpstr (recording->error, ==, "");
}

/* --- injectable programs -------------------------------------------------- */

static void
test_empty_environment (void)
{
  g_autofree char *blocks = target_path ("blocks");
  g_autoptr (Recording) recording =
      record_script ("exec env -i %s known", blocks);

  assert_known_blocks (recording);
}

/* A loader that is started directly also preloads the library. */
static void
test_loader (void)
{
  g_autofree char *blocks = target_path ("blocks");
  g_autoptr (Recording) recording =
      record_script ("exec /lib64/ld-linux-x86-64.so.2 %s known", blocks);

  assert_known_blocks (recording);
}

/* A megabyte of arguments and environment, in 50,000 pieces; it ends at a
 * different place in its page each time. */
static void
test_large_stack (void)
{
  g_autofree char *blocks = target_path ("blocks");

  for (guint i = 0; i < 8; i++)
    {
      g_autoptr (Recording) recording = record_script (
          "a=$(printf '%%0100000d' 0); "
          "exec env A=$a B=$a C=$a %s known 1 $a $a $a $(seq %u)",
          blocks,
          50000 + 64 * i);

      assert_known_blocks (recording);
    }
}

/* --- traces in the program -------------------------------------------------
 */

static char *
output_of (gboolean recorded, const char *script)
{
  g_autofree char *folder = g_dir_make_tmp ("flam-injection-XXXXXX", NULL);
  g_autofree char *capture = g_build_filename (folder, "capture", NULL);
  const char *argv[] = { g_getenv ("FLAMBEAU_RECORDER"),
                         "--mode",
                         "alloc",
                         "--output",
                         capture,
                         "--",
                         "/bin/sh",
                         "-c",
                         script,
                         NULL };
  g_autoptr (GError) error = NULL;
  g_autofree char *said = NULL;
  char *output = NULL;

  g_spawn_sync (NULL,
                (char **)argv + (recorded ? 0 : 6),
                NULL,
                G_SPAWN_CHILD_INHERITS_STDIN,
                NULL,
                NULL,
                &output,
                &said,
                NULL,
                &error);
  g_assert_no_error (error);
  g_assert_cmpstr (said, ==, "");
  g_unlink (capture);
  g_rmdir (folder);
  return output;
}

/* Nothing: their environment, the kernel's view of it, arguments and open
 * files, and those of the programs that they start, are the same as without a
 * recorder. */
static void
test_untouched (void)
{
  static const char *const scripts[] = {
    "env; /bin/sh -c env; env -i A=1 /usr/bin/env",
    "tr '\\0' '\\n' </proc/self/environ; tr '\\0' '\\n' </proc/self/cmdline",
    "ls /proc/self/fd; ulimit -a; umask",
    "LD_PRELOAD=libutil.so.1 A=1 env; LD_PRELOAD= B=2 env",
    "LD_PRELOAD=libutil.so.1 grep -c libutil /proc/self/maps",
  };

  for (guint i = 0; i < G_N_ELEMENTS (scripts); i++)
    {
      g_autofree char *alone = output_of (FALSE, scripts[i]);
      g_autofree char *recorded = output_of (TRUE, scripts[i]);

      g_assert_cmpuint (strlen (alone), >, 0);
      g_assert_cmpstr (recorded, ==, alone);
    }
}

/* --- other programs ---------------------------------------------------------
 */

static void
assert_warned (const Recording *recording, const char *name, const char *why)
{
  g_autofree char *all =
      g_strjoinv ("\n", (char **)recording->profile->facts.warnings);
  g_autofree char *pattern = g_strdup_printf (
      "^allocations of %s \\([0-9]+\\) are not recorded: it %s$", name, why);

  if (!g_regex_match_simple (pattern, all, G_REGEX_MULTILINE, 0))
    g_error ("%s: %s", pattern, all);
  g_assert_cmpstr (recording->error, ==, "");
}

static void
test_static (void)
{
  g_autofree char *target = target_path ("shares-static");
  g_autoptr (Recording) recording =
      record_script ("for i in 1 2 3; do %s 1; done", target);

  assert_ended (recording, 0);
  assert_warned (recording, "shares-static", "is statically linked");
  g_assert_true (has_warning (
      recording->profile,
      "allocations of 2 more processes called shares-static are not recorded"));
}

/* Its loader would report that our library has the wrong class. */
static void
test_32_bit (void)
{
  g_autofree char *target = target_path ("bits-32");
  g_autoptr (Recording) recording = NULL;

  if (!g_file_test (target, G_FILE_TEST_EXISTS) ||
      !g_file_test ("/lib/ld-linux.so.2", G_FILE_TEST_EXISTS))
    {
      g_test_skip ("32-bit programs cannot be made or run");
      return;
    }
  recording = record_script ("%s; test $? = 5", target);
  assert_ended (recording, 0);
  assert_warned (recording, "bits-32", "is a 32-bit program");
}

static void
test_own_malloc (void)
{
  g_autofree char *target = target_path ("own-malloc");
  g_autoptr (Recording) recording = record_script ("%s; exit $?", target);

  assert_ended (recording, 0);
  assert_warned (recording, "own-malloc", "has its own malloc linked into it");
}

static void
test_privileged (void)
{
  g_autofree char *folder = NULL;
  g_autofree char *path = NULL;
  g_autofree char *target = target_path ("blocks");
  g_autofree char *text = NULL;
  g_autoptr (Recording) recording = NULL;
  gsize size;

  if (geteuid () != 0)
    {
      g_test_skip ("only root gives programs to others");
      return;
    }
  folder = g_dir_make_tmp ("flam-injection-XXXXXX", NULL);
  path = g_build_filename (folder, "blocks", NULL);
  g_assert_cmpint (g_chmod (folder, 0755), ==, 0);
  g_assert_true (g_file_get_contents (target, &text, &size, NULL));
  g_assert_true (g_file_set_contents (path, text, (gssize)size, NULL));
  g_assert_cmpint (chown (path, NOBODY, NOBODY), ==, 0);
  g_assert_cmpint (g_chmod (path, 04755), ==, 0);
  recording = record_script ("%s known; exit $?", path);
  g_unlink (path);
  g_rmdir (folder);
  assert_ended (recording, 3);
  assert_warned (recording, "blocks", "runs with privileges");
}

/* Each event of a thread without memory for its ring counts as lost, not only
 * the first. */
static void
test_unheard (void)
{
  g_autofree char *blocks = target_path ("blocks");
  g_autoptr (Recording) recording = record_script ("exec %s unheard", blocks);

  assert_ended (recording, 3);
  g_assert_true (
      has_warning (recording->profile, "200 allocation events were lost"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/injection/quick/empty-environment",
                   test_empty_environment);
  g_test_add_func ("/injection/quick/loader", test_loader);
  g_test_add_func ("/injection/quick/large-stack", test_large_stack);
  g_test_add_func ("/injection/quick/untouched", test_untouched);
  g_test_add_func ("/injection/quick/static", test_static);
  g_test_add_func ("/injection/quick/32-bit", test_32_bit);
  g_test_add_func ("/injection/quick/own-malloc", test_own_malloc);
  g_test_add_func ("/injection/quick/unheard", test_unheard);
  g_test_add_func ("/injection/quick/privileged", test_privileged);
  return g_test_run ();
}
