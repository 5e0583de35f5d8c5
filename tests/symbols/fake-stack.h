/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FAKE_STACK_H
#define FAKE_STACK_H

/* A stack and the code of a library at BASE, written by a test, for steps over
 * functions without unwind tables. */

#include "flam-runtime-memory.h"

#include <glib.h>

#define BASE 0x7f0000000000ull
#define TEXT 0x1000u /* of the library */
#define TEXT_SIZE 0x1000u
#define STACK 0x7ffc00000000ull
#define STACK_WORDS 64

typedef struct
{
  guint8 text[TEXT_SIZE];
  guint64 stack[STACK_WORDS];
} Fake;

static inline bool
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

/* With any stack and code, a step ends in the code of the library. */
static inline void
assert_within (gboolean (*step) (Fake *fake, FlamRuntimeRegs *caller))
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

#endif
