/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A profile as its tables lie in memory, to be read again by the same program
 * on the same machine: nothing is packed, so that it costs little more than
 * copying. For what is to last, or to be passed on, there is flam-capture.h.
 *
 *   head     what it is, the layout of the tables, the key
 *   pieces   one after the other, in the order of the description of the
 *            tables: columns, texts, numbers
 *
 *   OFFSET SIZE  a piece
 *        0    8  S, its size; 2^64 - 1: a column that the profile has not
 *        8    4  a hash of its bytes
 *       12    4  0
 *       16    S  the bytes, and as many more as make it a multiple of 8
 *
 * Bytes are hostile here, too: each piece is copied into the tables of a
 * builder, and what came to lie there is checked: ids are in range, texts are
 * UTF-8, numbers mean something. flam_builder_finish() does the rest. */

#include "flam-tables.h"

/* `key` says what it was made of. FALSE with errno set where the file cannot be
 * written, or ENOTSUP: the profile has something that an image does not hold.
 */
gboolean flam_image_write (const FlamProfile *profile, const char *key, int fd);
/* NULL: it is damaged, or not of that key and this program's tables. */
FlamProfile *flam_image_read (const guint8 *data, gsize size, const char *key);
