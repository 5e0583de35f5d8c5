/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Writes the tables of a builder as a .flambeau file (format: flam-capture.h)
 * while they grow: flam_capture_writer_flush() appends what is new as whole
 * blocks, those of the tables that others refer to first, so the file is good
 * after every block, and drops what nothing refers to. Call it by time, so
 * that a crash costs no more than what is pending.
 *
 * A recorder gives each process and thread a row of its own; a pid that is used
 * again gets a new one. */

#include "flam-capture.h"

typedef struct _FlamCaptureWriter FlamCaptureWriter;

/* Writes to `fd`, which stays the caller's and must be empty; -1: to memory.
 * `builder` outlives the writer, and has its columns of weights (at most
 * FLAM_MAX_WEIGHTS). */
FlamCaptureWriter *flam_capture_writer_new (int fd, FlamBuilder *builder);
void flam_capture_writer_free (FlamCaptureWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamCaptureWriter, flam_capture_writer_free)

/* What it writes. */
FlamBuilder *flam_capture_writer_builder (FlamCaptureWriter *writer);
/* Roughly the bytes that wait for a flush. */
gsize flam_capture_writer_pending (const FlamCaptureWriter *writer);
/* After an error (disk full) the file ends with the last whole block, and
 * every later call fails in the same way. */
gboolean flam_capture_writer_flush (FlamCaptureWriter *writer, GError **error);
/* Flushes and writes the end block. */
gboolean flam_capture_writer_end (FlamCaptureWriter *writer,
                                  gint64 duration,
                                  GError **error);
/* What a writer to memory wrote; valid until it is freed. */
const guint8 *flam_capture_writer_data (const FlamCaptureWriter *writer,
                                        gsize *size);
