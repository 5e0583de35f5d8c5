/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CAPTURE_READER_H
#define FLAM_CAPTURE_READER_H

/* Reads a .flambeau file (format: flam-capture.h), at once or while it grows,
 * into the tables of a builder:
 *
 *   builder = flam_builder_new ();
 *   reader = flam_capture_reader_new ("run.flambeau", builder);
 *   flam_capture_reader_feed (reader, data, size, &error)
 *   profile = flam_builder_finish (builder, &error)
 *
 * The bytes are untrusted: block sizes, checksums and every id are checked when
 * a block is read; a bad block ends the reading with an error, and the data
 * before it stays valid. */

#include "flam-capture.h"

typedef struct _FlamCaptureReader FlamCaptureReader;

/* `name` is for messages; `builder` must be new and outlive the reader. */
FlamCaptureReader *flam_capture_reader_new (const char *name,
                                            FlamBuilder *builder);
void flam_capture_reader_free (FlamCaptureReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamCaptureReader, flam_capture_reader_free)

/* Whether a file that begins with these bytes is a .flambeau file. */
gboolean flam_capture_probe (const guint8 *data, gsize size);

/* `data` is the file from flam_capture_reader_offset() on. Reads every complete
 * block; TRUE even if the last one is incomplete. FALSE: the block at the
 * offset is damaged, or the file has another format or a newer version
 * (UNSUPPORTED). */
gboolean flam_capture_reader_feed (FlamCaptureReader *reader,
                                   const guint8 *data,
                                   gsize size,
                                   GError **error);
/* The same for a file that may still grow. `changed`: blocks were read. */
gboolean flam_capture_reader_poll (FlamCaptureReader *reader,
                                   int fd,
                                   gboolean *changed,
                                   GError **error);
/* The position of the next block. */
guint64 flam_capture_reader_offset (const FlamCaptureReader *reader);
/* Whether the end block was read. */
gboolean flam_capture_reader_is_complete (const FlamCaptureReader *reader);
guint32 flam_capture_reader_n_rows (const FlamCaptureReader *reader,
                                    FlamTable table);

#endif
