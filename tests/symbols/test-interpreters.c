/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The readers of Ruby, PHP, Perl and Lua, on memory that is written here: a
 * small program of each, and memory that lies. Thread data is read from this
 * process. */

#include <asm/prctl.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "flam-code-ranges.h"
#include "flam-lua.h"
#include "flam-perl.h"
#include "flam-php.h"
#include "flam-ruby.h"
#include "flam-runtime-lines.h"
#include "flam-thread-data.h"
#include "thread-variable.h"

/* --- memory that is written here ----------------------------------------- */

#define BASE 0x500000ull
#define SIZE 0x8000u

#include "fake-memory.h"

#define FS_BASE (BASE + 0x6000)

static FlamRuntimeMemory
memory_of (Fake *fake)
{
  return (FlamRuntimeMemory){ read_fake, fake };
}

static void
put_half (Fake *fake, guint64 at, guint32 value)
{
  memcpy (fake->bytes + (at - BASE), &value, sizeof value);
}

static void
put_text (Fake *fake, guint64 at, const char *text)
{
  memcpy (fake->bytes + (at - BASE), text, strlen (text) + 1);
}

static FlamRuntimeRegs
regs_at (guint64 sp)
{
  FlamRuntimeRegs regs = { .fs_base = FS_BASE, .known = 0xffff, .leaf = true };

  regs.general[FLAM_RUNTIME_RSP] = sp;
  return regs;
}

static void
assert_names (const FlamRuntimeName *name,
              const char *type,
              const char *function,
              const char *file)
{
  g_assert_cmpuint (name->n, ==, 1);
  g_assert_cmpstr (name->frames[0].type, ==, type);
  g_assert_cmpstr (name->frames[0].function, ==, function);
  g_assert_cmpstr (name->frames[0].file, ==, file);
}

/* Each part of the memory is garbage, or a pointer into it, or a small number.
 */
static void
put_garbage (Fake *fake)
{
  for (guint i = 0; i < SIZE; i += 8)
    switch (g_test_rand_int_range (0, 5))
      {
      case 0:
        put (fake,
             BASE + i,
             (guint64)g_test_rand_int () << 32 | (guint32)g_test_rand_int ());
        break;
      case 1:
        put (fake, BASE + i, (guint64)g_test_rand_int_range (0, 40));
        break;
      case 2:
        put (fake, BASE + i, 0);
        break;
      default:
        put (fake,
             BASE + i,
             BASE + ((guint64)g_test_rand_int_range (0, SIZE) & ~7ull));
      }
}

static void
assert_texts (const FlamRuntimeName *name)
{
  for (guint i = 0; i < name->n; i++)
    {
      g_assert_true (g_utf8_validate (name->frames[i].function, -1, NULL));
      g_assert_true (g_utf8_validate (name->frames[i].type, -1, NULL));
      g_assert_true (g_utf8_validate (name->frames[i].file, -1, NULL));
    }
  g_assert_cmpuint (name->n_lines, <=, FLAM_RUNTIME_LINES_MAX);
}

/* --- Ruby ---------------------------------------------------------------- */

/* Bit i of an index is set if a new entry begins at position i; the ranks are
 * the numbers of such bits, as succ_index_lookup() in iseq.c counts them. */
static void
test_ruby_index (void)
{
  guint8 index[48 + 2 * 80] = { 0 };
  guint8 set[54 + 1024] = { 0 };
  guint32 rank = 0, ranks[54 + 1024];
  guint64 word;

  for (guint i = 0; i < G_N_ELEMENTS (set); i++)
    {
      set[i] = i % 7 == 0 || i % 11 == 3;
      ranks[i] = rank += set[i];
    }
  for (guint i = 0; i < 54; i += 9)
    {
      word = 0;
      for (guint j = 0; j < 9; j++)
        word |= (guint64)ranks[i + j] << (7 * j);
      memcpy (index + i / 9 * 8, &word, 8);
    }
  for (guint b = 0; b < 2; b++)
    {
      guint8 *block = index + 48 + 80 * b;
      guint first = 54 + 512 * b;

      memcpy (block, &ranks[first - 1], 4);
      word = 0;
      for (guint j = 1; j < 8; j++)
        word |= (guint64)(ranks[first + 64 * j - 1] - ranks[first - 1])
                << (9 * (j - 1));
      memcpy (block + 8, &word, 8);
      for (guint j = 0; j < 8; j++)
        {
          word = 0;
          for (guint k = 0; k < 64; k++)
            word |= (guint64)set[first + 64 * j + k] << k;
          memcpy (block + 16 + 8 * j, &word, 8);
        }
    }
  for (guint i = 0; i < G_N_ELEMENTS (set); i++)
    g_assert_cmpuint (
        flam_ruby_index_rank (index, sizeof index, i), ==, ranks[i]);
  g_assert_cmpuint (flam_ruby_index_rank (index, sizeof index, 1078), ==, 0);
  g_assert_cmpuint (flam_ruby_index_rank (index, 40, 2), ==, 0);
}

static FlamRubyFile
ruby_of (guint32 version)
{
  FlamRubyFile ruby = { .layout = *flam_ruby_layout (version),
                        .symbols = 0x100 };

  ruby.context =
      (FlamThreadVariable){ .kind = FLAM_THREAD_VARIABLE_FIXED, .offset = -16 };
  return ruby;
}

static void
put_ruby_string (Fake *fake,
                 const FlamRubyLayout *layout,
                 guint64 at,
                 const char *text)
{
  put (fake, at, 5 | strlen (text) << 14);
  if (layout->string_embedded == 24)
    {
      put (fake, at, 5);
      put (fake, at + 16, strlen (text));
    }
  put_text (fake, at + layout->string_embedded, text);
}

/* The method's class A, and for the one in C, its singleton class: serial 701
 * is
 * __classpath__, 702 __attached__. */
static void
put_ruby_classes (Fake *fake, const FlamRubyLayout *layout)
{
  guint64 class = BASE + 0x4c00, singleton = BASE + 0x4d00;

  for (guint i = 0; i < 2; i++)
    {
      guint64 at = i == 0 ? class : singleton;

      put (fake, at, i == 0 ? 2 : 2 | 1 << 12);
      put (fake, at + 24, at + 0x20);
      put (fake, at + 0x20 + layout->class_variables, at + 0x40);
      put (fake, at + 0x40 + 40, 1);
      put (fake, at + 0x40 + 48, at + 0x80);
      put (fake, at + 0x80 + 8, (guint64)(701 + i) << 4);
      put (fake, at + 0x80 + 16, i == 0 ? BASE + 0x4e00 : class);
    }
  put (fake, BASE + 0x4000 + 16 * (701 - 512), BASE + 0x4e40);
  put (fake, BASE + 0x4000 + 16 * (702 - 512), BASE + 0x4e80);
  put_ruby_string (fake, layout, BASE + 0x4e00, "A");
  put_ruby_string (fake, layout, BASE + 0x4e40, "__classpath__");
  put_ruby_string (fake, layout, BASE + 0x4e80, "__attached__");
  put (fake, BASE + 0x2400 + 32, singleton);
  /* The block's method. */
  put (fake, BASE + 0x1100 - 16, BASE + 0x2480);
  put (fake, BASE + 0x2480, 26 | 6 << 12);
  put (fake, BASE + 0x2480 + 32, class);
}

/* A block, called by a method in C, called by a method. */
static void
put_ruby (Fake *fake, const FlamRubyLayout *layout)
{
  guint64 context = BASE + 0x200, stack = BASE + 0x1000, size = 0x400;
  guint64 frame = stack + size - 4 * layout->frame_size;
  guint64 ep = BASE + 0x1100, body = BASE + 0x2000, method = BASE + 0x2400;
  guint64 flags[] = { 0x22220023, 0x55550083, 0x11110023, 0x44440023 };

  memset (fake->bytes, 0, sizeof fake->bytes);
  put (fake, FS_BASE - 16, context);
  put (fake, context, stack);
  put (fake, context + 8, size / 8);
  put (fake, context + 16, frame);
  for (guint i = 0; i < 4; i++)
    {
      guint64 at = frame + i * layout->frame_size;

      if (i != 1 && i != 3)
        {
          put (fake, at, BASE + 0x3000 + 8 * (i == 0 ? 2 : 4)); /* pc */
          put (fake, at + 16, BASE + 0x2800);
        }
      put (fake, at + 32, ep + 0x40 * i);
      put (fake, ep + 0x40 * i, flags[i]);
    }
  put (fake, ep + 0x40 - 16, method);
  put (fake, BASE + 0x2810, body);
  put_half (fake, body + 4, 6); /* iseq_size */
  put (fake, body + 8, BASE + 0x3000);
  put (fake, body + 64, BASE + 0x3100); /* path: an array */
  put (fake, body + 72, BASE + 0x3180); /* base label */
  put (fake, body + 80, BASE + 0x3180); /* label */
  put (fake, body + 88, 3 << 1 | 1);
  put (fake, body + layout->body_lines, BASE + 0x3200);
  put_half (fake, body + layout->body_n_lines, 2);
  put (fake, body + layout->body_index, BASE + 0x3240);
  put_half (fake, BASE + 0x3200, 4); /* lines */
  put_half (fake, BASE + 0x3200 + layout->line_size, 8);
  /* Entries at positions 0 and 3: ranks 1 1 1 2 2 2. */
  put (fake,
       BASE + 0x3240,
       1ull | 1 << 7 | 1 << 14 | 2 << 21 | 2ull << 28 | 2ull << 35);
  put (fake, BASE + 0x3100, 7 | 1 << 13);
  put (fake, BASE + 0x3110, 8); /* nil */
  put (fake, BASE + 0x3118, BASE + 0x3140);
  put (fake, BASE + 0x3110, BASE + 0x3140);
  put_ruby_string (fake, layout, BASE + 0x3140, "/a/b.rb");
  put_ruby_string (fake, layout, BASE + 0x3180, "m\xc3\xa9thode");
  /* Method entry: an imemo of kind 6; its definition; its id, serial 700. */
  put (fake, method, 26 | 6 << 12);
  put (fake, method + 16, BASE + 0x2500);
  put (fake, BASE + 0x2500 + 32, 700 << 4);
  put (fake, BASE + 0x100 + 16, BASE + 0x2600);
  put (fake, BASE + 0x2600, 7 | 1 << 13); /* an array of arrays */
  put (fake, BASE + 0x2618, BASE + 0x2680);
  put (fake, BASE + 0x2680, 7);
  put (fake, BASE + 0x26a0, BASE + 0x4000);
  put (fake, BASE + 0x4000 + 16 * (700 - 512), BASE + 0x2700);
  put_ruby_string (fake, layout, BASE + 0x2700, "each");
  if (layout->class_variables != 0)
    put_ruby_classes (fake, layout);
}

static void
test_ruby (void)
{
  static const guint32 versions[] = { 0x0206, 0x0207, 0x0300, 0x0301,
                                      0x0302, 0x0303, 0x0304 };
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  g_autofree FlamRubyOwners *owners = flam_ruby_owners_new ();
  FlamRuntimeMemory memory = memory_of (fake);

  g_assert_null (flam_ruby_layout (0x0205));
  g_assert_null (flam_ruby_layout (0x0305));
  for (guint i = 0; i < G_N_ELEMENTS (versions); i++)
    {
      FlamRubyFile ruby = ruby_of (versions[i]);
      FlamRuntimeEntry entries[16];

      put_ruby (fake, &ruby.layout);
      g_assert_cmpuint (
          flam_ruby_walk (&ruby, owners, &memory, BASE, FS_BASE, entries, 16),
          ==,
          5);
      g_assert_cmphex (entries[0].function, ==, BASE + 0x2000);
      g_assert_cmpuint (entries[0].at, ==, 1);
      g_assert_cmphex (entries[1].function, ==, 0);
      g_assert_cmphex (entries[2].function, ==, (BASE + 0x2400) | 1);
      g_assert_cmphex (entries[3].function, ==, BASE + 0x2000);
      g_assert_cmpuint (entries[3].at, ==, 3);
      g_assert_cmphex (entries[4].function, ==, 0);

      flam_runtime_name_clear (name);
      g_assert_true (
          flam_ruby_name (&ruby, owners, &memory, BASE, &entries[0], name));
      assert_names (
          name, "", versions[i] == 0x0301 ? "A#méthode" : "méthode", "/a/b.rb");
      g_assert_cmpuint (name->frames[0].first_line,
                        ==,
                        ruby.layout.first_line_is_object ? 3 : 0);
      for (guint at = 0; at < 6; at++)
        g_assert_cmpuint (
            flam_runtime_lines_find (0, name->lines, name->n_lines, at, 0),
            ==,
            at < 3 ? 4 : 8);
      flam_runtime_name_clear (name);
      g_assert_true (
          flam_ruby_name (&ruby, owners, &memory, BASE, &entries[2], name));
      assert_names (name, "", versions[i] == 0x0301 ? "A.each" : "each", "");

      /* A stack that begins with a method in C. */
      put (fake, BASE + 0x1100 + 0x80, 0x11110003);
      g_assert_cmpuint (
          flam_ruby_walk (&ruby, owners, &memory, BASE, FS_BASE, entries, 16),
          ==,
          2);
      g_assert_cmpuint (
          flam_ruby_walk (&ruby, owners, &memory, BASE, FS_BASE, entries, 3),
          ==,
          3);

      /* Another function in its place. */
      put (fake, BASE + 0x2000 + 80, BASE + 0x2700);
      g_assert_false (
          flam_ruby_name (&ruby, owners, &memory, BASE, &entries[0], name));
      g_assert_cmpuint (
          flam_ruby_walk (&ruby, owners, &memory, BASE, FS_BASE, entries, 3),
          ==,
          3);
      g_assert_cmpuint (
          flam_ruby_walk (&ruby, owners, &memory, BASE, 0, entries, 3), ==, 0);
    }
}

/* Without thread-local variables: the context of another thread is not taken
 * for this one's. */
static void
test_ruby_global (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRubyOwners *owners = flam_ruby_owners_new ();
  FlamRuntimeMemory memory = memory_of (fake);
  FlamRubyFile ruby = ruby_of (0x0207);
  FlamRuntimeEntry entries[16];

  put_ruby (fake, &ruby.layout);
  ruby.context.kind = FLAM_THREAD_VARIABLE_NONE;
  ruby.global_context = 0x80;
  put (fake, BASE + 0x80, BASE + 0x200);
  put (fake, BASE + 0x200 + 48, BASE + 0x5000);
  g_assert_cmpuint (
      flam_ruby_walk (&ruby, owners, &memory, BASE, FS_BASE, entries, 16),
      ==,
      0);
  put (fake, BASE + 0x5000 + 0x48, FS_BASE);
  g_assert_cmpuint (
      flam_ruby_walk (&ruby, owners, &memory, BASE, FS_BASE, entries, 16),
      ==,
      5);
}

static void
test_ruby_garbage (void)
{
  static const guint32 versions[] = { 0x0207, 0x0301, 0x0304 };
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  g_autofree FlamRubyOwners *owners = flam_ruby_owners_new ();
  FlamRuntimeMemory memory = memory_of (fake);

  for (guint i = 0; i < 2000; i++)
    {
      FlamRubyFile ruby = ruby_of (versions[i % 3]);
      FlamRuntimeEntry entries[64];
      gsize n;

      put_ruby (fake, &ruby.layout);
      if (i % 4 == 0)
        put_garbage (fake);
      for (guint j = 0; j < 12; j++)
        put (fake,
             BASE + ((guint64)g_test_rand_int_range (0, SIZE - 8) & ~7ull),
             g_test_rand_bit ()
                 ? BASE + (guint64)g_test_rand_int_range (0, SIZE)
                 : (guint64)(guint32)g_test_rand_int ());
      n = flam_ruby_walk (&ruby, owners, &memory, BASE, FS_BASE, entries, 64);
      g_assert_cmpuint (n, <=, 64);
      for (gsize j = 0; j < n; j++)
        {
          flam_runtime_name_clear (name);
          if (flam_ruby_name (&ruby, owners, &memory, BASE, &entries[j], name))
            assert_texts (name);
        }
    }
}

/* --- PHP ----------------------------------------------------------------- */

static void
put_php_string (Fake *fake, guint64 at, const char *text)
{
  put (fake, at + 16, strlen (text));
  put_text (fake, at + 24, text);
}

/* A::b() called by usort(), called by the program. */
static void
put_php (Fake *fake, const FlamPhpLayout *layout)
{
  guint64 data = BASE + 0x1000, function = BASE + 0x2000, ops = BASE + 0x3000;

  memset (fake->bytes, 0, sizeof fake->bytes);
  put (fake, BASE + 0x40, data);
  for (guint i = 0; i < 3; i++)
    {
      put (fake, data + 0x80 * i, ops + 32 * (i + 1));
      put (fake, data + 0x80 * i + 24, function + 0x100 * i);
      put_half (fake, data + 0x80 * i + 40, i == 1 ? 0 : 1 << 17);
      put (fake, data + 0x80 * i + 48, i < 2 ? data + 0x80 * (i + 1) : 0);
      fake->bytes[function + 0x100 * i - BASE] = i == 1 ? 1 : 2;
      if (i == 1)
        continue;
      put (fake, function + 0x100 * i + layout->file, BASE + 0x4000);
      put_half (fake, function + 0x100 * i + layout->file + 8u, 5 + i);
      put (fake, function + 0x100 * i + layout->opcodes, ops);
      put_half (fake, function + 0x100 * i + layout->n_opcodes, 4);
    }
  for (guint i = 0; i < 8; i++)
    put_half (fake, ops + 32 * i + 24, 10 + i);
  put (fake, function + 8, BASE + 0x4100);
  put (fake, function + 16, BASE + 0x4200);
  put (fake, function + 0x108, BASE + 0x4300);
  put (fake, BASE + 0x4208, BASE + 0x4400);
  put_php_string (fake, BASE + 0x4000, "/w/x.php");
  put_php_string (fake, BASE + 0x4100, "b");
  put_php_string (fake, BASE + 0x4300, "usort");
  put_php_string (fake, BASE + 0x4400, "A");
}

static void
test_php (void)
{
  static const guint32 versions[] = { 0x0704, 0x0800, 0x0801,
                                      0x0802, 0x0803, 0x0804 };
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeMemory memory = memory_of (fake);

  g_assert_null (flam_php_layout (0x0703));
  for (guint i = 0; i < G_N_ELEMENTS (versions); i++)
    {
      FlamPhpFile php = { *flam_php_layout (versions[i]),
                          0x40,
                          { 0x80, 0x90 } };
      FlamRuntimeRegs regs = regs_at (BASE);
      FlamRuntimeEntry entries[16];

      put_php (fake, &php.layout);
      g_assert_cmpuint (
          flam_php_walk (&php, &memory, BASE, &regs, entries, 16), ==, 5);
      g_assert_cmphex (entries[0].function, ==, BASE + 0x2000);
      g_assert_cmpuint (entries[0].at, ==, 11);
      g_assert_cmphex (entries[1].function, ==, 0);
      g_assert_cmphex (entries[2].function, ==, BASE + 0x2100);
      g_assert_cmpuint (entries[2].at, ==, 0);
      g_assert_cmpuint (entries[3].at, ==, 13);
      g_assert_cmphex (entries[4].function, ==, 0);
      flam_runtime_name_clear (name);
      g_assert_true (flam_php_name (&php, &memory, &entries[0], name));
      assert_names (name, "A", "b", "/w/x.php");
      g_assert_cmpuint (name->frames[0].first_line, ==, 5);
      flam_runtime_name_clear (name);
      g_assert_true (flam_php_name (&php, &memory, &entries[2], name));
      assert_names (name, "", "usort", "");
      flam_runtime_name_clear (name);
      g_assert_true (flam_php_name (&php, &memory, &entries[3], name));
      assert_names (name, "", "{main}", "/w/x.php");

      /* The loop itself runs: the instruction is in r15, if it is one of the
       * function. */
      regs.pc = BASE + 0x88;
      regs.general[FLAM_RUNTIME_R15] = BASE + 0x3000 + 32 * 3;
      flam_php_walk (&php, &memory, BASE, &regs, entries, 16);
      g_assert_cmpuint (entries[0].at, ==, 13);
      regs.general[FLAM_RUNTIME_R15] = BASE + 0x3000 + 32 * 4;
      flam_php_walk (&php, &memory, BASE, &regs, entries, 16);
      g_assert_cmpuint (entries[0].at, ==, 11);
      put (fake, BASE + 0x1000, BASE + 0x3000 + 32 * 4);
      flam_php_walk (&php, &memory, BASE, &regs, entries, 16);
      g_assert_cmpuint (entries[0].at, ==, 0);

      /* A chain that repeats itself. */
      put (fake, BASE + 0x1100 + 48, BASE + 0x1000);
      g_assert_cmpuint (
          flam_php_walk (&php, &memory, BASE, &regs, entries, 16), <=, 16);
    }
}

/* Compiled code runs in the frame of the loop. */
static void
test_php_compiled (void)
{
  FlamPhpFile php = { *flam_php_layout (0x0802), 0x40, { 0x80, 0x90 }, 0 };
  FlamRuntimeRegs regs = regs_at (BASE), caller;

  g_assert_true (flam_php_is_compiled ("/dev/zero (deleted)"));
  g_assert_false (flam_php_is_compiled (""));
  g_assert_false (flam_php_leave_compiled (&php, BASE, &regs, &caller));
  php.compiled = 0x88;
  g_assert_true (flam_php_leave_compiled (&php, BASE, &regs, &caller));
  g_assert_cmphex (caller.pc, ==, BASE + 0x88);
  g_assert_cmphex (caller.general[FLAM_RUNTIME_RSP], ==, BASE);
  g_assert_false (caller.leaf);
}

static void
test_php_garbage (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeMemory memory = memory_of (fake);
  FlamPhpFile php = { *flam_php_layout (0x0802), 0x40, { 0x80, 0x90 }, 0 };

  for (guint i = 0; i < 2000; i++)
    {
      FlamRuntimeRegs regs = regs_at (BASE);
      FlamRuntimeEntry entries[64];
      gsize n;

      put_garbage (fake);
      fake->reads = 0;
      n = flam_php_walk (&php, &memory, BASE, &regs, entries, 64);
      g_assert_cmpuint (n, <=, 64);
      g_assert_cmpuint (fake->reads, <, 1000);
      for (gsize j = 0; j < n; j++)
        {
          flam_runtime_name_clear (name);
          if (flam_php_name (&php, &memory, &entries[j], name))
            assert_texts (name);
        }
    }
}

/* --- Perl ---------------------------------------------------------------- */

static void
put_perl_text (Fake *fake, guint64 hek, const char *text)
{
  put_half (fake, hek + 4, (guint32)strlen (text));
  put_text (fake, hek + 8, text);
}

/* In the block of a sort: Pkg::sub, called by an eval of a string, called by
 * the program. */
static void
put_perl (Fake *fake, guint minor)
{
  guint32 v = 0x0500 | minor;
  guint64 interpreter = BASE + 0x800, size = v >= 0x0520 ? 0x68 : 0x60;
  guint64 code_at = v >= 0x0520 ? 0x48 : 0x40;
  guint64 type_at = v >= 0x0520 ? 0x2c : 0x28;
  guint64 first = v >= 0x0522 ? 0xd0 : 0xe0;
  guint64 sort = BASE + 0x1000, main_stack = BASE + 0x1100;
  guint64 contexts = BASE + 0x1200, statement = BASE + 0x2800;
  guint64 code = BASE + 0x3000, glob = BASE + 0x3200, package = BASE + 0x3400;

  memset (fake->bytes, 0, sizeof fake->bytes);
  put_half (fake, BASE + 0x40, 3); /* PL_thr_key */
  put (fake, FS_BASE + 0x310 + 16 * 3 + 8, interpreter);
  put (fake, interpreter + first, statement);
  put (fake, interpreter + first + 16, sort);
  put (fake, sort + 8, contexts + 0x800);
  put (fake, sort + 0x10, main_stack);
  put_half (fake, sort + 0x20, G_MAXUINT32); /* none */
  put_half (fake, sort + type_at, 3);
  put (fake, main_stack + 8, contexts);
  put_half (fake, main_stack + 0x20, 3);
  put_half (fake, main_stack + type_at, 1);
  /* A block, the eval, a block, the sub. */
  fake->bytes[contexts - BASE] = 2;
  fake->bytes[contexts + size - BASE] = 11 | 0x20;
  fake->bytes[contexts + 2 * size - BASE] = 3;
  fake->bytes[contexts + 3 * size - BASE] = 9;
  for (guint i = 0; i < 4; i++)
    {
      put (fake, contexts + i * size + 0x10, statement + 0x40 * (4 - i));
      put (fake, contexts + i * size + 0x30, 1);
    }
  put (fake, contexts + 3 * size + code_at, code);
  for (guint i = 0; i < 5; i++)
    {
      put_half (fake, statement + 0x40 * i + 0x24, 20 + i);
      put (fake,
           statement + 0x40 * i + 0x30,
           i == 1 ? BASE + 0x3a00 : BASE + 0x3a20);
    }
  put_text (fake, BASE + 0x3a00, "(eval 77)");
  put_text (fake, BASE + 0x3a20, "/p/q.pl");
  put (fake, code, code + 0x40);
  put_half (fake, code + 0xc, 13);
  put (fake, code + 0x40 + 0x38, glob);
  put (fake, glob, glob + 0x40);
  put_half (fake, glob + 0xc, 9 | 0x8000);
  put (fake, glob + 0x10, glob + 0x100);
  put (fake, glob + 0x100 + 0x38, glob);
  put (fake, glob + 0x40 + 0x20, BASE + 0x3b00);
  put (fake, glob + 0x40 + 0x28, package);
  put_perl_text (fake, BASE + 0x3b00, "sub");
  put (fake, package, package + 0x40);
  put_half (fake, package + 0xc, 12);
  put (fake, package + 0x10, package + 0x100);
  put (fake, package + 0x40 + 0x18, 7); /* the last of 8 buckets */
  put (fake,
       v >= 0x0524 ? package + 0x60 : package + 0x100 + 8 * 8,
       BASE + 0x3b40);
  put_perl_text (fake, BASE + 0x3b40, "Pkg");
}

static void
test_perl (void)
{
  static const guint minors[] = { 28, 30, 32, 34, 36, 38, 40, 42 };
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeMemory memory = memory_of (fake);

  for (guint i = 0; i < G_N_ELEMENTS (minors); i++)
    {
      FlamPerlFile perl = { .version = 0x0500 | minors[i], .key = 0x40 };
      FlamRuntimeEntry entries[16];

      put_perl (fake, minors[i]);
      g_assert_cmpuint (
          flam_perl_walk (&perl, &memory, BASE, FS_BASE, true, entries, 16),
          ==,
          5);
      g_assert_cmphex (entries[0].function, ==, 0);
      g_assert_cmphex (entries[1].function, ==, BASE + 0x3000);
      g_assert_cmphex (entries[1].at, ==, BASE + 0x2800);
      g_assert_cmphex (entries[2].at, ==, BASE + 0x2840);
      g_assert_cmphex (entries[3].at, ==, BASE + 0x2800 + 0xc0);
      g_assert_cmphex (entries[4].function, ==, 0);
      flam_runtime_name_clear (name);
      g_assert_true (flam_perl_name (&perl, &memory, &entries[1], name));
      assert_names (name, "Pkg", "sub", "/p/q.pl");
      g_assert_cmpuint (name->frames[0].line, ==, 20);
      flam_runtime_name_clear (name);
      g_assert_true (flam_perl_name (&perl, &memory, &entries[2], name));
      assert_names (name, "", "(eval)", "(eval)");
      g_assert_cmpuint (name->frames[0].line, ==, 21);
      flam_runtime_name_clear (name);
      g_assert_true (flam_perl_name (&perl, &memory, &entries[3], name));
      assert_names (name, "", "(main)", "/p/q.pl");
      g_assert_cmpuint (name->frames[0].line, ==, 23);

      /* Without a glob: the name itself, and the package. */
      put_half (fake, BASE + 0x3040 + 0x5c, 0x8000);
      put (fake, BASE + 0x3040 + 0x38, BASE + 0x3b00);
      put (fake, BASE + 0x3040 + 0x20, BASE + 0x3400);
      flam_perl_walk (&perl, &memory, BASE, FS_BASE, true, entries, 16);
      flam_runtime_name_clear (name);
      g_assert_true (flam_perl_name (&perl, &memory, &entries[1], name));
      assert_names (name, "Pkg", "sub", "/p/q.pl");

      /* In another thread, no run is the program's. */
      g_assert_cmpuint (
          flam_perl_walk (&perl, &memory, BASE, FS_BASE, false, entries, 16),
          ==,
          3);

      /* Another statement in its place; the sub called from C. */
      put_half (fake, BASE + 0x2800 + 0x24, 99);
      g_assert_false (flam_perl_name (&perl, &memory, &entries[1], name));
      put (fake, BASE + 0x1200 + 3 * (minors[i] >= 32 ? 0x68 : 0x60) + 0x30, 0);
      g_assert_cmpuint (
          flam_perl_walk (&perl, &memory, BASE, FS_BASE, true, entries, 16),
          ==,
          6);
      g_assert_cmphex (entries[2].function, ==, 0);

      /* Stacks that repeat themselves. */
      put (fake, BASE + 0x1010, BASE + 0x1000);
      g_assert_cmpuint (
          flam_perl_walk (&perl, &memory, BASE, FS_BASE, true, entries, 16),
          ==,
          16);
    }
}

static void
test_perl_garbage (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeMemory memory = memory_of (fake);

  for (guint i = 0; i < 2000; i++)
    {
      FlamPerlFile perl = { .version = i % 2 ? 0x0524 : 0x051c, .key = 0x40 };
      FlamRuntimeEntry entries[64];
      gsize n;

      put_perl (fake, i % 2 ? 36 : 28);
      if (i % 4 < 2)
        put_garbage (fake);
      put_half (fake, BASE + 0x40, 3);
      for (guint j = 0; j < 12; j++)
        put (fake,
             BASE + ((guint64)g_test_rand_int_range (0x1000, SIZE - 8) & ~7ull),
             BASE + (guint64)g_test_rand_int_range (0, SIZE));
      n = flam_perl_walk (&perl, &memory, BASE, FS_BASE, true, entries, 64);
      g_assert_cmpuint (n, <=, 64);
      for (gsize j = 0; j < n; j++)
        {
          flam_runtime_name_clear (name);
          if (flam_perl_name (&perl, &memory, &entries[j], name))
            assert_texts (name);
        }
    }
}

/* --- Lua ----------------------------------------------------------------- */

static void
put_lua_string (Fake *fake, guint32 version, guint64 at, const char *text)
{
  fake->bytes[at + 8 - BASE] = 4;
  if (version >= 0x0503)
    fake->bytes[at + 11 - BASE] = (guint8)strlen (text);
  else
    put (fake, at + 16, strlen (text));
  put_text (fake, at + 24, text);
}

static guint32
lua_code (const FlamLuaLayout *l, guint op, guint a, guint b, guint c)
{
  return l->op_bits == 7 ? op | a << 7 | b << 16 | c << 24
                         : op | a << 6 | c << 14 | b << 23;
}

static void
put_lua_call (Fake *fake,
              const FlamLuaLayout *l,
              guint64 at,
              guint64 function,
              guint64 previous,
              guint64 pc,
              gboolean lua,
              gboolean fresh)
{
  guint16 status = 0;

  put (fake, at + l->call_function, function);
  put (fake, at + l->call_pc, pc);
  if (l->call_previous == 0)
    return;
  put (fake, at + l->call_previous, previous);
  if (lua == (l->status_lua_set != 0))
    status |= l->status_lua;
  if (fresh == (l->status_fresh_set != 0))
    status |= l->status_fresh;
  memcpy (fake->bytes + (at + l->call_status - BASE),
          &status,
          l->version == 0x0502 ? 1 : 2);
}

/* f() called by a chunk: t.f(), where the chunk was called from C. */
static void
put_lua (Fake *fake, const FlamLuaLayout *l)
{
  guint64 state = BASE + 0x1000, calls = BASE + 0x1200, stack = BASE + 0x1800;
  guint64 base = l->call_previous == 0 ? calls : state + l->state_base;
  guint64 code = BASE + 0x3000;
  guint constant = l->op_bits == 7 ? 2 : 256 + 2;

  memset (fake->bytes, 0, sizeof fake->bytes);
  fake->bytes[0x1000 + 8] = 8;
  put (fake, state + l->state_global, state + 200);
  put (fake, state + l->state_call, calls + 2 * 80);
  put (fake, state + l->state_stack, stack);
  put (fake, state + l->state_last, stack + 0x400);
  if (l->call_previous == 0)
    {
      put (fake, state + l->state_call, calls + 2 * l->call_size);
      put (fake, state + l->state_base, calls);
      put (fake, state + l->state_pc, code + 4 * 3);
    }
  put_lua_call (fake, l, base, stack, 0, 0, FALSE, FALSE);
  put_lua_call (fake,
                l,
                calls + (l->call_previous ? 80u : l->call_size),
                stack + 16,
                base,
                code + 0x100 + 4 * 2,
                TRUE,
                TRUE);
  put_lua_call (fake,
                l,
                calls + 2 * (l->call_previous ? 80u : l->call_size),
                stack + 32,
                calls + 80,
                code + 4 * 3,
                TRUE,
                FALSE);
  for (guint i = 1; i < 3; i++)
    {
      guint64 closure = BASE + 0x2000 + 0x40 * i;
      guint64 proto = BASE + 0x2200 + 0x100 * i;

      put (fake, stack + 16 * i, closure);
      put_half (fake, stack + 16 * i + 8, 0x46);
      put (fake, closure + l->closure_proto, proto);
      put (fake, proto + l->proto_code, code + 0x100 * (2 - i));
      put_half (fake, proto + l->proto_n_code, 8);
      put_half (fake, proto + l->proto_n_lines, 8);
      put (fake, proto + l->proto_lines, BASE + 0x3400);
      put_half (fake, proto + l->proto_n_bases, 1);
      if (l->proto_bases != 0)
        put (fake, proto + l->proto_bases, BASE + 0x3500);
      put (fake, proto + l->proto_source, BASE + 0x3600);
      put_half (fake, proto + l->proto_line, i == 1 ? 0 : 4);
      put_half (fake, proto + l->proto_n_constants, 3);
      put (fake, proto + l->proto_constants, BASE + 0x3700);
    }
  /* GETFIELD R3 = R1["f"]; CALL R3 */
  put_half (fake, code + 0x100, lua_code (l, l->op_get_field, 3, 1, constant));
  put_half (fake, code + 0x104, lua_code (l, l->op_call, 3, 1, 1));
  put (fake, BASE + 0x3700 + 2 * 16, BASE + 0x3780);
  put_half (fake, BASE + 0x3700 + 2 * 16 + 8, 0x44);
  put_lua_string (fake, l->version, BASE + 0x3780, "f");
  put_lua_string (fake, l->version, BASE + 0x3600, "@a.lua");
  /* Lines 5, 5, 7, 300, 301, ... */
  if (l->proto_bases != 0)
    {
      static const gint8 deltas[8] = { 1, 0, 2, -128, 1, 1, 1, 1 };

      memcpy (fake->bytes + 0x3400, deltas, sizeof deltas);
      put_half (fake, BASE + 0x3500, 3);
      put_half (fake, BASE + 0x3504, 300);
    }
  else
    for (guint i = 0; i < 8; i++)
      put_half (fake, BASE + 0x3400 + 4 * i, i < 2 ? 5 : i == 2 ? 7 : 297 + i);
  put (fake, BASE + 0x4000 + 0x88, state);
}

static void
test_lua (void)
{
  static const struct
  {
    guint32 version;
    guint patch;
  } tests[] = {
    { 0x0501, 5 }, { 0x0502, 4 }, { 0x0503, 6 }, { 0x0504, 4 }, { 0x0504, 2 }
  };
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeMemory memory = memory_of (fake);

  g_assert_null (flam_lua_layout (0x0505, 0));
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      FlamLuaFile lua = { *flam_lua_layout (tests[i].version, tests[i].patch),
                          { 0x80, 0x90 } };
      FlamRuntimeRegs regs = regs_at (BASE + 0x4000);
      FlamRuntimeEntry entries[16] = { 0 };
      guint64 kept[FLAM_LUA_KEPT] = { 0 };

      put_lua (fake, &lua.layout);
      g_assert_cmpuint (
          flam_lua_walk (&lua, &memory, BASE, &regs, 1, kept, entries, 16),
          ==,
          3);
      g_assert_cmphex (entries[0].function, ==, BASE + 0x2400);
      g_assert_cmpuint (entries[0].at, ==, 2);
      g_assert_cmphex (entries[1].function, ==, BASE + 0x2300);
      g_assert_cmpuint (entries[1].at, ==, 1);
      g_assert_cmphex (entries[2].function, ==, 0);
      flam_runtime_name_clear (name);
      g_assert_true (flam_lua_name (&lua, &memory, &entries[0], name));
      assert_names (name, "", "f", "a.lua");
      g_assert_cmpuint (name->frames[0].first_line, ==, 4);
      for (guint at = 0; at < 8; at++)
        g_assert_cmpuint (
            flam_runtime_lines_find (0, name->lines, name->n_lines, at, 0),
            ==,
            at < 2    ? 5
            : at == 2 ? 7
                      : 297 + at);
      flam_runtime_name_clear (name);
      g_assert_true (flam_lua_name (&lua, &memory, &entries[1], name));
      assert_names (name, "", "main chunk", "a.lua");
      /* Its caller is another function by now, or C. */
      for (guint j = 0; j < 2; j++)
        {
          FlamRuntimeEntry called[] = { entries[0], entries[1] };

          called[1].cookie += j == 0;
          called[1].function |= j;
          flam_runtime_name_clear (name);
          g_assert_true (flam_lua_name (&lua, &memory, called, name));
          assert_names (name, "", "function <a.lua:4>", "a.lua");
        }
      /* LOADK R2 = "f"; GETTABLE R3 = R1[R2]; CALL R3 */
      put_half (fake,
                BASE + 0x30fc,
                lua_code (&lua.layout, lua.layout.op_constant, 2, 0, 0) |
                    2u << (lua.layout.op_bits + 8));
      put_half (fake,
                BASE + 0x3100,
                lua_code (&lua.layout, lua.layout.op_get_table, 3, 1, 2));
      put (fake, BASE + 0x2300 + lua.layout.proto_code, BASE + 0x30fc);
      flam_lua_walk (&lua, &memory, BASE, &regs, 1, kept, entries, 16);
      g_assert_cmpuint (entries[1].at, ==, 2);
      flam_runtime_name_clear (name);
      g_assert_true (flam_lua_name (&lua, &memory, &entries[0], name));
      assert_names (name, "", "f", "a.lua");

      /* 5.2 marks a call from Lua as such a moment after it is made. */
      if (lua.layout.version == 0x0502)
        {
          fake->bytes[0x1200 + 2 * 80 + lua.layout.call_status] = 1;
          g_assert_cmpuint (
              flam_lua_walk (&lua, &memory, BASE, &regs, 1, kept, entries, 16),
              ==,
              3);
          g_assert_cmphex (entries[1].function, ==, BASE + 0x2300);
        }

      /* The loop itself runs: one register points into the function's code. */
      regs.pc = BASE + 0x88;
      regs.general[FLAM_RUNTIME_RBX] = BASE + 0x3000 + 4 * 6;
      flam_lua_walk (&lua, &memory, BASE, &regs, 1, kept, entries, 16);
      g_assert_cmpuint (entries[0].at, ==, 5);
      regs.general[FLAM_RUNTIME_R12] = BASE + 0x3000 + 4 * 5;
      flam_lua_walk (&lua, &memory, BASE, &regs, 1, kept, entries, 16);
      g_assert_cmpuint (entries[0].at, ==, 2);

      /* No lua_State: it is not searched for again for a while. */
      put (fake, BASE + 0x4000 + 0x88, 0);
      g_assert_cmpuint (
          flam_lua_walk (&lua, &memory, BASE, &regs, 1, kept, entries, 16),
          ==,
          0);
      fake->reads = 0;
      g_assert_cmpuint (
          flam_lua_walk (&lua, &memory, BASE, &regs, 1, kept, entries, 16),
          ==,
          0);
      g_assert_cmpuint (fake->reads, ==, 0);
    }
}

static void
test_lua_garbage (void)
{
  static const guint32 versions[] = { 0x0501, 0x0502, 0x0503, 0x0504 };
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeMemory memory = memory_of (fake);

  for (guint i = 0; i < 2000; i++)
    {
      FlamLuaFile lua = { *flam_lua_layout (versions[i % 4], 4),
                          { 0x80, 0x90 } };
      FlamRuntimeRegs regs = regs_at (BASE + 0x4000);
      FlamRuntimeEntry entries[65] = { 0 };
      guint64 kept[FLAM_LUA_KEPT] = { 0 };
      gsize n;

      put_lua (fake, &lua.layout);
      if (i % 8 < 4)
        put_garbage (fake);
      for (guint j = 0; j < 12; j++)
        put (fake,
             BASE + ((guint64)g_test_rand_int_range (0, SIZE - 8) & ~7ull),
             BASE + ((guint64)g_test_rand_int_range (0, SIZE) & ~7ull));
      put (fake, BASE + 0x4000 + 0x88, BASE + 0x1000);
      n = flam_lua_walk (&lua, &memory, BASE, &regs, 1, kept, entries, 64);
      g_assert_cmpuint (n, <=, 64);
      for (gsize j = 0; j < n; j++)
        {
          flam_runtime_name_clear (name);
          if (flam_lua_name (&lua, &memory, &entries[j], name))
            assert_texts (name);
        }
    }
}

/* --- lines --------------------------------------------------------------- */

static void
test_lines (void)
{
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  static const guint32 lines[] = { 0, 0, 3, 3, 3, 9, 9, 2 };

  for (guint i = 2; i < G_N_ELEMENTS (lines); i++)
    g_assert_true (flam_runtime_lines_add (name, i, lines[i]));
  g_assert_cmpuint (name->n_lines, ==, 3 * 8);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    g_assert_cmpuint (
        flam_runtime_lines_find (0, name->lines, name->n_lines, i, 0),
        ==,
        lines[i]);
  g_assert_cmpuint (
      flam_runtime_lines_find (0, name->lines, name->n_lines, G_MAXUINT64, 0),
      ==,
      2);
  for (guint i = 0; i < FLAM_RUNTIME_LINES_MAX / 8 - 3; i++)
    g_assert_true (flam_runtime_lines_add (name, 10 + i, 10 + i));
  g_assert_false (flam_runtime_lines_add (name, G_MAXUINT32, 1));
}

/* --- this process -------------------------------------------------------- */

static bool
read_self (void *data, uint64_t address, void *to, size_t size)
{
  struct iovec local = { to, size };
  struct iovec remote = { GSIZE_TO_POINTER (address), size };

  (void)data;
  return process_vm_readv (getpid (), &local, 1, &remote, 1, 0) ==
         (ssize_t)size;
}

typedef struct
{
  const char *name;
  guint64 base;
  char path[512];
} Loaded;

static int
find_loaded (struct dl_phdr_info *info, size_t size, void *data)
{
  Loaded *loaded = data;

  (void)size;
  if (loaded->name[0] == '\0' ? info->dlpi_name[0] != '\0'
                              : strstr (info->dlpi_name, loaded->name) == NULL)
    return 0;
  loaded->base = info->dlpi_addr;
  g_strlcpy (loaded->path,
             info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe",
             sizeof loaded->path);
  return 1;
}

static __thread long own_variable = 11;

static void
test_thread_variables (void)
{
  const struct
  {
    const char *file;
    const char *variable;
    const char *getter;
    const void *address;
    FlamThreadVariableKind kind;
  } tests[] = {
    { "", "own_variable", NULL, &own_variable, FLAM_THREAD_VARIABLE_FIXED },
    { "libc.so", "errno", NULL, &errno, FLAM_THREAD_VARIABLE_OFFSET },
    { "libthread-variable",
      "thread_exported",
      NULL,
      &thread_exported,
      FLAM_THREAD_VARIABLE_MODULE },
    { "libthread-variable",
      "no_such_variable",
      "thread_hidden",
      thread_hidden_address (),
      FLAM_THREAD_VARIABLE_MODULE },
  };
  FlamRuntimeMemory memory = { read_self, NULL };
  unsigned long fs_base;

  g_assert_cmpint (syscall (SYS_arch_prctl, ARCH_GET_FS, &fs_base), ==, 0);
  g_assert_cmpint (thread_hidden (), ==, 7);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      Loaded loaded = { .name = tests[i].file };
      g_autoptr (FlamElf) elf = NULL;
      FlamThreadVariable variable;
      uint64_t address;

      g_assert_cmpint (dl_iterate_phdr (find_loaded, &loaded), ==, 1);
      elf = flam_elf_open (loaded.path, NULL);
      g_assert_nonnull (elf);
      g_assert_true (flam_thread_variable_find (
          elf, tests[i].variable, tests[i].getter, &variable));
      g_assert_cmpint (variable.kind, ==, tests[i].kind);
      g_assert_true (flam_thread_variable_address (
          &variable, &memory, loaded.base, fs_base, &address));
      g_assert_cmphex (address, ==, GPOINTER_TO_SIZE (tests[i].address));
      g_assert_false (flam_thread_variable_find (
          elf, "no_such_variable", "no_such_function", &variable));
    }
}

static void
test_thread_values (void)
{
  FlamRuntimeMemory memory = { read_self, NULL };
  pthread_key_t keys[40];
  unsigned long fs_base;

  g_assert_cmpint (syscall (SYS_arch_prctl, ARCH_GET_FS, &fs_base), ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      uint64_t value;

      g_assert_cmpint (pthread_key_create (&keys[i], NULL), ==, 0);
      pthread_setspecific (keys[i], GSIZE_TO_POINTER (i + 1000));
      g_assert_true (flam_thread_value (&memory, fs_base, keys[i], &value));
      g_assert_cmpuint (value, ==, i + 1000);
    }
  g_assert_cmpuint (keys[39], >, 32);
  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    pthread_key_delete (keys[i]);
}

static volatile guint sink;

__attribute__ ((noinline)) static void
small_callee (void)
{
  sink++;
}

__attribute__ ((noinline)) static void
large_callee (void)
{
  for (guint i = 0; i < 10; i++)
    sink += i * sink + sink / (i + 1) + (sink ^ i) * 3 + sink % (i + 7) +
            (sink << i) + (sink >> i) * (sink + 5) + sink * sink;
}

__attribute__ ((noinline)) static void
middle (void)
{
  large_callee ();
  sink++;
}

__attribute__ ((noinline)) static void
outer (void)
{
  small_callee ();
  middle ();
  sink++;
}

#ifdef __x86_64__
/* As an interpreter's loop has them; they are not reached. */
__attribute__ ((noinline)) static void
computed_jumps (void)
{
  if (sink == G_MAXUINT)
    __asm__ volatile(".rept 20\n"
                     "jmp *%rax\n"
                     "jmp *%r9\n"
                     "jmp *8(%rbx,%rcx,8)\n"
                     "notrack jmp *(%r13)\n"
                     ".endr");
}

/* As many, to fixed slots: those to other libraries. */
__attribute__ ((noinline)) static void
slot_jumps (void)
{
  if (sink == G_MAXUINT)
    __asm__ volatile(".rept 200\n"
                     "jmp *sink(%rip)\n"
                     ".endr");
}

__attribute__ ((noinline)) static void
runs_loop (void)
{
  computed_jumps ();
  sink++;
  computed_jumps ();
  sink++;
}

__attribute__ ((noinline)) static void
runs_loop_once (void)
{
  slot_jumps ();
  computed_jumps ();
  sink++;
}
#endif

static void
test_dispatcher (void)
{
#ifdef __x86_64__
  Loaded loaded = { .name = "" };
  g_autoptr (FlamElf) elf = NULL;
  g_autoptr (FlamCodeRanges) ranges = NULL;
  FlamCodeRange range;
  guint64 at;

  runs_loop ();
  runs_loop_once ();
  dl_iterate_phdr (find_loaded, &loaded);
  elf = flam_elf_open (loaded.path, NULL);
  g_assert_nonnull (elf);
  ranges = flam_code_ranges_new (elf);
  at = GPOINTER_TO_SIZE (computed_jumps) - loaded.base;
  g_assert_true (flam_code_ranges_dispatcher (ranges, &range));
  g_assert_cmphex (range.start, ==, at);
  g_assert_true (flam_code_ranges_caller (ranges, at, &range));
  g_assert_cmphex (range.start, ==, GPOINTER_TO_SIZE (runs_loop) - loaded.base);
  /* It is called once. */
  at = GPOINTER_TO_SIZE (slot_jumps) - loaded.base;
  g_assert_false (flam_code_ranges_caller (ranges, at, &range));
#endif
}

static void
test_code_ranges (void)
{
  Loaded loaded = { .name = "" };
  g_autoptr (FlamElf) elf = NULL;
  g_autoptr (FlamCodeRanges) ranges = NULL;
  FlamCodeRange range;
  guint64 at;

  outer ();
  dl_iterate_phdr (find_loaded, &loaded);
  elf = flam_elf_open (loaded.path, NULL);
  g_assert_nonnull (elf);
  ranges = flam_code_ranges_new (elf);
  at = GPOINTER_TO_SIZE (large_callee) - loaded.base;
  g_assert_true (flam_code_ranges_find (ranges, at + 3, &range));
  g_assert_cmphex (range.start, ==, at);
  g_assert_cmpuint (range.end - range.start, >, 30);
  g_assert_false (flam_code_ranges_find (ranges, 1, &range));
  g_assert_true (flam_code_ranges_largest_callee (
      ranges, GPOINTER_TO_SIZE (outer) - loaded.base, 2, &range));
  g_assert_cmphex (range.start, ==, at);
  g_assert_true (flam_code_ranges_largest_callee (
      ranges, GPOINTER_TO_SIZE (outer) - loaded.base, 1, &range));
  g_assert_cmphex (range.start, !=, at);
  g_assert_false (flam_code_ranges_largest_callee (ranges, 1, 2, &range));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/interpreters/ruby", test_ruby);
  g_test_add_func ("/interpreters/ruby/index", test_ruby_index);
  g_test_add_func ("/interpreters/ruby/global", test_ruby_global);
  g_test_add_func ("/interpreters/ruby/garbage", test_ruby_garbage);
  g_test_add_func ("/interpreters/php", test_php);
  g_test_add_func ("/interpreters/php/compiled", test_php_compiled);
  g_test_add_func ("/interpreters/php/garbage", test_php_garbage);
  g_test_add_func ("/interpreters/perl", test_perl);
  g_test_add_func ("/interpreters/perl/garbage", test_perl_garbage);
  g_test_add_func ("/interpreters/lua", test_lua);
  g_test_add_func ("/interpreters/lua/garbage", test_lua_garbage);
  g_test_add_func ("/interpreters/lines", test_lines);
  g_test_add_func ("/interpreters/thread-variables", test_thread_variables);
  g_test_add_func ("/interpreters/thread-values", test_thread_values);
  g_test_add_func ("/interpreters/code-ranges", test_code_ranges);
  g_test_add_func ("/interpreters/dispatcher", test_dispatcher);
  return g_test_run ();
}
