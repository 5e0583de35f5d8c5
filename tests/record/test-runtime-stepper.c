/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A native runtime made by hand: its frames in a walk over a copied stack. */

#include "flam-runtime-stepper.h"

#include <string.h>
#include <unistd.h>

/* Claimed code; a frame there is a word with the size of the frame in words,
 * and at its end the return address. Functions are 0x100 bytes long. */
#define CODE 0x100000u
#define STUB (CODE + 0xf00)
/* Native code without a table: frame pointers. */
#define NATIVE 0x200000u
#define STACK 0x7000000u

static guint names_read;
static guint64
    name_at; /* memory from which the names of CODE + 0x800 are read */
static guint64 cookie = 1;

static gsize
word_at (const FlamRuntimeMemory *memory, guint64 address)
{
  guint64 value = 0;

  return flam_runtime_read_u64 (memory, address, &value) ? value : 0;
}

static FlamRuntimeStepped
step (const FlamRuntimeProcess *process,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entry,
      FlamRuntimeRegs *caller)
{
  guint64 sp = regs->general[FLAM_RUNTIME_RSP];
  guint64 size = word_at (memory, sp);

  g_assert_true (flam_runtime_knows (regs, FLAM_RUNTIME_RSP));
  g_assert_cmpuint (process->base, ==, 7);
  if (regs->pc < STUB)
    *entry = (FlamRuntimeEntry){ regs->pc & ~0xffull, regs->pc & 0xff, cookie };
  if (size == 99)
    return FLAM_RUNTIME_STEP_ROOT;
  caller->general[FLAM_RUNTIME_RSP] = sp + 8 * size;
  caller->general[FLAM_RUNTIME_RBP] = regs->general[FLAM_RUNTIME_RBP];
  caller->known = 1u << FLAM_RUNTIME_RSP | 1u << FLAM_RUNTIME_RBP;
  caller->pc = word_at (memory, sp + 8 * size - 8);
  return caller->pc != 0 ? FLAM_RUNTIME_STEPPED : FLAM_RUNTIME_STEP_LOST;
}

static gboolean
name_of (const FlamRuntimeProcess *process,
         const FlamRuntimeEntry *entry,
         const guint8 *first,
         const FlamRuntimeMemory *memory,
         FlamRuntimeName *name)
{
  FlamRuntimeNamed *named;

  names_read++;
  if (entry->function == CODE + 0x700)
    return FALSE;
  if (entry->function == CODE + 0x800 && word_at (memory, name_at) != 4711)
    return FALSE;
  /* In 0x200 a function is inlined. */
  if (entry->function == CODE + 0x200)
    {
      named = flam_runtime_name_add (name);
      named->function = "inlined";
      named->line = 12;
    }
  named = flam_runtime_name_add (name);
  named->function = flam_runtime_name_printf (
      name, "f%x.%u", (guint)(entry->function - CODE), (guint)entry->cookie);
  named->type = "Type";
  named->line = (guint32)entry->at;
  named->compiled = true;
  return TRUE;
}

static const FlamRuntime runtime = {
  .id = "made",
  .label = "Made",
  .by_position = TRUE,
  .step = step,
  .name = name_of,
  .joint = ".",
};
static FlamRuntimeProcess process = { .runtime = &runtime, .base = 7 };

typedef struct
{
  FlamUnwindSpace *space;
  FlamUnwindCache *cache;
  FlamRuntimeStepper *stepper;
  FlamRuntimeNames *names;
  guint64 stack[64];
  gsize n_copied;
  guint64 base; /* the address from which the copy seems to be */
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->space = flam_unwind_space_new ();
  fixture->cache = flam_unwind_cache_new ();
  fixture->stepper = flam_runtime_stepper_new ();
  fixture->names = flam_runtime_names_new ();
  fixture->n_copied = G_N_ELEMENTS (fixture->stack);
  fixture->base = STACK;
  flam_unwind_space_add (
      fixture->space, CODE - 0x1000, CODE + 0x2000, 0, NULL, NULL);
  flam_unwind_space_add (
      fixture->space, NATIVE, NATIVE + 0x1000, 0, NULL, NULL);
  flam_unwind_space_claim (
      fixture->space, CODE, CODE + 0x1000, &process, false);
  flam_unwind_space_set_managed (
      fixture->space, flam_runtime_stepper_step, fixture->stepper);
  names_read = 0;
  cookie = 1;
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  flam_runtime_names_free (fixture->names);
  flam_runtime_stepper_free (fixture->stepper);
  flam_unwind_cache_free (fixture->cache);
  flam_unwind_space_free (fixture->space);
}

/* "frame:name:line<-inlined in ..." of each managed frame, and why it ended. */
static char *
walk (Fixture *fixture, guint64 pc, gsize bp, gboolean limited, gsize *n)
{
  guint64 pcs[32];
  FlamUnwindEnd end;
  FlamUnwindMemory memory = { .copy = fixture->stack,
                              .base = fixture->base,
                              .size = fixture->n_copied * 8 };
  FlamUnwindRegs regs = { .pc = pc,
                          .sp = fixture->base,
                          .bp = fixture->base + 8 * bp };
  GString *text = g_string_new (NULL);
  const FlamRuntimeManaged *managed;
  guint n_managed;

  flam_runtime_stepper_begin (
      fixture->stepper, fixture->names, getpid (), limited, NULL, 0);
  *n = flam_unwind_walk (fixture->space,
                         fixture->cache,
                         &memory,
                         &regs,
                         pcs,
                         NULL,
                         G_N_ELEMENTS (pcs),
                         &end);
  managed = flam_runtime_stepper_end (
      fixture->stepper, fixture->names, &memory, &n_managed);
  for (guint i = 0; i < n_managed; i++)
    {
      g_string_append_printf (text, "%u", managed[i].frame);
      for (FlamRuntimeFunction *function = managed[i].function;
           function != NULL;
           function = function->caller)
        g_string_append_printf (text, ":%s:%u", function->name, function->line);
      g_string_append_c (text, ' ');
    }
  g_string_append_printf (text, "end %d", end);
  return g_string_free (text, FALSE);
}

static void
assert_walk (Fixture *fixture,
             guint64 pc,
             gsize bp,
             gboolean limited,
             gsize n,
             const char *expected)
{
  gsize found;
  g_autofree char *text = walk (fixture, pc, bp, limited, &found);

  g_assert_cmpstr (text, ==, expected);
  g_assert_cmpuint (found, ==, n);
}

/* managed <- stub <- managed <- native <- managed, the root. */
static void
test_interleaved (Fixture *fixture, gconstpointer data)
{
  guint64 *stack = fixture->stack;

  stack[0] = 3;
  stack[2] = STUB + 4;
  stack[3] = 2;
  stack[4] = CODE + 0x211;
  stack[5] = 4;
  stack[8] = NATIVE + 0x10;
  stack[12] = 0; /* rbp */
  stack[13] = CODE + 0x305;
  stack[14] = 99;
  assert_walk (fixture,
               CODE + 0x102,
               12,
               FALSE,
               5,
               "0:Type.f100.1:2 1 2:inlined:12:Type.f200.1:17 4:Type.f300.1:5 "
               "end 1");
  g_assert_cmpuint (names_read, ==, 3);
  assert_walk (fixture,
               CODE + 0x102,
               12,
               FALSE,
               5,
               "0:Type.f100.1:2 1 2:inlined:12:Type.f200.1:17 4:Type.f300.1:5 "
               "end 1");
  g_assert_cmpuint (names_read, ==, 3);
  /* Each is another function now. */
  cookie = 2;
  assert_walk (fixture,
               CODE + 0x102,
               12,
               FALSE,
               5,
               "0:Type.f100.2:2 1 2:inlined:12:Type.f200.2:17 4:Type.f300.2:5 "
               "end 1");
  g_assert_cmpuint (names_read, ==, 6);
}

static void
test_bad (Fixture *fixture, gconstpointer data)
{
  /* No caller, and one that is not nearer to the root. */
  assert_walk (fixture, CODE + 0x102, 0, FALSE, 1, "0:Type.f100.1:2 end 3");
  fixture->stack[0] = (guint64)-1;
  fixture->stack[62] = CODE;
  assert_walk (fixture, CODE + 0x102, 0, FALSE, 1, "0:Type.f100.1:2 end 3");
  /* A name that cannot be read is read again. */
  fixture->stack[0] = 99;
  assert_walk (fixture, CODE + 0x702, 0, FALSE, 1, "0:(unreadable):0 end 1");
  assert_walk (fixture, CODE + 0x702, 0, FALSE, 1, "0:(unreadable):0 end 1");
  g_assert_cmpuint (names_read, ==, 3);
  /* Unclaimed code at both sides: by the frame pointer, which is 0. */
  assert_walk (fixture, CODE - 1, (gsize)0 - STACK / 8, FALSE, 1, "end 1");
  assert_walk (fixture, CODE + 0x1000, (gsize)0 - STACK / 8, FALSE, 1, "end 1");
}

/* The part of the stack that was not copied is not read, as it has changed
 * since. */
static void
test_truncated (Fixture *fixture, gconstpointer data)
{
  fixture->n_copied = 2;
  fixture->stack[0] = 3;
  fixture->stack[2] = CODE;
  assert_walk (fixture, CODE + 0x102, 0, TRUE, 1, "0:Type.f100.1:2 end 2");
  /* Other memory follows a stack that was copied entirely. */
  assert_walk (fixture, CODE + 0x102, 0, FALSE, 1, "0:Type.f100.1:2 end 3");
}

/* But names there are read, since some runtimes have their stacks in their
 * heap. */
static void
test_near (Fixture *fixture, gconstpointer data)
{
  fixture->base = name_at = GPOINTER_TO_SIZE (fixture->stack);
  name_at += 40 * 8;
  fixture->n_copied = 2;
  fixture->stack[0] = 99;
  fixture->stack[40] = 4711;
  assert_walk (fixture, CODE + 0x802, 0, TRUE, 1, "0:Type.f800.1:2 end 1");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/runtime-stepper/interleaved",
              Fixture,
              NULL,
              set_up,
              test_interleaved,
              tear_down);
  g_test_add (
      "/runtime-stepper/bad", Fixture, NULL, set_up, test_bad, tear_down);
  g_test_add ("/runtime-stepper/truncated",
              Fixture,
              NULL,
              set_up,
              test_truncated,
              tear_down);
  g_test_add (
      "/runtime-stepper/near", Fixture, NULL, set_up, test_near, tear_down);
  return g_test_run ();
}
