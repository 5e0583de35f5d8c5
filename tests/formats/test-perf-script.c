/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A header that is treated like the last one has the same meaning as if it were
 * parsed. */

#include "flam-perf-script.h"

#include <string.h>

#define ROUNDS 300000
#define FIELDS 7

/* Fields of each kind in turn, some of which perf never prints. */
static const char *const fields[FIELDS][12] = {
  { "prog", "V8 Worker", "a 12", "a      12", "", "[001]", "\tx", "12/13" },
  { "  4242/4242 ", " 4243/4242", "  4242 ", "   4242", " -1/-1", "", " 9" },
  { " [002]", "", "  K", " [002] K", "        1001001" },
  { "  65093.447304:",
    "  65093.447305:",
    " 165093.447304:",
    "\t1.5:",
    " 65093.447304",
    "  650x3.447304:",
    " 99999999999999999999.1:",
    " 99999999999999999999.2:",
    " 12:",
    "" },
  { "    1001001",
    "     104345",
    "        -45",
    "    1001a01",
    "\t1001001",
    " 1 1001001",
    "          1001001",
    "        104345045",
    "    99999999999999999999",
    "1001001",
    "" },
  { " cycles:u:", " cycles:k:", " cpu-clock: ", "", " x", " 7:" },
  { "", " 55d0c06cb2a0 f+0x1f (/bin/x)", "      55d0c06cb2a0 f", " leaf" },
};

static void
pick (guint *chosen, guint i)
{
  guint n = 0;

  while (n < G_N_ELEMENTS (fields[i]) && fields[i][n] != NULL)
    n++;
  chosen[i] = (guint)g_test_rand_int_range (0, (gint32)n);
}

static char *
make_line (const guint *chosen)
{
  GString *line = g_string_new (NULL);

  for (guint i = 0; i < FIELDS; i++)
    g_string_append (line, fields[i][chosen[i]]);
  return g_string_free (line, FALSE);
}

static void
assert_same (FlamSlice a, FlamSlice b)
{
  g_assert_cmpmem (a.text, a.length, b.text, b.length);
  if (a.length > 0 && strcmp (a.text, "samples") != 0 &&
      strcmp (a.text, "period") != 0)
    g_assert_true (a.text == b.text);
}

static void
assert_parsed (const char *line, const FlamScriptHeader *like)
{
  gsize length = strlen (line);
  FlamScriptHeader parsed;
  guint64 lost;

  g_assert_false (flam_script_is_chain_line (line, line + length));
  g_assert_false (flam_script_parse_record (line, length, &lost));
  g_assert_true (flam_script_parse_header (line, length, &parsed));
  assert_same (parsed.comm, like->comm);
  assert_same (parsed.who, like->who);
  assert_same (parsed.event, like->event);
  assert_same (parsed.leaf, like->leaf);
  g_assert_cmpint (parsed.pid, ==, like->pid);
  g_assert_cmpint (parsed.tid, ==, like->tid);
  g_assert_cmpint (parsed.time, ==, like->time);
  g_assert_cmpint (parsed.period, ==, like->period);
  g_assert_cmpint (parsed.has_period, ==, like->has_period);
  g_assert_cmpint (parsed.certain, ==, like->certain);
}

/* Each line differs from the previous one in one or two fields. */
static void
test_like_last (void)
{
  g_autofree char *before = NULL;
  FlamScriptLast last = { 0 };
  guint chosen[FIELDS] = { 0 };
  guint n_like = 0, n_other = 0;

  for (guint round = 0; round < ROUNDS; round++)
    {
      char *line = make_line (chosen);
      gsize length = strlen (line);
      FlamScriptHeader header;
      guint64 lost;

      if (flam_script_parse_like_last (&last, line, length, &header))
        {
          assert_parsed (line, &header);
          n_like++;
        }
      else if (length > 0 && !flam_script_is_chain_line (line, line + length) &&
               !flam_script_parse_record (line, length, &lost) &&
               flam_script_parse_header (line, length, &header))
        {
          flam_script_remember (&last, line, length, &header);
          n_other++;
          g_free (before);
          before = g_steal_pointer (&line);
        }
      g_free (line);
      pick (chosen, (guint)g_test_rand_int_range (0, FIELDS));
      if (round % 5 == 0)
        pick (chosen, (guint)g_test_rand_int_range (0, FIELDS));
      /* perf's own form, from which the other forms differ. */
      if (round % 20 == 0)
        memset (chosen, 0, sizeof chosen);
    }
  g_assert_cmpuint (n_like, >, ROUNDS / 100);
  g_assert_cmpuint (n_other, >, ROUNDS / 100);
}

/* A period with another number of digits is right-aligned. */
static void
test_period (void)
{
  static const char a[] = "prog 1/2  65093.447304:    1001001 cycles:u: ";
  static const char b[] = "prog 1/2  65094.447304:         45 cycles:u: ";
  static const char c[] = "prog 1/2  65094.447304:          - cycles:u: ";
  FlamScriptLast last = { 0 };
  FlamScriptHeader header;

  g_assert_true (flam_script_parse_header (a, strlen (a), &header));
  flam_script_remember (&last, a, strlen (a), &header);
  g_assert_true (flam_script_parse_like_last (&last, b, strlen (b), &header));
  g_assert_cmpint (header.period, ==, 45);
  g_assert_cmpint (header.time, ==, 65094447304000);
  g_assert_true (header.comm.text == b);
  g_assert_false (flam_script_parse_like_last (&last, c, strlen (c), &header));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/perf-script/like-last", test_like_last);
  g_test_add_func ("/perf-script/period", test_period);
  return g_test_run ();
}
