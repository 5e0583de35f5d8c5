/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-weights-as.h"

#include <string.h>

static const struct
{
  FlamMeasureRow row;
  gint64 scale;
} weight_kinds[FLAM_N_WEIGHTS] = {
  [FLAM_WEIGHTS_SAMPLES] = { { "samples", N_ ("Samples"), FLAM_OF_COUNT }, 1 },
  [FLAM_WEIGHTS_TIME] = { { "time", N_ ("Time"), FLAM_OF_TIME }, 1000 },
  [FLAM_WEIGHTS_BYTES] = { { "allocated", N_ ("Allocated"), FLAM_OF_BYTES },
                           1 },
  [FLAM_WEIGHTS_FAULTS] = { { "page-faults",
                              N_ ("Page faults"),
                              FLAM_OF_BLOCKS },
                            1 },
};

/* Of tools that trace memory, only the file's name has the unit. */
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
  FlamMeasureRow row = weight_kinds[as].row;

  if (side == FLAM_WEIGHTS_BEFORE)
    {
      row.id = "base";
      row.name = N_ ("Before");
    }
  return flam_load_measure (
      builder, &row, flam_builder_add_column (builder), FLAM_NONE);
}

guint
flam_weights_as_add_event (FlamWeightsAs as,
                           FlamBuilder *builder,
                           const char *name,
                           guint16 event)
{
  FlamMeasureRow row = weight_kinds[as].row;

  if (*name != '\0')
    row.id = row.name = name;
  return flam_load_measure (builder, &row, 0, event);
}

gint64
flam_weights_as_scale (FlamWeightsAs as, gint64 weight)
{
  if (__builtin_mul_overflow (weight, weight_kinds[as].scale, &weight))
    return G_MAXINT64;
  return weight;
}
