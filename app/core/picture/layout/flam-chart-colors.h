/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CHART_COLORS_H
#define FLAM_CHART_COLORS_H

/* The texts and colors of a chart's boxes, the same for the window and for
 * documents. A call has the color of the heaviest node of its function in the
 * flame graph of the same selection. */

#include "flam-chart.h"
#include "flam-palette.h"

G_BEGIN_DECLS

typedef struct
{
  FlamTree *tree; /* a reference */
  guint n;
  FlamNodeId *node; /* per thing that a node can represent; 0: none */
} FlamChartNodes;

FlamChartNodes *flam_chart_nodes_new (FlamTree *tree);
void flam_chart_nodes_free (FlamChartNodes *nodes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamChartNodes, flam_chart_nodes_free)
/* The node for a call and its callers. If the tree lacks it because it has no
 * weight, the heaviest node of its function; 0: none. */
FlamId flam_chart_nodes_of (const FlamChartNodes *nodes,
                            const FlamChart *chart,
                            guint span);

/* The text to show with a chart that is not exact. */
#define FLAM_CHART_FROM_SAMPLES                                                \
  "drawn from samples: calls shorter than the time between them are not seen"

/* The chart's whole width, with rows as high as the font needs. */
void flam_chart_view_init (FlamChartView *view,
                           const FlamChart *chart,
                           double width,
                           double row_height);

/* Valid as long as the profile; "" for a strip. */
const char *flam_chart_box_name (const FlamChart *chart,
                                 const FlamChartBox *box);
FlamColor flam_chart_box_color (const FlamChart *chart,
                                const FlamChartBox *box,
                                const FlamChartNodes *nodes,
                                FlamPalette *palette,
                                gboolean dark);
/* The style of the label in a box. */
FlamColorState flam_chart_box_label_state (const FlamChart *chart,
                                           const FlamChartBox *box,
                                           const FlamChartNodes *nodes,
                                           const FlamPalette *palette);
/* "worker (12)   34.5 %": its name, with invisible characters made visible, and
 * its share of `total`; g_free. */
char *flam_chart_head_text (const FlamChart *chart, guint lane, gint64 total);

/* A duration, or a moment; g_free. */
char *flam_chart_text (const FlamChart *chart, gint64 time);
/* Marks of the axis, as in flam-ticks.h. */
double flam_chart_tick_step (const FlamChart *chart, double span, double width);
char *flam_chart_tick_text (const FlamChart *chart, double time, double step);

/* A counter as a curve over `n` pixels of a view: its maximum in each pixel, at
 * least 0. `top` is the overall maximum, at least 1; g_free. */
gint64 *flam_chart_levels (const FlamChart *chart,
                           const FlamChartLane *lane,
                           const FlamChartView *view,
                           guint n,
                           gint64 *top);

G_END_DECLS

#endif
