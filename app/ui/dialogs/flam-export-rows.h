/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_EXPORT_ROWS_H
#define FLAM_EXPORT_ROWS_H

/* The options of an export as rows of a dialog: one for each of
 * flam_export_options that has a title, unfolded on demand. Options that have
 * no effect on the format, or none beside the others, are hidden. Signal:
 * "changed". */

#include "flam-export-options.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define FLAM_TYPE_EXPORT_ROWS (flam_export_rows_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamExportRows, flam_export_rows, FLAM, EXPORT_ROWS, AdwExpanderRow)

/* The option's initial value, as in flam_export_options_take(). */
void flam_export_rows_set_word (FlamExportRows *self,
                                const char *option,
                                const char *word);
/* The result of flam_exporter_parts(): the options that the format supports. If
 * there are none, the rows are hidden. */
void flam_export_rows_set_parts (FlamExportRows *self, guint parts);

/* The argument of flam_export_options_take(): as long as the table, with NULL
 * for default values. Of (char *), freed with the array. */
GPtrArray *flam_export_rows_get_words (FlamExportRows *self);

G_END_DECLS

#endif
