/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CACHE_H
#define FLAM_CACHE_H

/* The tables of a large capture, kept so that it opens at once the next time:
 * one image of its tables (flam-image.h) per capture, in
 * XDG_CACHE_HOME/flambeau/captures, readable only for the user. All are safe to
 * delete.
 *
 *   capture's device, inode, size, times   \
 *   its path, which messages hold           |  SHA-256  ->  file's name
 *   options that change what is read        |
 *   this program, by its build id          /
 *
 * So a changed file has another image, and so has another build of Flambeau.
 * The images have FLAM_CACHE_MAX bytes at most; the least recently used are
 * removed first. No format depends on it: what depends on files beside the
 * capture (FlamImporter.beside) is not kept. */

#include "flam-formats.h"

#define FLAM_CACHE_MAX (G_GUINT64_CONSTANT (2) << 30)
/* µs; faster reading is not worth an image */
#define FLAM_CACHE_WORTH (G_USEC_PER_SEC / 2)

/* The path of the image of the capture at `path` in its current state, whether
 * or not it exists; NULL: it cannot have one. Reads only the file's times.
 * g_free. */
char *flam_cache_file (const char *path, const FlamLoadOptions *options);
/* NULL: there is no image. A damaged one is removed. */
FlamProfile *flam_cache_load (const char *file);
/* Writes the whole image or nothing; FALSE if that was not possible, which is
 * not an error. `file` is the result of flam_cache_file() before the reading;
 * if the result has changed since, the capture was modified meanwhile. */
gboolean flam_cache_save (const char *file,
                          const char *path,
                          const FlamLoadOptions *options,
                          const FlamProfile *profile);
/* Removes the least recently used images until at most this many bytes are
 * left. */
void flam_cache_trim (guint64 most);

/* Reads the profile at a path through the cache: from its image, or else from
 * the capture, whose image is then written if reading was slow. */
FlamProfile *flam_cache_open (const char *path,
                              const FlamLoadOptions *options,
                              GError **error);

#endif
