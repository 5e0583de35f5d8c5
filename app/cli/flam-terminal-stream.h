/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TERMINAL_STREAM_H
#define FLAM_TERMINAL_STREAM_H

#include <gio/gio.h>

G_BEGIN_DECLS

/* Standard output when it is a terminal. Names in a document may contain
 * control characters, which a terminal would obey, so all but line ends and
 * tabs are shown as escapes. The last line is written when the stream is
 * flushed. */
#define FLAM_TYPE_TERMINAL_STREAM (flam_terminal_stream_get_type ())
G_DECLARE_FINAL_TYPE (FlamTerminalStream,
                      flam_terminal_stream,
                      FLAM,
                      TERMINAL_STREAM,
                      GOutputStream)

GOutputStream *flam_terminal_stream_new (void);

G_END_DECLS

#endif
