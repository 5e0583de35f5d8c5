/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LIBRARY_H
#define FLAM_LIBRARY_H

/* Code that few commands need, and whose own libraries take the loader long, is
 * in a separate library of ours, which is opened when it is needed:
 *
 *   flam_unpack_begin() ─▶ flam_library_open() ─▶ libflambeau-unpack.so
 *        ▲                                           │         │
 *        └────── constant struct of functions ◀──────┘    libarchive
 *
 * It is installed beside libflambeau-alloc.so, and in a build tree it is where
 * it was built. It uses nothing of the program, which exports no symbols. */

#include "flam-types.h"

typedef struct
{
  const char *file;
  const char *room;   /* its folder in a build tree */
  const char *symbol; /* of its struct of functions */
} FlamLibrary;

/* The library's struct. It stays open. In any thread. */
gconstpointer flam_library_open (const FlamLibrary *library, GError **error);

#endif
