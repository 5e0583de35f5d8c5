/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Data on the whole capture: facts and warnings. */

#include "flam-builder-private.h"

#include <stdarg.h>
#include <string.h>

#define WARNINGS_MAX 100
/* The number of facts of newer versions that are kept, and the size of one. */
#define OTHERS_MAX 100
#define OTHER_MAX 4096
/* Rows of FACTS: a crafted file may contain a million keys. */
#define NOTED_MAX 1000

static const char *
keep_text (FlamBuilder *builder, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text ? text : "", -1);

  return g_string_chunk_insert_const (builder->texts, valid);
}

FlamFacts *
flam_builder_facts (FlamBuilder *builder)
{
  return &builder->facts;
}

void
flam_builder_set_format (FlamBuilder *builder, const char *importer_id)
{
  builder->facts.format = keep_text (builder, importer_id);
}

void
flam_builder_set_command (FlamBuilder *builder, const char *command)
{
  builder->facts.command = keep_text (builder, command);
}

void
flam_builder_set_partial (FlamBuilder *builder, double read_fraction)
{
  builder->facts.complete = FALSE;
  builder->facts.read_fraction = CLAMP (read_fraction, 0, 1);
}

static void
keep_other (FlamBuilder *builder, const char *key, const char *value)
{
  if (builder->others->len >= 2 * OTHERS_MAX ||
      strnlen (value, OTHER_MAX) == OTHER_MAX)
    return;
  g_ptr_array_add (builder->others, (gpointer)keep_text (builder, key));
  g_ptr_array_add (builder->others, (gpointer)keep_text (builder, value));
}

void
flam_builder_set_fact (FlamBuilder *builder, const char *key, const char *value)
{
  const FlamFact *fact = flam_fact_of_key (key);
  gint64 number = MAX (g_ascii_strtoll (value, NULL, 10), 0);
  gpointer member;

  if (fact == NULL)
    {
      keep_other (builder, key, value);
      return;
    }
  member = G_STRUCT_MEMBER_P (&builder->facts, fact->offset);
  if (fact->type == FLAM_FACT_TEXT)
    *(const char **)member = keep_text (builder, value);
  else if (fact->type == FLAM_FACT_FLAG)
    *(gboolean *)member = number != 0;
  else
    *(gint64 *)member = number;
}

void
flam_builder_copy_facts (FlamBuilder *builder, const FlamFacts *facts)
{
  builder->facts = *facts;
  flam_builder_set_format (builder, facts->format);
  flam_builder_set_command (builder, facts->command);
  for (guint i = 0; facts->others[i] != NULL; i += 2)
    keep_other (builder, facts->others[i], facts->others[i + 1]);
  for (guint i = 0; facts->warnings[i] != NULL; i++)
    flam_builder_warn (builder, "%s", facts->warnings[i]);
}

void
flam_builder_set_peak_time (FlamBuilder *builder, gint64 time)
{
  builder->peak_time = time;
}

void
flam_builder_warn (FlamBuilder *builder, const char *format, ...)
{
  g_autofree char *text = NULL;
  const char *kept;
  va_list args;

  if (builder->warnings->len >= WARNINGS_MAX)
    return;
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  kept = keep_text (builder, text);
  if (!g_ptr_array_find (builder->warnings, kept, NULL))
    g_ptr_array_add (builder->warnings, (gpointer)kept);
}

void
flam_builder_warn_count (FlamBuilder *builder,
                         guint64 n,
                         const char *one,
                         const char *many)
{
  if (n > 0)
    flam_builder_warn (builder, n == 1 ? one : many, n);
}

/* --- as they were noted --------------------------------------------------- */

void
flam_builder_note_fact (FlamBuilder *builder,
                        const char *key,
                        const char *value)
{
  gint64 values[] = { flam_builder_string (builder, key, -1),
                      flam_builder_string (builder, value, -1) };

  flam_tables_add (&builder->tables, FLAM_TABLE_FACTS, values);
}

void
flam_builder_note_number (FlamBuilder *builder, const char *key, gint64 value)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);

  flam_builder_note_fact (builder, key, text);
}

void
flam_builder_note_facts (FlamBuilder *builder, const FlamFacts *facts)
{
  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (fact->key != NULL && flam_fact_is_known (fact, facts))
      {
        g_autofree char *value = flam_fact_to_text (fact, facts);

        flam_builder_note_fact (builder, fact->key, value);
      }
  for (guint i = 0; facts->others[i] != NULL; i += 2)
    flam_builder_note_fact (builder, facts->others[i], facts->others[i + 1]);
}

void
flam_builder_note_warning (FlamBuilder *builder, const char *format, ...)
{
  g_autofree char *text = NULL;
  gint64 value;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  value = flam_builder_string (builder, text, -1);
  flam_tables_add (&builder->tables, FLAM_TABLE_WARNINGS, &value);
  flam_builder_warn (builder, "%s", text);
}

const char *
flam_builder_warning (const FlamBuilder *builder, guint i)
{
  return i < builder->warnings->len ? builder->warnings->pdata[i] : NULL;
}

const char *
flam_builder_noted (const FlamBuilder *builder, const char *key)
{
  const FlamStrings *strings = &builder->tables.strings;
  const FlamFactRows *facts = &builder->tables.facts;

  for (guint32 i = facts->n; i-- > 0;)
    if (strcmp (flam_strings_get (strings, facts->key[i]), key) == 0)
      return flam_strings_get (strings, facts->value[i]);
  return NULL;
}

gint64
flam_builder_noted_number (const FlamBuilder *builder, const char *key)
{
  const char *value = flam_builder_noted (builder, key);

  return value != NULL ? MAX (g_ascii_strtoll (value, NULL, 10), 0) : -1;
}

/* Whether a fact follows from the tables, and is written with them. */
static gboolean
is_of_tables (const char *key)
{
  static const char *const keys[] = {
    FLAM_FACT_PEAK_TIME, FLAM_FACT_HAS_TIMES,     FLAM_FACT_MEASURES_LISTED,
    FLAM_FACT_SPANS,     FLAM_FACT_SAMPLED_SPANS, NULL
  };

  return g_strv_contains (keys, key);
}

/* The last value of each key, in order; for a file with thousands of keys,
 * which Flambeau does not write, the last ones. */
static void
fold_rows (FlamBuilder *builder)
{
  const FlamFactRows *facts = &builder->tables.facts;
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  guint32 rows[NOTED_MAX];
  guint n = 0;

  for (guint32 i = facts->n; i-- > 0 && n < NOTED_MAX;)
    if (g_hash_table_add (seen, GUINT_TO_POINTER (facts->key[i])))
      rows[n++] = i;
  while (n-- > 0)
    {
      const char *key = flam_builder_get_string (builder, facts->key[rows[n]]);

      if (!is_of_tables (key))
        flam_builder_set_fact (
            builder,
            key,
            flam_builder_get_string (builder, facts->value[rows[n]]));
    }
}

static gint64
last_sample (const FlamSamples *samples)
{
  gint64 last = 0;

  for (guint32 i = 0; samples->time != NULL && i < samples->n; i++)
    last = MAX (last, samples->time[i]);
  return last;
}

void
flam_builder_fold_facts (FlamBuilder *builder)
{
  const FlamTables *tables = &builder->tables;
  FlamFacts *facts = &builder->facts;
  const char *times = flam_builder_noted (builder, FLAM_FACT_HAS_TIMES);

  fold_rows (builder);
  if (facts->duration_ns == 0 && tables->end.n > 0)
    facts->duration_ns = MAX (tables->end.duration[tables->end.n - 1], 0);
  if (times == NULL || strcmp (times, "0") != 0)
    {
      flam_builder_set_has_times (builder);
      flam_builder_set_origin (builder, 0);
      if (facts->duration_ns == 0)
        facts->duration_ns = builder->laid != NULL
                                 ? MAX (builder->laid->last, 0)
                                 : last_sample (&tables->profile.samples);
    }
  else
    g_clear_pointer ((gpointer *)&tables->profile.samples.time, g_free);
  for (guint32 i = 0; i < tables->warnings.n; i++)
    flam_builder_warn (
        builder,
        "%s",
        flam_builder_get_string (builder, tables->warnings.text[i]));
}
