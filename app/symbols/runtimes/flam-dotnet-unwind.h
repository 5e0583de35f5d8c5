/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DOTNET_UNWIND_H
#define FLAM_DOTNET_UNWIND_H

/* The caller of a function of .NET, by the unwind information of Windows, which
 * .NET has for its code on all systems:
 *
 *   size of the prologue │ number of codes │ frame register, its offset
 *   the prologue backwards: at offset 11, "rbp = rsp + 16"
 *                           at offset 6,  "rsp -= 32"
 *                           at offset 2,  "push rbx"
 *                           at offset 1,  "push rbp"
 *
 * Within a prologue, only what is done already is undone. An epilogue is not
 * described: there, the instructions up to the return are followed. Sources:
 * Microsoft's "x64 exception handling"; dotnet/runtime's
 * src/coreclr/inc/win64unwind.h for the code that only Unix has. */

#include "flam-runtime-memory.h"

typedef struct
{
  uint64_t base; /* to which addresses in unwind information are relative */
  uint64_t begin;
  uint64_t end;
  uint64_t info;
} FlamDotnetFunction;

/* False: the caller is not found, and `regs` is unchanged. */
bool flam_dotnet_unwind (const FlamRuntimeMemory *memory,
                         const FlamDotnetFunction *function,
                         FlamRuntimeRegs *regs);
/* The caller of code that has no such information. */
bool flam_dotnet_unwind_stub (const FlamRuntimeMemory *memory,
                              FlamRuntimeRegs *regs);

#endif
