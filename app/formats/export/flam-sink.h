/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Where a document goes: a stream behind a buffer of bounded size, so that
 * what is written needs no more memory than it is made of. The first error is
 * kept and returned by flam_sink_finish(); after it, whatever is put is
 * dropped.
 *
 * A file is written beside its name and renamed when it is finished: it
 * appears whole or not at all. */

#include <gio/gio.h>

typedef struct _FlamSink FlamSink;

FlamSink *flam_sink_new (GOutputStream *stream);
/* What is no regular file (a terminal, a pipe) is written to as it stands. */
FlamSink *flam_sink_new_for_file (const char *path, GError **error);
/* Without flam_sink_finish(), a file is not made. */
void flam_sink_free (FlamSink *sink);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSink, flam_sink_free)

/* FALSE where any of it could not be written. */
gboolean flam_sink_finish (FlamSink *sink, GError **error);
/* Whoever has much to put may stop then. */
gboolean flam_sink_is_broken (const FlamSink *sink);
/* Bytes, so far. */
guint64 flam_sink_size (const FlamSink *sink);

void flam_sink_put_len (FlamSink *sink, const void *bytes, gsize length);
void flam_sink_put (FlamSink *sink, const char *text);
void flam_sink_put_c (FlamSink *sink, char c);
void flam_sink_put_int (FlamSink *sink, gint64 value);
void flam_sink_printf (FlamSink *sink, const char *format, ...)
    G_GNUC_PRINTF (2, 3);
/* For XML and HTML alike; what XML cannot hold becomes U+FFFD. `length` -1:
 * NUL-terminated. */
void flam_sink_put_escaped (FlamSink *sink, const char *text, gssize length);
