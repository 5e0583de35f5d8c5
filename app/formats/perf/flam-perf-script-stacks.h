/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Call chains of perf script's text -> the builder's stacks. They repeat: a
 * whole chain is looked up by its text, else each line (with its source line)
 * separately. An inlined line is another frame in another caller, which is
 * therefore part of its key.
 *
 * Where several cores read a text, a chain may be in the parts of all of them.
 * They only collect the distinct chains, and the chains of all parts are then
 * converted once (flam-import-perf-script.c). */

#include "flam-builder.h"
#include "flam-fingerprint.h"
#include "flam-perf-script.h"

typedef struct
{
  FlamFingerprint print; /* of its text */
  FlamSlice text;        /* where it is first */
  FlamId stack;
} FlamScriptBlock;

typedef struct
{
  FlamBuilder *builder;
  const FlamFingerprintKey *key;
  gboolean later;    /* chains are only collected */
  FlamColumn blocks; /* FlamScriptBlock: whole chains, in order */
  FlamInterner interner;
  FlamPieces lines;
  FlamColumn places; /* Place, one per row of `lines` */
  FlamPieces modules;
  FlamColumn chains; /* FlamId: a count, then so many frames */
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
/* The row in `blocks` of the lines of a call chain, leaf first; FLAM_NONE for
 * none. */
FlamId flam_script_stacks_find (FlamScriptStacks *stacks, FlamSlice block);
/* Converts the lines. */
FlamId flam_script_stacks_make (FlamScriptStacks *stacks, FlamSlice block);
