/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-jit.h"
#include "flam-jitdump.h"
#include "flam-perf-map.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static void
test_perf_map (void)
{
  static const char text[] = "1000 100 old one\n"
                             "1080 10 old two\n"
                             "not a line\n"
                             "ffffffffffffffff 10 wraps\n"
                             "1040 80 new; with a semicolon\r\n"
                             "2000 0 empty\n"
                             "3000 10 last without newline";
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "perf-7.map", NULL);
  g_autoptr (FlamPerfMap) map = NULL;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  map = flam_perf_map_open_in (folder, 7);
  g_assert_no_errno (g_remove (path));
  g_assert_no_errno (g_rmdir (folder));
  g_assert_null (flam_perf_map_find (map, 0xfff));
  g_assert_cmpstr (flam_perf_map_find (map, 0x1000), ==, "old one");
  g_assert_cmpstr (
      flam_perf_map_find (map, 0x1085), ==, "new; with a semicolon");
  g_assert_cmpstr (flam_perf_map_find (map, 0x10c0), ==, "old one");
  g_assert_null (flam_perf_map_find (map, 0x2000));
  g_assert_cmpstr (
      flam_perf_map_find (map, 0x300f), ==, "last without newline");
}

static void
test_perf_map_process (void)
{
  g_autofree char *path = g_strdup_printf ("/tmp/perf-%d.map", getpid ());
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamPerfMap) map = NULL;

  g_assert_true (g_file_set_contents (path, "10 10 mine\n", -1, NULL));
  map = flam_perf_map_open_process (getpid (), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (flam_perf_map_find (map, 0x18), ==, "mine");
  g_assert_no_errno (g_remove (path));
  g_assert_null (flam_perf_map_open_process (getpid (), &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_SYSTEM);
}

/* Any user may write into /tmp: another user's map is not trusted, nor a link,
 * nor a file that consists mostly of a hole. */
static void
test_perf_map_refused (void)
{
  g_autofree char *name = g_strdup_printf ("perf-%d.map", getpid ());
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *other = g_build_filename (folder, "other", NULL);
  FlamPerfMap *map;

  g_assert_true (g_file_set_contents (path, "10 10 mine\n", -1, NULL));
  map = flam_perf_map_open_in (folder, getpid ());
  g_assert_nonnull (map);
  flam_perf_map_free (map);
  if (geteuid () == 0)
    {
      g_assert_no_errno (chown (path, 65534, 65534));
      g_assert_null (flam_perf_map_open_in (folder, getpid ()));
      g_assert_no_errno (chown (path, 0, 65534));
    }
  g_assert_no_errno (rename (path, other));
  g_assert_no_errno (symlink (other, path));
  g_assert_null (flam_perf_map_open_in (folder, getpid ()));
  g_assert_no_errno (g_remove (path));
  g_assert_no_errno (rename (other, path));
  g_assert_no_errno (truncate (path, (off_t)1 << 30));
  map = flam_perf_map_open_in (folder, getpid ());
  g_assert_nonnull (map);
  flam_perf_map_free (map);
  g_assert_no_errno (truncate (path, ((off_t)1 << 30) + 1));
  g_assert_null (flam_perf_map_open_in (folder, getpid ()));
  g_assert_no_errno (g_remove (path));
  g_assert_no_errno (g_rmdir (folder));
}

static void
test_process (void)
{
  g_autofree char *path = g_strdup_printf ("/tmp/perf-%d.map", getpid ());
  g_autofree char *module = flam_jit_module_path (getpid ());
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamJit) jit = NULL;
  g_autoptr (FlamJit) late = NULL;
  FlamJitFrame frame;

  g_assert_cmpint (flam_jit_module_pid (module), ==, getpid ());
  g_assert_cmpint (
      flam_jit_module_pid ("[generated code of process 7"), ==, -1);
  g_assert_cmpint (flam_jit_module_pid ("[heap]"), ==, -1);
  g_assert_true (
      g_file_set_contents (path, "10 10 py::f:/a.py\n20 8 g\n", -1, NULL));
  jit = flam_jit_open_process (getpid (), NULL, 0, &error);
  g_assert_no_error (error);
  g_assert_true (flam_jit_find (jit, 0x1f, 1, &frame));
  g_assert_cmpstr (frame.name, ==, "f");
  g_assert_cmpstr (frame.file, ==, "/a.py");
  g_assert_cmpint (frame.kind, ==, FLAM_KIND_INTERPRETED);
  g_assert_true (flam_jit_find (jit, 0x20, 1, &frame));
  g_assert_cmpstr (frame.name, ==, "g");
  g_assert_cmpint (frame.kind, ==, FLAM_KIND_JIT);
  g_assert_false (flam_jit_find (jit, 0x28, 1, &frame));
  late = flam_jit_open_process (
      getpid (), NULL, g_get_real_time () * 1000 + 5000000000, &error);
  g_assert_null (late);
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_SYSTEM);
  g_assert_no_errno (g_remove (path));
  g_clear_error (&error);
  g_assert_null (flam_jit_open_process (getpid (), NULL, 0, &error));
  g_assert_nonnull (strstr (error->message, "did not write the names"));
}

static void
test_python (void)
{
  g_autofree char *function = NULL;
  g_autofree char *file = NULL;

  g_assert_false (flam_perf_map_split_python ("fib", &function, &file));
  g_assert_false (flam_perf_map_split_python ("py::x", &function, &file));
  g_assert_true (
      flam_perf_map_split_python ("py::A.fib:/a/b.py", &function, &file));
  g_assert_cmpstr (function, ==, "A.fib");
  g_assert_cmpstr (file, ==, "/a/b.py");
}

static void
test_v8 (void)
{
  static const char *const others[] = { "JS:*fib",        "fib /a.js:1:2",
                                        "JS:x /a.js:1",   "JS: :1:2",
                                        "JS:x a.js:1:2x", "" };
  g_autofree char *file = NULL;
  g_autofree char *module = NULL;
  guint32 line = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    g_assert_false (flam_perf_map_split_v8 (others[i], &file, &line));
  g_assert_true (
      flam_perf_map_split_v8 ("JS:*fib /a b/fib.js:31:13", &file, &line));
  g_assert_cmpstr (file, ==, "/a b/fib.js");
  g_assert_cmpuint (line, ==, 31);
  g_assert_true (flam_perf_map_split_v8 (
      "LazyCompile:~f file:///x.mjs:7:1", &module, &line));
  g_assert_cmpstr (module, ==, "/x.mjs");
}

/* --- a jitdump, written here ---------------------------------------------- */

static gboolean swapped;

static void
u32 (GByteArray *out, guint32 value)
{
  if (swapped)
    value = GUINT32_SWAP_LE_BE (value);
  g_byte_array_append (out, (const guint8 *)&value, 4);
}

static void
u64 (GByteArray *out, guint64 value)
{
  if (swapped)
    value = GUINT64_SWAP_LE_BE (value);
  g_byte_array_append (out, (const guint8 *)&value, 8);
}

static void
text (GByteArray *out, const char *value)
{
  g_byte_array_append (out, (const guint8 *)value, strlen (value) + 1);
}

static void
record (GByteArray *out, guint32 id, guint64 time, GByteArray *body)
{
  u32 (out, id);
  u32 (out, 16 + body->len);
  u64 (out, time);
  g_byte_array_append (out, body->data, body->len);
  g_byte_array_set_size (body, 0);
}

static void
load (GByteArray *out,
      guint64 time,
      guint64 address,
      guint64 size,
      guint64 index,
      const char *name)
{
  g_autoptr (GByteArray) body = g_byte_array_new ();

  u32 (body, 7);
  u32 (body, 7);
  u64 (body, address);
  u64 (body, address);
  u64 (body, size);
  u64 (body, index);
  text (body, name);
  for (guint64 i = 0; i < size; i++)
    g_byte_array_append (body, (const guint8 *)"\xcc", 1);
  record (out, 0, time, body);
}

static GByteArray *
make (gboolean swap)
{
  GByteArray *out = g_byte_array_new ();
  g_autoptr (GByteArray) body = g_byte_array_new ();

  swapped = swap;
  u32 (out, 0x4A695444);
  u32 (out, 1);
  u32 (out, 40);
  u32 (out, 62);
  u32 (out, 0);
  u32 (out, 4321);
  u64 (out, 1);
  u64 (out, 0);
  u64 (body, 0x1000);
  u64 (body, 4);
  u64 (body, 0x1002);
  u32 (body, 11);
  u32 (body, 0);
  text (body, "a.js");
  u64 (body, 0x1010);
  u32 (body, 12);
  u32 (body, 0);
  text (body, "\xff");
  u64 (body, 0x1038);
  u32 (body, 99);
  u32 (body, 0);
  text (body, "other.js");
  u64 (body, 0x103c);
  u32 (body, 13);
  u32 (body, 0);
  text (body, "a.js");
  record (out, 2, 90, body);
  load (out, 100, 0x1000, 0x40, 1, "first");
  load (out, 200, 0x1020, 0x10, 2, "second");
  u32 (body, 7);
  u32 (body, 7);
  u64 (body, 0);
  u64 (body, 0x1000);
  u64 (body, 0x5000);
  u64 (body, 0x40);
  u64 (body, 1);
  record (out, 1, 300, body);
  load (out, 400, 0x1000, 0x40, 3, "third");
  record (out, 3, 500, body);
  return out;
}

static void
assert_at (const FlamJitdump *jitdump,
           guint64 address,
           guint64 time,
           const char *name,
           guint32 line)
{
  FlamJitSymbol symbol;

  g_assert_true (flam_jitdump_find (jitdump, address, time, &symbol));
  g_assert_cmpstr (symbol.name, ==, name);
  g_assert_cmpuint (symbol.line, ==, line);
  g_assert_cmpstr (symbol.file, ==, line ? "a.js" : "");
}

static void
check_jitdump (gboolean swap)
{
  g_autoptr (GByteArray) bytes = make (swap);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamJitdump) jitdump =
      flam_jitdump_new_from_data ("x", bytes->data, bytes->len, &error);
  FlamJitSymbol symbol;

  g_assert_no_error (error);
  g_assert_false (flam_jitdump_find (jitdump, 0x1000, 99, &symbol));
  assert_at (jitdump, 0x1000, 100, "first", 11);
  assert_at (jitdump, 0x1025, 150, "first", 12);
  assert_at (jitdump, 0x1025, 250, "second", 0);
  assert_at (jitdump, 0x1035, 250, "first", 12);
  assert_at (jitdump, 0x103d, 250, "first", 13);
  g_assert_true (flam_jitdump_find (jitdump, 0x1039, 250, &symbol));
  g_assert_cmpstr (symbol.file, ==, "a.js");
  g_assert_cmpuint (symbol.line, ==, 0);
  g_assert_false (flam_jitdump_find (jitdump, 0x5011, 299, &symbol));
  assert_at (jitdump, 0x5011, 300, "first", 12);
  assert_at (jitdump, 0x1025, 1000, "third", 0);
  g_assert_false (flam_jitdump_find (jitdump, 0x1040, 1000, &symbol));
}

static void
test_jitdump (void)
{
  check_jitdump (FALSE);
  check_jitdump (TRUE);
}

/* A name that does not end in its record, but in the next one, is invalid. */
static void
test_jitdump_names (void)
{
  g_autoptr (GByteArray) bytes = make (FALSE);
  g_autoptr (GByteArray) body = g_byte_array_new ();
  g_autoptr (FlamJitdump) jitdump = NULL;
  FlamJitSymbol symbol;

  g_byte_array_set_size (bytes, 40);
  load (bytes, 100, 0x1000, 0x40, 1, "whole");
  u32 (body, 7);
  u32 (body, 7);
  u64 (body, 0x2000);
  u64 (body, 0x2000);
  u64 (body, 0x40);
  u64 (body, 2);
  g_byte_array_append (body, (const guint8 *)"without", 7);
  record (bytes, 0, 200, body);
  load (bytes, 300, 0x3000, 0x40, 3, "last");
  jitdump = flam_jitdump_new_from_data ("x", bytes->data, bytes->len, NULL);
  g_assert_nonnull (jitdump);
  g_assert_true (flam_jitdump_find (jitdump, 0x1000, 1000, &symbol));
  g_assert_cmpstr (symbol.name, ==, "whole");
  g_assert_false (flam_jitdump_find (jitdump, 0x2000, 1000, &symbol));
  g_assert_true (flam_jitdump_find (jitdump, 0x3000, 1000, &symbol));
  g_assert_cmpstr (symbol.name, ==, "last");
}

/* Every prefix, and flipped bytes: a result or an error, never a crash. */
static void
test_jitdump_hostile (void)
{
  g_autoptr (GByteArray) bytes = make (FALSE);
  guint n = bytes->len;

  for (guint i = 0; i < n + 3000; i++)
    {
      gsize size = i < n ? i : n;
      g_autofree guint8 *copy = g_memdup2 (bytes->data, MAX (size, 1));
      g_autoptr (FlamJitdump) jitdump = NULL;
      g_autoptr (GError) error = NULL;
      FlamJitSymbol symbol;

      for (guint j = 0; i >= n && j < 3; j++)
        copy[g_test_rand_int_range (0, (gint)n)] =
            (guint8)g_test_rand_int_range (0, 256);
      jitdump = flam_jitdump_new_from_data ("x", copy, size, &error);
      if (jitdump)
        flam_jitdump_find (jitdump, 0x1015, 250, &symbol);
      else
        g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/jit/perf-map", test_perf_map);
  g_test_add_func ("/jit/perf-map-process", test_perf_map_process);
  g_test_add_func ("/jit/perf-map-refused", test_perf_map_refused);
  g_test_add_func ("/jit/process", test_process);
  g_test_add_func ("/jit/python", test_python);
  g_test_add_func ("/jit/v8", test_v8);
  g_test_add_func ("/jit/jitdump", test_jitdump);
  g_test_add_func ("/jit/jitdump-names", test_jitdump_names);
  g_test_add_func ("/jit/jitdump-hostile", test_jitdump_hostile);
  return g_test_run ();
}
