/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SOURCE_PATH_H
#define FLAM_SOURCE_PATH_H

/* From a path in the debug information to a file on this machine.
 *
 *   recorded  /build/app/../lib/sort.c ──▶ /build/lib/sort.c
 *   mapping   /build=/home/me/src          /home/me/src/lib/sort.c   tried 1
 *   as it is                               /build/lib/sort.c         tried 2
 *   below each root, ever shorter tails    ROOT/build/lib/sort.c     tried 3
 *                                          ROOT/lib/sort.c, ROOT/sort.c
 *
 * The first roots are the working folders of the recorded processes. There, a
 * relative path (lib/sort.c) is tried before the path as it is. If it is in no
 * root, it is searched for in the folders below them (shop/Order.java:
 * ROOT/src/main/java/shop/Order.java).
 *
 * The first one that is a readable regular file is used. The tried paths are
 * kept, in that order, to be shown if no file was found. */

#include "flam-core-profile.h"
#include "flam-source-names.h"

/* What is recorded in place of a path: interpreters write a name of their own
 * for code that is in no file. */
typedef enum
{
  FLAM_SOURCE_FILE,
  FLAM_SOURCE_COMMAND_LINE, /* <string>, -e, [eval], Command line code */
  FLAM_SOURCE_INPUT,        /* <stdin>, [stdin] */
  FLAM_SOURCE_BUILT_IN,     /* <frozen runpy>, <internal:kernel>, node:fs */
  FLAM_SOURCE_CREATED,      /* (eval), evalmachine.<anonymous>, <doctest 1> */
} FlamSourceOrigin;

FlamSourceOrigin flam_source_path_origin (const char *recorded);

typedef struct
{
  char *from;
  char *to;
} FlamPathMapping;

typedef struct _FlamSourcePaths FlamSourcePaths;

FlamSourcePaths *flam_source_paths_new (void);
void flam_source_paths_free (FlamSourcePaths *paths);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSourcePaths, flam_source_paths_free)

/* A mapping from this adds a root. */
#define FLAM_SOURCE_RELATIVE "."

/* "FROM=TO"; FALSE if it does not have that form. Longer FROMs are tried first;
 * adding the same FROM again replaces its TO. */
gboolean flam_source_paths_add (FlamSourcePaths *paths, const char *mapping);
/* The folder of files that were copied from the recorded machine, each below
 * its full path there; it is searched after the mappings, and is not among the
 * places that a person is told of. */
void flam_source_paths_set_copies (FlamSourcePaths *paths, const char *folder);
/* Adds a folder in which to search. */
void flam_source_paths_add_root (FlamSourcePaths *paths, const char *root);
/* Adds the working folders of its processes, in which to search first. Naming
 * them is not a permission to access a network. */
void flam_source_paths_add_profile (FlamSourcePaths *paths,
                                    const FlamProfile *profile);

/* Takes a reference: for searches below the same roots by other paths. */
void flam_source_paths_set_names (FlamSourcePaths *paths,
                                  FlamSourceNames *names);

/* "/a/./b/../c//d" -> "/a/c/d". */
char *flam_source_path_normalize (const char *path);

/* The folder that a found file belongs to: the longest of the mappings' TO and
 * the roots that contain it, or else its own folder; g_free. */
char *flam_source_paths_folder (const FlamSourcePaths *paths,
                                const char *found);

/* The file; NULL: there is none, or the code is in no file. `tried` (may be
 * NULL; free with g_strfreev) is set in either case. A relative `recorded` is
 * searched for below the roots and the current folder. */
char *flam_source_paths_find (FlamSourcePaths *paths,
                              const char *recorded,
                              char ***tried);

#endif
