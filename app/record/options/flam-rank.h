/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RANK_H
#define FLAM_RANK_H

/* The rank of this process in a parallel job, as the launcher passes it in
 * environment variables. The most specific one counts: within a job of Slurm,
 * Open MPI's mpirun may start several jobs.
 *
 *    rank                    number of ranks         job
 *    OMPI_COMM_WORLD_RANK    OMPI_COMM_WORLD_SIZE    SLURM_JOB_ID, or
 *    PMIX_RANK               -                       PMIX_NAMESPACE
 *    PMI_RANK                PMI_SIZE                PMI_JOBID ...
 *    SLURM_PROCID            SLURM_NTASKS            SLURM_JOB_ID */

#include <glib.h>

typedef struct
{
  const char *rank;  /* decimal digits; NULL: this is not a rank of a job */
  const char *ranks; /* of the whole job; NULL: unknown */
  const char *job;   /* NULL: unknown */
} FlamRank;

FlamRank flam_rank_get (void);

/* `output` with %r, %h and %j replaced by the rank, the host and the job; %% is
 * a per cent sign, other sequences are kept. g_free; NULL with FLAM_ERROR: one
 * of the three is unknown. */
char *flam_rank_expand (const char *output, GError **error);

#endif
