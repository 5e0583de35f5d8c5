/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_SCRIPT_STACKS_H
#define FLAM_PERF_SCRIPT_STACKS_H

/* Call chains of perf script's text -> the builder's stacks. They repeat: a
 * whole chain is looked up by its text, else each line (with its source line)
 * separately. An inlined line is another frame in another caller, which is
 * therefore part of its key.
 *
 * If several cores read a text, a chain may be in the parts of all of them.
 * They only collect the distinct chains, and the chains of all parts are then
 * converted once (flam-import-perf-script.c). */

#include "flam-core-profile.h"
#include "flam-perf-script.h"

typedef struct
{
  FlamFingerprint print; /* of its text */
  FlamSlice text;        /* its first occurrence */
  FlamStackId stack;
} FlamScriptBlock;

typedef struct
{
  FlamBuilder *builder;
  const FlamFingerprintKey *key;
  gboolean later;    /* chains are only collected */
  FlamColumn blocks; /* FlamScriptBlock: whole chains, in order */
  FlamInterner interner;
  FlamColumn places; /* Place: lines, in order */
  FlamInterner places_interner;
  FlamPieces modules;
  FlamColumn chains; /* FlamId: a count, then that many frames */
  FlamColumn path;   /* FlamId: frames of the current chain, root first */
  FlamColumn ids;    /* FlamId: its stacks */
  guint64 bad;
  const char *first_bad;
} FlamScriptStacks;

/* The key outlives it. */
void flam_script_stacks_init (FlamScriptStacks *stacks,
                              FlamBuilder *builder,
                              const FlamFingerprintKey *key,
                              gboolean later);
void flam_script_stacks_clear (FlamScriptStacks *stacks);
/* Counts an invalid line. */
void flam_script_stacks_bad (FlamScriptStacks *stacks, const char *line);
/* The lines of a call chain, leaf first, are looked up in three steps, so that
 * many lines can be in the same step: each step prefetches the data of the
 * next. FALSE: there are none. */
gboolean flam_script_stacks_begin_find (FlamScriptStacks *stacks,
                                        FlamSlice block,
                                        FlamScriptBlock *wanted);
void flam_script_stacks_prefetch (const FlamScriptStacks *stacks,
                                  const FlamScriptBlock *wanted);
/* The row in `blocks`. */
FlamId flam_script_stacks_find (FlamScriptStacks *stacks,
                                const FlamScriptBlock *wanted);
/* Converts the lines. */
FlamId flam_script_stacks_make (FlamScriptStacks *stacks, FlamSlice block);

#endif
