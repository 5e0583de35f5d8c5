/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-tracer-kin.h"

#include "flam-proc.h"

void
flam_tracer_kin_clear (FlamTracerKin *kin)
{
  g_clear_pointer (&kin->trees, g_array_unref);
  g_clear_pointer (&kin->groups, g_hash_table_unref);
}

void
flam_tracer_kin_set (FlamTracerKin *kin,
                     const GArray *trees,
                     const GArray *members)
{
  flam_tracer_kin_clear (kin);
  if (members->len == 0)
    return;
  kin->trees = g_array_new (FALSE, FALSE, sizeof (pid_t));
  g_array_append_vals (kin->trees, trees->data, trees->len);
  kin->groups = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < members->len; i++)
    {
      pid_t pid = g_array_index (members, pid_t, i);
      char *text = flam_proc_text (pid, pid, "cgroup");

      if (text != NULL)
        g_hash_table_add (kin->groups, text);
    }
}

gboolean
flam_tracer_kin_has (const FlamTracerKin *kin, pid_t pid)
{
  g_autofree char *text = flam_proc_text (pid, pid, "cgroup");

  return text != NULL && g_hash_table_contains (kin->groups, text);
}

GArray *
flam_tracer_kin_below (const FlamTracerKin *kin, const GArray *chosen)
{
  GArray *below = flam_proc_below (chosen);
  g_autoptr (GArray) of_trees = NULL;
  g_autoptr (GHashTable) wanted = NULL;

  if (kin->groups == NULL)
    return below;
  of_trees = flam_proc_below (kin->trees);
  wanted = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < kin->trees->len; i++)
    g_hash_table_add (wanted,
                      GINT_TO_POINTER (g_array_index (kin->trees, pid_t, i)));
  for (guint i = 0; i < of_trees->len; i++)
    g_hash_table_add (
        wanted, GINT_TO_POINTER (g_array_index (of_trees, FlamKin, i).pid));
  for (guint i = below->len; i-- > 0;)
    {
      pid_t pid = g_array_index (below, FlamKin, i).pid;

      if (!g_hash_table_contains (wanted, GINT_TO_POINTER (pid)) &&
          !flam_tracer_kin_has (kin, pid))
        g_array_remove_index (below, i);
    }
  return below;
}
