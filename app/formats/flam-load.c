/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-load.h"

typedef struct
{
  gpointer data;
  GDestroyNotify end;
} Kept;

void
flam_load_init (FlamLoad *load,
                const FlamSource *source,
                FlamBuilder *builder,
                const FlamLoadOptions *options)
{
  static const FlamLoadOptions no_options;

  *load = (FlamLoad){ .source = source,
                      .builder = builder,
                      .options = options != NULL ? options : &no_options };
  flam_column_init (&load->kept, sizeof (Kept));
}

void
flam_load_clear (FlamLoad *load)
{
  for (gsize i = load->kept.n; i > 0; i--)
    {
      const Kept *kept = &flam_column_at (&load->kept, Kept, i - 1);
      kept->end (kept->data);
    }
  flam_column_clear (&load->kept);
}

gpointer
flam_load_keep (FlamLoad *load, gpointer data, GDestroyNotify end)
{
  Kept kept = { data, end };

  flam_column_append (&load->kept, Kept, kept);
  return data;
}

GHashTable *
flam_load_table (FlamLoad *load, FlamKey key, GDestroyNotify free_value)
{
  static const struct
  {
    GHashFunc hash;
    GEqualFunc equal;
    GDestroyNotify free;
  } keys[] = {
    [FLAM_KEY_DIRECT] = { NULL, NULL, NULL },
    [FLAM_KEY_TEXT] = { g_str_hash, g_str_equal, g_free },
    [FLAM_KEY_NUMBER] = { flam_hash_int64, g_int64_equal, g_free },
  };

  return flam_load_clears (
      load,
      g_hash_table_new_full (
          keys[key].hash, keys[key].equal, keys[key].free, free_value),
      g_hash_table_unref);
}

gboolean
flam_load_step (const FlamLoad *load, gconstpointer at, GError **error)
{
  return flam_progress_step (
      load->options->progress,
      flam_source_fraction (load->source,
                            (const guint8 *)at - load->source->data),
      error);
}

void
flam_load_partial (const FlamLoad *load, gconstpointer at, const char *why, ...)
{
  gsize size = MAX (load->source->size, 1);
  gsize before = (const guint8 *)at - load->source->data;
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, why);
  text = g_strdup_vprintf (why, args);
  va_end (args);
  flam_builder_set_partial (load->builder,
                            at != NULL ? (double)before / size : 1);
  flam_builder_warn (load->builder, "%s", text);
}

guint
flam_load_measure (FlamBuilder *builder,
                   const FlamMeasureRow *row,
                   int column,
                   FlamId event)
{
  return flam_builder_add_measure (
      builder, row->id, row->name, row->unit, row->kind, column, event);
}

guint
flam_load_measures_n (FlamBuilder *builder,
                      const FlamStandardMeasure *measures,
                      guint n)
{
  guint first = 0;

  for (guint i = 0; i < n; i++)
    flam_builder_add_column (builder);
  for (guint i = 0; i < n; i++)
    {
      guint measure = flam_builder_add_standard_measure (
          builder, measures[i], i, FLAM_NONE);
      if (i == 0)
        first = measure;
    }
  return first;
}

FlamId
flam_load_frame (FlamBuilder *builder,
                 const char *name,
                 gssize length,
                 FlamFunctionKind kind)
{
  return flam_builder_frame (
      builder,
      flam_builder_function_named (
          builder, flam_builder_string (builder, name, length), kind),
      0,
      0,
      0);
}

FlamId
flam_load_stack (FlamBuilder *builder, const GArray *frames)
{
  FlamId stack = FLAM_NONE;

  for (guint i = frames->len; i > 0; i--)
    stack = flam_builder_stack (
        builder, stack, g_array_index (frames, FlamId, i - 1));
  return stack;
}

void
flam_load_column_of (FlamLoad *load, FlamColumn *column, gsize size)
{
  flam_column_init (column, size);
  flam_load_clears (load, column, flam_column_clear);
}

void
flam_load_interner (FlamLoad *load, FlamInterner *interner)
{
  flam_interner_init (interner);
  flam_load_clears (load, interner, flam_interner_clear);
}

static void
free_string (gpointer string)
{
  g_string_free (string, TRUE);
}

GString *
flam_load_string (FlamLoad *load)
{
  return flam_load_keep (load, g_string_new (NULL), free_string);
}
