/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Merging a native stack and chains of managed frames. */

#include "flam-runtime-functions.h"
#include "flam-runtime-merge.h"

static FlamRuntimeFunction a, b, concealed = { .hidden = TRUE };
/* The evaluator of one: 0x10100 to 0x101ff in the process. */
static const FlamRuntimeFile file_one = {
  .evaluators = { { 0x100, 0x200 } },
  .n_evaluators = 1,
  .parts = { { 0x300, 0x400 } },
  .n_parts = 1,
};
static const FlamRuntimeFile file_two = { .n_evaluators = 0 };
static FlamRuntimeProcess one = { .file = &file_one, .base = 0x10000 };
static FlamRuntimeProcess two = { .file = &file_two };

#define EVAL 0x10150
#define OTHER 0x10200
#define PART 0x10350

static char *
merged (const guint64 *pcs,
        const guint64 *sps,
        guint n,
        gboolean whole,
        const FlamRuntimeItem *items,
        guint n_items,
        guint *left)
{
  g_autoptr (GArray) mixed = g_array_new (FALSE, FALSE, sizeof (guint32));
  GString *text = g_string_new (NULL);

  *left = flam_runtime_merge (pcs, sps, n, whole, items, n_items, mixed);
  for (guint i = 0; i < mixed->len; i++)
    {
      guint32 element = g_array_index (mixed, guint32, i);
      if (element & FLAM_MERGED_MANAGED)
        g_string_append_printf (text, "p%u ", element & ~FLAM_MERGED_MANAGED);
      else
        g_string_append_printf (text, "%u ", element);
    }
  return g_string_free (text, FALSE);
}

#define assert_merged(pcs, sps, whole, items, expected, expected_left)         \
  G_STMT_START                                                                 \
  {                                                                            \
    guint left;                                                                \
    g_autofree char *text = merged (pcs,                                       \
                                    sps,                                       \
                                    G_N_ELEMENTS (sps),                        \
                                    whole,                                     \
                                    items,                                     \
                                    G_N_ELEMENTS (items),                      \
                                    &left);                                    \
    g_assert_cmpstr (text, ==, expected);                                      \
    g_assert_cmpuint (left, ==, expected_left);                                \
  }                                                                            \
  G_STMT_END

static void
test_addresses (void)
{
  const guint64 sps[] = { 100, 200, 300, 400, 500 };
  const guint64 pcs[] = { EVAL, EVAL, EVAL, EVAL, EVAL };
  /* a and b in native frame 1, b in 3. */
  const FlamRuntimeItem both[] = { { &one, 5 },   { &a, 0 }, { &b, 0 },
                                   { NULL, 299 }, { &b, 0 }, { NULL, 400 } };
  /* The second entry's frame is beyond the known part of the stack. */
  const FlamRuntimeItem beyond[] = {
    { &one, 4 }, { &a, 0 }, { NULL, 200 }, { &b, 0 }, { NULL, 500 }
  };
  /* An entry outside of this stack is ignored. */
  const FlamRuntimeItem elsewhere[] = {
    { &one, 4 }, { &a, 0 }, { NULL, 7 }, { &b, 0 }, { NULL, 350 }
  };
  /* A chain of another interpreter, nearer to the leaf, comes second. */
  const FlamRuntimeItem nearer[] = {
    { &one, 4 }, { &a, 0 }, { NULL, 450 }, { &b, 0 }, { NULL, 150 }
  };
  const FlamRuntimeItem hidden[] = {
    { &one, 4 }, { &a, 0 }, { &concealed, 0 }, { &b, 0 }, { NULL, 250 }
  };

  assert_merged (pcs, sps, TRUE, both, "0 p1 p2 2 p4 4 ", 0);
  assert_merged (pcs, sps, FALSE, beyond, "0 p1 2 3 4 p3 ", 0);
  assert_merged (pcs, sps, TRUE, beyond, "0 p1 2 3 4 ", 1);
  assert_merged (pcs, sps, TRUE, elsewhere, "0 1 p1 p3 3 4 ", 0);
  assert_merged (pcs, sps, TRUE, nearer, "p3 1 2 p1 4 ", 0);
  assert_merged (pcs, sps, TRUE, hidden, "0 p1 p3 2 3 4 ", 0);
}

/* Entries without an address: native frames 1 and 3 run the evaluator. */
static void
test_evaluators (void)
{
  const guint64 sps[] = { 100, 200, 300, 400, 500 };
  const guint64 pcs[] = { 1, EVAL, OTHER, EVAL + 1, 2 };
  const guint64 inner[] = { EVAL, EVAL, OTHER, EVAL + 1, 2 };
  const FlamRuntimeItem both[] = { { &one, 5 }, { &a, 0 }, { &b, 0 },
                                   { NULL, 0 }, { &b, 0 }, { NULL, 0 } };
  /* A run that is not the evaluator's yet, innermost. */
  const FlamRuntimeItem three[] = { { &one, 6 }, { &a, 0 },   { NULL, 0 },
                                    { &b, 0 },   { NULL, 0 }, { &b, 0 },
                                    { NULL, 0 } };
  const FlamRuntimeItem single[] = { { &one, 2 }, { &a, 0 }, { NULL, 0 } };

  assert_merged (pcs, sps, TRUE, both, "0 p1 p2 2 p4 4 ", 0);
  assert_merged (pcs, sps, TRUE, three, "0 p3 2 p5 4 ", 0);
  /* The innermost evaluator has no frame yet. */
  assert_merged (inner, sps, TRUE, both, "0 p1 p2 2 p4 4 ", 0);
  assert_merged (pcs, sps, TRUE, single, "0 1 2 p1 4 ", 0);
  /* Without a root, counted from the leaf. */
  assert_merged (pcs, sps, FALSE, single, "0 p1 2 3 4 ", 0);
  assert_merged (inner, sps, FALSE, both, "p1 p2 p4 2 3 4 ", 0);
}

/* A function that the evaluator calls is left out; not if another one called
 * it. */
static void
test_parts (void)
{
  const guint64 sps[] = { 100, 200, 300, 400, 500 };
  const guint64 pcs[] = { 1, PART, EVAL, PART + 1, 2 };
  const FlamRuntimeItem items[] = { { &one, 2 }, { &a, 0 }, { NULL, 0 } };
  const FlamRuntimeItem none[] = { { &one, 1 }, { &a, 0 } };

  assert_merged (pcs, sps, TRUE, items, "0 p1 3 4 ", 0);
  assert_merged (pcs, sps, TRUE, none, "0 1 2 3 4 ", 1);
}

/* Two runtimes in one stack; the second one claims a frame of the first. */
static void
test_two (void)
{
  const guint64 sps[] = { 100, 200, 300, 400, 500 };
  const guint64 pcs[] = { 1, 2, OTHER, EVAL, 2 };
  const FlamRuntimeItem items[] = { { &one, 2 }, { &a, 0 }, { NULL, 0 },
                                    { &two, 2 }, { &b, 0 }, { NULL, 250 } };
  const FlamRuntimeItem conflict[] = { { &one, 2 }, { &a, 0 }, { NULL, 0 },
                                       { &two, 2 }, { &b, 0 }, { NULL, 450 } };

  assert_merged (pcs, sps, TRUE, items, "0 p4 2 p1 4 ", 0);
  assert_merged (pcs, sps, TRUE, conflict, "0 1 2 p1 4 ", 1);
  assert_merged (pcs, sps, FALSE, conflict, "0 1 2 p1 4 p4 ", 0);
}

static gboolean
ends_there (const FlamRuntimeProcess *process,
            guint64 pc,
            guint64 caller_sp,
            guint64 at)
{
  return at + 16 == caller_sp && pc != OTHER;
}

/* Entries of dead frames are dropped with their frames: one in the middle of a
 * native frame, one in a frame of other code. Entries beyond the native stack
 * are not dead. */
static void
test_fits (void)
{
  static const FlamRuntime runtime = { .fits = ends_there };
  FlamRuntimeProcess process = { .runtime = &runtime, .file = &file_two };
  const guint64 sps[] = { 100, 200, 300, 400, 500 };
  const guint64 pcs[] = { OTHER, EVAL, OTHER, EVAL, OTHER };
  const FlamRuntimeItem items[] = {
    { &process, 10 }, { &b, 0 }, { NULL, 184 }, { &b, 0 },
    { NULL, 230 },    { &a, 0 }, { NULL, 284 }, { &b, 0 },
    { NULL, 384 },    { &a, 0 }, { NULL, 484 },
  };
  const FlamRuntimeItem beyond[] = {
    { &process, 4 }, { &a, 0 }, { NULL, 284 }, { &b, 0 }, { NULL, 900 }
  };

  assert_merged (pcs, sps, TRUE, items, "0 p5 2 p9 4 ", 0);
  assert_merged (pcs, sps, FALSE, beyond, "0 p1 2 3 4 p3 ", 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runtime-merge/addresses", test_addresses);
  g_test_add_func ("/runtime-merge/evaluators", test_evaluators);
  g_test_add_func ("/runtime-merge/parts", test_parts);
  g_test_add_func ("/runtime-merge/two", test_two);
  g_test_add_func ("/runtime-merge/fits", test_fits);
  return g_test_run ();
}
