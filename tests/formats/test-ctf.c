/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Traces in the Common Trace Format whose streams or descriptions are damaged:
 * each becomes a profile or an error. The fuzzers only change the file that is
 * opened, but the events are in others. */

#include "flam-formats.h"

#include <glib/gstdio.h>

#define ROUNDS 300

typedef struct
{
  char *folder;
  const char *trace; /* in captures/ctf */
  const char *files[3];
} Copy;

static char *
read_file (const Copy *copy, const char *name, gsize *size)
{
  g_autofree char *path = g_test_build_filename (
      G_TEST_DIST, "captures", "ctf", copy->trace, name, NULL);
  g_autoptr (GError) error = NULL;
  char *data;

  g_file_get_contents (path, &data, size, &error);
  g_assert_no_error (error);
  return data;
}

static void
write_file (const Copy *copy, const char *name, const char *data, gsize size)
{
  g_autofree char *path = g_build_filename (copy->folder, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents_full (
      path, data, (gssize)size, G_FILE_SET_CONTENTS_NONE, 0600, &error);
  g_assert_no_error (error);
}

/* TRUE: a profile. */
static gboolean
load (const Copy *copy)
{
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (GError) error = NULL;

  profile = flam_formats_load (copy->folder, NULL, &error);
  g_assert_true ((profile == NULL) == (error != NULL));
  return profile != NULL;
}

/* Some of the bytes, and sometimes the end. */
static void
damage (GRand *rand, const Copy *copy, const char *name)
{
  gsize size;
  g_autofree char *data = read_file (copy, name, &size);
  gint32 n = g_rand_int_range (rand, 1, 5);

  for (gint32 i = 0; i < n; i++)
    data[g_rand_int_range (rand, 0, (gint32)size)] =
        (char)(g_rand_boolean (rand) ? g_rand_int_range (rand, 0, 256)
                                     : "\0\1\xff\x80"[i % 4]);
  if (g_rand_int_range (rand, 0, 8) == 0)
    size = (gsize)g_rand_int_range (rand, 0, (gint32)size);
  write_file (copy, name, data, size);
}

static void
test_damaged (gconstpointer data)
{
  Copy copy = *(const Copy *)data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (17);
  g_autoptr (GError) error = NULL;
  guint profiles = 0;

  copy.folder = g_dir_make_tmp ("flambeau-ctf.XXXXXX", &error);
  g_assert_no_error (error);
  for (guint round = 0; round < ROUNDS; round++)
    {
      guint n = 0;

      for (; n < G_N_ELEMENTS (copy.files) && copy.files[n] != NULL; n++)
        {
          gsize size;
          g_autofree char *whole = read_file (&copy, copy.files[n], &size);

          write_file (&copy, copy.files[n], whole, size);
        }
      if (round == 0)
        g_assert_true (load (&copy));
      damage (rand, &copy, copy.files[round % n]);
      profiles += load (&copy);
    }
  g_assert_cmpuint (profiles, >, ROUNDS / 10);
  g_assert_cmpuint (profiles, <, ROUNDS);
  for (guint i = 0; i < G_N_ELEMENTS (copy.files) && copy.files[i] != NULL; i++)
    {
      g_autofree char *path =
          g_build_filename (copy.folder, copy.files[i], NULL);

      g_assert_cmpint (g_unlink (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (copy.folder), ==, 0);
  g_free (copy.folder);
}

static const Copy copies[] = {
  { .trace = "session/ust/pid/mill-70-20260922-161320",
    .files = { "metadata", "channel0_0", "channel0_1" } },
  { .trace = "kernel/kernel",
    .files = { "metadata", "channel0_0", "channel0_1" } },
  { .trace = "bare", .files = { "metadata", "stream" } },
};

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (copies); i++)
    {
      g_autofree char *name = g_strdup_printf ("/ctf/damaged/%u", i);

      g_test_add_data_func (name, &copies[i], test_damaged);
    }
  return g_test_run ();
}
