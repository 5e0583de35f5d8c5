/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-difference-words.h"

#include "flam-core-picture.h"
#include "flam-value-text.h"

#include <glib/gi18n.h>
#include <string.h>

static gint64
total_of (const FlamViewData *view_data)
{
  return view_data->tree->total[0];
}

char *
flam_difference_relative (gint64 base, gint64 fresh, gint64 delta)
{
  g_autofree char *share = flam_format_percent (ABS (delta), base);

  if (delta == 0)
    return g_strdup ("");
  if (base == 0)
    return g_strdup (_ ("new"));
  if (fresh == 0)
    return g_strdup (_ ("gone"));
  return flam_format_change (delta, share);
}

char *
flam_difference_summary (const FlamComparison *comparison,
                         const char *before,
                         const char *now)
{
  const FlamMeasure measure = flam_tree_measure (comparison->fresh->tree);
  gint64 was = total_of (comparison->base);
  gint64 is = total_of (comparison->fresh);
  const FlamChangeEstimate estimate = flam_diff_whole (
      comparison->base->tree, comparison->fresh->tree, comparison->factor);
  g_autofree char *was_text = flam_format_whole (comparison->base->tree);
  g_autofree char *is_text = flam_format_whole (comparison->fresh->tree);
  gint64 scaled = flam_diff_scaled (was, comparison->factor);
  g_autofree char *change =
      flam_value_text_change (&measure, is - scaled, &estimate.delta);
  g_autofree char *relative =
      flam_difference_relative (scaled, is, is - scaled);

  return is == scaled
             /* Translators: a file and its total, twice */
             ? g_strdup_printf (_ ("Before: %s, %s. Now: %s, %s."),
                                before,
                                was_text,
                                now,
                                is_text)
             /* Translators: a file and its total, twice; the change, and its
              * share */
             : g_strdup_printf (_ ("Before: %s, %s. Now: %s, %s: %s (%s)."),
                                before,
                                was_text,
                                now,
                                is_text,
                                change,
                                relative);
}

/* --- sides ---------------------------------------------------------------- */

static const char *
measure_name (const FlamViewData *view_data)
{
  return flam_value_text_measure (view_data->profile,
                                  flam_view_data_get_measure (view_data));
}

static char *
name_threads (const FlamProfile *profile, const FlamSelection *selection)
{
  const GArray *threads = selection->threads;
  guint n = threads != NULL ? threads->len : 0;

  if (threads == NULL)
    return g_strdup (_ ("all threads"));
  if (n == 1)
    {
      FlamThreadId thread = g_array_index (threads, FlamId, 0);

      return flam_format_visible (
          flam_profile_string (profile, profile->threads.name[thread]));
    }
  return g_strdup_printf (ngettext ("%u thread", "%u threads", n), n);
}

static char *
name_range (const FlamViewData *view_data)
{
  gint64 begin = MAX (view_data->selection->from, 0);
  gint64 length =
      flam_selection_get_length (view_data->selection, view_data->profile);
  g_autofree char *from = flam_format_value (begin, FLAM_UNIT_NS);
  g_autofree char *to = flam_format_value (begin + length, FLAM_UNIT_NS);

  return g_strdup_printf ("%s – %s", from, to);
}

char *
flam_difference_side (FlamBaselineKind kind,
                      const FlamViewData *side,
                      const char *title)
{
  switch (kind)
    {
    case FLAM_BASELINE_RANGE:
      return name_range (side);
    case FLAM_BASELINE_THREADS:
      return name_threads (side->profile, side->selection);
    case FLAM_BASELINE_MEASURE:
      return g_strdup (measure_name (side));
    case FLAM_BASELINE_CAPTURE:
    case FLAM_BASELINE_NONE:
    default:
      return g_strdup (title);
    }
}

char *
flam_difference_pair (const FlamProfile *now,
                      const FlamProfile *before,
                      const FlamMeasurePair *pair)
{
  const char *name = flam_value_text_measure (now, &now->measures[pair->now]);
  const char *other =
      flam_value_text_measure (before, &before->measures[pair->before]);

  if (strcmp (name, other) == 0)
    return g_strdup (name);
  /* Translators: names of measures */
  return g_strdup_printf (_ ("%s, before: %s"), name, other);
}

/* --- notes ---------------------------------------------------------------- */

static void
add (GString *notes, const char *sentence)
{
  if (notes->len > 0)
    g_string_append_c (notes, ' ');
  g_string_append (notes, sentence);
}

static void
add_taken (GString *notes, char *sentence)
{
  add (notes, sentence);
  g_free (sentence);
}

/* Filters that only apply to the current side. */
static void
add_labels (GString *notes, const FlamComparison *comparison)
{
  g_autoptr (FlamSelection) asked =
      flam_selection_copy (comparison->fresh->selection);
  g_autoptr (GPtrArray) dropped =
      flam_transfer_drop_labels (asked, comparison->base->profile);

  for (guint i = 0; dropped != NULL && i < dropped->len; i++)
    add_taken (notes,
               g_strdup_printf (
                   /* Translators: a label, KEY=VALUE */
                   _ ("No sample in the baseline has the label “%s”: the "
                      "baseline is compared without that filter."),
                   (const char *)dropped->pdata[i]));
}

static void
add_without (GString *notes, const FlamComparison *comparison)
{
  guint without = comparison->without;

  if (without & FLAM_TRANSFER_MEASURE)
    add_taken (
        notes,
        /* Translators: names of measures */
        g_strdup_printf (_ ("“%s” in the baseline is compared with “%s” now."),
                         measure_name (comparison->base),
                         measure_name (comparison->fresh)));
  if (without & FLAM_TRANSFER_THREADS)
    add (notes, _ ("Some of the selected threads are not in the baseline."));
  if (without & FLAM_TRANSFER_ALL_THREADS)
    add (notes,
         _ ("The selected threads are not in the baseline: all of its threads "
            "are compared."));
  if (without & FLAM_TRANSFER_TIME)
    add (notes,
         _ ("The selected time range is not in the baseline: all of the "
            "baseline is compared."));
  if (without & FLAM_TRANSFER_STATES)
    add (notes,
         _ ("The baseline does not record what threads were doing: all of it "
            "is compared."));
  if (without & FLAM_TRANSFER_LABELS)
    add_labels (notes, comparison);
}

static void
add_scale (GString *notes, const FlamComparison *comparison, gboolean ranges)
{
  FlamDiffScale factor = comparison->factor;
  gint64 was = comparison->base_length, is = comparison->fresh_length;
  g_autofree char *was_text = flam_format_value (was, FLAM_UNIT_NS);
  g_autofree char *is_text = flam_format_value (is, FLAM_UNIT_NS);
  g_autofree char *by = g_strdup_printf (
      "%.3g", (double)factor.to / (double)(factor.from != 0 ? factor.from : 1));

  if (comparison->scale == FLAM_SCALE_TIME && (was == 0 || is == 0))
    add (notes, _ ("The duration is unknown: nothing is scaled."));
  else if (comparison->scale != FLAM_SCALE_NONE && factor.from == factor.to)
    return;
  else if (comparison->scale == FLAM_SCALE_SHARES)
    add_taken (notes,
               g_strdup_printf (_ ("The baseline is multiplied by %s, so that "
                                   "both totals are equal."),
                                by));
  else if (comparison->scale == FLAM_SCALE_TIME)
    add_taken (notes,
               /* Translators: two lengths of time, and a factor */
               g_strdup_printf (_ ("It lasted %s before and %s now: the "
                                   "baseline is multiplied by %s."),
                                was_text,
                                is_text,
                                by));
  else if (ranges && was != is)
    add_taken (
        notes,
        g_strdup_printf (_ ("It lasted %s before and %s now: the figures are "
                            "not scaled."),
                         was_text,
                         is_text));
}

static void
add_missing (GString *notes, const FlamComparison *comparison)
{
  const FlamMeasure measure = flam_tree_measure (comparison->fresh->tree);
  const FlamTreeChange *now =
      comparison->changed[FLAM_DIFF_FRESH]->tree->change;
  const FlamTreeChange *was = comparison->changed[FLAM_DIFF_BASE]->tree->change;
  gint64 gone = now->missing, fresh = was->missing;
  g_autofree char *gone_text =
      flam_format_estimated (&now->missing_estimate, &measure, gone);
  g_autofree char *gone_share =
      flam_format_percent (gone, total_of (comparison->base));
  g_autofree char *fresh_text =
      flam_format_estimated (&was->missing_estimate, &measure, fresh);
  g_autofree char *fresh_share =
      flam_format_percent (fresh, total_of (comparison->fresh));

  if (gone > 0)
    add_taken (
        notes,
        /* Translators: a weight and its share */
        g_strdup_printf (_ ("Gone: frames with %s (%s) of the baseline."),
                         gone_text,
                         gone_share));
  if (fresh > 0)
    add_taken (
        notes,
        g_strdup_printf (_ ("New: frames with %s (%s) of the current total."),
                         fresh_text,
                         fresh_share));
}

static gboolean
is_same (const FlamComparison *comparison)
{
  return comparison->n_rows == 0 || comparison->rows[0].delta == 0;
}

char *
flam_difference_notes (const FlamComparison *comparison, FlamBaselineKind kind)
{
  GString *notes = g_string_new (NULL);
  const FlamSelection *was = comparison->base->selection;
  const FlamSelection *is = comparison->fresh->selection;

  if (kind == FLAM_BASELINE_RANGE && was->from == is->from && was->to == is->to)
    add (notes,
         _ ("This time range is the baseline. Select another one to compare "
            "with it."));
  else if (kind == FLAM_BASELINE_THREADS && was->threads != NULL &&
           flam_selection_equal (was, is))
    add (notes,
         _ ("These threads are the baseline. Select others to compare with "
            "them."));
  else if (is_same (comparison))
    add (notes, _ ("Nothing has changed."));
  add_scale (notes, comparison, kind == FLAM_BASELINE_RANGE);
  add_missing (notes, comparison);
  add_without (notes, comparison);
  return g_string_free (notes, FALSE);
}

char *
flam_difference_refusal (const FlamComparison *comparison,
                         const FlamProfile *baseline)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < baseline->n_measures; i++)
    g_string_append_printf (
        names,
        "%s“%s”",
        i > 0 ? ", " : "",
        flam_value_text_measure (baseline, &baseline->measures[i]));
  /* Translators: the name of a measure, and of those of the other file */
  return g_strdup_printf (
      comparison->pairs->len > 0
          ? _ ("“%s” and the measures of the baseline (%s) have different "
               "units. Choose another measure:")
          : _ ("“%s” and the measures of the baseline (%s) have different "
               "units, and no other measure fits."),
      measure_name (comparison->fresh),
      names->str);
}
