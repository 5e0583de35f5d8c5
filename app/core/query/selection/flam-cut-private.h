/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CUT_PRIVATE_H
#define FLAM_CUT_PRIVATE_H

/* The interface of flam-cut.c, which puts a part of one profile into a builder,
 * for flam-merge.c, which puts several into one. */

#include "flam-allocation-filter.h"
#include "flam-builder.h"
#include "flam-cut.h"
#include "flam-sample-filter.h"

G_BEGIN_DECLS

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  FlamBuilder *builder;
  FlamShown shown;
  FlamSampleFilter filter;
  gint64 from, to;       /* ns: the range, as it applies */
  FlamModuleId *modules; /* the builder's ids */
  FlamFunctionId *functions;
  FlamFrameId *frames;
  FlamStackId *stacks;      /* of the shown stacks */
  FlamProcessId *processes; /* FLAM_NONE: not selected */
  FlamThreadId *threads;
  GPtrArray *columns; /* const gint64*: distinct values */
  guint32 *labels;    /* a set of the profile -> the builder's; 0 -> 0 */
  gint64 delay;     /* ns: the offset of its beginning from that of the whole */
  guint generation; /* base of its processes' and threads' numbers: different
                       for each capture that is put into one builder */
  const char *counters_end; /* added to the names of its counters; or NULL */
} FlamCut;

/* On the clock of the part, ns. */
static inline gint64
flam_cut_shifted (const FlamCut *cut, gint64 time)
{
  gint64 since = cut->from == G_MININT64 ? time : MAX (time - cut->from, 0);

  return MIN (since, FLAM_NEVER - 1 - cut->delay) + cut->delay;
}

static inline gint64
flam_cut_duration (const FlamCut *cut)
{
  return flam_cut_shifted (cut, MIN (cut->to, cut->profile->facts.duration_ns));
}

/* FALSE: it is not selected. */
static inline gboolean
flam_cut_find_stack (const FlamCut *cut, FlamStackId stack, FlamId *to)
{
  FlamId shown = flam_shown_of (&cut->shown, stack);

  if (shown != FLAM_NONE)
    *to = cut->stacks[shown];
  return shown != FLAM_NONE;
}

void flam_cut_clear (FlamCut *cut);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamCut, flam_cut_clear)

/* Blocks allocated before the range and live in it count at its peak, but not
 * as allocated in it. In that case, a table of blocks can only express one of
 * the two. */
typedef struct
{
  FlamAllocationFilter made, peak, leaked;
  gboolean before; /* blocks from before the range are at its peak */
  gboolean peak_alone;
} FlamCutMemory;

/* --- flam-cut-memory.c ---------------------------------------------------- */

gboolean flam_cut_is_peak (FlamMeasureSource source);
void flam_cut_memory_init (FlamCutMemory *memory, const FlamCut *cut);
void flam_cut_memory_clear (FlamCutMemory *memory);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamCutMemory, flam_cut_memory_clear)

/* Code, stacks and threads; call when range and `shown` are set. */
void flam_cut_put_names (FlamCut *cut);
/* Of these only code and stacks, and the labels. */
void flam_cut_put_code (FlamCut *cut);
/* The builder's label set for a sample's labels. */
guint32 flam_cut_find_labels (const FlamCut *cut, guint32 sample);
void flam_cut_put_allocations (FlamCut *cut, const FlamCutMemory *memory);
/* Counters and marks. */
void flam_cut_put_beside (FlamCut *cut);

G_END_DECLS

#endif
