/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-facts.h"

#include <stddef.h>
#include <string.h>

static const char *const none[] = { NULL };

const FlamFacts flam_facts_unknown = {
  .format = "",
  .command = "",
  .complete = TRUE,
  .read_fraction = 1,
  .recorder_share = -1,
  .others = none,
  .warnings = none,
};

#define OFFSET(member) offsetof (FlamFacts, member)
#define FACT(member, type) #member, OFFSET(member), FLAM_FACT_##type

const FlamFact flam_fact_rows[] = {
  { FACT (format, TEXT), .name = "format", .place = FLAM_FACT_HEAD },
  { FACT (command, TEXT),
    .key = "command",
    .name = "command",
    .place = FLAM_FACT_HEAD },
  { FACT (start_unix_ns, NUMBER), .key = "start-unix-ns", .name = "start" },
  { FACT (duration_ns, NUMBER),
    .key = "duration-ns",
    .name = "duration",
    .place = FLAM_FACT_HEAD },
  { FACT (complete, FLAG), .place = FLAM_FACT_HEAD },
  { FACT (read_fraction, SHARE), .place = FLAM_FACT_HEAD },
  { FACT (lost, COUNT),
    .key = "lost",
    .name = "lost",
    .place = FLAM_FACT_QUALITY },
  { FACT (late, COUNT),
    .key = "late",
    .name = "late",
    .place = FLAM_FACT_QUALITY },
  { FACT (truncated_stacks, COUNT),
    .key = "truncated-stacks",
    .name = "truncated",
    .place = FLAM_FACT_QUALITY },
  { FACT (recorder_cpu_ns, NUMBER), .key = "recorder-cpu-ns" },
  { FACT (recorder_share, SHARE), .place = FLAM_FACT_QUALITY },
  { FACT (recorded_cpu_ns, NUMBER),
    .key = "target-cpu-ns",
    .name = "cpu",
    .place = FLAM_FACT_QUALITY,
    .with = OFFSET (charged_cpu_ns) },
  { FACT (charged_cpu_ns, NUMBER),
    .key = "charged-cpu-ns",
    .name = "",
    .place = FLAM_FACT_QUALITY },
  { FACT (stop_median_ns, NUMBER),
    .key = "stop-median-ns",
    .name = "stops",
    .place = FLAM_FACT_QUALITY },
  { FACT (stop_p99_ns, NUMBER),
    .key = "stop-p99-ns",
    .name = "",
    .place = FLAM_FACT_QUALITY,
    .with = OFFSET (stop_median_ns) },
  { FACT (pages_count, FLAG), .key = "pages-count" },
  { .member = NULL },
};

#define MEMBER(type, facts, fact) G_STRUCT_MEMBER (type, facts, (fact)->offset)

gboolean
flam_fact_is_known (const FlamFact *fact, const FlamFacts *facts)
{
  const FlamFacts *unknown = &flam_facts_unknown;

  switch (fact->type)
    {
    case FLAM_FACT_TEXT:
      return *MEMBER (const char *, facts, fact) != '\0';
    case FLAM_FACT_FLAG:
      return MEMBER (gboolean, facts, fact) != MEMBER (gboolean, unknown, fact);
    case FLAM_FACT_SHARE:
      return MEMBER (double, facts, fact) != MEMBER (double, unknown, fact);
    case FLAM_FACT_NUMBER:
    case FLAM_FACT_COUNT:
    default:
      return MEMBER (gint64, facts, fact) != 0;
    }
}

gboolean
flam_fact_is_shown (const FlamFact *fact, const FlamFacts *facts)
{
  if (fact->with != 0)
    return G_STRUCT_MEMBER (gint64, facts, fact->with) != 0;
  return flam_fact_is_known (fact, facts);
}

char *
flam_fact_to_text (const FlamFact *fact, const FlamFacts *facts)
{
  switch (fact->type)
    {
    case FLAM_FACT_TEXT:
      return g_strdup (MEMBER (const char *, facts, fact));
    case FLAM_FACT_FLAG:
      return g_strdup_printf ("%d", MEMBER (gboolean, facts, fact));
    case FLAM_FACT_SHARE:
      return g_strdup_printf ("%g", MEMBER (double, facts, fact));
    case FLAM_FACT_COUNT:
      return g_strdup_printf ("%" G_GUINT64_FORMAT,
                              MEMBER (guint64, facts, fact));
    case FLAM_FACT_NUMBER:
    default:
      return g_strdup_printf ("%" G_GINT64_FORMAT,
                              MEMBER (gint64, facts, fact));
    }
}

const FlamFact *
flam_fact_of_key (const char *key)
{
  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (fact->key != NULL && strcmp (fact->key, key) == 0)
      return fact;
  return NULL;
}
