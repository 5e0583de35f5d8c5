/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A capture's bytes: a file mapped, or unpacked once (flam-unpack.h). What
 * importers read from; they never see the file.
 *
 * Text in UTF-16 is UTF-8 here, and no byte order mark is left of it.
 *
 * While it is still being unpacked, an importer that reads forward can begin:
 * it calls for more when it comes to the end of what there is. */

#include "flam-file-map.h"
#include "flam-profile.h"

/* For flam_source_error(): the place does not matter, or the message has it. */
#define FLAM_NO_OFFSET G_MAXUINT64

typedef struct
{
  char *path;           /* as the user named it; "-" is standard input */
  char *name;           /* the base name without wrappers' suffixes */
  const guint8 *data;   /* at least one readable NUL byte follows the end */
  gsize size;           /* still unpacking: of the head, for probes */
  gboolean truncated;   /* the wrapper ended early: data is what came out */
  double read_fraction; /* how far into the packed file that was */
  guint64 packed_size;  /* the file's own size */
  FlamFileMap *file;    /* NULL: not from a file */
  gsize mapped;         /* unpacked or copied: of `data`, for munmap() */
  guint mark;           /* bytes of a byte order mark before `data` */
  struct _FlamUnpack *unpack; /* NULL: all is there */
  const guint8 *packed;       /* what it reads from, if not the file */
  gsize packed_mapped;
} FlamSource;

/* With all of its bytes. */
FlamSource *flam_source_open (const char *path,
                              const FlamProgress *progress,
                              GError **error);
/* With the head of them; the others by flam_source_more(), or all of them by
 * flam_source_finish(), which also is where it turns out that they could not be
 * unpacked. */
FlamSource *flam_source_begin (const char *path,
                               const FlamProgress *progress,
                               GError **error);
gboolean flam_source_finish (FlamSource *source,
                             const FlamProgress *progress,
                             GError **error);
/* Waits until more than `have` bytes are there; how many are. No more than
 * `have`: that was the end. */
gsize flam_source_more (const FlamSource *source, gsize have);
/* FALSE, once all was read: the file became shorter meanwhile, so that what
 * was read is worth nothing. */
gboolean flam_source_is_whole (const FlamSource *source, GError **error);
/* The wrapper ended early; known once that was the end. */
gboolean flam_source_is_truncated (const FlamSource *source);
/* Its bytes were read, and are hardly looked at again: a file's pages are the
 * system's own, and need not count as this process's while it makes tables. */
void flam_source_leave (const FlamSource *source);
/* The same for those from `start` to `end`, if they are of the source. */
void flam_source_leave_part (const FlamSource *source,
                             const guint8 *start,
                             const guint8 *end);
/* How much of the file lies before an offset in its bytes. */
double flam_source_fraction (const FlamSource *source, gsize offset);

/* For probes: `text` is among the first `head` bytes. */
gboolean
flam_source_head_has (const FlamSource *source, gsize head, const char *text);
/* The first byte that is no white space; 0: there is none soon. */
char flam_source_first_char (const FlamSource *source);

/* For tests, fuzzers and members of archives; copies, and unpacks nothing. */
FlamSource *
flam_source_new_from_data (const char *name, const void *data, gsize size);
void flam_source_free (FlamSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSource, flam_source_free)

/* Sets `error` to "PATH: message (at byte N)"; returns FALSE, for the caller to
 * return. */
gboolean flam_source_error (const FlamSource *source,
                            GError **error,
                            FlamError code,
                            guint64 offset,
                            const char *format,
                            ...) G_GNUC_PRINTF (5, 6);
/* The file as a whole is not what it has to be. */
#define flam_source_invalid(source, error, ...)                                \
  flam_source_error (                                                          \
      source, error, FLAM_ERROR_INVALID, FLAM_NO_OFFSET, __VA_ARGS__)
