/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CAPTURE_VIEW_PRIVATE_H
#define FLAM_CAPTURE_VIEW_PRIVATE_H

/* Shared by the capture's files: flam-capture-view.c (the widgets around the
 * pages), flam-capture-pages.c (the pages). */

#include "flam-capture-view.h"
#include "flam-download-bar.h"
#include "flam-graph-view.h"
#include "flam-headline-bar.h"
#include "flam-lanes.h"
#include "flam-measure-menu.h"
#include "flam-page-switcher.h"
#include "flam-path-bar.h"
#include "flam-plot-widget.h"
#include "flam-source-divider.h"
#include "flam-source-pane.h"
#include "flam-state-menu.h"
#include "flam-status-bar.h"
#include "flam-thread-lanes.h"
#include "flam-thread-selector.h"
#include "flam-unresolved-bar.h"

G_BEGIN_DECLS

struct _FlamCaptureView
{
  GtkWidget parent_instance;

  FlamSession *session;
  FlamJob *timeline_job;
  FlamTimeline *timeline; /* of the overview; NULL: none */
  FlamMeasureMenu *measures;
  FlamRoom room;
  gboolean memory_pages;

  GtkRevealer *notice;
  GtkLabel *notice_label;
  GtkButton *notice_close;
  FlamUnresolvedBar *unresolved_bar;
  FlamDownloadBar *download_bar;
  FlamHeadlineBar *headline_bar;
  GtkBox *top_bar;
  GtkBox *choices;
  GtkBox *kind_box;
  GtkToggleButton *cpu_button;
  GtkToggleButton *memory_button;
  FlamPageSwitcher *switcher;
  GtkDropDown *page_menu;
  GtkMenuButton *measure_button;
  GtkLabel *measure_label;
  FlamStateMenu *states;
  FlamThreadSelector *threads;
  FlamSearchBar *search_bar;
  FlamPlotWidget *overview;
  FlamThreadLanes *thread_lanes;
  FlamLanes *lanes;
  FlamPathBar *path_bar;
  GtkMenuButton *display_button;
  FlamSourceDivider *divider;
  GtkStack *pages;
  FlamSourcePane *source_pane;
  FlamStatusBar *status_bar;
};

FlamGraphView *flam_capture_pages_graph (FlamCaptureView *self);
/* Creates the bins of all pages, once there is a session. */
void flam_capture_pages_fill (FlamCaptureView *self);
void flam_capture_pages_grab_focus (FlamCaptureView *self);
/* Shows buttons or, without room for them, a menu. */
void flam_capture_pages_update_switcher (FlamCaptureView *self);

G_END_DECLS

#endif
