/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERL_H
#define FLAM_PERL_H

/* Perl's call stack (5.28 to 5.42), read from outside.
 *
 *   interpreter ─▶ curcop: the current statement's file and line
 *               ─▶ curstackinfo ─▶ contexts, the innermost last:
 *
 *       block     oldcop                    left out
 *       sub       oldcop, cv, retop 0       called from C: an entry
 *       ...
 *     prev ─▶ the stack that a sort, a signal or the like has interrupted
 *
 * A context keeps the statement at which it was entered, which belongs to the
 * caller.
 *
 * Sources: Perl's intrpvar.h, cop.h, cv.h, gv.h, hv.h, sv.h, perlvars.h of
 * these versions. 5.36 with threads was checked against a running Perl, the
 * other layouts are from the headers. */

#include "flam-runtime-file.h"
#include "flam-runtime-memory.h"
#include "flam-runtime-name.h"

/* The type of FlamRuntimeFile.facts. Its addresses are those of the ELF file.
 */
typedef struct
{
  guint32 version;   /* 0x0524 for 5.36 */
  guint64 key;       /* PL_thr_key, or 0: a build without threads, which has */
  guint64 statement; /* PL_curcop */
  guint64 stack;     /* PL_curstackinfo */
} FlamPerlFile;

gboolean flam_perl_find (const FlamElf *elf,
                         int fd,
                         const char *path,
                         FlamRuntimeFile *file);

/* The frames of a thread, innermost first, each run closed by an entry without
 * an address. `at` is a statement. `first`: it is the process's first thread,
 * which runs the program; others begin with a sub. */
gsize flam_perl_walk (const FlamPerlFile *perl,
                      const FlamRuntimeMemory *memory,
                      guint64 base,
                      guint64 fs_base,
                      bool first,
                      FlamRuntimeEntry *entries,
                      gsize limit);
/* By position. */
gboolean flam_perl_name (const FlamPerlFile *perl,
                         const FlamRuntimeMemory *memory,
                         const FlamRuntimeEntry *entry,
                         FlamRuntimeName *name);

#endif
