/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A history of files and folders (flam-history.h): the captures are found by
 * content, read one after the other, and only their figures are kept.
 *
 *   folder ─▶ find ─▶ path ─▶ open ─▶ profile ─▶ figures ─┐
 *                      └─ as it was before ───────────────┴▶ history
 *
 * A file that cannot be read is listed, and the others are read nonetheless. */

#include "flam-history.h"

G_BEGIN_DECLS

/* Folders within folders are looked into so deep, and so many files are
 * captures at most. What begins with a dot, and symbolic links to folders, are
 * left out. */
#define FLAM_HISTORY_DEPTH 16
#define FLAM_HISTORY_CAPTURES 10000

typedef struct
{
  char *path;
  char *name;      /* as it is shown: below the folder, or as it was given */
  gboolean within; /* it was found in a folder */
} FlamHistoryFile;

/* Of files those themselves, of folders the captures in them, by name;
 * FlamHistoryFile, g_array_unref. `inside`: names of captures in a folder begin
 * below it, else with the folder as it was given. Folders that cannot be
 * listed, and what goes beyond the limits, are added to `refused`. NULL only
 * when cancelled. */
GArray *flam_history_find_files (const char *const *paths,
                                 gboolean inside,
                                 GPtrArray *refused,
                                 const FlamProgress *progress,
                                 GError **error);

/* The figures' file, as it is on the disk now. */
void flam_history_stamp (const char *path, gint64 *modified, gint64 *size);

typedef struct
{
  /* A capture with the names of its functions. */
  FlamProfile *(*open) (const char *path,
                        const FlamProgress *progress,
                        gpointer data,
                        GError **error);
  gpointer data;
  FlamFiguresKeep keep;
  const FlamHistory *before; /* what of it still holds is not read again; NULL:
                                nothing is there */
} FlamHistoryOptions;

/* All of each capture is weighed by its default measure. NULL only when
 * cancelled: an empty history says in `refused` why it is empty, if there is
 * something to say. */
FlamHistory *flam_history_load (const char *const *paths,
                                const FlamHistoryOptions *options,
                                const FlamProgress *progress,
                                GError **error);

G_END_DECLS
