/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DOTNET_PDB_H
#define FLAM_DOTNET_PDB_H

/* A portable PDB: the source lines of an assembly's methods.
 *
 *   BSJB: #Pdb   its number, the same as in the assembly
 *         #~     Document: name ─▶ #Blob       MethodDebugInformation, by
 * method: #Blob                                document, points ─▶ #Blob
 *
 * A point is an offset in CIL and the line from there on, each as the
 * difference to that before. Source: dotnet/runtime's
 * docs/design/specs/PortablePdb-Metadata.md; ECMA-335 II.23.2 and II.24.2. */

#include "flam-dotnet-debug.h"
#include "flam-runtime-name.h"

#define FLAM_DOTNET_PDB_MAX (256u << 20)
#define FLAM_DOTNET_PDB_NUMBER 20

typedef struct _FlamDotnetPdb FlamDotnetPdb;

/* Takes a reference. NULL: not a portable PDB, or of another `number`. */
FlamDotnetPdb *
flam_dotnet_pdb_new (GBytes *bytes,
                     const guint8 number[FLAM_DOTNET_PDB_NUMBER]);
/* The one that is compressed in an assembly; NULL: not valid. */
GBytes *flam_dotnet_pdb_unpack (const guint8 *bytes, gsize size);
void flam_dotnet_pdb_free (FlamDotnetPdb *pdb);

/* Sets the file and the first line of `named`, and the line table of `name`, by
 * the method's FlamDotnetPlace. Leaves them as they are if it has no lines. */
void flam_dotnet_pdb_name (const FlamDotnetPdb *pdb,
                           guint32 method,
                           const GArray *places,
                           FlamRuntimeName *name,
                           FlamRuntimeNamed *named);

#endif
