/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The builder's guarantees about hostile values, and its small helpers. */

#include "flam-fixture.h"

#include "flam-core-picture.h"

#include <string.h>

static FlamBuilder *
builder_with_thread (FlamThreadId *thread)
{
  FlamBuilder *builder = flam_builder_new ();

  *thread =
      flam_builder_thread (builder, flam_builder_process (builder, 7, 0), 8, 0);
  flam_builder_add_column (builder);
  flam_builder_add_measure (
      builder, "w", "W", FLAM_UNIT_COUNT, FLAM_MEASURE_CPU, 0, FLAM_NONE);
  return builder;
}

static void
test_strings (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autofree char *huge = g_malloc (3 << 20);
  FlamId bad = flam_builder_string (builder, "a\xff\xfe", 3);
  FlamId nul = flam_builder_string (builder, "a\0b", 3);
  FlamId cut;

  memset (huge, 0xc3, 3 << 20);
  cut = flam_builder_string (builder, huge, 3 << 20);
  g_assert_cmpuint (flam_builder_string (builder, "", -1), ==, 0);
  g_assert_cmpuint (flam_builder_string (builder, NULL, -1), ==, 0);
  g_assert_cmpuint (flam_builder_string (builder, "a\xff\xfe", 3), ==, bad);
  g_assert_true (
      g_utf8_validate (flam_builder_get_string (builder, bad), -1, NULL));
  g_assert_cmpstr (flam_builder_get_string (builder, nul),
                   ==,
                   "a\xef\xbf\xbd"
                   "b");
  g_assert_cmpuint (
      strlen (flam_builder_get_string (builder, cut)), <=, 1 << 20);
  g_assert_true (
      g_utf8_validate (flam_builder_get_string (builder, cut), -1, NULL));
}

/* Appended stacks and looked-up stacks, in any order: each existing one is
 * found, and no other. */
static void
test_stacks (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (GHashTable) known =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  FlamStringId name = flam_builder_string (builder, "f", -1);
  FlamFunctionId function =
      flam_builder_function_named (builder, name, FLAM_KIND_NATIVE);
  guint32 n = 0;

  for (guint i = 0; i < 8; i++)
    flam_builder_frame (builder, function, i, 0, 0);
  for (guint i = 0; i < 20000; i++)
    {
      gint32 above = n > 0 ? g_test_rand_int_range (-1, (gint32)n) : -1;
      FlamStackId prefix = above < 0 ? FLAM_NONE : (FlamId)above;
      FlamFrameId frame = (FlamId)g_test_rand_int_range (0, 8);
      gint64 key = (gint64)prefix << 8 | frame;
      gpointer before;
      gboolean there =
          g_hash_table_lookup_extended (known, &key, NULL, &before);
      gboolean search = there || g_test_rand_bit ();
      FlamStackId stack =
          search ? flam_builder_stack (builder, prefix, frame)
                 : flam_builder_append_stack (builder, prefix, frame);

      g_assert_cmpuint (stack, ==, there ? GPOINTER_TO_UINT (before) : n);
      if (there)
        continue;
      g_hash_table_insert (
          known, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (n++));
    }
  g_assert_cmpuint (n, >, 8000);
}

static void
expect_refusal (gint64 a, gint64 b)
{
  FlamThreadId thread;
  g_autoptr (FlamBuilder) builder = builder_with_thread (&thread);
  g_autoptr (GError) error = NULL;
  FlamSample sample = { thread, FLAM_NONE };

  flam_builder_add_sample (builder, &sample, &a);
  flam_builder_add_sample (builder, &sample, &b);
  g_assert_null (flam_builder_finish (builder, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
}

static void
test_weights (void)
{
  expect_refusal (1, -1);
  expect_refusal (G_MAXINT64, 1);
}

static void
test_order (void)
{
  FlamThreadId thread, other;
  g_autoptr (FlamBuilder) builder = builder_with_thread (&thread);
  g_autoptr (FlamProfile) profile = NULL;
  const gint64 times[] = { 50, 20, G_MAXINT64, 30, 20 };

  other =
      flam_builder_thread (builder, flam_builder_process (builder, 7, 0), 9, 0);
  flam_builder_set_has_times (builder);
  for (gint64 i = 0; i < 5; i++)
    {
      FlamSample sample = { i == 3 ? thread : other, FLAM_NONE, times[i] };

      flam_builder_add_sample (builder, &sample, &i);
    }
  profile = flam_builder_finish (builder, NULL);
  g_assert_cmpuint (profile->threads.n_samples[other], ==, 4);
  g_assert_cmpuint (profile->threads.first_sample[other], ==, 1);
  /* Ascending from the earliest; ties keep their order. */
  g_assert_cmpint (profile->samples.time[0], ==, 10);
  g_assert_cmpint (profile->samples.time[1], ==, 0);
  g_assert_cmpint (profile->measures[0].weight[1], ==, 1);
  g_assert_cmpint (profile->measures[0].weight[2], ==, 4);
  g_assert_cmpint (profile->measures[0].weight[4], ==, 2);
}

/* A frame becomes two: its stacks grow, its samples stay the same. */
static void
test_edit (void)
{
  g_autoptr (FlamProfile) profile = flam_fixture_profile ("A;B;C 5\nA;B 1\n");
  g_autoptr (FlamBuilder) builder = flam_builder_new_edit (profile);
  g_autoptr (FlamProfile) edited = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;
  g_autofree char *folded = NULL;
  FlamId chain[2];

  for (guint i = 0; i < 2; i++)
    chain[i] = flam_builder_frame (
        builder,
        flam_builder_function_named (
            builder,
            flam_builder_string (builder, i ? "inlined" : "B2", -1),
            FLAM_KIND_NATIVE),
        16,
        i,
        i);
  flam_builder_replace_frame (builder, 1, chain, 2);
  edited = flam_builder_finish (builder, NULL);
  weights = flam_weights_new (edited, selection, NULL, NULL);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
  folded = flam_dump_folded_diff (tree, tree, FLAM_DIFF_UNSCALED, FALSE);
  g_assert_cmpstr (folded, ==, "A;B2;inlined 1 1\nA;B2;inlined;C 5 5\n");
}

static void
test_formats (void)
{
  static const struct
  {
    gint64 value;
    FlamUnit unit;
    const char *text;
  } values[] = {
    { 0, FLAM_UNIT_NS, "0\u00a0ns" },
    { 999, FLAM_UNIT_NS, "999\u00a0ns" },
    { 1234, FLAM_UNIT_NS, "1.23\u00a0µs" },
    { 12345678, FLAM_UNIT_NS, "12.3\u00a0ms" },
    { 999999999, FLAM_UNIT_NS, "1.00\u00a0s" },
    { 720000000000, FLAM_UNIT_NS, "12.0\u00a0min" },
    { 4096, FLAM_UNIT_BYTES, "4.10\u00a0kB" },
    { 1234567, FLAM_UNIT_COUNT, "1\u202f234\u202f567" },
    { G_MININT64,
      FLAM_UNIT_COUNT,
      "−9\u202f223\u202f372\u202f036\u202f854\u202f775\u202f808" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autofree char *text =
          flam_format_value (values[i].value, values[i].unit);

      g_assert_cmpstr (text, ==, values[i].text);
    }
}

static void
test_short_names (void)
{
  static const struct
  {
    const char *name;
    guint max;
    const char *shorter;
  } names[] = {
    { "spin_heavy", 20, "spin_heavy" },
    { "a::b::c (int, char)", 8, "a::b::c" },
    { "std::vector<int, std::allocator<int>>::push_back(int&&)",
      22,
      "std::vector::push_back" },
    { "std::vector<int>::push_back(int&&)", 12, "push_back" },
    { "ns::operator<<(std::ostream&)", 14, "ns::operator<<" },
    { "a_very_long_function_name", 10, "a_v…n_name" },
    { "inner.<locals>.<genexpr>", 20, "inner.…ls>.<genexpr>" },
    { "<frozen_module_name>", 12, "<fr…le_name>" },
    { "net/http.(*Client).Do(x)", 22, "net/http.(*Client).Do" },
    { "<alloc::vec::Vec<T> as Trait>::f", 8, "f" },
    { "java/lang/String::<init>(char)", 24, "java/lang/String::<init>" },
    { "(garbage collector)", 8, "(g…ctor)" },
    { "java.util.concurrent.ThreadPoolExecutor$Worker.run",
      60,
      "java.util.concurrent.ThreadPoolExecutor$Worker.run" },
    { "java.util.concurrent.ThreadPoolExecutor$Worker.run",
      40,
      "concurrent.ThreadPoolExecutor$Worker.run" },
    { "java.util.concurrent.ThreadPoolExecutor$Worker.run", 20, "Worker.run" },
    { "java.util.concurrent.ThreadPoolExecutor$Worker.run", 9, "run" },
    { "Shop$Catalog.<init>", 8, "<init>" },
    { "free_and_clear.constprop.0", 12, "fre…stprop.0" },
    { "sa\u202efe", 20, "sa\\u202efe" },
    { "\u2067x\u2069", 20, "\\u2067x\\u2069" },
    { "\u05e9\u05dc\u05d5\u05dd", 20, "\u05e9\u05dc\u05d5\u05dd" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *text =
          flam_format_short_name (names[i].name, names[i].max);

      g_assert_cmpint (g_utf8_strlen (text, -1), <=, names[i].max);
      g_assert_cmpstr (text, ==, names[i].shorter);
    }
}

static void
test_folded_names (void)
{
  static const char *const names[][2] = {
    { "std::__detail::_Executor<char const*, "
      "std::allocator<std::sub_match<char const*>>, true>::_M_dfs",
      "std::__detail::_Executor<…>::_M_dfs" },
    { "std::__cxx11::basic_string<char, std::char_traits<char>, "
      "std::allocator<char>>::append(char const*)",
      "std::basic_string<…>::append(char const*)" },
    { "void f<int>(std::vector<int, std::allocator<int>> const&)",
      "void f<int>(std::vector<…> const&)" },
    { "ns::operator<<(std::ostream&)", "ns::operator<<(std::ostream&)" },
    { "a<b>::operator->", "a<b>::operator->" },
    { "std::__1::sort", "std::sort" },
    { "sa\u202efe", "sa\\u202efe" },
    { "std::__1::\u2066a", "std::\\u2066a" },
    { "\u05e9\u05dc\u05d5\u05dd", "\u05e9\u05dc\u05d5\u05dd" },
    { "<alloc::vec::Vec<core::option::Option<u32>> as Trait<T>>::f",
      "<alloc::vec::Vec<…> as Trait<T>>::f" },
    { "inner.<locals>.<genexpr>", "inner.<locals>.<genexpr>" },
    { "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>" },
    { "Object.<anonymous>", "Object.<anonymous>" },
    { "java/lang/String::<init>(char)", "java/lang/String::<init>(char)" },
    { "a<b", "a<b" },
    { "f<g(int)::{lambda(std::pair<int, int>)#1}>", "f<…>" },
    { "main", "main" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *text = flam_format_folded_name (names[i][0]);

      g_assert_cmpstr (text, ==, names[i][1]);
    }
}

/* A million brackets, none of which is closed, and as many that are: to search
 * for the end of each would take minutes. */
static void
test_long_names (void)
{
  GString *open = g_string_new (NULL), *closed = g_string_new (NULL);
  g_autofree char *left = NULL;
  g_autofree char *folded = NULL;

  for (guint i = 0; i < 1000000; i++)
    g_string_append (open, "a<");
  g_string_append (closed, open->str);
  for (guint i = 0; i < 1000000; i++)
    g_string_append_c (closed, '>');
  left = flam_format_folded_name (open->str);
  folded = flam_format_folded_name (closed->str);
  g_assert_true (g_str_equal (left, open->str));
  g_assert_cmpstr (folded, ==, "a<…>");
  g_string_free (open, TRUE);
  g_string_free (closed, TRUE);
}

/* Hierarchies in preorder, threads by process, names in order of time; and two
 * processes that are each other's parents, as in a damaged capture. */
static void
test_family (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamId id[6];
  const FlamId order[] = { 0, 1, 2, 3, 4, 5 };
  const guint32 depth[] = { 0, 1, 1, 2, 0, 0 };
  const guint32 end[] = { 4, 2, 4, 4, 5, 6 };
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamProcessTree) process_tree = NULL;
  FlamThreadId thread, former;

  for (guint i = 0; i < G_N_ELEMENTS (id); i++)
    id[i] = flam_builder_process (builder, 100 + (gint32)i, 0);
  flam_builder_set_process_parent (builder, id[2], id[0]);
  flam_builder_set_process_parent (builder, id[3], id[2]);
  flam_builder_set_process_parent (builder, id[1], id[0]);
  flam_builder_set_process_parent (builder, id[4], id[5]);
  flam_builder_set_process_parent (builder, id[5], id[4]);
  flam_builder_thread (builder, id[3], 7, 0);
  thread = flam_builder_thread (builder, id[0], 8, 0);
  flam_builder_rename_process (builder, id[3], 0, "sh");
  flam_builder_rename_process (builder, id[3], 5, "sh");
  flam_builder_rename_process (builder, id[3], 10, "make");
  flam_builder_rename_process (builder, id[3], 20, "cc");
  flam_builder_rename_thread (builder, thread, 30, "worker");
  profile = flam_builder_finish (builder, NULL);
  process_tree = flam_process_tree_new (profile);

  g_assert_cmpuint (process_tree->n, ==, G_N_ELEMENTS (id));
  for (guint i = 0; i < process_tree->n; i++)
    {
      g_assert_cmpuint (process_tree->process[i], ==, id[order[i]]);
      g_assert_cmpuint (process_tree->depth[i], ==, depth[i]);
      g_assert_cmpuint (process_tree->end[i], ==, end[i]);
    }
  /* Row 3 is process 3, which has one of the two children below row 0. */
  g_assert_cmpuint (
      process_tree->first_thread[4] - process_tree->first_thread[3], ==, 1);
  g_assert_cmpuint (process_tree->first_thread[1], ==, 1);
  g_assert_cmpuint (process_tree->first_thread[end[0]], ==, 2);
  g_assert_cmpuint (process_tree->threads[0], ==, thread);
  g_assert_cmpstr (
      flam_profile_string (profile, profile->processes.name[id[3]]), ==, "cc");
  former = process_tree->process_former[id[3]];
  g_assert_cmpstr (
      flam_profile_string (profile, profile->former_names.name[former]),
      ==,
      "sh");
  former = process_tree->next_former[former];
  g_assert_cmpstr (
      flam_profile_string (profile, profile->former_names.name[former]),
      ==,
      "make");
  g_assert_cmpuint (process_tree->next_former[former], ==, FLAM_NONE);
  g_assert_cmpuint (process_tree->thread_former[thread], ==, FLAM_NONE);
}

/* A name that applies since the last one did is not another name. */
static void
test_replaced_names (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamId process = flam_builder_append_process (builder, 1, FLAM_NONE);
  FlamId thread = flam_builder_append_thread (builder, process, 1);
  g_autoptr (FlamProfile) profile = NULL;

  flam_builder_set_recorded (builder);
  flam_builder_note_thread_name (builder, thread, 5, "java");
  flam_builder_note_thread_name (builder, thread, 5, "Reference Handler");
  flam_builder_note_thread_name (builder, thread, 9, "Another");
  profile = flam_builder_finish (builder, NULL);
  g_assert_cmpstr (flam_profile_string (profile, profile->threads.name[thread]),
                   ==,
                   "Another");
  g_assert_cmpuint (profile->former_names.n, ==, 1);
  g_assert_cmpstr (flam_profile_string (profile, profile->former_names.name[0]),
                   ==,
                   "Reference Handler");
  g_assert_cmpint (profile->former_names.until[0], ==, 9);
}

static void
test_visible (void)
{
  static const char *const cases[][2] = {
    { "plain <T>::ü", "plain <T>::ü" },
    { "a\nb\r\tc\a", "a\\nb\\r\\tc\\a" },
    { "\x1b[2J\x7f", "\\x1b[2J\\x7f" },
    { "\xc2\x9b", "\\u009b" },
    { "\xe2\x80\xae\xe2\x81\xa6", "\\u202e\\u2066" },
    { "bad\xff", "bad\xef\xbf\xbd" },
  };
  static const char *const fields[][2] = {
    { "plain", "plain" },    { "a,b", "\"a,b\"" }, { "=1+1", "\"'=1+1\"" },
    { "-f", "\"'-f\"" },     { "@x", "\"'@x\"" },  { "\tx", "\"'\tx\"" },
    { "+\"", "\"'+\"\"\"" }, { "", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = flam_format_visible (cases[i][0]);
      g_assert_cmpstr (text, ==, cases[i][1]);
    }
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      g_autofree char *text = flam_format_csv (fields[i][0]);
      g_assert_cmpstr (text, ==, fields[i][1]);
    }
}

/* They become parts of URLs and of paths below caches. */
static void
test_build_ids (void)
{
  static const struct
  {
    const char *given;
    const char *kept;
  } cases[] = {
    { "00ff", "00ff" },
    { "00FFab", "00ffab" },
    { "../../../x", "" },
    { "00/ff", "" },
    { "00ff\n", "" },
    { "00ff?x=1", "" },
    { "go/build-id/a", "" },
    { "", "" },
    { NULL, "" },
  };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autofree char *longest = g_strnfill (FLAM_BUILD_ID_MAX, 'a');
  g_autofree char *too_long = g_strnfill (FLAM_BUILD_ID_MAX + 1, 'a');

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/lib/%u", i);
      flam_builder_module (builder, path, cases[i].given, FLAM_ADDRESS_VADDR);
    }
  flam_builder_module (builder, "/l", longest, FLAM_ADDRESS_VADDR);
  flam_builder_module (builder, "/m", too_long, FLAM_ADDRESS_VADDR);
  profile = flam_builder_finish (builder, NULL);
  for (guint i = 0; i < profile->modules.n; i++)
    {
      const char *kept = i < G_N_ELEMENTS (cases)    ? cases[i].kept
                         : i == G_N_ELEMENTS (cases) ? longest
                                                     : "";
      g_assert_cmpstr (
          flam_profile_string (profile, profile->modules.build_id[i]),
          ==,
          kept);
    }
}

/* The reason comes first, once, whatever was found before. */
static void
test_partial (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;

  flam_builder_warn (builder, "a %s name", "long");
  flam_builder_warn (builder, "cut off");
  flam_builder_set_partial (builder, 0.5, "cut off");
  profile = flam_builder_finish (builder, NULL);
  g_assert_false (profile->facts.complete);
  g_assert_cmpstr (profile->facts.warnings[0], ==, "cut off");
  g_assert_cmpstr (profile->facts.warnings[1], ==, "a long name");
  for (guint i = 1; profile->facts.warnings[i] != NULL; i++)
    g_assert_cmpstr (profile->facts.warnings[i], !=, "cut off");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/builder/strings", test_strings);
  g_test_add_func ("/builder/build-ids", test_build_ids);
  g_test_add_func ("/builder/stacks", test_stacks);
  g_test_add_func ("/builder/weights", test_weights);
  g_test_add_func ("/builder/order", test_order);
  g_test_add_func ("/builder/edit", test_edit);
  g_test_add_func ("/builder/partial", test_partial);
  g_test_add_func ("/format/values", test_formats);
  g_test_add_func ("/format/visible", test_visible);
  g_test_add_func ("/format/short-names", test_short_names);
  g_test_add_func ("/format/folded-names", test_folded_names);
  g_test_add_func ("/format/long-names", test_long_names);
  g_test_add_func ("/builder/process_tree", test_family);
  g_test_add_func ("/builder/replaced-names", test_replaced_names);
  return g_test_run ();
}
