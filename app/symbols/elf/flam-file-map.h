/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A file's bytes in memory, mapped, although somebody else may cut the file
 * short meanwhile. The kernel answers a read past a file's new end with SIGBUS;
 * then zeros are put there, and the mapping is marked:
 *
 *    | page | page | page | zeros …        is_whole() == FALSE
 *                     ^ the file's end now
 *
 * Who reads calls flam_file_map_is_whole() when done, and uses nothing of
 * what was read if it is not. */

#include "flam-types.h"

typedef struct
{
  guint8 *data; /* a NUL follows the end */
  gsize size;
  int fd;      /* our own */
  gsize range; /* length of the mapping */
  guint slot;  /* of the signal handler's table */
} FlamFileMap;

/* `size` as fstat() has just returned it. NULL with errno set. */
FlamFileMap *flam_file_map_new (int fd, gsize size);
/* Copies a page when it is written to; the file stays as it is. */
gboolean flam_file_map_make_writable (FlamFileMap *mapping);
/* FALSE: the file has become shorter, or could not be read everywhere. */
gboolean flam_file_map_is_whole (const FlamFileMap *mapping);
void flam_file_map_free (FlamFileMap *mapping);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamFileMap, flam_file_map_free)
