/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-image-private.h"

#include <errno.h>
#include <unistd.h>

guint64
flam_image_layout (void)
{
  guint64 h = sizeof (FlamFacts);

  for (guint t = 0; t < FLAM_N_TABLES; t++)
    for (guint i = 0; i < flam_table_infos[t].n_columns; i++)
      {
        const FlamColumnInfo *info = &flam_table_infos[t].columns[i];

        h = flam_hash_mix (h ^ info->size, info->offset ^ info->flags);
      }
  return h;
}

static gboolean
put_bytes (int fd, gconstpointer data, gsize size)
{
  const guint8 *p = data;

  while (size > 0)
    {
      ssize_t n = write (fd, p, size);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      p += n;
      size -= (gsize)n;
    }
  return TRUE;
}

static gboolean
put (int fd, gconstpointer data, gsize size)
{
  static const guint8 zeros[8];
  FlamImagePiece piece = { size,
                           size > 0 ? flam_hash_bytes (data, size) : 0,
                           0 };

  return put_bytes (fd, &piece, sizeof piece) && put_bytes (fd, data, size) &&
         put_bytes (fd, zeros, -size & 7);
}

static gboolean
put_absent (int fd)
{
  FlamImagePiece piece = { FLAM_IMAGE_ABSENT, 0, 0 };

  return put_bytes (fd, &piece, sizeof piece);
}

static gboolean
put_table (int fd, const FlamProfile *profile, FlamTable table)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  guint64 n = *(const guint32 *)((const char *)profile + infos->offset);

  if (!put (fd, &n, sizeof n))
    return FALSE;
  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];
      gpointer cells;

      if (!flam_image_has_column (info))
        continue;
      cells = *(gpointer *)((char *)profile + info->offset);
      if (cells == NULL ? !put_absent (fd) : !put (fd, cells, n * info->size))
        return FALSE;
    }
  return TRUE;
}

/* Texts, each with its terminating NUL. */
static void
append_text (GByteArray *texts, const char *text)
{
  g_byte_array_append (texts, (const guint8 *)text, (guint)(strlen (text) + 1));
}

static gboolean
put_strings (int fd, const FlamProfile *profile)
{
  g_autoptr (GByteArray) texts = g_byte_array_new ();

  for (FlamId i = 0; i < flam_profile_n_strings (profile); i++)
    {
      const char *text = flam_profile_string (profile, i);

      if (strlen (text) >= G_MAXUINT - texts->len)
        {
          errno = ENOTSUP;
          return FALSE;
        }
      append_text (texts, text);
    }
  return put (fd, texts->data, texts->len);
}

static gboolean
put_texts (int fd, const char *const *list)
{
  g_autoptr (GByteArray) texts = g_byte_array_new ();

  for (guint i = 0; list[i] != NULL; i++)
    append_text (texts, list[i]);
  return put (fd, texts->data, texts->len);
}

static gboolean
put_facts (int fd, const FlamFacts *facts)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new ();

  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (fact->type == FLAM_FACT_TEXT)
      g_ptr_array_add (texts, G_STRUCT_MEMBER (char *, facts, fact->offset));
  g_ptr_array_add (texts, NULL);
  return put (fd, facts, sizeof *facts) &&
         put_texts (fd, (const char *const *)texts->pdata) &&
         put_texts (fd, facts->others) && put_texts (fd, facts->warnings);
}

/* The measures, and then the columns they refer to, each once. */
static gboolean
put_measures (int fd, const FlamProfile *profile)
{
  g_autoptr (GPtrArray) columns = g_ptr_array_new ();
  g_autofree gint64 *rows = g_new (gint64, N_MEASURE * profile->n_measures + 1);

  for (guint i = 0; i < profile->n_measures; i++)
    {
      const FlamMeasure *measure = &profile->measures[i];
      gint64 *row = rows + N_MEASURE * i;
      guint column = 0;

      row[MEASURE_ID] = measure->id;
      row[MEASURE_NAME] = measure->name;
      row[MEASURE_UNIT] = measure->unit;
      row[MEASURE_KIND] = measure->kind;
      row[MEASURE_SOURCE] = measure->source;
      row[MEASURE_COLUMN] = -1;
      row[MEASURE_EVENT] =
          measure->event == FLAM_NONE ? -1 : (gint64)measure->event;
      row[MEASURE_DENOMINATOR] = measure->denominator;
      row[MEASURE_SPANS] = measure->spans;
      if (measure->weight == NULL)
        continue;
      if (!g_ptr_array_find (columns, measure->weight, &column))
        {
          column = columns->len;
          g_ptr_array_add (columns, (gpointer)measure->weight);
        }
      row[MEASURE_COLUMN] = column;
    }
  if (!put (fd, rows, N_MEASURE * profile->n_measures * sizeof *rows))
    return FALSE;
  for (guint i = 0; i < columns->len; i++)
    if (!put (fd, columns->pdata[i], profile->samples.n * sizeof (gint64)))
      return FALSE;
  return TRUE;
}

static gboolean
put_counters (int fd, const FlamProfile *profile)
{
  guint64 n = profile->n_counters;

  if (!put (fd, &n, sizeof n))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      const FlamCounter *counter = &profile->counters[i];
      gint64 row[N_COUNTER] = { [COUNTER_ID] = counter->id,
                                [COUNTER_UNIT] = counter->unit,
                                [COUNTER_VALUES] = counter->n };

      if (!put (fd, row, sizeof row) ||
          !put (fd, counter->time, counter->n * sizeof (gint64)) ||
          !put (fd, counter->value, counter->n * sizeof (gint64)))
        return FALSE;
    }
  return TRUE;
}

/* FALSE if the slices are not in sequence without gaps, as finish() leaves
 * them, or if there is data that the description does not include. */
static gboolean
can_be_written (const FlamProfile *profile)
{
  const FlamThreads *threads = &profile->threads;
  guint32 at = 0;

  for (FlamId t = 0; t < threads->n; at += threads->n_samples[t++])
    if (threads->first_sample[t] != at)
      return FALSE;
  return at == profile->samples.n && !flam_profile_has_extras (profile);
}

static gboolean
put_threads (int fd, const FlamProfile *profile)
{
  return put (
      fd, profile->threads.n_samples, profile->threads.n * sizeof (guint32));
}

gboolean
flam_image_write (const FlamProfile *profile, const char *key, int fd)
{
  guint64 head[] = { FLAM_IMAGE_MAGIC, flam_image_layout () };

  if (!can_be_written (profile))
    {
      errno = ENOTSUP;
      return FALSE;
    }
  if (!put (fd, head, sizeof head) || !put (fd, key, strlen (key)) ||
      !put_strings (fd, profile))
    return FALSE;
  for (guint t = 0; t < FLAM_N_TABLES; t++)
    if (flam_image_has_table (t) && !put_table (fd, profile, t))
      return FALSE;
  return put_threads (fd, profile) && put_measures (fd, profile) &&
         put_counters (fd, profile) &&
         put (fd, &profile->allocations.peak_time, sizeof (gint64)) &&
         put_facts (fd, &profile->facts);
}
