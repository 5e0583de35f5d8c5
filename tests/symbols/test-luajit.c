/* SPDX-License-Identifier: GPL-3.0-or-later */

/* LuaJIT's frames in memory made by hand, as version 2.1 has it with 64-bit
 * references and with those of 32 bits, and in memory that lies. */

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

/* The bases of the frames of main chunk, outer and inner. */
#define FIRST 4u
#define SECOND (FIRST + 2u + layout->frame_slots)
#define THIRD (SECOND + 2u + layout->frame_slots)

static const FlamLuajitLayout *layout;
static guint8 string_bytes;
/* The main state. */
static guint64 state;
#define STATE state

typedef struct
{
  guint8 heap[HEAP_SIZE];
  guint8 stack[STACK_SIZE];
  guint reads;
} Fake;

static FlamLuajitFile file = { .vm = { VM, VM + 0x1000 },
                               .table = 0x400,
                               .state = 0x110,
                               .current = 0x100,
                               .base = 0x108,
                               .traces = 0x118 };

static void
choose (const FlamLuajitLayout *chosen, guint64 more)
{
  file.layout = layout = chosen;
  string_bytes = chosen->string_bytes;
  state = GLOBAL - chosen->state_size - more;
}

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

/* A reference, or a pointer that is as large as one. */
static void
put_reference (Fake *fake, guint64 address, guint64 value)
{
  if (layout->reference == 4)
    put_u32 (fake, address, (guint32)value);
  else
    put (fake, address, value);
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
  put_u8 (fake, address + layout->type, 4);
  put_u32 (fake, address + string_bytes - 4, (guint32)strlen (text));
  put_text (fake, address + string_bytes, text);
  return address;
}

static guint64
code_of (guint i)
{
  return PROTOS + 0x200 * i + layout->proto_size;
}

/* A function of 8 instructions, one per line from `line` on, that calls a
 * global function by `calls`: its second instruction loads it into slot 2, the
 * third calls it. */
static guint64
put_function (Fake *fake, guint i, guint32 line, const char *calls)
{
  guint64 closure = CLOSURES + 0x40 * i, proto = PROTOS + 0x200 * i;
  guint64 code = code_of (i), constants = code + 32 + 8;

  put_u8 (fake, closure + layout->type, 8);
  put_reference (fake, closure + layout->closure_code, code);
  put_u8 (fake, proto + layout->type, 7);
  put_u32 (fake, proto + layout->proto_n_code, 8);
  put_reference (fake, proto + layout->proto_constants, constants);
  put_u32 (fake, proto + layout->proto_n_constants, 1);
  put_u32 (
      fake, proto + layout->proto_all, layout->proto_size + 32u + 8u + 16u);
  put_reference (fake, proto + layout->proto_file, FILE_NAME);
  put_u32 (fake, proto + layout->proto_line, line);
  put_u32 (fake, proto + layout->proto_n_lines, 8);
  put_reference (fake, proto + layout->proto_lines, constants + 16);
  for (guint j = 0; j < 7; j++)
    put_u8 (fake, constants + 16 + j, (guint8)(j + 1));
  put_u32 (fake, code + 4, 54 | 2 << 8);           /* GGET 2 0 */
  put_u32 (fake, code + 8, 66 | 2 << 8 | 1 << 24); /* CALL 2 */
  put_reference (fake,
                 constants - layout->reference,
                 put_string (fake, NAMES + 0x40 * i, calls));
  return closure;
}

/* A frame whose base is the slot with this number. */
static void
put_frame (Fake *fake, guint slot, guint64 function, guint64 kind)
{
  guint64 at = LUA_STACK + 8 * (guint64)(slot - 1);

  if (layout->frame_slots == 1)
    {
      put (fake, at, function | kind << 32);
      return;
    }
  put (fake, at - 8, function | (guint64)(~8u & 0x1ffff) << 47);
  put (fake, at, kind);
}

/* main chunk ─▶ outer ─▶ inner, called from C. */
static void
fill (Fake *fake)
{
  guint64 main, outer, inner;

  memset (fake, 0, sizeof *fake);
  put_u8 (fake, STATE + layout->type, 6);
  put_reference (fake, STATE + layout->state_global, GLOBAL);
  put (fake, STATE + layout->state_base, LUA_STACK + 8 * 20);
  put_reference (fake, STATE + layout->state_limit, LUA_STACK + 0x400);
  put_reference (fake, STATE + layout->state_stack, LUA_STACK);
  put (fake, STATE + layout->state_frame, FRAME);
  put_reference (fake, CURRENT, STATE);
  put_u32 (fake, VM_STATE, ~0u);
  put (fake, TRACES, TRACE_LIST);
  put_string (fake, FILE_NAME, "@x.lua");
  main = put_function (fake, 0, 0, "outer");
  outer = put_function (fake, 1, 100, "inner");
  inner = put_function (fake, 2, 200, "");
  /* From C: down to the slot of the outermost frame. */
  put_frame (fake, FIRST, main, 8u * (FIRST - layout->frame_slots) | 1);
  put_frame (fake, SECOND, outer, code_of (0) + 12);
  put_frame (fake, THIRD, inner, code_of (1) + 12);
  put_reference (fake, FRAME + layout->frame_state, STATE);
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
      else if (!flam_luajit_name (&file, &memory, &entries[i], name))
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
  regs.general[FLAM_RUNTIME_RDX] = LUA_STACK + 8 * THIRD;
  regs.general[FLAM_RUNTIME_RBX] = code_of (2) + 4 * 6;
  assert_walk (fake, &regs, "inner:205 outer:102 main chunk:2 | ");
  /* The base is the callee's already, the pc is still the caller's. */
  regs.general[FLAM_RUNTIME_RBX] = code_of (1) + 12;
  assert_walk (fake, &regs, "outer:102 main chunk:2 | ");
  /* In C, which was called at the pc that was saved. */
  regs = leaf_at (MAIN_CODE, STACK + 0x100);
  put (fake, STATE + layout->state_base, LUA_STACK + 8 * THIRD);
  put_reference (fake, FRAME + layout->frame_pc, code_of (2) + 4 * 3);
  assert_walk (fake, &regs, "inner:202 outer:102 main chunk:2 | ");
  /* The table is in no register: the state is found on the stack. */
  regs.general[FLAM_RUNTIME_R14] = 0;
  assert_walk (fake, &regs, "inner:202 outer:102 main chunk:2 | ");
  /* It does not run. */
  put (fake, STATE + layout->state_frame, 0);
  assert_walk (fake, &regs, "");
}

/* A trace that begins in outer(), at slot 8, with inner() inlined from its
 * second snapshot on. */
static void
put_trace (Fake *fake)
{
  guint64 map = MAP + 8;

  put_u32 (fake, VM_STATE, 3);
  put_reference (fake, JIT_BASE, LUA_STACK + 8 * SECOND);
  put_reference (fake, TRACE_LIST + 3 * layout->reference, TRACE);
  put_u8 (fake, TRACE + layout->type, 9);
  put_u8 (fake, TRACE + layout->trace_n_snapshots, 2);
  put (fake, TRACE + layout->trace_ir, IR);
  put (fake, TRACE + layout->trace_snapshots, SNAPSHOTS);
  put (fake, TRACE + layout->trace_map, MAP);
  put_u32 (fake, TRACE + layout->trace_code_size, 0x200);
  put (fake, TRACE + layout->trace_code, MCODE);
  put_u32 (fake, TRACE + layout->trace_number, 3);
  /* At instruction 1 of outer(), no entries. */
  put (fake, MAP, (code_of (1) + 4) << (layout->reference == 8 ? 8 : 0));
  /* At instruction 5 of inner(). */
  put_u32 (fake, SNAPSHOTS + 12, 2);
  put_u32 (fake, SNAPSHOTS + 16, 7 | 0x80u << 16);
  put_u8 (fake, SNAPSHOTS + 12 + 10, 2);
  if (layout->frame_slots == 1)
    {
      /* Slot 3 has both; its kind is after the pc. */
      put_u32 (fake, map, 1u << 24 | 5);
      put_u32 (fake, map + 4, 3u << 24 | 0x10000 | 9);
      put_u32 (fake, map + 8, (guint32)code_of (2) + 20);
      put_u32 (fake, map + 12, (guint32)code_of (1) + 12);
      return;
    }
  /* Slot 4 is the function, slot 5 its kind, a constant. */
  put_u32 (fake, map, 4u << 24 | 9);
  put_u32 (fake, map + 4, 5u << 24 | 0x10000 | 7);
  put (fake, map + 8, (code_of (2) + 20) << 8 | 4);
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
      regs.general[FLAM_RUNTIME_RDX] = LUA_STACK + 8 * THIRD;
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
  g_assert_true (facts->layout == &flam_luajit_64);
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

/* A library with the instructions by which the numbers are found, as objdump
 * shows them in Debian 12's source built with -DLUAJIT_DISABLE_GC64. */
static const char narrow_source[] = ".globl luaJIT_setmode\n"
                                    ".type luaJIT_setmode, @function\n"
                                    "luaJIT_setmode: ret\n"
                                    ".size luaJIT_setmode, 1\n"
                                    ".cfi_startproc\n"
                                    "add $0xc68, %r14d\n"
                                    "mov %rsp, 0x30(%rbp)\n"
                                    "mov -0x918(%r14), %ecx\n"
                                    "mov (%rcx,%rax,4), %eax\n"
                                    "mov 0x40(%rax), %rax\n"
                                    "movl $-2, -0xbe0(%r14)\n"
                                    "mov -0xb48(%r14), %ebp\n"
                                    "mov -0xb44(%r14), %edx\n"
                                    "mov %rbp, -0xa18(%r14)\n"
                                    "mov %edx, 0x10(%rbp)\n"
                                    "ret\n"
                                    ".cfi_endproc\n";

static void
test_narrow_file (void)
{
  g_autofree char *folder = g_dir_make_tmp ("flam-luajit-XXXXXX", NULL);
  g_autofree char *source = g_build_filename (folder, "luajit.s", NULL);
  g_autofree char *path = g_build_filename (folder, "luajit.so", NULL);
  const char *gcc[] = {
    "gcc", "-nostdlib", "-shared", "-o", path, source, NULL
  };
  g_autoptr (FlamElf) elf = NULL;
  FlamRuntimeFile found = { 0 };
  const FlamLuajitFile *facts;
  int status = 1;

  g_assert_true (g_file_set_contents (source, narrow_source, -1, NULL));
  if (!g_spawn_sync (NULL,
                     (char **)gcc,
                     NULL,
                     G_SPAWN_SEARCH_PATH,
                     NULL,
                     NULL,
                     NULL,
                     NULL,
                     &status,
                     NULL) ||
      status != 0)
    g_test_skip ("gcc cannot assemble it");
  else
    {
      elf = flam_elf_open (path, NULL);
      g_assert_true (flam_luajit_find (elf, -1, path, &found));
      facts = found.facts;
      g_assert_cmpstr (found.why, ==, NULL);
      g_assert_true (facts->layout == &flam_luajit_32);
      g_assert_cmpint (facts->table, ==, 3176);
      g_assert_cmpint (facts->current, ==, 288);
      g_assert_cmpint (facts->base, ==, 292);
      g_assert_cmpint (facts->state, ==, 136);
      g_assert_cmpint (facts->traces, ==, 848);
      flam_runtime_file_clear (&found);
    }
  g_unlink (source);
  g_unlink (path);
  g_rmdir (folder);
}

/* OpenResty's LuaJIT: the state has more members. */
static void
test_openresty (void)
{
  for (guint64 more = 8; more <= 16; more += 8)
    {
      choose (&flam_luajit_64, more);
      test_interpreter ();
      test_traces ();
    }
  choose (&flam_luajit_64, 0);
}

/* References of 32 bits, and strings as until 2020. */
static void
test_narrow (void)
{
  choose (&flam_luajit_32, 0);
  test_interpreter ();
  test_traces ();
  test_steps ();
  test_lies ();
  string_bytes = layout->string_bytes_before;
  test_interpreter ();
  choose (&flam_luajit_64, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  choose (&flam_luajit_64, 0);
  g_test_add_func ("/luajit/interpreter", test_interpreter);
  g_test_add_func ("/luajit/traces", test_traces);
  g_test_add_func ("/luajit/steps", test_steps);
  g_test_add_func ("/luajit/openresty", test_openresty);
  g_test_add_func ("/luajit/narrow", test_narrow);
  g_test_add_func ("/luajit/lies", test_lies);
  g_test_add_func ("/luajit/file", test_file);
  g_test_add_func ("/luajit/narrow-file", test_narrow_file);
  return g_test_run ();
}
