/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-value-text.h"

#include <glib/gi18n.h>

#include "flam-config.h"
#include "flam-core-picture.h"

/* "438 blocks", "438 ± 20 blocks" */
static char *
estimated_blocks (const FlamEstimate *estimate, gint64 blocks)
{
  g_autofree char *text =
      flam_format_with_error (estimate, blocks, FLAM_UNIT_COUNT);

  return g_strdup_printf (ngettext ("%s block", "%s blocks", (gulong)blocks),
                          text);
}

char *
flam_value_text_part_blocks (const FlamMemorySummary *memory,
                             const FlamAmounts *amounts,
                             FlamMemoryPart part)
{
  const FlamEstimate estimate =
      flam_amounts_estimate (memory, amounts, part, FALSE);

  return flam_format_from_few (
      estimated_blocks (&estimate, amounts->part[part].blocks), &estimate);
}

const char *
flam_value_text_counted (const FlamMemorySummary *memory)
{
  switch (flam_memory_summary_of (memory))
    {
    case FLAM_MEMORY_OF_PAGES:
      return _ ("Pages");
    case FLAM_MEMORY_OF_RESOURCES:
      return _ ("Opened");
    default:
      return _ ("Blocks");
    }
}

char *
flam_value_text_other (const FlamTree *tree, FlamFigure figure)
{
  FlamUnit unit = flam_tree_other_unit (tree);
  FlamEstimate estimate;

  if (figure.other < 0)
    return NULL;
  estimate = flam_functions_estimate_other (tree, figure);
  /* The figure beside it shows that it is based on few samples. */
  return unit == FLAM_UNIT_COUNT
             ? estimated_blocks (&estimate, figure.other)
             : flam_format_with_error (&estimate, figure.other, unit);
}

char *
flam_value_text_change (const FlamMeasure *measure,
                        gint64 delta,
                        const FlamEstimate *estimate)
{
  g_autofree char *text =
      flam_format_estimated (estimate, measure, ABS (delta));

  return flam_format_change (delta, text);
}

const char *
flam_value_text_measure (const FlamProfile *profile, const FlamMeasure *measure)
{
  const char *name = flam_profile_string (profile, measure->name);

  return *name != '\0' ? _ (name) : name;
}

char *
flam_value_text_mnemonic (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "_", -1);

  return g_strjoinv ("__", parts);
}

gboolean
flam_value_text_is_samples (const FlamProfile *profile,
                            const FlamMeasure *measure)
{
  return measure->unit == FLAM_UNIT_COUNT && measure->denominator == 1 &&
         strcmp (flam_profile_string (profile, measure->name), "Samples") == 0;
}

char *
flam_value_text_task (const char *name, gint32 id, const char *nameless)
{
  g_autofree char *visible = flam_format_visible (*name ? name : nameless);

  return id >= 0 ? g_strdup_printf ("%s (%d)", visible, id)
                 : g_steal_pointer (&visible);
}

char *
flam_value_text_thread (const FlamProfile *profile, FlamThreadId thread)
{
  const FlamThreads *threads = &profile->threads;
  guint32 rank = profile->processes.rank[threads->process[thread]];
  g_autofree char *name = flam_value_text_task (
      flam_profile_string (profile, threads->name[thread]),
      threads->tid[thread],
      _ ("Thread"));

  if (rank == 0)
    return g_steal_pointer (&name);
  /* Translators: a thread of one of the processes of a parallel job */
  return g_strdup_printf (_ ("rank %u: %s"), rank - 1, name);
}
