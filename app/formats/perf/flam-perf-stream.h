/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_STREAM_H
#define FLAM_PERF_STREAM_H

/* The common form of the streams of simpleperf and of Hotspot's perfparser:
 *
 *    magic and version, together `head` bytes
 *    u32 size, little-endian; a record of that size; … */

#include "flam-load.h"

typedef struct
{
  const FlamLoad *load;
  FlamBuilder *builder;
  guint n_events;
  guint64 samples;
  guint64 bad;  /* records that were left out */
  gboolean cut; /* the stream ends too early */
} FlamPerfStream;

typedef void (*FlamPerfStreamRecord) (gpointer reader,
                                      const guint8 *bytes,
                                      guint32 size);

/* Calls `record` for each record that is not empty. `terminated`: a record of
 * size 0 ends the stream, which is cut without it. FALSE: cancelled. */
gboolean flam_perf_stream_read (FlamPerfStream *stream,
                                gsize head,
                                gboolean terminated,
                                FlamPerfStreamRecord record,
                                gpointer reader,
                                GError **error);

/* Adds the measure of an event of this name; returns its number, from 0. */
guint flam_perf_stream_add_event (FlamPerfStream *stream, const char *name);
/* The binary at `path`, whose functions the stream names. */
FlamModuleId flam_perf_stream_module (FlamPerfStream *stream,
                                      const char *path,
                                      const char *build_id);

/* At the end: without samples an error, `none`; if the stream is cut, the
 * profile is marked as partial, for the reason in `cut`. */
gboolean flam_perf_stream_check (FlamPerfStream *stream,
                                 const char *none,
                                 const char *cut,
                                 GError **error);

#endif
