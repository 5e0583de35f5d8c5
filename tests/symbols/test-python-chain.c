/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The frames of CPython 3.8 in memory made by hand, and in memory that lies.
 * The offsets are those that gdb has of 3.8.18. */

#include "flam-python-chain.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define BASE 0x10000ull
#define SIZE 0x8000u

#include "fake-memory.h"

#define KEY (BASE + 0x100)
#define THREAD (BASE + 0x1000) /* struct pthread */
#define STATE (BASE + 0x2000)
#define FRAMES (BASE + 0x3000)
#define CODES (BASE + 0x4000)
#define TEXTS (BASE + 0x5000)
#define LINES (BASE + 0x6000)

static const FlamPythonChain chain = { .version = 0x03080000,
                                       .key = 0x100,
                                       .has_flag = TRUE,
                                       .thread_id = 176,
                                       .frame_last = 104,
                                       .first_line = 40,
                                       .file = 104,
                                       .name = 112,
                                       .lines = 120 };

static void
put_text (Fake *fake, guint64 address, const char *text)
{
  put (fake, address + 16, strlen (text));
  put (fake, address + 32, 1 << 2 | 32 | 64);
  memcpy (fake->bytes + (address - BASE) + 48, text, strlen (text));
}

/* key() called by main(), each in a frame of its own. */
static void
fill (Fake *fake, guint key)
{
  static const char *const names[] = { "key", "main" };
  static const guint8 lines[] = { 4, 1, 6, 2 };
  guint64 slot = THREAD + 0x310 + 16 * key + 8;

  if (key >= 32)
    {
      put (fake, THREAD + 0x510 + 8 * (key / 32), THREAD + 0x800);
      slot = THREAD + 0x800 + 16 * (key % 32) + 8;
    }
  put (fake, KEY, 1 | (guint64)key << 32);
  put (fake, slot, STATE);
  put (fake, STATE + 176, THREAD);
  put (fake, STATE + 24, FRAMES);
  put_text (fake, TEXTS, "/x/mix.py");
  put (fake, LINES + 16, sizeof lines);
  memcpy (fake->bytes + (LINES - BASE) + 32, lines, sizeof lines);
  for (guint i = 0; i < 2; i++)
    {
      guint64 frame = FRAMES + 0x100 * i, code = CODES + 0x100 * i;

      put (fake, frame + 24, i == 0 ? frame + 0x100 : 0);
      put (fake, frame + 32, code);
      put (fake, frame + 104, 6 * i + 2);
      put (fake, code, 1);
      put (fake, code + 40, 10 + i);
      put (fake, code + 104, TEXTS);
      put (fake, code + 112, TEXTS + 0x100 * (i + 1));
      put (fake, code + 120, LINES);
      put_text (fake, TEXTS + 0x100 * (i + 1), names[i]);
    }
}

static void
test_chain (void)
{
  static const guint keys[] = { 0, 31, 40 };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autofree Fake *fake = g_new0 (Fake, 1);
      g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
      FlamRuntimeMemory memory = { read_fake, fake };
      FlamRuntimeEntry entries[8];

      fill (fake, keys[i]);
      g_assert_cmpuint (
          flam_python_chain_walk (&chain, &memory, BASE, THREAD, entries, 8),
          ==,
          4);
      g_assert_cmphex (entries[0].function, ==, CODES);
      g_assert_cmpint ((gint64)entries[0].at, ==, 2);
      g_assert_cmphex (entries[1].function, ==, 0);
      g_assert_cmphex (entries[1].at, ==, 0);
      g_assert_cmphex (entries[2].function, ==, CODES + 0x100);
      g_assert_cmpint ((gint64)entries[2].at, ==, 8);
      g_assert_true (flam_python_chain_name (
          &chain, fake->bytes + (CODES - BASE) + 40, &memory, name));
      g_assert_cmpstr (name->frames[0].function, ==, "key");
      g_assert_cmpstr (name->frames[0].file, ==, "/x/mix.py");
      g_assert_cmpuint (name->frames[0].first_line, ==, 10);
      g_assert_cmpuint (name->n_lines, ==, 4);
      /* A key that is not valid, another thread, a limit. */
      g_assert_cmpuint (
          flam_python_chain_walk (&chain, &memory, BASE, THREAD, entries, 3),
          ==,
          2);
      g_assert_cmpuint (flam_python_chain_walk (
                            &chain, &memory, BASE, THREAD + 16, entries, 8),
                        ==,
                        0);
      put (fake, KEY, (guint64)keys[i] << 32);
      g_assert_cmpuint (
          flam_python_chain_walk (&chain, &memory, BASE, THREAD, entries, 8),
          ==,
          0);
    }
}

/* A chain that is a loop ends. */
static void
test_loop (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeMemory memory = { read_fake, fake };
  g_autofree FlamRuntimeEntry *entries = g_new (FlamRuntimeEntry, 1000);

  fill (fake, 3);
  put (fake, FRAMES + 0x100 + 24, FRAMES);
  g_assert_cmpuint (
      flam_python_chain_walk (&chain, &memory, BASE, THREAD, entries, 1000),
      <,
      100);
}

static void
test_lies (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeMemory memory = { read_fake, fake };
  FlamRuntimeEntry entries[64];

  for (guint round = 0; round < 2000; round++)
    {
      gsize n;

      memset (fake, 0, sizeof *fake);
      fill (fake, (guint)g_test_rand_int_range (0, 60));
      for (guint i = 0; i < 40; i++)
        put (fake,
             BASE + (guint64)g_test_rand_int_range (0, SIZE - 8),
             BASE + (guint64)g_test_rand_int_range (0, SIZE));
      n = flam_python_chain_walk (&chain, &memory, BASE, THREAD, entries, 64);
      g_assert_cmpuint (n, <=, 64);
      g_assert_cmpuint (fake->reads, <, 100);
      for (guint i = 0; i < 2; i++)
        {
          flam_runtime_name_clear (name);
          if (!flam_python_chain_name (&chain,
                                       fake->bytes +
                                           (CODES + 0x100 * i - BASE) + 40,
                                       &memory,
                                       name))
            continue;
          g_assert_true (g_utf8_validate (name->frames[0].function, -1, NULL));
          g_assert_cmpuint (name->n_lines, <=, SIZE);
        }
    }
}

/* The key as PyGILState_GetThisThreadState() has it in these builds, by gdb's
 * disassembly. */
static void
test_files (void)
{
  static const struct
  {
    const char *file;
    const char *version;
    guint64 key;
  } files[] = {
    { "3.6.15/lib/libpython3.6m.so.1.0", "3.6", 0x2acf00 },
    { "3.7.16/lib/libpython3.7m.so.1.0", "3.7", 0x32fe20 + 0x5e0 },
    { "3.8.18/lib/libpython3.8.so.1.0", "3.8", 0x372e00 + 0x570 },
    { "3.9.18/lib/libpython3.9.so.1.0", "3.9", 0x3acf60 + 0x248 },
    { "3.10.13/lib/libpython3.10.so.1.0", "3.10", 0x3a8660 + 0x248 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (
          g_get_home_dir (), ".pyenv/versions", files[i].file, NULL);
      g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
      FlamRuntimeFile file = { 0 };
      const FlamPythonChain *found;
      int fd = g_open (path, O_RDONLY);

      if (elf == NULL || fd < 0)
        continue;
      g_assert_true (flam_python_chain_find (elf, fd, path, &file));
      g_assert_cmpstr (file.version, ==, files[i].version);
      g_assert_cmpstr (file.why, ==, NULL);
      g_assert_cmpuint (file.n_evaluators, >=, 1);
      found = file.facts;
      if (found->key != files[i].key)
        g_test_message ("%s: another build", path);
      flam_runtime_file_clear (&file);
      g_assert_false (flam_python_chain_find (
          elf, fd, "/usr/lib/libpython3.11.so.1.0", &file));
      close (fd);
    }
  g_assert_true (flam_python_chain_is_named ("/usr/bin/python3.10"));
  g_assert_true (flam_python_chain_is_named ("/x/libpython3.6m.so.1.0"));
  g_assert_false (flam_python_chain_is_named ("/usr/bin/python3"));
  g_assert_false (flam_python_chain_is_named ("/usr/bin/python3.100"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/python-chain/chain", test_chain);
  g_test_add_func ("/python-chain/loop", test_loop);
  g_test_add_func ("/python-chain/lies", test_lies);
  g_test_add_func ("/python-chain/files", test_files);
  return g_test_run ();
}
