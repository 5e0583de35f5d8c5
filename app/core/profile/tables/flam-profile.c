/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-profile-private.h"

FlamProfileBox *
flam_profile_box_new (void)
{
  FlamProfileBox *box = g_atomic_rc_box_new0 (FlamProfileBox);

  box->owned = g_ptr_array_new_with_free_func (g_free);
  box->lent = g_ptr_array_new_with_free_func (g_atomic_rc_box_release);
  return box;
}

const GArray *
flam_profile_box_extras (const FlamProfile *profile)
{
  const FlamProfileBox *box = (const FlamProfileBox *)profile;

  while (box->extras == NULL && box->base != NULL)
    box = (const FlamProfileBox *)box->base;
  return box->extras;
}

gboolean
flam_profile_has_extras (const FlamProfile *profile)
{
  const GArray *extras = flam_profile_box_extras (profile);

  return extras != NULL && extras->len > 0;
}

static void
box_clear (gpointer data)
{
  FlamProfileBox *box = data;

  if (!box->borrows)
    flam_strings_clear (&box->strings);
  g_ptr_array_unref (box->owned);
  g_ptr_array_unref (box->lent);
  g_clear_pointer (&box->extras, g_array_unref);
  g_clear_pointer (&box->texts, g_string_chunk_free);
  g_clear_pointer (&box->base, flam_profile_unref);
  if (box->lineage == 0)
    flam_cells_trim ();
}

FlamProfile *
flam_profile_ref (const FlamProfile *profile)
{
  return g_atomic_rc_box_acquire ((FlamProfile *)profile);
}

void
flam_profile_unref (FlamProfile *profile)
{
  g_atomic_rc_box_release_full (profile, box_clear);
}

const char *
flam_profile_string (const FlamProfile *profile, FlamStringId string)
{
  const FlamProfileBox *box = (const FlamProfileBox *)profile;

  return string == FLAM_NONE ? "" : flam_strings_get (&box->strings, string);
}

FlamStringId *
flam_profile_working_folders (const FlamProfile *profile)
{
  const FlamWorkingFolders *folders = &profile->working_folders;
  FlamStringId *last = g_new0 (FlamStringId, profile->processes.n + 1);

  for (FlamId i = 0; i < folders->n; i++)
    last[folders->process[i]] = folders->path[i];
  return last;
}

guint32
flam_profile_n_strings (const FlamProfile *profile)
{
  return ((const FlamProfileBox *)profile)->strings.offsets.n;
}

const char *
flam_profile_function_name (const FlamProfile *profile, FlamFunctionId function)
{
  return flam_profile_string (profile, profile->functions.name[function]);
}

const char *
flam_profile_module_name (const FlamProfile *profile, FlamFunctionId function)
{
  FlamModuleId module =
      function != FLAM_NONE ? profile->functions.module[function] : FLAM_NONE;

  return module == FLAM_NONE
             ? ""
             : flam_profile_string (profile, profile->modules.name[module]);
}

const char *
flam_measure_source_to_string (FlamMeasureSource source)
{
  static const char *const names[FLAM_N_SOURCES] = {
    "samples",         "allocated",   "allocations",   "peak",
    "peak-blocks",     "leaked",      "leaked-blocks", "temporary",
    "temporary-bytes", "peak-useful",
  };
  return names[source];
}

gboolean
flam_measure_is_like (const FlamMeasure *a, const FlamMeasure *b)
{
  return a->kind == b->kind && a->unit == b->unit;
}

int
flam_profile_find_measure (const FlamProfile *profile, const char *id)
{
  for (guint i = 0; i < profile->n_measures; i++)
    if (strcmp (flam_profile_string (profile, profile->measures[i].id), id) ==
        0)
      return i;
  return -1;
}

int
flam_profile_find_source (const FlamProfile *profile, FlamMeasureSource source)
{
  for (guint i = 0; i < profile->n_measures; i++)
    if (profile->measures[i].source == source)
      return (int)i;
  return -1;
}

int
flam_profile_find_count (const FlamProfile *profile)
{
  int i = flam_profile_find_measure (profile, "samples");

  return i >= 0 && profile->measures[i].unit == FLAM_UNIT_COUNT &&
                 profile->measures[i].source == FLAM_FROM_SAMPLES
             ? i
             : -1;
}

gint64
flam_profile_count_samples (const FlamProfile *profile)
{
  int found = flam_profile_find_count (profile);
  const FlamMeasure *measure = found >= 0 ? &profile->measures[found] : NULL;
  const guint16 *event = profile->samples.event;
  gint64 n = 0;

  if (measure == NULL)
    return profile->samples.n;
  for (guint32 i = 0; i < profile->samples.n; i++)
    if (measure->event == FLAM_NONE ||
        (event != NULL ? event[i] : 0) == measure->event)
      n += measure->weight != NULL ? measure->weight[i] : measure->denominator;
  return n / measure->denominator;
}

FlamId
flam_profile_find_mark (const FlamProfile *profile, const char *name)
{
  for (FlamId i = 0; i < profile->marks.n; i++)
    if (strcmp (flam_profile_string (profile, profile->marks.name[i]), name) ==
        0)
      return i;
  return FLAM_NONE;
}

gboolean
flam_profile_has_kind (const FlamProfile *profile, FlamMeasureKind kind)
{
  for (guint i = 0; i < profile->n_measures; i++)
    if (profile->measures[i].kind == kind)
      return TRUE;
  return FALSE;
}

guint32
flam_profile_sample_cells (const FlamProfile *profile)
{
  const FlamThreads *threads = &profile->threads;
  guint32 end = 0;

  for (FlamId t = 0; t < threads->n; t++)
    end = MAX (end, threads->first_sample[t] + threads->n_samples[t]);
  return end;
}

gboolean
flam_profile_extends (const FlamProfile *later, const FlamProfile *earlier)
{
  const FlamProfileBox *box = (const FlamProfileBox *)later;
  const FlamProfileBox *other = (const FlamProfileBox *)earlier;

  return box->lineage != 0 && box->lineage == other->lineage &&
         later->samples.n >= earlier->samples.n &&
         later->stacks.n >= earlier->stacks.n;
}

guint
flam_profile_statuses (const FlamProfile *profile)
{
  guint8 statuses = 0;

  for (FlamId i = 0; i < profile->frames.n; i++)
    statuses |= profile->frames.status[i];
  return statuses;
}
