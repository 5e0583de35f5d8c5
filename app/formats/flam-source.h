/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A capture's bytes: a file mapped, or unpacked once (gz, xz, bz2, zstd, lz4,
 * one inside the other). What importers read from; they never see the file. */

#include "flam-profile.h"

G_BEGIN_DECLS

typedef struct
{
  char *path;         /* as the user named it; "-" is standard input */
  char *name;         /* the base name without wrappers' suffixes */
  const guint8 *data; /* at least one readable NUL byte follows the end */
  gsize size;
  gboolean truncated; /* the wrapper ended early: data is what came out */
  guint64 packed_size; /* the file's own size */
} FlamSource;

FlamSource *flam_source_open (const char *path,
                              const FlamProgress *progress,
                              GError **error);
/* For tests, fuzzers and members of archives; copies. */
FlamSource *flam_source_new_from_data (const char *name,
                                       const void *data,
                                       gsize size);
void flam_source_free (FlamSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSource, flam_source_free)

/* Sets `error` to "PATH: message (at byte N)". */
void flam_source_error (const FlamSource *source,
                        GError **error,
                        FlamError code,
                        guint64 offset,
                        const char *format,
                        ...) G_GNUC_PRINTF (5, 6);

G_END_DECLS
