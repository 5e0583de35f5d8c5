/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Hostile bytes into every importer, whatever its probe says of them, and what
 * comes out through the whole straight path: profile -> weights -> tree.
 *
 * As a test: `fuzz-formats FOLDER [ROUNDS] [SEED]` takes every file below the
 * folder, damages it ROUNDS times (500), and feeds it to every importer. What
 * may happen is a profile or an error; a crash, a sanitizer's word, a single
 * load of more than a minute may not. The seed is printed, and on a crash the
 * bytes are left in fuzz-crash.bin.
 *
 * As a fuzzer: clang -fsanitize=fuzzer -DFLAM_LIBFUZZER, linked with
 * flam-formats; LLVMFuzzerTestOneInput() is the entry. */

#include "flam-formats.h"
#include "flam-tree.h"
#include "flam-weights.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define LARGEST_FILE (256 << 10)
#define SECONDS_A_LOAD 60

static void
follow_the_path (const FlamProfile *profile)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;

  if (profile->n_measures == 0)
    return;
  weights = flam_weights_new (profile, selection, NULL, NULL);
  g_assert_nonnull (weights);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  g_assert_nonnull (tree);
}

static void
load_with (const FlamImporter *importer, const FlamSource *source)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (GError) error = NULL;
  FlamLoadOptions options = { 0 };

  if (importer->load (source, builder, &options, &error))
    profile = flam_builder_finish (builder, &error);
  g_assert_true ((profile == NULL) == (error != NULL));
  if (profile != NULL)
    follow_the_path (profile);
}

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (FlamSource) source =
      flam_source_new_from_data ("fuzz", data, size);

  flam_formats_probe (source);
  for (guint i = 0; flam_importers[i] != NULL; i++)
    load_with (flam_importers[i], source);
  return 0;
}

#ifndef FLAM_LIBFUZZER

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

/* A number as formats have them: sizes, counts and offsets. */
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

static void
feed (const char *data, gsize size, guint rounds, GRand *random)
{
  for (guint i = 0; i < rounds; i++)
    {
      current = g_byte_array_sized_new (size);
      g_byte_array_append (current, (const guint8 *)data, size);
      if (i > 0)
        damage (current, random);
      alarm (SECONDS_A_LOAD);
      LLVMFuzzerTestOneInput (current->data, current->len);
      alarm (0);
      g_byte_array_unref (current);
    }
}

static guint
feed_folder (const char *folder, guint rounds, GRand *random)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autofree char *data = NULL;
      gsize size;

      if (g_str_has_suffix (name, ".expected") ||
          g_str_has_suffix (name, ".error") ||
          !g_file_get_contents (path, &data, &size, NULL) ||
          size > LARGEST_FILE)
        continue;
      feed (data, size, rounds, random);
      n++;
    }
  return n;
}

int
main (int argc, char **argv)
{
  guint rounds = argc > 2 ? atoi (argv[2]) : 500;
  guint32 seed = argc > 3 ? strtoul (argv[3], NULL, 10) : g_random_int ();
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  g_autoptr (GDir) dir = argc > 1 ? g_dir_open (argv[1], 0, NULL) : NULL;
  const char *name;
  guint n = 0;

  if (dir == NULL)
    {
      g_printerr ("usage: fuzz-formats FOLDER [ROUNDS] [SEED]\n");
      return 2;
    }
  g_print ("seed %u, %u rounds a file\n", seed, rounds);
  signal (SIGSEGV, leave_crash);
  signal (SIGABRT, leave_crash);
  signal (SIGALRM, leave_crash);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *folder = g_build_filename (argv[1], name, NULL);

      n += feed_folder (folder, rounds, random);
    }
  g_print ("%u files\n", n);
  return n == 0;
}

#endif
