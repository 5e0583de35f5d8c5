/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A recording that is still being written: its tables are kept, and what is new
 * in the file is added to them.
 *
 *   file    [blocks read before][new blocks]
 *                                   │ decoded once
 *   tables  [.......................####]
 *                                   │ copied, frozen
 *   profile                    flam_follow_refresh()
 */

#include "flam-profile.h"

typedef struct _FlamFollow FlamFollow;

FlamFollow *flam_follow_new (const char *path);
FlamFollow *flam_follow_ref (FlamFollow *follow);
void flam_follow_unref (FlamFollow *follow);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamFollow, flam_follow_unref)

/* What the file holds by now. One thread at a time: while another is at it,
 * that is the error. */
FlamProfile *flam_follow_refresh (FlamFollow *follow, GError **error);
/* The same with names for the addresses, looked up in `binaries` and where the
 * program is; what is there already keeps its name. */
FlamProfile *flam_follow_refresh_named (FlamFollow *follow,
                                        const char *const *binaries,
                                        GError **error);
