/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Profile with addresses -> profile with names.
 *
 *   frames of module m ──▶ addresses, sorted, each once
 *                             │  FlamBinaries: where is the file?
 *                             │  FlamSymbolModule: what lies there?
 *   frame ──replaced by──▶ chain of frames (inlined functions)
 *
 * May be done in two steps, so that the first picture comes fast: first with
 * FLAM_SYMBOL_DETAIL_SYMTAB, which only names functions; later the result of
 * that with FLAM_SYMBOL_DETAIL_FULL, which adds inlined functions and lines.
 * Doing the same again, perhaps with more directories, tries again what was
 * not found.
 *
 * Frames keep their addresses. Modules say what came of them: SYMTAB, DWARF,
 * or NONE with the reason. Frames that came with names are left alone. */

#include "flam-builder.h"
#include "flam-symbol-module.h"

typedef struct
{
  FlamSymbolDetail detail;
  /* NULL-terminated or NULL: where recorded programs, libraries and their
   * debug files are looked for first, by build id, then by name. */
  const char *const *binaries;
  /* Put before recorded paths, "/proc/PID/root"; or NULL. */
  const char *root;
  /* Kernel addresses are of this boot: name them by /proc/kallsyms. Without
   * it that is decided by the capture's start and the kernel's build id. */
  gboolean this_boot;
  /* Ask the servers in $DEBUGINFOD_URLS for what is not here. The only thing
   * in the program that uses the network; never without being asked. */
  gboolean debuginfod;
  /* The capture's file, or NULL: where a capture does not say when it began,
   * that was before its file was last written. */
  const char *capture;
  /* Only these, say the hot ones that a person asked for; none: all. */
  const FlamId *modules;
  guint n_modules;
} FlamSymbolOptions;

/* A new profile; `profile` itself (a reference) when there is nothing to do.
 * NULL only with an error: cancelled. `options` may be NULL. */
FlamProfile *flam_symbolize (const FlamProfile *profile,
                             const FlamSymbolOptions *options,
                             const FlamProgress *progress,
                             GError **error);
