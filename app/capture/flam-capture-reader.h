/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Reads a .flambeau file (format: flam-capture.h), at once or while it grows,
 * and turns what was read so far into a profile.
 *
 * Following a recording:
 *
 *   reader = flam_capture_reader_new ("live.flambeau");
 *   every half a second:
 *     flam_capture_reader_poll (reader, fd, &changed, &error)
 *     if (changed)
 *       builder = flam_builder_new ()
 *       flam_capture_reader_build (reader, builder, NULL, &error)
 *       profile = flam_builder_finish (builder, &error)
 *     until flam_capture_reader_is_complete (reader)
 *
 * Bytes are hostile: block sizes, checksums and every id are checked when a
 * block is read; a bad block ends the reading with an error and leaves what
 * came before it good. */

#include "flam-builder.h"
#include "flam-capture.h"

G_BEGIN_DECLS

typedef struct _FlamCaptureReader FlamCaptureReader;

/* `name` is for messages. */
FlamCaptureReader *flam_capture_reader_new (const char *name);
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
                                    FlamCaptureTable table);
/* The last value of a fact, or NULL. Valid until more is read. */
const char *flam_capture_reader_fact (const FlamCaptureReader *reader,
                                      const char *key);

/* All that was read so far, into an empty builder; as often as wanted. FALSE
 * only when cancelled. */
gboolean flam_capture_reader_build (const FlamCaptureReader *reader,
                                    FlamBuilder *builder,
                                    const FlamProgress *progress,
                                    GError **error);

G_END_DECLS
