/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* One load: what is read, what it goes into, and what the importer works with
 * meanwhile, which ends with the load, newest first:
 *
 *    load   source ──> importer ──> builder
 *                         │
 *           kept          arrays, tables, the importer's own
 */

#include "flam-builder.h"
#include "flam-columns.h"
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
  FlamColumn kept;
} FlamLoad;

void flam_load_init (FlamLoad *load,
                     const FlamSource *source,
                     FlamBuilder *builder,
                     const FlamLoadOptions *options);
void flam_load_clear (FlamLoad *load);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamLoad, flam_load_clear)

/* --- what ends with the load --------------------------------------------- */

gpointer flam_load_keep (FlamLoad *load, gpointer data, GDestroyNotify end);
/* Of a type with a clear function. */
#define flam_load_clears(load, what, clear)                                    \
  flam_load_keep (load, what, (GDestroyNotify)(clear))
/* Zeroed memory, also for what is cleared with the load. */
#define flam_load_vector(load, Type, n)                                        \
  ((Type *)flam_load_keep (load, g_new0 (Type, n), g_free))
#define flam_load_new(load, Type) flam_load_vector (load, Type, 1)
#define flam_load_array(load, Type)                                            \
  ((GArray *)flam_load_clears (                                                \
      load, g_array_new (FALSE, FALSE, sizeof (Type)), g_array_unref))

/* What it grows by with g_array_set_size() is zero. */
#define flam_load_zeroed(load, Type)                                           \
  ((GArray *)flam_load_clears (                                                \
      load, g_array_new (FALSE, TRUE, sizeof (Type)), g_array_unref))
#define flam_load_pointers(load, free_one)                                     \
  ((GPtrArray *)flam_load_clears (                                             \
      load, g_ptr_array_new_with_free_func (free_one), g_ptr_array_unref))

GString *flam_load_string (FlamLoad *load);
/* Of memory that ends with the load, too. */
void flam_load_column_of (FlamLoad *load, FlamColumn *column, gsize size);
#define flam_load_column(load, column, Type)                                   \
  flam_load_column_of (load, column, sizeof (Type))
void flam_load_interner (FlamLoad *load, FlamInterner *interner);

typedef enum
{
  FLAM_KEY_DIRECT, /* a small number or a pointer */
  FLAM_KEY_TEXT,   /* char *, which becomes the table's */
  FLAM_KEY_NUMBER, /* 64 bits, by pointer, which becomes the table's */
} FlamKey;

/* `free_value` may be NULL. */
GHashTable *
flam_load_table (FlamLoad *load, FlamKey key, GDestroyNotify free_value);

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
