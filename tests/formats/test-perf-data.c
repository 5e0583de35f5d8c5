/* SPDX-License-Identifier: GPL-3.0-or-later */

/* perf.data against perf's own output for the same files: numbers of samples
 * and threads from X.expect.txt, and every stack, name by name, from X's perf
 * script text. The captures are real ones, outside the repository; without them
 * the tests are skipped. */

#include "flam-elf.h"
#include "flam-formats.h"
#include "flam-symbolizer.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

static char *
capture_path (const char *name)
{
  const char *folder = g_getenv ("FLAM_CAPTURES");

  return g_build_filename (folder ? folder : "", "perf", name, NULL);
}

static FlamProfile *
load (const char *path)
{
  g_autofree char *bin =
      g_build_filename (g_getenv ("FLAM_CAPTURES"), "bin", NULL);
  const char *const binaries[] = { bin, NULL };
  FlamLoadOptions options = { .binaries = binaries };
  FlamSymbolOptions symbols = { .detail = FLAM_SYMBOL_DETAIL_SYMTAB,
                                .binaries = binaries };
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) raw = flam_formats_load (path, &options, &error);
  FlamProfile *named;

  g_assert_no_error (error);
  named = flam_symbolize (raw, &symbols, NULL, &error);
  g_assert_no_error (error);
  return named;
}

/* --- numbers ------------------------------------------------------------- */

static int
find_thread (const FlamProfile *profile, int tid)
{
  for (guint32 i = 0; i < profile->threads.n; i++)
    if (profile->threads.tid[i] == tid)
      return (int)i;
  return -1;
}

static gint64
sum (const FlamProfile *profile, const FlamMeasure *measure)
{
  gint64 total = 0;

  for (guint32 i = 0; i < profile->samples.n; i++)
    if (measure->event == FLAM_NONE ||
        profile->samples.event[i] == measure->event)
      total += measure->weight ? measure->weight[i] : 1;
  return total;
}

/* "    108 worker-3 19079/19084": samples, name, pid, tid. */
static void
check_line (const FlamProfile *profile, const char *line)
{
  int n, pid, tid, thread;
  char name[64];
  gint64 samples, period, total = 0;

  if (sscanf (line, " %d %63s %d/%d", &n, name, &pid, &tid) == 4)
    {
      thread = find_thread (profile, tid);
      g_assert_cmpint (thread, >=, 0);
      g_assert_cmpuint (profile->threads.n_samples[thread], ==, n);
      g_assert_cmpstr (
          flam_profile_string (profile, profile->threads.name[thread]),
          ==,
          name);
      g_assert_cmpint (
          profile->processes.pid[profile->threads.process[thread]], ==, pid);
    }
  else if (sscanf (line,
                   "%" G_GINT64_FORMAT " samples %" G_GINT64_FORMAT
                   " period sum",
                   &samples,
                   &period) == 2)
    {
      for (guint i = 0; i < profile->n_measures; i++)
        if (profile->measures[i].weight)
          total += sum (profile, &profile->measures[i]);
      g_assert_cmpint (profile->samples.n, ==, samples);
      /* perf's own text has only the first event where there are two. */
      if (profile->n_measures == 2)
        g_assert_cmpint (total, ==, period);
    }
}

static void
test_numbers (gconstpointer name)
{
  g_autofree char *path = capture_path (name);
  g_autofree char *expected = g_strconcat (path, ".expect.txt", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (FlamProfile) profile = NULL;

  profile = load (path);
  g_assert_true (profile->facts.complete);
  g_assert_true (g_file_get_contents (expected, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] && !g_str_has_prefix (lines[i], "## self"); i++)
    check_line (profile, lines[i]);
}

/* --- stacks -------------------------------------------------------------- */

/* The part of a name that perf and we write in the same way. */
static char *
plain_name (const char *name)
{
  return g_strndup (name, strcspn (name, "(@"));
}

/* perf names the kernel's functions, which are not available here, and has
 * "[unknown]" where we name the module. */
static gboolean
same_function (const FlamProfile *ours,
               FlamId mine,
               const FlamProfile *theirs,
               FlamId their)
{
  const char *a = flam_profile_function_name (ours, mine);
  const char *b = flam_profile_function_name (theirs, their);
  g_autofree char *x = plain_name (a);
  g_autofree char *y = plain_name (b);

  /* Ours are named by their addresses: "libc.so.6+0x29d90". */
  if (ours->functions.kind[mine] == FLAM_KIND_UNRESOLVED)
    return b[0] == '[';
  if (ours->functions.kind[mine] == FLAM_KIND_KERNEL || a[0] == '[' ||
      b[0] == '[')
    return ours->functions.kind[mine] == FLAM_KIND_KERNEL || a[0] == b[0];
  return g_str_equal (x, y);
}

static const char *
name_of (const FlamProfile *profile, FlamStackId stack)
{
  return flam_profile_function_name (
      profile, profile->frames.function[profile->stacks.frame[stack]]);
}

/* The last of several unknown frames: ours are merged. */
static FlamId
skip_unknown (const FlamProfile *theirs, FlamStackId stack)
{
  FlamId next = theirs->stacks.prefix[stack];

  while (next != FLAM_NONE && name_of (theirs, stack)[0] == '[' &&
         name_of (theirs, next)[0] == '[')
    {
      stack = next;
      next = theirs->stacks.prefix[stack];
    }
  return stack;
}

/* The C library that the captures' programs ran with, for which perf recorded
 * no build id. */
#define RECORDED_LIBC "93ac61ec5a8eb1396f9fbd350e3169a558528a40"

static gboolean
has_recorded_libc (void)
{
  static int known = -1;

  if (known < 0)
    {
      g_autoptr (FlamElf) libc =
          flam_elf_open ("/usr/lib/x86_64-linux-gnu/libc.so.6", NULL);

      known = libc != NULL &&
              g_str_equal (flam_elf_get_build_id (libc), RECORDED_LIBC);
      if (!known)
        g_test_message ("another C library than the recorded one is here: "
                        "stacks are compared up to the first library");
    }
  return known;
}

static gboolean
is_of_a_library (const FlamProfile *ours, FlamStackId stack)
{
  FlamFunctionId function = ours->frames.function[ours->stacks.frame[stack]];
  FlamModuleId module = ours->functions.module[function];

  return module != FLAM_NONE &&
         strstr (flam_profile_string (ours, ours->modules.path[module]),
                 ".so") != NULL;
}

static gboolean
same_stack (const FlamProfile *ours,
            FlamId mine,
            const FlamProfile *theirs,
            FlamId their)
{
  while (mine != FLAM_NONE && their != FLAM_NONE)
    {
      if (!has_recorded_libc () && is_of_a_library (ours, mine))
        return TRUE;
      if (!same_function (ours,
                          ours->frames.function[ours->stacks.frame[mine]],
                          theirs,
                          theirs->frames.function[theirs->stacks.frame[their]]))
        return FALSE;
      if (g_str_equal (name_of (ours, mine), "[unknown]"))
        their = skip_unknown (theirs, their);
      mine = ours->stacks.prefix[mine];
      their = theirs->stacks.prefix[their];
    }
  return mine == their || (mine == FLAM_NONE && !has_recorded_libc ());
}

static void
compare_threads (const FlamProfile *ours,
                 guint32 mine,
                 const FlamProfile *theirs,
                 guint32 their)
{
  guint32 a = ours->threads.first_sample[mine];
  guint32 b = theirs->threads.first_sample[their];

  g_assert_cmpuint (
      ours->threads.n_samples[mine], ==, theirs->threads.n_samples[their]);
  for (guint32 i = 0; i < ours->threads.n_samples[mine]; i++)
    if (!same_stack (ours,
                     ours->samples.stack[a + i],
                     theirs,
                     theirs->samples.stack[b + i]))
      g_test_fail_printf ("sample %u of thread %d has another stack",
                          i,
                          ours->threads.tid[mine]);
}

static void
test_stacks (gconstpointer names)
{
  const char *const *pair = names;
  g_autofree char *path = capture_path (pair[0]);
  g_autofree char *script = capture_path (pair[1]);
  g_autoptr (FlamProfile) ours = NULL;
  g_autoptr (FlamProfile) theirs = NULL;
  g_autoptr (GError) error = NULL;

  ours = load (path);
  theirs = flam_formats_load (script, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (ours->threads.n, ==, theirs->threads.n);
  for (guint32 i = 0; i < ours->threads.n; i++)
    {
      int their = find_thread (theirs, ours->threads.tid[i]);
      g_assert_cmpint (their, >=, 0);
      compare_threads (ours, i, theirs, their);
    }
}

/* --- generated code ------------------------------------------------------ */

#define PID 4194000 /* does not exist anywhere */
#define CODE 0x20000

static void
put (GByteArray *out, guint size, guint64 value)
{
  g_byte_array_append (out, (const guint8 *)&value, size);
}

static void
put_text (GByteArray *out, const char *text, guint align)
{
  g_byte_array_append (out, (const guint8 *)text, strlen (text) + 1);
  while (out->len % align)
    put (out, 1, 0);
}

/* The size is filled in when the record is complete. */
static void
end_record (GByteArray *out, guint start, guint at, guint size)
{
  guint32 length = out->len - start;
  memcpy (out->data + start + at, &length, size);
}

/* jitdump: a load of code at CODE. */
static void
put_load (GByteArray *out, const char *name, guint64 time)
{
  guint start = out->len;

  put (out, 8, 0);
  put (out, 8, time);
  put (out, 4, PID);
  put (out, 4, PID);
  put (out, 8, CODE);
  put (out, 8, CODE);
  put (out, 8, 64);
  put (out, 8, time);
  put_text (out, name, 1);
  for (guint i = 0; i < 64; i++)
    put (out, 1, 0x90);
  end_record (out, start, 4, 4);
}

static void
put_jitdump (GByteArray *out)
{
  put (out, 4, 0x4a695444);
  put (out, 4, 1);
  put (out, 4, 40);
  put (out, 4, 62);
  put (out, 4, 0);
  put (out, 4, PID);
  put (out, 8, 0);
  put (out, 8, 0);
  put_load (out, "early", 100);
  put_load (out, "late", 200);
}

/* perf.data in pipe mode, its clock CLOCK_MONOTONIC: IP, TID, TIME. */
static void
put_event (GByteArray *out)
{
  guint start = out->len;

  put (out, 8, 64);
  put (out, 8, 1 | 128ull << 32);
  put (out, 8, 0);
  put (out, 8, 1);
  put (out, 8, 7);
  put (out, 8, 0);
  put (out, 8, 1 << 18 | 1 << 25);
  for (guint i = 0; i < 44; i += 4)
    put (out, 4, 0);
  put (out, 4, 1);
  while (out->len < start + 8 + 128)
    put (out, 4, 0);
  end_record (out, start, 6, 2);
}

static void
put_map (GByteArray *out, guint64 address, guint64 size, const char *path)
{
  guint start = out->len;

  put (out, 8, 10 | 2ull << 32);
  put (out, 8, PID | (guint64)PID << 32);
  put (out, 8, address);
  put (out, 8, size);
  put (out, 8, 0);
  for (guint i = 0; i < 24; i += 8)
    put (out, 8, 0);
  put (out, 8, 5);
  put_text (out, path, 8);
  put (out, 8, PID | (guint64)PID << 32);
  put (out, 8, 50);
  end_record (out, start, 6, 2);
}

static void
put_sample (GByteArray *out, guint64 ip, guint64 time)
{
  guint start = out->len;

  put (out, 8, 9 | 2ull << 32);
  put (out, 8, ip);
  put (out, 8, PID | (guint64)PID << 32);
  put (out, 8, time);
  end_record (out, start, 6, 2);
}

/* One address with two functions, one after the other. */
static void
test_jitdump (void)
{
  g_autofree char *folder = g_dir_make_tmp ("flambeau-jit-XXXXXX", NULL);
  g_autofree char *path = g_strdup_printf ("%s/jit-%d.dump", folder, PID);
  g_autoptr (GByteArray) dump = g_byte_array_new ();
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autoptr (FlamSource) source = NULL;
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (GError) error = NULL;

  put_jitdump (dump);
  g_file_set_contents (path, (const char *)dump->data, dump->len, &error);
  g_assert_no_error (error);
  g_byte_array_append (file, (const guint8 *)"PERFILE2", 8);
  put (file, 8, 16);
  put_event (file);
  put_map (file, CODE, 0x1000, "//anon");
  put_map (file, 0x80000, 0x1000, path);
  put_sample (file, CODE + 8, 150);
  put_sample (file, CODE + 8, 250);
  source = flam_source_new_from_data ("jit.perf.data", file->data, file->len);
  profile = flam_formats_load_source (source, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (profile->samples.n, ==, 2);
  g_assert_cmpstr (name_of (profile, profile->samples.stack[0]), ==, "early");
  g_assert_cmpstr (name_of (profile, profile->samples.stack[1]), ==, "late");
  g_unlink (path);
  g_rmdir (folder);
}

/* --- perf maps ----------------------------------------------------------- */

static gboolean
has_function (const char *path, const char *folder, const char *name)
{
  const char *const binaries[] = { folder, NULL };
  FlamLoadOptions options = { .binaries = folder != NULL ? binaries : NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_formats_load (path, &options, &error);

  g_assert_no_error (error);
  for (guint32 i = 0; i < profile->functions.n; i++)
    if (strcmp (flam_profile_function_name (profile, i), name) == 0)
      return TRUE;
  return FALSE;
}

/* If a capture is copied here, its map is, too: beside it, or into a folder of
 * --binaries. */
static void
test_map_beside (void)
{
  static const char map[] = "1000 40000 made_by_jit\n";
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("flam-map-XXXXXX", &error);
  g_autofree char *elsewhere = g_dir_make_tmp ("flam-map-XXXXXX", &error);
  g_autofree char *fixture =
      g_test_build_filename (G_TEST_DIST,
                             "captures",
                             "perf-data",
                             "shapes@little-endian.perf.data",
                             NULL);
  g_autofree char *path = g_build_filename (folder, "perf.data", NULL);
  g_autofree char *base_lines = g_build_filename (folder, "perf-101.map", NULL);
  g_autofree char *there = g_build_filename (elsewhere, "perf-101.map", NULL);
  g_autofree char *data = NULL;
  gsize size;

  g_assert_no_error (error);
  g_file_get_contents (fixture, &data, &size, &error);
  g_assert_no_error (error);
  g_file_set_contents (path, data, size, &error);
  g_assert_no_error (error);
  g_assert_false (has_function (path, NULL, "made_by_jit"));
  g_file_set_contents (there, map, -1, &error);
  g_assert_no_error (error);
  g_assert_false (has_function (path, NULL, "made_by_jit"));
  g_assert_true (has_function (path, elsewhere, "made_by_jit"));
  g_file_set_contents (base_lines, map, -1, &error);
  g_assert_no_error (error);
  g_assert_true (has_function (path, NULL, "made_by_jit"));
  g_unlink (base_lines);
  g_unlink (there);
  g_unlink (path);
  g_rmdir (folder);
  g_rmdir (elsewhere);
}

int
main (int argc, char **argv)
{
  static const char *const captures[] = {
    "nest-fp.perf.data",       "nest-nocg.perf.data",    "nest-pipe.perf.data",
    "nest-dwarf.perf.data",    "nest-dwarf-z.perf.data", "threads-fp.perf.data",
    "threads-dwarf.perf.data", "tmpl-dwarf16.perf.data", "twoevents.perf.data",
  };
  static const char *const scripts[][2] = {
    { "nest-fp.perf.data", "nest-fp.script.txt" },
    { "nest-dwarf.perf.data", "nest-dwarf.noinline.script.txt" },
    { "threads-fp.perf.data", "threads-fp.script.txt" },
    { "threads-dwarf.perf.data", "threads-dwarf.noinline.script.txt" },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      g_autofree char *name =
          g_strdup_printf ("/perf-data/numbers/%s", captures[i]);
      g_test_add_data_func (name, captures[i], test_numbers);
    }
  for (guint i = 0; i < G_N_ELEMENTS (scripts); i++)
    {
      g_autofree char *name =
          g_strdup_printf ("/perf-data/stacks/%s", scripts[i][0]);
      g_test_add_data_func (name, scripts[i], test_stacks);
    }
  g_test_add_func ("/perf-data/jitdump", test_jitdump);
  g_test_add_func ("/perf-data/map-beside", test_map_beside);
  return g_test_run ();
}
