/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "flam-capture-reader.h"
#include "flam-capture-writer.h"
#include "flam-core-picture.h"

static FlamBuilder *
recorder_new (void)
{
  FlamBuilder *builder = flam_builder_new ();

  flam_builder_set_has_times (builder);
  flam_builder_add_column (builder);
  return builder;
}

/* A recording with a row in every table: main -> work (an address, to be
 * named as work with helper inlined), twice, and a block of memory. */
static FlamId
write_code (FlamBuilder *builder)
{
  FlamModuleId module = flam_builder_module (
      builder, "/usr/bin/example", "00ff", FLAM_ADDRESS_FILE_OFFSET);
  FlamFunction named = {
    .name = flam_builder_string (builder, "main", -1),
    .system_name = flam_builder_string (builder, "", -1),
    .file = flam_builder_string (builder, "example.c", -1),
    .module = module,
    .line = 3,
    .kind = FLAM_KIND_NATIVE,
  };
  FlamRecordedFrame root = {
    .file = flam_builder_string (builder, "included.h", -1),
    .module = module,
    .address = 0x1000,
    .function = flam_builder_function (builder, &named),
    .line = 5,
  };
  FlamRecordedFrame leaf = { .file = FLAM_NONE,
                             .module = module,
                             .address = 0x2345,
                             .function = FLAM_NONE };
  FlamFrameId frame = flam_builder_recorded_frame (builder, &root);
  FlamStackId stack = flam_builder_stack (builder, FLAM_NONE, frame);

  frame = flam_builder_recorded_frame (builder, &leaf);
  g_assert_cmpuint (flam_builder_recorded_frame (builder, &leaf), ==, frame);
  return flam_builder_stack (builder, stack, frame);
}

/* A Python function on a stack of native code: no module, no address, a name
 * and a line from the start; blocks that are released late, and one that is
 * never released. */
static void
write_python (FlamBuilder *builder, FlamThreadId thread, FlamId below)
{
  FlamFunction cook = {
    .name = flam_builder_string (builder, "cook.<locals>.<genexpr>", -1),
    .system_name = flam_builder_string (builder, "", -1),
    .file = flam_builder_string (builder, "<frozen importlib>", -1),
    .module = FLAM_NONE,
    .line = 14,
    .kind = FLAM_KIND_INTERPRETED,
    .flags = FLAM_FUNCTION_IMPORT | FLAM_FUNCTION_IRRELEVANT,
  };
  FlamRecordedFrame frame = {
    .file = FLAM_NONE,
    .module = FLAM_NONE,
    .function = flam_builder_function (builder, &cook),
  };

  for (guint32 line = 0; line < 3; line++)
    {
      FlamRecordedBlocks blocks = {
        .time = 30 + line,
        .thread = thread,
        .size = 512,
        .count = 4,
        .allocator = FLAM_ALLOCATOR_CALLOC,
      };

      frame.line = line * 16;
      blocks.stack = below = flam_builder_stack (
          builder, below, flam_builder_recorded_frame (builder, &frame));
      flam_builder_note_blocks (builder, &blocks);
      flam_builder_note_release (
          builder, 40 + line, 1 + line, 2, G_MAXUINT16, 0);
      flam_builder_note_at_peak (
          builder, thread, below, 512, FLAM_ALLOCATOR_CALLOC, line);
    }
}

static void
write_symbols (FlamBuilder *builder)
{
  FlamFunction work = {
    .name = flam_builder_string (builder, "work", -1),
    .system_name = flam_builder_string (builder, "", -1),
    .file = flam_builder_string (builder, "example.c", -1),
    .module = 0,
    .line = 20,
    .kind = FLAM_KIND_NATIVE,
  };
  FlamFunction helper = work;

  helper.name = flam_builder_string (builder, "helper", -1);
  flam_builder_note_symbol (
      builder, 1, flam_builder_function (builder, &work), FLAM_NONE, 22);
  flam_builder_note_symbol (builder,
                            1,
                            flam_builder_function (builder, &helper),
                            flam_builder_string (builder, "grammar.y", -1),
                            31);
  flam_builder_note_module_symbols (builder, 0, FLAM_SYMBOLS_CAPTURE, "");
}

static void
write_recording (FlamCaptureWriter *writer, gboolean to_the_end)
{
  FlamBuilder *builder = flam_capture_writer_builder (writer);
  FlamStackId stack = write_code (builder);
  FlamProcessId process = flam_builder_append_process (builder, 42, FLAM_NONE);
  FlamThreadId thread = flam_builder_append_thread (builder, process, 43);
  FlamId counter = flam_builder_add_counter (builder, "rss", FLAM_UNIT_BYTES);

  flam_builder_note_fact (builder, "command", "example --fast");
  flam_builder_note_process_name (builder, process, 0, "example");
  flam_builder_note_thread_name (builder, thread, 0, "worker");
  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            0,
                            FLAM_NONE);
  for (int i = 0; i < 3; i++)
    {
      FlamSample sample = { .thread = thread,
                            .stack = i == 2 ? FLAM_NONE : stack,
                            .time = 1000 * i,
                            .state = FLAM_STATE_RUNNING };
      flam_builder_add_sample (builder, &sample, (gint64[]){ 7 + i });
      g_assert_true (flam_capture_writer_flush (writer, NULL));
    }
  flam_builder_note_blocks (builder,
                            &(FlamRecordedBlocks){
                                .time = 10,
                                .thread = thread,
                                .stack = stack,
                                .size = 100,
                                .count = 3,
                            });
  flam_builder_note_release (builder, 20, 0, 1, 0, 0);
  if (to_the_end)
    {
      flam_builder_note_at_peak (
          builder, thread, stack, 100, FLAM_ALLOCATOR_MALLOC, 3);
      flam_builder_note_number (builder, FLAM_FACT_PEAK_TIME, 10);
    }
  flam_builder_add_counter_value (builder, counter, 15, 4096);
  flam_builder_add_mark (builder, 16, 0, FLAM_NONE, "here");
  if (!to_the_end)
    return;
  write_symbols (builder);
  g_assert_true (flam_capture_writer_end (writer, 5000, NULL));
}

static FlamProfile *
profile_of (const guint8 *data, gsize size, GError **error)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureReader) reader =
      flam_capture_reader_new ("test", builder);

  if (!flam_capture_reader_feed (reader, data, size, error))
    return NULL;
  return flam_builder_finish (builder, error);
}

static void
assert_has (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_error ("\"%s\" is missing in:\n%s", part, text);
}

static void
assert_names (const FlamProfile *profile,
              FlamStackId stack,
              const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (; stack != FLAM_NONE; stack = profile->stacks.prefix[stack])
    g_string_append_printf (
        text,
        "%s%s",
        text->len > 0 ? " < " : "",
        flam_profile_function_name (
            profile, profile->frames.function[profile->stacks.frame[stack]]));
  g_assert_cmpstr (text->str, ==, expected);
}

/* The places of a sample's stack, leaf first: a line's file may differ from its
 * function's. */
static void
assert_places (const FlamProfile *profile, guint sample, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (FlamStackId stack = profile->samples.stack[sample]; stack != FLAM_NONE;
       stack = profile->stacks.prefix[stack])
    {
      FlamFrameId frame = profile->stacks.frame[stack];

      g_string_append_printf (
          text,
          "%s:%u ",
          flam_profile_string (profile, profile->frames.file[frame]),
          profile->frames.line[frame]);
    }
  g_assert_cmpstr (text->str, ==, expected);
}

static void
assert_stack (const FlamProfile *profile, guint sample, const char *expected)
{
  assert_names (profile, profile->samples.stack[sample], expected);
}

static void
test_round_trip (void)
{
  g_autoptr (FlamBuilder) builder = recorder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autoptr (FlamProfile) profile = NULL;
  const guint8 *data;
  gsize size;

  write_recording (writer, TRUE);
  data = flam_capture_writer_data (writer, &size);
  profile = profile_of (data, size, NULL);
  g_assert_nonnull (profile);
  g_assert_cmpstr (profile->facts.command, ==, "example --fast");
  g_assert_cmpint (profile->samples.n, ==, 3);
  assert_places (profile, 0, "grammar.y:31 example.c:22 included.h:5 ");
  g_assert_cmpint (profile->measures[0].weight[1], ==, 8);
  g_assert_cmpint (profile->samples.stack[2], ==, FLAM_NONE);
  g_assert_cmpint (profile->threads.tid[0], ==, 43);
  g_assert_cmpint (profile->processes.pid[0], ==, 42);
  g_assert_cmpint (profile->counters[0].value[0], ==, 4096);
  g_assert_cmpint (profile->marks.time[0], ==, 16);
  g_assert_cmpint (profile->allocations.freed_at[0], ==, 20);
  g_assert_cmpint (profile->allocations.at_peak[0], ==, 1);
  g_assert_cmpint (profile->allocations.distance[0], ==, 0);

  assert_stack (profile, 0, "helper < work < main");
  assert_stack (profile, 1, "helper < work < main");
}

/* Functions that were generated at the same address, one after another. */
static void
test_renames (void)
{
  g_autoptr (FlamBuilder) builder = recorder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autoptr (FlamProfile) profile = NULL;
  FlamFunction function = { .module = 0, .kind = FLAM_KIND_JIT };
  const guint8 *data;
  gsize size;

  write_recording (writer, FALSE);
  write_symbols (builder);
  flam_builder_note_blocks (
      builder,
      &(FlamRecordedBlocks){ .time = 1200, .stack = 1, .size = 8, .count = 1 });
  function.name = flam_builder_string (builder, "last", -1);
  flam_builder_note_rename (
      builder, 1, 1500, flam_builder_function (builder, &function), 0);
  function.name = flam_builder_string (builder, "later", -1);
  flam_builder_note_rename (
      builder, 1, 1000, flam_builder_function (builder, &function), 0);
  g_assert_true (flam_capture_writer_end (writer, 5000, NULL));
  data = flam_capture_writer_data (writer, &size);
  profile = profile_of (data, size, NULL);
  g_assert_nonnull (profile);
  assert_stack (profile, 0, "helper < work < main");
  assert_stack (profile, 1, "later < main");
  /* One was released and two are left; then come later blocks. */
  g_assert_cmpuint (profile->allocations.n, ==, 3);
  for (guint32 i = 0; i < 3; i++)
    assert_names (profile,
                  profile->allocations.stack[i],
                  profile->allocations.time[i] < 1000 ? "helper < work < main"
                                                      : "later < main");
  g_assert_cmpint (profile->allocations.time[2], ==, 1200);
}

/* Every prefix of a file is a valid capture of its complete blocks. */
static void
test_every_prefix (void)
{
  g_autoptr (FlamBuilder) builder = recorder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  const guint8 *data;
  gsize size;
  guint32 most = 0;

  write_recording (writer, TRUE);
  data = flam_capture_writer_data (writer, &size);
  for (gsize n = 0; n <= size; n++)
    {
      g_autofree guint8 *copy = g_memdup2 (data, n);
      g_autoptr (FlamProfile) profile = profile_of (copy, n, NULL);
      g_assert_nonnull (profile);
      g_assert_cmpuint (profile->samples.n, >=, most);
      most = profile->samples.n;
    }
  g_assert_cmpuint (most, ==, 3);
}

/* A flipped bit is noticed (a checksum covers all bytes except the reserved
 * ones of the file's header). */
static void
test_every_flip (void)
{
  g_autoptr (FlamBuilder) builder = recorder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autofree guint8 *copy = NULL;
  const guint8 *data;
  gsize size;

  write_recording (writer, TRUE);
  data = flam_capture_writer_data (writer, &size);
  copy = g_memdup2 (data, size);
  for (gsize i = 0; i < size; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (FlamBuilder) read = flam_builder_new ();
      g_autoptr (FlamCaptureReader) reader =
          flam_capture_reader_new ("test", read);

      copy[i] ^= 1 << (i % 8);
      if (!flam_capture_reader_feed (reader, copy, size, &error))
        g_assert_error (error, FLAM_ERROR, error->code);
      else
        g_assert_true (i < FLAM_CAPTURE_HEADER_SIZE ||
                       !flam_capture_reader_is_complete (reader));
      copy[i] ^= 1 << (i % 8);
    }
}

/* Payloads with a correct checksum and invalid content. */
static void
test_damaged_payload (void)
{
  g_autoptr (FlamBuilder) builder = recorder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autoptr (GRand) random = g_rand_new_with_seed (7);

  write_recording (writer, FALSE);
  for (guint round = 0; round < 20000; round++)
    {
      guint8 payload[64];
      guint n = (guint)g_rand_int_range (random, 0, sizeof payload);
      guint table = (guint)g_rand_int_range (random, 0, FLAM_N_TABLES);
      g_autoptr (FlamBuilder) read = flam_builder_new ();
      FlamCaptureIds ids;
      const char *why;

      for (guint i = 0; i < n; i++)
        payload[i] = (guint8)(g_rand_int_range (random, 0, 3) > 0
                                  ? g_rand_int_range (random, 0, 8)
                                  : g_rand_int_range (random, 0, 256));
      flam_capture_ids_init (&ids, read);
      if (!flam_capture_decode (&ids, table, payload, n, &why))
        g_assert_cmpuint (ids.n[table], ==, 0);
      flam_capture_ids_clear (&ids);
    }
}

static void
put_block (GByteArray *file, guint16 type, const guint8 *payload, guint32 n)
{
  guint8 header[FLAM_CAPTURE_BLOCK_HEADER_SIZE] = { 0 };
  guint at = file->len;
  guint32 crc;

  memcpy (header, FLAM_CAPTURE_BLOCK_MAGIC, 4);
  header[4] = (guint8)type;
  header[5] = (guint8)(type >> 8);
  header[8] = header[12] = (guint8)n;
  g_byte_array_append (file, header, sizeof header);
  g_byte_array_append (file, payload, n);
  crc = GUINT32_TO_LE (flam_capture_checksum (file->data + at, n));
  memcpy (file->data + at + 16, &crc, 4);
}

/* A file with correct checksums whose payloads were changed: here readers meet
 * numbers that no writer would write. */
static void
change_payloads (GRand *random, const guint8 *data, gsize size, GByteArray *out)
{
  gsize at = FLAM_CAPTURE_HEADER_SIZE;

  g_byte_array_append (out, data, FLAM_CAPTURE_HEADER_SIZE);
  while (at + FLAM_CAPTURE_BLOCK_HEADER_SIZE <= size)
    {
      const guint8 *block = data + at;
      guint8 payload[4096];
      guint32 stored = block[8] | (guint32)block[9] << 8;
      gsize n = stored;

      at += FLAM_CAPTURE_BLOCK_HEADER_SIZE;
      if (block[6] & FLAM_CAPTURE_FLAG_ZSTD)
        n = ZSTD_decompress (payload, sizeof payload, data + at, stored);
      else
        memcpy (payload, data + at, stored);
      at += stored;
      g_assert_cmpuint (n, <=, 255);
      for (gint i = g_rand_int_range (random, 0, 3); i > 0 && n > 0; i--)
        payload[g_rand_int_range (random, 0, (gint32)n)] =
            (guint8)(g_rand_boolean (random) ? g_rand_int_range (random, 0, 256)
                                             : g_rand_int_range (random, 0, 4));
      put_block (out, (guint16)(block[4] | block[5] << 8), payload, (guint32)n);
    }
}

static void
test_damaged_blocks (void)
{
  g_autoptr (FlamBuilder) builder = recorder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autoptr (GRand) random = g_rand_new_with_seed (11);
  const guint8 *data;
  gsize size;
  guint good = 0;

  write_recording (writer, FALSE);
  write_python (builder, 0, 0);
  write_symbols (builder);
  g_assert_true (flam_capture_writer_end (writer, 5000, NULL));
  data = flam_capture_writer_data (writer, &size);
  for (guint round = 0; round < 5000; round++)
    {
      g_autoptr (GByteArray) file = g_byte_array_new ();
      g_autoptr (FlamBuilder) read = flam_builder_new ();
      g_autoptr (FlamCaptureReader) reader =
          flam_capture_reader_new ("test", read);
      g_autoptr (FlamProfile) profile = NULL;

      change_payloads (random, data, size, file);
      flam_capture_reader_feed (reader, file->data, file->len, NULL);
      profile = flam_builder_finish (read, NULL);
      good += profile != NULL;
    }
  g_assert_cmpuint (good, >, 100);
}

static const guint8 empty_file[] = "FLAMBEAU\1\0\0\0\20\0\0";

static void
test_versions (void)
{
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = NULL;

  g_byte_array_append (file, empty_file, FLAM_CAPTURE_HEADER_SIZE);
  put_block (file, 999, (const guint8 *)"from the future", 15);
  put_block (file, 1, (const guint8 *)"\1\1\3\2hi", 6);
  profile = profile_of (file->data, file->len, &error);
  g_assert_no_error (error);
  g_assert_nonnull (profile);

  file->data[8] = 2;
  g_assert_null (profile_of (file->data, file->len, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_UNSUPPORTED);
}

/* A stack whose prefix is itself; a sample of a missing thread. */
static void
test_bad_references (void)
{
  static const struct
  {
    guint16 table;
    const char *payload;
    guint n;
  } cases[] = {
    { 5, "\1\2\1\1\1\1", 6 },
    { 10, "\1\5\1\0\1\1\1\0\1\0\1\0", 12 },
    { 8, "\1\4\1\0\1\0\1\0\1\1", 10 },
    { 18, "\1\2\1\0\1\0", 6 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) file = g_byte_array_new ();
      g_autoptr (GError) error = NULL;

      g_byte_array_append (file, empty_file, FLAM_CAPTURE_HEADER_SIZE);
      put_block (
          file, cases[i].table, (const guint8 *)cases[i].payload, cases[i].n);
      g_assert_null (profile_of (file->data, file->len, &error));
      g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
      assert_has (error->message, "at byte 16");
    }
}

typedef struct
{
  const char *bytes;
  guint n;
} Column;

#define BYTES(text)                                                            \
  {                                                                            \
    (text), sizeof (text) - 1                                                  \
  }

static void
put_rows (GByteArray *file,
          guint16 table,
          guint8 n,
          const Column *columns,
          guint8 n_columns)
{
  g_autoptr (GByteArray) payload = g_byte_array_new ();

  g_byte_array_append (payload, &n, 1);
  g_byte_array_append (payload, &n_columns, 1);
  for (guint i = 0; i < n_columns; i++)
    {
      guint8 size = (guint8)columns[i].n;

      g_byte_array_append (payload, &size, 1);
      g_byte_array_append (payload, (const guint8 *)columns[i].bytes, size);
    }
  put_block (file, table, payload->data, payload->len);
}

/* Two frames, stacks and samples, of which a column may be wrong. */
typedef struct
{
  Column frame, time, thread, stack;
  const char *message; /* NULL: it is right */
} Columns;

static FlamProfile *
profile_of_columns (const Columns *columns, GError **error)
{
  static const Column none = BYTES ("\0\0");
  const Column frames[] = { none, BYTES ("\2\4"), none, none };
  const Column stacks[] = { BYTES ("\0\1"), columns->frame };
  const Column processes[] = { BYTES ("\2"), BYTES ("\0") };
  const Column threads[] = { BYTES ("\1"), BYTES ("\2") };
  const Column samples[] = {
    columns->time, columns->thread, columns->stack, none, none
  };
  g_autoptr (GByteArray) file = g_byte_array_new ();

  g_byte_array_append (file, empty_file, FLAM_CAPTURE_HEADER_SIZE);
  put_rows (file, 4, 2, frames, G_N_ELEMENTS (frames));
  put_rows (file, 5, 2, stacks, G_N_ELEMENTS (stacks));
  put_rows (file, 6, 1, processes, G_N_ELEMENTS (processes));
  put_rows (file, 7, 1, threads, G_N_ELEMENTS (threads));
  put_rows (file, 10, 2, samples, G_N_ELEMENTS (samples));
  return profile_of (file->data, file->len, error);
}

/* Times and ids have loops of their own, with all the checks of others. */
static void
test_bad_columns (void)
{
  static const char length[] = "columns differ in length";
  static const char missing[] = "refers to data that is not in the file";
  static const Column frame = BYTES ("\1\2"), time = BYTES ("\2\6");
  static const Column thread = BYTES ("\1\1"), stack = BYTES ("\2\0");
  const Columns cases[] = {
    { frame, time, thread, stack, NULL },
    { frame, BYTES ("\x82\0\6"), thread, stack, NULL },
    { frame, BYTES ("\2"), thread, stack, length },
    { frame, BYTES ("\2\6\6"), thread, stack, length },
    { frame, BYTES ("\2\x86"), thread, stack, length },
    { frame,
      BYTES ("\2\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\1"),
      thread,
      stack,
      length },
    { frame, time, BYTES ("\1"), stack, length },
    { frame, time, BYTES ("\1\1\1"), stack, length },
    { frame, time, BYTES ("\1\x81"), stack, length },
    { frame, time, BYTES ("\1\0"), stack, missing },
    { frame, time, BYTES ("\1\2"), stack, missing },
    /* 2^32 + 1, which is not 1 */
    { frame, time, BYTES ("\1\x81\x80\x80\x80\x10"), stack, length },
    { frame, time, thread, BYTES ("\2"), length },
    { frame, time, thread, BYTES ("\2\0\0"), length },
    { frame, time, thread, BYTES ("\3\0"), missing },
    { frame, time, thread, BYTES ("\2\x81\x80\x80\x80\x10"), length },
    { BYTES ("\1\0"), time, thread, stack, missing },
    { BYTES ("\1\3"), time, thread, stack, missing },
    { BYTES ("\1"), time, thread, stack, length },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (FlamProfile) profile = profile_of_columns (&cases[i], &error);

      if (cases[i].message != NULL)
        {
          g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
          assert_has (error->message, cases[i].message);
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpuint (profile->samples.n, ==, 2);
      g_assert_cmpint (
          profile->samples.time[1] - profile->samples.time[0], ==, 3);
      g_assert_cmpuint (profile->samples.stack[0], ==, 1);
      g_assert_cmpuint (profile->samples.stack[1], ==, FLAM_NONE);
    }
}

/* As in the window: the file grows between two reads. */
static void
test_follow (void)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("flam-XXXXXX", &path, NULL);
  int other = open (path, O_RDONLY | O_CLOEXEC);
  g_autoptr (FlamBuilder) builder = recorder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (fd, builder);
  g_autoptr (FlamBuilder) read = flam_builder_new ();
  g_autoptr (FlamCaptureReader) reader = flam_capture_reader_new (path, read);
  gboolean changed;

  g_assert_true (flam_capture_reader_poll (reader, other, &changed, NULL));
  g_assert_false (changed);
  write_recording (writer, FALSE);
  g_assert_true (flam_capture_reader_poll (reader, other, &changed, NULL));
  g_assert_true (changed);
  g_assert_cmpuint (
      flam_capture_reader_n_rows (reader, FLAM_TABLE_SAMPLES), ==, 3);
  g_assert_false (flam_capture_reader_is_complete (reader));
  g_assert_true (flam_capture_writer_end (writer, 1, NULL));
  g_assert_true (flam_capture_reader_poll (reader, other, &changed, NULL));
  g_assert_true (flam_capture_reader_is_complete (reader));
  g_assert_cmpstr (flam_builder_noted (read, "command"), ==, "example --fast");
  g_assert_true (flam_capture_reader_poll (reader, other, &changed, NULL));
  g_assert_false (changed);
  close (other);
  close (fd);
  g_unlink (path);
}

/* The first labels come after the file has begun, beside a column of weights
 * that no measure shows; the rows in the file are dropped. */
static void
test_late_labels (void)
{
  static const guint32 expected[] = { 0, 1, 2, 1 };
  g_autoptr (FlamBuilder) builder = recorder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autoptr (FlamProfile) profile = NULL;
  FlamProcessId process = flam_builder_append_process (builder, 1, FLAM_NONE);
  FlamSample sample = { .thread =
                            flam_builder_append_thread (builder, process, 1),
                        .stack = FLAM_NONE };
  const guint8 *data;
  gsize size;

  flam_builder_add_column (builder);
  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            0,
                            FLAM_NONE);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      FlamSampleLabel label = { .key = "part",
                                .value = expected[i] == 1 ? "heavy" : "light" };

      sample.time = i;
      sample.labels =
          expected[i] > 0 ? flam_builder_add_labels (builder, &label, 1) : 0;
      g_assert_cmpuint (sample.labels, ==, expected[i]);
      flam_builder_add_sample (
          builder, &sample, (gint64[]){ 10 + i, 1000000 + i });
      g_assert_true (flam_capture_writer_flush (writer, NULL));
    }
  g_assert_true (flam_capture_writer_end (writer, 9, NULL));
  data = flam_capture_writer_data (writer, &size);
  profile = profile_of (data, size, NULL);
  g_assert_nonnull (profile);
  g_assert_cmpuint (profile->labels.n, ==, 2);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_assert_cmpuint (profile->samples.labels[i], ==, expected[i]);
      g_assert_cmpint (profile->measures[0].weight[i], ==, 10 + i);
    }
  g_assert_cmpstr (
      flam_profile_string (profile, profile->labels.value[1]), ==, "light");
}

/* The committed files have the same content as those written today: the
 * format may grow, but old captures stay readable. FLAM_UPDATE_GOLDEN=1
 * writes them. */
static void
check_fixture (const char *name, gboolean to_the_end)
{
  g_autoptr (FlamBuilder) builder = recorder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "captures", "flambeau", name, NULL);
  g_autofree char *old = NULL;
  const guint8 *data;
  gsize size, old_size;

  write_recording (writer, to_the_end);
  g_assert_true (flam_capture_writer_flush (writer, NULL));
  data = flam_capture_writer_data (writer, &size);
  if (g_strcmp0 (g_getenv ("FLAM_UPDATE_GOLDEN"), "1") == 0)
    g_assert_true (
        g_file_set_contents (path, (const char *)data, (gssize)size, NULL));
  g_assert_true (g_file_get_contents (path, &old, &old_size, NULL));

  g_autoptr (FlamProfile) now = profile_of (data, size, NULL);
  g_autoptr (FlamProfile) then =
      profile_of ((const guint8 *)old, old_size, NULL);
  g_autofree char *now_text = flam_dump_profile (now);
  g_autofree char *then_text = flam_dump_profile (then);
  g_assert_cmpstr (now_text, ==, then_text);
}

static void
test_fixtures (void)
{
  check_fixture ("recording.flambeau", TRUE);
  check_fixture ("cut-off.flambeau", FALSE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/capture/round-trip", test_round_trip);
  g_test_add_func ("/capture/renames", test_renames);
  g_test_add_func ("/capture/every-prefix", test_every_prefix);
  g_test_add_func ("/capture/every-flip", test_every_flip);
  g_test_add_func ("/capture/damaged-payload", test_damaged_payload);
  g_test_add_func ("/capture/damaged-blocks", test_damaged_blocks);
  g_test_add_func ("/capture/versions", test_versions);
  g_test_add_func ("/capture/bad-references", test_bad_references);
  g_test_add_func ("/capture/bad-columns", test_bad_columns);
  g_test_add_func ("/capture/follow", test_follow);
  g_test_add_func ("/capture/late-labels", test_late_labels);
  g_test_add_func ("/capture/fixtures", test_fixtures);
  return g_test_run ();
}
