/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RANK_WAITS_H
#define FLAM_RANK_WAITS_H

/* The ranks of an MPI job wait for one another inside MPI's calls, mostly while
 * they run, since MPI polls: in the states of a sampler, that is work.
 *
 *    main;step;compute              running      running
 *    main;step;MPI_Allreduce;poll   running  ─▶  mpi
 *    main;MPI_Recv;poll;epoll_wait  sleep        mpi
 *    main;MPI_Wait;sched_yield      runnable     mpi
 *
 * Where more ranks than CPUs run, MPI leaves the CPU to the others. Calls that
 * only start a transfer, or test for its end, do not wait. */

#include "flam-profile.h"

G_BEGIN_DECLS

/* Whether a function of this name is such a call: "MPI_Wait", "PMPI_Recv",
 * "mpi_barrier_". */
gboolean flam_rank_waits_in (const char *function);

/* The profile with these states, which only samples of ranks get; the same
 * profile if there are none. All ids are the same. */
FlamProfile *flam_rank_waits_new (const FlamProfile *profile);

G_END_DECLS

#endif
