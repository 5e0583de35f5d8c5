/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PATH_COMPLETION_H
#define FLAM_PATH_COMPLETION_H

/* Completion of a command line by the tab key, as in a shell:
 *
 *   ./pro|            ─▶  ./program·      the only such file
 *   gdb "my f|        ─▶  gdb "my file"   inside quotes, too
 *   /usr/li|          ─▶  /usr/lib        the common prefix
 *
 * Only the text before the cursor is used. */

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  FLAM_COMPLETE_COMMAND, /* words as in a shell; the first is a program */
  FLAM_COMPLETE_FOLDER,  /* the whole text is one folder's path */
} FlamCompleteWhat;

/* The text to insert, "" if there is none; g_free. `candidates` (of char *,
 * freed with it; may be NULL) gets the candidates, sorted. Relative paths are
 * relative to `cwd`. */
char *flam_path_complete (const char *text,
                          const char *cwd,
                          FlamCompleteWhat what,
                          GPtrArray *candidates);

G_END_DECLS

#endif
