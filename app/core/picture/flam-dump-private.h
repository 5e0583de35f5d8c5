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

/* As it is shown. */
const char *flam_dump_string (const FlamDump *dump, FlamId id);

void flam_dump_tables (const FlamDump *dump);
void flam_dump_marks (const FlamDump *dump);

G_END_DECLS
