/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Why there is no source to be shown, for people: plain text, not markup, to be
 * freed with g_free(). */

#include "flam-source-file.h"

G_BEGIN_DECLS

/* Where a file was looked for, and which package may hold it. */
char *flam_source_missing_text (const FlamSourceFile *file);
/* Why a node of the view data's tree has no file. */
char *flam_source_unknown_text (FlamViewData *view_data, FlamId node);

G_END_DECLS
