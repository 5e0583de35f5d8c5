/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-reduce.h"

#include "flam-capture-writer.h"
#include "flam-formats.h"

/* Sizes of a message after which nothing follows; EMPTY is that of a process
 * that has no captures. */
#define FAILED G_MAXUINT64
#define EMPTY 0

static void
send_size (const FlamMpi *mpi, int to, guint64 size)
{
  flam_mpi_send (mpi, to, &size, sizeof size);
}

static gboolean
send_fold (const FlamMpi *mpi, int to, FlamFold *fold, GError **error)
{
  g_autoptr (FlamProfile) profile = flam_fold_finish (fold, error);
  g_autoptr (FlamBuilder) builder = NULL;
  g_autoptr (FlamCaptureWriter) writer = NULL;
  guint64 size = FAILED;
  const guint8 *data = NULL;
  gsize n = 0;

  if (profile != NULL)
    {
      builder = flam_builder_new_copy (profile);
      writer = flam_capture_writer_new (-1, builder);
    }
  if (writer != NULL && flam_capture_writer_end (writer, 0, error))
    {
      data = flam_capture_writer_data (writer, &n);
      size = n;
    }
  send_size (mpi, to, size);
  if (size != FAILED)
    flam_mpi_send (mpi, to, data, n);
  return size != FAILED;
}

static gboolean
receive_fold (const FlamMpi *mpi,
              int from,
              FlamFold *fold,
              gboolean failed,
              GError **error)
{
  g_autofree char *name = g_strdup_printf ("process %d", from);
  g_autofree guint8 *data = NULL;
  g_autoptr (FlamSource) source = NULL;
  g_autoptr (FlamProfile) profile = NULL;
  guint64 size;

  flam_mpi_receive (mpi, from, &size, sizeof size);
  if (size == FAILED || size == EMPTY)
    return size == EMPTY;
  data = g_malloc (size);
  flam_mpi_receive (mpi, from, data, size);
  if (failed)
    return FALSE;
  source = flam_source_new_from_data (name, data, size);
  g_clear_pointer (&data, g_free);
  profile = flam_formats_load_source (source, NULL, error);
  return profile != NULL && flam_fold_add (fold, name, profile, error);
}

gboolean
flam_cli_reduce (const FlamMpi *mpi,
                 FlamFold *fold,
                 gboolean failed,
                 GError **error)
{
  for (int step = 1; step < mpi->size; step *= 2)
    if (mpi->rank & step)
      {
        if (!failed && flam_fold_n (fold) > 0)
          return send_fold (mpi, mpi->rank - step, fold, error);
        send_size (mpi, mpi->rank - step, failed ? FAILED : EMPTY);
        return !failed;
      }
    else if (mpi->rank + step < mpi->size)
      failed |= !receive_fold (mpi, mpi->rank + step, fold, failed, error);
  return !failed;
}
