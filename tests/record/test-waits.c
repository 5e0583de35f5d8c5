/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The frame pointer of a thread that sleeps where it slept before. */

#include "flam-waits.h"

#define BASE 0x7000u
#define N 16

static FlamUnwindMemory
memory_of (const guint64 *words)
{
  return (FlamUnwindMemory){ .copy = words, .base = BASE, .size = 8 * N };
}

static void
test_waits (void)
{
  guint64 words[N] = { [4] = BASE + 0x100, [5] = 0x401234, [N - 1] = 7 };
  FlamUnwindMemory memory = memory_of (words);
  FlamWaits *waits = NULL;
  guint64 bp = 1;

  g_assert_false (flam_waits_find (waits, &memory, 0x1000, &bp));
  /* No frame pointer, and one of a frame that was not copied. */
  flam_waits_keep (&waits, &memory, 0x1000, 5);
  flam_waits_keep (&waits, &memory, 0x1000, BASE + 8 * (N - 1));
  g_assert_null (waits);
  flam_waits_keep (&waits, &memory, 0x1000, BASE + 32);
  g_assert_true (flam_waits_find (waits, &memory, 0x1000, &bp));
  g_assert_cmphex (bp, ==, BASE + 32);
  /* Elsewhere in the code, or on the stack; another frame is there now. */
  g_assert_false (flam_waits_find (waits, &memory, 0x1001, &bp));
  memory.base += 8;
  g_assert_false (flam_waits_find (waits, &memory, 0x1000, &bp));
  memory.base = BASE;
  words[5]++;
  g_assert_false (flam_waits_find (waits, &memory, 0x1000, &bp));
  words[5]--;
  words[4]++;
  g_assert_false (flam_waits_find (waits, &memory, 0x1000, &bp));
  memory.size = 40;
  g_assert_false (flam_waits_find (waits, &memory, 0x1000, &bp));
  flam_waits_free (waits);
}

/* The oldest of too many is forgotten, and one is kept once. */
static void
test_many (void)
{
  const guint64 words[N] = { 0 };
  FlamUnwindMemory memory = memory_of (words);
  FlamWaits *waits = NULL;
  guint64 bp = 0, n = 0;

  for (guint64 pc = 1; pc <= 20; pc++)
    for (guint i = 0; i < 2; i++)
      flam_waits_keep (&waits, &memory, pc, BASE + 8 * (pc % 8));
  for (guint64 pc = 1; pc <= 20; pc++)
    if (flam_waits_find (waits, &memory, pc, &bp))
      {
        g_assert_cmphex (bp, ==, BASE + 8 * (pc % 8));
        n++;
      }
  g_assert_cmpuint (n, ==, 16);
  g_assert_false (flam_waits_find (waits, &memory, 4, &bp));
  flam_waits_free (waits);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/waits/same-frame", test_waits);
  g_test_add_func ("/waits/many", test_many);
  return g_test_run ();
}
