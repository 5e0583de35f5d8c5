/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The file of allocation events belongs to the recorded process and may contain
 * anything: whatever it contains, the result is a capture that opens. Native
 * code and Python functions, valid and damaged ones. */

#include "flam-alloc-map.h"
#include "flam-alloc-process.h"
#include "flam-alloc-shared.h"
#include "flam-capture-reader.h"
#include "flam-capture-writer.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NODES 64
#define PYTHON_BYTES 4096
#define EVENTS 300

static guint32
any (guint32 n)
{
  return (guint32)g_test_rand_int_range (0, (gint32)n);
}

/* Mostly valid. */
static guint32
nearly (guint32 value)
{
  switch (any (40))
    {
    case 0:
      return any (64);
    case 1:
      return G_MAXUINT32 - any (64);
    case 2:
      return value + 1;
    default:
      return value;
    }
}

static FlamThreadId
get_thread (gpointer data, pid_t pid, pid_t tid, const char *name)
{
  return flam_builder_append_thread (
      data, flam_builder_append_process (data, 1, FLAM_NONE), tid);
}

static FlamFrameId
get_frame (gpointer data,
           pid_t pid,
           const char *path,
           guint64 start,
           guint64 end,
           guint64 bias,
           guint64 inode,
           guint64 offset)
{
  FlamRecordedFrame frame = { .file = FLAM_NONE,
                              .module = FLAM_NONE,
                              .function = FLAM_NONE,
                              .address = offset };

  return flam_builder_recorded_frame (data, &frame);
}

/* Functions "f0", "f1", ... of "cook.py", one record each. */
static void
put_python (char *file)
{
  FlamAllocHeader *header = (FlamAllocHeader *)(gpointer)file;
  char *all = file + FLAM_ALLOC_PYTHON_AT;
  guint32 at = 16;

  for (guint i = 0; at + 96 < PYTHON_BYTES; i++)
    {
      g_autofree char *name = g_strdup_printf ("f%u", i);
      guint32 n_name = (guint32)strlen (name) + 1;
      FlamAllocPython record = {
        .version = nearly (0x030b0200),
        .first_line = nearly (10 * i),
        .n_name = nearly (n_name),
        .n_file = nearly (8),
        .n_lines = nearly (any (32)),
      };

      if (any (20) == 0)
        record.n_name = record.n_file = record.n_lines = 0;
      record.size = nearly (96);
      memcpy (all + at, &record, sizeof record);
      memcpy (all + at + sizeof record, name, n_name);
      memcpy (all + at + sizeof record + n_name, "cook.py", 8);
      for (guint k = sizeof record + n_name + 8; k < 96; k++)
        all[at + k] = (char)any (256);
      if (any (8) == 0)
        all[at + sizeof record + any (16)] = (char)any (256);
      at += 96;
    }
  header->python_used = nearly (at);
  if (header->python_used > FLAM_ALLOC_PYTHON_SIZE && any (8) > 0)
    header->python_used = at;
}

static void
put_nodes (char *file)
{
  FlamAllocHeader *header = (FlamAllocHeader *)(gpointer)file;
  FlamAllocNode *nodes =
      (FlamAllocNode *)(gpointer)(file + FLAM_ALLOC_NODES_AT);

  for (guint32 i = 1; i < NODES; i++)
    {
      guint32 number = 1 + 6 * any (PYTHON_BYTES / 96);

      nodes[i].parent = nearly (any (i));
      nodes[i].location =
          any (3) > 0
              ? FLAM_ALLOC_PYTHON_LOCATION (nearly (number), nearly (any (64)))
              : FLAM_ALLOC_LOCATION (nearly (any (4)), nearly (any (4096)));
    }
  header->n_nodes = any (20) > 0 ? NODES : nearly (NODES);
}

static void
put_events (char *file)
{
  FlamAllocHeader *header = (FlamAllocHeader *)(gpointer)file;
  FlamAllocRing *ring = (FlamAllocRing *)(gpointer)(file + FLAM_ALLOC_RINGS_AT);
  guint64 at = 0;

  header->n_rings = 1;
  memset (ring, 0, sizeof *ring);
  ring->state = FLAM_ALLOC_RING_DONE;
  ring->tid = (gint32)nearly (7);
  memcpy (ring->name, "a thread's own name", sizeof ring->name);
  for (guint i = 1; i <= EVENTS; i++)
    {
      unsigned op = any (2) > 0   ? FLAM_ALLOC_OP_FREE
                    : any (8) > 0 ? FLAM_ALLOC_OP_MALLOC
                                  : FLAM_ALLOC_OP_UNMAP + any (14);
      FlamAllocBlock block = {
        .stamp = FLAM_ALLOC_STAMP (i, op),
        .address = 0x5550000 + 16 * (guint64)any (64),
        .size = nearly (16 * any (100)),
        .node = nearly (any (NODES)),
        .made = i,
      };

      if (any (50) == 0)
        block.address = (guint64)nearly (0) << any (40);
      if (any (50) == 0)
        block.size = (guint64)0 - nearly (4096);
      if (any (50) == 0)
        block.size = (guint64)nearly (1) << any (64);
      memcpy (ring->data + at, &block, sizeof block);
      at += op == FLAM_ALLOC_OP_FREE ? sizeof (FlamAllocFree) : sizeof block;
    }
  ring->head = any (20) > 0 ? at : at + any (64);
}

static char *
map_new_file (const char *path)
{
  int fd = open (path, O_RDWR | O_CLOEXEC);
  char *file;

  g_assert_cmpint (ftruncate (fd, FLAM_ALLOC_FILE_SIZE), ==, 0);
  file = mmap (
      NULL, FLAM_ALLOC_FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  g_assert_true (file != MAP_FAILED);
  close (fd);
  return file;
}

/* The number of the capture's functions that belong to "cook.py". */
static guint
read_back (FlamCaptureWriter *writer)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureReader) reader =
      flam_capture_reader_new ("alloc-file", builder);
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (GError) error = NULL;
  const guint8 *data;
  guint found = 0;
  gsize size;

  g_assert_true (flam_capture_writer_end (writer, G_MAXINT32, NULL));
  data = flam_capture_writer_data (writer, &size);
  g_assert_true (flam_capture_reader_feed (reader, data, size, &error));
  profile = flam_builder_finish (builder, &error);
  g_assert_no_error (error);
  for (FlamId i = 0; i < profile->functions.n; i++)
    found += strcmp (flam_profile_string (profile, profile->functions.file[i]),
                     "cook.py") == 0;
  return found;
}

/* `disturb` is called between rounds. */
static guint
play (const char *path,
      guint64 sample_bytes,
      void (*disturb) (char *what),
      char *what,
      FlamAllocStats *stats)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autoptr (FlamAllocHeaps) heaps =
      flam_alloc_heaps_new (builder, FALSE, FALSE, NULL);
  FlamRuntimeFunctions *functions = flam_runtime_functions_new ();
  FlamAllocContext context = {
    .builder = builder,
    .owner = { .thread = get_thread, .frame = get_frame, .data = builder },
    .heaps = heaps,
    .functions = functions,
    .sample_bytes = sample_bytes,
    .random = 1,
  };
  FlamAllocProcess *process = flam_alloc_process_open (&context, path);

  g_assert_nonnull (process);
  flam_alloc_process_drain (process);
  for (guint i = 0; disturb != NULL && i < 20; i++)
    {
      disturb (what);
      flam_alloc_process_drain (process);
    }
  if (stats != NULL)
    flam_alloc_process_add_stats (process, stats);
  flam_alloc_process_free (process);
  flam_alloc_heaps_finish (heaps, 1);
  flam_runtime_functions_free (functions);
  return read_back (writer);
}

static void
put_all (char *file)
{
  FlamAllocHeader *header = (FlamAllocHeader *)(gpointer)file;

  *header = (FlamAllocHeader){ .magic = FLAM_ALLOC_MAGIC,
                               .version = FLAM_ALLOC_VERSION,
                               .clock = FLAM_ALLOC_CLOCK_NS,
                               .pid = 1,
                               .ready = 1 };
  put_python (file);
  put_nodes (file);
  put_events (file);
}

typedef struct
{
  char *path;
  char *file;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  close (g_file_open_tmp ("flam-alloc-XXXXXX", &fixture->path, NULL));
  fixture->file = map_new_file (fixture->path);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  munmap (fixture->file, FLAM_ALLOC_FILE_SIZE);
  g_unlink (fixture->path);
  g_free (fixture->path);
}

static void
test_damaged (Fixture *fixture, gconstpointer data)
{
  guint found = 0;

  for (guint round = 0; round < 200; round++)
    {
      put_all (fixture->file);
      found += play (fixture->path, round % 4 == 0 ? 512 : 0, NULL, NULL, NULL);
    }
  /* Most functions of most rounds, or the test would not have tried them. */
  g_assert_cmpuint (found, >, 1000);
}

/* --- invalid rings -------------------------------------------------------- */

static FlamAllocRing *
first_ring (char *file)
{
  return (FlamAllocRing *)(gpointer)(file + FLAM_ALLOC_RINGS_AT);
}

static guint64
any_head (const FlamAllocRing *ring)
{
  switch (any (5))
    {
    case 0:
      return G_MAXUINT64 - any (64);
    case 1:
      return any (G_MAXINT32);
    case 2:
      return ring->head - any (64);
    default:
      return ring->head + any (FLAM_ALLOC_RING_DATA + 64);
    }
}

static void
disturb_ring (char *file)
{
  FlamAllocHeader *header = (FlamAllocHeader *)(gpointer)file;
  FlamAllocRing *ring = first_ring (file);

  header->n_rings = nearly (1 + any (3));
  ring->state = any (4);
  ring->head = any_head (ring);
  for (guint i = 0; i < 64; i++)
    ring->data[any (FLAM_ALLOC_RING_DATA)] = (guint8)any (256);
}

static void
disturb_end (char *file)
{
  first_ring (file)->head = G_MAXUINT64;
}

/* A reader of these continues, and reports that something was wrong. */
static void
test_rings (Fixture *fixture, gconstpointer data)
{
  FlamAllocStats stats = { 0 };
  guint good = 0;

  put_all (fixture->file);
  play (fixture->path, 0, disturb_end, fixture->file, &stats);
  g_assert_cmpuint (stats.damaged, ==, 1);
  for (guint round = 0; round < 40; round++)
    {
      put_all (fixture->file);
      if (round % 3 > 0)
        first_ring (fixture->file)->head =
            any_head (first_ring (fixture->file));
      stats.damaged = 0;
      play (
          fixture->path, round % 2 * 512, disturb_ring, fixture->file, &stats);
      good += stats.damaged == 0;
    }
  g_assert_cmpuint (good, <, 10);
}

/* --- impossible sizes ------------------------------------------------------
 */

/* Blocks of `size` bytes at distinct addresses, then one of 24 bytes. */
static void
put_blocks (char *file, unsigned op, guint64 size)
{
  FlamAllocRing *ring = first_ring (file);

  put_all (file);
  for (guint i = 0; i < EVENTS; i++)
    {
      FlamAllocBlock block = {
        .stamp = FLAM_ALLOC_STAMP (i + 1,
                                   i + 1 < EVENTS ? op : FLAM_ALLOC_OP_MALLOC),
        .address = 0x5550000 + 16 * (guint64)i,
        .size = i + 1 < EVENTS ? size : 24,
      };

      memcpy (ring->data + i * sizeof block, &block, sizeof block);
    }
  ring->head = EVENTS * sizeof (FlamAllocBlock);
}

/* Each alone may be possible; their sum is not. The capture opens (or play()
 * fails), and the process is reported as having written invalid data. */
static void
test_sizes (Fixture *fixture, gconstpointer data)
{
  static const unsigned ops[] = { FLAM_ALLOC_OP_MALLOC,
                                  FLAM_ALLOC_OP_MMAP,
                                  FLAM_ALLOC_OP_BREAK };
  static const guint64 sizes[] = { G_GUINT64_CONSTANT (1) << 57,
                                   (guint64)G_MAXINT64 >> 8,
                                   G_MAXINT64 };

  for (guint op = 0; op < G_N_ELEMENTS (ops); op++)
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      for (guint every = 0; every < 2; every++)
        {
          FlamAllocStats stats = { 0 };

          put_blocks (fixture->file, ops[op], sizes[i]);
          play (fixture->path, every * 512, NULL, NULL, &stats);
          g_assert_cmpuint (stats.damaged, ==, 1);
        }
}

/* Data that is written while it is read. */
static gpointer
scribble (gpointer data)
{
  FlamAllocRing *ring = first_ring (data);
  guint64 x = 88172645463325252ull;

  while (!g_atomic_int_get (&ring->tid))
    {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      ring->data[x % FLAM_ALLOC_RING_DATA] = (guint8)(x >> 32);
      ring->data[(x >> 20) % 4096] = x >> 40 & 15;
      ring->head += x >> 60 == 0 ? x % 65536 : 16;
    }
  return NULL;
}

static void
wait_a_little (char *unused)
{
  g_usleep (200);
}

static void
test_scribbled (Fixture *fixture, gconstpointer data)
{
  GThread *thread;

  put_all (fixture->file);
  first_ring (fixture->file)->tid = 0;
  thread = g_thread_new ("scribbler", scribble, fixture->file);
  for (guint round = 0; round < 10; round++)
    play (fixture->path, round % 2 * 512, wait_a_little, NULL, NULL);
  g_atomic_int_set (&first_ring (fixture->file)->tid, 1);
  g_thread_join (thread);
}

static void
cut (char *path)
{
  g_assert_cmpint (truncate (path, any (2) > 0 ? 0 : 4096), ==, 0);
}

/* The target makes the file shorter than its mapping. */
static void
test_cut (Fixture *fixture, gconstpointer data)
{
  FlamAllocStats stats = { 0 };

  for (guint round = 0; round < 20; round++)
    {
      put_all (fixture->file);
      stats.damaged = 0;
      play (fixture->path, 0, cut, fixture->path, &stats);
      g_assert_cmpuint (stats.damaged, ==, 1);
      g_assert_cmpint (truncate (fixture->path, FLAM_ALLOC_FILE_SIZE), ==, 0);
    }
}

/* A file whose size does not match its rings is not one of the library's. */
static void
test_other_size (void)
{
  static const gsize sizes[] = { 0, 4096, 12288 };
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("flam-XXXXXX", &path, NULL);

  g_assert_cmpint (ftruncate (fd, 8192), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    g_assert_null (flam_alloc_map_new (fd, sizes[i]));
  flam_alloc_map_free (flam_alloc_map_new (fd, 8192));
  close (fd);
  g_remove (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, function)                                                    \
  g_test_add (path, Fixture, NULL, set_up, function, tear_down)
  ADD ("/alloc-file/damaged", test_damaged);
  ADD ("/alloc-file/rings", test_rings);
  ADD ("/alloc-file/sizes", test_sizes);
  ADD ("/alloc-file/scribbled", test_scribbled);
  ADD ("/alloc-file/cut", test_cut);
  g_test_add_func ("/alloc-file/other-size", test_other_size);
  return g_test_run ();
}
