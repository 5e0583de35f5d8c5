/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The caller of Guile's compiled code, on a stack made by hand and on one that
 * lies. */

#include "flam-guile.h"

#include "fake-stack.h"

#include <elf.h>
#include <string.h>

static const FlamGuileFile file = { .text = { TEXT, TEXT + TEXT_SIZE } };

static gboolean
step (Fake *fake, FlamRuntimeRegs *caller)
{
  FlamRuntimeMemory memory = { read_fake, fake };
  FlamRuntimeRegs regs = { .pc = 0x1234, .leaf = true };

  regs.general[FLAM_RUNTIME_RSP] = STACK;
  return flam_guile_step (&file, &memory, BASE, &regs, caller);
}

static void
test_steps (void)
{
  static const guint8 calls[][6] = {
    { 0xff, 0x15, 1, 2, 3, 4 },    { 0xff, 0x93, 1, 2, 3, 4 },
    { 0, 0, 0, 0xff, 0x53, 0x58 }, { 0, 0, 0, 0, 0xff, 0xd0 },
    { 0, 0, 0, 0, 0xff, 0x13 },
  };
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeRegs caller = { 0 };

  /* Three saved registers, of which one is an address in the library. */
  fake->stack[1] = BASE + TEXT + 0x800;
  fake->stack[3] = BASE + TEXT + 0x106;
  g_assert_false (step (fake, &caller));
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      memcpy (fake->text + 0x100, calls[i], sizeof calls[i]);
      g_assert_true (step (fake, &caller));
      g_assert_cmphex (caller.pc, ==, BASE + TEXT + 0x106);
      g_assert_cmphex (caller.general[FLAM_RUNTIME_RSP], ==, STACK + 32);
    }
  /* Too far away. */
  fake->stack[3] = 0;
  fake->stack[16] = BASE + TEXT + 0x106;
  g_assert_false (step (fake, &caller));
}

static void
test_lies (void)
{
  assert_within (step);
}

/* --- the chain, and an image --------------------------------------------- */

#define ARENA 0x10000ull
#define ARENA_SIZE 0x8000u
#define BOOT 0x40u
#define LIBRARY (ARENA + 0x1000)
#define THREAD (ARENA + 0x2000)
#define IMAGE (ARENA + 0x4000)
#define TOP (ARENA + 0x3f00)
#define HEAVY (IMAGE + 0x200)
#define MAIN (IMAGE + 0x300)

static const FlamGuileFile known = {
  .thread = { FLAM_THREAD_VARIABLE_FIXED, 0, 8 },
  .boot = BOOT,
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
put_bytes (Arena *arena, guint64 address, const void *bytes, gsize size)
{
  memcpy (arena->bytes + (address - ARENA), bytes, size);
}

/* Returns to `back` in the frame `words` above; its function is at `code`. */
static void
put_frame (Arena *arena, guint64 fp, guint64 back, guint64 words, guint64 code)
{
  guint64 function = THREAD + 0x100 + (fp - (TOP - 0x100));

  put (arena, fp + 8, back);
  put (arena, fp + 16, words);
  put (arena, fp - 8, function);
  put (arena, function, 0x45);
  put (arena, function + 8, code);
}

/* heavy, called by main, called from C. */
static void
put_chain (Arena *arena)
{
  put (arena, ARENA + 0x108, THREAD);
  put (arena, THREAD + 8, MAIN + 0x10);
  put (arena, THREAD + 24, TOP - 0x80);
  put (arena, THREAD + 96, TOP);
  put_frame (arena, TOP - 0x80, MAIN + 0x20, 6, HEAVY);
  put_frame (arena, TOP - 0x50, LIBRARY + BOOT, 4, MAIN);
  put_frame (arena, TOP - 0x30, 0, 6, 0);
}

/* Sections: none, symbols, their names, lines, the sections' names, code. */
static void
put_image (Arena *arena)
{
  static const char names[] = "\0heavy\0main";
  static const char sections[] = "\0.debug_line";
  static const guint8 lines[] = {
    49,
    0,
    0,
    0,
    2,
    0,
    25,
    0,
    0,
    0,
    4,
    1,
    252,
    15,
    10,
    0,
    1,
    1,
    1,
    1,
    0,
    0,
    0,
    1,
    0,
    'a',
    '.',
    's',
    'c',
    'm',
    0,
    0,
    0,
    0,
    0,
    /* At 0x200, line 6; 16 bytes on, line 7; the end. */
    0,
    9,
    2,
    0,
    2,
    0,
    0,
    0,
    0,
    0,
    0,
    3,
    5,
    1,
    75,
    0,
    1,
    1,
  };
  Elf64_Ehdr header = { .e_machine = EM_NONE,
                        .e_shoff = 0x40,
                        .e_shentsize = sizeof (Elf64_Shdr),
                        .e_shnum = 6,
                        .e_shstrndx = 4 };
  Elf64_Shdr list[6] = {
    [1] = { .sh_type = SHT_SYMTAB,
            .sh_offset = 0x800,
            .sh_size = 3 * sizeof (Elf64_Sym),
            .sh_link = 2 },
    [2] = { .sh_type = SHT_STRTAB, .sh_offset = 0x500, .sh_size = 64 },
    [3] = { .sh_name = 1,
            .sh_type = SHT_PROGBITS,
            .sh_offset = 0x600,
            .sh_size = sizeof lines },
    [4] = { .sh_type = SHT_STRTAB, .sh_offset = 0x700, .sh_size = 64 },
    [5] = { .sh_offset = 0x100 },
  };
  Elf64_Sym symbols[3] = {
    { .st_name = 0, .st_shndx = 5, .st_value = 0x80, .st_size = 0x80 },
    { .st_name = 1, .st_shndx = 5, .st_value = 0x100, .st_size = 0x80 },
    { .st_name = 7, .st_shndx = 5, .st_value = 0x200, .st_size = 0x80 },
  };

  memcpy (header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  put_bytes (arena, IMAGE, &header, sizeof header);
  put_bytes (arena, IMAGE + 0x40, list, sizeof list);
  put_bytes (arena, IMAGE + 0x800, symbols, sizeof symbols);
  put_bytes (arena, IMAGE + 0x500, names, sizeof names);
  put_bytes (arena, IMAGE + 0x600, lines, sizeof lines);
  put_bytes (arena, IMAGE + 0x700, sections, sizeof sections);
}

static gsize
walk (Arena *arena, FlamRuntimeEntry *entries, gsize limit)
{
  FlamRuntimeMemory memory = { read_arena, arena };

  return flam_guile_walk (
      &known, &memory, LIBRARY, ARENA + 0x100, entries, limit);
}

static void
test_chain (void)
{
  g_autofree Arena *arena = g_new0 (Arena, 1);
  FlamRuntimeEntry entries[8];

  put_chain (arena);
  g_assert_cmpuint (walk (arena, entries, G_N_ELEMENTS (entries)), ==, 3);
  g_assert_cmphex (entries[0].function, ==, HEAVY);
  g_assert_cmphex (entries[1].function, ==, MAIN + 0x1c);
  g_assert_cmphex (entries[2].function, ==, 0);
  /* No function object: where the thread was last. */
  put (arena, TOP - 0x88, 0);
  g_assert_cmpuint (walk (arena, entries, G_N_ELEMENTS (entries)), ==, 3);
  g_assert_cmphex (entries[0].function, ==, MAIN + 0x10);
  g_assert_cmpuint (walk (arena, entries, 2), ==, 1);
  /* Not on the stack. */
  put (arena, THREAD + 24, TOP + 8);
  g_assert_cmpuint (walk (arena, entries, G_N_ELEMENTS (entries)), ==, 0);
}

static void
assert_name (FlamGuileImages *images,
             Arena *arena,
             guint64 code,
             const char *expected)
{
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeMemory memory = { read_arena, arena };
  FlamRuntimeEntry entry = { .function = code };
  g_autofree char *text = NULL;

  if (flam_guile_name (images, &memory, &entry, name))
    {
      const FlamRuntimeNamed *named = &name->frames[0];

      g_assert_cmpuint (name->n, ==, 1);
      text = named->hidden ? g_strdup ("hidden")
                           : g_strdup_printf ("%s %s:%u %u",
                                              named->function,
                                              named->file,
                                              named->first_line,
                                              named->line);
    }
  g_assert_cmpstr (text, ==, expected);
}

static void
test_names (void)
{
  g_autofree Arena *arena = g_new0 (Arena, 1);
  g_autofree FlamGuileImages *images = flam_guile_images_new ();

  put_image (arena);
  assert_name (images, arena, HEAVY, "heavy a.scm:6 6");
  assert_name (images, arena, HEAVY + 0xc, "heavy a.scm:6 6");
  assert_name (images, arena, MAIN + 4, "main :0 0");
  assert_name (images, arena, IMAGE + 0x184, "(anonymous) :0 0");
  assert_name (images, arena, IMAGE + 0x290, NULL);
  assert_name (images, arena, LIBRARY + BOOT, "hidden");
}

static void
test_chain_lies (void)
{
  g_autofree Arena *arena = g_new0 (Arena, 1);
  g_autofree FlamGuileImages *images = NULL;
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeMemory memory = { read_arena, arena };
  FlamRuntimeEntry entries[64];

  for (guint round = 0; round < 2000; round++)
    {
      gsize n;

      memset (arena->bytes, 0, ARENA_SIZE);
      put_chain (arena);
      put_image (arena);
      for (guint i = 0; i < 40; i++)
        {
          guint64 at = (guint64)g_test_rand_int_range (0, ARENA_SIZE - 8);

          put (arena,
               ARENA + (i % 2 ? 0x4000 + at % 0x800 : at),
               i % 3 ? ARENA + (guint64)g_test_rand_int_range (0, 0x9000)
                     : (guint64)g_test_rand_int () << 32 | g_test_rand_int ());
        }
      arena->reads = 0;
      n = walk (arena, entries, G_N_ELEMENTS (entries));
      g_assert_cmpuint (n, <=, G_N_ELEMENTS (entries));
      g_free (images);
      images = flam_guile_images_new ();
      for (gsize i = 0; i < n; i++)
        {
          flam_runtime_name_clear (name);
          flam_guile_name (images, &memory, &entries[i], name);
        }
      g_assert_cmpuint (arena->reads, <, 200000);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/guile/chain", test_chain);
  g_test_add_func ("/guile/names", test_names);
  g_test_add_func ("/guile/chain-lies", test_chain_lies);
  g_test_add_func ("/guile/steps", test_steps);
  g_test_add_func ("/guile/lies", test_lies);
  return g_test_run ();
}
