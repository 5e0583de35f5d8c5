/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BEGUN_H
#define FLAM_BEGUN_H

/* First pictures of a large file. Its beginning is read as a capture of its
 * own, and then a longer beginning, until the whole is read:
 *
 *    file      [4 MB][      16 MB       ][  . . .  all of it  . . .  ]
 *    profile   1      2                   3
 *
 * These are ordinary loads, so every format whose files can end early has them
 * (FlamImporter.grows), however it reads. All beginnings together are a sixth
 * of the file at most. */

#include "flam-source.h"

/* The next beginning, a multiple of `*size` (0: the first one). `text`: its
 * lines and paragraphs are not cut in two. NULL: no beginning is left, or the
 * whole is not much longer. */
FlamSource *
flam_begun_next (const FlamSource *whole, gboolean text, gsize *size);

#endif
