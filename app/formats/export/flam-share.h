/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A capture that is given away: what it takes along so that it needs nothing
 * of this computer, what it leaves here, and what it then still holds. */

#include "flam-anonymize.h"
#include "flam-source-path.h"

/* A source file of this computer that frames name. */
typedef struct
{
  char *recorded; /* as they do */
  char *path;
  gsize size;
} FlamShareSource;

/* One that was written since the capture was opened. */
typedef struct
{
  char *text;
  char *function; /* NULL: of a range */
  gint64 from, to;
  gint64 written;
} FlamShareNote;

typedef struct
{
  FlamAnonymize anonymize;
  const GPtrArray *sources; /* FlamShareSource, to be put in; NULL: none */
  const GPtrArray *notes; /* FlamShareNote, for those there are; NULL: those */
  FlamRemains *remains;   /* to be filled in, or NULL */
} FlamShare;

/* FlamShareSource, by path: those that can be read, are text, not too large,
 * and not in the capture already. Files of the kernel are none. */
GPtrArray *flam_share_list_sources (const FlamProfile *profile,
                                    const FlamSourcePaths *paths);

/* Before `builder` is written. */
gboolean
flam_share_apply (const FlamShare *share, FlamBuilder *builder, GError **error);

/* Row by row, what a capture holds: "Modules", "5, and 12 hashed"; NULL past
 * the last. g_free. */
char *
flam_share_describe (const FlamRemains *remains, guint row, const char **label);
