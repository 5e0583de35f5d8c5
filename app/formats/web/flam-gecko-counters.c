/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-gecko-counters.h"

#include "flam-gecko-tables.h"

typedef struct
{
  char *name;
  gint64 pid;
  FlamUnit unit;
  gboolean is_sum;         /* of its counts */
  FlamGeckoTables *tables; /* of its samples */
} Counter;

/* Later versions have an array of groups, earlier ones a single group. */
static void
read_groups (FlamJson *json, Counter *counter, FlamBuilder *builder)
{
  gboolean one = json->token == FLAM_JSON_OBJECT;

  flam_json_each (json)
    if (one)
      flam_gecko_tables_read (counter->tables, json, builder, NULL);
    else
      flam_json_each (json)
        flam_gecko_tables_read (counter->tables, json, builder, NULL);
}

static void
read_display (FlamJson *json, Counter *counter)
{
  flam_json_each (json)
    if (flam_json_key_is (json, "graphType"))
      counter->is_sum = flam_json_string_is (json, "line-accumulated");
    else if (flam_json_key_is (json, "unit"))
      counter->unit = flam_json_string_is (json, "bytes")
                          ? FLAM_UNIT_BYTES
                          : FLAM_UNIT_THOUSANDTHS;
}

static void
read_category (FlamJson *json, Counter *counter)
{
  counter->is_sum = flam_json_string_is (json, "Memory");
  counter->unit = counter->is_sum || flam_json_string_is (json, "Bandwidth")
                      ? FLAM_UNIT_BYTES
                      : FLAM_UNIT_THOUSANDTHS;
}

/* "display", which is newer, overrides "category". */
static void
read_counter (FlamJson *json, Counter *counter, FlamBuilder *builder)
{
  gboolean has_display = FALSE;

  flam_json_each (json)
    if (flam_json_key_is (json, "name"))
      {
        g_free (counter->name);
        counter->name = g_strdup (flam_json_get_string (json, NULL));
      }
    else if (flam_json_key_is (json, "display"))
      {
        has_display = TRUE;
        read_display (json, counter);
      }
    else if (!has_display && flam_json_key_is (json, "category"))
      read_category (json, counter);
    else if (flam_json_key_is (json, "pid"))
      counter->pid = flam_gecko_get_id (json);
    else if (flam_json_key_is (json, "sampleGroups") ||
             flam_json_key_is (json, "sample_groups"))
      read_groups (json, counter, builder);
    else
      flam_gecko_tables_read (counter->tables, json, builder, NULL);
}

static guint
add (FlamBuilder *builder, const Counter *counter, GHashTable *names)
{
  g_autofree char *id = g_hash_table_contains (names, counter->name)
                            ? g_strdup_printf ("%s (%" G_GINT64_FORMAT ")",
                                               counter->name,
                                               counter->pid)
                            : g_strdup (counter->name);
  guint row = flam_builder_add_counter (builder, id, counter->unit);

  g_hash_table_add (names, g_steal_pointer (&id));
  return row;
}

typedef struct
{
  gint64 time, value;
} Value;

/* Of values at the same time, the last one counts: our own files have a first
 * one that is taken as 0, and the real one after it. */
static void
take_value (GArray *values, gint64 time, gint64 value)
{
  Value new = { time, value };

  if (values->len > 0 &&
      g_array_index (values, Value, values->len - 1).time == time)
    g_array_set_size (values, values->len - 1);
  g_array_append_val (values, new);
}

/* Returns the number of values that are left out: those without a count or
 * older than the previous one, and all from the first on whose time or sum is
 * out of range. */
static guint64
take_values (const Counter *counter, gint64 now, GArray *values)
{
  const FlamGeckoCells *column = counter->tables->column;
  const FlamGeckoCells *counts = &column[FLAM_GECKO_SAMPLE_COUNT];
  gint64 offset = now, last = G_MININT64, value = 0;
  guint64 bad = 0;

  for (gsize i = 0; i < counts->n; i++)
    {
      gint64 count = flam_gecko_cell (counts, i);
      gint64 delta = flam_gecko_cell (&column[FLAM_GECKO_SAMPLE_DELTA], i);
      gint64 time = flam_gecko_cell (&column[FLAM_GECKO_SAMPLE_TIME], i);

      if ((delta != FLAM_GECKO_NOTHING &&
           __builtin_add_overflow (now, delta, &now)) ||
          (time != FLAM_GECKO_NOTHING &&
           __builtin_add_overflow (time, offset, &now)))
        return bad + counts->n - i;
      if (count == FLAM_GECKO_NOTHING || now < last)
        {
          bad++;
          continue;
        }
      if (values->len == 0)
        count = 0;
      if (!counter->is_sum)
        value = count;
      else if (__builtin_add_overflow (value, count, &value) ||
               value > G_MAXINT64 / 2 || value < G_MININT64 / 2)
        return bad + counts->n - i;
      take_value (values, now, value);
      last = now;
    }
  return bad;
}

/* Counts are read as thousandths. Sums are relative: the least one is 0. */
static guint64
add_values (FlamBuilder *builder, const Counter *counter, guint row, gint64 now)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (Value));
  guint64 bad = take_values (counter, now, values);
  gint64 scale = counter->unit == FLAM_UNIT_BYTES ? FLAM_GECKO_MILLI : 1;
  gint64 least = 0;

  for (guint i = 0; i < values->len && counter->is_sum; i++)
    least = MIN (least, g_array_index (values, Value, i).value);
  for (guint i = 0; i < values->len; i++)
    {
      const Value *value = &g_array_index (values, Value, i);

      flam_builder_add_counter_value (
          builder, row, value->time, (value->value - least) / scale);
    }
  return bad;
}

guint64
flam_gecko_counters_read (const FlamLoad *load,
                          FlamJsonText counters,
                          gint64 offset,
                          GHashTable *names)
{
  FlamBuilder *builder = load->builder;
  g_auto (FlamJson) json = { 0 };
  guint64 bad = 0;

  flam_json_open (&json, counters.text, counters.length);
  flam_json_each (&json)
    {
      Counter counter = {
        .unit = FLAM_UNIT_THOUSANDTHS,
        .tables = flam_gecko_tables_new (load),
      };
      gsize n;

      read_counter (&json, &counter, builder);
      n = counter.tables->column[FLAM_GECKO_SAMPLE_COUNT].n;
      if (counter.name == NULL)
        bad += n;
      else if (n > 0)
        bad += add_values (
            builder, &counter, add (builder, &counter, names), offset);
      flam_gecko_tables_free (counter.tables);
      g_free (counter.name);
    }
  return bad;
}
