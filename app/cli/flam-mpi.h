/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MPI_H
#define FLAM_MPI_H

/* The few functions of MPI that a reduction needs, of the library that belongs
 * to the job's own mpirun or srun: it is loaded when it is needed, so that
 * Flambeau is built without MPI and runs with any of them.
 *
 *    libmpi.so.40, .80    Open MPI: a communicator is the address of an object
 *    libmpi.so.12         MPICH and all with its ABI: it is a number
 */

#include <glib.h>

typedef struct
{
  void *library;
  void *world, *byte; /* the communicator and the type of bytes */
  int rank, size;
} FlamMpi;

/* FALSE, with FLAM_ERROR_SYSTEM: no library, or it reports an error. */
gboolean flam_mpi_begin (FlamMpi *mpi, GError **error);
void flam_mpi_end (FlamMpi *mpi);

/* Blocks of any size, in the order in which they are sent; these wait. An error
 * of MPI ends the job, as it does by default. */
void flam_mpi_send (const FlamMpi *mpi, int to, gconstpointer data, gsize size);
void flam_mpi_receive (const FlamMpi *mpi, int from, gpointer data, gsize size);

#endif
