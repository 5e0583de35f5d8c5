/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A capture's bytes: a file mapped, or unpacked once (gz, xz, bz2, zstd, lz4,
 * one inside the other). What importers read from; they never see the file.
 *
 * What is unpacked (or comes from a pipe) goes to an unlinked temporary file,
 * which is mapped: pages of it are the kernel's to drop, so a small file that
 * unpacks to a huge one cannot exhaust the memory. It is given up with
 * FLAM_ERROR_TOO_LARGE past FLAM_SOURCE_MAX bytes, or when the disk is full. */

#include "flam-profile.h"

G_BEGIN_DECLS

#define FLAM_SOURCE_MAX (G_GUINT64_CONSTANT (32) << 30)
/* For flam_source_error(): the place does not matter, or the message has it. */
#define FLAM_NO_OFFSET G_MAXUINT64

typedef struct
{
  char *path;         /* as the user named it; "-" is standard input */
  char *name;         /* the base name without wrappers' suffixes */
  const guint8 *data; /* at least one readable NUL byte follows the end */
  gsize size;
  gboolean truncated;   /* the wrapper ended early: data is what came out */
  double read_fraction; /* how far into the packed file that was */
  guint64 packed_size;  /* the file's own size */
  gsize mapped;         /* for flam_source_free() */
} FlamSource;

FlamSource *flam_source_open (const char *path,
                              const FlamProgress *progress,
                              GError **error);
/* For tests, fuzzers and members of archives; copies, and unpacks nothing. */
FlamSource *
flam_source_new_from_data (const char *name, const void *data, gsize size);
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
