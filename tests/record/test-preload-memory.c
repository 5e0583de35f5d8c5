/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The preload library's own memory: whole pages, in front of which is their
 * size. */

#include "flam-preload.h"

#include <glib.h>
#include <string.h>

#define PAGE 4096u
/* In front of each block: its pages' size and its own. */
#define HEAD 16u

static void
test_grow (void)
{
  static const struct
  {
    gsize from, to;
    gboolean stays;
  } cases[] = {
    { 1, PAGE - HEAD, TRUE },
    { 1, PAGE - HEAD + 1, FALSE },
    { PAGE - HEAD, PAGE, FALSE },
    { PAGE - HEAD + 1, 2 * PAGE - HEAD, TRUE },
    { PAGE - HEAD + 1, 2 * PAGE - HEAD + 1, FALSE },
    { 2 * PAGE, 5, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint8 *data = preload_allocate (cases[i].from);
      guint8 *grown;
      gsize kept = MIN (cases[i].from, cases[i].to);

      g_test_message ("%u", i);
      memset (data, 7, cases[i].from);
      grown = preload_reallocate (data, cases[i].to);
      g_assert_cmpint (grown == data, ==, cases[i].stays);
      for (gsize k = 0; k < kept; k++)
        g_assert_cmpuint (grown[k], ==, 7);
      memset (grown, 8, cases[i].to);
      preload_release (grown);
    }
}

static void
test_none (void)
{
  guint64 *zeroed = preload_allocate_array (100, sizeof *zeroed);
  guint64 *made = preload_reallocate (NULL, sizeof *made);

  for (guint i = 0; i < 100; i++)
    g_assert_cmpuint (zeroed[i], ==, 0);
  *made = 1;
  preload_release (zeroed);
  preload_release (made);
  preload_release (NULL);
  g_assert_null (preload_allocate (G_MAXSIZE));
  g_assert_null (preload_allocate_array (G_MAXSIZE / 2, 3));
}

static int
compare (const void *a, const void *b)
{
  const guint32 *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

static void
test_sort (void)
{
  for (guint n = 0; n < 40; n++)
    {
      guint32 numbers[40];

      for (guint i = 0; i < n; i++)
        numbers[i] = (i * 17 + 5) % MAX (n, 1);
      preload_sort (numbers, n, sizeof *numbers, compare);
      for (guint i = 1; i < n; i++)
        g_assert_cmpuint (numbers[i - 1], <=, numbers[i]);
    }
}

static void
test_read (void)
{
  guint64 here = 42, copy = 0;

  g_assert_true (preload_read ((guint64)(gsize)&here, &copy, sizeof copy));
  g_assert_cmpuint (copy, ==, 42);
  g_assert_false (preload_read (8, &copy, sizeof copy));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/preload-memory/grow", test_grow);
  g_test_add_func ("/preload-memory/none", test_none);
  g_test_add_func ("/preload-memory/sort", test_sort);
  g_test_add_func ("/preload-memory/read", test_read);
  return g_test_run ();
}
