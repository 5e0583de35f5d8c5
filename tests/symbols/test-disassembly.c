/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Arrows of jumps: from rows to a column of lanes. */

#include "flam-disassembly.h"

/* `jumps`: the target row of each row's jump, -1: none. One line per row: for
 * each lane from the outermost, '|' where an arrow passes, '<' where it begins,
 * '>' where it ends. */
static char *
draw (const int *jumps, guint n)
{
  g_autofree FlamInstruction *rows = g_new0 (FlamInstruction, n);
  FlamDisassembly code = { .n = n, .instructions = rows };
  g_autofree FlamArrows *arrows = NULL;
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    rows[i].jump = jumps[i] < 0 ? FLAM_NONE : (guint32)jumps[i];
  arrows = flam_disassembly_arrows (&code);
  for (guint i = 0; i < n; i++)
    {
      for (guint lane = 3; lane-- > 0;)
        {
          guint8 bit = (guint8)(1u << lane);
          gboolean passes = (arrows[i].above & arrows[i].below & bit) != 0;

          g_string_append_c (text,
                             arrows[i].from & bit ? '<'
                             : arrows[i].to & bit ? '>'
                             : passes             ? '|'
                                                  : ' ');
        }
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

static void
test_lanes (void)
{
  /* 0 jumps over 1..3, 1 to 3, 4 back to 0. */
  const int jumps[] = { 4, 3, -1, -1, 0 };
  g_autofree char *text = draw (jumps, G_N_ELEMENTS (jumps));

  g_assert_cmpstr (text,
                   ==,
                   "><\x20\n"
                   "||<\n"
                   "|||\n"
                   "||>\n"
                   "<>\x20\n");
}

/* However many there are, no two overlap in a lane. */
static void
test_crowd (void)
{
  for (guint round = 0; round < 200; round++)
    {
      guint n = (guint)g_test_rand_int_range (2, 60);
      g_autofree FlamInstruction *rows = g_new0 (FlamInstruction, n);
      FlamDisassembly code = { .n = n, .instructions = rows };
      g_autofree FlamArrows *arrows = NULL;

      for (guint i = 0; i < n; i++)
        rows[i].jump = g_test_rand_bit ()
                           ? (guint32)g_test_rand_int_range (0, (gint32)n)
                           : FLAM_NONE;
      arrows = flam_disassembly_arrows (&code);
      g_assert_cmpuint (arrows[0].above, ==, 0);
      g_assert_cmpuint (arrows[n - 1].below, ==, 0);
      for (guint i = 0; i + 1 < n; i++)
        g_assert_cmpuint (arrows[i].below, ==, arrows[i + 1].above);
      for (guint i = 0; i < n; i++)
        for (guint lane = 0; lane < FLAM_ARROW_LANES; lane++)
          {
            guint8 bit = (guint8)(1u << lane);
            gboolean ends = ((arrows[i].from | arrows[i].to) & bit) != 0;
            gboolean self = rows[i].jump == i && ends;

            g_assert_true (self || ends == (((arrows[i].above & bit) != 0) !=
                                            ((arrows[i].below & bit) != 0)));
          }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/disassembly/lanes", test_lanes);
  g_test_add_func ("/disassembly/crowd", test_crowd);
  return g_test_run ();
}
