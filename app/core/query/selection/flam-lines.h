/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LINES_H
#define FLAM_LINES_H

/* Profile + selection -> cost per line of one source file. A line's self is
 * the weight of stacks whose leaf is there; its total counts every stack
 * through it once. */

#include "flam-estimate.h"
#include "flam-weights.h"
#include "flam-tree.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 line;
  gint64 self;
  gint64 total;
  gint64 other_self; /* 0 where the weights have no such columns */
  gint64 other_total;
  FlamSpread spread_self;
  FlamSpread spread_total;
} FlamLineRow;

FlamFigure flam_lines_self (const FlamWeights *weights, const FlamLineRow *row);
FlamFigure flam_lines_total (const FlamWeights *weights,
                             const FlamLineRow *row);

/* `file` is a source path as in the profile (frames.file). Ascending by line;
 * `n` rows, g_free. With `function` not FLAM_NONE, only the frames of that
 * function. The stacks are those that the selection shows: its measure, threads
 * and times are in the weights, its transforms are applied here. */
FlamLineRow *flam_lines_new (const FlamWeights *weights,
                             const FlamSelection *selection,
                             const char *file,
                             FlamFunctionId function,
                             guint *n);

/* The lines of all files, in no order. */
typedef struct
{
  FlamStringId file; /* string */
  FlamLineRow row;
} FlamFileLineRow;

FlamFileLineRow *flam_lines_all (const FlamWeights *weights,
                                 const FlamSelection *selection,
                                 guint *n);

/* Whether a file's source is available, and whether it is the user's own
 * code. */
typedef enum
{
  FLAM_TEXT_NONE,
  FLAM_TEXT_HERE,
  FLAM_TEXT_OWN, /* and it is the user's own code, not a library's */
  FLAM_N_TEXTS
} FlamLinesText;

/* The line to show first: in the user's own code the line that costs most,
 * including the cost of other people's code that it calls; otherwise the line
 * with the greatest total, ties by self; then the same in the code of others.
 * Lines below 1 % are only taken if no line has more. What the recorder's
 * library costs counts for no line. `sources`: a
 * FlamLinesText for each of the profile's strings. FALSE: no source is at
 * hand. */
gboolean flam_lines_begin (const FlamWeights *weights,
                           const FlamSelection *selection,
                           const guint8 *sources,
                           FlamFileLineRow *found);

/* The same for machine code: `find_row` maps an address of the module to a row
 * (FLAM_NONE: it is not counted), and `costs` has a value for each row. Returns
 * the weight of the stacks through any row, each counted once. */
typedef struct
{
  gint64 self;
  gint64 total;
} FlamAddressCost;

typedef guint32 (*FlamRowOfAddress) (gpointer data, guint64 address);

gint64 flam_lines_weigh_addresses (const FlamWeights *weights,
                                   const FlamSelection *selection,
                                   FlamModuleId module,
                                   FlamRowOfAddress find_row,
                                   gpointer data,
                                   FlamAddressCost *costs);

typedef struct
{
  FlamStringId file; /* string */
  gint64 self;
  gint64 total;
} FlamFileRow;

/* The source files of the profile, heaviest self first; g_free. */
FlamFileRow *flam_lines_files (const FlamWeights *weights,
                               const FlamSelection *selection,
                               guint *n);

/* The best match for what the user typed: the exact path, otherwise the only or
 * the heaviest file whose path ends in it at a '/'. "" if no file matches. */
const char *flam_lines_find_file (const FlamWeights *weights,
                                  const FlamSelection *selection,
                                  const char *path);

/* The heaviest node that represents this line itself, else the heaviest
 * function with a frame there; FLAM_NONE: none. */
FlamNodeId
flam_lines_find_node (const FlamTree *tree, const char *file, guint32 line);

G_END_DECLS

#endif
