/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SINK_H
#define FLAM_SINK_H

/* The output of a document: a stream behind a buffer of bounded size, so that
 * writing needs little memory beside the profile's. The first error is kept and
 * returned by flam_sink_finish(); after it, all output is dropped.
 *
 * A file appears complete or not at all: it has no name until it is finished,
 * so a killed process leaves nothing behind. On file systems without nameless
 * files it has a temporary name, which SIGINT, SIGTERM and SIGHUP remove. */

#include <gio/gio.h>

typedef struct _FlamSink FlamSink;

FlamSink *flam_sink_new (GOutputStream *stream);
/* Only its owner can read a new file. `replace`: an existing file may be
 * replaced; the new one gets its mode. Symbolic links are neither followed nor
 * replaced, except those in /dev and /proc that lead to devices and pipes.
 * Devices and pipes are written to directly; a FIFO without a reader is
 * refused. */
FlamSink *
flam_sink_new_for_file (const char *path, gboolean replace, GError **error);
/* What follows is written as gzip. */
void flam_sink_compress (FlamSink *sink);
/* Without flam_sink_finish(), no file is created. */
void flam_sink_free (FlamSink *sink);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSink, flam_sink_free)

/* FALSE if any of it could not be written. */
gboolean flam_sink_finish (FlamSink *sink, GError **error);
/* TRUE: code with much output may stop. */
gboolean flam_sink_is_broken (const FlamSink *sink);

void flam_sink_put_len (FlamSink *sink, const void *bytes, gsize length);
void flam_sink_put (FlamSink *sink, const char *text);
void flam_sink_put_c (FlamSink *sink, char c);
void flam_sink_put_int (FlamSink *sink, gint64 value);
void flam_sink_printf (FlamSink *sink, const char *format, ...)
    G_GNUC_PRINTF (2, 3);
/* From here on, characters beyond ASCII are written as numbers, so that the
 * document may be declared to have another encoding. */
typedef enum
{
  FLAM_SINK_UTF_8,
  FLAM_SINK_XML,    /* "&#8722;" */
  FLAM_SINK_SCRIPT, /* "\\u2212" */
} FlamSinkText;
void flam_sink_set_text (FlamSink *sink, FlamSinkText text);
/* For XML and HTML; characters that XML does not allow become U+FFFD. `length`
 * -1: NUL-terminated. */
void flam_sink_put_escaped (FlamSink *sink, const char *text, gssize length);

#endif
