/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_IMAGE_H
#define FLAM_IMAGE_H

/* The tables of a profile in their in-memory form, to be read again by the same
 * program on the same machine. They are not packed, so that reading costs
 * little more than copying. For storage or exchange use flam-capture.h.
 *
 *   head     its type, the layout of the tables, the key
 *   pieces   one after the other, in the order of the description of the
 *            tables: columns, texts, numbers
 *
 *   OFFSET SIZE  a piece
 *        0    8  S, its size; 2^64 - 1: a missing column
 *        8    4  a hash of its bytes
 *       12    4  0
 *       16    S  the bytes, and as many more as make it a multiple of 8
 *
 * The bytes are untrusted here, too: each piece is copied into the tables of a
 * builder, and the copy is checked: ids are in range, texts are UTF-8, numbers
 * are valid. flam_builder_finish() does the rest. */

#include "flam-core-profile.h"

/* `key` identifies the source of the profile. FALSE with errno set if the file
 * cannot be written, or ENOTSUP: the profile has data that an image does not
 * support. */
gboolean flam_image_write (const FlamProfile *profile, const char *key, int fd);
/* NULL: damaged, or with another key or another layout of the tables. */
FlamProfile *flam_image_read (const guint8 *data, gsize size, const char *key);

#endif
