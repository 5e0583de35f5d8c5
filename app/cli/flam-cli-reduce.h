/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLI_REDUCE_H
#define FLAM_CLI_REDUCE_H

/* Folding (flam-fold.h) by the processes of a parallel job, each of which has
 * some of the captures: in log2 n steps, however many there are.
 *
 *    process   0     1     2     3     4
 *    step 1    0+1 ◀─┘     2+3 ◀─┘     4
 *    step 2    0+1+2+3 ◀───┘           4
 *    step 3    all ◀───────────────────┘
 *
 * The processes send captures, in the form of files. */

#include "flam-core-query.h"
#include "flam-mpi.h"

/* Adds the captures of the other processes to the fold of process 0. `failed`:
 * this process could not read its captures. FALSE: here, or in another process,
 * something failed; the error is set where it happened. */
gboolean flam_cli_reduce (const FlamMpi *mpi,
                          FlamFold *fold,
                          gboolean failed,
                          GError **error);

#endif
