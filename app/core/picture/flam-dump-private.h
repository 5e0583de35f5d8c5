/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "flam-dump.h"

G_BEGIN_DECLS

/* A dump is lines of words: what would end a line, or tell a terminal to do
 * something, is shown as flam_format_visible() shows it. */
typedef struct
{
  GString *out;
  const FlamProfile *profile;
  GStringChunk *escaped; /* names that are not as they are shown */
} FlamDump;

FlamDump flam_dump_new (const FlamProfile *profile);
/* Its text; g_free. */
char *flam_dump_end (FlamDump *dump);
/* As they are shown. */
const char *flam_dump_visible (const FlamDump *dump, const char *text);
const char *flam_dump_string (const FlamDump *dump, FlamId id);

G_END_DECLS
