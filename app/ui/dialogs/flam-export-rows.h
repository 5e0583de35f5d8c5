/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The options of an export as rows of a dialog: one for each of
 * flam_export_options that has a title, unfolded on demand, and only those that
 * mean something to the format and beside one another. Signal: "changed". */

#include "flam-export-options.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define FLAM_TYPE_EXPORT_ROWS (flam_export_rows_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamExportRows, flam_export_rows, FLAM, EXPORT_ROWS, AdwExpanderRow)

/* The option's word at first, as flam_export_options_take() has it. */
void flam_export_rows_set_word (FlamExportRows *self,
                                const char *option,
                                const char *word);
/* Of flam_exporter_parts(): what the format takes. The rows are not there when
 * it takes nothing. */
void flam_export_rows_set_parts (FlamExportRows *self, guint parts);

/* What flam_export_options_take() takes: as long as the table, with NULL where
 * an option is as it is without a word. Of (char *), with the array freed. */
GPtrArray *flam_export_rows_get_words (FlamExportRows *self);

G_END_DECLS
