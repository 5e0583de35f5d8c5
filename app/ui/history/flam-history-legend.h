/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HISTORY_LEGEND_H
#define FLAM_HISTORY_LEGEND_H

/* The series of a history in their colors; a click hides one of them, or shows
 * it again. Series are remembered by their names.
 *
 * Signal: changed () */

#include <gtk/gtk.h>

#include "flam-core-query.h"

G_BEGIN_DECLS

#define FLAM_TYPE_HISTORY_LEGEND (flam_history_legend_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamHistoryLegend, flam_history_legend, FLAM, HISTORY_LEGEND, GtkWidget)

/* Lists the trend's series, and removes hidden ones from it. */
void flam_history_legend_apply (FlamHistoryLegend *self, FlamTrend *trend);

G_END_DECLS

#endif
