/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Shared by the widget's files: flam-flame-chart.c (the object), flam-flame-
 * chart-input.c (pointer and keys), flam-flame-chart-draw.c (the picture). */

#include "flam-flame-chart.h"
#include "flam-draw.h"

G_BEGIN_DECLS

struct _FlamFlameChart
{
  GtkWidget parent_instance;

  FlamChart *chart;
  FlamChartNodes *nodes; /* NULL if there is no chart */
  FlamPaletteMode palette_mode;
  FlamPalette *palette;
  FlamColorRules *rules; /* or NULL */
  FlamDraw *draw;        /* NULL: not made yet */
  double from, to;
  GtkAdjustment *vadjustment;
  FlamChartLayout *layout; /* of the visible part; NULL: not made yet */
  guint selected, hovered;
  double pointer_x, pointer_y;
  double drag_from;
  gboolean dragging;
};

const FlamChartLayout *flam_flame_chart_layout (FlamFlameChart *self);
void flam_flame_chart_look_at (FlamFlameChart *self, double from, double to);
/* Scrolls to a span's row. */
void flam_flame_chart_show_span (FlamFlameChart *self, guint span);
void flam_flame_chart_take_input (FlamFlameChart *self);
void flam_flame_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot);

G_END_DECLS
