/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The caller of PyPy's compiled code, on a stack made by hand and on one that
 * lies. */

#include "flam-pypy.h"

#include "fake-stack.h"

#include <string.h>

#define BACK (BASE + TEXT + 0x106)

static const FlamPyPyFile file = { .text = { TEXT, TEXT + TEXT_SIZE } };

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
  assert_within (step);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pypy/steps", test_steps);
  g_test_add_func ("/pypy/lies", test_lies);
  return g_test_run ();
}
