/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SESSION_FLAM_LOADER_H
#define FLAM_SESSION_FLAM_LOADER_H

/* The slow steps of a session as work for jobs (flam-job.h). */

#include "flam-core-query.h"
#include "flam-follow.h"
#include "flam-formats.h"
#include "flam-symbolizer.h"

G_BEGIN_DECLS

typedef struct _FlamLoaderInput FlamLoaderInput;

/* Loads the file at `path` without symbols, for a quick first picture; from the
 * cache (flam-cache.h) if it is there. */
gpointer flam_loader_input_new (const char *path, FlamWeightsAs weights_as);
/* Lets flam_loader_load_work() hand over the beginning of a large file
 * (flam-begun.h), before it returns the whole. */
void flam_loader_input_show_begun (gpointer input);
/* Changes the file; the rest of the input stays. */
void flam_loader_input_set_path (gpointer input, const char *path);
/* Loads a recording that is still being written, up to its current end, and
 * resolves its function names at once. */
gpointer flam_loader_input_new_live (FlamFollow *follow);
/* Adds function names to `profile`, or inlined functions and lines, too. Both
 * search the folders in the settings. */
gpointer flam_loader_input_new_symbols (const FlamProfile *profile,
                                        const char *path,
                                        FlamSymbolDetail detail);
/* Adds the data that debuginfod servers have for these modules to `profile`. */
gpointer flam_loader_input_new_download (const FlamProfile *profile,
                                         const char *path,
                                         const FlamModuleId *modules,
                                         guint n);
/* Stores `profile`, which was just read from `path`, in the cache. `file` is
 * the result of flam_cache_file() before reading. */
gpointer flam_loader_input_new_keep (const FlamProfile *profile,
                                     const char *path,
                                     FlamWeightsAs weights_as,
                                     const char *file);
void flam_loader_input_free (gpointer input);

/* FlamJobWork; each returns a FlamProfile, the last possibly the same one. */
gpointer flam_loader_load_work (gpointer input,
                                const FlamProgress *progress,
                                GError **error);
/* Both steps at once, for a capture that is not shown while it is read. */
gpointer flam_loader_whole_work (gpointer input,
                                 const FlamProgress *progress,
                                 GError **error);
gpointer flam_loader_symbolize_work (gpointer input,
                                     const FlamProgress *progress,
                                     GError **error);
/* Where the cache keeps what flam_loader_load_work() reads; NULL as in
 * flam_cache_file(). The caller owns it. */
char *flam_loader_cache_file (const char *path, FlamWeightsAs weights_as);
gpointer flam_loader_keep_work (gpointer input,
                                const FlamProgress *progress,
                                GError **error);

/* Whether there are addresses without names from the capture. */
gboolean flam_loader_needs_symbols (const FlamProfile *profile);

/* Translates `selection` of `from` into one of `to`: the same measure by id,
 * the same threads by process and thread id, if they still exist. */
FlamSelection *flam_loader_carry_selection (const FlamProfile *from,
                                            const FlamSelection *selection,
                                            const FlamProfile *to);

G_END_DECLS

#endif
