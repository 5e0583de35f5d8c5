/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a large capture was read into, kept so that it opens at once the next
 * time: an image of its tables (flam-image.h) a capture, in
 * XDG_CACHE_HOME/flambeau/captures, readable by its owner alone. All are safe
 * to delete.
 *
 *   capture's device, inode, size, times   \
 *   its path, which messages hold           |  SHA-256  ->  file's name
 *   options that change what is read        |
 *   this program, by its build id          /
 *
 * So a file that was changed is another one, and so is another Flambeau. There
 * are FLAM_CACHE_MAX bytes of them at most; the ones used longest ago go first.
 * No format depends on it: what depends on files beside the capture
 * (FlamImporter.beside) is not kept. */

#include "flam-formats.h"

#define FLAM_CACHE_MAX (G_GUINT64_CONSTANT (2) << 30)
/* µs that reading must have taken to be worth the room. */
#define FLAM_CACHE_WORTH (G_USEC_PER_SEC / 2)

/* Where what is read from the capture at `path` now is kept, there or not;
 * NULL: it cannot be. Looks at the file's times, reads nothing. g_free. */
char *flam_cache_file (const char *path, const FlamLoadOptions *options);
/* NULL: there is none. One that is damaged is removed. */
FlamProfile *flam_cache_load (const char *file);
/* Whole or not at all; FALSE where that was not possible, which is no error.
 * `file` is what flam_cache_file() said before the reading; if it says
 * something else now, the capture was changed meanwhile. */
gboolean flam_cache_save (const char *file,
                          const char *path,
                          const FlamLoadOptions *options,
                          const FlamProfile *profile);
/* Removes those that were used longest ago until there are no more than so many
 * bytes. */
void flam_cache_trim (guint64 most);

/* The path from a path to a profile by way of the cache: found there, or read,
 * and kept if that was slow. */
FlamProfile *flam_cache_open (const char *path,
                              const FlamLoadOptions *options,
                              GError **error);
