/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PARCEL_H
#define FLAM_PARCEL_H

/* The recorder as it is carried to another machine: the program, the libraries
 * that it loads with the dynamic linker, and the allocation library, in one
 * folder. Started by that linker, it needs only the kernel of the other
 * machine.
 *
 * For a machine like this one, these are the files of this running program. For
 * another processor they are in a folder that app/recorders makes, named after
 * what `uname -m` prints there: below FLAMBEAU_RECORDERS, or where Flambeau is
 * installed. */

#include <glib.h>

#define FLAM_PARCEL_RECORDER "flambeau-recorder"
#define FLAM_PARCEL_LIBRARY "libflambeau-alloc.so"

typedef struct _FlamParcel FlamParcel;

/* All that there are, this machine's first; FlamParcel. */
GPtrArray *flam_parcels_new (GError **error);
/* As `uname -m` prints it: letters, digits and underscores. */
const char *flam_parcel_machine (const FlamParcel *parcel);
/* The name of the dynamic linker in it. */
const char *flam_parcel_linker (const FlamParcel *parcel);

/* Of the files' names and contents, as hexadecimal digits. */
const char *flam_parcel_hash (const FlamParcel *parcel);
/* A tar archive, compressed by gzip. */
GByteArray *flam_parcel_pack (const FlamParcel *parcel, GError **error);

#endif
