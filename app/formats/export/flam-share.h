/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SHARE_H
#define FLAM_SHARE_H

/* A capture for sharing: the files that are added so that it does not depend on
 * this computer, the data that is left out, and a summary of its remaining
 * content. */

#include "flam-core-profile.h"
#include "flam-source-path.h"

/* A source file of this computer that frames refer to. */
typedef struct
{
  char *recorded; /* as in the frames */
  char *path;
  char *folder; /* folder of the file, which no link may leave */
  gsize size;
} FlamShareSource;

/* A note that was written after the capture was opened. */
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
  const GPtrArray *sources; /* FlamShareSource, to be added; NULL: none */
  const GPtrArray *notes;   /* FlamShareNote: replace the others; NULL: keep
                               those */
  FlamRemains *remains;     /* to be filled in, or NULL */
} FlamShare;

/* FlamShareSource, by path: source files that are readable, text, not too
 * large, and not yet in the capture. Kernel files are left out, and so are
 * files that a symbolic link leads to outside the source folder. */
GPtrArray *flam_share_list_sources (const FlamProfile *profile,
                                    FlamSourcePaths *paths);

/* Call this before `builder` is written. */
gboolean
flam_share_apply (const FlamShare *share, FlamBuilder *builder, GError **error);

/* The content of a capture, row by row: "Modules", "5, and 12 hashed"; NULL
 * past the last. g_free. */
char *
flam_share_describe (const FlamRemains *remains, guint row, const char **label);

#endif
