/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A cached capture equals the original, byte by byte of its dump, and forged
 * bytes are not trusted. */

#include "flam-cache.h"
#include "flam-core-picture.h"
#include "flam-image.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY "key"

static GBytes *
image_of (const FlamProfile *profile)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("flam-image-XXXXXX", &path, NULL);
  char *data;
  gsize size;

  g_assert_cmpint (fd, >=, 0);
  g_assert_true (flam_image_write (profile, KEY, fd));
  close (fd);
  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  g_unlink (path);
  return g_bytes_new_take (data, size);
}

static FlamProfile *
read_image (GBytes *image)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (image, &size);

  return flam_image_read (data, size, KEY);
}

static gboolean
check_capture (const char *path)
{
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, NULL);
  g_autoptr (FlamProfile) again = NULL;
  g_autoptr (GBytes) image = NULL;
  g_autofree char *first = NULL;
  g_autofree char *second = NULL;

  if (profile == NULL || flam_profile_has_extras (profile))
    return FALSE;
  image = image_of (profile);
  again = read_image (image);
  if (again == NULL)
    {
      g_test_fail_printf ("%s: its image is refused", path);
      return TRUE;
    }
  first = flam_dump_profile (profile);
  second = flam_dump_profile (again);
  if (strcmp (first, second) != 0)
    g_test_fail_printf (
        "%s:\n%s\nand from its image:\n%s", path, first, second);
  return TRUE;
}

static void
test_captures (void)
{
  g_autofree char *root = g_test_build_filename (G_TEST_DIST, "captures", NULL);
  g_autoptr (GDir) folders = g_dir_open (root, 0, NULL);
  const char *folder, *name;
  guint n = 0;

  g_assert_nonnull (folders);
  while ((folder = g_dir_read_name (folders)) != NULL)
    {
      g_autofree char *path = g_build_filename (root, folder, NULL);
      g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);

      while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
        {
          g_autofree char *file = g_build_filename (path, name, NULL);

          if (!g_str_has_suffix (name, ".expected") &&
              !g_str_has_suffix (name, ".error"))
            n += check_capture (file);
        }
    }
  g_test_message ("%u captures", n);
  g_assert_cmpuint (n, >, 200);
}

/* --- made up -------------------------------------------------------------- */

/* A profile with data in every table. */
static FlamProfile *
make_profile (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamModuleId module = flam_builder_module (
      builder, "/usr/bin/x", "00ff", FLAM_ADDRESS_FILE_OFFSET);
  FlamProcessId process = flam_builder_process (builder, 7, 0);
  FlamProcessId child = flam_builder_process (builder, 8, 0);
  FlamStackId stack = FLAM_NONE;
  guint heap;

  flam_builder_set_format (builder, "folded");
  flam_builder_set_has_times (builder);
  flam_builder_add_column (builder);
  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            0,
                            FLAM_NONE);
  flam_builder_add_allocation_measures (builder);
  flam_builder_set_process_parent (builder, child, process);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *name = g_strdup_printf ("f%u", i);
      FlamFunction function = { .name = flam_builder_string (builder, name, -1),
                                .file =
                                    flam_builder_string (builder, "x.c", -1),
                                .module = i % 2 ? module : FLAM_NONE,
                                .line = i };
      FlamThreadId thread =
          flam_builder_thread (builder, i % 2 ? process : child, (gint32)i, 0);
      FlamSample sample = { .thread = thread, .time = 10 * i, .event = 1 };
      FlamAllocation block = { .time = 5 * i,
                               .freed_at = FLAM_NEVER,
                               .thread = thread,
                               .size = 16,
                               .count = 2,
                               .at_peak = 1 };
      gint64 weight = 100;

      stack = flam_builder_stack (
          builder,
          stack,
          flam_builder_frame (builder,
                              flam_builder_function (builder, &function),
                              0x10 * i,
                              i,
                              0));
      sample.stack = block.stack = stack;
      flam_builder_rename_thread (builder, thread, 0, "before");
      flam_builder_rename_thread (builder, thread, 2, "after");
      flam_builder_add_sample (builder, &sample, &weight);
      flam_builder_add_allocation (builder, &block);
      flam_builder_add_mark (builder, i, 1, thread, "mark");
    }
  heap = flam_builder_add_counter (builder, "heap", FLAM_UNIT_BYTES);
  flam_builder_add_counter_value (builder, heap, 3, 4096);
  flam_builder_warn (builder, "something is missing");
  return flam_builder_finish (builder, NULL);
}

static void
test_all_tables (void)
{
  g_autoptr (FlamProfile) profile = make_profile ();
  g_autoptr (GBytes) image = image_of (profile);
  g_autoptr (FlamProfile) again = read_image (image);
  g_autofree char *first = flam_dump_profile (profile);
  g_autofree char *second = again != NULL ? flam_dump_profile (again) : NULL;

  g_assert_cmpstr (first, ==, second);
}

static void
test_prefixes (void)
{
  g_autoptr (FlamProfile) profile = make_profile ();
  g_autoptr (GBytes) image = image_of (profile);

  for (gsize size = 0; size < g_bytes_get_size (image); size++)
    {
      g_autoptr (GBytes) part = g_bytes_new_from_bytes (image, 0, size);

      g_assert_null (read_image (part));
    }
}

/* One byte of a piece is changed and the hash corrected: whatever the result
 * is, it can be shown. */
static void
mutate (guint8 *data, gsize size, gsize piece, gsize length, guint *good)
{
  guint8 *cells = data + piece + 16;

  for (gsize at = 0; at < length; at++)
    for (guint mask = 1; mask < 256; mask = mask * 16 + 15)
      {
        guint32 hash;
        g_autoptr (FlamProfile) profile = NULL;

        cells[at] ^= (guint8)mask;
        hash = flam_hash_bytes (cells, length);
        memcpy (data + piece + 8, &hash, sizeof hash);
        profile = flam_image_read (data, size, KEY);
        if (profile != NULL)
          {
            g_autofree char *dump = flam_dump_profile (profile);

            flam_builder_free (flam_builder_new_copy (profile));
            *good += *dump != '\0';
          }
        cells[at] ^= (guint8)mask;
        hash = flam_hash_bytes (cells, length);
        memcpy (data + piece + 8, &hash, sizeof hash);
      }
}

/* A piece claims to be longer or shorter than it is. */
static void
mutate_size (guint8 *data, gsize size, gsize piece)
{
  for (gsize at = piece; at < piece + 8; at++)
    for (guint mask = 1; mask < 256; mask *= 2)
      {
        FlamProfile *profile;

        data[at] ^= (guint8)mask;
        profile = flam_image_read (data, size, KEY);
        g_clear_pointer (&profile, flam_profile_unref);
        data[at] ^= (guint8)mask;
      }
}

static void
test_made_up (void)
{
  g_autoptr (FlamProfile) profile = make_profile ();
  g_autoptr (GBytes) image = image_of (profile);
  gsize size;
  g_autofree guint8 *data =
      g_memdup2 (g_bytes_get_data (image, NULL), g_bytes_get_size (image));
  guint good = 0;

  size = g_bytes_get_size (image);
  for (gsize piece = 0; piece < size;)
    {
      guint64 length;

      memcpy (&length, data + piece, sizeof length);
      if (length == G_MAXUINT64)
        length = 0;
      mutate (data, size, piece, length, &good);
      mutate_size (data, size, piece);
      piece += 16 + (length + 7) / 8 * 8;
    }
  /* Any number is allowed, but not any id. */
  g_assert_cmpuint (good, >, 100);
}

/* --- the folder ----------------------------------------------------------- */

typedef struct
{
  char *folder;
  char *capture;
  char *kept;
  FlamProfile *profile;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer unused)
{
  fixture->folder = g_dir_make_tmp ("flam-cache-XXXXXX", NULL);
  fixture->capture = g_build_filename (fixture->folder, "x.folded", NULL);
  g_assert_true (
      g_file_set_contents (fixture->capture, "a;b 3\na;c 4\n", -1, NULL));
  fixture->kept = flam_cache_file (fixture->capture, NULL);
  g_assert_nonnull (fixture->kept);
  fixture->profile = flam_formats_load (fixture->capture, NULL, NULL);
  g_assert_nonnull (fixture->profile);
  flam_cache_trim (0);
}

static void
tear_down (Fixture *fixture, gconstpointer unused)
{
  g_unlink (fixture->capture);
  g_rmdir (fixture->folder);
  g_free (fixture->folder);
  g_free (fixture->capture);
  g_free (fixture->kept);
  flam_profile_unref (fixture->profile);
}

static gboolean
save (Fixture *fixture)
{
  return flam_cache_save (
      fixture->kept, fixture->capture, NULL, fixture->profile);
}

static void
test_folder (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *folder = g_path_get_dirname (fixture->kept);
  g_autoptr (FlamProfile) again = NULL;
  GStatBuf at;

  g_assert_null (flam_cache_load (fixture->kept));
  g_assert_true (save (fixture));
  g_assert_cmpint (g_stat (fixture->kept, &at), ==, 0);
  g_assert_cmpint (at.st_mode & 0777, ==, 0600);
  g_assert_cmpint (g_stat (folder, &at), ==, 0);
  g_assert_cmpint (at.st_mode & 0777, ==, 0700);
  again = flam_cache_load (fixture->kept);
  g_assert_nonnull (again);
  g_assert_null (flam_cache_file ("-", NULL));
  g_assert_null (flam_cache_file (folder, NULL));
}

static void
test_changed (Fixture *fixture, gconstpointer unused)
{
  FlamLoadOptions bytes = { .weights_as = FLAM_WEIGHTS_BYTES };
  g_autofree char *other = flam_cache_file (fixture->capture, &bytes);
  g_autofree char *now = NULL;

  g_assert_cmpstr (other, !=, fixture->kept);
  g_assert_true (
      g_file_set_contents (fixture->capture, "a;b 3\na;c 5\n", -1, NULL));
  now = flam_cache_file (fixture->capture, NULL);
  g_assert_cmpstr (now, !=, fixture->kept);
  /* It changed while it was read. */
  g_assert_false (save (fixture));
  g_assert_null (flam_cache_load (fixture->kept));
}

static void
test_damaged (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *data = NULL;
  gsize size;

  for (guint i = 0; i < 20; i++)
    {
      g_autoptr (FlamProfile) again = NULL;

      g_assert_true (save (fixture));
      g_clear_pointer (&data, g_free);
      g_assert_true (g_file_get_contents (fixture->kept, &data, &size, NULL));
      data[size / 2 / 16 * 16 + i % 8] ^= 1;
      g_assert_true (
          g_file_set_contents (fixture->kept, data, (gssize)size, NULL));
      again = flam_cache_load (fixture->kept);
      if (again == NULL)
        g_assert_false (g_file_test (fixture->kept, G_FILE_TEST_EXISTS));
    }
  g_assert_true (save (fixture));
  g_assert_cmpint (truncate (fixture->kept, (off_t)size / 2), ==, 0);
  g_assert_null (flam_cache_load (fixture->kept));
  g_assert_false (g_file_test (fixture->kept, G_FILE_TEST_EXISTS));
}

static void
set_age (const char *path, time_t seconds)
{
  struct timespec times[2] = { { .tv_sec = time (NULL) - seconds } };

  times[1] = times[0];
  g_assert_cmpint (utimensat (AT_FDCWD, path, times, 0), ==, 0);
}

/* The least recently used ones are removed; opening counts as a use. */
static void
test_bound (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *data = NULL;
  g_autofree char *folder = g_path_get_dirname (fixture->kept);
  g_autofree char *written = g_strconcat (fixture->kept, ".abcdef", NULL);
  char *names[4];
  gsize size;

  g_assert_true (save (fixture));
  g_assert_true (g_file_get_contents (fixture->kept, &data, &size, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      names[i] = g_strdup_printf ("%s/%u.image", folder, i);
      g_assert_true (g_file_set_contents (names[i], data, (gssize)size, NULL));
      set_age (names[i], 100 * (1 + i));
    }
  set_age (fixture->kept, 1000);
  flam_profile_unref (flam_cache_load (fixture->kept));
  flam_cache_trim (3 * size);
  g_assert_true (g_file_test (fixture->kept, G_FILE_TEST_EXISTS));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpint (g_file_test (names[i], G_FILE_TEST_EXISTS), ==, i < 2);
  g_assert_true (g_file_set_contents (written, data, (gssize)size, NULL));
  flam_cache_trim (0);
  g_assert_true (g_file_test (written, G_FILE_TEST_EXISTS));
  set_age (written, 5000);
  flam_cache_trim (0);
  g_assert_false (g_file_test (written, G_FILE_TEST_EXISTS));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_assert_false (g_file_test (names[i], G_FILE_TEST_EXISTS));
      g_free (names[i]);
    }
}

/* Their content depends on programs and libraries. */
static void
test_beside (void)
{
  g_assert_true (flam_importer_find ("perf-data")->base_lines);
  g_assert_true (flam_importer_find ("gmon")->base_lines);
  g_assert_false (flam_importer_find ("folded")->base_lines);
}

int
main (int argc, char *argv[])
{
  g_autofree char *home = g_dir_make_tmp ("flam-cache-home-XXXXXX", NULL);
  g_autofree char *ours = g_build_filename (home, "flambeau", NULL);
  g_autofree char *folder = g_build_filename (ours, "captures", NULL);
  int status;

  g_setenv ("XDG_CACHE_HOME", home, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cache/captures", test_captures);
  g_test_add_func ("/cache/all-tables", test_all_tables);
  g_test_add_func ("/cache/prefixes", test_prefixes);
  g_test_add_func ("/cache/made-up", test_made_up);
  g_test_add_func ("/cache/beside", test_beside);
  g_test_add ("/cache/folder", Fixture, NULL, set_up, test_folder, tear_down);
  g_test_add ("/cache/changed", Fixture, NULL, set_up, test_changed, tear_down);
  g_test_add ("/cache/damaged", Fixture, NULL, set_up, test_damaged, tear_down);
  g_test_add ("/cache/bound", Fixture, NULL, set_up, test_bound, tear_down);
  status = g_test_run ();
  flam_cache_trim (0);
  g_rmdir (folder);
  g_rmdir (ours);
  g_rmdir (home);
  return status;
}
