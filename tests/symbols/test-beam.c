/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Erlang's frames in memory made by hand, as OTP 25 has it, and in memory that
 * lies. */

#include "flam-beam.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define BASE 0x10000ull
#define SIZE 0x10000u

#include "fake-memory.h"

#define INDEX (BASE + 0x10)
#define RANGES (BASE + 0x100)
#define ATOMS (BASE + 0x200)
#define BOTTOM (BASE + 0x300)
#define MODULES (BASE + 0x400)
#define SEGMENTS (BASE + 0x500)
#define SEGMENT (BASE + 0x600)
#define HEADER (BASE + 0x1000) /* of module "burst" */
#define CODE (BASE + 0x2000)
#define CODE_END (BASE + 0x3000)
#define LINES (BASE + 0x4000)
#define LOCATIONS (BASE + 0x4100)
#define ADDRESSES (BASE + 0x4200)
#define FILES (BASE + 0x4300)
#define LIST (BASE + 0x4400)
#define ATOM (BASE + 0x5000)
#define STACK (BASE + 0x8000)
#define EXIT 0xabc0u
#define SCHEDULERS (BASE + 0x6000)
#define REGISTERS (BASE + 0x7800) /* the scheduler's stack is below */
#define THREAD (BASE + 0xb000)
#define PROCESS (BASE + 0x6800)
#define SCHEDULE 0xcd00u
#define NOW (G_GINT64_CONSTANT (1000) * 1000 * 1000)

static const FlamBeam beam = { .release = 25,
                               .functions = 96,
                               .index = 0x10,
                               .ranges = 0x100,
                               .atoms = 0x200,
                               .bottom = 0x300,
                               .schedulers = 0x310,
                               .n_schedulers = 0x318,
                               .schedule = SCHEDULE };

/* An atom is its index and six bits of tag. */
static guint64
put_atom (Fake *fake, guint index, const char *text)
{
  guint64 atom = ATOM + 0x100 * index;

  put (fake, SEGMENT + 8 * index, atom);
  put (fake, atom + 24, strlen (text));
  put (fake, atom + 32, atom + 0x40);
  memcpy (fake->bytes + (atom + 0x40 - BASE), text, strlen (text));
  return (guint64)index << 6 | 0x0b;
}

/* burst:loop/3 and burst:heavy/2, which it calls; the latter's second line is
 * in another file, "x.hrl". */
static void
fill (Fake *fake)
{
  static const char file[] = "x.hrl";
  guint64 module;

  put (fake, INDEX, 1);
  put (fake, RANGES + 32, MODULES);
  put (fake, RANGES + 40, 1);
  put (fake, ATOMS + 120, SEGMENTS);
  put (fake, SEGMENTS, SEGMENT);
  put (fake, BOTTOM, EXIT);
  put (fake, MODULES, HEADER);
  put (fake, MODULES + 8, CODE_END);
  put (fake, HEADER, 2);
  put (fake, HEADER + 72, LINES);
  put (fake, HEADER + 96, CODE);
  put (fake, HEADER + 104, CODE + 0x100);
  put (fake, HEADER + 112, CODE_END);
  module = put_atom (fake, 1, "burst");
  for (guint i = 0; i < 2; i++)
    {
      put (fake, CODE + 0x100 * i + 16, module);
      put (fake,
           CODE + 0x100 * i + 24,
           put_atom (fake, 2 + i, i == 0 ? "loop" : "heavy"));
      put (fake, CODE + 0x100 * i + 32, 3 - i);
    }
  put (fake, LINES, FILES);
  put (fake, LINES + 8, 4);
  put (fake, LINES + 16, LOCATIONS);
  put (fake, LINES + 24, ADDRESSES);
  put (fake, LINES + 32, ADDRESSES + 8);
  put (fake, LINES + 40, ADDRESSES + 24);
  put (fake, LOCATIONS, 20 | (guint64)5 << 32);
  put (fake, LOCATIONS + 8, 1 << 24 | 7);
  put (fake, ADDRESSES, CODE + 0x30);
  put (fake, ADDRESSES + 8, CODE + 0x130);
  put (fake, ADDRESSES + 16, CODE + 0x180);
  put (fake, FILES, LIST | 1);
  for (guint i = 0; i < strlen (file); i++)
    {
      put (fake, LIST + 16 * i, (guint64)file[i] << 4 | 0xf);
      put (fake,
           LIST + 16 * i + 8,
           i + 1 < strlen (file) ? (LIST + 16 * (i + 1)) | 1 : 0x3b);
    }
  /* Values, a number that is not a pointer, the return address. */
  put (fake, STACK, 0x1f);
  put (fake, STACK + 8, 0x1234570);
  put (fake, STACK + 16, (CODE + 0x84) | 1);
  put (fake, STACK + 24, CODE + 0x84);
  put (fake, STACK + 32, 0x3b);
  put (fake, STACK + 40, EXIT);
}

static FlamRuntimeRegs
leaf_at (guint64 pc)
{
  FlamRuntimeRegs regs = { .pc = pc, .leaf = true };

  regs.general[FLAM_RUNTIME_RSP] = STACK;
  regs.known = 0xffff;
  return regs;
}

static void
assert_name (Fake *fake,
             const FlamRuntimeEntry *entry,
             const char *function,
             const char *file,
             guint line)
{
  FlamRuntimeMemory memory = { read_fake, fake };
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();

  g_assert_true (flam_beam_name (&beam, &memory, BASE, entry, name));
  g_assert_cmpuint (name->n, ==, 1);
  g_assert_cmpstr (name->frames[0].type, ==, "burst");
  g_assert_cmpstr (name->frames[0].function, ==, function);
  g_assert_cmpstr (name->frames[0].file, ==, file);
  g_assert_cmpuint (name->frames[0].line, ==, line);
}

static void
test_frames (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeMemory memory = { read_fake, fake };
  FlamRuntimeRegs regs = leaf_at (CODE + 0x190), caller = { 0 }, above = { 0 };
  FlamRuntimeEntry entry = { 0 };

  fill (fake);
  g_assert_cmpint (
      flam_beam_step (&beam, &memory, BASE, &regs, &entry, &caller),
      ==,
      FLAM_BEAM_STEPPED);
  assert_name (fake, &entry, "heavy/2", "x.hrl", 7);
  g_assert_cmphex (caller.pc, ==, CODE + 0x84);
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RSP], ==, STACK + 32);
  g_assert_false (caller.leaf);
  g_assert_cmpint (
      flam_beam_step (&beam, &memory, BASE, &caller, &entry, &above),
      ==,
      FLAM_BEAM_LAST);
  assert_name (fake, &entry, "loop/3", "burst.erl", 20);
  /* Another function is now at that place. */
  put (fake, CODE + 24, 99 << 6 | 0x0b);
  g_assert_false (flam_beam_name (&beam, &memory, BASE, &entry, name));
  /* Before the first line; between two modules. */
  regs = leaf_at (CODE + 0x110);
  flam_beam_step (&beam, &memory, BASE, &regs, &entry, &caller);
  assert_name (fake, &entry, "heavy/2", "", 0);
  regs = leaf_at (CODE_END);
  g_assert_cmpint (
      flam_beam_step (&beam, &memory, BASE, &regs, &entry, &caller),
      ==,
      FLAM_BEAM_LOST);
  g_assert_cmphex (entry.function, ==, 0);
}

/* The frame of a function in C is below: its stack is not the process's. */
static void
test_called_c (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeMemory memory = { read_fake, fake };
  FlamRuntimeRegs regs = leaf_at (CODE + 0x190), caller = { 0 };
  FlamRuntimeEntry entry = { 0 };

  fill (fake);
  regs.leaf = false;
  g_assert_cmpint (
      flam_beam_step (&beam, &memory, BASE, &regs, &entry, &caller),
      ==,
      FLAM_BEAM_LOST);
  g_assert_cmphex (entry.function, ==, CODE + 0x100);
}

/* The call of C by `heavy`, whose stack is in the process at 0x58. */
static void
fill_call (Fake *fake)
{
  static const guint8 code[] = { 0xff, 0xd0, 0x48, 0x85, 0xc0,
                                 0x49, 0x8b, 0x65, 0x58 };

  fill (fake);
  put (fake, BASE + 0x310, SCHEDULERS);
  put (fake, BASE + 0x318, 2);
  put (fake, SCHEDULERS, THREAD + 0x10000 - 0x40);
  put (fake, SCHEDULERS + 0x440, REGISTERS);
  put (fake, SCHEDULERS + 0x440 + 0xa8, PROCESS);
  put (fake, PROCESS + 0x58, STACK);
  memcpy (fake->bytes + (CODE + 0x18e - BASE), code, sizeof code);
  put (fake, REGISTERS - 8, CODE + 0x190);
}

static gsize
walk (Fake *fake,
      FlamBeamProcess *process,
      guint64 *kept,
      guint64 sp,
      FlamRuntimeEntry *entries)
{
  FlamRuntimeMemory memory = { read_fake, fake };
  FlamRuntimeRegs regs = leaf_at (0x5555);

  regs.fs_base = THREAD;
  regs.general[FLAM_RUNTIME_RSP] = sp;
  return flam_beam_walk (
      &beam, process, &memory, BASE, &regs, NOW, kept, entries, 8);
}

/* A scheduler in C, called by a process, and by none. */
static void
test_walk (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeMemory memory = { read_fake, fake };
  FlamBeamProcess process = { 0 };
  FlamRuntimeEntry entries[8], entry;
  FlamRuntimeRegs regs = leaf_at (CODE + 0x190), caller, above;
  guint64 kept[FLAM_BEAM_KEPT] = { 0 };
  gint32 distance = (gint32)(BASE + SCHEDULE - (CODE + 0x190));

  fill_call (fake);
  /* Compiled code is not the chain's; C is, whose process is looked for. */
  g_assert_cmpuint (walk (fake, &process, kept, STACK, entries), ==, 0);
  g_assert_cmphex (process.running, ==, 0);
  g_assert_cmpuint (
      walk (fake, &process, kept, REGISTERS - 0x40, entries), ==, 3);
  g_assert_cmphex (process.running, ==, 0xa8);
  assert_name (fake, &entries[0], "heavy/2", "x.hrl", 7);
  assert_name (fake, &entries[1], "loop/3", "burst.erl", 20);
  g_assert_cmphex (entries[2].function, ==, 0);
  g_assert_cmphex (entries[2].at, ==, REGISTERS);
  /* The native frames end there, with one more that holds the entry. */
  regs.leaf = false;
  regs.entry = regs.general[FLAM_RUNTIME_RSP] = REGISTERS;
  g_assert_cmpint (
      flam_beam_step (&beam, &memory, BASE, &regs, &entry, &caller),
      ==,
      FLAM_BEAM_STEPPED);
  g_assert_cmphex (entry.function, ==, 0);
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RSP], >, REGISTERS);
  g_assert_cmpint (
      flam_beam_step (&beam, &memory, BASE, &caller, &entry, &above),
      ==,
      FLAM_BEAM_LAST);
  g_assert_cmphex (entry.function, ==, 0);
  /* The entry of another call. */
  regs.entry += 8;
  g_assert_cmpint (
      flam_beam_step (&beam, &memory, BASE, &regs, &entry, &caller),
      ==,
      FLAM_BEAM_LOST);
  /* rsp is in rbp. */
  memcpy (fake->bytes + (CODE + 0x193 - BASE), "\x48\x89\xec", 3);
  g_assert_cmpuint (
      walk (fake, &process, kept, REGISTERS - 0x40, entries), ==, 0);
  /* The scheduler itself. */
  fake->bytes[CODE + 0x18b - BASE] = 0xe8;
  memcpy (fake->bytes + (CODE + 0x18c - BASE), &distance, sizeof distance);
  g_assert_cmpuint (
      walk (fake, &process, kept, REGISTERS - 0x40, entries), ==, 1);
  g_assert_cmphex (entries[0].at, ==, REGISTERS);
}

static void
test_walk_lies (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);

  for (guint round = 0; round < 3000; round++)
    {
      FlamBeamProcess process = { .running = round % 4 > 0 ? 0xa8 : 0 };
      guint64 kept[FLAM_BEAM_KEPT] = { 0 };
      FlamRuntimeEntry entries[8];

      memset (fake, 0, sizeof *fake);
      fill_call (fake);
      for (guint i = 0; i < 30; i++)
        put (fake,
             BASE + (guint64)g_test_rand_int_range (0, 0x1500) * 8,
             g_test_rand_bit ()
                 ? BASE + (guint64)g_test_rand_int_range (0, SIZE)
                 : (guint64)g_test_rand_int () << 32 |
                       (guint)g_test_rand_int ());
      g_assert_cmpuint (
          walk (fake, &process, kept, REGISTERS - 0x40, entries), <=, 8);
      g_assert_cmpuint (fake->reads, <, 10000000);
      fake->reads = 0;
    }
}

static void
test_lies (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeMemory memory = { read_fake, fake };

  for (guint round = 0; round < 3000; round++)
    {
      FlamRuntimeRegs regs =
          leaf_at (CODE + (guint64)g_test_rand_int_range (0, 0x1000));
      FlamRuntimeRegs caller = { 0 };
      FlamRuntimeEntry entry = { 0 };

      memset (fake, 0, sizeof *fake);
      fill (fake);
      for (guint i = 0; i < 30; i++)
        put (fake,
             BASE + (guint64)g_test_rand_int_range (0, 0x900) * 8,
             g_test_rand_bit ()
                 ? BASE + (guint64)g_test_rand_int_range (0, SIZE)
                 : (guint64)g_test_rand_int () << 32 |
                       (guint)g_test_rand_int ());
      flam_beam_step (&beam, &memory, BASE, &regs, &entry, &caller);
      flam_runtime_name_clear (name);
      if (entry.function != 0 &&
          flam_beam_name (&beam, &memory, BASE, &entry, name))
        g_assert_true (g_utf8_validate (name->frames[0].function, -1, NULL));
      /* At most some 40 per word of a frame that is looked up. */
      g_assert_cmpuint (fake->reads, <, 60000);
    }
}

/* The table of modules of Debian 12's program, by objdump. */
static void
test_file (void)
{
  const char *path = "/usr/lib/erlang/erts-13.1.5/bin/beam.smp";
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  FlamRuntimeFile file = { 0 };
  const FlamBeam *found;
  int fd = g_open (path, O_RDONLY | O_CLOEXEC);

  if (elf == NULL || fd < 0 || strcmp (flam_elf_get_build_id (elf), "") == 0)
    {
      g_test_skip ("Debian 12's Erlang is not installed");
      return;
    }
  g_assert_true (flam_beam_find (elf, fd, path, &file));
  g_assert_cmpstr (file.version, ==, "25");
  g_assert_cmpstr (file.why, ==, NULL);
  found = file.facts;
  g_assert_cmphex (found->ranges, ==, 0x3fc9e0);
  g_assert_cmphex (found->index, ==, 0x3fca44);
  g_assert_cmphex (found->schedulers, ==, 0x3fb8d0);
  g_assert_cmphex (found->schedule, ==, 0x7ddb0);
  flam_runtime_file_clear (&file);
  g_assert_false (flam_beam_find (elf, fd, "/usr/bin/perl", &file));
  close (fd);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/beam/frames", test_frames);
  g_test_add_func ("/beam/called-c", test_called_c);
  g_test_add_func ("/beam/walk", test_walk);
  g_test_add_func ("/beam/walk/lies", test_walk_lies);
  g_test_add_func ("/beam/lies", test_lies);
  g_test_add_func ("/beam/file", test_file);
  return g_test_run ();
}
