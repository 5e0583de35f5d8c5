/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CAPTURE_WRITER_H
#define FLAM_CAPTURE_WRITER_H

/* Writes the tables of a builder as a .flambeau file (format: flam-capture.h)
 * while they grow: flam_capture_writer_flush() appends the new rows as whole
 * blocks, those of referenced tables first, so that the file is valid after
 * every block, and drops the rows that are not referenced. Call it at
 * intervals, so that a crash loses only the pending rows.
 *
 * A recorder gives each process and thread a row of its own; a pid that is
 * reused gets a new one. */

#include "flam-capture.h"

typedef struct _FlamCaptureWriter FlamCaptureWriter;

/* Writes to `fd`, which must be empty and is not closed; -1: to memory.
 * `builder` must outlive the writer, and must have its columns of weights (at
 * most FLAM_MAX_WEIGHTS). */
FlamCaptureWriter *flam_capture_writer_new (int fd, FlamBuilder *builder);
void flam_capture_writer_free (FlamCaptureWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamCaptureWriter, flam_capture_writer_free)

/* The builder whose tables are written. */
FlamBuilder *flam_capture_writer_builder (FlamCaptureWriter *writer);
/* The approximate number of bytes to be flushed. */
gsize flam_capture_writer_pending (const FlamCaptureWriter *writer);
/* After an error (disk full) the file ends with the last whole block, and every
 * later call fails with the same error. */
gboolean flam_capture_writer_flush (FlamCaptureWriter *writer, GError **error);
/* Flushes and writes the end block. */
gboolean flam_capture_writer_end (FlamCaptureWriter *writer,
                                  gint64 duration,
                                  GError **error);
/* Whether there is more than the file's header. */
gboolean flam_capture_writer_has_data (const FlamCaptureWriter *writer);
/* The output of a writer to memory; valid until the writer is freed. */
const guint8 *flam_capture_writer_data (const FlamCaptureWriter *writer,
                                        gsize *size);

#endif
