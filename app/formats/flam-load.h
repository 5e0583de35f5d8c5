/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LOAD_H
#define FLAM_LOAD_H

/* One load: its source, its builder, and the importer's own memory, which is
 * freed at the end of the load (flam-arena.h):
 *
 *    source ──> importer ──> builder
 *                  │
 *                 kept
 */

#include "flam-core-profile.h"
#include "flam-arena.h"
#include "flam-source.h"

/* The unit of a text's weights, since folded stacks do not contain it. */
typedef enum
{
  FLAM_WEIGHTS_GUESS, /* from the file's name: "malloc", "brk", "page-fault" */
  FLAM_WEIGHTS_SAMPLES,
  FLAM_WEIGHTS_TIME, /* µs, as from tools for time off the CPU */
  FLAM_WEIGHTS_BYTES,
  FLAM_WEIGHTS_FAULTS, /* of pages: a count, about memory */
  FLAM_N_WEIGHTS
} FlamWeightsAs;

typedef struct
{
  FlamWeightsAs weights_as;
  /* The lines of folded stacks follow one another in time: samples of texts up
   * to this many bytes keep their order (FLAM_SPANS_ORDER), so that a chart can
   * be drawn. One core reads them. 0: never; G_MAXSIZE: always. */
  gsize in_order_max;
  /* NULL-terminated or NULL: folders in which recorded programs and libraries
   * are searched first; copied stacks cannot be unwound without them. */
  const char *const *binaries;
  /* Only one measure is shown: a store that adds up each on request may leave
   * out the others. `measure` is its id, or NULL for the first one that is not
   * 0. */
  gboolean one_measure;
  const char *measure;
  const FlamProgress *progress;
  guint jobs;       /* the maximum number of cores; 0: all */
  gsize least_part; /* minimum bytes per core; 0: the default. For tests */
  /* Takes the profiles of the file's beginning (flam-begun.h), on the thread
   * that loads; NULL: only the whole is read. */
  void (*take_begun) (FlamProfile *profile, gpointer data);
  gpointer begun_data;
  gsize before_begun; /* a quarter of the first; 0: the default. For tests */
} FlamLoadOptions;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  const FlamLoadOptions *options; /* never NULL */
  gconstpointer form;             /* of the importer */
  FlamArena kept;
} FlamLoad;

/* --- into the builder ---------------------------------------------------- */

/* A measure that only this format has. */
typedef struct
{
  const char *id, *name;
  FlamUnit unit;
  FlamMeasureKind kind;
} FlamMeasureRow;

/* The measures of most formats. */
#define FLAM_OF_COUNT FLAM_UNIT_COUNT, FLAM_MEASURE_CPU
#define FLAM_OF_TIME FLAM_UNIT_NS, FLAM_MEASURE_CPU
#define FLAM_OF_BYTES FLAM_UNIT_BYTES, FLAM_MEASURE_ALLOC
#define FLAM_OF_BLOCKS FLAM_UNIT_COUNT, FLAM_MEASURE_ALLOC

/* The same parameters as flam_builder_add_measure(). */
guint flam_load_measure (FlamBuilder *builder,
                         const FlamMeasureRow *row,
                         int column,
                         FlamId event);
/* Adds a column and a measure for each; returns the first one's index. */
guint flam_load_measures_n (FlamBuilder *builder,
                            const FlamStandardMeasure *measures,
                            guint n);
#define flam_load_measures(builder, ...)                                       \
  flam_load_measures_n (                                                       \
      builder,                                                                 \
      (const FlamStandardMeasure[]){ __VA_ARGS__ },                            \
      G_N_ELEMENTS (((const FlamStandardMeasure[]){ __VA_ARGS__ })))
/* The frame of a function with only a name; -1: NUL-terminated. */
FlamFrameId flam_load_frame (FlamBuilder *builder,
                             const char *name,
                             gssize length,
                             FlamFunctionKind kind);
/* Of FlamIds of frames, the leaf first. */
FlamStackId flam_load_stack (FlamBuilder *builder, const GArray *frames);

/* Warns of the calls of a trace that are open at its end. */
void flam_load_warn_open (FlamBuilder *builder, guint64 n);

/* --- progress ------------------------------------------------------------ */

/* Reports that the source's bytes before `at` are read. FALSE: cancelled. */
gboolean
flam_load_step (const FlamLoad *load, gconstpointer at, GError **error);
/* Marks the profile as partial: data from `at` on is missing, for the reason in
 * `why`; NULL: the file ends early. */
void
flam_load_partial (const FlamLoad *load, gconstpointer at, const char *why, ...)
    G_GNUC_PRINTF (3, 4);

#endif
