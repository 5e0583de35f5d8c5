/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-diff.h"

#include "flam-core-picture.h"

#include <stdio.h>

static void
add_errors (JsonBuilder *json, const FlamChangeEstimate *estimate)
{
  if (!estimate->delta.sampled)
    return;
  flam_cli_json_int (json, "base_error", estimate->base.error);
  flam_cli_json_int (json, "new_error", estimate->fresh.error);
  flam_cli_json_int (json, "delta_error", estimate->delta.error);
  json_builder_set_member_name (json, "few_samples");
  json_builder_add_boolean_value (json,
                                  flam_estimate_is_few (&estimate->delta));
}

void
flam_cli_diff_json (const FlamMeasure *measure,
                    const FlamDiffRow *rows,
                    guint n)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  json_builder_set_member_name (json, "rows");
  json_builder_begin_array (json);
  for (guint i = 0; i < n; i++)
    {
      json_builder_begin_object (json);
      flam_cli_json_string (
          json, rows[i].line > 0 ? "source" : "function", rows[i].name);
      if (rows[i].line > 0)
        flam_cli_json_int (json, "line", rows[i].line);
      flam_cli_json_weight (json, "base", measure, rows[i].base);
      flam_cli_json_weight (json, "new", measure, rows[i].fresh);
      flam_cli_json_weight (json, "delta", measure, rows[i].delta);
      add_errors (json, &rows[i].estimate);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_end_object (json);
  flam_cli_print_json (json);
}

void
flam_cli_diff_csv (const FlamMeasure *measure,
                   const FlamDiffRow *rows,
                   guint n,
                   gboolean lines)
{
  printf ("%s,base,new,delta\n", lines ? "source,line" : "function");
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = flam_format_csv (rows[i].name);
      g_autofree char *base = flam_format_plain (measure, rows[i].base);
      g_autofree char *fresh = flam_format_plain (measure, rows[i].fresh);
      g_autofree char *delta = flam_format_plain (measure, rows[i].delta);

      printf ("%s,", name);
      if (lines)
        printf ("%u,", rows[i].line);
      printf ("%s,%s,%s\n", base, fresh, delta);
    }
}

void
flam_cli_diff_text (const FlamMeasure *measure,
                    const FlamDiffRow *rows,
                    guint n)
{
  for (guint i = 0; i < n && rows[i].delta != 0; i++)
    {
      const FlamChangeEstimate *of = &rows[i].estimate;
      g_autofree char *base =
          flam_format_estimated (&of->base, measure, rows[i].base);
      g_autofree char *fresh =
          flam_format_estimated (&of->fresh, measure, rows[i].fresh);
      g_autofree char *delta =
          flam_format_estimated (&of->delta, measure, ABS (rows[i].delta));

      flam_cli_print (rows[i].line > 0 ? "%s%s  %s → %s  %s:%u\n"
                                       : "%s%s  %s → %s  %s\n",
                      rows[i].delta > 0 ? "+" : "−",
                      delta,
                      base,
                      fresh,
                      rows[i].name,
                      rows[i].line);
    }
}
