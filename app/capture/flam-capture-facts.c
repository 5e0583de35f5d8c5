/* SPDX-License-Identifier: GPL-3.0-or-later */

/* FlamFacts as rows of FACTS, and back. */

#include "flam-capture-build.h"
#include "flam-capture-writer.h"

/* A made-up file may have a million keys. */
#define FACTS_MAX 1000

void
flam_capture_writer_facts (FlamCaptureWriter *writer, const FlamFacts *facts)
{
  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (fact->key != NULL && flam_fact_is_known (fact, facts))
      {
        g_autofree char *value = flam_fact_to_text (fact, facts);

        flam_capture_writer_fact (writer, fact->key, value);
      }
  for (guint i = 0; facts->others[i] != NULL; i += 2)
    flam_capture_writer_fact (writer, facts->others[i], facts->others[i + 1]);
}

/* Whatever follows from the tables is written with them. */
static gboolean
is_of_tables (const char *key)
{
  static const char *const keys[] = { FLAM_FACT_PEAK_TIME,
                                      FLAM_FACT_HAS_TIMES,
                                      FLAM_FACT_MEASURES_LISTED,
                                      FLAM_FACT_SPANS,
                                      NULL };

  return g_strv_contains (keys, key);
}

/* The last value of each key, in order; of a file with thousands of keys, which
 * none of ours is, the last ones. */
void
flam_capture_build_fact_rows (FlamCaptureBuild *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_FACTS;
  guint32 n_strings = flam_build_table (build, FLAM_CAPTURE_STRINGS)->n;
  g_autofree gboolean *seen = g_new0 (gboolean, n_strings + 1);
  g_autoptr (GHashTable) keys = g_hash_table_new (g_str_hash, g_str_equal);
  guint32 rows[FACTS_MAX];
  guint n = 0;

  for (guint32 i = flam_build_table (build, t)->n; i-- > 0 && n < FACTS_MAX;)
    {
      guint32 string = flam_build_u32 (build, t, 0, i);

      if (!seen[string] &&
          g_hash_table_add (keys, (gpointer)flam_build_text (build, t, 0, i)))
        rows[n++] = i;
      seen[string] = TRUE;
    }
  while (n-- > 0)
    if (!is_of_tables (flam_build_text (build, t, 0, rows[n])))
      flam_builder_set_fact (build->builder,
                             flam_build_text (build, t, 0, rows[n]),
                             flam_build_text (build, t, 1, rows[n]));
}
