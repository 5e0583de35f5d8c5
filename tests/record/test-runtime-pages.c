/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The memory of a thread, by pages: this process's own. */

#include "flam-runtime-pages.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define N_PAGES 6

typedef struct
{
  guint8 *memory; /* N_PAGES, page i filled with 'a' + i */
  FlamRuntimePages *pages;
  FlamRuntimeHints hints;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->memory = mmap (NULL,
                          N_PAGES * PAGE,
                          PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS,
                          -1,
                          0);
  g_assert_true (fixture->memory != MAP_FAILED);
  for (guint i = 0; i < N_PAGES; i++)
    memset (fixture->memory + (gsize)i * PAGE, 'a' + (int)i, PAGE);
  fixture->pages = flam_runtime_pages_new ();
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  flam_runtime_pages_free (fixture->pages);
  munmap (fixture->memory, N_PAGES * PAGE);
}

static guint64
address_of (const Fixture *fixture, guint page, gsize offset)
{
  return GPOINTER_TO_SIZE (fixture->memory) + (guint64)page * PAGE + offset;
}

static void
begin (Fixture *fixture, guint64 sp, gsize n_stack)
{
  flam_runtime_pages_begin (
      fixture->pages, getpid (), &fixture->hints, sp, n_stack);
}

static void
assert_read (Fixture *fixture,
             guint page,
             gsize offset,
             gsize size,
             const char *expected)
{
  char text[32] = "";

  g_assert_true (flam_runtime_pages_read (
      fixture->pages, address_of (fixture, page, offset), text, size));
  g_assert_cmpstr (text, ==, expected);
}

/* "page:from-to" of each hint. */
static void
assert_hints (Fixture *fixture, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  flam_runtime_pages_end (fixture->pages, &fixture->hints);
  for (guint i = 0; i < fixture->hints.n; i++)
    g_string_append_printf (
        text,
        "%u:%u-%u ",
        (guint)((fixture->hints.hints[i].page - address_of (fixture, 0, 0)) /
                PAGE),
        fixture->hints.hints[i].part.from,
        fixture->hints.hints[i].part.to);
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_parts (Fixture *fixture, gconstpointer data)
{
  begin (fixture, 0, 0);
  assert_read (fixture, 0, 100, 3, "aaa");
  assert_read (fixture, 2, 4094, 4, "ccdd");
  assert_read (fixture, 0, 200, 2, "aa");
  assert_hints (fixture, "0:100-202 2:4094-4096 3:0-2 ");
  /* Data that is read is current; also outside the part. */
  memcpy (fixture->memory + 100, "xyz", 3);
  memcpy (fixture->memory + 300, "uvw", 3);
  begin (fixture, 0, 0);
  assert_read (fixture, 0, 100, 3, "xyz");
  assert_read (fixture, 0, 300, 3, "uvw");
  assert_read (fixture, 0, 98, 4, "aaxy");
  assert_read (fixture, 0, 302, 2, "wa");
  assert_hints (fixture, "0:98-304 2:4094-4096 3:0-2 ");
  /* Only as far as the last two walks needed it. */
  for (guint i = 0; i < 2; i++)
    {
      begin (fixture, 0, 0);
      assert_read (fixture, 0, 100, 3, "xyz");
      assert_hints (fixture,
                    i == 0 ? "0:98-304 2:4094-4096 3:0-2 "
                           : "0:100-103 2:4094-4096 3:0-2 ");
    }
}

static void
test_unused (Fixture *fixture, gconstpointer data)
{
  begin (fixture, 0, 0);
  assert_read (fixture, 0, 0, 1, "a");
  assert_read (fixture, 1, 0, 1, "b");
  for (guint i = 0; i < 20; i++)
    {
      assert_hints (fixture, i <= 8 ? "0:0-1 1:0-1 " : "0:0-1 ");
      begin (fixture, 0, 0);
      assert_read (fixture, 0, 0, 1, "a");
    }
  /* Nothing is read, and nothing is forgotten. */
  begin (fixture, 0, 0);
  assert_hints (fixture, "0:0-1 ");
}

/* A page that is no longer mapped, and the pages after it. */
static void
test_unmapped (Fixture *fixture, gconstpointer data)
{
  char byte;

  begin (fixture, 0, 0);
  for (guint i = 0; i < 4; i++)
    assert_read (fixture, i, 8, 1, (char[]){ (char)('a' + i), '\0' });
  assert_hints (fixture, "0:8-9 1:8-9 2:8-9 3:8-9 ");
  for (guint gone = 0; gone < 2; gone++)
    {
      munmap (fixture->memory + (gsize)gone * PAGE, PAGE);
      begin (fixture, 0, 0);
      for (guint i = 0; i < 4; i++)
        if (i > gone)
          assert_read (fixture, i, 8, 1, (char[]){ (char)('a' + i), '\0' });
        else
          g_assert_false (flam_runtime_pages_read (
              fixture->pages, address_of (fixture, i, 8), &byte, 1));
      assert_hints (fixture, gone == 0 ? "1:8-9 2:8-9 3:8-9 " : "2:8-9 3:8-9 ");
    }
}

static void
test_stack (Fixture *fixture, gconstpointer data)
{
  gsize size;
  const char *stack;

  begin (fixture, address_of (fixture, 4, 4000), 100);
  g_assert_null (flam_runtime_pages_stack (fixture->pages, &size));
  assert_read (fixture, 0, 0, 1, "a");
  stack = flam_runtime_pages_stack (fixture->pages, &size);
  g_assert_cmpmem (stack, size, fixture->memory + 4 * (gsize)PAGE + 4000, 100);
  /* From the stack, and across its end. */
  assert_read (fixture, 4, 4094, 4, "eeff");
  assert_read (fixture, 5, 2, 4, "ffff");
  assert_hints (fixture, "0:0-1 5:4-6 ");
  /* It ends before the requested bytes: the hints are read all the same. */
  munmap (fixture->memory + 5 * (gsize)PAGE, PAGE);
  begin (fixture, address_of (fixture, 4, 4000), 200);
  assert_read (fixture, 0, 0, 1, "a");
  assert_read (fixture, 4, 4095, 1, "e");
  stack = flam_runtime_pages_stack (fixture->pages, &size);
  g_assert_cmpmem (stack, size, fixture->memory + 4 * (gsize)PAGE + 4000, 96);
  assert_hints (fixture, "0:0-1 ");
  /* A larger one is not copied. */
  begin (fixture, address_of (fixture, 0, 0), 1 << 20);
  assert_read (fixture, 0, 0, 1, "a");
  g_assert_null (flam_runtime_pages_stack (fixture->pages, &size));
}

#define ADD(name, function)                                                    \
  g_test_add (                                                                 \
      "/runtime-pages/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("parts", test_parts);
  ADD ("unused", test_unused);
  ADD ("unmapped", test_unmapped);
  ADD ("stack", test_stack);
  return g_test_run ();
}
