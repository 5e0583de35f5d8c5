/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SOURCE_H
#define FLAM_SOURCE_H

/* A capture's bytes: a mapped file, or one that is unpacked once
 * (flam-unpack.h). Importers read from it, never from the file.
 *
 * Text in UTF-16 is converted to UTF-8, without its byte order mark. Texts
 * begin at their first line that is not empty.
 *
 * An importer that reads forward can begin while the file is still being
 * unpacked: it requests more at the end of the available bytes. */

#include "flam-core-profile.h"
#include "flam-file-map.h"
#include "flam-spool.h"

/* For flam_source_error(): the position is irrelevant, or in the message. */
#define FLAM_NO_OFFSET G_MAXUINT64
#define FLAM_SOURCE_PIECE (4 << 20)

typedef struct
{
  char *path;           /* as given by the user; "-" is standard input */
  char *name;           /* the base name without wrappers' suffixes */
  const guint8 *data;   /* at least one readable NUL byte follows the end */
  gsize size;           /* still unpacking: of the head, for probes */
  gboolean truncated;   /* truncated wrapper: data is its readable part */
  double read_fraction; /* its offset in the packed file */
  gboolean begun;       /* data is the beginning of a file that has more */
  guint64 packed_size;  /* the file's own size */
  FlamFileMap *file;    /* NULL: not from a file */
  gsize mapped;         /* unpacked or copied: of `data`, for munmap() */
  gsize before;         /* bytes of the file that were skipped: a byte order
                         * mark and empty lines */
  guint64 lines_before; /* the empty lines among them */
  struct _FlamUnpack *unpack; /* NULL: all bytes are available */
  const guint8 *packed;       /* the data that it reads, if not the file's */
  gsize packed_mapped;
} FlamSource;

/* Opens it with all of its bytes. */
FlamSource *flam_source_open (const char *path,
                              const FlamProgress *progress,
                              GError **error);
/* Opens it with the head; the rest follows by flam_source_more(), or all of it
 * by flam_source_finish(), which also reports failures of unpacking. */
FlamSource *flam_source_begin (const char *path,
                               const FlamProgress *progress,
                               GError **error);
gboolean flam_source_finish (FlamSource *source,
                             const FlamProgress *progress,
                             GError **error);
/* Waits until more than `have` bytes are available; returns their number. At
 * most `have`: that was the end. */
gsize flam_source_more (const FlamSource *source, gsize have);
/* FALSE, after all was read: the file was truncated meanwhile, so that the data
 * is invalid. */
gboolean flam_source_is_whole (const FlamSource *source, GError **error);
/* The wrapper is truncated; valid at the end. */
gboolean flam_source_is_truncated (const FlamSource *source);
/* They are in memory up to FLAM_SPOOL_IN_MEMORY, then in a temporary file. */
gboolean flam_source_is_unpacked (const FlamSource *source);
/* Its bytes were read and are rarely needed again: a file's pages belong to the
 * page cache, and need not count as this process's memory. */
void flam_source_leave (const FlamSource *source);
/* The same for the bytes from `start` to `end`, if they are of the source. */
void flam_source_leave_part (const FlamSource *source,
                             const guint8 *start,
                             const guint8 *end);
/* The same for a reader that moves on in pieces: `*left`, initially the
 * source's start, is the first byte that was not released yet. */
static inline void
flam_source_leave_before (const FlamSource *source,
                          const guint8 **left,
                          const guint8 *at)
{
  if (G_LIKELY (at - *left < FLAM_SOURCE_PIECE))
    return;
  flam_source_leave_part (source, *left, at);
  *left = at;
}
/* The part of the file that precedes an offset in its bytes. */
double flam_source_fraction (const FlamSource *source, gsize offset);

/* Where a byte of the source is in its file. */
static inline gsize
flam_source_offset (const FlamSource *source, gconstpointer at)
{
  return source->before + (gsize)((const guint8 *)at - source->data);
}

/* For probes: `text` occurs in the first `head` bytes. */
gboolean
flam_source_head_has (const FlamSource *source, gsize head, const char *text);
/* The first byte other than white space; 0: the head has none. */
char flam_source_first_char (const FlamSource *source);

/* Takes received bytes, which are sealed, and unpacks all of them. The path is
 * for messages, the name for probes. */
FlamSource *flam_source_new_from_spool (const char *path,
                                        const char *name,
                                        FlamSpool *spool,
                                        const FlamProgress *progress,
                                        GError **error);

/* For tests, fuzzers and members of archives; copies, and unpacks nothing. */
FlamSource *
flam_source_new_from_data (const char *name, const void *data, gsize size);
/* The first `size` bytes of another one, as a source of its own; copies. */
FlamSource *flam_source_new_begun (const FlamSource *whole, gsize size);
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
/* An error about the file as a whole. */
#define flam_source_invalid(source, error, ...)                                \
  flam_source_error (                                                          \
      source, error, FLAM_ERROR_INVALID, FLAM_NO_OFFSET, __VA_ARGS__)

#endif
