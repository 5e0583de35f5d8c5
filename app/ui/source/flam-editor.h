/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_EDITOR_H
#define FLAM_EDITOR_H

/* The command that opens an editor at a line of a file. The desktop's way of
 * opening files has no lines, but the editors' command lines do. */

#include <glib.h>

G_BEGIN_DECLS

/* The command to start, g_strfreev: `wanted` with %f and %l replaced by file
 * and line (no %f: the file comes last); if it is "", `visual` or else `editor`
 * ($VISUAL and $EDITOR), if that editor opens its own window. NULL: none of
 * them; the desktop has to choose. */
char **flam_editor_command (const char *wanted,
                            const char *visual,
                            const char *editor,
                            const char *path,
                            guint line,
                            GError **error);

G_END_DECLS

#endif
