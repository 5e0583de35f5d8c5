/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FOLLOW_H
#define FLAM_FOLLOW_H

/* A recording that is still being written: its tables are kept, and new blocks
 * of the file are added to them.
 *
 *   file    [blocks read before][new blocks]
 *                                   │ decoded once
 *   tables  [.......................####]
 *                                   │ copied, frozen
 *   profile                    flam_follow_refresh() */

#include "flam-core-profile.h"

typedef struct _FlamFollow FlamFollow;

FlamFollow *flam_follow_new (const char *path);
FlamFollow *flam_follow_ref (FlamFollow *follow);
void flam_follow_unref (FlamFollow *follow);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamFollow, flam_follow_unref)

/* The content of the file so far. Only one thread may refresh at a time: a
 * second one gets FLAM_ERROR_CANCELLED. Addresses get names, looked up in
 * `binaries` and at the program's path; existing names stay. NULL: no names. */
FlamProfile *flam_follow_refresh (FlamFollow *follow,
                                  const char *const *binaries,
                                  GError **error);

#endif
