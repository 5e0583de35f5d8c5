/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-mpi.h"

#include "flam-core-profile.h"
#include "flam-rank.h"

#include <dlfcn.h>
#include <string.h>

/* MPI counts with an int. */
#define PIECE ((gsize)1 << 30)
#define TAG 30

/* The handles of MPICH's ABI, which is common to all libraries with that
 * name. */
#define MPICH_WORLD GSIZE_TO_POINTER (0x44000000)
#define MPICH_BYTE GSIZE_TO_POINTER (0x4c00010d)
/* MPI_STATUS_IGNORE: NULL in Open MPI, 1 in MPICH. */
#define MPICH_IGNORE GSIZE_TO_POINTER (1)

static void *
open_library (void)
{
  static const char *const names[] = {
    "libmpi.so.40",
    "libmpi.so.80",
    "libmpi.so.12",
    "libmpich.so.12",
  };
  gboolean mpich = g_getenv ("PMI_RANK") != NULL &&
                   g_getenv ("OMPI_COMM_WORLD_RANK") == NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      guint at = mpich ? (guint)G_N_ELEMENTS (names) - 1 - i : i;
      /* Open MPI's own modules need its symbols. */
      void *library = dlopen (names[at], RTLD_NOW | RTLD_GLOBAL);

      if (library != NULL)
        return library;
    }
  return NULL;
}

static void *
find (const FlamMpi *mpi, const char *name)
{
  return dlsym (mpi->library, name);
}

static gboolean
is_whole (const FlamMpi *mpi)
{
  static const char *const names[] = { "MPI_Init",      "MPI_Comm_rank",
                                       "MPI_Comm_size", "MPI_Send",
                                       "MPI_Recv",      "MPI_Finalize" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (find (mpi, names[i]) == NULL)
      return FALSE;
  return TRUE;
}

/* A process that does not find the others would take itself for the whole job,
 * and all of them would write the same file. */
static gboolean
check_size (FlamMpi *mpi, GError **error)
{
  const char *ranks = flam_rank_get ().ranks;

  if (mpi->size > 1 || ranks == NULL || strcmp (ranks, "1") == 0)
    return TRUE;
  flam_mpi_end (mpi);
  return flam_error_set (
      error,
      FLAM_ERROR_SYSTEM,
      N_ ("--mpi: the job has %s processes, but MPI finds only this one; start "
          "it with the mpirun of the MPI library that is installed here, or "
          "with srun --mpi=pmix or --mpi=pmi2"),
      ranks);
}

gboolean
flam_mpi_begin (FlamMpi *mpi, GError **error)
{
  int (*init) (int *, char ***);
  int (*number) (void *, int *);

  *mpi = (FlamMpi){ open_library () };
  if (mpi->library == NULL || !is_whole (mpi))
    return flam_error_set (error,
                           FLAM_ERROR_SYSTEM,
                           N_ ("--mpi: no library of Open MPI or MPICH can be "
                               "loaded (libmpi.so.40, libmpi.so.12)"));
  mpi->world = find (mpi, "ompi_mpi_comm_world");
  mpi->byte = find (mpi, "ompi_mpi_byte");
  if (mpi->world == NULL || mpi->byte == NULL)
    {
      mpi->world = MPICH_WORLD;
      mpi->byte = MPICH_BYTE;
    }
  init = (int (*) (int *, char ***))find (mpi, "MPI_Init");
  if (init (NULL, NULL) != 0)
    return flam_error_set (
        error, FLAM_ERROR_SYSTEM, N_ ("--mpi: MPI cannot be started"));
  number = (int (*) (void *, int *))find (mpi, "MPI_Comm_rank");
  number (mpi->world, &mpi->rank);
  number = (int (*) (void *, int *))find (mpi, "MPI_Comm_size");
  number (mpi->world, &mpi->size);
  return check_size (mpi, error);
}

void
flam_mpi_end (FlamMpi *mpi)
{
  int (*finalize) (void) = (int (*) (void))find (mpi, "MPI_Finalize");

  finalize ();
}

void
flam_mpi_send (const FlamMpi *mpi, int to, gconstpointer data, gsize size)
{
  int (*send) (const void *, int, void *, int, int, void *) =
      (int (*) (const void *, int, void *, int, int, void *))find (mpi,
                                                                   "MPI_Send");

  for (gsize at = 0; at < size; at += PIECE)
    send ((const guint8 *)data + at,
          (int)MIN (PIECE, size - at),
          mpi->byte,
          to,
          TAG,
          mpi->world);
}

void
flam_mpi_receive (const FlamMpi *mpi, int from, gpointer data, gsize size)
{
  int (*receive) (void *, int, void *, int, int, void *, void *) = (int (*) (
      void *, int, void *, int, int, void *, void *))find (mpi, "MPI_Recv");
  void *ignored = mpi->world == MPICH_WORLD ? MPICH_IGNORE : NULL;

  for (gsize at = 0; at < size; at += PIECE)
    receive ((guint8 *)data + at,
             (int)MIN (PIECE, size - at),
             mpi->byte,
             from,
             TAG,
             mpi->world,
             ignored);
}
