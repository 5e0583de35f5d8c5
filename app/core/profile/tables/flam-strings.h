/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_STRINGS_H
#define FLAM_STRINGS_H

/* The string table: every name, path and label of a profile, once.
 *
 *   blob    "\0main\0spin_heavy\0..."
 *   offset   0  1     6 ...            id 0 is always ""
 *
 * Strings are valid UTF-8 whatever went in (bad bytes become U+FFFD), contain
 * no NUL, and are at most FLAM_STRING_MAX bytes (longer ones are cut at a
 * character and end in "…"). */

#include "flam-columns.h"

G_BEGIN_DECLS

#define FLAM_STRING_MAX (1 << 20)

typedef struct
{
  FlamColumn blob;    /* char */
  FlamColumn offsets; /* guint64 */
  FlamInterner interner;
} FlamStrings;

void flam_strings_init (FlamStrings *strings);
void flam_strings_init_copy (FlamStrings *strings, const FlamStrings *from);
void flam_strings_clear (FlamStrings *strings);
/* `length` -1: NUL-terminated. NULL is "". */
FlamId
flam_strings_intern (FlamStrings *strings, const char *text, gssize length);

static inline const char *
flam_strings_get (const FlamStrings *strings, FlamId id)
{
  return (const char *)strings->blob.data +
         flam_column_at (&strings->offsets, guint64, id);
}

G_END_DECLS

#endif
