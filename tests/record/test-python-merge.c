/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Merging a native stack and a chain of Python frames. */

#include "flam-python-codes.h"
#include "flam-python-merge.h"

static FlamPythonCode code_a, code_b, code_hidden = { .hidden = TRUE };

static char *
merged (const guint64 *sps,
        guint n,
        gboolean whole,
        const FlamPythonEntry *entries,
        guint n_entries)
{
  g_autoptr (GArray) mixed = g_array_new (FALSE, FALSE, sizeof (guint32));
  GString *text = g_string_new (NULL);

  flam_python_merge (sps, n, whole, entries, n_entries, mixed);
  for (guint i = 0; i < mixed->len; i++)
    {
      guint32 item = g_array_index (mixed, guint32, i);
      if (item & FLAM_MERGED_PYTHON)
        g_string_append_printf (text, "p%u ", item & ~FLAM_MERGED_PYTHON);
      else
        g_string_append_printf (text, "%u ", item);
    }
  return g_string_free (text, FALSE);
}

#define assert_merged(sps, whole, entries, expected)                           \
  G_STMT_START                                                                 \
  {                                                                            \
    g_autofree char *text = merged (                                           \
        sps, G_N_ELEMENTS (sps), whole, entries, G_N_ELEMENTS (entries));      \
    g_assert_cmpstr (text, ==, expected);                                      \
  }                                                                            \
  G_STMT_END

static void
test_merge (void)
{
  const guint64 sps[] = { 100, 200, 300, 400, 500 };
  /* a and b in native frame 1, b in 3. */
  const FlamPythonEntry both[] = {
    { &code_a, 0 }, { &code_b, 0 }, { NULL, 299 }, { &code_b, 0 }, { NULL, 400 }
  };
  /* The second entry's frame is beyond the known part of the stack. */
  const FlamPythonEntry beyond[] = {
    { &code_a, 0 }, { NULL, 200 }, { &code_b, 0 }, { NULL, 500 }
  };
  /* An entry outside of this stack is ignored. */
  const FlamPythonEntry elsewhere[] = {
    { &code_a, 0 }, { NULL, 7 }, { &code_b, 0 }, { NULL, 350 }
  };
  /* A chain of another interpreter, nearer to the leaf, comes second. */
  const FlamPythonEntry two[] = {
    { &code_a, 0 }, { NULL, 450 }, { &code_b, 0 }, { NULL, 150 }
  };
  const FlamPythonEntry hidden[] = {
    { &code_a, 0 }, { &code_hidden, 0 }, { &code_b, 0 }, { NULL, 250 }
  };

  assert_merged (sps, TRUE, both, "0 p0 p1 2 p3 4 ");
  assert_merged (sps, FALSE, beyond, "0 p0 2 3 4 p2 ");
  assert_merged (sps, TRUE, beyond, "0 p0 2 3 4 ");
  assert_merged (sps, TRUE, elsewhere, "0 1 p0 p2 3 4 ");
  assert_merged (sps, TRUE, two, "p2 1 2 p0 4 ");
  assert_merged (sps, TRUE, hidden, "0 p0 p2 2 3 4 ");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/python-merge", test_merge);
  return g_test_run ();
}
