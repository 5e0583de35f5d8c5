/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The builder's insides, shared by its two halves. */

#include "flam-profile-private.h"

G_BEGIN_DECLS

enum
{
  COLUMN_MODULE_NAME,
  COLUMN_MODULE_PATH,
  COLUMN_MODULE_BUILD_ID,
  COLUMN_MODULE_WHY,
  COLUMN_MODULE_SYMBOLS,
  COLUMN_MODULE_ADDRESSING,
  COLUMN_FUNCTION_NAME,
  COLUMN_FUNCTION_SYSTEM_NAME,
  COLUMN_FUNCTION_FILE,
  COLUMN_FUNCTION_MODULE,
  COLUMN_FUNCTION_LINE,
  COLUMN_FUNCTION_KIND,
  COLUMN_FUNCTION_FLAGS,
  COLUMN_FRAME_FUNCTION,
  COLUMN_FRAME_ADDRESS,
  COLUMN_FRAME_FILE,
  COLUMN_FRAME_LINE,
  COLUMN_FRAME_DEPTH,
  COLUMN_STACK_PREFIX,
  COLUMN_STACK_FRAME,
  COLUMN_PROCESS_PID,
  COLUMN_PROCESS_NAME,
  COLUMN_PROCESS_PARENT,
  COLUMN_PROCESS_GENERATION,
  COLUMN_THREAD_PROCESS,
  COLUMN_THREAD_TID,
  COLUMN_THREAD_NAME,
  COLUMN_THREAD_GENERATION,
  COLUMN_SAMPLE_THREAD,
  COLUMN_SAMPLE_STACK,
  COLUMN_SAMPLE_TIME,  /* empty until there are times */
  COLUMN_SAMPLE_EVENT, /* empty until one is not 0 */
  COLUMN_SAMPLE_STATE, /* empty until one is not running */
  COLUMN_ALLOCATION_TIME,
  COLUMN_ALLOCATION_FREED_AT,
  COLUMN_ALLOCATION_SIZE,
  COLUMN_ALLOCATION_COUNT,
  COLUMN_ALLOCATION_AT_PEAK,
  COLUMN_ALLOCATION_THREAD,
  COLUMN_ALLOCATION_STACK,
  COLUMN_ALLOCATION_DISTANCE,
  COLUMN_ALLOCATION_ALLOCATOR,
  COLUMN_MARK_TIME,
  COLUMN_MARK_DURATION,
  COLUMN_MARK_THREAD,
  COLUMN_MARK_NAME,
  COLUMN_FORMER_PROCESS,
  COLUMN_FORMER_THREAD,
  COLUMN_FORMER_NAME,
  COLUMN_FORMER_UNTIL,
  N_COLUMNS
};

enum
{
  INTERNER_MODULE,
  INTERNER_FUNCTION,
  INTERNER_FRAME,
  INTERNER_STACK,
  INTERNER_PROCESS,
  INTERNER_THREAD,
  N_INTERNERS
};

typedef struct
{
  FlamMeasure measure;
  int column; /* -1: 1 each */
} PendingMeasure;

typedef struct
{
  FlamId id;
  FlamUnit unit;
  FlamColumn time;
  FlamColumn value;
} PendingCounter;

struct _FlamBuilder
{
  FlamStrings strings;
  FlamColumn columns[N_COLUMNS];
  FlamInterner interners[N_INTERNERS];
  GArray *weights;  /* FlamColumn of gint64 */
  GArray *measures; /* PendingMeasure */
  GArray *counters; /* PendingCounter */
  gboolean has_times;
  gboolean has_origin;
  gint64 origin;
  gint64 peak_time; /* G_MININT64: not told */

  FlamFacts facts; /* but for these two, which grow */
  GPtrArray *others;
  GPtrArray *warnings;
  GStringChunk *texts; /* of facts */

  /* Editing: frame -> chains[chain_first .. + chain_length), length 0: as it
   * is. */
  FlamProfile *base;
  FlamColumn chain_first;
  FlamColumn chain_length;
  FlamColumn chains;
};

/* In flam-builder-check.c: weights and sizes that cannot be are an error, a
 * capture without any is a warning. */
gboolean flam_builder_check (FlamBuilder *builder, GError **error);

G_END_DECLS
