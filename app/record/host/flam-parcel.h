/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PARCEL_H
#define FLAM_PARCEL_H

/* The recorder as it is carried to another machine: this running program, the
 * libraries that it has loaded with the dynamic linker, and the allocation
 * library, in one folder. Started by that linker, it needs only the kernel of
 * the other machine. */

#include <glib.h>

#define FLAM_PARCEL_LINKER "ld-linux-x86-64.so.2"
#define FLAM_PARCEL_RECORDER "flambeau-recorder"
#define FLAM_PARCEL_LIBRARY "libflambeau-alloc.so"

typedef struct _FlamParcel FlamParcel;

FlamParcel *flam_parcel_new (GError **error);
void flam_parcel_free (FlamParcel *parcel);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamParcel, flam_parcel_free)

/* Of the files' names and contents, as hexadecimal digits. */
const char *flam_parcel_hash (const FlamParcel *parcel);
/* A tar archive, compressed by gzip. */
GByteArray *flam_parcel_pack (const FlamParcel *parcel, GError **error);

#endif
