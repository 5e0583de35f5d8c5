/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DOTNET_IMAGE_H
#define FLAM_DOTNET_IMAGE_H

/* An assembly (.dll) of .NET in the memory of a process: the names of its
 * methods, and its precompiled code.
 *
 *   PE headers ─▶ CLI header ─▶ metadata: #Strings
 *                     │                   #~  TypeDef:   name, its first method
 *                     │                       MethodDef: name
 *                     ▼
 *   ReadyToRun header: 102 functions      { begin, end, unwind information }
 *                      103 entry points   method ─▶ number of a function
 *                      109 the same for instances of generic methods
 *   debug directory: number and name of a PDB, and perhaps that itself
 *
 * An image with code is mapped section by section, one without code as it is in
 * the file. Sources: ECMA-335 II.22, II.24 and II.25;
 * dotnet/runtime's docs/design/coreclr/botr/readytorun-format.md and, for the
 * compressed arrays, src/coreclr/vm/nativeformatreader.h. */

#include "flam-dotnet-pdb.h"
#include "flam-dotnet-unwind.h"
#include "flam-runtime-name.h"

typedef struct _FlamDotnetImage FlamDotnetImage;

/* The image whose headers are at `base`; NULL: there is none. */
FlamDotnetImage *flam_dotnet_image_new (const FlamRuntimeMemory *memory,
                                        guint64 base);
/* The one that contains an address, which is that of its assembly's name. */
FlamDotnetImage *flam_dotnet_image_new_around (const FlamRuntimeMemory *memory,
                                               guint64 name);
void flam_dotnet_image_free (FlamDotnetImage *image);

/* The number of the type that declares a method; 0: none. Both count from 1. */
guint32 flam_dotnet_image_get_owner (const FlamDotnetImage *image,
                                     const FlamRuntimeMemory *memory,
                                     guint32 method);
/* FALSE: unreadable. */
gboolean flam_dotnet_image_name (const FlamDotnetImage *image,
                                 const FlamRuntimeMemory *memory,
                                 guint32 method,
                                 FlamRuntimeName *name);

/* Where the source lines of an assembly are: in itself, or in a file. */
typedef struct
{
  guint8 number[FLAM_DOTNET_PDB_NUMBER];
  char path[1024]; /* where the compiler has put it; "": not known */
  guint64 packed;  /* compressed; 0: not in the image */
  guint32 packed_size;
} FlamDotnetSymbols;

/* FALSE: it has none. */
gboolean flam_dotnet_image_get_symbols (const FlamDotnetImage *image,
                                        const FlamRuntimeMemory *memory,
                                        FlamDotnetSymbols *symbols);

guint64 flam_dotnet_image_get_base (const FlamDotnetImage *image);

/* The precompiled function at an address; the method to which it belongs, 0 if
 * that is not known; and where that method begins: the function may be a
 * handler of it. FALSE: there is none. */
gboolean flam_dotnet_image_find (const FlamDotnetImage *image,
                                 guint64 address,
                                 FlamDotnetFunction *function,
                                 guint32 *method,
                                 guint64 *start);

#endif
