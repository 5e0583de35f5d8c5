/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-weights-as.h"

#include <string.h>

static const struct
{
  const char *id;
  const char *name;
  FlamUnit unit;
  FlamMeasureKind kind;
  gint64 scale;
} weight_kinds[FLAM_N_WEIGHTS] = {
  [FLAM_WEIGHTS_SAMPLES] = { "samples",
                             N_ ("Samples"),
                             FLAM_UNIT_COUNT,
                             FLAM_MEASURE_CPU,
                             1 },
  [FLAM_WEIGHTS_TIME] = { "time",
                          N_ ("Time"),
                          FLAM_UNIT_NS,
                          FLAM_MEASURE_CPU,
                          1000 },
  [FLAM_WEIGHTS_BYTES] = { "allocated",
                           N_ ("Allocated"),
                           FLAM_UNIT_BYTES,
                           FLAM_MEASURE_ALLOC,
                           1 },
  [FLAM_WEIGHTS_FAULTS] = { "page-faults",
                            N_ ("Page faults"),
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_ALLOC,
                            1 },
};

/* Tools that trace memory leave it to the file's name to say so. */
static FlamWeightsAs
guess (const char *path)
{
  static const struct
  {
    const char *word;
    FlamWeightsAs as;
  } words[] = {
    { "page-fault", FLAM_WEIGHTS_FAULTS }, { "pagefault", FLAM_WEIGHTS_FAULTS },
    { "page_fault", FLAM_WEIGHTS_FAULTS }, { "malloc", FLAM_WEIGHTS_BYTES },
    { "mmap", FLAM_WEIGHTS_BYTES },        { "brk", FLAM_WEIGHTS_BYTES },
  };
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *name = g_ascii_strdown (base, -1);

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strstr (name, words[i].word) != NULL)
      return words[i].as;
  return FLAM_WEIGHTS_SAMPLES;
}

FlamWeightsAs
flam_weights_as_of (const FlamSource *source, const FlamLoadOptions *options)
{
  return options->weights_as != FLAM_WEIGHTS_GUESS ? options->weights_as
                                                   : guess (source->name);
}

guint
flam_weights_as_add_measure (FlamWeightsAs as,
                             FlamBuilder *builder,
                             FlamWeightsSide side)
{
  gboolean before = side == FLAM_WEIGHTS_BEFORE;

  return flam_builder_add_measure (builder,
                                   before ? "base" : weight_kinds[as].id,
                                   before ? N_ ("Before")
                                          : weight_kinds[as].name,
                                   weight_kinds[as].unit,
                                   weight_kinds[as].kind,
                                   flam_builder_add_column (builder),
                                   FLAM_NONE);
}

guint
flam_weights_as_add_event (FlamWeightsAs as,
                           FlamBuilder *builder,
                           const char *name,
                           guint16 event)
{
  gboolean named = *name != '\0';

  return flam_builder_add_measure (builder,
                                   named ? name : weight_kinds[as].id,
                                   named ? name : weight_kinds[as].name,
                                   weight_kinds[as].unit,
                                   weight_kinds[as].kind,
                                   0,
                                   event);
}

gint64
flam_weights_as_scale (FlamWeightsAs as, gint64 weight)
{
  if (__builtin_mul_overflow (weight, weight_kinds[as].scale, &weight))
    return G_MAXINT64;
  return weight;
}
