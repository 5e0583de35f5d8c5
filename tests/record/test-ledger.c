/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The ledger of allocation events against one that keeps every block, with
 * random events: its output, read back, is the same row for row. */

#include "flam-alloc-heaps.h"
#include "flam-capture-reader.h"
#include "flam-capture-writer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STACKS 5
#define THREADS 2
#define FAR 16
#define NS 1000000

typedef struct
{
  guint thread;
  guint stack;
  gint64 size;
  gint64 tick;
  guint nth;
} Block;

/* One that keeps every block. */
typedef struct
{
  GHashTable *live; /* address -> Block */
  GHashTable *rows; /* text -> count */
  guint made[THREADS];
  gint64 bytes;
  gint64 highest;
  gint64 tick;
  gint64 tick_end;
} Plain;

static void
count (GHashTable *rows,
       const Block *block,
       gint64 freed_at,
       guint distance,
       gint64 n)
{
  char *text = g_strdup_printf ("%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT
                                " thread %u stack %u size %" G_GINT64_FORMAT
                                " distance %u",
                                block->tick,
                                freed_at,
                                block->thread,
                                block->stack,
                                block->size,
                                distance);
  gint64 before = GPOINTER_TO_SIZE (g_hash_table_lookup (rows, text));

  g_hash_table_replace (rows, text, GSIZE_TO_POINTER (before + n));
}

static void
plain_release (Plain *plain, guint64 address, guint distance)
{
  const Block *block = g_hash_table_lookup (plain->live, &address);

  count (plain->rows, block, plain->tick, distance, 1);
  plain->bytes -= block->size;
  g_hash_table_remove (plain->live, &address);
}

static void
plain_block (
    Plain *plain, guint64 address, gint64 size, guint thread, guint stack)
{
  Block block = { thread, stack, size, plain->tick, ++plain->made[thread] };

  plain->bytes += size;
  plain->highest = MAX (plain->highest, plain->bytes);
  if (g_hash_table_contains (plain->live, &address))
    plain_release (plain, address, G_MAXUINT16);
  g_hash_table_insert (plain->live,
                       g_memdup2 (&address, sizeof address),
                       g_memdup2 (&block, sizeof block));
}

static void
plain_free (Plain *plain, guint64 address, guint thread)
{
  const Block *block = g_hash_table_lookup (plain->live, &address);
  guint distance;

  if (block == NULL)
    return;
  distance = plain->made[thread] - block->nth;
  plain_release (plain,
                 address,
                 block->thread == thread && distance < FAR ? distance
                                                           : G_MAXUINT16);
}

/* As close as glibc's blocks, closer, and far apart. */
static guint64
any_address (void)
{
  switch (g_test_rand_int_range (0, 3))
    {
    case 0:
      return 0x5550000 + 32 * (guint64)g_test_rand_int_range (0, 3000) + 16;
    case 1:
      return 0x7770000 + 8 * (guint64)g_test_rand_int_range (0, 3000);
    default:
      return 0x7fff00000000 +
             0x100000 * (guint64)g_test_rand_int_range (1, 200);
    }
}

static FlamStackId
make_stack (FlamBuilder *builder, guint number)
{
  g_autofree char *name = g_strdup_printf ("%u", number);
  FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_NATIVE };
  FlamRecordedFrame frame = { .file = FLAM_NONE, .module = FLAM_NONE };

  function.name = flam_builder_string (builder, name, -1);
  function.system_name = function.file = flam_builder_string (builder, "", -1);
  frame.function = flam_builder_function (builder, &function);
  return flam_builder_stack (
      builder, FLAM_NONE, flam_builder_recorded_frame (builder, &frame));
}

/* Each thread usually has one size per stack. */
static gint64
any_size (guint thread, guint stack)
{
  if (g_test_rand_int_range (0, 4) == 0)
    return g_test_rand_int_range (1, 4);
  return 10 * stack + thread + 1;
}

static void
play (FlamBuilder *builder, Plain *plain, FlamSpill *spill)
{
  g_autoptr (FlamAllocHeaps) heaps =
      flam_alloc_heaps_new (builder, FALSE, FALSE, spill);
  FlamAllocSpace *space = flam_alloc_heaps_add_space (heaps, FALSE);
  FlamProcessId process = flam_builder_append_process (builder, 1, FLAM_NONE);
  FlamAllocStream *streams[THREADS];
  FlamAllocStack stacks[STACKS];
  gint64 now = 0;

  for (guint i = 0; i < THREADS; i++)
    streams[i] = flam_alloc_heaps_add_stream (
        heaps, space, flam_builder_append_thread (builder, process, (gint)i));
  for (guint i = 0; i < STACKS; i++)
    stacks[i] = (FlamAllocStack){ make_stack (builder, i), FLAM_NONE };
  plain->tick_end = flam_alloc_heaps_advance (heaps, 0);
  for (guint i = 0; i < 100000; i++)
    {
      guint64 address = any_address ();
      guint thread = (guint)g_test_rand_int_range (0, THREADS);
      guint stack = (guint)g_test_rand_int_range (0, STACKS);
      gint64 size = any_size (thread, stack);

      now += g_test_rand_int_range (0, i % 1000 == 0 ? 20 * NS : 3000);
      if (now >= plain->tick_end)
        plain->tick = now;
      plain->tick_end = flam_alloc_heaps_advance (heaps, now);
      if (g_test_rand_int_range (0, 8) == 0)
        {
          flam_alloc_heaps_free_block (heaps, streams[thread], address);
          plain_free (plain, address, thread);
          continue;
        }
      flam_alloc_heaps_block (heaps,
                              streams[thread],
                              address,
                              size,
                              1,
                              0,
                              &stacks[stack],
                              FLAM_ALLOCATOR_MALLOC);
      plain_block (plain, address, size, thread, stack);
      if (g_test_rand_int_range (0, 3) > 0)
        {
          flam_alloc_heaps_free_block (heaps, streams[thread], address);
          plain_free (plain, address, thread);
        }
    }
  flam_alloc_heaps_finish (heaps, now);
}

static FlamProfile *
read_back (FlamCaptureWriter *writer)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureReader) reader =
      flam_capture_reader_new ("ledger", builder);
  const guint8 *data;
  FlamProfile *profile;
  gsize size;

  g_assert_true (flam_capture_writer_end (writer, 1, NULL));
  data = flam_capture_writer_data (writer, &size);
  g_assert_true (flam_capture_reader_feed (reader, data, size, NULL));
  profile = flam_builder_finish (builder, NULL);
  g_assert_nonnull (profile);
  return profile;
}

static GHashTable *
rows_of (const FlamProfile *profile, gint64 *at_peak)
{
  const FlamAllocations *a = &profile->allocations;
  GHashTable *rows =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint32 i = 0; i < a->n; i++)
    {
      FlamFrameId frame = profile->stacks.frame[a->stack[i]];
      Block block = { .thread = (guint)profile->threads.tid[a->thread[i]],
                      .size = a->size[i],
                      .tick = a->time[i] };

      block.stack = (guint)g_ascii_strtoull (
          flam_profile_function_name (profile, profile->frames.function[frame]),
          NULL,
          10);
      count (rows, &block, a->freed_at[i], a->distance[i], a->count[i]);
      *at_peak += a->at_peak[i] * a->size[i];
    }
  return rows;
}

static void
assert_same (GHashTable *ours, GHashTable *plain)
{
  GHashTableIter iter;
  gpointer row, expected;

  g_hash_table_iter_init (&iter, plain);
  while (g_hash_table_iter_next (&iter, &row, &expected))
    if (g_hash_table_lookup (ours, row) != expected)
      g_error ("%s: %zu blocks, not %zu",
               (const char *)row,
               GPOINTER_TO_SIZE (g_hash_table_lookup (ours, row)),
               GPOINTER_TO_SIZE (expected));
  g_assert_cmpuint (g_hash_table_size (ours), ==, g_hash_table_size (plain));
}

static int
file_without_name (void)
{
  g_autofree char *name = NULL;
  int fd = g_file_open_tmp (NULL, &name, NULL);

  g_assert_cmpint (fd, >=, 0);
  unlink (name);
  return fd;
}

/* A file that has no room. */
static int
full_file (void)
{
  return open ("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

/* With data: the file for all tables. */
static void
test_random (gconstpointer data)
{
  int (*file) (void) = (int (*) (void))data;
  FlamSpill *spill = file != NULL ? flam_spill_new (file (), 0) : NULL;
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (GHashTable) rows = NULL;
  Plain plain = {
    .live = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free),
    .rows = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
  };
  gint64 at_peak = 0;
  GHashTableIter iter;
  gpointer block;

  play (builder, &plain, spill);
  g_hash_table_iter_init (&iter, plain.live);
  while (g_hash_table_iter_next (&iter, NULL, &block))
    count (plain.rows, block, FLAM_NEVER, G_MAXUINT16, 1);
  profile = read_back (writer);
  rows = rows_of (profile, &at_peak);
  g_assert_cmpuint (g_hash_table_size (plain.rows), >, 10000);
  assert_same (rows, plain.rows);
  g_assert_cmpint (at_peak, ==, plain.highest);
  g_hash_table_unref (plain.live);
  g_hash_table_unref (plain.rows);
}

/* Sixteen pages from 0x10000 on are partly unmapped: the rest on either side is
 * still live. */
static void
test_pages (void)
{
  static const struct
  {
    guint64 address, size;
    gint64 left;
  } rows[] = {
    { 0x10000, 0x10000, 0 },      { 0x10000, 0x1000, 0xf000 },
    { 0x1f000, 0x1000, 0xf000 },  { 0x14000, 0x2000, 0xe000 },
    { 0x0f000, 0x2000, 0xf000 },  { 0x1f000, 0x9000, 0xf000 },
    { 0x20000, 0x1000, 0x10000 }, { 0x0f000, 0x1000, 0x10000 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (FlamBuilder) builder = flam_builder_new ();
      FlamProcessId process =
          flam_builder_append_process (builder, 1, FLAM_NONE);
      FlamThreadId thread = flam_builder_append_thread (builder, process, 1);
      g_autoptr (FlamAllocHeaps) heaps =
          flam_alloc_heaps_new (builder, FALSE, FALSE, NULL);
      FlamAllocSpace *space = flam_alloc_heaps_add_space (heaps, FALSE);
      FlamAllocStream *stream =
          flam_alloc_heaps_add_stream (heaps, space, thread);
      FlamAllocStack stack = { FLAM_NONE, FLAM_NONE };
      g_autoptr (FlamProfile) profile = NULL;
      gint64 left = 0;

      g_test_message ("%u", i);
      flam_builder_set_recorded (builder);
      flam_alloc_heaps_block (
          heaps, stream, 0x10000, 0x10000, 1, 0, &stack, FLAM_ALLOCATOR_MMAP);
      flam_alloc_heaps_advance (heaps, NS * 100);
      flam_alloc_heaps_unmap (heaps, stream, rows[i].address, rows[i].size);
      flam_alloc_heaps_end_stream (heaps, stream);
      flam_alloc_heaps_end_space (heaps, space);
      flam_alloc_heaps_finish (heaps, NS * 200);
      profile = flam_builder_finish (builder, NULL);
      g_assert_nonnull (profile);
      for (guint32 row = 0; row < profile->allocations.n; row++)
        if (profile->allocations.freed_at[row] == FLAM_NEVER)
          left +=
              profile->allocations.size[row] * profile->allocations.count[row];
      g_assert_cmpint (left, ==, rows[i].left);
    }
}

/* Bytes of files without a name that are in this process's memory. */
static gsize
resident_of_files (void)
{
  g_autofree char *text = NULL;
  gsize bytes = 0;

  g_assert_true (g_file_get_contents ("/proc/self/smaps", &text, NULL, NULL));
  for (const char *at = text; (at = strstr (at, " (deleted)\n")) != NULL; at++)
    bytes += 1024 * g_ascii_strtoull (strstr (at, "\nRss:") + 5, NULL, 10);
  return bytes;
}

static gsize
size_of_file (int fd)
{
  struct stat st;

  g_assert_cmpint (fstat (fd, &st), ==, 0);
  return (gsize)st.st_size;
}

#define LEAKED 400000
#define RESIDENT (1u << 20)

static guint64
leaked_address (guint i)
{
  return 0x5550010 + 32 * (guint64)i;
}

/* 400,000 blocks of 24 bytes remain, and every second one is released much
 * later. Their table takes 8 bytes for each of them, of which 1 MiB is ordinary
 * memory and as much may be resident of the rest. */
static void
test_bounded (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autoptr (FlamProfile) profile = NULL;
  int fd = file_without_name ();
  g_autoptr (FlamAllocHeaps) heaps = flam_alloc_heaps_new (
      builder, FALSE, FALSE, flam_spill_new (fd, RESIDENT));
  FlamAllocSpace *space = flam_alloc_heaps_add_space (heaps, FALSE);
  FlamProcessId process = flam_builder_append_process (builder, 1, FLAM_NONE);
  FlamAllocStream *stream = flam_alloc_heaps_add_stream (
      heaps, space, flam_builder_append_thread (builder, process, 0));
  FlamAllocStack stack = { make_stack (builder, 0), FLAM_NONE };
  gint64 leaked = 0, released = 0;

  for (guint i = 0; i < LEAKED; i++)
    {
      flam_alloc_heaps_advance (heaps, i * 1000ll);
      g_assert_true (flam_alloc_heaps_block (heaps,
                                             stream,
                                             leaked_address (i),
                                             24,
                                             1,
                                             0,
                                             &stack,
                                             FLAM_ALLOCATOR_MALLOC));
    }
  flam_alloc_heaps_advance (heaps, 1000ll * NS);
  g_assert_cmpuint (size_of_file (fd), >=, 8 * LEAKED - RESIDENT);
  g_assert_cmpuint (resident_of_files (), <=, RESIDENT);
  for (guint i = 0; i < LEAKED; i += 2)
    flam_alloc_heaps_free_block (heaps, stream, leaked_address (i));
  flam_alloc_heaps_advance (heaps, 2000ll * NS);
  g_assert_cmpuint (resident_of_files (), <=, RESIDENT);
  flam_alloc_heaps_finish (heaps, 3000ll * NS);
  profile = read_back (writer);
  for (guint32 i = 0; i < profile->allocations.n; i++)
    if (profile->allocations.freed_at[i] == FLAM_NEVER)
      leaked += profile->allocations.count[i];
    else
      released += profile->allocations.count[i];
  g_assert_cmpint (leaked, ==, 200000);
  g_assert_cmpint (released, ==, 200000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/ledger/random", NULL, test_random);
  g_test_add_data_func (
      "/ledger/random-in-file", (gconstpointer)file_without_name, test_random);
  g_test_add_data_func (
      "/ledger/random-in-full-file", (gconstpointer)full_file, test_random);
  g_test_add_func ("/ledger/bounded", test_bounded);
  g_test_add_func ("/ledger/pages", test_pages);
  return g_test_run ();
}
