/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HISTORY_LOAD_H
#define FLAM_HISTORY_LOAD_H

/* A history of files and folders (flam-history.h): captures are recognized by
 * content and read one after the other, and only their figures are kept.
 *
 *   folder ─▶ find ─▶ path ─▶ open ─▶ profile ─▶ figures ─┐
 *                      └─ as it was before ───────────────┴▶ history
 *
 * A file that cannot be read is listed as such, and the others are read. */

#include "flam-core-query.h"

G_BEGIN_DECLS

/* The greatest depth of nested folders that is searched, and the greatest
 * number of captures. Names with a leading dot, and symbolic links to folders,
 * are left out. */
#define FLAM_HISTORY_DEPTH 16
#define FLAM_HISTORY_CAPTURES 10000

typedef struct
{
  char *path;
  char *name;      /* for display: relative to the folder, or as given */
  gboolean within; /* found in a folder */
} FlamHistoryFile;

/* The files themselves, and of folders the captures in them, by name;
 * FlamHistoryFile, g_array_unref. `inside`: names of captures in a folder are
 * relative to it, else they begin with the folder as given. Folders that cannot
 * be listed, and files beyond the limits, are added to `refused`. NULL only
 * when cancelled. */
GArray *flam_history_find_files (const char *const *paths,
                                 gboolean inside,
                                 GPtrArray *refused,
                                 const FlamProgress *progress,
                                 GError **error);

/* The file of the figures, in its current state on the disk. */
void flam_history_stamp (const char *path, gint64 *modified, gint64 *size);

typedef struct
{
  /* Reads a capture with the names of its functions. */
  FlamProfile *(*open) (const char *path,
                        const FlamProgress *progress,
                        gpointer data,
                        GError **error);
  gpointer data;
  FlamFiguresKeep keep;
  const FlamHistory *before; /* captures that it has and that are unchanged are
                                not read again; NULL: none */
} FlamHistoryOptions;

/* Each capture is summed up by its default measure, without a selection. NULL
 * only when cancelled; if the history is empty, `refused` contains the reason,
 * if any. */
FlamHistory *flam_history_load (const char *const *paths,
                                const FlamHistoryOptions *options,
                                const FlamProgress *progress,
                                GError **error);

G_END_DECLS

#endif
