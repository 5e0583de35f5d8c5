/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PATH_ENTRY_H
#define FLAM_PATH_ENTRY_H

/* The tab key in a row that holds paths: it completes them and shows the
 * candidates. */

#include "flam-path-completion.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Relative paths are relative to the path in `folder`; NULL: to the current
 * folder. */
void flam_path_entry_complete (AdwEntryRow *row,
                               FlamCompleteWhat what,
                               AdwEntryRow *folder);

G_END_DECLS

#endif
