/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What flam-profile.c frees and flam-builder.c fills. Nobody else includes
 * this. The private part lies behind the public tables in one block. */

#include "flam-builder.h"
#include "flam-strings.h"

G_BEGIN_DECLS

typedef struct
{
  FlamProfile tables;
  FlamStrings strings; /* its interner is cleared */
  GPtrArray *owned;    /* the columns' memory, g_free */
  GPtrArray *lent;     /* the same of tables that grow on, a reference each */
  guint lineage;       /* of snapshots that extend one another; 0: none */
  GArray *extras;      /* FlamExtra: what a newer version has; or NULL */
  GStringChunk *texts; /* of the facts; NULL: base has them */
  FlamProfile *base;   /* whose columns an edited profile shares, or NULL */
} FlamProfileBox;

FlamProfileBox *flam_profile_box_new (void);
/* Those of a profile, or of the one it was made of by editing; or NULL. */
const GArray *flam_profile_box_extras (const FlamProfile *profile);

G_END_DECLS
