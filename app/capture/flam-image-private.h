/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_IMAGE_PRIVATE_H
#define FLAM_IMAGE_PRIVATE_H

/* The common part of the writer and the reader of images: the order of
 * pieces. */

#include "flam-image.h"

#define FLAM_IMAGE_MAGIC                                                       \
  G_GUINT64_CONSTANT (0x31474d494d414c46) /* FLAMIMG1                          \
                                           */
#define FLAM_IMAGE_ABSENT G_MAXUINT64

typedef struct
{
  guint64 size;
  guint32 hash;
  guint32 unused;
} FlamImagePiece;

/* A row of MEASURES and of COUNTERS, the columns of version 1 first. */
enum
{
  MEASURE_ID,
  MEASURE_NAME,
  MEASURE_UNIT,
  MEASURE_KIND,
  MEASURE_SOURCE,
  MEASURE_COLUMN,
  MEASURE_EVENT,
  MEASURE_DENOMINATOR,
  MEASURE_SPANS,
  N_MEASURE
};
enum
{
  COUNTER_ID,
  COUNTER_UNIT,
  COUNTER_VALUES,
  N_COUNTER
};

/* Whether the rows of a table of the description belong to a profile; the
 * samples do, for example, but not those that finish() has merged into
 * others. */
static inline gboolean
flam_image_has_table (FlamTable table)
{
  return flam_table_infos[table].columns != NULL &&
         flam_table_infos[table].offset < sizeof (FlamProfile);
}

/* A hash of the description: an image with another description is not
 * usable. */
guint64 flam_image_layout (void);

static inline gboolean
flam_image_has_column (const FlamColumnInfo *info)
{
  return info->offset < sizeof (FlamProfile);
}

#endif
