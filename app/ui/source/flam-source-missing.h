/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SOURCE_MISSING_H
#define FLAM_SOURCE_MISSING_H

/* The reason why no source is shown: plain text, not markup; g_free. */

#include "flam-source-file.h"

G_BEGIN_DECLS

/* The places where a file was searched, and the package that may contain it; or
 * where code came from that is in no file. */
char *flam_source_missing_text (const FlamSourceFile *file);
/* That another file of the user's own has more of the cost, but was not found.
 */
char *flam_source_missing_first_text (const FlamSourceFile *file);
/* Why a node of the view data's tree has no file. */
char *flam_source_unknown_text (FlamViewData *view_data, FlamNodeId node);

G_END_DECLS

#endif
