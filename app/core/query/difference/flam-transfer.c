/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-transfer.h"

#include "flam-sample-filter.h"
#include "flam-weights.h"

#include <string.h>

typedef struct
{
  const FlamProfile *from, *to;
  const FlamSelection *selection;
  FlamSelection *carried;
  guint without;
} Carry;

/* --- measure ------------------------------------------------------------- */

/* Measures that count samples are all in the same unit. */
static gboolean
is_fit (const Carry *carry, guint measure)
{
  const FlamSelection *selection = carry->selection;
  const FlamMeasure wanted =
      flam_selection_measure (selection, carry->from, selection->measure);
  const FlamMeasure other =
      flam_selection_measure (selection, carry->to, measure);

  return flam_measure_is_like (&other, &wanted);
}

/* The file's default measure if it fits; otherwise the first that fits. */
static int
find_alike (const Carry *carry)
{
  guint first = flam_weights_default_measure (carry->to);

  if (is_fit (carry, first))
    return (int)first;
  for (guint i = 0; i < carry->to->n_measures; i++)
    if (is_fit (carry, i))
      return (int)i;
  return -1;
}

static gboolean
carry_measure (Carry *carry)
{
  const FlamMeasure *wanted;
  const char *id;
  int found;

  if (carry->selection->measure >= carry->from->n_measures ||
      carry->to->n_measures == 0)
    return FALSE;
  wanted = &carry->from->measures[carry->selection->measure];
  id = flam_profile_string (carry->from, wanted->id);
  found = flam_profile_find_measure (carry->to, id);
  if (found < 0 || !is_fit (carry, (guint)found))
    {
      carry->without |= FLAM_TRANSFER_MEASURE;
      found = find_alike (carry);
    }
  carry->carried->measure = (guint)MAX (found, 0);
  return found >= 0;
}

/* --- threads ------------------------------------------------------------- */

/* A thread is identified by its name and its process's name, not by its id. */
static char *
name_thread (const FlamProfile *profile, FlamThreadId thread)
{
  FlamProcessId process = profile->threads.process[thread];

  return g_strdup_printf (
      "%s/%s",
      flam_profile_string (profile, profile->processes.name[process]),
      flam_profile_string (profile, profile->threads.name[thread]));
}

static void
carry_threads (Carry *carry)
{
  g_autoptr (GHashTable) wanted =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) found =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const GArray *threads = carry->selection->threads;

  if (threads == NULL)
    return;
  for (guint i = 0; i < threads->len; i++)
    g_hash_table_add (
        wanted, name_thread (carry->from, g_array_index (threads, FlamId, i)));
  flam_selection_no_threads (carry->carried);
  for (FlamId t = 0; t < carry->to->threads.n; t++)
    {
      g_autofree char *name = name_thread (carry->to, t);

      if (!g_hash_table_contains (wanted, name))
        continue;
      flam_selection_add_thread (carry->carried, t);
      g_hash_table_add (found, g_steal_pointer (&name));
    }
  if (g_hash_table_size (found) == 0 && threads->len > 0)
    {
      flam_selection_all_threads (carry->carried);
      carry->without |= FLAM_TRANSFER_ALL_THREADS;
    }
  else if (g_hash_table_size (found) < g_hash_table_size (wanted))
    carry->without |= FLAM_TRANSFER_THREADS;
}

/* --- time and states ----------------------------------------------------- */

static void
carry_time (Carry *carry)
{
  const FlamMeasure *measure = &carry->to->measures[carry->carried->measure];
  gint64 from, to;

  flam_selection_get_range (carry->selection, carry->from, &from, &to);
  carry->carried->from = from;
  carry->carried->to = to;
  if ((from == G_MININT64 && to == G_MAXINT64) ||
      (from < carry->to->facts.duration_ns &&
       (measure->source != FLAM_FROM_SAMPLES ||
        carry->to->samples.time != NULL)))
    return;
  carry->carried->from = G_MININT64;
  carry->carried->to = G_MAXINT64;
  carry->without |= FLAM_TRANSFER_TIME;
}

static void
carry_states (Carry *carry)
{
  if (carry->selection->states != FLAM_STATES_ALL &&
      carry->from->samples.state != NULL && carry->to->samples.state == NULL)
    carry->without |= FLAM_TRANSFER_STATES;
}

/* --- labels -------------------------------------------------------------- */

GPtrArray *
flam_transfer_drop_labels (FlamSelection *selection, const FlamProfile *profile)
{
  g_autoptr (GPtrArray) labels = g_steal_pointer (&selection->labels);
  g_autoptr (GPtrArray) dropped = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; labels != NULL && i < labels->len; i++)
    if (flam_sample_labels_any (profile, labels->pdata[i]))
      flam_selection_add_label (selection, labels->pdata[i]);
    else
      g_ptr_array_add (dropped, g_strdup (labels->pdata[i]));
  return dropped->len > 0 ? g_steal_pointer (&dropped) : NULL;
}

static void
carry_labels (Carry *carry)
{
  g_autoptr (GPtrArray) dropped =
      flam_transfer_drop_labels (carry->carried, carry->to);

  if (dropped != NULL)
    carry->without |= FLAM_TRANSFER_LABELS;
}

FlamSelection *
flam_transfer_selection (const FlamProfile *from,
                         const FlamSelection *selection,
                         const FlamProfile *to,
                         guint *without)
{
  g_autoptr (FlamSelection) carried = flam_selection_copy (selection);
  Carry carry = { from, to, selection, carried, 0 };

  if (!carry_measure (&carry))
    return NULL;
  carry_threads (&carry);
  carry_time (&carry);
  carry_states (&carry);
  carry_labels (&carry);
  *without = carry.without;
  return g_steal_pointer (&carried);
}

/* --- before and now in one --------------------------------------------------
 */

int
flam_transfer_find_before (const FlamProfile *profile, guint measure)
{
  const FlamMeasure *now = &profile->measures[measure];
  g_autofree char *id =
      g_strconcat (flam_profile_string (profile, now->id), "-base", NULL);
  int before = flam_profile_find_measure (profile, id);

  if (before < 0)
    before = flam_profile_find_measure (profile, "base");
  if (before < 0 || (guint)before == measure ||
      !flam_measure_is_like (&profile->measures[before], now))
    return -1;
  return before;
}
