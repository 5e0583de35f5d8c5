/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-trace-counters.h"

#include <string.h>

typedef struct
{
  gint64 time, value;
} Value;

typedef struct
{
  char *process; /* its number or text */
  char *name;
  FlamUnit unit;
  GArray *values; /* Value */
} Counter;

/* --- events --------------------------------------------------------------- */

/* A series with a separate name is another counter. The units are those that
 * Flambeau writes. */
static FlamUnit
take_series (FlamJson *json, GString *name)
{
  static const char *const series[] = {
    [FLAM_UNIT_THOUSANDTHS] = "value",
    [FLAM_UNIT_NS] = "ns",
    [FLAM_UNIT_BYTES] = "bytes",
  };
  gsize length = json->key.length;
  const char *key = json->key.text;

  for (guint i = 0; i < G_N_ELEMENTS (series); i++)
    if (series[i] != NULL && flam_json_key_is (json, series[i]))
      return i;
  if (json->key.escaped)
    key = flam_json_unescape (&json->key, &json->scratch, &length);
  g_string_append_c (name, ' ');
  g_string_append_len (name, key, (gssize)length);
  return FLAM_UNIT_THOUSANDTHS;
}

void
flam_trace_counts_read (FlamColumn *counts,
                        FlamStrings *names,
                        FlamStringId name,
                        FlamId id,
                        const FlamJsonText *args,
                        FlamTraceCount of,
                        FlamLimited *limited)
{
  g_auto (FlamJson) json = { 0 };
  g_autoptr (GString) text = g_string_new (flam_strings_get (names, name));
  gsize length;

  if (id != 0)
    g_string_append_printf (text, "[%s]", flam_strings_get (names, id));
  length = text->len;
  flam_json_open (&json, args->text, args->length);
  flam_json_each (&json)
    if (json.token == FLAM_JSON_NUMBER)
      {
        g_string_truncate (text, length);
        of.unit = take_series (&json, text);
        of.name = flam_strings_intern (names, text->str, (gssize)text->len);
        of.value = flam_json_get_scaled (
            &json, of.unit == FLAM_UNIT_THOUSANDTHS ? 1000 : 1);
        if (ABS (of.value) == G_MAXINT64 && limited->n++ == 0)
          limited->first = json.string.text;
        flam_column_append (counts, FlamTraceCount, of);
      }
}

/* --- counters ------------------------------------------------------------- */

static void
free_counter (gpointer data)
{
  Counter *counter = data;

  g_array_unref (counter->values);
  g_free (counter->process);
  g_free (counter->name);
  g_free (counter);
}

void
flam_trace_counters_init (FlamTraceCounters *counters, FlamLoad *load)
{
  counters->all = flam_arena_pointers (load, free_counter);
  counters->known = flam_arena_table (load, FLAM_KEY_TEXT, NULL);
}

static Counter *
find (FlamTraceCounters *counters,
      const FlamTraceCount *count,
      const FlamStrings *names)
{
  const char *name = flam_strings_get (names, count->name);
  g_autofree char *process =
      count->pid_name != 0
          ? g_strdup (flam_strings_get (names, count->pid_name))
          : g_strdup_printf ("%" G_GINT64_FORMAT, count->pid);
  g_autofree char *key = g_strconcat (process, "\n", name, NULL);
  Counter *counter = g_hash_table_lookup (counters->known, key);

  if (counter == NULL)
    {
      counter = g_new0 (Counter, 1);
      counter->process = g_steal_pointer (&process);
      counter->name = g_strdup (name);
      counter->unit = count->unit;
      counter->values = g_array_new (FALSE, FALSE, sizeof (Value));
      g_ptr_array_add (counters->all, counter);
      g_hash_table_insert (counters->known, g_steal_pointer (&key), counter);
    }
  return counter;
}

void
flam_trace_counters_add (FlamTraceCounters *counters,
                         const FlamColumn *counts,
                         const FlamStrings *names)
{
  for (gsize i = 0; i < counts->n; i++)
    {
      const FlamTraceCount *count = &flam_column_at (counts, FlamTraceCount, i);
      Counter *counter = find (counters, count, names);
      Value value = { count->time, count->value };

      g_array_append_val (counter->values, value);
    }
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  gint64 x = ((const Value *)a)->time, y = ((const Value *)b)->time;

  return (x > y) - (x < y);
}

static guint
add_row (const Counter *counter, GHashTable *names, FlamBuilder *builder)
{
  g_autofree char *id =
      g_hash_table_contains (names, counter->name)
          ? g_strdup_printf ("%s (%s)", counter->name, counter->process)
          : g_strdup (counter->name);
  guint row = flam_builder_add_counter (builder, id, counter->unit);

  g_hash_table_add (names, g_steal_pointer (&id));
  return row;
}

void
flam_trace_counters_finish (FlamTraceCounters *counters, FlamBuilder *builder)
{
  g_autoptr (GHashTable) names =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < counters->all->len; i++)
    {
      const Counter *counter = g_ptr_array_index (counters->all, i);
      guint row = add_row (counter, names, builder);

      g_array_sort (counter->values, compare_times);
      for (guint k = 0; k < counter->values->len; k++)
        {
          const Value *value = &g_array_index (counter->values, Value, k);

          flam_builder_add_counter_value (
              builder, row, value->time, value->value);
        }
    }
}

/* --- marks --------------------------------------------------------------- */

typedef struct
{
  gint64 time, duration;
  FlamThreadId thread;
  const char *name;
} Mark;

void
flam_trace_marks_init (FlamTraceMarks *marks, FlamLoad *load)
{
  *marks = (FlamTraceMarks){
    .marks = flam_arena_array (load, Mark),
    .open = flam_arena_table (load, FLAM_KEY_NUMBER, NULL),
  };
}

static void
end_mark (FlamTraceMarks *marks, guint64 key, gint64 time)
{
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (marks->open, &key));
  Mark *mark;

  if (number == 0)
    {
      marks->bad++;
      return;
    }
  mark = &g_array_index (marks->marks, Mark, number - 1);
  mark->duration = MAX (time - mark->time, 0);
  g_hash_table_remove (marks->open, &key);
}

static void
add_mark (FlamTraceMarks *marks, const Mark *mark, const guint64 *key)
{
  g_array_append_vals (marks->marks, mark, 1);
  if (key != NULL)
    g_hash_table_replace (marks->open,
                          g_memdup2 (key, sizeof *key),
                          GUINT_TO_POINTER (marks->marks->len));
}

void
flam_trace_marks_add (FlamTraceMarks *marks,
                      const FlamColumn *events,
                      const FlamStrings *names,
                      const FlamId *name_ids,
                      const FlamThreadId *threads)
{
  for (gsize i = 0; i < events->n; i++)
    {
      const FlamTraceMark *event = &flam_column_at (events, FlamTraceMark, i);
      FlamThreadId thread = threads[event->task];
      guint64 key = (guint64)thread << 32 | name_ids[event->id];
      Mark mark = { event->time,
                    0,
                    event->of_all ? FLAM_NONE : thread,
                    flam_strings_get (names, event->name) };

      if (event->kind == FLAM_TRACE_MARK_END)
        end_mark (marks, key, event->time);
      else
        add_mark (
            marks, &mark, event->kind == FLAM_TRACE_MARK_BEGIN ? &key : NULL);
    }
}

void
flam_trace_marks_finish (FlamTraceMarks *marks, FlamBuilder *builder)
{
  for (guint i = 0; i < marks->marks->len; i++)
    {
      const Mark *mark = &g_array_index (marks->marks, Mark, i);

      flam_builder_add_mark (
          builder, mark->time, mark->duration, mark->thread, mark->name);
    }
}
