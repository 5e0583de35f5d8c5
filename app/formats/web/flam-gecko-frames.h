/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GECKO_FRAMES_H
#define FLAM_GECKO_FRAMES_H

/* Rows of the Firefox Profiler's tables -> frames and stacks of a profile. */

#include "flam-gecko-tables.h"

G_BEGIN_DECLS

#define FLAM_GECKO_MAX_CATEGORIES 256

/* Shared by all threads of one process. */
typedef struct
{
  FlamBuilder *builder;
  /* Used if a thread lacks the table itself. */
  FlamGeckoTables *shared;
  GArray *libs; /* FlamId: names */
  FlamFunctionKind category[FLAM_GECKO_MAX_CATEGORIES];
  guint n_categories;
  gboolean ours; /* written by our exporter: names are not parsed */
  guint64 bad;   /* invalid rows */
} FlamGeckoProcess;

static inline const FlamGeckoCells *
flam_gecko_cells_of (const FlamGeckoProcess *process,
                     const FlamGeckoTables *tables,
                     FlamGeckoColumn column)
{
  const FlamGeckoCells *cells = &tables->column[column];

  return cells->n > 0 ? cells : &process->shared->column[column];
}

gint64 flam_gecko_get (const FlamGeckoProcess *process,
                       const FlamGeckoTables *tables,
                       FlamGeckoColumn column,
                       gint64 row);

/* FlamId, one for each row of the stack table that a thread with these tables
 * uses; computed once. */
const GArray *flam_gecko_stacks (FlamGeckoProcess *process,
                                 FlamGeckoTables *tables);

G_END_DECLS

#endif
