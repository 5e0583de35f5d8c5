/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PROFILE_PRIVATE_H
#define FLAM_PROFILE_PRIVATE_H

/* Freed by flam-profile.c, filled by flam-builder.c and flam-rescale.c; only
 * these include it. The private part follows the public tables in one block. */

#include "flam-builder.h"
#include "flam-strings.h"

G_BEGIN_DECLS

typedef struct
{
  FlamProfile tables;
  FlamStrings strings; /* without its interner */
  GPtrArray *owned;    /* the columns' memory, g_free */
  GPtrArray
      *lent;     /* the same for tables that keep growing, one reference each */
  guint lineage; /* of snapshots that extend one another; 0: none */
  GArray *extras;      /* FlamExtra: data of a newer version; or NULL */
  GStringChunk *texts; /* texts of the facts; NULL: `base` has them */
  FlamProfile *base;   /* an edited profile shares its columns, or NULL */
  gboolean borrows;    /* the strings are those of `base` */
} FlamProfileBox;

FlamProfileBox *flam_profile_box_new (void);
/* The extras of a profile, or of the one that it was edited from; or NULL. */
const GArray *flam_profile_box_extras (const FlamProfile *profile);

G_END_DECLS

#endif
