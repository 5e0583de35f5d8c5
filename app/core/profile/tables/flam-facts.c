/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-facts.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *const none[] = { NULL };

const FlamFacts flam_facts_unknown = {
  .format = "",
  .command = "",
  .clock = "",
  .engine = "",
  .engine_reason = "",
  .unseen_heap = "",
  .complete = TRUE,
  .read_fraction = 1,
  .recorder_share = -1,
  .others = none,
  .warnings = none,
};

#define OFFSET(member) offsetof (FlamFacts, member)
#define FACT(type, member, key, name, section)                                 \
  FLAM_FACT_##type, #member, OFFSET (member), key, name, FLAM_FACT_##section

const FlamFact flam_fact_rows[] = {
  { FACT (TEXT, format, NULL, "format", HEAD) },
  { FACT (TEXT, command, "command", "command", HEAD) },
  { FACT (NUMBER, start_unix_ns, "start-unix-ns", "start", UNTOLD) },
  { FACT (NUMBER, duration_ns, "duration-ns", "duration", HEAD) },
  { FACT (FLAG, complete, NULL, NULL, HEAD) },
  { FACT (SHARE, read_fraction, NULL, NULL, HEAD) },
  { FACT (COUNT, lost, "lost", "lost", QUALITY) },
  { FACT (COUNT, late, "late", "late", QUALITY) },
  { FACT (COUNT, truncated_stacks, "truncated-stacks", "truncated", QUALITY) },
  { FACT (NUMBER, recorder_cpu_ns, "recorder-cpu-ns", NULL, UNTOLD) },
  { FACT (SHARE, recorder_share, NULL, NULL, QUALITY) },
  { FACT (NUMBER, recorded_cpu_ns, "target-cpu-ns", "cpu", QUALITY),
    .with = OFFSET (charged_cpu_ns) },
  { FACT (NUMBER, charged_cpu_ns, "charged-cpu-ns", "", QUALITY) },
  { FACT (NUMBER, stop_median_ns, "stop-median-ns", "stops", QUALITY) },
  { FACT (NUMBER, stop_p99_ns, "stop-p99-ns", "", QUALITY),
    .with = OFFSET (stop_median_ns) },
  { FACT (NUMBER, waiting_stops, "waiting-stops", "waiting", QUALITY) },
  { FACT (NUMBER, uncertain_stops, "uncertain-stops", "uncertain", QUALITY) },
  { FACT (NUMBER, unseen_cpu_ns, "unseen-cpu-ns", "unseen", QUALITY) },
  { FACT (NUMBER, unnamed_frames, "unnamed-frames", "unnamed", QUALITY) },
  { FACT (TEXT, clock, "clock", "clock", QUALITY) },
  { FACT (TEXT, engine, "engine", "engine", QUALITY) },
  { FACT (TEXT, engine_reason, "engine-reason", "", QUALITY) },
  { FACT (NUMBER, sample_bytes, "sample-bytes", "sampled", QUALITY) },
  { FACT (NUMBER, allocated_bytes, "allocated-bytes", "allocated", QUALITY) },
  { FACT (NUMBER, live_bytes, "live-bytes", "live at the end", QUALITY) },
  { FACT (NUMBER, peak_bytes, "peak-bytes", "at the peak", QUALITY) },
  { FACT (NUMBER, live_bytes_error, "live-bytes-error", "", QUALITY),
    .with = OFFSET (live_bytes) },
  { FACT (NUMBER, peak_bytes_error, "peak-bytes-error", "", QUALITY),
    .with = OFFSET (peak_bytes) },
  { FACT (NUMBER,
          allocated_blocks,
          "allocated-blocks",
          "blocks allocated",
          QUALITY) },
  { FACT (NUMBER, live_blocks, "live-blocks", "blocks at the end", QUALITY) },
  { FACT (NUMBER, peak_blocks, "peak-blocks", "blocks at the peak", QUALITY) },
  { FACT (TEXT, unseen_heap, "unseen-heap", "unseen heap", QUALITY) },
  { FACT (FLAG, pages_count, "pages-count", NULL, UNTOLD) },
  { .member = NULL },
};

gboolean
flam_fact_is_known (const FlamFact *fact, const FlamFacts *facts)
{
  const FlamFacts *unknown = &flam_facts_unknown;
  gconstpointer value = G_STRUCT_MEMBER_P (facts, fact->offset);

  if (fact->type == FLAM_FACT_TEXT)
    return **(const char *const *)value != '\0';
  return memcmp (value,
                 G_STRUCT_MEMBER_P (unknown, fact->offset),
                 fact->type == FLAM_FACT_FLAG ? sizeof (gboolean)
                                              : sizeof (gint64)) != 0;
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
  gconstpointer value = G_STRUCT_MEMBER_P (facts, fact->offset);

  if (fact->type == FLAM_FACT_TEXT)
    return g_strdup (*(const char *const *)value);
  if (fact->type == FLAM_FACT_FLAG)
    return g_strdup_printf ("%d", *(const gboolean *)value);
  if (fact->type == FLAM_FACT_COUNT)
    return g_strdup_printf ("%" G_GUINT64_FORMAT, *(const guint64 *)value);
  return g_strdup_printf ("%" G_GINT64_FORMAT, *(const gint64 *)value);
}

const FlamFact *
flam_fact_of_key (const char *key)
{
  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (fact->key != NULL && strcmp (fact->key, key) == 0)
      return fact;
  return NULL;
}

FlamClock
flam_facts_clock (const FlamFacts *facts)
{
  if (strcmp (facts->clock, "instructions") == 0)
    return FLAM_CLOCK_INSTRUCTIONS;
  return strcmp (facts->clock, "bytes") == 0 ? FLAM_CLOCK_BYTES
                                             : FLAM_CLOCK_TIME;
}

double
flam_facts_unseen (const FlamFacts *facts)
{
  double part = facts->charged_cpu_ns > 0 ? (double)facts->unseen_cpu_ns /
                                                (double)facts->charged_cpu_ns
                                          : 0;

  return part >= FLAM_FACTS_SEEN ? MIN (part, 1) : 0;
}

const char *
flam_facts_other (const FlamFacts *facts, const char *key)
{
  for (guint i = 0; facts->others[i] != NULL; i += 2)
    if (strcmp (facts->others[i], key) == 0)
      return facts->others[i + 1];
  return NULL;
}
