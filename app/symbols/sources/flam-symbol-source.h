/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Where names come from. A module of a capture is given to the first source
 * whose row matches it; the source opens what it reads, and then looks up
 * address by address:
 *
 *   FlamSymbolTarget ──▶ matches? ──▶ open ──▶ look_up, look_up … ──▶ close
 *                          kernel       /proc/kallsyms
 *                          vdso         our own copy, or the recorded one
 *                          generated    jitdump, perf map
 *                          file         ELF and DWARF
 *
 * The recorder, the command line and the window ask here and nowhere else, so
 * that a capture shows the same names whoever looked them up. A new source is
 * a file in this folder and a row in flam-symbol-source.c. */

#include "flam-symbol-module.h"

#include <sys/stat.h>

/* A module whose addresses have no names yet. */
typedef struct
{
  const char *path;
  const char *name;
  const char *build_id; /* "": not known */
  FlamAddressing addressing;
  /* What the recorder alone has. */
  const char *const *files; /* NULL-terminated: these are opened, in this
                               order; NULL: the file is searched for */
  const char *gone;  /* why the file cannot be read, though it was there */
  const void *image; /* copied from the process, or NULL */
  gsize image_size;
  const char *jitdump; /* the one that the process maps, or NULL */
} FlamSymbolTarget;

/* How to search, and what the sources keep from one target to the next. */
typedef struct
{
  FlamSymbolDetail detail;
  const char *const *binaries; /* see FlamSymbolOptions */
  const char *root;
  gboolean this_boot;
  gboolean debuginfod;
  gint64 start_unix_ns; /* of the recording; 0: it has just ended here */
  gint64 known_unix_ns; /* what was written later is not what was recorded; 0:
                           not known */
  const FlamProgress *progress; /* of opening one target; or NULL */
  GPtrArray *warnings;          /* char *, for the capture as a whole */
  GData *kept;
} FlamSymbolContext;

typedef struct
{
  const char *name;
  gboolean (*matches) (const FlamSymbolTarget *target);
  /* NULL with an error whose message is for people: why there are no names.
   * FLAM_ERROR_CANCELLED alone is not such a reason. */
  gpointer (*open) (FlamSymbolContext *context,
                    const FlamSymbolTarget *target,
                    GError **error);
  /* What lay at `address` at `time`; the chain is cleared before. */
  gboolean (*look_up) (gpointer opened,
                       guint64 address,
                       guint64 time,
                       FlamSymbolChain *chain);
  /* What the names came from and what is missing; NULL: SYMTAB, nothing. */
  FlamSymbolState (*get_state) (gpointer opened, const char **why);
  GDestroyNotify close; /* NULL: the context keeps it */
  gboolean grows;       /* while the program runs: to be opened again later */
} FlamSymbolSource;

/* Frees what the sources kept. */
void flam_symbol_context_clear (FlamSymbolContext *context);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamSymbolContext, flam_symbol_context_clear)
/* When a file was last written, in ns. */
gint64 flam_symbol_context_written (const struct stat *status);
/* What was recorded on this machine since it booted. */
gboolean flam_symbol_context_is_here (const FlamSymbolContext *context);

typedef struct _FlamSymbols FlamSymbols;

/* NULL with an error as FlamSymbolSource.open says. */
FlamSymbols *flam_symbols_open (FlamSymbolContext *context,
                                const FlamSymbolTarget *target,
                                GError **error);
void flam_symbols_close (FlamSymbols *symbols);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSymbols, flam_symbols_close)

/* `address` in the target's addressing: a sampled pc as it is, a caller's
 * return address - 1. A stack that was set up by hand (makecontext) returns to
 * the first byte of a function; the byte before belongs to none, so where there
 * is no name the next byte is looked up. `time`: CLOCK_MONOTONIC, ns;
 * G_MAXUINT64: what was there last, which alone is asked for at the next byte.
 * The chain is valid until the next look-up. */
gboolean flam_symbols_look_up (FlamSymbols *symbols,
                               guint64 address,
                               guint64 time,
                               FlamSymbolChain *chain);
/* More may be known if it is opened again, later in the program's run. */
gboolean flam_symbols_grow (const FlamSymbols *symbols);
/* Ask after the look-ups. `why` is "" when nothing is missing. */
FlamSymbolState flam_symbols_get_state (FlamSymbols *symbols, const char **why);
