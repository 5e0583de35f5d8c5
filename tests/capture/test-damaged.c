/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files made by hand, each wrong in one respect: a reader refuses each for that
 * reason, and reads a file that is just right. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

#include "flam-capture-reader.h"
#include "flam-capture-writer.h"
#include "flam-core-picture.h"
#include "flam-image-private.h"

#define BLOCK_MAX FLAM_CAPTURE_BLOCK_MAX

/* --- captures ---------------------------------------------------------------
 */

typedef struct
{
  guint16 major;
  guint32 header;
  const char *magic; /* offset in the block */
  guint16 type, flags;
  guint32 stored, unpacked; /* 0: that of the payload */
  guint crc;                /* added to the correct value */
  const char *payload;
  guint n;
} Block;

static void
put (GByteArray *file, guint64 value, guint size)
{
  guint64 le = GUINT64_TO_LE (value);

  g_byte_array_append (file, (const guint8 *)&le, size);
}

static void
put_header (GByteArray *file, guint16 major, guint32 size)
{
  g_byte_array_append (file, (const guint8 *)"FLAMBEAU", 8);
  put (file, major, 2);
  put (file, 0, 2);
  put (file, size, 4);
  while (file->len < size && size <= 8192)
    put (file, 0, 1);
}

static void
put_block (GByteArray *file, const Block *block)
{
  guint at = file->len;
  guint32 crc;

  g_byte_array_append (file, (const guint8 *)block->magic, 4);
  put (file, block->type, 2);
  put (file, block->flags, 2);
  put (file, block->stored > 0 ? block->stored : block->n, 4);
  put (file, block->unpacked > 0 ? block->unpacked : block->n, 4);
  put (file, 0, 4);
  g_byte_array_append (file, (const guint8 *)block->payload, block->n);
  crc = GUINT32_TO_LE (flam_capture_checksum (file->data + at, block->n) +
                       block->crc);
  memcpy (file->data + at + 16, &crc, 4);
}

static gboolean
read_all (const GByteArray *file, GError **error)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureReader) reader =
      flam_capture_reader_new ("test", builder);

  return flam_capture_reader_feed (reader, file->data, file->len, error);
}

#define TEXT "\1\1\3\2hi"
/* A function at line 2^32 - 1, or at the next one. */
#define FUNCTION(line) "\1\7\1\0\1\0\1\0\1\0\5" line "\1\0\1\0"

static void
test_refused (void)
{
  static const struct
  {
    const char *why; /* NULL: it is read */
    FlamError code;
    Block block;
  } rows[] = {
    { NULL, 0, { 1, 16, "FBLK", 1, 0, 0, 0, 0, TEXT, 6 } },
    { NULL, 0, { 1, 4096, "FBLK", 1, 0, 0, 0, 0, TEXT, 6 } },
    { NULL,
      0,
      { 1, 16, "FBLK", 3, 0, 0, 0, 0, FUNCTION ("\xfe\xff\xff\xff\x1f"), 20 } },
    { "written by a newer Flambeau",
      FLAM_ERROR_UNSUPPORTED,
      { 2, 16, "FBLK", 1, 0, 0, 0, 0, TEXT, 6 } },
    { "the header is damaged",
      FLAM_ERROR_INVALID,
      { 1, 15, "FBLK", 1, 0, 0, 0, 0, TEXT, 6 } },
    { "the header is damaged",
      FLAM_ERROR_INVALID,
      { 1, 4097, "FBLK", 1, 0, 0, 0, 0, TEXT, 6 } },
    { "no block begins here (at byte 16)",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLX", 1, 0, 0, 0, 0, TEXT, 6 } },
    { "no block begins here (at byte 16)",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 1, 0, BLOCK_MAX + 1, 0, 0, TEXT, 6 } },
    { "no block begins here (at byte 16)",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 1, 0, 0, BLOCK_MAX + 1, 0, TEXT, 6 } },
    { "a checksum is wrong (at byte 16)",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 1, 0, 0, 0, 1, TEXT, 6 } },
    { "a size is wrong",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 1, 0, 0, 5, 0, TEXT, 6 } },
    { "a size is wrong",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 1, 0, 0, 7, 0, TEXT, 6 } },
    { "a block cannot be unpacked",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 1, FLAM_CAPTURE_FLAG_ZSTD, 0, 6, 0, TEXT, 6 } },
    { "its columns differ in length",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 1, 0, 0, 0, 0, "\1\1\3\3hi", 6 } },
    { "its columns differ in length",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 1, 0, 0, 0, 0, "\1\1\4\2hi!", 7 } },
    { "its columns differ in length",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 1, 0, 0, 0, 0, "\1\1\3\2h\0", 6 } },
    { "its columns differ in length",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 3, 0, 0, 0, 0, FUNCTION ("\x80\x80\x80\x80\x20"), 20 } },
    { "refers to data that is not in the file",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 8, 0, 0, 0, 0, "\1\4\1\2\1\0\1\0\1\1", 10 } },
    { "refers to data that is not in the file",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 8, 0, 0, 0, 0, "\1\4\1\6\1\0\1\0\1\1", 10 } },
    { "refers to data that is not in the file",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 5, 0, 0, 0, 0, "\1\2\1\0\1\1", 6 } },
    { "refers to data that is not in the file",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 2, 0, 0, 0, 0, "\1\3\1\2\1\0\1\0", 8 } },
    /* Two processes: the second one's parent is the first, or is itself. */
    { NULL, 0, { 1, 16, "FBLK", 6, 0, 0, 0, 0, "\2\2\2\2\2\2\0\1", 8 } },
    { "refers to data that is not in the file",
      FLAM_ERROR_INVALID,
      { 1, 16, "FBLK", 6, 0, 0, 0, 0, "\2\2\2\2\2\2\0\2", 8 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GByteArray) file = g_byte_array_new ();
      g_autoptr (GError) error = NULL;
      gboolean good;

      g_test_message ("%u", i);
      put_header (file, rows[i].block.major, rows[i].block.header);
      /* A reference to string 0 comes before it. */
      if (rows[i].block.type == 8 || rows[i].block.type == 2)
        put_block (
            file,
            &(Block){ .magic = "FBLK", .type = 1, .payload = TEXT, .n = 6 });
      put_block (file, &rows[i].block);
      good = read_all (file, &error);
      if (rows[i].why == NULL)
        {
          g_assert_no_error (error);
          g_assert_true (good);
          continue;
        }
      g_assert_false (good);
      g_assert_error (error, FLAM_ERROR, (int)rows[i].code);
      if (strstr (error->message, rows[i].why) == NULL)
        g_error ("%s", error->message);
    }
}

static void
test_not_ours (void)
{
  static const char *const texts[] = { "FLAMBEAX\1\0\0\0\20\0\0\0",
                                       "12345678",
                                       "FLAMBEA-" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GByteArray) file = g_byte_array_new ();
      g_autoptr (GError) error = NULL;

      g_byte_array_append (file, (const guint8 *)texts[i], i == 0 ? 16 : 8);
      g_assert_false (read_all (file, &error));
      g_assert_error (error, FLAM_ERROR, FLAM_ERROR_UNKNOWN_FORMAT);
    }
}

/* Packed texts "aaaa…" of `unpacked` bytes according to the block's header. */
static void
put_packed (GByteArray *file, gsize size, gsize unpacked)
{
  g_autoptr (GByteArray) payload = g_byte_array_new ();
  g_autofree char *packed = g_malloc (ZSTD_compressBound (size));
  gsize text = size - 10; /* 1 + 1 + 4 + 4: the counts, two sizes */
  Block block = { .magic = "FBLK", .type = 1, .flags = FLAM_CAPTURE_FLAG_ZSTD };

  put (payload, 1 | 1 << 8, 2);
  for (guint i = 0; i < 2; i++)
    for (guint shift = 0; shift < 28; shift += 7)
      put (payload,
           ((text + (i == 0 ? 4 : 0)) >> shift & 0x7f) |
               (shift < 21 ? 0x80 : 0),
           1);
  g_byte_array_set_size (payload, (guint)size);
  memset (payload->data + 10, 'a', text);
  block.n = (guint)ZSTD_compress (
      packed, ZSTD_compressBound (size), payload->data, size, 1);
  block.payload = packed;
  block.unpacked = (guint32)unpacked;
  put_block (file, &block);
}

static void
test_unpacked_size (void)
{
  static const struct
  {
    gsize size, unpacked;
    gboolean good;
  } rows[] = { { 5000, 5000, TRUE },
               { 5000, 5001, FALSE },
               { 5000, 4999, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GByteArray) file = g_byte_array_new ();
      g_autoptr (GError) error = NULL;

      put_header (file, 1, 16);
      put_packed (file, rows[i].size, rows[i].unpacked);
      g_assert_cmpint (read_all (file, &error), ==, rows[i].good);
      if (!rows[i].good)
        g_assert_nonnull (strstr (error->message, "cannot be unpacked"));
    }
}

/* 64 MiB, and 250 times the file's size: eight blocks of 8 MiB are read, nine
 * of a few hundred bytes each are not. */
static void
test_unpacked_bound (void)
{
  for (guint n = 8; n <= 9; n++)
    {
      g_autoptr (GByteArray) file = g_byte_array_new ();
      g_autoptr (GError) error = NULL;

      put_header (file, 1, 16);
      for (guint i = 0; i < n; i++)
        put_packed (file, BLOCK_MAX, BLOCK_MAX);
      g_assert_cmpuint (file->len, <, 30000);
      g_assert_cmpint (read_all (file, &error), ==, n == 8);
      if (n == 9)
        g_assert_error (error, FLAM_ERROR, FLAM_ERROR_TOO_LARGE);
    }
}

/* --- writing ----------------------------------------------------------------
 */

static FlamBuilder *
recorder_new (guint32 n_samples)
{
  FlamBuilder *builder = flam_builder_new ();
  FlamProcessId process;
  FlamThreadId thread;

  flam_builder_set_has_times (builder);
  flam_builder_add_column (builder);
  process = flam_builder_append_process (builder, 42, FLAM_NONE);
  thread = flam_builder_append_thread (builder, process, 43);
  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            0,
                            FLAM_NONE);
  for (guint32 i = 0; i < n_samples; i++)
    flam_builder_add_sample (
        builder,
        &(FlamSample){ .thread = thread, .stack = FLAM_NONE, .time = i },
        (gint64[]){ i });
  return builder;
}

/* More rows than a block has, in one flush: 0 + 1 + ... + 39999. */
static void
test_many_rows (void)
{
  g_autoptr (FlamBuilder) builder = recorder_new (40000);
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autoptr (FlamBuilder) read = flam_builder_new ();
  g_autoptr (FlamCaptureReader) reader = flam_capture_reader_new ("test", read);
  g_autoptr (FlamProfile) profile = NULL;
  const guint8 *data;
  gsize size;
  gint64 sum = 0;

  g_assert_true (flam_capture_writer_end (writer, 40000, NULL));
  data = flam_capture_writer_data (writer, &size);
  g_assert_true (flam_capture_reader_feed (reader, data, size, NULL));
  profile = flam_builder_finish (read, NULL);
  g_assert_cmpuint (profile->samples.n, ==, 40000);
  for (guint32 i = 0; i < profile->samples.n; i++)
    sum += profile->measures[0].weight[i];
  g_assert_cmpint (sum, ==, 799980000);
}

/* If the disk is full, the file ends with the last complete block. */
static void
test_full_disk (void)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("flam-XXXXXX", &path, NULL);
  g_autoptr (FlamBuilder) builder = recorder_new (40000);
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (fd, builder);
  g_autoptr (FlamBuilder) read = flam_builder_new ();
  g_autoptr (FlamCaptureReader) reader = flam_capture_reader_new (path, read);
  g_autoptr (GError) error = NULL;
  struct rlimit before, small;
  g_autofree char *data = NULL;
  gsize size;

  getrlimit (RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = 1000;
  signal (SIGXFSZ, SIG_IGN);
  setrlimit (RLIMIT_FSIZE, &small);
  g_assert_false (flam_capture_writer_flush (writer, &error));
  setrlimit (RLIMIT_FSIZE, &before);
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_SYSTEM);
  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  g_assert_cmpuint (size, >, 16);
  g_assert_cmpuint (size, <, 1000);
  g_assert_true (
      flam_capture_reader_feed (reader, (const guint8 *)data, size, NULL));
  g_assert_cmpuint (flam_capture_reader_offset (reader), ==, size);
  close (fd);
  g_unlink (path);
}

/* --- images -----------------------------------------------------------------
 */

#define KEY "a key"

static FlamProfile *
imaged_profile (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamSample sample = { .stack = FLAM_NONE };
  guint counter;

  flam_builder_set_has_times (builder);
  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  counter = flam_builder_add_counter (builder, "rss", FLAM_UNIT_BYTES);
  sample.thread = flam_builder_lone_thread (builder);
  for (gint64 i = 0; i < 3; i++)
    {
      g_autofree char *name = g_strdup_printf ("f%d", (int)i);
      FlamFunctionId function = flam_builder_function_named (
          builder, flam_builder_string (builder, name, -1), FLAM_KIND_NATIVE);

      sample.stack =
          flam_builder_stack (builder,
                              sample.stack,
                              flam_builder_frame (builder, function, 0, 0, 0));
      sample.time = i;
      flam_builder_add_sample (builder, &sample, &i);
      flam_builder_add_counter_value (builder, counter, i, 4096 * i);
    }
  return flam_builder_finish (builder, NULL);
}

static GByteArray *
image_of (const FlamProfile *profile)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("flam-XXXXXX", &path, NULL);
  char *data = NULL;
  gsize size;

  g_assert_true (flam_image_write (profile, KEY, fd));
  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  close (fd);
  g_unlink (path);
  return g_byte_array_new_take ((guint8 *)data, size);
}

static char *
image_text (const GByteArray *image, const char *key)
{
  g_autoptr (FlamProfile) profile =
      flam_image_read (image->data, image->len, key);

  return profile != NULL ? flam_dump_profile (profile) : NULL;
}

static void
test_image_keys (void)
{
  g_autoptr (FlamProfile) profile = imaged_profile ();
  g_autoptr (GByteArray) image = image_of (profile);
  g_autofree char *text = flam_dump_profile (profile);
  g_autofree char *again = image_text (image, KEY);

  g_assert_cmpstr (again, ==, text);
  g_assert_null (image_text (image, "a kez"));
  g_assert_null (image_text (image, "a ke"));
  g_assert_null (image_text (image, "a key "));
  g_byte_array_append (image, (const guint8 *)"12345678", 8);
  g_assert_null (image_text (image, KEY));
}

/* Every changed byte outside of padding is noticed, and so is every
 * truncation. */
static void
test_image_flips (void)
{
  g_autoptr (FlamProfile) profile = imaged_profile ();
  g_autoptr (GByteArray) image = image_of (profile);
  g_autofree char *text = flam_dump_profile (profile);
  guint read = 0;

  for (guint i = 0; i < image->len; i++)
    {
      g_autofree char *changed = NULL;

      image->data[i] ^= 1;
      changed = image_text (image, KEY);
      image->data[i] ^= 1;
      if (changed != NULL)
        g_assert_cmpstr (changed, ==, text);
      read += changed != NULL;
    }
  g_assert_cmpuint (read, <, image->len / 2);
  for (guint size = 0; size < image->len; size++)
    g_assert_null (flam_image_read (image->data, size, KEY));
}

static guint8 *
piece_at (GByteArray *image, guint n)
{
  guint8 *at = image->data;

  for (; n > 0; n--)
    {
      FlamImagePiece *piece = (FlamImagePiece *)(void *)at;

      at += sizeof *piece;
      if (piece->size != FLAM_IMAGE_ABSENT)
        at += (piece->size + 7) / 8 * 8;
    }
  return at;
}

/* The number of pieces before a table; FLAM_N_TABLES: before the threads'
 * counts. */
static guint
pieces_before (FlamTable table)
{
  guint n = 3; /* head, key, texts */

  for (guint t = 0; t < table; t++)
    if (flam_image_has_table (t))
      {
        n++;
        for (guint i = 0; i < flam_table_infos[t].n_columns; i++)
          n += flam_image_has_column (&flam_table_infos[t].columns[i]);
      }
  return n;
}

/* Changes a number in a piece and corrects its hash. */
static void
set_number (GByteArray *image, guint n, gsize at, guint64 value, guint size)
{
  guint8 *bytes = piece_at (image, n);
  FlamImagePiece *piece = (FlamImagePiece *)(void *)bytes;

  g_assert_cmpuint ((at + 1) * size, <=, piece->size);
  memcpy (bytes + sizeof *piece + at * size, &value, size);
  piece->hash = flam_hash_bytes (bytes + sizeof *piece, piece->size);
}

/* Numbers that are invalid in the tables, with a correct hash. */
static void
test_image_numbers (void)
{
  guint stacks = pieces_before (FLAM_TABLE_STACKS);
  guint measures = pieces_before (FLAM_N_TABLES) + 1;
  const struct
  {
    guint piece;
    gsize at;
    guint64 value;
    guint size;
    gboolean good;
  } rows[] = {
    { stacks + 1, 1, 0, 4, TRUE }, /* the prefix of the second stack */
    { stacks + 1, 1, 1, 4, FALSE },
    { stacks + 1, 1, 2, 4, FALSE },
    { stacks + 1, 1, FLAM_NONE, 4, TRUE },
    { stacks + 2, 1, 2, 4, TRUE }, /* its frame */
    { stacks + 2, 1, 3, 4, FALSE },
    { stacks + 2, 1, FLAM_NONE, 4, FALSE },
    { measures - 1, 0, 2, 4, FALSE }, /* samples of the thread */
    { measures - 1, 0, 4, 4, FALSE },
    { measures, MEASURE_UNIT, FLAM_UNIT_BYTES, 8, TRUE },
    { measures, MEASURE_UNIT, FLAM_UNIT_BYTES + 1, 8, FALSE },
    { measures, MEASURE_KIND, 2, 8, FALSE },
    { measures, MEASURE_SOURCE, FLAM_N_SOURCES, 8, FALSE },
    { measures, MEASURE_DENOMINATOR, 0, 8, FALSE },
    { measures, MEASURE_SPANS, FLAM_N_SPANS - 1, 8, TRUE },
    { measures, MEASURE_SPANS, FLAM_N_SPANS, 8, FALSE },
    { measures, MEASURE_ID, 1000, 8, FALSE },
  };
  g_autoptr (FlamProfile) profile = imaged_profile ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GByteArray) image = image_of (profile);
      g_autofree char *text = NULL;

      g_test_message ("%u", i);
      set_number (
          image, rows[i].piece, rows[i].at, rows[i].value, rows[i].size);
      text = image_text (image, KEY);
      g_assert_cmpint (text != NULL, ==, rows[i].good);
    }
}

/* The last text of a list ends with it. */
static void
test_image_texts (void)
{
  g_autoptr (FlamProfile) profile = imaged_profile ();
  g_autoptr (GByteArray) image = image_of (profile);
  const guint8 *end = image->data + image->len;
  const FlamImagePiece *piece;
  guint n = 0;

  while (piece_at (image, n) < end)
    n++;
  n -= 3; /* then follow other facts and the warnings */
  piece = (const FlamImagePiece *)(const void *)piece_at (image, n);
  g_assert_cmpuint (piece->size, >, 0);
  set_number (image, n, piece->size - 1, 0, 1);
  g_free (image_text (image, KEY));
  set_number (image, n, piece->size - 1, 'x', 1);
  g_assert_null (image_text (image, KEY));
}

/* The meaning of a measure's times is kept. */
static void
test_image_spans (void)
{
  guint measures = pieces_before (FLAM_N_TABLES) + 1;

  for (guint spans = 0; spans <= FLAM_SPANS_SAMPLES; spans++)
    {
      g_autoptr (FlamProfile) profile = imaged_profile ();
      g_autoptr (GByteArray) image = image_of (profile);
      g_autoptr (FlamProfile) again = NULL;

      set_number (image, measures, MEASURE_SPANS, spans, 8);
      again = flam_image_read (image->data, image->len, KEY);
      g_assert_nonnull (again);
      g_assert_cmpuint (again->measures[0].spans, ==, spans);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/damaged/refused", test_refused);
  g_test_add_func ("/damaged/not-ours", test_not_ours);
  g_test_add_func ("/damaged/unpacked-size", test_unpacked_size);
  g_test_add_func ("/damaged/unpacked-bound", test_unpacked_bound);
  g_test_add_func ("/damaged/many-rows", test_many_rows);
  g_test_add_func ("/damaged/full-disk", test_full_disk);
  g_test_add_func ("/damaged/image-keys", test_image_keys);
  g_test_add_func ("/damaged/image-flips", test_image_flips);
  g_test_add_func ("/damaged/image-numbers", test_image_numbers);
  g_test_add_func ("/damaged/image-texts", test_image_texts);
  g_test_add_func ("/damaged/image-spans", test_image_spans);
  return g_test_run ();
}
