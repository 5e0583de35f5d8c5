/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_OUTLINE_H
#define FLAM_OUTLINE_H

/* A call tree as in documents: rows below their callers, each with its total
 * weight, or with its self weight alone.
 *
 *    depth 0   main     30        row 0, caller FLAM_NONE
 *    depth 1     parse  20        row 1, caller 0
 *    depth 2       read 15        row 2, caller 1
 *    depth 1     write   4        row 3, caller 0: main itself has 6
 *
 * Rows may have any order in which callers come first; the self weights become
 * samples. */

#include "flam-load.h"

typedef struct
{
  guint32 caller;    /* row; FLAM_NONE: a root */
  FlamFrameId frame; /* FLAM_NONE: not code (a total, a thread) */
  FlamThreadId thread;
  gint64 weight;
  gint64 in_callees;
  FlamStackId stack;
} FlamOutlineRow;

typedef struct
{
  GArray *rows;   /* FlamOutlineRow */
  GArray *counts; /* gint64: a second weight of each row, or NULL: none */
  GArray *open;   /* the last row and its callers, with their depths */
  guint16 event;  /* of its samples */
  gboolean own;   /* weights are self weights, not totals */
  guint64 excess; /* rows whose total is less than their callees' */
} FlamOutline;

/* Its rows are freed with the load. */
void flam_arena_outline (FlamLoad *load, FlamOutline *outline, gboolean own);
/* Returns the row's number. */
guint32 flam_outline_add (FlamOutline *outline,
                          guint32 caller,
                          FlamThreadId thread,
                          FlamFrameId frame,
                          gint64 weight);
/* The same for rows in preorder with their depths: the row is called by the
 * last row before it with a smaller depth. */
guint32 flam_outline_add_at (FlamOutline *outline,
                             guint depth,
                             FlamThreadId thread,
                             FlamFrameId frame,
                             gint64 weight);
/* Adds all of it as samples with one weight, or with two if there are
 * `counts`. */
void flam_outline_finish (FlamOutline *outline, FlamBuilder *builder);

static inline FlamOutlineRow *
flam_outline_row (FlamOutline *outline, guint32 row)
{
  return &g_array_index (outline->rows, FlamOutlineRow, row);
}

#endif
