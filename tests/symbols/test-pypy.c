/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The caller of PyPy's compiled code, on a stack made by hand and on one that
 * lies; a thread's functions, and the list and the map that name them. */

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

/* --- a thread's functions ------------------------------------------------ */

#define ARENA 0x7f1000000000ull
#define ARENA_SIZE 0x10000u
#define DATA 0x1000u
#define BSS 0x3000u
#define HEAD (ARENA + BSS + 0x200)
#define CODES (ARENA + DATA + 0x80)
#define LIST (ARENA + 0x4000)
#define REFERENCES (ARENA + 0x5000)
#define OBJECTS (ARENA + 0x8000) /* 0x100 bytes each */
#define STRINGS (ARENA + 0xa000)
#define LISTED 256
#define N_CODES 16
#define NODES (ARENA + 0xb000)
#define CALLS (ARENA + 0xc000)
#define RSP (ARENA + 0xd000)
#define FS_BASE (ARENA + 0xe000)
#define CODE 0x7f2000000000ull /* compiled */
#define NUMBER 0x48u

static const FlamPyPyFile known = {
  .data = { DATA, DATA + 0x1000 },
  .bss = { BSS, BSS + 0x400 },
  .calls = { FLAM_THREAD_VARIABLE_FIXED, 0, 8 },
  .number = NUMBER,
};

typedef struct
{
  guint8 bytes[ARENA_SIZE];
  guint reads;
} Arena;

static bool
read_arena (void *data, uint64_t address, void *to, size_t size)
{
  Arena *arena = data;

  arena->reads++;
  if (address < ARENA || size > ARENA_SIZE ||
      address - ARENA > ARENA_SIZE - size)
    return false;
  memcpy (to, arena->bytes + (address - ARENA), size);
  return true;
}

static void
put (Arena *arena, guint64 address, guint64 value)
{
  memcpy (arena->bytes + (address - ARENA), &value, sizeof value);
}

static void
put_string (Arena *arena, guint64 address, const char *text)
{
  put (arena, address, 0x300000048);
  put (arena, address + 16, strlen (text));
  memcpy (arena->bytes + (address + 24 - ARENA), text, strlen (text));
}

/* Functions "f0" to "f15" with the numbers 4, 8, ..., from the end of the list
 * on, at places that are examined; the other references are dead. */
static void
put_codes (Arena *arena)
{
  put (arena, CODES, LIST);
  put (arena, CODES + 0xf00, CODES); /* a relocated word of the second half */
  put (arena, LIST + 8, LISTED);
  for (guint i = 0; i < LISTED; i++)
    put (arena, LIST + 16 + 8 * (guint64)i, REFERENCES);
  put_string (arena, STRINGS + 0x400, "a.py");
  for (guint i = 0; i < N_CODES; i++)
    {
      guint64 code = OBJECTS + 0x100 * i, text = STRINGS + 0x20 * i;
      char name[8];

      g_snprintf (name, sizeof name, "f%u", i);
      put_string (arena, text, name);
      put (arena,
           LIST + 16 + 8 * (guint64)((63 - i) * (LISTED - 1) / 63),
           REFERENCES + 16 * (i + 1));
      put (arena, REFERENCES + 16 * (i + 1) + 8, code);
      put (arena, code + 8, text);
      put (arena, code + NUMBER, 4 * (i + 1));
      put (arena, code + NUMBER + 48, STRINGS + 0x400);
      put (arena, code + NUMBER + 56, 100 + i);
    }
}

/* Two pieces of compiled code: f1 with f2 inlined in it, at 0x40 to 0x80, and
 * f2 alone. */
static void
put_map (Arena *arena)
{
  const guint64 first = NODES, second = NODES + 0x100;

  put (arena, HEAD + 16, first);
  put (arena, HEAD + 24, second);
  put (arena, first, CODE);
  put (arena, first + 8, first + 24);
  put (arena, first + 16, second);
  put (arena, first + 24, 8ull << 32 | 0x100);
  put (arena, first + 32, first + 0x80);
  put (arena, first + 0x80, 8);
  put (arena, first + 0x90, 0x100);
  put (arena, first + 0x98, 8);
  put (arena, first + 0xa0, 12);
  put (arena, first + 0xa8, 0x40);
  put (arena, first + 0xb0, 0x80);
  put (arena, first + 0xb8, 8);
  put (arena, second, CODE + 0x200);
  put (arena, second + 8, second + 32);
  put (arena, second + 32, 4ull << 32 | 0x100);
  put (arena, second + 40, second + 0x80);
  put (arena, second + 0x80, 12);
  put (arena, second + 0x90, 0x100);
  put (arena, second + 0x98, 4);
}

static void
put_call (Arena *arena, guint i, guint64 value, guint64 kind)
{
  guint64 at = CALLS + 24 * (guint64)i;

  put (arena, at, at + 24);
  put (arena, at + 8, value);
  put (arena, at + 16, kind);
}

/* f2's loop, called from f2 in f1's loop; f1's interpreter; f0. */
static void
put_calls (Arena *arena)
{
  put (arena, FS_BASE + 8, CALLS);
  put_call (arena, 0, RSP, 3);
  put_call (arena, 1, RSP + 0x100, 3);
  put (arena, RSP + 0xf8, CODE + 0x50);
  put_call (arena, 2, 8, 1);
  put_call (arena, 3, 0, 5);
  put_call (arena, 4, 4, 1);
  put (arena, CALLS + 24 * 4, 0);
}

static gsize
walk_arena (Arena *arena, FlamRuntimeEntry *entries, gsize limit)
{
  FlamRuntimeMemory memory = { read_arena, arena };
  FlamRuntimeRegs regs = { .pc = CODE + 0x210, .fs_base = FS_BASE };
  guint64 map = 0;

  regs.general[FLAM_RUNTIME_RSP] = RSP;
  flam_pypy_find_map (&known, &memory, ARENA, &map);
  return flam_pypy_walk (&known, &memory, ARENA, map, &regs, entries, limit);
}

static void
test_walk (void)
{
  static const guint64 expected[][2] = { { 12, 0 }, { 0, RSP },
                                         { 8, 0 },  { 0, RSP + 0x100 },
                                         { 0, 0 },  { 4, 0 },
                                         { 0, 0 } };
  g_autofree Arena *arena = g_new0 (Arena, 1);
  FlamRuntimeMemory memory = { read_arena, arena };
  FlamRuntimeEntry entries[16];
  guint64 map = 0;

  g_assert_false (flam_pypy_find_map (&known, &memory, ARENA, &map));
  put_map (arena);
  put_calls (arena);
  g_assert_true (flam_pypy_find_map (&known, &memory, ARENA, &map));
  g_assert_cmphex (map, ==, HEAD);
  g_assert_cmpuint (walk_arena (arena, entries, G_N_ELEMENTS (entries)),
                    ==,
                    G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_assert_cmphex (entries[i].function, ==, expected[i][0]);
      g_assert_cmphex (entries[i].at, ==, expected[i][1]);
    }
  g_assert_cmpuint (walk_arena (arena, entries, 3), ==, 2);
  /* At another place in f1, where f2 is not inlined: it is called. */
  put (arena, RSP + 0xf8, CODE + 0x80);
  put_call (arena, 2, 4, 1);
  g_assert_cmpuint (walk_arena (arena, entries, G_N_ELEMENTS (entries)), ==, 8);
  g_assert_cmphex (entries[2].function, ==, 8);
  g_assert_cmphex (entries[4].function, ==, 4);
  /* No such kind. */
  put_call (arena, 1, RSP, 6);
  g_assert_cmpuint (walk_arena (arena, entries, G_N_ELEMENTS (entries)), ==, 2);
}

static void
test_names (void)
{
  g_autofree Arena *arena = g_new0 (Arena, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeMemory memory = { read_arena, arena };
  FlamPyPyLayout layout = { 0 };

  g_assert_cmpint (
      flam_pypy_open (&known, &memory, ARENA, &layout), ==, FLAM_PYPY_NOT_YET);
  put (arena, CODES + 0xf00, CODES);
  g_assert_cmpint (
      flam_pypy_open (&known, &memory, ARENA, &layout), ==, FLAM_PYPY_UNKNOWN);
  put_codes (arena);
  g_assert_cmpint (
      flam_pypy_open (&known, &memory, ARENA, &layout), ==, FLAM_PYPY_OPENED);
  g_assert_cmphex (layout.codes, ==, CODES);
  g_assert_true (flam_pypy_name (&known, &layout, &memory, 12, name));
  g_assert_cmpstr (name->frames[0].function, ==, "f2");
  g_assert_cmpstr (name->frames[0].file, ==, "a.py");
  g_assert_cmpuint (name->frames[0].first_line, ==, 102);
  flam_runtime_name_clear (name);
  g_assert_false (flam_pypy_name (&known, &layout, &memory, 0x1000, name));
  /* A list of something else. */
  put (arena, OBJECTS + NUMBER, 3);
  g_assert_cmpint (
      flam_pypy_open (&known, &memory, ARENA, &layout), ==, FLAM_PYPY_UNKNOWN);
}

static void
test_arena_lies (void)
{
  g_autofree Arena *arena = g_new0 (Arena, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeMemory memory = { read_arena, arena };
  FlamRuntimeEntry entries[64];

  for (guint round = 0; round < 2000; round++)
    {
      FlamPyPyLayout layout = { .codes = CODES, .file = NUMBER + 48 };
      gsize n;

      memset (arena->bytes, 0, ARENA_SIZE);
      put_codes (arena);
      put_map (arena);
      put_calls (arena);
      for (guint i = 0; i < 40; i++)
        {
          static const guint64 places[] = { LIST,  REFERENCES, OBJECTS,
                                            NODES, CALLS,      HEAD };
          guint64 at = places[i % G_N_ELEMENTS (places)] - ARENA +
                       8 * (guint64)g_test_rand_int_range (0, 0x40);

          put (arena,
               ARENA + at,
               i % 3 ? ARENA + (guint64)g_test_rand_int_range (0, ARENA_SIZE)
                     : (guint64)g_test_rand_int () << 32 | g_test_rand_int ());
        }
      arena->reads = 0;
      n = walk_arena (arena, entries, G_N_ELEMENTS (entries));
      g_assert_cmpuint (n, <=, G_N_ELEMENTS (entries));
      g_assert_cmpuint (arena->reads, <, 100000);
      for (gsize i = 0; i < n; i++)
        {
          flam_runtime_name_clear (name);
          flam_pypy_name (&known, &layout, &memory, entries[i].function, name);
          g_assert_cmpuint (name->n, <=, 1);
        }
      flam_pypy_open (&known, &memory, ARENA, &layout);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pypy/steps", test_steps);
  g_test_add_func ("/pypy/lies", test_lies);
  g_test_add_func ("/pypy/walk", test_walk);
  g_test_add_func ("/pypy/names", test_names);
  g_test_add_func ("/pypy/arena-lies", test_arena_lies);
  return g_test_run ();
}
