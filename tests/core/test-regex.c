/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-core-picture.h"
#include "flam-fixture.h"

#include <string.h>

/* This name has more ways to match than could be tried in a year. */
#define ENDLESS "^(((\\w+)*)*)*[!?]"
#define NAME "std_vector_push_back_slow_path_of_a_long_name"

static const GRegexCompileFlags ways[] = {
  0,
  G_REGEX_OPTIMIZE,
  G_REGEX_OPTIMIZE | G_REGEX_CASELESS,
};

static void
test_ends (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autoptr (FlamRegex) regex = flam_regex_new (ENDLESS, ways[i], NULL);
      g_autofree char *many = g_strnfill (100, 'a');

      g_assert_nonnull (regex);
      g_assert_true (flam_regex_match (regex, "a!"));
      g_assert_null (flam_regex_get_slow (regex));
      g_assert_false (flam_regex_match (regex, many));
      g_assert_cmpstr (flam_regex_get_slow (regex), ==, many);
      /* All later names are quick. */
      g_assert_false (flam_regex_match (regex, "a!"));
      g_assert_false (flam_regex_match (regex, NAME));
      g_assert_cmpstr (flam_regex_get_slow (regex), ==, many);
    }
}

static void
test_own_limit (void)
{
  g_autoptr (FlamRegex) regex =
      flam_regex_new ("(*LIMIT_MATCH=4000000000)" ENDLESS, 0, NULL);

  g_assert_false (flam_regex_match (regex, NAME));
  g_assert_nonnull (flam_regex_get_slow (regex));
}

/* Typical search expressions are far from the limit, even for the longest
 * names. */
static void
test_room (void)
{
  static const char *const patterns[] = {
    "std::.*<.*int.*>", "(a|b)+c", "^.*::(\\w+::)*push_back$", "x.*y.*z"
  };
  g_autoptr (GString) name = g_string_new (NULL);

  for (guint i = 0; i < 20; i++)
    g_string_append (name, "std::map<std::pair<long, abc>, long>::");
  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    for (guint way = 0; way < G_N_ELEMENTS (ways); way++)
      {
        g_autoptr (FlamRegex) regex =
            flam_regex_new (patterns[i], ways[way], NULL);

        flam_regex_match (regex, name->str);
        g_assert_null (flam_regex_get_slow (regex));
      }
}

static void
test_invalid (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamRegex) dot = flam_regex_new ("a.c", 0, NULL);

  g_assert_null (flam_regex_new ("ab(", 0, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "‘ab(’ at char 3"));
  /* Invalid UTF-8 is not the expression's fault. */
  g_assert_false (flam_regex_match (dot,
                                    "a\xff"
                                    "c"));
  g_assert_null (flam_regex_get_slow (dot));
  g_assert_true (flam_regex_match (dot, "abc"));
}

/* A search whose expression gives up finds nothing, and a transform is
 * refused. */
static void
test_tree (void)
{
  g_autoptr (FlamProfile) profile =
      flam_fixture_profile ("a! 3\nmain;" NAME " 4\n");
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);
  g_autoptr (FlamTree) tree =
      flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  g_autoptr (FlamRegex) regex = flam_regex_new (ENDLESS, 0, NULL);
  g_autofree guint8 *matched = g_new (guint8, tree->n);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (flam_tree_search (tree, regex, matched), ==, 0);
  for (guint32 i = 0; i < tree->n; i++)
    g_assert_cmpuint (matched[i], ==, 0);
  g_assert_cmpstr (flam_regex_get_slow (regex), ==, NAME);

  g_assert_true (flam_selection_add_transform (
      selection, FLAM_TRANSFORM_HIDE, ENDLESS, NULL));
  g_assert_false (flam_selection_check (selection, profile, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, NAME));
}

static FlamTree *
tree_new (const FlamProfile *profile)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);

  return flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
}

static void
test_colors (void)
{
  g_autoptr (FlamProfile) profile = flam_fixture_profile (NAME " 4\n");
  g_autoptr (FlamTree) tree = tree_new (profile);
  g_autoptr (FlamColorRules) rules = flam_color_rules_new ();

  g_assert_true (flam_color_rules_add (rules, ENDLESS, "#ff0000", NULL));
  g_assert_true (flam_color_rules_add (rules, "path", "#00ff00", NULL));
  for (guint i = 0; i < 100000; i++)
    g_assert_cmpuint (flam_color_rules_find_node (rules, tree, 1), ==, 1);
  g_assert_cmpstr (flam_color_rules_get_slow (rules, 0), ==, NAME);
  g_assert_null (flam_color_rules_get_slow (rules, 1));
}

/* A rule that takes too long on one name does not color earlier names. */
static void
test_colors_of_tree (void)
{
  g_autoptr (FlamProfile) profile =
      flam_fixture_profile ("a! 3\nmain;" NAME " 4\n");
  g_autoptr (FlamTree) tree = tree_new (profile);
  g_autoptr (FlamColorRules) rules = flam_color_rules_new ();

  flam_color_rules_try (NULL, tree);
  g_assert_true (flam_color_rules_add (rules, "sort", "#00ff00", NULL));
  g_assert_true (flam_color_rules_add (rules, ENDLESS, "#ff0000", NULL));
  flam_color_rules_try (rules, tree);
  g_assert_null (flam_color_rules_get_slow (rules, 0));
  g_assert_cmpstr (flam_color_rules_get_slow (rules, 1), ==, NAME);
  g_assert_cmpstr (flam_tree_name (tree, 3), ==, "a!");
  g_assert_cmpuint (flam_color_rules_find_node (rules, tree, 3), ==, FLAM_NONE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/regex/ends", test_ends);
  g_test_add_func ("/regex/own-limit", test_own_limit);
  g_test_add_func ("/regex/room", test_room);
  g_test_add_func ("/regex/invalid", test_invalid);
  g_test_add_func ("/regex/tree", test_tree);
  g_test_add_func ("/regex/colors", test_colors);
  g_test_add_func ("/regex/colors-of-tree", test_colors_of_tree);
  return g_test_run ();
}
