/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Blocks by size: one bar per power of two, as high as the bytes (or blocks) of
 * that size. A bar's figures are in its tooltip and its accessible text. */

#include "flam-core-query.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_SIZE_CHART (flam_size_chart_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamSizeChart, flam_size_chart, FLAM, SIZE_CHART, GtkWidget)

/* Takes a reference; NULL empties it. */
void flam_size_chart_set (FlamSizeChart *chart,
                          FlamMemorySummary *memory,
                          FlamMemoryPart part,
                          gboolean bytes);

G_END_DECLS
