/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DOTNET_H
#define FLAM_DOTNET_H

/* .NET's frames, read from outside: CoreCLR of .NET Core 3.1 and .NET 6 to 10
 * on x86-64, as libcoreclr.so or within a program that is a single file.
 *
 *   g_dacTable[0] ─▶ ranges of code: a list up to 7, then a tree
 *
 *   range of a heap                       range of an assembly
 *   ┌────────┬──────┬────────┬──────┐     precompiled functions with unwind
 *   │ header │ code │ header │ code │     information (flam-dotnet-image)
 *   └───┬────┴──────┴────────┴──────┘
 *       │     nibble map: 0 0 3 0 0 0 7   where code starts, for each 32 bytes
 *       ▼
 *   real header ─▶ unwind information (flam-dotnet-unwind)
 *       ▼
 *   MethodDesc, number ─▶ MethodDescChunk ─▶ MethodTable ─▶ Module ─▶ assembly
 *                                               (flam-dotnet-pdb) lines ◀─┘
 *
 * The real header leads to the CIL of each instruction, too
 * (flam-dotnet-debug).
 *
 * Any other code there is stubs: a few instructions that jump on, without a
 * name. Compiled code does not move. That of a dynamic method, and that of an
 * assembly which can be unloaded, may end and be replaced.
 *
 * Sources: those of flam-dotnet-layout.h; dotnet/coreclr v3.1.2's
 * src/inc/nibblemapmacros.h, src/vm/codeman.cpp, src/vm/methodtable.cpp; for
 * the nibble map of 10 dotnet/runtime's
 * docs/design/datacontracts/ExecutionManager.md. 3.1.2, 9.0.1 and 10.0.9 were
 * checked; of 6, 7 and 8 no build could be had. */

#include "flam-dotnet-layout.h"
#include "flam-runtime-file.h"
#include "flam-runtime-name.h"

/* The type of FlamRuntimeFile.facts. Addresses as in the file; 0: none. */
typedef struct
{
  guint32 version; /* 3 stands for 3.1 */
  guint64 table;
  guint64 descriptor;
} FlamDotnetFile;

typedef struct _FlamDotnet FlamDotnet;

typedef enum
{
  FLAM_DOTNET_READY,
  FLAM_DOTNET_EARLY, /* it has no code yet */
  FLAM_DOTNET_UNREADABLE,
} FlamDotnetOpened;

/* A FlamRuntimeFind; `facts` is a FlamDotnetFile. */
gboolean flam_dotnet_find (const FlamElf *elf,
                           int fd,
                           const char *path,
                           FlamRuntimeFile *file);
/* `base`: of the file in the process. For FLAM_DOTNET_READY `dotnet` is new. */
FlamDotnetOpened flam_dotnet_open (const FlamDotnetFile *file,
                                   const FlamRuntimeMemory *memory,
                                   guint64 base,
                                   FlamDotnet **dotnet);
void flam_dotnet_free (FlamDotnet *dotnet);
/* Opens the PDB of an assembly, which lies at `base` in the process; `path`:
 * where its compiler has put it. NULL: not found. */
typedef GBytes *(*FlamDotnetOpenPdb) (gpointer data,
                                      guint64 base,
                                      const char *path);
/* Without it, only PDBs in assemblies are read. */
void flam_dotnet_set_open_pdb (FlamDotnet *dotnet,
                               FlamDotnetOpenPdb open,
                               gpointer data);
/* The frame at regs->pc and its caller. The key of a function is the address of
 * its code; 0: a stub. `now`: ns, from any start. FALSE: the caller is not
 * found. */
gboolean flam_dotnet_step (FlamDotnet *dotnet,
                           const FlamRuntimeMemory *memory,
                           gint64 now,
                           FlamRuntimeRegs *regs,
                           FlamRuntimeEntry *entry);
/* FALSE: unreadable, or it has been replaced. Lines are those of methods that
 * were compiled as the program ran, by flam_runtime_lines_find(). */
gboolean flam_dotnet_name (FlamDotnet *dotnet,
                           const FlamRuntimeMemory *memory,
                           const FlamRuntimeEntry *entry,
                           FlamRuntimeName *name);

#endif
