/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk over a stack of a few words, with code that is a table: which
 * addresses are looked up, which are shown, and how it ends. */
#include "flam-unwind-loop.h"

#include <glib.h>

typedef struct
{
  uint64_t start, end;
  FlamUnwindCode code;
} Code;

typedef struct
{
  const Code *codes;
  guint n_codes;
  uint64_t shown[8];
  guint n;
} Walk;

static const FlamUnwindCode *
find (void *data, uint64_t pc)
{
  Walk *walk = data;

  for (guint i = 0; i < walk->n_codes; i++)
    if (pc >= walk->codes[i].start && pc < walk->codes[i].end)
      return &walk->codes[i].code;
  return NULL;
}

static bool
enter (void *data, const FlamUnwindRegs *regs, uint64_t pc)
{
  Walk *walk = data;

  if (walk->n == G_N_ELEMENTS (walk->shown))
    return false;
  walk->shown[walk->n++] = pc;
  return true;
}

static const FlamUnwindWalker walker = { .find = find, .enter = enter };

static FlamUnwindEnd
walk_from (Walk *walk, const uint64_t *stack, guint n, uint64_t bp)
{
  FlamUnwindMemory memory = { .copy = stack, .base = 0x1000, .size = 8 * n };
  FlamUnwindRegs regs = { .pc = 0x400100, .sp = 0x1000, .bp = bp };

  return flam_unwind_loop (&walker, walk, &memory, &regs);
}

static void
assert_shown (const Walk *walk, const uint64_t *wanted, guint n)
{
  g_assert_cmpmem (
      walk->shown, walk->n * sizeof *wanted, wanted, n * sizeof *wanted);
}

/* A return address is looked up one byte before, inside the call. */
static void
test_callers (void)
{
  static const uint64_t stack[] = { 0x400210, 0x400300 };
  static const uint64_t wanted[] = { 0x400100, 0x40020f, 0x4002ff };
  static const Code codes[] = {
    { 0x400100, 0x400110, { { 0, 1, 0, FLAM_UNWIND_KIND_SP } } },
    { 0x400200, 0x400210, { { 0, 1, 0, FLAM_UNWIND_KIND_SP } } },
    { 0x4002f0, 0x400300, { { 0, 0, 0, FLAM_UNWIND_KIND_END } } },
  };
  Walk walk = { codes, G_N_ELEMENTS (codes) };

  g_assert_cmpint (walk_from (&walk, stack, 2, 0), ==, FLAM_UNWIND_ROOT);
  assert_shown (&walk, wanted, G_N_ELEMENTS (wanted));
}

/* If the return address of a guessed frame is not code, the frame pointer is
 * used instead: [rbp + 8] is a return address, too, here the last one of its
 * function. */
static void
test_guess (void)
{
  static const uint64_t stack[] = { 0, 0x999, 0x1020, 0, 0, 0x400300 };
  static const uint64_t wanted[] = { 0x400100, 0x4002ff };
  static const Code codes[] = {
    { 0x400100, 0x400110, { { 0, 2, 0, FLAM_UNWIND_KIND_SCAN } } },
    { 0x4002f0, 0x400300, { { 0, 0, 0, FLAM_UNWIND_KIND_END } } },
  };
  Walk walk = { codes, G_N_ELEMENTS (codes) };

  g_assert_cmpint (walk_from (&walk, stack, 6, 0x1020), ==, FLAM_UNWIND_ROOT);
  assert_shown (&walk, wanted, G_N_ELEMENTS (wanted));
}

/* The same if the guess leads to 0, which would be the root. It is one
 * without a frame pointer, or if the frame pointer leads to something other
 * than code. */
static void
test_guessed_root (void)
{
  static const uint64_t stack[] = { 0, 0, 0x1020, 0, 0, 0x400300 };
  static const uint64_t astray[] = { 0, 0, 0x1020, 0, 0, 0x999 };
  static const uint64_t wanted[] = { 0x400100, 0x4002ff };
  static const Code codes[] = {
    { 0x400100, 0x400110, { { 0, 2, 0, FLAM_UNWIND_KIND_SCAN } } },
    { 0x4002f0, 0x400300, { { 0, 0, 0, FLAM_UNWIND_KIND_END } } },
  };
  Walk walk = { codes, G_N_ELEMENTS (codes) };
  Walk alone = walk, lost = walk;

  g_assert_cmpint (walk_from (&walk, stack, 6, 0x1020), ==, FLAM_UNWIND_ROOT);
  assert_shown (&walk, wanted, 2);
  g_assert_cmpint (walk_from (&alone, stack, 6, 0), ==, FLAM_UNWIND_ROOT);
  assert_shown (&alone, wanted, 1);
  g_assert_cmpint (walk_from (&lost, astray, 6, 0x1020), ==, FLAM_UNWIND_ROOT);
  assert_shown (&lost, wanted, 1);
}

/* A handler returns to the first byte of the trampoline, which is shown
 * unchanged, and so is the interrupted instruction. */
static void
test_signal (void)
{
  static const uint64_t stack[] = { 0x500000, 0, 0x4002f0 };
  static const uint64_t wanted[] = { 0x400100, 0x500000, 0x4002f0 };
  static const FlamUnwindRule rule = { .flags = FLAM_UNWIND_RULE_SIGNAL,
                                       .cfa_reg = FLAM_UNWIND_SP,
                                       .cfa = 16,
                                       .ra_where = FLAM_UNWIND_AT_CFA,
                                       .ra = -8,
                                       .bp_where = FLAM_UNWIND_SAME };
  static const Code codes[] = {
    { 0x400100, 0x400110, { { 0, 1, 0, FLAM_UNWIND_KIND_SP } } },
    { 0x4fffff, 0x500009, { { 0, 0, 0, FLAM_UNWIND_KIND_RULE }, &rule } },
    { 0x4002f0, 0x400300, { { 0, 0, 0, FLAM_UNWIND_KIND_END } } },
  };
  Walk walk = { codes, G_N_ELEMENTS (codes) };

  g_assert_cmpint (walk_from (&walk, stack, 3, 0), ==, FLAM_UNWIND_ROOT);
  assert_shown (&walk, wanted, G_N_ELEMENTS (wanted));
}

static void
test_ends (void)
{
  static const uint64_t nowhere[] = { 0x999, 0 }, root[] = { 0, 0 };
  static const uint64_t wanted[] = { 0x400100 };
  static const struct
  {
    const uint64_t *stack;
    guint n;
    uint16_t cfa;
    FlamUnwindEnd end;
  } rows[] = {
    { root, 2, 1, FLAM_UNWIND_ROOT },
    { nowhere, 2, 1, FLAM_UNWIND_BAD },
    { nowhere, 2, 2, FLAM_UNWIND_ROOT },
    { nowhere, 2, 3, FLAM_UNWIND_TRUNCATED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      Code code = { 0x400100, 0x400110, { { 0, 0, 0, FLAM_UNWIND_KIND_SP } } };
      Walk walk = { &code, 1 };

      g_test_message ("%u", i);
      code.code.row.cfa = rows[i].cfa;
      g_assert_cmpint (
          walk_from (&walk, rows[i].stack, rows[i].n, 0), ==, rows[i].end);
      assert_shown (&walk, wanted, 1);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/unwind-loop/callers", test_callers);
  g_test_add_func ("/unwind-loop/guess", test_guess);
  g_test_add_func ("/unwind-loop/guessed-root", test_guessed_root);
  g_test_add_func ("/unwind-loop/signal", test_signal);
  g_test_add_func ("/unwind-loop/ends", test_ends);
  return g_test_run ();
}
