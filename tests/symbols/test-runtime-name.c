/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The names that readers of runtimes make: encodings, limits, memory that ends
 * or is not readable. */

#include "flam-runtime-name.h"

#include <string.h>

#define BASE 0x1000u

typedef struct
{
  guint8 bytes[8192];
  gsize size;
} Fake;

static bool
read_fake (void *data, uint64_t address, void *to, size_t size)
{
  const Fake *fake = data;

  if (address < BASE || size > fake->size || address - BASE > fake->size - size)
    return false;
  memcpy (to, fake->bytes + (address - BASE), size);
  return true;
}

static void
test_encodings (void)
{
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  const guint16 wide[] = { 'n', 0xe9, 0xd83d, 0xde00, 0xdc00, 0xd800, 'x' };

  g_assert_cmpstr (flam_runtime_name_utf8 (name, "caf\xc3\xa9", 5), ==, "café");
  g_assert_cmpstr (flam_runtime_name_utf8 (name, "a\xff\xc3(\n", 5),
                   ==,
                   "a\uFFFD\uFFFD(\uFFFD");
  g_assert_cmpstr (flam_runtime_name_utf8 (name, "ab\0cd", 5), ==, "ab");
  /* A character that the end cuts off. */
  g_assert_cmpstr (
      flam_runtime_name_utf8 (name, "x\xe2\x82", 3), ==, "x\uFFFD\uFFFD");
  g_assert_cmpstr (flam_runtime_name_latin1 (name, "caf\xe9", 4), ==, "café");
  g_assert_cmpstr (flam_runtime_name_utf16 (name, wide, G_N_ELEMENTS (wide)),
                   ==,
                   "né😀\uFFFD\uFFFDx");
  g_assert_cmpstr (flam_runtime_name_printf (name, "%s:%d", "main.lua", 7),
                   ==,
                   "main.lua:7");
  g_assert_cmpstr (flam_runtime_name_utf8 (name, "", 0), ==, "");
}

static void
test_limits (void)
{
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  g_autofree char *large = g_strnfill (2 * FLAM_RUNTIME_TEXT_MAX, 'a');
  gsize total = 0;

  for (guint i = 0; i < 100; i++)
    {
      const char *text = flam_runtime_name_utf8 (name, large, strlen (large));

      g_assert_cmpuint (strlen (text), <=, FLAM_RUNTIME_TEXT_MAX);
      total += strlen (text) + 1;
    }
  /* 31 texts of 4097 bytes, and the rest of 128 KiB; then none. */
  g_assert_cmpuint (total, <=, FLAM_RUNTIME_TEXTS_MAX + 100);
  g_assert_cmpuint (total, >, FLAM_RUNTIME_TEXTS_MAX - 8);
  flam_runtime_name_clear (name);
  for (guint i = 0; i < 70; i++)
    flam_runtime_name_add (name)->line = i;
  g_assert_cmpuint (name->n, ==, 64);
  g_assert_cmpuint (name->frames[62].line, ==, 62);
  g_assert_cmpuint (name->frames[63].line, ==, 69);
  g_assert_cmpstr (name->frames[63].type, ==, "");
}

static void
test_memory (void)
{
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeMemory memory = { read_fake, fake };

  fake->size = 100;
  memcpy (fake->bytes + 90, "last page", 10);
  g_assert_cmpstr (
      flam_runtime_name_read (name, &memory, BASE + 90, 4), ==, "last");
  g_assert_null (flam_runtime_name_read (name, &memory, BASE + 90, 11));
  g_assert_null (flam_runtime_name_read (name, &memory, 0, 1));
  /* A string is not read beyond the 64 bytes in which it ends. */
  fake->size = 128;
  g_assert_cmpstr (flam_runtime_name_read_string (name, &memory, BASE + 90),
                   ==,
                   "last page");
  fake->size = sizeof fake->bytes;
  memset (fake->bytes, 'b', sizeof fake->bytes);
  g_assert_cmpuint (
      strlen (flam_runtime_name_read_string (name, &memory, BASE + 3)),
      ==,
      FLAM_RUNTIME_TEXT_MAX);
  fake->size = 200;
  g_assert_null (flam_runtime_name_read_string (name, &memory, BASE + 3));
  /* A length that is a lie. */
  fake->size = sizeof fake->bytes;
  g_assert_cmpuint (
      strlen (flam_runtime_name_read (name, &memory, BASE, G_MAXUINT64)),
      ==,
      FLAM_RUNTIME_TEXT_MAX);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runtime-name/encodings", test_encodings);
  g_test_add_func ("/runtime-name/limits", test_limits);
  g_test_add_func ("/runtime-name/memory", test_memory);
  return g_test_run ();
}
