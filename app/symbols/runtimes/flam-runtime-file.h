/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RUNTIME_FILE_H
#define FLAM_RUNTIME_FILE_H

/* A runtime in a program or library: all that the file alone tells, found once
 * however many processes map the file. */

#include "flam-elf.h"

#define FLAM_RUNTIME_RANGES_MAX 4

/* Addresses as in the file (vaddr). */
typedef struct
{
  guint64 start;
  guint64 end;
} FlamRuntimeRange;

typedef struct
{
  char version[32]; /* as people write it, "3.1.2"; "": unknown */
  /* NULL, or the reason why its frames are unreadable; static, N_(). Then
   * `help`, NULL or static N_(): what the user can do, starting with a verb, as
   * in "start node with --perf-basic-prof". */
  const char *why;
  const char *help;
  /* The environment variable by which such a program itself writes the names of
   * its functions for perf, as in "NODE_OPTIONS=--perf-basic-prof"; static.
   * NULL: there is none. It matters if the frames are unreadable. */
  const char *variable;
  /* The functions that run frames of the language, if they are found by their
   * pcs (FlamRuntimeEntry), each with its cold part. */
  FlamRuntimeRange evaluators[FLAM_RUNTIME_RANGES_MAX];
  guint n_evaluators;
  /* Functions that an evaluator calls to run frames: a native frame of one of
   * them belongs to the evaluator's frame that called it. */
  FlamRuntimeRange parts[FLAM_RUNTIME_RANGES_MAX];
  guint n_parts;
  /* Code that `step` follows, since its call frame information does not hold.
   */
  FlamRuntimeRange stepped;
  gpointer facts; /* the reader's, one block for g_free(); or NULL */
} FlamRuntimeFile;

/* The form of a reader's function for this. `fd` is the same file, `path` its
 * name in the process. FALSE: the file does not contain the runtime; `file` was
 * cleared by the caller and is unchanged then. It is called for every file that
 * is mapped, so it must reject others quickly: by name or by a section, before
 * any search for a symbol. */
typedef gboolean (*FlamRuntimeFind) (const FlamElf *elf,
                                     int fd,
                                     const char *path,
                                     FlamRuntimeFile *file);

/* Bytes of the file for an address; returns how many there are. */
gsize flam_runtime_file_read (
    const FlamElf *elf, int fd, guint64 vaddr, void *to, gsize size);
/* Adds the extent of a symbol to the evaluators. FALSE: there is none. */
gboolean flam_runtime_file_add_evaluator (FlamRuntimeFile *file,
                                          const FlamElf *elf,
                                          const char *symbol);
void flam_runtime_file_clear (FlamRuntimeFile *file);

#endif
