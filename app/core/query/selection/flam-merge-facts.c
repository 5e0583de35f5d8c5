/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-merge-facts.h"

#include <string.h>

/* The first warning of a partial capture is the reason. */
static void
add_warnings (FlamBuilder *builder, const char *name, const FlamFacts *of)
{
  for (guint i = 0; of->warnings[i] != NULL; i++)
    {
      g_autofree char *warning =
          g_strdup_printf ("%s: %s", name, of->warnings[i]);

      if (i == 0 && !of->complete)
        flam_builder_set_partial (
            builder, flam_builder_facts (builder)->read_fraction, warning);
      else
        flam_builder_warn (builder, "%s", warning);
    }
}

void
flam_merge_add_facts (FlamBuilder *builder,
                      GString *commands,
                      const char *name,
                      const FlamFacts *of)
{
  FlamFacts *facts = flam_builder_facts (builder);

  if (*of->command != '\0' && strstr (commands->str, of->command) == NULL)
    g_string_append_printf (
        commands, "%s%s", commands->len > 0 ? " + " : "", of->command);
  if (of->start_unix_ns != 0 &&
      (facts->start_unix_ns == 0 || of->start_unix_ns < facts->start_unix_ns))
    facts->start_unix_ns = of->start_unix_ns;
  facts->complete &= of->complete;
  facts->read_fraction = MIN (facts->read_fraction, of->read_fraction);
  facts->lost += of->lost;
  facts->late += of->late;
  facts->truncated_stacks += of->truncated_stacks;
  facts->waiting_stops += of->waiting_stops;
  facts->uncertain_stops += of->uncertain_stops;
  facts->unseen_cpu_ns += of->unseen_cpu_ns;
  facts->unnamed_frames += of->unnamed_frames;
  facts->recorder_cpu_ns += of->recorder_cpu_ns;
  facts->recorded_cpu_ns += of->recorded_cpu_ns;
  facts->charged_cpu_ns += of->charged_cpu_ns;
  facts->sample_bytes = MAX (facts->sample_bytes, of->sample_bytes);
  add_warnings (builder, name, of);
}
