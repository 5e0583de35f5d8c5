/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-record-events.h"

#include <linux/perf_event.h>
#include <string.h>

#define HARDWARE(name, event)                                                  \
  {                                                                            \
    name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##event                            \
  }
#define SOFTWARE(name, event)                                                  \
  {                                                                            \
    name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##event                            \
  }

static const FlamRecordEvent known[] = {
  HARDWARE ("instructions", INSTRUCTIONS),
  HARDWARE ("cycles", CPU_CYCLES),
  HARDWARE ("cache-references", CACHE_REFERENCES),
  HARDWARE ("cache-misses", CACHE_MISSES),
  HARDWARE ("branches", BRANCH_INSTRUCTIONS),
  HARDWARE ("branch-misses", BRANCH_MISSES),
  SOFTWARE ("page-faults", PAGE_FAULTS),
  SOFTWARE ("minor-faults", PAGE_FAULTS_MIN),
  SOFTWARE ("major-faults", PAGE_FAULTS_MAJ),
  SOFTWARE ("context-switches", CONTEXT_SWITCHES),
  SOFTWARE ("cpu-migrations", CPU_MIGRATIONS),
};

static const FlamRecordEvent *
find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (name, known[i].name) == 0)
      return &known[i];
  return NULL;
}

GPtrArray *
flam_record_events_parse (const char *list, char **unknown)
{
  g_autoptr (GPtrArray) events = g_ptr_array_new ();
  g_auto (GStrv) names = g_strsplit (list, ",", -1);

  *unknown = NULL;
  for (guint i = 0; names[i] != NULL; i++)
    {
      const FlamRecordEvent *event = find (names[i]);

      if (event == NULL)
        {
          *unknown = g_strdup (names[i]);
          return NULL;
        }
      if (!g_ptr_array_find (events, event, NULL))
        g_ptr_array_add (events, (gpointer)event);
    }
  return events->len > 0 ? g_steal_pointer (&events) : NULL;
}

char *
flam_record_events_names (void)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", known[i].name);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
