/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLI_DIFF_H
#define FLAM_CLI_DIFF_H

/* The changes as rows: as a JSON document, as CSV, as text without the rows
 * that did not change. */

#include "flam-cli.h"
#include "flam-core-query.h"

G_BEGIN_DECLS

void flam_cli_diff_json (const FlamMeasure *measure,
                         const FlamDiffRow *rows,
                         guint n);
/* `lines`: the rows are source lines, which have one more column. */
void flam_cli_diff_csv (const FlamMeasure *measure,
                        const FlamDiffRow *rows,
                        guint n,
                        gboolean lines);
void flam_cli_diff_text (const FlamMeasure *measure,
                         const FlamDiffRow *rows,
                         guint n);

G_END_DECLS

#endif
