/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the two halves of building a profile share: the tables that were read,
 * and how their ids become the builder's. */

#include "flam-capture-private.h"

typedef struct _FlamCaptureRenames FlamCaptureRenames;

typedef struct
{
  const FlamCaptureReader *reader;
  FlamBuilder *builder;
  FlamId *map[FLAM_CAPTURE_N_TABLES];
  FlamId *frame_first;
  guint32 *frame_n;
  guint32 n_chained;           /* stacks made of chains so far */
  FlamCaptureRenames *renames; /* or NULL */
} FlamCaptureBuild;

static inline const FlamCaptureRows *
flam_build_table (const FlamCaptureBuild *build, FlamCaptureTable id)
{
  return &build->reader->tables[id];
}

static inline guint32
flam_build_u32 (const FlamCaptureBuild *build,
                FlamCaptureTable id,
                guint column,
                guint32 row)
{
  return flam_capture_u32 (flam_build_table (build, id), column, row);
}

static inline gint64
flam_build_i64 (const FlamCaptureBuild *build,
                FlamCaptureTable id,
                guint column,
                guint32 row)
{
  return flam_capture_i64 (flam_build_table (build, id), column, row);
}

static inline const char *
flam_build_text (const FlamCaptureBuild *build,
                 FlamCaptureTable id,
                 guint column,
                 guint32 row)
{
  guint32 string = flam_build_u32 (build, id, column, row);

  return string == FLAM_NONE
             ? ""
             : flam_capture_text (
                   flam_build_table (build, FLAM_CAPTURE_STRINGS), string);
}

/* The builder's id of what a column refers to. */
static inline FlamId
flam_build_id (const FlamCaptureBuild *build,
               FlamCaptureTable id,
               guint column,
               guint32 row)
{
  guint n;
  const FlamCaptureColumn *columns = flam_capture_columns (id, &n);
  guint32 value = flam_build_u32 (build, id, column, row);

  return value == FLAM_NONE ? FLAM_NONE
                            : build->map[columns[column].refers_to][value];
}

static inline FlamId
flam_build_string (const FlamCaptureBuild *build,
                   FlamCaptureTable id,
                   guint column,
                   guint32 row)
{
  FlamId string = flam_build_id (build, id, column, row);

  return string == FLAM_NONE ? 0 : string;
}

static inline FlamId *
flam_build_new_map (FlamCaptureBuild *build, FlamCaptureTable id)
{
  build->map[id] = g_new (FlamId, MAX (flam_build_table (build, id)->n, 1));
  return build->map[id];
}

static inline gint64
flam_build_fact (const FlamCaptureBuild *build, const char *key)
{
  const char *value = flam_capture_reader_fact (build->reader, key);

  return value != NULL ? MAX (g_ascii_strtoll (value, NULL, 10), 0) : 0;
}

/* The builder's stack of `prefix` and what SYMBOLS say of a frame. */
FlamId flam_capture_build_push_frame (FlamCaptureBuild *build,
                                      FlamId prefix,
                                      guint32 frame);

/* Once stacks are built. */
void flam_capture_build_renames (FlamCaptureBuild *build);
void flam_capture_renames_free (FlamCaptureRenames *renames);
/* The builder's stack of a row of STACKS (or none) as it was then. */
FlamId flam_capture_build_stack_at (FlamCaptureBuild *build,
                                    guint32 stack,
                                    gint64 time);

/* What the rows of FACTS say of the whole. */
void flam_capture_build_fact_rows (FlamCaptureBuild *build);

/* Grouped allocations, blocks and their releases. */
void flam_capture_build_memory (FlamCaptureBuild *build);
