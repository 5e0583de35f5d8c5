/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DUMP_PRIVATE_H
#define FLAM_DUMP_PRIVATE_H

#include "flam-dump.h"

G_BEGIN_DECLS

/* A dump consists of lines of words: characters that would end a line or
 * control a terminal are shown as flam_format_visible() shows them. */
typedef struct
{
  GString *out;
  const FlamProfile *profile;
  GStringChunk *escaped; /* names with characters that are escaped */
} FlamDump;

FlamDump flam_dump_new (const FlamProfile *profile);
/* The text of the dump; g_free. */
char *flam_dump_end (FlamDump *dump);
/* The text with its escapes. */
const char *flam_dump_visible (const FlamDump *dump, const char *text);
const char *flam_dump_string (const FlamDump *dump, FlamId id);

G_END_DECLS

#endif
