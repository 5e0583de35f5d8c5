/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-pprof.h"

#include <string.h>

/* In small letters and singular. */
static const struct
{
  const char *name;
  FlamUnit as;
  gint64 scale;
} units[] = {
  { "nanosecond", FLAM_UNIT_NS, 1 },
  { "ns", FLAM_UNIT_NS, 1 },
  { "microsecond", FLAM_UNIT_NS, 1000 },
  { "us", FLAM_UNIT_NS, 1000 },
  { "\xc2\xb5s", FLAM_UNIT_NS, 1000 }, /* micro sign */
  { "\xce\xbcs", FLAM_UNIT_NS, 1000 }, /* Greek mu */
  { "millisecond", FLAM_UNIT_NS, 1000000 },
  { "ms", FLAM_UNIT_NS, 1000000 },
  { "second", FLAM_UNIT_NS, 1000000000 },
  { "sec", FLAM_UNIT_NS, 1000000000 },
  { "s", FLAM_UNIT_NS, 1000000000 },
  { "byte", FLAM_UNIT_BYTES, 1 },
  { "by", FLAM_UNIT_BYTES, 1 },
  { "b", FLAM_UNIT_BYTES, 1 },
  { "kilobyte", FLAM_UNIT_BYTES, 1 << 10 },
  { "kbyte", FLAM_UNIT_BYTES, 1 << 10 },
  { "kb", FLAM_UNIT_BYTES, 1 << 10 },
  { "megabyte", FLAM_UNIT_BYTES, 1 << 20 },
  { "mbyte", FLAM_UNIT_BYTES, 1 << 20 },
  { "mb", FLAM_UNIT_BYTES, 1 << 20 },
  { "gigabyte", FLAM_UNIT_BYTES, 1 << 30 },
  { "gbyte", FLAM_UNIT_BYTES, 1 << 30 },
  { "gb", FLAM_UNIT_BYTES, 1 << 30 },
};

gboolean
flam_pprof_is_memory (const char *type, FlamUnit unit)
{
  return unit == FLAM_UNIT_BYTES || strstr (type, "objects") != NULL ||
         g_str_has_prefix (type, "alloc") || g_str_has_prefix (type, "inuse");
}

static char *
measure_id (FlamPprof *file, guint index)
{
  const FlamPprofType *type =
      &g_array_index (file->types, FlamPprofType, index);
  g_autofree char *name = flam_pprof_text (file, type->type);
  g_autofree char *unit = flam_pprof_text (file, type->unit);

  /* the second of two equal ids in a file gets its unit as a suffix */
  for (guint i = 0; i < file->types->len; i++)
    {
      g_autofree char *other = flam_pprof_text (
          file, g_array_index (file->types, FlamPprofType, i).type);
      if (i != index && strcmp (other, name) == 0)
        return g_strdup_printf ("%s-%s", name, unit);
    }
  return g_strdup (*name != '\0' ? name : "value");
}

/* For a type's values: the positive ones, or the negated negative ones, which
 * are previous values. */
static void
add_measure (FlamPprof *file, guint index, guint column, gboolean before)
{
  const FlamPprofType *type =
      &g_array_index (file->types, FlamPprofType, index);
  g_autofree char *name = flam_pprof_text (file, type->type);
  g_autofree char *id = measure_id (file, index);
  g_autofree char *base = g_strconcat (id, "-base", NULL);

  flam_builder_add_measure (file->builder,
                            before ? base : id,
                            before          ? base
                            : *name != '\0' ? name
                                            : "value",
                            type->as,
                            flam_pprof_is_memory (name, type->as)
                                ? FLAM_MEASURE_ALLOC
                                : FLAM_MEASURE_CPU,
                            column,
                            FLAM_NONE);
}

FlamUnit
flam_pprof_unit (const char *text, gint64 *scale)
{
  g_autofree char *unit = g_ascii_strdown (text, -1);
  gsize length = strlen (unit);

  if (length > 2 && unit[length - 1] == 's' && (unit[length - 2] & 0x80) == 0)
    unit[length - 1] = '\0';
  *scale = 1;
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (strcmp (units[i].name, unit) == 0)
      {
        *scale = units[i].scale;
        return units[i].as;
      }
  return FLAM_UNIT_COUNT;
}

static void
find_unit (FlamPprof *file, guint index)
{
  FlamPprofType *type = &g_array_index (file->types, FlamPprofType, index);
  g_autofree char *unit = flam_pprof_text (file, type->unit);

  type->as = flam_pprof_unit (unit, &type->scale);
}

static void
add_bases (FlamPprof *file)
{
  gboolean any = FALSE;

  for (guint i = 0; i < file->types->len; i++)
    {
      FlamPprofType *type = &g_array_index (file->types, FlamPprofType, i);

      if ((file->negative >> i & 1) == 0)
        continue;
      type->base = flam_builder_add_column (file->builder);
      add_measure (file, i, type->base, TRUE);
      any = TRUE;
    }
  if (any)
    flam_builder_warn (file->builder,
                       N_ ("the profile is a difference: negative values are "
                           "shown as separate measures, “…-base”"));
}

/* The default comes first; if none is given it is the last, as in pprof. */
gboolean
flam_pprof_add_measures (FlamPprof *file, GError **error)
{
  guint first = file->types->len - 1;

  if (file->types->len == 0)
    return flam_source_invalid (
        file->load->source,
        error,
        N_ ("the profile does not state what it measures"));
  for (guint i = 0; i < file->types->len; i++)
    {
      find_unit (file, i);
      flam_builder_add_column (file->builder);
      if (file->default_type != 0 &&
          (guint64)g_array_index (file->types, FlamPprofType, i).type ==
              file->default_type)
        first = i;
    }
  add_measure (file, first, first, FALSE);
  for (guint i = 0; i < file->types->len; i++)
    if (i != first)
      add_measure (file, i, i, FALSE);
  add_bases (file);
  return TRUE;
}
