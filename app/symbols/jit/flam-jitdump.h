/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_JITDUMP_H
#define FLAM_JITDUMP_H

/* jit-PID.dump: the content of perf maps, with times and lines. Code is loaded,
 * moved and overwritten, so an address means one function at one time and
 * another later; look-ups specify the time.
 *
 *   header               OFFSET  SIZE
 *     magic "JiTD"            0     4   0x4A695444 in the writer's byte order
 *     version                 4     4   1
 *     header's size           8     4
 *     ELF machine            12     4
 *     (nothing)              16     4
 *     pid                    20     4
 *     timestamp              24     8
 *     flags                  32     8   1: times are the CPU's own counter
 *   record
 *     id                      0     4   0 load 1 move 2 lines 3 close 4 unwind
 *     size, all of it         4     4
 *     timestamp               8     8   CLOCK_MONOTONIC, ns
 *   load   pid 16:4  tid 20:4  vma 24:8  address 32:8  size 40:8  index 48:8
 *          name 56:.. NUL, then the code
 *   move   pid 16:4  tid 20:4  vma 24:8  old 32:8  new 40:8  size 48:8
 *          index 56:8
 *   lines  address 16:8  count 24:8, then entries, for the next load of that
 *          address:  address:8  line:4  discriminator:4  file.. NUL ("\xff"
 *          NUL: as before)
 *
 * Source: the kernel's tools/perf/Documentation/jitdump-specification.txt. */

#include "flam-core-profile.h"

typedef struct _FlamJitdump FlamJitdump;

typedef struct
{
  const char *name;
  const char *file; /* or "" */
  guint32 line;     /* or 0 */
  guint64 start;
  guint64 size;
  guint64 since; /* when it was written; 0: unknown */
} FlamJitSymbol;

/* FLAM_ERROR_SYSTEM, or FLAM_ERROR_INVALID for a bad header. A file that is
 * truncated or damaged further on is used up to there. */
FlamJitdump *flam_jitdump_open (const char *path, GError **error);
/* `data` must outlive the result. `name` is for messages. */
FlamJitdump *flam_jitdump_new_from_data (const char *name,
                                         const void *data,
                                         gsize size,
                                         GError **error);
void flam_jitdump_free (FlamJitdump *jitdump);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamJitdump, flam_jitdump_free)

/* The function at `address` at `time` (CLOCK_MONOTONIC, ns): the last one that
 * was loaded there by then. FALSE: none. */
gboolean flam_jitdump_find (const FlamJitdump *jitdump,
                            guint64 address,
                            guint64 time,
                            FlamJitSymbol *symbol);

#endif
