/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-sample-filter.h"

#include <string.h>

/* --- units ---------------------------------------------------------------- */

/* A unit's kind, and its size in the smallest units of that kind. As in
 * google/pprof, internal/measurement: a kB is 1024 bytes. */
typedef struct
{
  const char *name;
  char kind;
  double factor;
} Unit;

static const Unit units[] = {
  { "b", 'b', 1 },
  { "byte", 'b', 1 },
  { "kb", 'b', 1024.0 },
  { "kbyte", 'b', 1024.0 },
  { "kilobyte", 'b', 1024.0 },
  { "mb", 'b', 1024.0 * 1024 },
  { "mbyte", 'b', 1024.0 * 1024 },
  { "megabyte", 'b', 1024.0 * 1024 },
  { "gb", 'b', 1024.0 * 1024 * 1024 },
  { "gbyte", 'b', 1024.0 * 1024 * 1024 },
  { "gigabyte", 'b', 1024.0 * 1024 * 1024 },
  { "tb", 'b', 1024.0 * 1024 * 1024 * 1024 },
  { "ns", 't', 1 },
  { "nanosecond", 't', 1 },
  { "us", 't', 1e3 },
  { "microsecond", 't', 1e3 },
  { "ms", 't', 1e6 },
  { "millisecond", 't', 1e6 },
  { "s", 't', 1e9 },
  { "sec", 't', 1e9 },
  { "second", 't', 1e9 },
  { "min", 't', 60e9 },
  { "minute", 't', 60e9 },
  { "hr", 't', 3600e9 },
  { "hour", 't', 3600e9 },
};

static const Unit *
find_unit (const char *name)
{
  g_autofree char *one = g_ascii_strdown (name, -1);
  gsize length = strlen (one);

  for (guint pass = 0; pass < 2; pass++)
    {
      for (guint i = 0; i < G_N_ELEMENTS (units); i++)
        if (strcmp (units[i].name, one) == 0)
          return &units[i];
      if (length > 2 && one[length - 1] == 's')
        one[length - 1] = '\0';
    }
  return NULL;
}

char *
flam_sample_labels_number_text (gint64 number, const char *unit)
{
  return find_unit (unit) != NULL
             ? g_strdup_printf ("%" G_GINT64_FORMAT " %s", number, unit)
             : g_strdup_printf ("%" G_GINT64_FORMAT, number);
}

/* --- conditions ----------------------------------------------------------- */

/* Compares a label's number with an end of a range, "4kb"; a number without a
 * unit is in the unit of the label. FALSE: it cannot be compared. */
static gboolean
compare (gint64 number, const char *unit, const char *end, int *order)
{
  char *rest;
  gint64 wanted = g_ascii_strtoll (end, &rest, 10);
  const Unit *own = find_unit (unit);
  const Unit *other = *rest != '\0' ? find_unit (rest) : NULL;
  double x = (double)number, y = (double)wanted;

  if (rest == end)
    return FALSE;
  if (*rest == '\0')
    {
      *order = (number > wanted) - (number < wanted);
      return TRUE;
    }
  if (other != NULL && own != NULL && own->kind == other->kind)
    {
      x *= own->factor;
      y *= other->factor;
    }
  else if (g_ascii_strcasecmp (rest, unit) != 0)
    return FALSE;
  *order = (x > y) - (x < y);
  return TRUE;
}

static gboolean
is_in_range (gint64 number, const char *unit, const char *range)
{
  g_auto (GStrv) ends = g_strsplit (range, ":", 2);
  int order = 0;

  if (ends[0] == NULL)
    return FALSE;
  if (ends[1] == NULL)
    return compare (number, unit, ends[0], &order) && order == 0;
  if (*ends[0] == '\0' && *ends[1] == '\0')
    return FALSE;
  if (*ends[0] != '\0' &&
      !(compare (number, unit, ends[0], &order) && order >= 0))
    return FALSE;
  return *ends[1] == '\0' ||
         (compare (number, unit, ends[1], &order) && order <= 0);
}

static gboolean
label_matches (const FlamProfile *profile, FlamId row, const char *condition)
{
  const FlamSampleLabels *labels = &profile->labels;
  const char *key = flam_profile_string (profile, labels->key[row]);
  gsize length = strlen (key);
  const char *wanted = condition + length + 1;

  if (strncmp (condition, key, length) != 0 || condition[length] != '=')
    return FALSE;
  return strcmp (flam_profile_string (profile, labels->value[row]), wanted) ==
             0 ||
         (labels->unit[row] != FLAM_NONE &&
          is_in_range (labels->number[row],
                       flam_profile_string (profile, labels->unit[row]),
                       wanted));
}

gboolean
flam_sample_labels_any (const FlamProfile *profile, const char *condition)
{
  for (FlamId row = 0; row < profile->labels.n; row++)
    if (label_matches (profile, row, condition))
      return TRUE;
  return FALSE;
}

/* --- the sets ------------------------------------------------------------- */

guint32
flam_sample_labels_n_sets (const FlamProfile *profile)
{
  const FlamSampleLabels *labels = &profile->labels;

  return labels->n > 0 ? labels->set[labels->n - 1] : 0;
}

GArray *
flam_sample_labels_keys (const FlamProfile *profile)
{
  const FlamSampleLabels *labels = &profile->labels;
  GArray *keys = g_array_new (FALSE, FALSE, sizeof (FlamId));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (FlamId row = 0; row < labels->n; row++)
    if (g_hash_table_add (seen, GUINT_TO_POINTER (labels->key[row])))
      g_array_append_val (keys, labels->key[row]);
  return keys;
}

FlamId *
flam_sample_labels_values (const FlamProfile *profile, const char *key)
{
  const FlamSampleLabels *labels = &profile->labels;
  gsize size =
      ((gsize)flam_sample_labels_n_sets (profile) + 1) * sizeof (FlamId);
  FlamId *values = g_malloc (size);

  memset (values, 0xff, size);
  for (FlamId row = labels->n; row-- > 0;)
    if (strcmp (flam_profile_string (profile, labels->key[row]), key) == 0)
      values[labels->set[row]] = labels->value[row];
  return values;
}

/* --- the filter ----------------------------------------------------------- */

void
flam_sample_filter_init (FlamSampleFilter *filter,
                         const FlamProfile *profile,
                         const FlamSelection *selection,
                         FlamId event)
{
  const FlamSampleLabels *labels = &profile->labels;
  guint n = selection->labels != NULL ? selection->labels->len : 0;
  g_autofree guint *met = NULL;

  /* Without a column of events all samples are of the first one. */
  if (event == 0 && profile->samples.event == NULL)
    event = FLAM_NONE;
  *filter = (FlamSampleFilter){ .samples = &profile->samples,
                                .event = event,
                                .states = selection->states,
                                .n_sets = flam_sample_labels_n_sets (profile) };
  if (n == 0)
    return;
  met = g_new0 (guint, filter->n_sets + 1);
  filter->sets = g_new0 (gboolean, filter->n_sets + 1);
  /* The conditions one after another: a set must meet this one and all previous
   * ones. */
  for (guint c = 0; c < n; c++)
    for (FlamId row = 0; row < labels->n; row++)
      if (met[labels->set[row]] == c &&
          label_matches (profile, row, selection->labels->pdata[c]))
        met[labels->set[row]] = c + 1;
  for (guint32 set = 0; set <= filter->n_sets; set++)
    filter->sets[set] = met[set] == n;
}

void
flam_sample_filter_clear (FlamSampleFilter *filter)
{
  g_clear_pointer (&filter->sets, g_free);
}
