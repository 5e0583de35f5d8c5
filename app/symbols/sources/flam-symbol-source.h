/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SYMBOL_SOURCE_H
#define FLAM_SYMBOL_SOURCE_H

/* The sources of names. A module of a capture is passed to the first source
 * whose row matches it; the source opens its files, and then looks up one
 * address after the other:
 *
 *   FlamSymbolTarget ──▶ matches? ──▶ open ──▶ look_up, look_up … ──▶ close
 *                          kernel       /proc/kallsyms
 *                          vdso         of this process, or the recorded copy
 *                          generated    jitdump, perf map
 *                          file         ELF and DWARF
 *
 * The recorder, the command line and the window all use only this interface, so
 * that a capture shows the same names in each. A new source is a file in this
 * folder and a row in flam-symbol-source.c. */

#include "flam-symbol-module.h"

#include <sys/stat.h>

/* A module whose addresses have no names yet. */
typedef struct
{
  const char *path;
  const char *name;
  const char *build_id; /* "": unknown */
  FlamAddressing addressing;
  /* Only the recorder sets these. */
  const char *const *files; /* NULL-terminated: these are opened, in this
                               order; NULL: the file is searched for */
  const char *gone;         /* why the file is unreadable, though it existed */
  const void *image;        /* copied from the process, or NULL */
  gsize image_size;
  const char *jitdump; /* the one in the process's mappings, or NULL */
} FlamSymbolTarget;

/* How to search, and the data that the sources keep for the next target. */
typedef struct
{
  FlamSymbolDetail detail;
  const char *const *binaries; /* see FlamSymbolOptions */
  const char *root;
  gboolean this_boot;
  gboolean debuginfod;
  gint64 start_unix_ns; /* of the recording; 0: it has just ended here */
  gint64 known_unix_ns; /* a file written later is not the recorded one; 0:
                         * unknown */
  const FlamProgress *progress; /* of opening one target; or NULL */
  GPtrArray *warnings;          /* char *, for the capture as a whole */
  GData *kept;
} FlamSymbolContext;

typedef struct
{
  const char *name;
  gboolean (*matches) (const FlamSymbolTarget *target);
  /* NULL with an error whose message tells users why there are no names.
   * FLAM_ERROR_CANCELLED is the only error with another meaning. */
  gpointer (*open) (FlamSymbolContext *context,
                    const FlamSymbolTarget *target,
                    GError **error);
  /* The code at `address` at `time`; the chain is cleared before. */
  gboolean (*look_up) (gpointer opened,
                       guint64 address,
                       guint64 time,
                       FlamSymbolChain *chain);
  /* The source of the names and what is missing; NULL: SYMTAB, nothing. */
  FlamSymbolState (*get_state) (gpointer opened, const char **why);
  GDestroyNotify close; /* NULL: the context keeps it */
  gboolean grows;       /* during the program's run: may be opened again */
} FlamSymbolSource;

/* Frees the data that the sources kept. */
void flam_symbol_context_clear (FlamSymbolContext *context);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamSymbolContext, flam_symbol_context_clear)
/* The time of the last write to a file, in ns. */
gint64 flam_symbol_context_written (const struct stat *status);
/* Whether the recording was made on this machine since it booted. */
gboolean flam_symbol_context_is_here (const FlamSymbolContext *context);

typedef struct _FlamSymbols FlamSymbols;

/* NULL with an error like that of FlamSymbolSource.open. */
FlamSymbols *flam_symbols_open (FlamSymbolContext *context,
                                const FlamSymbolTarget *target,
                                GError **error);
void flam_symbols_close (FlamSymbols *symbols);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSymbols, flam_symbols_close)

/* `address` in the target's addressing: a sampled pc unchanged, a caller's
 * return address - 1. A manually constructed stack (makecontext) returns to the
 * first byte of a function; the byte before belongs to no function, so if no
 * name is found the next byte is looked up. `time`: CLOCK_MONOTONIC, ns;
 * G_MAXUINT64: the last code, which is the only time used for the next byte.
 * The chain is valid until the next look-up. */
gboolean flam_symbols_look_up (FlamSymbols *symbols,
                               guint64 address,
                               guint64 time,
                               FlamSymbolChain *chain);
/* Opening it again later in the program's run may find more names. */
gboolean flam_symbols_grow (const FlamSymbols *symbols);
/* Valid after the look-ups. `why` is "" if nothing is missing. */
FlamSymbolState flam_symbols_get_state (FlamSymbols *symbols, const char **why);

#endif
