/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_JUMPS_H
#define FLAM_JUMPS_H

/* The jumps of a profile (FlamJumps) by line of a source file, and by
 * instruction. They are those of the whole capture, whatever is selected. */

#include "flam-lines.h"

G_BEGIN_DECLS

/* With debug information alone, callgrind counts all jumps from one line to
 * another, but the executions of only one of them, so that `reached` may be
 * less than `taken`. */
typedef struct
{
  gint64 taken;
  gint64 reached; /* of conditional jumps: how often they were executed; -1: of
                     others */
} FlamJumpCount;

/* From a line to a place. */
typedef struct
{
  guint32 line;
  FlamFrameId to; /* a frame there */
  FlamFrameId from;
  FlamJumpCount count;
} FlamJumpRow;

/* Ascending by line; `n` rows, g_free. `file` and `function` as in
 * flam_lines_new(). */
FlamJumpRow *flam_jumps_of_lines (const FlamProfile *profile,
                                  const char *file,
                                  FlamFunctionId function,
                                  guint *n);
/* The rows of a line, and how many. */
const FlamJumpRow *flam_jumps_find (const FlamJumpRow *rows,
                                    guint n,
                                    guint32 line,
                                    guint *n_found);

/* Adds them up by instruction: `find_row` as in flam_lines_weigh_addresses(),
 * and `counts` has a value for each row, { 0, -1 } where there are none. */
void flam_jumps_of_addresses (const FlamProfile *profile,
                              FlamModuleId module,
                              FlamRowOfAddress find_row,
                              gpointer data,
                              FlamJumpCount *counts);

G_END_DECLS

#endif
