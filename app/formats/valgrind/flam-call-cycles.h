/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CALL_CYCLES_H
#define FLAM_CALL_CYCLES_H

/* Finds the functions of a call graph that call each other, directly or through
 * others:
 *
 *    main ──▶ even ◀──▶ odd ──▶ chop        cycle 0: chop
 *                                           cycle 1: even, odd
 *                                           cycle 2: main */

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint32 caller, callee;
} FlamCallEdge;

/* The number of each function's cycle, from 0 to `*n_cycles` - 1; most cycles
 * are a single function. */
guint32 *flam_call_cycles_find (const FlamCallEdge *edges,
                                gsize n_edges,
                                guint32 n_functions,
                                guint32 *n_cycles);

G_END_DECLS

#endif
