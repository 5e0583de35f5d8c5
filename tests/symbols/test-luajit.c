/* SPDX-License-Identifier: GPL-3.0-or-later */

/* LuaJIT's frames in memory made by hand, as version 2.1 has it with 64-bit
 * references, and in memory that lies. */

#include "flam-luajit.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "flam-runtime-lines.h"

#define HEAP 0x400000ull
#define HEAP_SIZE 0x8000u
#define GLOBAL (HEAP + 112)
#define CURRENT (GLOBAL + 0x100)
#define JIT_BASE (GLOBAL + 0x108)
#define VM_STATE (GLOBAL + 0x110)
#define TRACES (GLOBAL + 0x118)
#define TABLE (GLOBAL + 0x400)
#define LUA_STACK (HEAP + 0x1000)
#define TRACE_LIST (HEAP + 0x2000)
#define TRACE (HEAP + 0x2100)
#define SNAPSHOTS (HEAP + 0x2200)
#define MAP (HEAP + 0x2300)
#define IR (HEAP + 0x2400)
#define FILE_NAME (HEAP + 0x2800)
#define CLOSURES (HEAP + 0x3000)
#define PROTOS (HEAP + 0x4000)
#define NAMES (HEAP + 0x7000)

#define STACK 0x7f0000700000ull
#define STACK_SIZE 0x10000u
#define FRAME (STACK + 0x400) /* of the interpreter */

#define BASE 0x550000000000ull
#define VM 0x1000u
#define MCODE 0x560000000000ull
#define MAIN_CODE (BASE + 0x9000) /* lua_pcall() */

/* The main state. */
static guint64 state = GLOBAL - 96;
#define STATE state

typedef struct
{
  guint8 heap[HEAP_SIZE];
  guint8 stack[STACK_SIZE];
  guint reads;
} Fake;

static const FlamLuajitFile file = { .vm = { VM, VM + 0x1000 },
                                     .table = 0x400,
                                     .state = 0x110,
                                     .current = 0x100,
                                     .base = 0x108,
                                     .traces = 0x118 };

static guint8 *
place (Fake *fake, guint64 address, gsize size)
{
  if (address >= HEAP && address - HEAP <= HEAP_SIZE - size)
    return fake->heap + (address - HEAP);
  if (address >= STACK && address - STACK <= STACK_SIZE - size)
    return fake->stack + (address - STACK);
  return NULL;
}

static bool
read_fake (void *data, uint64_t address, void *to, size_t size)
{
  Fake *fake = data;
  const guint8 *from =
      size <= STACK_SIZE / 2 ? place (fake, address, size) : NULL;

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

static void
put_u32 (Fake *fake, guint64 address, guint32 value)
{
  memcpy (place (fake, address, 4), &value, 4);
}

static void
put_u8 (Fake *fake, guint64 address, guint8 value)
{
  *place (fake, address, 1) = value;
}

static void
put_text (Fake *fake, guint64 address, const char *text)
{
  memcpy (place (fake, address, strlen (text) + 1), text, strlen (text) + 1);
}

/* A string object. */
static guint64
put_string (Fake *fake, guint64 address, const char *text)
{
  put_u8 (fake, address + 9, 4);
  put_text (fake, address + 24, text);
  return address;
}

/* A function of 8 instructions, one per line from `line` on, that calls a
 * global function by `calls`: its second instruction loads it into slot 2, the
 * third calls it. */
static guint64
put_function (Fake *fake, guint i, guint32 line, const char *calls)
{
  guint64 closure = CLOSURES + 0x40 * i, proto = PROTOS + 0x200 * i;
  guint64 code = proto + 104, constants = code + 32 + 8;

  put_u8 (fake, closure + 9, 8);
  put (fake, closure + 32, code);
  put_u8 (fake, proto + 9, 7);
  put_u32 (fake, proto + 12, 8);
  put (fake, proto + 32, constants);
  put_u32 (fake, proto + 48, 1);
  put_u32 (fake, proto + 56, 104 + 32 + 8 + 16);
  put (fake, proto + 64, FILE_NAME);
  put_u32 (fake, proto + 72, line);
  put_u32 (fake, proto + 76, 8);
  put (fake, proto + 80, constants + 16);
  for (guint j = 0; j < 7; j++)
    put_u8 (fake, constants + 16 + j, (guint8)(j + 1));
  put_u32 (fake, code + 4, 54 | 2 << 8);           /* GGET 2 0 */
  put_u32 (fake, code + 8, 66 | 2 << 8 | 1 << 24); /* CALL 2 */
  put (fake, constants - 8, put_string (fake, NAMES + 0x40 * i, calls));
  return closure;
}

static guint64
code_of (guint i)
{
  return PROTOS + 0x200 * i + 104;
}

/* A frame whose base is the slot with this number. */
static void
put_frame (Fake *fake, guint slot, guint64 function, guint64 kind)
{
  put (fake,
       LUA_STACK + 8 * (slot - 2),
       function | (guint64)(~8u & 0x1ffff) << 47);
  put (fake, LUA_STACK + 8 * (slot - 1), kind);
}

/* main chunk ─▶ outer ─▶ inner, called from C. */
static void
fill (Fake *fake)
{
  guint64 main, outer, inner;

  memset (fake, 0, sizeof *fake);
  put_u8 (fake, STATE + 9, 6);
  put (fake, STATE + 16, GLOBAL);
  put (fake, STATE + 32, LUA_STACK + 8 * 20);
  put (fake, STATE + 48, LUA_STACK + 0x400);
  put (fake, STATE + 56, LUA_STACK);
  put (fake, STATE + 80, FRAME);
  put (fake, CURRENT, STATE);
  put_u32 (fake, VM_STATE, ~0u);
  put (fake, TRACES, TRACE_LIST);
  put_string (fake, FILE_NAME, "@x.lua");
  main = put_function (fake, 0, 0, "outer");
  outer = put_function (fake, 1, 100, "inner");
  inner = put_function (fake, 2, 200, "");
  put_frame (fake, 4, main, 8 * 2 | 1); /* from C: down to slot 1 */
  put_frame (fake, 8, outer, code_of (0) + 12);
  put_frame (fake, 12, inner, code_of (1) + 12);
  put (fake, FRAME + 16, STATE);
  put (fake, FRAME + 64, 0x1234);
  put (fake, FRAME + 72, MAIN_CODE);
}

static FlamRuntimeRegs
leaf_at (guint64 pc, guint64 sp)
{
  FlamRuntimeRegs regs = { .pc = pc, .leaf = true, .known = 0xffff };

  regs.general[FLAM_RUNTIME_RSP] = sp;
  regs.general[FLAM_RUNTIME_R14] = TABLE;
  return regs;
}

/* "name:line" of each frame, and "|" for an entry. */
static char *
walk (Fake *fake, FlamLuajit *luajit, const FlamRuntimeRegs *regs)
{
  FlamRuntimeMemory memory = { read_fake, fake };
  guint64 kept[FLAM_LUAJIT_KEPT] = { 0 };
  FlamRuntimeEntry entries[65] = { 0 };
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  GString *text = g_string_new (NULL);
  gsize n = flam_luajit_walk (&file,
                              luajit,
                              &memory,
                              BASE,
                              regs,
                              0,
                              kept,
                              entries,
                              G_N_ELEMENTS (entries) - 1);

  for (gsize i = 0; i < n; i++)
    {
      flam_runtime_name_clear (name);
      if (entries[i].function == 0)
        g_string_append_printf (
            text, "| %s", entries[i].at == FRAME ? "" : "?");
      else if (!flam_luajit_name (&memory, &entries[i], name))
        g_string_append (text, "unreadable ");
      else
        g_string_append_printf (
            text,
            "%s:%u ",
            name->frames[0].function,
            flam_runtime_lines_find (0,
                                     name->lines,
                                     name->n_lines,
                                     entries[i].at,
                                     name->frames[0].first_line));
    }
  return g_string_free (text, FALSE);
}

static void
assert_walk (Fake *fake, const FlamRuntimeRegs *regs, const char *expected)
{
  g_autofree FlamLuajit *luajit = flam_luajit_new ();
  g_autofree char *text = walk (fake, luajit, regs);

  g_assert_cmpstr (text, ==, expected);
}

/* At rdx and rbx; while a call is made; in C. */
static void
test_interpreter (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeRegs regs = leaf_at (BASE + VM + 0x100, FRAME);

  fill (fake);
  regs.general[FLAM_RUNTIME_RDX] = LUA_STACK + 8 * 12;
  regs.general[FLAM_RUNTIME_RBX] = code_of (2) + 4 * 6;
  assert_walk (fake, &regs, "inner:205 outer:102 main chunk:2 | ");
  /* The base is the callee's already, the pc is still the caller's. */
  regs.general[FLAM_RUNTIME_RBX] = code_of (1) + 12;
  assert_walk (fake, &regs, "outer:102 main chunk:2 | ");
  /* In C, which was called at the pc that was saved. */
  regs = leaf_at (MAIN_CODE, STACK + 0x100);
  put (fake, STATE + 32, LUA_STACK + 8 * 12);
  put (fake, FRAME + 24, code_of (2) + 4 * 3);
  assert_walk (fake, &regs, "inner:202 outer:102 main chunk:2 | ");
  /* The table is in no register: the state is found on the stack. */
  regs.general[FLAM_RUNTIME_R14] = 0;
  assert_walk (fake, &regs, "inner:202 outer:102 main chunk:2 | ");
  /* It does not run. */
  put (fake, STATE + 80, 0);
  assert_walk (fake, &regs, "");
}

/* A trace that begins in outer(), at slot 8, with inner() inlined from its
 * second snapshot on. */
static void
put_trace (Fake *fake)
{
  put_u32 (fake, VM_STATE, 3);
  put (fake, JIT_BASE, LUA_STACK + 8 * 8);
  put (fake, TRACE_LIST + 24, TRACE);
  put_u8 (fake, TRACE + 9, 9);
  put_u8 (fake, TRACE + 10, 2);
  put (fake, TRACE + 32, IR);
  put (fake, TRACE + 48, SNAPSHOTS);
  put (fake, TRACE + 56, MAP);
  put_u32 (fake, TRACE + 84, 0x200);
  put (fake, TRACE + 88, MCODE);
  put_u32 (fake, TRACE + 104, 3);
  /* At instruction 1 of outer(), no entries. */
  put (fake, MAP, (code_of (1) + 4) << 8);
  /* At instruction 5 of inner(): slot 5 is its kind, a constant. */
  put_u32 (fake, SNAPSHOTS + 12, 2);
  put_u32 (fake, SNAPSHOTS + 16, 7 | 0x80u << 16);
  put_u8 (fake, SNAPSHOTS + 12 + 10, 2);
  put_u32 (fake, MAP + 8, 4u << 24 | 9);
  put_u32 (fake, MAP + 12, 5u << 24 | 0x10000 | 7);
  put (fake, MAP + 16, (code_of (2) + 20) << 8 | 4);
  put (fake, IR + 8 * 8, code_of (1) + 12);
}

static void
test_traces (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamLuajit *luajit = flam_luajit_new ();
  FlamRuntimeRegs regs = leaf_at (MCODE + 0x7f, STACK + 0x300);
  g_autofree char *collecting = NULL, *before = NULL;

  fill (fake);
  put_trace (fake);
  assert_walk (fake, &regs, "outer:101 main chunk:2 | ");
  regs.pc = MCODE + 0x80;
  assert_walk (fake, &regs, "inner:205 outer:102 main chunk:2 | ");
  /* In C, which returns to the trace. */
  regs.pc = BASE + 0x8000;
  put (fake, STACK + 0x340, MCODE + 0x100);
  assert_walk (fake, &regs, "inner:205 outer:102 main chunk:2 | ");
  /* It collects garbage: the trace is known once it was seen. */
  before = walk (fake, luajit, &regs);
  put_u32 (fake, VM_STATE, ~2u);
  collecting = walk (fake, luajit, &regs);
  g_assert_cmpstr (collecting, ==, before);
  assert_walk (fake, &regs, "outer:0 main chunk:2 | ");
}

static void
test_steps (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeMemory memory = { read_fake, fake };
  FlamRuntimeRegs regs = leaf_at (MCODE, STACK + 0x300), caller = { 0 };

  fill (fake);
  /* A trace has nothing but the entry. */
  g_assert_false (flam_luajit_step (&file, &memory, BASE, &regs, &caller));
  regs.entry = FRAME;
  g_assert_true (flam_luajit_step (&file, &memory, BASE, &regs, &caller));
  g_assert_cmphex (caller.pc, ==, MAIN_CODE);
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RSP], ==, FRAME + 80);
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RBP], ==, 0x1234);
  /* The interpreter itself has its frame at rsp, unless it leaves a trace. */
  regs = leaf_at (BASE + VM, FRAME);
  g_assert_true (flam_luajit_step (&file, &memory, BASE, &regs, &caller));
  g_assert_cmphex (caller.pc, ==, MAIN_CODE);
  regs = leaf_at (BASE + VM, FRAME - 0x80);
  g_assert_false (flam_luajit_step (&file, &memory, BASE, &regs, &caller));
  regs.entry = FRAME;
  g_assert_true (flam_luajit_step (&file, &memory, BASE, &regs, &caller));
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RSP], ==, FRAME + 80);
}

static guint64
any_word (void)
{
  return g_test_rand_bit ()
             ? HEAP + (guint64)g_test_rand_int_range (0, HEAP_SIZE)
             : (guint64)(guint)g_test_rand_int () << 32 |
                   (guint)g_test_rand_int ();
}

static void
test_lies (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamLuajit *luajit = flam_luajit_new ();

  for (guint round = 0; round < 4000; round++)
    {
      FlamRuntimeRegs regs = round % 2 ? leaf_at (MCODE + 0x80, STACK + 0x300)
                                       : leaf_at (BASE + VM + 0x100, FRAME);

      fill (fake);
      if (round % 2)
        put_trace (fake);
      regs.general[FLAM_RUNTIME_RDX] = LUA_STACK + 8 * 12;
      regs.general[FLAM_RUNTIME_RBX] = code_of (2) + 4 * 6;
      for (guint i = 0; i < 12; i++)
        {
          guint64 at = HEAP + (guint64)g_test_rand_int_range (0, 0xa00) * 8;

          put (fake, at, any_word ());
        }
      put (fake,
           FRAME + 8 * (guint64)g_test_rand_int_range (0, 10),
           any_word ());
      fake->reads = 0;
      g_free (walk (fake, luajit, &regs));
      g_assert_cmpuint (fake->reads, <, 60000);
    }
}

/* The numbers in Debian 12's program, by objdump. */
static void
test_file (void)
{
  const char *path = "/usr/bin/luajit";
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  FlamRuntimeFile found = { 0 };
  const FlamLuajitFile *facts;
  int fd = g_open (path, O_RDONLY | O_CLOEXEC);

  if (elf == NULL || fd < 0 ||
      strcmp (flam_elf_get_build_id (elf),
              "79b0b8114f05a2726860c3141195279ceb0f6e29") != 0)
    {
      g_test_skip ("Debian 12's LuaJIT is not installed");
      return;
    }
  g_assert_true (flam_luajit_find (elf, fd, path, &found));
  g_assert_cmpstr (found.version, ==, "2.1");
  g_assert_cmpstr (found.why, ==, NULL);
  facts = found.facts;
  g_assert_cmpint (facts->table, ==, 3968);
  g_assert_cmpint (facts->current, ==, 368);
  g_assert_cmpint (facts->base, ==, 376);
  g_assert_cmpint (facts->state, ==, 184);
  g_assert_cmpint (facts->traces, ==, 1112);
  g_assert_cmphex (facts->vm.end, >, 0x74146);
  g_assert_cmphex (facts->vm.start, <=, 0x71feb);
  flam_runtime_file_clear (&found);
  close (fd);
}

/* OpenResty's LuaJIT: the state has more members. */
static void
test_openresty (void)
{
  state = GLOBAL - 104;
  test_interpreter ();
  test_traces ();
  state = GLOBAL - 112;
  test_interpreter ();
  test_traces ();
  state = GLOBAL - 96;
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/luajit/interpreter", test_interpreter);
  g_test_add_func ("/luajit/traces", test_traces);
  g_test_add_func ("/luajit/steps", test_steps);
  g_test_add_func ("/luajit/openresty", test_openresty);
  g_test_add_func ("/luajit/lies", test_lies);
  g_test_add_func ("/luajit/file", test_file);
  return g_test_run ();
}
