/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Reads a .flambeau file (format: flam-capture.h), at once or while it grows,
 * into the tables of a builder:
 *
 *   builder = flam_builder_new ();
 *   reader = flam_capture_reader_new ("run.flambeau", builder);
 *   flam_capture_reader_feed (reader, data, size, &error)
 *   profile = flam_builder_finish (builder, &error)
 *
 * Bytes are hostile: block sizes, checksums and every id are checked when a
 * block is read; a bad block ends the reading with an error and leaves what
 * came before it good. */

#include "flam-capture.h"

typedef struct _FlamCaptureReader FlamCaptureReader;

/* `name` is for messages; `builder`, which is new, outlives the reader. */
FlamCaptureReader *flam_capture_reader_new (const char *name,
                                            FlamBuilder *builder);
void flam_capture_reader_free (FlamCaptureReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamCaptureReader, flam_capture_reader_free)

/* Whether a file that begins with these bytes is one of ours. */
gboolean flam_capture_probe (const guint8 *data, gsize size);

/* `data` is the file from flam_capture_reader_offset() on. Takes every whole
 * block; TRUE also when the last one is not whole yet. FALSE: the block at the
 * offset is damaged, or the file is not ours or too new (UNSUPPORTED). */
gboolean flam_capture_reader_feed (FlamCaptureReader *reader,
                                   const guint8 *data,
                                   gsize size,
                                   GError **error);
/* The same from a file that may still grow. `changed`: blocks were read. */
gboolean flam_capture_reader_poll (FlamCaptureReader *reader,
                                   int fd,
                                   gboolean *changed,
                                   GError **error);
/* Where the next block begins. */
guint64 flam_capture_reader_offset (const FlamCaptureReader *reader);
/* The end block was read. */
gboolean flam_capture_reader_is_complete (const FlamCaptureReader *reader);
guint32 flam_capture_reader_n_rows (const FlamCaptureReader *reader,
                                    FlamTable table);
