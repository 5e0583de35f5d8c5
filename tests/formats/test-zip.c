/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Zip archives: with only a capture, with more files, and truncated. */

#include "flam-source.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static char *folder;

static char *
write_file (const void *data, gsize size)
{
  char *path = g_build_filename (folder, "a.zip", NULL);
  g_autoptr (GError) error = NULL;

  g_unlink (path); /* in place of another file, it would be synced */
  g_file_set_contents (path, data, size, &error);
  g_assert_no_error (error);
  return path;
}

static GString *
make_text (guint lines)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < lines; i++)
    g_string_append_printf (text, "main;f%x 1\n", g_test_rand_int ());
  return text;
}

static GByteArray *
gzip (const GString *text)
{
  g_autoptr (GZlibCompressor) compressor =
      g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1);
  GByteArray *out = g_byte_array_new ();
  gsize read, written;

  g_byte_array_set_size (out, text->len + 65536);
  g_assert_cmpint (g_converter_convert (G_CONVERTER (compressor),
                                        text->str,
                                        text->len,
                                        out->data,
                                        out->len,
                                        G_CONVERTER_INPUT_AT_END,
                                        &read,
                                        &written,
                                        NULL),
                   ==,
                   G_CONVERTER_FINISHED);
  g_byte_array_set_size (out, written);
  return out;
}

/* A zip archive of named files. */
static GByteArray *
zip (guint n, const char *const *names, const void *data, gsize size)
{
  GByteArray *out = g_byte_array_new ();
  struct archive *archive = archive_write_new ();
  gsize used = 0;

  g_byte_array_set_size (out, (size + 4096) * n + 65536);
  archive_write_set_format_zip (archive);
  archive_write_set_bytes_in_last_block (archive, 1);
  g_assert_cmpint (
      archive_write_open_memory (archive, out->data, out->len, &used),
      ==,
      ARCHIVE_OK);
  for (guint i = 0; i < n; i++)
    {
      gboolean is_folder = g_str_has_suffix (names[i], "/");
      struct archive_entry *entry = archive_entry_new ();

      archive_entry_set_pathname (entry, names[i]);
      archive_entry_set_filetype (entry, is_folder ? AE_IFDIR : AE_IFREG);
      archive_entry_set_perm (entry, 0644);
      archive_entry_set_size (entry, is_folder ? 0 : size);
      g_assert_cmpint (archive_write_header (archive, entry), ==, ARCHIVE_OK);
      if (!is_folder)
        g_assert_cmpint (archive_write_data (archive, data, size), ==, size);
      archive_entry_free (entry);
    }
  archive_write_close (archive);
  archive_write_free (archive);
  g_byte_array_set_size (out, used);
  return out;
}

static void
test_zip (void)
{
  static const char *const alone[] = {
    "out/", "out/a.folded.gz", "__MACOSX/out/._a", "out/.DS_Store"
  };
  static const char *const several[] = { "a.folded", "b.folded" };
  static const char *const instruments[] = { "x.trace/form", "x.trace/Trace1" };
  static const char *const nothing[] = { "out/" };
  static const struct
  {
    const char *const *names;
    guint n;
    const char *why; /* NULL: it opens */
  } cases[] = {
    { alone, G_N_ELEMENTS (alone), NULL },
    { several, G_N_ELEMENTS (several), "has several files" },
    { instruments, G_N_ELEMENTS (instruments), "xctrace export" },
    { nothing, G_N_ELEMENTS (nothing), "has no files" },
  };
  g_autoptr (GString) text = make_text (20000);
  g_autoptr (GByteArray) packed = gzip (text);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) all =
          zip (cases[i].n, cases[i].names, packed->data, packed->len);
      g_autofree char *path = write_file (all->data, all->len);
      g_autoptr (GError) error = NULL;
      g_autoptr (FlamSource) source = flam_source_open (path, NULL, &error);

      if (cases[i].why == NULL)
        {
          g_assert_no_error (error);
          g_assert_cmpmem (source->data, source->size, text->str, text->len);
        }
      else
        {
          g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
          g_assert_nonnull (strstr (error->message, cases[i].why));
        }
    }
}

/* Every length ends with an error or a partial capture, and standard input
 * stays open. */
static void
test_zip_cut (void)
{
  static const char *const alone[] = { "a.folded" };
  g_autoptr (GString) text = make_text (40);
  g_autoptr (GByteArray) all = zip (1, alone, text->str, text->len);

  for (gsize size = 0; size < all->len; size++)
    {
      g_autofree char *path = write_file (all->data, size);
      g_autoptr (GError) error = NULL;
      g_autoptr (FlamSource) source = flam_source_open (path, NULL, &error);

      g_assert_true ((source != NULL) == (error == NULL));
      if (source != NULL && size > 4)
        g_assert_cmpuint (source->size, <=, text->len);
      g_assert_cmpint (fcntl (0, F_GETFD), !=, -1);
    }
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("flam-zip-XXXXXX", NULL);
  g_test_add_func ("/zip/only-file", test_zip);
  g_test_add_func ("/zip/cut", test_zip_cut);
  status = g_test_run ();
  {
    g_autofree char *path = g_build_filename (folder, "a.zip", NULL);
    g_unlink (path);
  }
  g_rmdir (folder);
  g_free (folder);
  return status;
}
