/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FILE_MAP_H
#define FLAM_FILE_MAP_H

/* The mapped bytes of a file that another process may truncate meanwhile. The
 * kernel answers a read past the file's new end with SIGBUS; zeros are then
 * mapped there, and the mapping is marked:
 *
 *    | page | page | page | zeros …        is_whole() == FALSE
 *                     ^ the file's end now
 *
 * After reading, the caller calls flam_file_map_is_whole(), and must not use
 * any of the data if the result is FALSE. */

#include "flam-core-profile.h"

typedef struct
{
  guint8 *data; /* a NUL follows the end */
  gsize size;
  int fd;      /* a duplicate of the caller's */
  gsize range; /* length of the mapping */
  guint slot;  /* in the signal handler's table */
} FlamFileMap;

/* `size` as just returned by fstat(). NULL with errno set. */
FlamFileMap *flam_file_map_new (int fd, gsize size);
/* A page is copied when it is written to; the file stays unchanged. */
gboolean flam_file_map_make_writable (FlamFileMap *mapping);
/* FALSE: the file has become shorter, or could not be read completely. */
gboolean flam_file_map_is_whole (const FlamFileMap *mapping);
void flam_file_map_free (FlamFileMap *mapping);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamFileMap, flam_file_map_free)

#endif
