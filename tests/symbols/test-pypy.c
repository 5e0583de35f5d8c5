/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The caller of PyPy's compiled code, on a stack made by hand and on one that
 * lies. */

#include "flam-pypy.h"

#include <string.h>

#define BASE 0x7f0000000000ull
#define TEXT 0x1000u /* of the library */
#define TEXT_SIZE 0x1000u
#define STACK 0x7ffc00000000ull
#define STACK_WORDS 64
#define BACK (BASE + TEXT + 0x106)

typedef struct
{
  guint8 text[TEXT_SIZE];
  guint64 stack[STACK_WORDS];
} Fake;

static const FlamPyPyFile file = { .text = { TEXT, TEXT + TEXT_SIZE } };

static bool
read_fake (void *data, uint64_t address, void *to, size_t size)
{
  Fake *fake = data;
  guint64 in_text = address - BASE - TEXT, in_stack = address - STACK;

  if (in_text < TEXT_SIZE && size <= TEXT_SIZE - in_text)
    memcpy (to, fake->text + in_text, size);
  else if (in_stack < sizeof fake->stack &&
           size <= sizeof fake->stack - in_stack)
    memcpy (to, (guint8 *)fake->stack + in_stack, size);
  else
    return false;
  return true;
}

static gboolean
step (Fake *fake, FlamRuntimeRegs *caller)
{
  FlamRuntimeMemory memory = { read_fake, fake };
  FlamRuntimeRegs regs = { .pc = 0x1234, .leaf = true };

  regs.general[FLAM_RUNTIME_RSP] = STACK;
  return flam_pypy_step (&file, &memory, BASE, &regs, caller);
}

static void
test_steps (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeRegs caller = { 0 };

  memcpy (fake->text + 0x104, "\xff\xd0", 2); /* call *%rax */
  /* Remains of an earlier call are below the return address. */
  fake->stack[3] = BACK;
  fake->stack[12] = 0xb;
  fake->stack[13] = 0xc;
  g_assert_false (step (fake, &caller));
  fake->stack[23] = BACK;
  g_assert_true (step (fake, &caller));
  g_assert_cmphex (caller.pc, ==, BACK);
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RSP], ==, STACK + 8 * 24);
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RBP], ==, 0xb);
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RBX], ==, 0xc);
  g_assert_false (flam_runtime_knows (&caller, FLAM_RUNTIME_R12));
  /* In a routine with two words more. */
  fake->stack[23] = 0;
  fake->stack[14] = 0xd;
  fake->stack[25] = BACK;
  g_assert_true (step (fake, &caller));
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RSP], ==, STACK + 8 * 26);
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RBP], ==, 0xd);
  /* A function that was called jumps to it. */
  memcpy (fake->text + 0x101, "\xe8\1\2\3\4", 5);
  g_assert_true (step (fake, &caller));
  fake->stack[25] = 0;
  fake->stack[39] = BACK;
  g_assert_false (step (fake, &caller));
}

static void
test_lies (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);

  for (guint round = 0; round < 3000; round++)
    {
      FlamRuntimeRegs caller = { 0 };

      for (guint i = 0; i < STACK_WORDS; i++)
        fake->stack[i] = BASE + (guint64)g_test_rand_int_range (0, 0x3000);
      for (guint i = 0; i < TEXT_SIZE; i++)
        fake->text[i] = (guint8)g_test_rand_int ();
      if (step (fake, &caller))
        g_assert_cmphex (caller.pc - BASE - TEXT, <, TEXT_SIZE);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pypy/steps", test_steps);
  g_test_add_func ("/pypy/lies", test_lies);
  return g_test_run ();
}
