/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the tab key makes of a command line, as a shell does:
 *
 *   ./pro|            ─▶  ./program·      the one file of that name
 *   gdb "my f|        ─▶  gdb "my file"   inside quotes, too
 *   /usr/li|          ─▶  /usr/lib        what lib/, lib64/ and libexec/ share
 *
 * Text before the cursor alone counts. */

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  FLAM_COMPLETE_COMMAND, /* words as a shell has them; the first is a program */
  FLAM_COMPLETE_FOLDER,  /* the whole text is one folder's path */
} FlamCompleteWhat;

/* What is to be inserted, "" when there is nothing; g_free. `candidates` (of
 * char *, freed with it; may be NULL) gets the names that fit, sorted. Relative
 * paths are those of `cwd`. */
char *flam_path_complete (const char *text,
                          const char *cwd,
                          FlamCompleteWhat what,
                          GPtrArray *candidates);

G_END_DECLS
