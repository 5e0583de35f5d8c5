/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-sysprof-counters.h"

#include "flam-bytes.h"

#include <math.h>
#include <string.h>

#define HEAD 8
#define DEFINITION 128
#define TEXT 32
#define ID 116
#define FIRST 120
#define GROUP 8
#define GROUP_SIZE 96

typedef struct
{
  gint64 time;
  gint64 value; /* of a double: in thousandths */
} Value;

typedef struct
{
  char *name;
  gboolean is_double;
  GArray *values; /* Value */
} Counter;

static void
clear_counter (gpointer data)
{
  Counter *counter = data;

  g_free (counter->name);
  g_array_unref (counter->values);
}

void
flam_sysprof_counters_init (FlamSysprofCounters *counters, FlamLoad *load)
{
  *counters = (FlamSysprofCounters){
    .known = flam_arena_table (load, FLAM_KEY_DIRECT, NULL),
    .all = flam_arena_array (load, Counter),
  };
  g_array_set_clear_func (counters->all, clear_counter);
}

static void
add_value (FlamSysprofCounters *counters,
           Counter *counter,
           gint64 time,
           const guint8 *bytes)
{
  guint64 raw = flam_bytes_get (bytes, 8);
  Value value = { time, (gint64)raw };
  double real;

  if (counter->is_double)
    {
      memcpy (&real, &raw, sizeof real);
      if (!isfinite (real))
        {
          counters->infinite++;
          return;
        }
      value.value = (gint64)CLAMP (round (1000 * real), -0x1p62, 0x1p62);
    }
  g_array_append_val (counter->values, value);
}

/* "Memory: Used", without the part that both names share. */
static char *
name_of (const guint8 *definition)
{
  g_autofree char *category = g_strndup ((const char *)definition, TEXT);
  g_autofree char *name = g_strndup ((const char *)definition + TEXT, TEXT);

  if (*name == '\0')
    return g_steal_pointer (&category);
  if (*category == '\0' || g_str_has_prefix (name, category))
    return g_steal_pointer (&name);
  return g_strdup_printf ("%s: %s", category, name);
}

static guint
count_of (const guint8 *body, gsize length, gsize size)
{
  return length < HEAD
             ? 0
             : (guint)MIN (flam_bytes_get (body, 2), (length - HEAD) / size);
}

void
flam_sysprof_counters_define (FlamSysprofCounters *counters,
                              gint64 time,
                              const guint8 *body,
                              gsize length)
{
  guint n = count_of (body, length, DEFINITION);

  for (guint i = 0; i < n; i++)
    {
      const guint8 *definition = body + HEAD + (gsize)i * DEFINITION;
      gpointer id = GUINT_TO_POINTER (flam_bytes_get (definition + ID, 3));
      Counter counter = { .is_double = definition[ID + 3] == 1 };

      if (g_hash_table_contains (counters->known, id))
        continue;
      counter.name = name_of (definition);
      counter.values = g_array_new (FALSE, FALSE, sizeof (Value));
      add_value (counters, &counter, time, definition + FIRST);
      g_array_append_val (counters->all, counter);
      g_hash_table_insert (
          counters->known, id, GUINT_TO_POINTER (counters->all->len));
    }
}

/* Unused places of a group have the id 0. */
void
flam_sysprof_counters_set (FlamSysprofCounters *counters,
                           gint64 time,
                           const guint8 *body,
                           gsize length)
{
  guint n = count_of (body, length, GROUP_SIZE);

  for (guint i = 0; i < n * GROUP; i++)
    {
      const guint8 *group = body + HEAD + (gsize)(i / GROUP) * GROUP_SIZE;
      guint place = i % GROUP;
      guint id = (guint)flam_bytes_get (group + 4 * place, 4);
      guint number = GPOINTER_TO_UINT (
          g_hash_table_lookup (counters->known, GUINT_TO_POINTER (id)));

      if (id == 0)
        continue;
      if (number == 0)
        counters->unknown++;
      else
        add_value (counters,
                   &g_array_index (counters->all, Counter, number - 1),
                   time,
                   group + 4 * GROUP + 8 * place);
    }
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  gint64 x = ((const Value *)a)->time, y = ((const Value *)b)->time;

  return (x > y) - (x < y);
}

void
flam_sysprof_counters_finish (FlamSysprofCounters *counters,
                              FlamBuilder *builder)
{
  for (guint i = 0; i < counters->all->len; i++)
    {
      const Counter *counter = &g_array_index (counters->all, Counter, i);
      guint row = flam_builder_add_counter (
          builder,
          counter->name,
          counter->is_double ? FLAM_UNIT_THOUSANDTHS : FLAM_UNIT_COUNT);

      g_array_sort (counter->values, compare_times);
      for (guint k = 0; k < counter->values->len; k++)
        {
          const Value *value = &g_array_index (counter->values, Value, k);

          flam_builder_add_counter_value (
              builder, row, value->time, value->value);
        }
    }
  flam_builder_warn_count (
      builder,
      counters->unknown,
      "%" PRIu64 " value of a counter that is not defined was left out",
      "%" PRIu64 " values of counters that are not defined were left out");
  flam_builder_warn_count (
      builder,
      counters->infinite,
      "%" PRIu64 " value of a counter was not a number and was left out",
      "%" PRIu64 " values of counters were not numbers and were left out");
}
