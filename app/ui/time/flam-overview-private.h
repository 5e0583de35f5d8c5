/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Shared by the overview, its drawing and the sparkline. */

#include "flam-overview.h"

G_BEGIN_DECLS

#define FLAM_OVERVIEW_AXIS 16.0 /* room for the times below the curve */

typedef enum
{
  FLAM_GRAB_NONE,
  FLAM_GRAB_NEW,
  FLAM_GRAB_FROM,
  FLAM_GRAB_TO,
  FLAM_GRAB_RANGE,
} FlamGrab;

struct _FlamOverview
{
  GtkWidget parent_instance;
  FlamTimeline *timeline;
  GskRenderNode *curve; /* the picture below the selection; NULL: stale */
  gint64 from, to;      /* G_MININT64, G_MAXINT64: all */
  FlamGrab grab;
  double grab_x, grab_y, grab_from, grab_to; /* pixels */
  double pointer;                            /* pixels; < 0: outside */
  graphene_rect_t peak; /* where the peak is written; empty: nowhere */
  guint throttle;
  gint64 told_from, told_to;
};

gboolean flam_overview_has_range (FlamOverview *self);
double flam_overview_pixel_of (FlamOverview *self, gint64 time);
/* The name of a counter: "RSS". */
char *flam_overview_counter_name (const char *id);
/* Whether it is drawn beside the curve. */
gboolean flam_overview_has_counter (const FlamTimeline *timeline,
                                    guint counter);
void flam_overview_snapshot (GtkWidget *widget, GtkSnapshot *snapshot);

gboolean flam_curve_is_dark (GtkWidget *widget);

/* A row of the timeline as a filled curve, or, where it has states, as stacked
 * areas in their colors, `top` being the value at the upper edge of the
 * area. */
void flam_curve_append (GtkSnapshot *snapshot,
                        const FlamTimeline *timeline,
                        guint row,
                        gint64 top,
                        const graphene_rect_t *area,
                        gboolean dark);

G_END_DECLS
