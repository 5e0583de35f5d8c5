/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Unwinding the same snapshots (64 KiB of stack) of cc1plus, python3 and node
 * by us and by libdwfl, in turns. One line per figure:
 *   name <TAB> ours <TAB> peer <TAB> ratio <TAB> target
 * Times are of one stack. Of stacks that differ, ours is how many, peer of how
 * many. */

#include <stdio.h>

#include "unwind-snapshot.h"

#define LIMIT 2000
#define ROUNDS 3

static void
bench (const char *name)
{
  g_auto (GStrv) argv = snapshot_command (name);
  GArray *snapshots;
  Ours *ours;
  Oracle *oracle;
  pid_t pid;
  Agreement agreement;
  guint64 pcs[LIMIT];
  gint64 best_ours = G_MAXINT64, best_theirs = G_MAXINT64;

  if (!argv)
    {
      fprintf (stderr, "# unwind %s: not on this machine\n", name);
      return;
    }
  snapshots =
      snapshot_program ((const char *const *)argv, 1000, 2000, 64 * 1024, &pid);
  if (snapshots->len < 50)
    {
      fprintf (stderr, "# unwind %s: ended too early\n", name);
      snapshot_kill (pid);
      g_array_unref (snapshots);
      return;
    }
  ours = ours_new (pid);
  oracle = oracle_new (pid);
  agreement = snapshots_compare (ours, oracle, snapshots);
  for (guint round = 0; round < ROUNDS; round++)
    {
      FlamUnwindEnd end;
      gint64 start = g_get_monotonic_time (), middle;

      for (guint repeat = 0; repeat < 10; repeat++)
        for (guint i = 0; i < snapshots->len; i++)
          ours_unwind (
              ours, &g_array_index (snapshots, Snapshot, i), pcs, LIMIT, &end);
      middle = g_get_monotonic_time ();
      for (guint i = 0; i < snapshots->len; i++)
        oracle_unwind (
            oracle, &g_array_index (snapshots, Snapshot, i), pcs, LIMIT);
      best_ours = MIN (best_ours, (middle - start) / 10);
      best_theirs = MIN (best_theirs, g_get_monotonic_time () - middle);
    }
  fprintf (stderr,
           "# unwind %s: %u stacks of %.1f frames, %.1f ns a frame; in %u "
           "libdwfl stops short\n",
           name,
           snapshots->len,
           (double)agreement.frames / snapshots->len,
           (double)best_ours * 1000 / agreement.frames,
           agreement.longer);
  printf ("unwinding a stack of %s (libdwfl)\t%.0f ns\t%.0f ns\t%.3f\t0.1\n",
          name,
          (double)best_ours * 1000 / snapshots->len,
          (double)best_theirs * 1000 / snapshots->len,
          (double)best_ours / best_theirs);
  printf ("stacks of %s unlike libdwfl's\t%u\tof %u\t%.4f\t0.01\n",
          name,
          agreement.differ,
          snapshots->len,
          (double)agreement.differ / snapshots->len);
  snapshot_kill (pid);
  oracle_free (oracle);
  ours_free (ours);
  g_array_unref (snapshots);
}

int
main (void)
{
  bench ("cc1plus");
  bench ("python3");
  bench ("node");
  return 0;
}
