/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DOTNET_DEBUG_H
#define FLAM_DOTNET_DEBUG_H

/* From which CIL instruction of a method its machine code was compiled, as the
 * runtime keeps it for debuggers, compressed:
 *
 *   flags   state of loops, compiler's notes   sizes   pairs of offsets   ...
 *   (6 on)  (with their flag only)
 *
 * Numbers are written in nibbles, the low one of a byte first: three bits each,
 * the highest bits first, and a bit that tells whether another one follows. The
 * pairs are such numbers up to .NET 9; in .NET 10, all pairs have the same
 * number of bits. Inlined methods are listed in the compiler's notes, which it
 * writes only on request (DOTNET_RichDebugInfo).
 *
 * Sources: dotnet/runtime's docs/design/datacontracts/DebugInfo.md,
 * src/coreclr/vm/debuginfostore.cpp, src/coreclr/inc/patchpointinfo.h. */

#include "flam-runtime-memory.h"

#include <glib.h>

/* In place of an offset in CIL. */
#define FLAM_DOTNET_NO_CIL 0xffffffffu
#define FLAM_DOTNET_PROLOGUE 0xfffffffeu
#define FLAM_DOTNET_EPILOGUE 0xfffffffdu

typedef struct
{
  guint32 native; /* from the start of the method's code */
  guint32 cil;
} FlamDotnetPlace;

/* Appends FlamDotnetPlace to `places`, ascending by `native`. FALSE: there are
 * none, or the information is not valid. */
gboolean flam_dotnet_debug_read (guint32 version,
                                 const FlamRuntimeMemory *memory,
                                 guint64 address,
                                 GArray *places);

#endif
