/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Shared by the chart's two files: flam-history-chart.c (position, keys,
 * pointer, words), flam-history-chart-draw.c (the picture). */

#include "flam-history-chart.h"

G_BEGIN_DECLS

/* A point of the plot. */
typedef struct
{
  guint series; /* FLAM_HISTORY_NONE: none */
  guint point;
} FlamHistorySpot;

struct _FlamHistoryChart
{
  GtkWidget parent_instance;

  FlamPlot *plot; /* NULL: nothing */
  char *title;
  FlamHistorySpot current, hovered;
  guint marked; /* capture */
};

/* The position of a point, pixels of the widget. */
graphene_point_t flam_history_chart_place (FlamHistoryChart *self,
                                           FlamHistorySpot spot);
void flam_history_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot);
/* Room around the plot: the value at the top, dates at the bottom. */
#define FLAM_HISTORY_HEAD 22
#define FLAM_HISTORY_FOOT 24
#define FLAM_HISTORY_SIDE 14

G_END_DECLS
