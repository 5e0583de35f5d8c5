/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The division of the time between the samples of siblings. */

#include "flam-gaps.h"

#include <string.h>

#define PERIOD 1000

/* The pieces that were handed over, as "THREAD:CPU+RAN=STACK". */
static void
note (gpointer data, const FlamGapPiece *piece, FlamStackId stack)
{
  GString *text = data;

  g_string_append_printf (
      text, "%u:%d+%d=", piece->thread, (int)piece->cpu, (int)piece->ran);
  if (stack == FLAM_NONE)
    g_string_append (text, "- ");
  else
    g_string_append_printf (text, "%u ", stack);
}

/* A step is a first sample, or an end. */
typedef struct
{
  char kind;
  FlamThreadId thread;
  gint64 cpu;
  FlamStackId stack;
} Step;

/* Returns these pieces, and the rest of each first sample's time. */
static char *
run (const Step *steps)
{
  GString *text = g_string_new (NULL);
  FlamGaps *gaps = flam_gaps_new (PERIOD, note, text);

  for (; steps->kind != 0; steps++)
    {
      FlamGapPiece piece = { steps->thread, 0, steps->cpu, 2 * steps->cpu };

      if (steps->kind == 'e')
        flam_gaps_end (gaps, &piece, steps->stack);
      else
        {
          flam_gaps_begin (gaps, &piece, steps->stack);
          g_string_append_printf (
              text, "(%d+%d) ", (int)piece.cpu, (int)piece.ran);
        }
    }
  flam_gaps_free (gaps);
  return g_string_free (text, FALSE);
}

static void
test_division (void)
{
  static const struct
  {
    Step steps[8];
    const char *expected;
  } rows[] = {
    /* A single child: the time near its last sample belongs to that sample. */
    { { { 'b', 1, 300, 7 }, { 'e', 1, 400, 8 } }, "(300+600) 1:400+800=8 " },
    { { { 'b', 1, 300, 7 }, { 'e', 1, 1500, 8 } },
      "(300+600) 1:1000+2000=8 1:500+1000=- " },
    /* A single child that was never sampled. */
    { { { 'e', 1, 400, FLAM_NONE } }, "1:400+800=- " },
    /* 400 between the samples of two children, 200 for each. */
    { { { 'b', 1, 0, 7 },
        { 'e', 1, 100, 8 },
        { 'b', 2, 300, 9 },
        { 'e', 2, 0, 9 } },
      "(0+0) 1:100+200=8 2:100+200=8 (200+400) " },
    { { { 'b', 1, 0, 7 },
        { 'e', 1, 300, 8 },
        { 'b', 2, 100, 9 },
        { 'e', 2, 0, 9 } },
      "(0+0) 1:200+400=8 1:100+200=9 (100+200) " },
    /* A child between them ended unsampled: 100 + 600 + 300. */
    { { { 'b', 1, 0, 7 },
        { 'e', 1, 100, 8 },
        { 'e', 2, 600, FLAM_NONE },
        { 'b', 3, 300, 9 },
        { 'e', 3, 0, 9 } },
      "(0+0) 1:100+200=8 2:400+800=8 2:200+400=9 (300+600) " },
    /* The first children end unsampled: their time belongs to the sample that
     * follows. */
    { { { 'e', 1, 600, FLAM_NONE }, { 'b', 2, 200, 9 }, { 'e', 2, 0, 9 } },
      "1:600+1200=9 (200+400) " },
    /* Two at once: the one that ended first comes before the next. */
    { { { 'b', 1, 0, 1 },
        { 'b', 2, 0, 2 },
        { 'e', 2, 100, 2 },
        { 'e', 1, 300, 1 },
        { 'b', 3, 100, 3 },
        { 'b', 4, 100, 4 } },
      "(0+0) (0+0) 2:100+200=2 (100+200) 1:200+400=1 1:100+200=4 (100+200) " },
    /* More than chance explains. */
    { { { 'b', 1, 0, 7 },
        { 'e', 1, 100, 8 },
        { 'e', 2, 16000, FLAM_NONE },
        { 'b', 3, 300, 9 },
        { 'e', 3, 0, 9 } },
      "(0+0) 1:100+200=8 2:900+1800=8 2:15100+30200=- (300+600) " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = run (rows[i].steps);

      g_assert_cmpstr (text, ==, rows[i].expected);
    }
}

/* At most 64 gaps stay open. */
static void
test_bounded (void)
{
  Step steps[102] = { { 0 } };
  g_autofree char *text = NULL;

  for (guint i = 0; i < 100; i++)
    steps[i] = (Step){ 'e', i, 10, 7 };
  steps[100] = (Step){ 'b', 100, 10, 8 };
  text = run (steps);
  g_assert_true (g_str_has_prefix (text, "0:10+20=7 1:10+20=7 "));
  g_assert_nonnull (strstr (text, "35:10+20=7 36:10+20=7 (10+20) 37:10+20=7 "));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/gaps/division", test_division);
  g_test_add_func ("/gaps/bounded", test_bounded);
  return g_test_run ();
}
