/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* One load: what is read, what it goes into, and what the importer works with
 * meanwhile, which ends with the load (flam-keep.h):
 *
 *    source ──> importer ──> builder
 *                  │
 *                 kept
 */

#include "flam-builder.h"
#include "flam-keep.h"
#include "flam-source.h"

/* What the weights of a text are: folded stacks hold no word of it. */
typedef enum
{
  FLAM_WEIGHTS_GUESS, /* from the file's name: "malloc", "brk", "page-fault" */
  FLAM_WEIGHTS_SAMPLES,
  FLAM_WEIGHTS_TIME, /* µs, as tools for time off the CPU have it */
  FLAM_WEIGHTS_BYTES,
  FLAM_WEIGHTS_FAULTS, /* of pages: memory, counted */
  FLAM_N_WEIGHTS
} FlamWeightsAs;

typedef struct
{
  FlamWeightsAs weights_as;
  /* NULL-terminated or NULL: where recorded programs and libraries are looked
   * for first; copied stacks cannot be unwound without them. */
  const char *const *binaries;
  const FlamProgress *progress;
  guint jobs;       /* cores to read on at most; 0: all there are */
  gsize least_part; /* bytes worth a core of their own; 0: what is. For tests */
} FlamLoadOptions;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  const FlamLoadOptions *options; /* never NULL */
  gconstpointer form;             /* the importer's */
  FlamKept kept;
} FlamLoad;

/* --- what goes into the builder ------------------------------------------ */

/* A measure that is the format's own. */
typedef struct
{
  const char *id, *name;
  FlamUnit unit;
  FlamMeasureKind kind;
} FlamMeasureRow;

/* What most of them are of. */
#define FLAM_OF_COUNT FLAM_UNIT_COUNT, FLAM_MEASURE_CPU
#define FLAM_OF_TIME FLAM_UNIT_NS, FLAM_MEASURE_CPU
#define FLAM_OF_BYTES FLAM_UNIT_BYTES, FLAM_MEASURE_ALLOC
#define FLAM_OF_BLOCKS FLAM_UNIT_COUNT, FLAM_MEASURE_ALLOC

/* As flam_builder_add_measure(). */
guint flam_load_measure (FlamBuilder *builder,
                         const FlamMeasureRow *row,
                         int column,
                         FlamId event);
/* A column for each of these, and their measures; the first one's index. */
guint flam_load_measures_n (FlamBuilder *builder,
                            const FlamStandardMeasure *measures,
                            guint n);
#define flam_load_measures(builder, ...)                                       \
  flam_load_measures_n (                                                       \
      builder,                                                                 \
      (const FlamStandardMeasure[]){ __VA_ARGS__ },                            \
      G_N_ELEMENTS (((const FlamStandardMeasure[]){ __VA_ARGS__ })))
/* Of a function of which nothing but its name is known; -1: it ends in NUL. */
FlamId flam_load_frame (FlamBuilder *builder,
                        const char *name,
                        gssize length,
                        FlamFunctionKind kind);
/* Of FlamIds of frames, the leaf first. */
FlamId flam_load_stack (FlamBuilder *builder, const GArray *frames);

/* --- how it goes --------------------------------------------------------- */

/* All before `at` in the source's bytes is read. FALSE: cancelled. */
gboolean
flam_load_step (const FlamLoad *load, gconstpointer at, GError **error);
/* What comes after `at` is missing, and why; NULL: no more than the end. */
void
flam_load_partial (const FlamLoad *load, gconstpointer at, const char *why, ...)
    G_GNUC_PRINTF (3, 4);
