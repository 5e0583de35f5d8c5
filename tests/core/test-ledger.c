/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ledger against a program that keeps every block: random events, with and
 * without addresses, and the live blocks at the high-water mark, at the end and
 * at every tick. And the rules for leaks. */
#include "flam-core-query.h"

#include <string.h>

#define N_SITES 7
#define N_TICKS 12

typedef struct
{
  guint64 allocated[N_SITES];
  guint64 live[N_SITES];
  guint64 at_peak[N_SITES];
  guint64 at_tick[N_TICKS][N_SITES];
  guint64 temporary;
  gint64 heap, peak;
} Truth;

static gint64
site_size (guint site)
{
  return 8 << site;
}

static void
truth_change (Truth *truth, guint site, int change)
{
  truth->live[site] += change;
  truth->heap += change * site_size (site);
  truth->allocated[site] += change > 0;
  if (truth->heap > truth->peak)
    {
      truth->peak = truth->heap;
      memcpy (truth->at_peak, truth->live, sizeof truth->live);
    }
}

static FlamLedger *
make_ledger (FlamBuilder *builder)
{
  FlamLedger *ledger = flam_ledger_new (builder);

  for (guint site = 0; site < N_SITES; site++)
    {
      g_autofree char *name = g_strdup_printf ("site %u", site);
      FlamFunctionId function = flam_builder_function_named (
          builder, flam_builder_string (builder, name, -1), FLAM_KIND_NATIVE);
      FlamStackId stack = flam_builder_stack (
          builder, FLAM_NONE, flam_builder_frame (builder, function, 0, 0, 0));
      FlamSiteKey key = {
        site_size (site), stack, FLAM_NONE, 1, FLAM_ALLOCATOR_MALLOC
      };
      g_assert_cmpuint (flam_ledger_add_site (ledger, &key), ==, site);
    }
  return ledger;
}

/* Growing for a while, then shrinking: peaks of every shape. */
static gboolean
wants_more (guint event, guint n)
{
  guint phase = event * 6 / n;

  return g_test_rand_int_range (0, 100) < (phase % 2 == 0 ? 65 : 35);
}

static void
play_plain (FlamLedger *ledger, Truth *truth, guint n)
{
  int last = -1;

  for (guint i = 0; i < n; i++)
    {
      guint site = g_test_rand_int_range (0, N_SITES);
      guint tick = (guint64)i * N_TICKS / n;

      if (i == 0 || tick != (guint64)(i - 1) * N_TICKS / n)
        flam_ledger_set_time (ledger, 1000 * (tick + 1));
      if (wants_more (i, n))
        {
          flam_ledger_allocate (ledger, site);
          truth_change (truth, site, 1);
          last = site;
        }
      else if (truth->live[site] > 0)
        {
          gboolean temporary = last == (int)site;
          g_assert_true (
              flam_ledger_release_youngest (ledger, site, temporary));
          truth_change (truth, site, -1);
          truth->temporary += temporary;
          last = -1;
        }
      else
        g_assert_false (flam_ledger_release_youngest (ledger, site, FALSE));
      memcpy (truth->at_tick[tick], truth->live, sizeof truth->live);
    }
}

static void
play_addresses (FlamLedger *ledger, Truth *truth, guint n)
{
  g_autofree int *blocks = g_new (int, n); /* site, or -1 */

  memset (blocks, 0xff, n * sizeof *blocks);
  for (guint i = 0; i < n; i++)
    {
      guint place = g_test_rand_int_range (0, n / 8);
      guint64 address = 0x7f0000000000 + 16 * (guint64)place;
      guint tick = (guint64)i * N_TICKS / n;

      if (i == 0 || tick != (guint64)(i - 1) * N_TICKS / n)
        flam_ledger_set_time (ledger, 1000 * (tick + 1));
      if (wants_more (i, n))
        {
          guint site = g_test_rand_int_range (0, N_SITES);
          if (blocks[place] >= 0)
            truth_change (truth, blocks[place], -1);
          flam_ledger_allocate_at (ledger, site, address);
          truth_change (truth, site, 1);
          blocks[place] = site;
        }
      else
        {
          guint32 site = flam_ledger_release_at (ledger, address, G_MAXUINT16);
          g_assert_cmpuint (
              site, ==, blocks[place] < 0 ? FLAM_NONE : (guint)blocks[place]);
          if (blocks[place] >= 0)
            truth_change (truth, blocks[place], -1);
          blocks[place] = -1;
        }
      memcpy (truth->at_tick[tick], truth->live, sizeof truth->live);
    }
}

static guint
row_site (const FlamProfile *profile, guint32 row)
{
  gint64 size = profile->allocations.size[row];
  guint site = 0;

  while (site_size (site) < size)
    site++;
  return site;
}

static void
check (const FlamProfile *profile, const Truth *truth)
{
  const FlamAllocations *rows = &profile->allocations;
  Truth sums = { 0 };

  for (guint32 i = 0; i < rows->n; i++)
    {
      guint site = row_site (profile, i);

      sums.allocated[site] += rows->count[i];
      sums.at_peak[site] += rows->at_peak[i];
      if (rows->freed_at[i] == FLAM_NEVER)
        sums.live[site] += rows->count[i];
      if (rows->distance[i] == 0)
        sums.temporary += rows->count[i];
      for (guint tick = 0; tick < N_TICKS; tick++)
        {
          gint64 time = 1000 * (tick + 1);
          if (rows->time[i] <= time && time < rows->freed_at[i])
            sums.at_tick[tick][site] += rows->count[i];
        }
    }
  for (guint site = 0; site < N_SITES; site++)
    {
      g_assert_cmpuint (sums.allocated[site], ==, truth->allocated[site]);
      g_assert_cmpuint (sums.at_peak[site], ==, truth->at_peak[site]);
      g_assert_cmpuint (sums.live[site], ==, truth->live[site]);
      for (guint tick = 0; tick < N_TICKS; tick++)
        g_assert_cmpuint (
            sums.at_tick[tick][site], ==, truth->at_tick[tick][site]);
    }
  g_assert_cmpuint (sums.temporary, ==, truth->temporary);
}

static void
run (void (*play) (FlamLedger *, Truth *, guint), guint n)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamLedger) ledger = make_ledger (builder);
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (GError) error = NULL;
  Truth truth = { 0 };

  flam_builder_set_has_times (builder);
  flam_builder_set_origin (builder, 0);
  flam_builder_add_allocation_measures (builder);
  play (ledger, &truth, n);
  g_assert_cmpint (ledger->heap.highest, ==, truth.peak);
  g_assert_cmpint (ledger->heap.live, ==, truth.heap);
  g_assert_true (flam_ledger_finish (ledger, 0, &error));
  flam_builder_fold_memory (builder);
  profile = flam_builder_finish (builder, &error);
  g_assert_no_error (error);
  check (profile, &truth);
  /* rows are few: one per site, birth, death and distance */
  g_assert_cmpuint (
      profile->allocations.n, <=, N_SITES * (N_TICKS + 1) * (N_TICKS + 2) * 2);
}

static void
test_plain (void)
{
  for (guint i = 0; i < 60; i++)
    run (play_plain, 50 + i * 137);
}

static void
test_addresses (void)
{
  for (guint i = 0; i < 60; i++)
    run (play_addresses, 50 + i * 137);
}

static void
test_suppressions (void)
{
  static const struct
  {
    const char *pattern, *text;
    gboolean match;
  } rows[] = {
    { "dl_open", "dl_open_worker", TRUE },
    { "open_w", "dl_open_worker", TRUE },
    { "^open", "dl_open_worker", FALSE },
    { "^dl_", "dl_open_worker", TRUE },
    { "worker$", "dl_open_worker", TRUE },
    { "open$", "dl_open_worker", FALSE },
    { "^dl_open_worker$", "dl_open_worker", TRUE },
    { "^dl_open$", "dl_open_worker", FALSE },
    { "dl*work", "dl_open_worker", TRUE },
    { "dl*work$", "dl_open_worker", FALSE },
    { "*er$", "dl_open_worker", TRUE },
    { "a$", "aba", TRUE },
    { "*", "x", TRUE },
    { "*", "", FALSE },
    { "xx", "x", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (FlamSuppressions) rules = flam_suppressions_new ();
      flam_suppressions_add (rules, rows[i].pattern, -1);
      g_test_message ("%s in %s", rows[i].pattern, rows[i].text);
      g_assert_cmpint (
          flam_suppressions_match (rules, rows[i].text, strlen (rows[i].text)),
          ==,
          rows[i].match ? 0 : -1);
    }
}

static void
test_suppression_files (void)
{
  static const char good[] = "# known\n  leak:libfoo.so \n\nleak:^init_*$\n";
  static const char bad[] = "leak:a\nrace:b\n";
  g_autoptr (FlamSuppressions) rules = flam_suppressions_new ();
  g_autoptr (GError) error = NULL;

  g_assert_true (flam_suppressions_parse (rules, good, strlen (good), &error));
  g_assert_no_error (error);
  g_assert_cmpuint (flam_suppressions_get_n (rules), ==, 2);
  g_assert_cmpstr (flam_suppressions_get (rules, 0), ==, "libfoo.so");
  g_assert_cmpint (flam_suppressions_match (rules, "init_x", 6), ==, 1);
  g_assert_false (flam_suppressions_parse (rules, bad, strlen (bad), &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "line 2"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ledger/plain", test_plain);
  g_test_add_func ("/ledger/addresses", test_addresses);
  g_test_add_func ("/suppressions/match", test_suppressions);
  g_test_add_func ("/suppressions/files", test_suppression_files);
  return g_test_run ();
}
