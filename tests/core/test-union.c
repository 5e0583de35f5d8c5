/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Rows and builders of several parts give the same result as one part with all
 * rows. */

#include "flam-core-picture.h"

#define PARTS 7

/* --- fingerprints ----------------------------------------------------------
 */

#define LONGEST 200

static void
add_print (GHashTable *seen,
           const FlamFingerprintKey *key,
           const char *text,
           gsize length)
{
  /* Memory of exactly that size: nothing after it is read. */
  g_autofree char *copy = length > 0 ? g_memdup2 (text, length) : g_strdup ("");
  FlamFingerprint print = flam_fingerprint (key, copy, length);
  FlamFingerprint again = flam_fingerprint (key, text, length);

  g_assert_true (flam_fingerprint_equal (&print, &again));
  g_assert_true (g_hash_table_add (
      seen, g_strdup_printf ("%016" G_GINT64_MODIFIER "x", print.a)));
  g_assert_true (g_hash_table_add (
      seen, g_strdup_printf ("%016" G_GINT64_MODIFIER "x", print.b)));
}

/* Each text has a fingerprint of its own: all zero, of any length, and with one
 * byte that is not. */
static void
test_fingerprints (void)
{
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  FlamFingerprintKey key;

  flam_fingerprint_key_init (&key);
  for (gsize length = 0; length <= LONGEST; length++)
    {
      char text[LONGEST] = { 0 };

      add_print (seen, &key, text, length);
      for (gsize i = 0; i < length; i++)
        {
          text[i] = 1;
          add_print (seen, &key, text, length);
          text[i] = 0;
        }
    }
}

/* --- rows ------------------------------------------------------------------
 */

typedef struct
{
  guint same; /* how often */
  const FlamUnion *rows;
} Seen;

static gboolean
count_same (gpointer data, FlamId first, FlamId number)
{
  Seen *seen = data;

  g_assert_cmpuint (first, <, number);
  g_assert_cmpuint (seen->rows->first[first], ==, first);
  seen->same++;
  return TRUE;
}

static gboolean
refuse (gpointer data, FlamId first, FlamId number)
{
  return FALSE;
}

static void
add_rows (FlamUnion *rows, const guint32 *sizes, GArray *values)
{
  for (guint part = 0; part < PARTS; part++)
    {
      FlamFingerprint *prints = flam_union_prints (rows, part);

      for (guint32 i = 0; i < sizes[part]; i++)
        {
          guint32 value = (guint32)g_test_rand_int_range (0, 500);

          g_array_append_val (values, value);
          prints[i] = (FlamFingerprint){ flam_hash_mix (value, 1),
                                         flam_hash_mix (value, 2) };
        }
      flam_union_split (rows, part);
    }
}

/* Ids in the order of the first rows, computed with a table of the values. */
static void
test_rows (void)
{
  guint32 sizes[PARTS] = { 300, 0, 900, 1, 40, 0, 700 };
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (guint32));
  FlamId ids[500];
  FlamUnion rows;
  Seen seen = { 0, &rows };
  guint32 n = 0, number = 0;

  memset (ids, 0xff, sizeof ids);
  flam_union_init (&rows, PARTS, sizes);
  add_rows (&rows, sizes, values);
  for (guint share = PARTS; share-- > 0;)
    g_assert_true (flam_union_find (&rows, share, count_same, &seen));
  for (guint part = PARTS; part-- > 0;)
    flam_union_assign (&rows, part);
  for (guint part = 0; part < PARTS; part++)
    for (guint32 i = 0; i < sizes[part]; i++, number++)
      {
        guint32 value = g_array_index (values, guint32, number);
        gboolean is_first = ids[value] == FLAM_NONE;

        if (is_first)
          ids[value] = n++;
        g_assert_cmpuint (flam_union_part (&rows, number), ==, part);
        g_assert_cmpint (flam_union_is_first (&rows, part, i), ==, is_first);
        g_assert_cmpuint (flam_union_id (&rows, part, i), ==, ids[value]);
      }
  g_assert_cmpuint (flam_union_n (&rows), ==, n);
  g_assert_cmpuint (seen.same, ==, number - n);
  g_assert_false (flam_union_find (&rows, 0, refuse, NULL));
  flam_union_clear (&rows);
}

/* --- builders --------------------------------------------------------------
 */

/* The same rows every time, in one builder or in several. */
static void
fill (FlamBuilder *const *builders,
      guint n,
      FlamStackId (*stacks)[2000],
      FlamThreadId *threads)
{
  g_autoptr (GRand) dice = g_rand_new_with_seed (7);

  for (guint i = 0; i < 2000; i++)
    {
      FlamBuilder *builder = builders[i * n / 2000];
      FlamProcessId process =
          flam_builder_process (builder, g_rand_int_range (dice, 1, 4), 0);
      FlamStackId stack = FLAM_NONE;
      g_autofree char *comm = g_strdup_printf ("process %u", i / 300);

      flam_builder_set_process_name (builder, process, comm);
      threads[i] = flam_builder_thread (
          builder, process, g_rand_int_range (dice, 1, 9), 0);
      if (!flam_builder_has_thread_name (builder, threads[i]))
        flam_builder_set_thread_name (builder, threads[i], comm);
      for (int depth = g_rand_int_range (dice, 1, 12); depth > 0; depth--)
        {
          g_autofree char *name =
              g_strdup_printf ("f%d", g_rand_int_range (dice, 0, 3 + depth));
          FlamFunctionId function = flam_builder_function_named (
              builder,
              flam_builder_string (builder, name, -1),
              FLAM_KIND_NATIVE);

          stack = flam_builder_stack (
              builder, stack, flam_builder_frame (builder, function, 0, 0, 0));
        }
      (*stacks)[i] = stack;
    }
}

static char *
finish (FlamBuilder *builder,
        const FlamStackId *stacks,
        const FlamThreadId *threads)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = NULL;

  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  for (guint i = 0; i < 2000; i++)
    {
      FlamSample sample = { .stack = stacks[i], .thread = threads[i] };

      flam_builder_add_sample (builder, &sample, NULL);
    }
  profile = flam_builder_finish (builder, &error);
  g_assert_no_error (error);
  return flam_dump_profile (profile);
}

/* An existing stack is found, although the merged ones were not looked up when
 * they were added. */
static void
check_found (FlamBuilder *builder, guint32 n)
{
  const FlamStacks *stacks = &flam_builder_tables (builder)->profile.stacks;

  for (FlamId i = 0; i < n; i++)
    g_assert_cmpuint (
        flam_builder_stack (builder, stacks->prefix[i], stacks->frame[i]),
        ==,
        i);
  g_assert_cmpuint (stacks->n, ==, n);
}

static void
check_merged (guint n, const char *expected)
{
  FlamBuilder *builders[PARTS];
  FlamStackId stacks[2000];
  FlamThreadId threads[2000];
  g_autoptr (FlamBuilderMerge) merge = NULL;
  g_autofree char *dump = NULL;
  guint width;

  for (guint i = 0; i < n; i++)
    builders[i] = flam_builder_new ();
  fill (builders, n, &stacks, threads);
  merge = flam_builder_merge_new (builders, n);
  for (guint step = 0; (width = flam_builder_merge_width (merge, step)) > 0;
       step++)
    while (width-- > 0)
      flam_builder_merge_step (merge, step, width);
  flam_builder_merge_finish (merge);
  for (guint i = 0; i < 2000; i++)
    {
      stacks[i] = flam_builder_merge_stack (merge, i * n / 2000, stacks[i]);
      threads[i] = flam_builder_merge_thread (merge, i * n / 2000, threads[i]);
    }
  g_assert_cmpuint (
      flam_builder_merge_stack (merge, n - 1, FLAM_NONE), ==, FLAM_NONE);
  check_found (builders[0],
               flam_builder_tables (builders[0])->profile.stacks.n);
  dump = finish (builders[0], stacks, threads);
  g_assert_cmpstr (dump, ==, expected);
  for (guint i = 0; i < n; i++)
    flam_builder_free (builders[i]);
}

static void
test_builders (void)
{
  FlamBuilder *one = flam_builder_new ();
  FlamStackId stacks[2000];
  FlamThreadId threads[2000];
  g_autofree char *expected = NULL;

  fill (&one, 1, &stacks, threads);
  expected = finish (one, stacks, threads);
  flam_builder_free (one);
  for (guint n = 1; n <= PARTS; n++)
    check_merged (n, expected);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/union/fingerprints", test_fingerprints);
  g_test_add_func ("/union/rows", test_rows);
  g_test_add_func ("/union/builders", test_builders);
  return g_test_run ();
}
