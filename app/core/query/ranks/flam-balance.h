/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BALANCE_H
#define FLAM_BALANCE_H

/* Profile of a job + selection -> how evenly its ranks share the work. The
 * time for which a rank waits for others in MPI (flam-rank-waits.h) does not
 * count as work: the slowest rank causes it. Of a thread that never waits in
 * MPI and is not the first of its process, only running counts: MPI's own
 * threads and those of a pool sleep until there is something to do.
 *
 *    rank      0    1    2    3      median   slowest   lost
 *    work     30   31   30   44          30    3: 44      14
 *      fft    20   20   20   33          20    3: 33      13
 *      io     10   11   10   11          10    1: 11       1
 *    waits    14   13   14    0
 *
 * With an even number of ranks, the median is the mean of the two middle
 * ones. */

#include "flam-functions.h"

G_BEGIN_DECLS

/* A row of the table above. */
typedef struct
{
  gint64 sum;
  gint64 median;
  gint64 most;
  guint slowest; /* index into `ranks`: the first that has the most */
} FlamBalanceSpread;

typedef struct
{
  guint32 rank;
  const char *host; /* as long as the profile; "": unknown */
  gint64 work;
  gint64 waits;
} FlamBalanceRank;

typedef struct
{
  char *name;
  char *module; /* "": none */
  FlamBalanceSpread spread;
} FlamBalanceFunction;

typedef struct
{
  FlamProfile *profile; /* a reference */
  FlamMeasure measure;
  guint n_ranks;
  FlamBalanceRank *ranks; /* by number */
  guint n_hosts;
  FlamBalanceSpread work;
  guint n_functions;
  FlamBalanceFunction *functions; /* the largest difference between the slowest
                                     rank and the median first */
  guint n_columns;                /* of time; 0: the samples have no times */
  gint64 column;                  /* ns */
  gint64 *value; /* n_columns * n_ranks: the work, column by column */
  gint64 top;    /* the greatest of these */
  FlamBalanceSpread *columns; /* n_columns */
} FlamBalance;

#define FLAM_BALANCE_COLUMNS_MAX 2000

typedef struct
{
  gboolean functions; /* and the sums of each rank */
  FlamSort sort;      /* the functions' self or total */
  guint columns;      /* 0: nothing over time */
} FlamBalanceWanted;

/* NULL with an error when cancelled, NULL without one where none of the
 * selected threads belongs to a rank. */
FlamBalance *flam_balance_new (const FlamProfile *profile,
                               const FlamSelection *selection,
                               const FlamBalanceWanted *wanted,
                               const FlamProgress *progress,
                               GError **error);
void flam_balance_free (FlamBalance *balance);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamBalance, flam_balance_free)

/* The spread of `n` values, at least one. */
FlamBalanceSpread flam_balance_spread (const gint64 *values, guint n);

static inline gint64
flam_balance_lost (const FlamBalanceSpread *spread)
{
  return spread->most - spread->median;
}

G_END_DECLS

#endif
