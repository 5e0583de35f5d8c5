/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz-driver.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGEST_FILE (256 << 10)
#define SECONDS_AN_INPUT 60

static GByteArray *current;

static void
leave_crash (int number)
{
  static const char message[] = "the bytes are in fuzz-crash.bin\n";
  FILE *file = fopen ("fuzz-crash.bin", "wb");

  if (file != NULL)
    {
      fwrite (current->data, 1, current->len, file);
      fclose (file);
    }
  if (write (STDERR_FILENO, message, sizeof message - 1) < 0)
    _exit (2);
  signal (number, SIG_DFL);
  raise (number);
}

static void
damage_byte (GByteArray *bytes, GRand *random)
{
  static const guint8 special[] = { 0, 1, 0x7f, 0x80, 0xff, '\n', ' ', '"' };
  guint at = g_rand_int_range (random, 0, bytes->len);

  bytes->data[at] = g_rand_boolean (random)
                        ? special[g_rand_int_range (random, 0, sizeof special)]
                        : g_rand_int_range (random, 0, 256);
}

/* A typical number in formats: sizes, counts and offsets. */
static void
damage_number (GByteArray *bytes, GRand *random)
{
  static const guint64 special[] = { 0,
                                     1,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     G_MAXINT64,
                                     (guint64)G_MAXINT64 + 1,
                                     G_MAXUINT64 };
  guint64 value = special[g_rand_int_range (random, 0, G_N_ELEMENTS (special))];
  guint size = 1u << g_rand_int_range (random, 1, 4);

  if (bytes->len >= size)
    memcpy (bytes->data + g_rand_int_range (random, 0, bytes->len - size + 1),
            &value,
            size);
}

static void
damage_length (GByteArray *bytes, GRand *random)
{
  guint at = g_rand_int_range (random, 0, bytes->len);
  guint n = g_rand_int_range (random, 1, MIN (bytes->len - at, 64) + 1);

  if (g_rand_boolean (random))
    {
      g_byte_array_remove_range (bytes, at, n);
      return;
    }
  g_autofree guint8 *piece = g_memdup2 (bytes->data + at, n);
  g_byte_array_append (bytes, piece, n);
}

static void
damage (GByteArray *bytes, GRand *random)
{
  guint n = g_rand_int_range (random, 1, 8);

  for (guint i = 0; i < n && bytes->len > 0; i++)
    switch (g_rand_int_range (random, 0, 8))
      {
      case 0:
        damage_length (bytes, random);
        break;
      case 1:
        g_byte_array_set_size (bytes, g_rand_int_range (random, 0, bytes->len));
        break;
      case 2:
      case 3:
        damage_number (bytes, random);
        break;
      default:
        damage_byte (bytes, random);
      }
}

static gboolean
feed_file (const char *path, guint rounds, GRand *random)
{
  g_autofree char *data = NULL;
  gsize size;

  if (!g_file_get_contents (path, &data, &size, NULL) || size > LARGEST_FILE)
    return FALSE;
  for (guint i = 0; i < rounds; i++)
    {
      current = g_byte_array_sized_new (size);
      g_byte_array_append (current, (const guint8 *)data, size);
      if (i > 0)
        damage (current, random);
      alarm (SECONDS_AN_INPUT);
      LLVMFuzzerTestOneInput (current->data, current->len);
      alarm (0);
      g_byte_array_unref (current);
    }
  return TRUE;
}

static void
list_folder (const char *path, GQueue *paths)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (!g_str_has_suffix (name, ".expected") &&
        !g_str_has_suffix (name, ".error"))
      g_queue_push_tail (paths, g_build_filename (path, name, NULL));
}

int
main (int argc, char **argv)
{
  guint rounds = argc > 1 ? atoi (argv[1]) : 0;
  const char *chosen = g_getenv ("FLAM_SEED");
  const char *times = g_getenv ("FLAM_FUZZ_TIMES");
  guint32 seed = chosen ? strtoul (chosen, NULL, 10) : g_random_int ();
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  GQueue paths = G_QUEUE_INIT;
  char *path;
  guint n = 0;

  rounds *= times ? strtoul (times, NULL, 10) : 1;
  g_print ("FLAM_SEED=%u, %u rounds per file\n", seed, rounds);
  signal (SIGSEGV, leave_crash);
  signal (SIGABRT, leave_crash);
  signal (SIGALRM, leave_crash);
  for (int i = 2; i < argc; i++)
    g_queue_push_tail (&paths, g_strdup (argv[i]));
  while ((path = g_queue_pop_head (&paths)) != NULL)
    {
      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        list_folder (path, &paths);
      else
        n += feed_file (path, rounds, random);
      g_free (path);
    }
  g_print ("%u files\n", n);
  return n == 0;
}
