/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Standard output where it is a terminal: names in a document may hold control
 * characters, which the terminal would obey. They are shown as escapes, but for
 * ends of lines and tabs. The last line is written when the stream is flushed.
 */
#define FLAM_TYPE_TERMINAL_STREAM (flam_terminal_stream_get_type ())
G_DECLARE_FINAL_TYPE (FlamTerminalStream,
                      flam_terminal_stream,
                      FLAM,
                      TERMINAL_STREAM,
                      GOutputStream)

GOutputStream *flam_terminal_stream_new (void);

G_END_DECLS
