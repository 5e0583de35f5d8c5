/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Files of every length in every wrapper, whole and truncated. */

#include "flam-core-picture.h"
#include "flam-formats.h"
#include "flam-unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct
{
  const char *suffix;
  int (*add) (struct archive *);
} Wrapper;

static const Wrapper wrappers[] = {
  { ".gz", archive_write_add_filter_gzip },
  { ".xz", archive_write_add_filter_xz },
  { ".bz2", archive_write_add_filter_bzip2 },
  { ".zst", archive_write_add_filter_zstd },
  { ".lz4", archive_write_add_filter_lz4 },
};

static char *folder;

static char *
write_file (const char *name, const void *data, gsize size)
{
  char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  g_unlink (path); /* replacing another file would sync it */
  g_file_set_contents (path, data, size, &error);
  g_assert_no_error (error);
  return path;
}

static GByteArray *
wrap (const Wrapper *wrapper, const void *data, gsize size)
{
  GByteArray *out = g_byte_array_new ();
  struct archive *archive = archive_write_new ();
  struct archive_entry *entry = archive_entry_new ();
  gsize used = 0;

  g_byte_array_set_size (out, size * 2 + 65536);
  archive_write_set_format_raw (archive);
  g_assert_cmpint (wrapper->add (archive), >=, ARCHIVE_WARN);
  archive_write_set_bytes_in_last_block (archive, 1);
  g_assert_cmpint (
      archive_write_open_memory (archive, out->data, out->len, &used),
      ==,
      ARCHIVE_OK);
  archive_entry_set_pathname (entry, "data");
  archive_entry_set_filetype (entry, AE_IFREG);
  g_assert_cmpint (archive_write_header (archive, entry), ==, ARCHIVE_OK);
  g_assert_cmpint (archive_write_data (archive, data, size), ==, size);
  archive_entry_free (entry);
  archive_write_close (archive);
  archive_write_free (archive);
  g_byte_array_set_size (out, used);
  return out;
}

/* Lines that do not compress to nothing. */
static GString *
make_text (guint lines)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < lines; i++)
    g_string_append_printf (
        text, "main;f%x;g%x 1\n", g_test_rand_int (), g_test_rand_int ());
  return text;
}

static void
test_sizes (void)
{
  const gsize page = sysconf (_SC_PAGESIZE);
  const gsize sizes[] = { 0, 1, page - 1, page, page + 1, 3 * page };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *data = g_strnfill (sizes[i], 'x');
      g_autofree char *path = write_file ("sized", data, sizes[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (FlamSource) source = flam_source_open (path, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpmem (source->data, source->size, data, sizes[i]);
      g_assert_cmpint (source->data[sizes[i]], ==, 0);
      g_assert_false (source->truncated);
    }
}

static void
test_wrappers (void)
{
  g_autoptr (GString) text = make_text (20000);

  for (guint i = 0; i < G_N_ELEMENTS (wrappers); i++)
    {
      const Wrapper *outer = &wrappers[(i + 1) % G_N_ELEMENTS (wrappers)];
      g_autoptr (GByteArray) once = wrap (&wrappers[i], text->str, text->len);
      g_autoptr (GByteArray) twice = wrap (outer, once->data, once->len);
      g_autofree char *name =
          g_strconcat ("a.folded", wrappers[i].suffix, outer->suffix, NULL);
      g_autofree char *path = write_file (name, twice->data, twice->len);
      g_autoptr (GError) error = NULL;
      g_autoptr (FlamSource) source = flam_source_open (path, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpstr (source->name, ==, "a.folded");
      g_assert_cmpmem (source->data, source->size, text->str, text->len);
      g_assert_false (source->truncated);
      g_assert_cmpuint (source->packed_size, ==, twice->len);
    }
}

/* Two concatenated files are one text, and data that merely begins like a
 * wrapper stays unchanged. */
static void
test_zstd (void)
{
  g_autoptr (GString) text = make_text (20000);
  const char *const texts[] = { "BZhello;a 1\n", text->str, text->str };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      gsize n = strlen (texts[i]), cut = i == 2 ? 1000 : 0;
      g_autoptr (GByteArray) packed = wrap (&wrappers[3], texts[i], n);
      g_autofree guint8 *again = g_memdup2 (packed->data, packed->len);
      g_byte_array_append (packed, again, packed->len);
      g_autofree char *path =
          write_file ("twice", packed->data, packed->len - cut);
      g_autoptr (GError) error = NULL;
      g_autoptr (FlamSource) source = flam_source_open (path, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (source->truncated == (cut > 0));
      g_assert_cmpmem (source->data, n, texts[i], n);
      g_assert_cmpuint (source->size, <=, 2 * n - (cut > 0));
      n = source->size - n;
      g_assert_cmpmem (source->data + source->size - n, n, texts[i], n);
      g_assert_true (cut > 0 || n == strlen (texts[i]));
    }
}

/* The unpacked part is available without the half line at its end, and is
 * marked as partial. A block of lz4 is 4 MiB, and is unpacked whole or not at
 * all. */
static void
test_cut (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (wrappers); i++)
    {
      gboolean large = strcmp (wrappers[i].suffix, ".lz4") == 0;
      g_autoptr (GString) text = make_text (large ? 500000 : 90000);
      g_autoptr (GByteArray) packed = wrap (&wrappers[i], text->str, text->len);
      g_autofree char *path = write_file ("cut", packed->data, packed->len / 2);
      g_autoptr (GError) error = NULL;
      g_autoptr (FlamSource) source = flam_source_open (path, NULL, &error);
      g_autoptr (FlamProfile) profile = NULL;

      g_test_message ("%s", wrappers[i].suffix);
      g_assert_no_error (error);
      g_assert_true (source->truncated);
      g_assert_cmpuint (source->size, >, 0);
      g_assert_cmpuint (source->size, <, text->len);
      g_assert_cmpmem (source->data, source->size, text->str, source->size);
      profile = flam_formats_load_source (source, NULL, &error);
      g_assert_no_error (error);
      g_assert_false (profile->facts.complete);
      g_assert_nonnull (profile->facts.warnings[0]);
      g_assert_null (profile->facts.warnings[1]); /* no bad line */
    }
}

static void
test_damaged (void)
{
  g_autoptr (GString) text = make_text (2000);

  for (guint i = 0; i < G_N_ELEMENTS (wrappers); i++)
    {
      g_autoptr (GByteArray) packed = wrap (&wrappers[i], text->str, text->len);
      for (guint round = 0; round < 40; round++)
        {
          guint at = g_test_rand_int_range (0, packed->len);
          guint8 old = packed->data[at];
          packed->data[at] = g_test_rand_int_range (0, 256);
          g_autofree char *path =
              write_file ("damaged", packed->data, packed->len);
          g_autoptr (GError) error = NULL;
          g_autoptr (FlamSource) source = flam_source_open (path, NULL, &error);
          g_assert_true ((source == NULL) == (error != NULL));
          packed->data[at] = old;
        }
    }
}

static void
expect_error (const char *path, FlamError code)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamSource) source = flam_source_open (path, NULL, &error);

  g_assert_null (source);
  g_assert_error (error, FLAM_ERROR, (int)code);
  g_assert_true (g_str_has_prefix (error->message, path));
}

static void
test_errors (void)
{
  g_autofree char *missing = g_build_filename (folder, "missing", NULL);
  g_autofree char *stub =
      write_file ("stub", "\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff\xff\xff\xff", 15);

  expect_error (missing, FLAM_ERROR_SYSTEM);
  expect_error (folder, FLAM_ERROR_SYSTEM);
  expect_error (stub, FLAM_ERROR_INVALID);
}

static gboolean
stop (gpointer data, double fraction)
{
  guint *calls = data;

  return ++*calls < 3;
}

static void
test_cancel (void)
{
  g_autoptr (GString) text = make_text (400000);
  g_autoptr (GByteArray) packed = wrap (&wrappers[0], text->str, text->len);
  g_autofree char *path = write_file ("cancel", packed->data, packed->len);
  g_autofree char *plain = write_file ("plain", text->str, text->len);
  guint calls = 2; /* unpacking reports at least once */
  const FlamProgress progress = { stop, &calls };
  const FlamLoadOptions options = { .progress = &progress };
  g_autoptr (GError) error = NULL;

  g_assert_null (flam_source_open (path, &progress, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_CANCELLED);
  g_clear_error (&error);
  calls = 0;
  g_assert_null (flam_formats_load (plain, &options, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_CANCELLED);
}

static void
test_standard_input (void)
{
  g_autoptr (GString) text = make_text (100000);
  g_autoptr (GByteArray) packed = wrap (&wrappers[3], text->str, text->len);
  g_autofree char *path = write_file ("input", packed->data, packed->len);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamSource) file = NULL;
  g_autoptr (FlamSource) pipe = NULL;
  g_autofree char *command = g_strdup_printf ("cat '%s'", path);
  FILE *stream;
  int kept = dup (STDIN_FILENO);
  int fd = open (path, O_RDONLY);

  dup2 (fd, STDIN_FILENO);
  file = flam_source_open ("-", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (file->data, file->size, text->str, text->len);
  stream = popen (command, "r");
  dup2 (fileno (stream), STDIN_FILENO);
  pipe = flam_source_open ("-", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (pipe->data, pipe->size, text->str, text->len);
  dup2 (kept, STDIN_FILENO);
  pclose (stream);
  close (fd);
  close (kept);
}

static void
test_kind (void)
{
  static const char text[] = "main;grow 4096\n";
  const FlamLoadOptions options = { .weights_as = FLAM_WEIGHTS_BYTES };
  g_autoptr (FlamSource) source =
      flam_source_new_from_data ("a", text, strlen (text));
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile =
      flam_formats_load_source (source, &options, &error);

  g_assert_no_error (error);
  g_assert_true (flam_profile_has_kind (profile, FLAM_MEASURE_ALLOC));
  g_assert_false (flam_profile_has_kind (profile, FLAM_MEASURE_CPU));
  g_assert_cmpint (profile->measures[0].unit, ==, FLAM_UNIT_BYTES);
}

/* --- files that others change -------------------------------------------- */

typedef struct
{
  const char *path;
  gsize to;
  guint calls; /* or microseconds to wait */
} Cut;

static gboolean
cut_short (gpointer data, double fraction)
{
  Cut *cut = data;

  if (++cut->calls == 2)
    g_assert_cmpint (truncate (cut->path, (off_t)cut->to), ==, 0);
  return TRUE;
}

static void
expect_shorter (FlamProfile *profile, const GError *error)
{
  g_assert_null (profile);
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_SYSTEM);
  g_assert_nonnull (strstr (error->message, "became shorter"));
}

/* In the middle of it, plain and wrapped: an error, and no SIGBUS. */
static void
test_shorter (void)
{
  g_autoptr (GString) text = make_text (100000);
  g_autoptr (GByteArray) packed = wrap (&wrappers[0], text->str, text->len);

  for (guint wrapped = 0; wrapped < 2; wrapped++)
    {
      const void *data = wrapped ? (void *)packed->data : (void *)text->str;
      gsize size = wrapped ? packed->len : text->len;
      const gsize sizes[] = { 0, 1, 4096, 4097, size / 3, size / 2, size - 1 };

      for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
        {
          g_autofree char *path = write_file ("shorter", data, size);
          Cut cut = { path, sizes[i] };
          const FlamProgress progress = { cut_short, &cut };
          const FlamLoadOptions options = { .progress = &progress };
          g_autoptr (GError) error = NULL;
          g_autoptr (FlamProfile) profile =
              flam_formats_load (path, &options, &error);

          g_assert_cmpuint (cut.calls, >=, 2);
          expect_shorter (profile, error);
        }
    }
}

static gpointer
cut_at_random (gpointer data)
{
  Cut *cut = data;

  g_usleep (cut->calls);
  if (truncate (cut->path, (off_t)cut->to) != 0)
    g_assert_not_reached ();
  return NULL;
}

/* At any moment: an error, or all of it if it came too late. */
static void
test_shorter_at_random (void)
{
  g_autoptr (GString) text = make_text (8000);
  g_autofree char *whole_path = write_file ("shorter", text->str, text->len);
  gint64 begun = g_get_monotonic_time ();
  g_autoptr (FlamProfile) whole = flam_formats_load (whole_path, NULL, NULL);
  g_autofree char *expected = flam_dump_profile (whole);
  gint32 took = (gint32)(g_get_monotonic_time () - begun);
  guint errors = 0;

  for (guint i = 0; i < 24; i++)
    {
      g_autofree char *path = write_file ("shorter", text->str, text->len);
      Cut cut = { path,
                  (gsize)g_test_rand_int_range (0, (gint32)text->len),
                  (guint)g_test_rand_int_range (0, 2 * took) };
      GThread *thread = g_thread_new ("cut", cut_at_random, &cut);
      g_autoptr (GError) error = NULL;
      g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, &error);
      g_autofree char *dump = NULL;

      g_thread_join (thread);
      if (profile == NULL)
        {
          errors++;
          /* Before it was opened: it was simply a shorter file. */
          continue;
        }
      dump = flam_dump_profile (profile);
      if (strlen (dump) == strlen (expected))
        g_assert_cmpstr (dump, ==, expected);
    }
  g_test_message ("%u of 24 were errors", errors);
}

/* --- small files that unpack to huge ones ----------------------------------
 */

/* `first`, and `n` MiB of spaces, packed twice. */
static char *
write_bomb (const char *first, guint n)
{
  g_autofree char *spaces = g_strnfill (1 << 20, ' ');
  g_autoptr (GByteArray) head = wrap (&wrappers[0], first, strlen (first));
  g_autoptr (GByteArray) one = wrap (&wrappers[0], spaces, 1 << 20);
  g_autoptr (GByteArray) packed = NULL;

  for (guint i = 0; i < n; i++)
    g_byte_array_append (head, one->data, one->len);
  packed = wrap (&wrappers[3], head->data, head->len);
  return write_file ("bomb", packed->data, packed->len);
}

static void
expect_load_error (const char *path, FlamError code)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (flam_formats_load (path, NULL, &error));
  g_assert_error (error, FLAM_ERROR, (int)code);
}

/* Data whose head no importer recognizes is not unpacked further: not into a
 * file, which would be an error here. Neither is data that resembles another
 * wrapper. */
static void
test_bomb_stops_at_head (void)
{
  g_autofree char *unknown = write_bomb ("junk", 200);
  struct rlimit before, none = { 0, 0 };

  getrlimit (RLIMIT_FSIZE, &before);
  none.rlim_max = before.rlim_max;
  signal (SIGXFSZ, SIG_IGN);
  setrlimit (RLIMIT_FSIZE, &none);
  expect_load_error (unknown, FLAM_ERROR_UNKNOWN_FORMAT);
  setrlimit (RLIMIT_FSIZE, &before);
  g_free (unknown);
  unknown = write_bomb ("\x1f\x8bjunk", 200);
  setrlimit (RLIMIT_FSIZE, &none);
  expect_load_error (unknown, FLAM_ERROR_UNKNOWN_FORMAT);
  setrlimit (RLIMIT_FSIZE, &before);
}

/* Data with a known head is unpacked up to the limit. */
static void
test_bomb_ratio (void)
{
  g_autofree char *path = write_bomb (
      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",",
      (FLAM_UNPACK_FREE >> 20) + 1);

  expect_load_error (path, FLAM_ERROR_TOO_LARGE);
}

/* A reader that begins before all is unpacked gets little of such data. */
static void
test_bomb_is_not_read (void)
{
  g_autofree char *path =
      write_bomb ("v 10400 3\n", (FLAM_UNPACK_FREE >> 20) + 1);
  g_autofree char *packed = NULL;
  g_autoptr (FlamUnpack) unpack = NULL;
  g_autoptr (GError) error = NULL;
  gsize size, have = 0, there;

  g_file_get_contents (path, &packed, &size, &error);
  g_assert_no_error (error);
  unpack = flam_unpack_begin ((const guint8 *)packed, size, FALSE, &error);
  g_assert_no_error (error);
  while ((there = flam_unpack_wait (unpack, have)) > have)
    have = there;
  g_assert_cmpuint (have, >, 0);
  g_assert_cmpuint (have, <=, FLAM_UNPACK_FREE / 4);
}

/* --- importers that begin before all is unpacked ------------------------- */

static GString *
make_heaptrack (void)
{
  GString *text = g_string_new ("v 10400 3\nX ./a\nI 1000 100\ns 4 main\n"
                                "s 1 f\ni 1000 0 1\ni 2000 0 2\nt 1 0\n");

  for (guint i = 0; i < 100000; i++)
    g_string_append_printf (
        text, "t 2 %x\na %x %x\n+ %x\n", i + 1, i % 977 + 1, i + 2, i);
  return text;
}

static GString *
make_script (void)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < 30000; i++)
    g_string_append_printf (text,
                            "a 10 [000] %u.000%03u: 1 cycles:\n"
                            "\t%x f%x (/bin/a)\n\t1000 main (/bin/a)\n\n",
                            i / 1000,
                            i % 1000,
                            g_test_rand_int (),
                            g_test_rand_int () % 5000);
  return text;
}

static GString *
make_callgrind (void)
{
  GString *text = g_string_new ("# callgrind format\nevents: Ir\n");

  for (guint i = 0; i < 60000; i++)
    g_string_append_printf (
        text, "fn=f%x\n%u %u\n", g_test_rand_int (), i, i % 100);
  return text;
}

static GString *
make_folded (void)
{
  return make_text (100000);
}

static char *
dump_of (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, &error);

  g_assert_no_error (error);
  return flam_dump_profile (profile);
}

/* The same as from the whole file, in whatever pieces it is unpacked; truncated
 * or not. */
static void
test_streams (gconstpointer data)
{
  GString *(*make) (void) = data;
  g_autoptr (GString) text = make ();
  g_autoptr (GByteArray) packed = wrap (&wrappers[0], text->str, text->len);

  for (guint part = 1; part <= 2; part++)
    {
      g_autofree char *path =
          write_file ("stream", packed->data, packed->len / part);
      g_autofree char *streamed = dump_of (path);
      g_autofree char *whole = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (FlamSource) begun = flam_source_begin (path, NULL, &error);
      g_autoptr (FlamSource) source = flam_source_open (path, NULL, &error);
      g_autoptr (FlamProfile) profile = NULL;

      g_assert_no_error (error);
      g_assert_cmpuint (begun->size, <, source->size);
      g_assert_true (flam_formats_probe (begun)->streams);
      profile = flam_formats_load_source (source, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (profile->facts.complete == (part == 1));
      whole = flam_dump_profile (profile);
      g_assert_cmpstr (streamed, ==, whole);
    }
}

static void
remove_folder (void)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_unlink (path);
    }
  g_rmdir (folder);
  g_free (folder);
}

/* While more are appended, the byte behind the last one can be read, also where
 * the memory ends and the file begins, and where a page of the file ends. */
static void
test_spool (void)
{
  g_autofree guint8 *block = g_malloc (65536);
  FlamSpool spool;
  GError *error = NULL;
  guint64 before = 0;

  memset (block, 'x', 65536);
  g_assert_true (flam_spool_init (&spool, &error));
  while (spool.size < FLAM_SPOOL_IN_MEMORY + (4 << 20))
    {
      g_assert_true (flam_spool_append (&spool, block, 65536, &error));
      g_assert_cmpuint (spool.size, ==, before + 65536);
      g_assert_cmpint (spool.base[spool.size - 1], ==, 'x');
      g_assert_cmpint (spool.base[spool.size], ==, 0);
      before = spool.size;
    }
  g_assert_true (flam_spool_seal (&spool, &error));
  g_assert_cmpint (spool.base[spool.size], ==, 0);
  flam_spool_clear (&spool);
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("flambeau-source-XXXXXX", NULL);
  g_test_add_func ("/source/spool", test_spool);
  g_test_add_func ("/source/sizes", test_sizes);
  g_test_add_func ("/source/wrappers", test_wrappers);
  g_test_add_func ("/source/zstd", test_zstd);
  g_test_add_func ("/source/cut", test_cut);
  g_test_add_func ("/source/damaged", test_damaged);
  g_test_add_func ("/source/errors", test_errors);
  g_test_add_func ("/source/cancel", test_cancel);
  g_test_add_func ("/source/standard-input", test_standard_input);
  g_test_add_func ("/source/kind", test_kind);
  g_test_add_func ("/source/bomb-stops-at-head", test_bomb_stops_at_head);
  g_test_add_func ("/source/bomb-ratio", test_bomb_ratio);
  g_test_add_func ("/source/bomb-is-not-read", test_bomb_is_not_read);
  g_test_add_func ("/source/shorter", test_shorter);
  g_test_add_func ("/source/shorter-at-random", test_shorter_at_random);
  g_test_add_data_func ("/source/streams/folded", make_folded, test_streams);
  g_test_add_data_func (
      "/source/streams/heaptrack", make_heaptrack, test_streams);
  g_test_add_data_func (
      "/source/streams/perf-script", make_script, test_streams);
  g_test_add_data_func (
      "/source/streams/callgrind", make_callgrind, test_streams);
  status = g_test_run ();
  remove_folder ();
  return status;
}
