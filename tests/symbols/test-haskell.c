/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Haskell's frames in memory made by hand, as GHC 9.0 has it, and in memory
 * that lies. */

#include "flam-haskell.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define CODE 0x400000ull /* of the program, which is at 0 */
#define CODE_SIZE 0x4000u
#define RUN (CODE + 0x3000)
#define SCHEDULE (CODE + 0x3805) /* after its call of StgRun */
#define HEAP 0x4200000000ull
#define HEAP_SIZE 0x4000u
#define STACK 0x7fff00000000ull
#define STACK_SIZE 0x10000u
#define ANCHOR (STACK + 0x8000)
#define FRAME 0x4030u
#define SP (HEAP + 0x100) /* of the Haskell stack */
#define PART (HEAP + 0x1000)

#define STOP 36u
#define SMALL (STOP - 6)
#define BIG (STOP - 5)
#define FUNCTION (STOP - 4)
#define UPDATE (STOP - 3)
#define UNDERFLOW_ (STOP - 1)

typedef struct
{
  guint8 code[CODE_SIZE];
  guint8 heap[HEAP_SIZE];
  guint8 stack[STACK_SIZE];
  guint reads;
} Fake;

static const FlamHaskellFile file = { .run = { RUN, RUN + 0x5a },
                                      .frame = FRAME,
                                      .stop = STOP };

static guint8 *
place (Fake *fake, guint64 address, gsize size)
{
  const struct
  {
    guint64 start;
    gsize size;
    guint8 *bytes;
  } parts[] = { { CODE, CODE_SIZE, fake->code },
                { HEAP, HEAP_SIZE, fake->heap },
                { STACK, STACK_SIZE, fake->stack } };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (address - parts[i].start < parts[i].size &&
        parts[i].size - (address - parts[i].start) >= size)
      return parts[i].bytes + (address - parts[i].start);
  return NULL;
}

static bool
read_fake (void *data, uint64_t address, void *to, size_t size)
{
  Fake *fake = data;
  const guint8 *from = place (fake, address, size);

  fake->reads++;
  if (from == NULL)
    return false;
  memcpy (to, from, size);
  return true;
}

static void
put (Fake *fake, guint64 address, guint64 value)
{
  memcpy (place (fake, address, 8), &value, 8);
}

/* The code of a frame, and the table before it. */
static guint64
put_info (Fake *fake, guint i, guint32 type, guint64 layout)
{
  guint64 info = CODE + 0x100 * (i + 1);

  put (fake, info - 16, layout);
  put (fake, info - 8, type);
  return info;
}

/* f, with two values; an update; g, a large frame; h, in which a function waits
 * for its arguments; the rest is in another part: k, the end. */
static void
fill (Fake *fake)
{
  gint32 distance = (gint32)(RUN - SCHEDULE);
  guint64 at = SP;

  memset (fake, 0, sizeof *fake);
  put (fake, ANCHOR, SCHEDULE);
  put (fake, ANCHOR - 48, 0x1111);
  put (fake, ANCHOR - 40, 0x2222);
  *place (fake, SCHEDULE - 5, 1) = 0xe8;
  memcpy (place (fake, SCHEDULE - 4, 4), &distance, 4);
  put (fake, at, put_info (fake, 0, SMALL, 2));
  put (fake, at += 24, put_info (fake, 1, UPDATE, 1));
  put (fake, at += 16, put_info (fake, 2, BIG, 0x40));
  put (fake, CODE + 0x300 + 0x40, 70); /* its size */
  put (fake, at += 8 * 71, put_info (fake, 3, FUNCTION, 0));
  put (fake, at + 8, 3);
  put (fake, at += 8 * 6, put_info (fake, 4, UNDERFLOW_, 1));
  put (fake, at + 8, PART);
  put (fake, PART + 16, PART + 0x100);
  put (fake, PART + 0x100, put_info (fake, 5, SMALL, 0));
  put (fake, PART + 0x108, put_info (fake, 6, STOP, 0));
}

static FlamRuntimeRegs
leaf_at (guint64 pc, guint64 sp, guint64 bp)
{
  FlamRuntimeRegs regs = { .pc = pc, .leaf = true, .known = 0xffff };

  regs.general[FLAM_RUNTIME_RSP] = sp;
  regs.general[FLAM_RUNTIME_RBP] = bp;
  return regs;
}

/* The offsets in the code, and "|" for the entry. */
static char *
walk (Fake *fake, const FlamRuntimeRegs *regs)
{
  FlamRuntimeMemory memory = { read_fake, fake };
  guint64 kept[FLAM_HASKELL_KEPT] = { 0 };
  FlamRuntimeEntry entries[64];
  GString *text = g_string_new (NULL);
  gsize n = flam_haskell_walk (
      &file, &memory, 0, regs, kept, entries, G_N_ELEMENTS (entries));

  for (gsize i = 0; i < n; i++)
    if (entries[i].function != 0)
      g_string_append_printf (text, "%x ", (guint)(entries[i].function - CODE));
    else
      g_string_append (text, entries[i].at == ANCHOR ? "|" : "?");
  return g_string_free (text, FALSE);
}

static void
assert_walk (Fake *fake, const FlamRuntimeRegs *regs, const char *expected)
{
  g_autofree char *text = walk (fake, regs);

  g_assert_cmpstr (text, ==, expected);
}

static void
test_frames (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeRegs regs = leaf_at (CODE + 0x1234, ANCHOR - FRAME, SP);

  fill (fake);
  assert_walk (fake, &regs, "1234 100 300 400 600 |");
  /* Arguments, or a frame that is being made, are above the first one. */
  put (fake, SP - 8, HEAP + 0x2000);
  put (fake, SP - 16, 7);
  regs.general[FLAM_RUNTIME_RBP] = SP - 16;
  assert_walk (fake, &regs, "1234 100 300 400 600 |");
  /* StgRun itself; no StgRun. */
  regs.pc = RUN + 0x10;
  assert_walk (fake, &regs, "");
  regs.pc = CODE + 0x1234;
  put (fake, ANCHOR, SCHEDULE + 8);
  assert_walk (fake, &regs, "");
  /* The stack does not lead to its end: no entry. */
  fill (fake);
  put (fake, PART + 0x108, 0);
  regs.general[FLAM_RUNTIME_RBP] = SP;
  assert_walk (fake, &regs, "1234 100 300 400 600 ");
}

/* In C, which saved rbp. */
static void
test_called_c (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  guint64 below = ANCHOR - FRAME;
  FlamRuntimeRegs regs = leaf_at (CODE + 0x3900, below - 0x100, 0x77);

  fill (fake);
  put (fake, below - 8, CODE + 0x2005);
  *place (fake, CODE + 0x2000, 1) = 0xe8;
  put (fake, below - 0x90, HEAP + 0x3000); /* not a stack */
  put (fake, below - 0x40, SP);
  assert_walk (fake, &regs, "2004 100 300 400 600 |");
  /* The stack is aligned by a word. */
  put (fake, below - 8, 0);
  put (fake, below - 16, CODE + 0x2005);
  assert_walk (fake, &regs, "2004 100 300 400 600 |");
  regs.general[FLAM_RUNTIME_RBP] = SP;
  put (fake, below - 0x40, 0);
  assert_walk (fake, &regs, "2004 100 300 400 600 |");
}

static void
test_steps (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeMemory memory = { read_fake, fake };
  FlamRuntimeRegs regs = leaf_at (CODE + 0x1234, ANCHOR - FRAME, SP);
  FlamRuntimeRegs caller = { 0 };

  fill (fake);
  g_assert_true (flam_haskell_step (&file, &memory, 0, &regs, &caller));
  g_assert_cmphex (caller.pc, ==, SCHEDULE);
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RSP], ==, ANCHOR + 8);
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RBX], ==, 0x1111);
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RBP], ==, 0x2222);
  put (fake, ANCHOR, SCHEDULE - 1);
  g_assert_false (flam_haskell_step (&file, &memory, 0, &regs, &caller));
}

static guint64
any_word (void)
{
  switch (g_test_rand_int_range (0, 4))
    {
    case 0:
      return HEAP + (guint64)g_test_rand_int_range (0, HEAP_SIZE / 8) * 8;
    case 1:
      return CODE + 0x100 * (guint64)g_test_rand_int_range (1, 8);
    case 2:
      return (guint64)g_test_rand_int_range (0, 64);
    default:
      return (guint64)(guint)g_test_rand_int () << 32 |
             (guint)g_test_rand_int ();
    }
}

static void
test_lies (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);

  for (guint round = 0; round < 3000; round++)
    {
      FlamRuntimeRegs regs =
          round % 2 ? leaf_at (CODE + 0x1234, ANCHOR - FRAME, SP)
                    : leaf_at (CODE + 0x3900, ANCHOR - FRAME - 0x200, 0x77);

      fill (fake);
      for (guint i = 0; i < 40; i++)
        {
          put (fake,
               HEAP + (guint64)g_test_rand_int_range (0, 0x2a0) * 8,
               any_word ());
          put (fake,
               ANCHOR - FRAME - (guint64)g_test_rand_int_range (0, 64) * 8,
               any_word ());
        }
      for (guint i = 0; i < 3; i++)
        put (fake,
             CODE + 0x100 * (guint64)g_test_rand_int_range (1, 8) -
                 8 * (guint64)g_test_rand_int_range (1, 3),
             any_word ());
      fake->reads = 0;
      g_free (walk (fake, &regs));
      g_assert_cmpuint (fake->reads, <, 4000000);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/haskell/frames", test_frames);
  g_test_add_func ("/haskell/called-c", test_called_c);
  g_test_add_func ("/haskell/steps", test_steps);
  g_test_add_func ("/haskell/lies", test_lies);
  return g_test_run ();
}
