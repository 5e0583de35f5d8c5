/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Call chains of perf script's text -> the builder's stacks. They repeat: a
 * whole chain is looked up by its text, else each line (with its source line)
 * separately. An inlined line is another frame in another caller, which is
 * therefore part of its key. */

#include "flam-builder.h"
#include "flam-fingerprint.h"
#include "flam-perf-script.h"

typedef struct
{
  FlamFingerprint print; /* of its text */
  FlamId stack;
} FlamScriptBlock;

typedef struct
{
  FlamBuilder *builder;
  FlamFingerprintKey key;
  FlamColumn blocks; /* FlamScriptBlock: whole chains */
  FlamInterner interner;
  FlamPieces lines;
  FlamColumn places; /* Place, one per row of `lines` */
  FlamPieces modules;
  FlamColumn chains; /* FlamId: a count, then so many frames */
  guint64 bad;
  const char *first_bad;
} FlamScriptStacks;

void flam_script_stacks_init (FlamScriptStacks *stacks, FlamBuilder *builder);
void flam_script_stacks_clear (FlamScriptStacks *stacks);
/* Counts an invalid line. */
void flam_script_stacks_bad (FlamScriptStacks *stacks, const char *line);
/* Converts the lines of a call chain, leaf first; FLAM_NONE for none. */
FlamId flam_script_stacks_find (FlamScriptStacks *stacks, FlamSlice block);
