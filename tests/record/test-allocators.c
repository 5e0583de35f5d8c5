/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Allocations of foreign programs: heaptrack records the same, and other
 * allocators than libc's are recorded, too. */

#include <stdio.h>
#include <string.h>

#include "recording.h"

static Recording *
record_exactly (const char *const *target)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  const char *const options[] = { "--mode", "alloc", "--exact", "--" };

  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    g_ptr_array_add (arguments, (gpointer)options[i]);
  for (guint i = 0; target[i] != NULL; i++)
    g_ptr_array_add (arguments, (gpointer)target[i]);
  g_ptr_array_add (arguments, NULL);
  return record ((const char *const *)arguments->pdata);
}

/* --- heaptrack ----------------------------------------------------------- */

typedef struct
{
  guint64 calls;
  guint64 peak;
} Sums;

static char *
run (const char *const *command)
{
  g_autoptr (GError) error = NULL;
  char *output = NULL;

  if (!g_spawn_sync (NULL,
                     (char **)command,
                     NULL,
                     G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
                     NULL,
                     NULL,
                     &output,
                     NULL,
                     NULL,
                     &error))
    g_error ("%s: %s", command[0], error->message);
  return output;
}

/* The weights at the ends of folded stacks. */
static guint64
sum_of_stacks (const char *capture, const char *cost, const char *scratch)
{
  const char *const print[] = {
    "heaptrack_print",        "-f", capture, "-F", scratch,
    "--flamegraph-cost-type", cost, NULL
  };
  g_autofree char *line = NULL;
  guint64 sum = 0;
  gsize room = 0;
  FILE *folded;

  g_free (run (print));
  folded = fopen (scratch, "re");
  g_assert_nonnull (folded);
  /* Line by line: ASan looks for the end of a string at every call, which takes
   * minutes in one of many MB. */
  while (getline (&line, &room, folded) >= 0)
    {
      const char *last = strrchr (line, ' ');

      if (last != NULL)
        sum += g_ascii_strtoull (last + 1, NULL, 10);
    }
  fclose (folded);
  return sum;
}

/* heaptrack appends the suffix of its compression to the given name. */
static char *
find_capture (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, "capture."))
      return g_build_filename (folder, name, NULL);
  g_error ("heaptrack wrote nothing");
}

static Sums
run_heaptrack (const char *const *target)
{
  g_autofree char *folder = g_dir_make_tmp ("flam-heaptrack-XXXXXX", NULL);
  g_autofree char *heaptrack =
      g_test_build_filename (G_TEST_DIST, "record/heaptrack-alone", NULL);
  g_autofree char *wanted = g_build_filename (folder, "capture", NULL);
  g_autofree char *scratch = g_build_filename (folder, "folded", NULL);
  g_autoptr (GPtrArray) command = g_ptr_array_new ();
  g_autofree char *output = NULL;
  g_autofree char *capture = NULL;
  Sums sums;

  g_ptr_array_add (command, heaptrack);
  g_ptr_array_add (command, (gpointer) "-o");
  g_ptr_array_add (command, wanted);
  for (guint i = 0; target[i] != NULL; i++)
    g_ptr_array_add (command, (gpointer)target[i]);
  g_ptr_array_add (command, NULL);
  output = run ((const char *const *)command->pdata);
  capture = find_capture (folder);
  sums.calls = sum_of_stacks (capture, "allocations", scratch);
  sums.peak = sum_of_stacks (capture, "peak", scratch);
  unlink (capture);
  unlink (scratch);
  rmdir (folder);
  return sums;
}

/* heaptrack does not record pages. */
static guint64
heap_calls (const FlamProfile *profile)
{
  guint64 sum = 0;

  for (guint32 i = 0; i < profile->allocations.n; i++)
    if (profile->allocations.allocator[i] != FLAM_ALLOCATOR_MMAP &&
        profile->allocations.allocator[i] != FLAM_ALLOCATOR_BRK)
      sum += (guint64)profile->allocations.count[i];
  return sum;
}

static void
assert_near (guint64 ours, guint64 theirs, double share, guint64 absolute)
{
  guint64 off = ours > theirs ? ours - theirs : theirs - ours;

  g_test_message (
      "%" G_GUINT64_FORMAT ", heaptrack %" G_GUINT64_FORMAT, ours, theirs);
  g_assert_cmpuint (theirs, >, 1000);
  g_assert_cmpfloat (
      (double)off, <=, share * (double)theirs + (double)absolute);
}

/* heaptrack's library is C++, whose runtime takes 72,704 bytes for exceptions,
 * and both allocate a few blocks of their own before main. */
static void
agree (const char *const *target)
{
  g_autofree char *heaptrack = g_find_program_in_path ("heaptrack");
  g_autofree char *program = g_find_program_in_path (target[0]);
  g_autoptr (Recording) recording = NULL;
  Sums sums;

  if (heaptrack == NULL || program == NULL)
    {
      g_test_skip (heaptrack == NULL ? "heaptrack is not installed"
                                     : "the program is not installed");
      return;
    }
  sums = run_heaptrack (target);
  recording = record_exactly (target);
  assert_good (recording, 0);
  assert_near (heap_calls (recording->profile), sums.calls, 0.002, 30);
  assert_near (
      (guint64)total_of (recording->profile, "peak"), sums.peak, 0.002, 80000);
}

static void
test_python (void)
{
  const char *const target[] = {
    "/usr/bin/python3",
    "-c",
    "print(len({str(i) * 3: [i] for i in range(30000)}))",
    NULL
  };

  g_setenv ("PYTHONMALLOC", "malloc", TRUE);
  g_setenv ("PYTHONHASHSEED", "1", TRUE);
  agree (target);
}

static void
test_sqlite (void)
{
  const char *const target[] = {
    "sqlite3",
    ":memory:",
    "create table t(a, b); with recursive c(x) as (select 1 union all "
    "select x + 1 from c where x < 20000) insert into t select x, x * 3 "
    "from c; select count(*) from t;",
    NULL
  };

  agree (target);
}

/* A compiler proper, clang's or else gcc's, on its driver's preprocessed
 * output: the driver finds the headers, but it may start the compiler as
 * another process. */
static void
compile (const char *driver, const char *const *compiler)
{
  g_autofree char *source =
      g_test_build_filename (G_TEST_DIST, "record/targets/cases.c", NULL);
  g_autofree char *folder = g_dir_make_tmp ("flam-compiler-XXXXXX", NULL);
  g_autofree char *plain = g_build_filename (folder, "plain.i", NULL);
  const char *const read[] = { driver, "-E", "-D_GNU_SOURCE", source, "-o",
                               plain,  NULL };
  const char *const rest[] = { "-O1", plain, "-o", "/dev/null", NULL };
  g_autoptr (GStrvBuilder) target = g_strv_builder_new ();
  g_auto (GStrv) command = NULL;

  g_strv_builder_addv (target, (const char **)(gpointer)compiler);
  g_strv_builder_addv (target, (const char **)(gpointer)rest);
  command = g_strv_builder_end (target);
  g_free (run (read));
  agree ((const char *const *)command);
  unlink (plain);
  rmdir (folder);
}

static void
test_compiler (void)
{
  /* The drivers report where the compilers are: PATH may find ccache. */
  const char *const ask_clang[] = { "clang", "-print-prog-name=clang", NULL };
  const char *const ask_gcc[] = { "gcc", "-print-prog-name=cc1", NULL };
  g_autofree char *driver = g_find_program_in_path ("clang");
  g_autofree char *gcc = g_find_program_in_path ("gcc");
  g_autofree char *clang = driver != NULL ? run (ask_clang) : NULL;
  g_autofree char *cc1 = clang == NULL && gcc != NULL ? run (ask_gcc) : NULL;
  const char *const clangs[] = { clang != NULL ? g_strstrip (clang) : NULL,
                                 "-cc1",
                                 "-emit-obj",
                                 "-x",
                                 "cpp-output",
                                 NULL };

  if (clang != NULL)
    compile (clang, clangs);
  else if (cc1 != NULL)
    {
      const char *const gccs[] = {
        g_strstrip (cc1), "-fpreprocessed", "-quiet", NULL
      };

      compile (gcc, gccs);
    }
  else
    g_test_skip ("neither clang nor gcc is installed");
}

/* --- other allocators ---------------------------------------------------- */

static char *
find_library (const char *name)
{
  const char *folders[] = { "/usr/lib/x86_64-linux-gnu",
                            "/usr/lib64",
                            "/usr/lib" };

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *path = g_build_filename (folders[i], name, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&path);
    }
  return NULL;
}

/* The library comes before anything the program's loader is told to preload. */
static Recording *
record_with (const char *library)
{
  g_autofree char *blocks = target_path ("blocks");
  g_autofree char *script =
      g_strdup_printf ("LD_PRELOAD=%s exec %s known", library, blocks);
  const char *const target[] = { "/bin/sh", "-c", script, NULL };

  return record_exactly (target);
}

static void
try_allocator (gconstpointer name)
{
  g_autofree char *library = find_library (name);
  g_autoptr (Recording) recording = NULL;

  if (library == NULL)
    {
      g_test_skip ("the allocator is not installed");
      return;
    }
  recording = record_with (library);
  g_assert_cmpint (recording->status, ==, 3);
  g_assert_cmpint (
      weight_of (recording->profile, "leaked", "leak_small", TRUE), ==, 24000);
  g_assert_cmpint (
      weight_of (recording->profile, "leaked", "leak_thread", TRUE),
      ==,
      163840);
  g_assert_cmpint (
      weight_of (recording->profile, "temporary", "churn", TRUE), ==, 40000);
  g_assert_cmpint (weight_of (recording->profile, "peak", "hold_peak", TRUE),
                   ==,
                   512 * 65536);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func (
      "/allocators/quick/jemalloc", "libjemalloc.so.2", try_allocator);
  g_test_add_data_func (
      "/allocators/quick/tcmalloc", "libtcmalloc_minimal.so.4", try_allocator);
  g_test_add_func ("/allocators/heaptrack/sqlite", test_sqlite);
  g_test_add_func ("/allocators/heaptrack/python", test_python);
  g_test_add_func ("/allocators/heaptrack/compiler", test_compiler);
  return g_test_run ();
}
