/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SYMBOLIZER_H
#define FLAM_SYMBOLIZER_H

/* Profile with addresses -> profile with names.
 *
 *   frames of module m ──▶ addresses, sorted, each once
 *                             │  FlamBinaries: finds the file
 *                             │  FlamSymbolModule: names the code
 *   frame ──replaced by──▶ chain of frames (inlined functions)
 *
 * This may be done in two steps, so that the first view appears fast: first
 * with FLAM_SYMBOL_DETAIL_SYMTAB, which only names functions; then on the
 * result with FLAM_SYMBOL_DETAIL_FULL, which adds inlined functions and lines.
 * Repeating it, perhaps with more directories, retries the names that were not
 * found.
 *
 * Frames keep their addresses. The state of each module is set: SYMTAB, DWARF,
 * or NONE with the reason. Frames that had names are left unchanged. */

#include "flam-core-profile.h"
#include "flam-symbol-module.h"

typedef struct
{
  FlamSymbolDetail detail;
  /* NULL-terminated or NULL: the first directories searched for recorded
   * programs, libraries and their debug files, by build id, then by name. */
  const char *const *binaries;
  /* A prefix of recorded paths, "/proc/PID/root"; or NULL. */
  const char *root;
  /* Kernel addresses are of this boot: name them by /proc/kallsyms. If it is
   * not set, the capture's start and the kernel's build id decide. */
  gboolean this_boot;
  /* Request files that are not on this machine from the servers in
   * $DEBUGINFOD_URLS. This is the only use of the network in the program, and
   * only on demand. */
  gboolean debuginfod;
  /* The capture's file, or NULL: a capture without a start time began before
   * its file was last written. */
  const char *capture;
  /* Only these modules, for example the hot ones that the user chose; none:
   * all. */
  const FlamModuleId *modules;
  guint n_modules;
} FlamSymbolOptions;

/* A new profile; `profile` itself (a reference) if there is nothing to do. NULL
 * only with an error: cancelled. `options` may be NULL. */
FlamProfile *flam_symbolize (const FlamProfile *profile,
                             const FlamSymbolOptions *options,
                             const FlamProgress *progress,
                             GError **error);

#endif
