/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the tab's files share: flam-tab.c (the pages, opening),
 * flam-tab-recording.c (a recording from its start to its end),
 * flam-tab-notify.c (what the desktop is told). */

#include "flam-history-view.h"
#include "flam-recording-bar.h"
#include "flam-start-page.h"
#include "flam-tab.h"

G_BEGIN_DECLS

struct _FlamTab
{
  GtkWidget parent_instance;

  FlamSession *session;
  GtkWidget *capture_quality;
  FlamRecording *recording; /* NULL: not recording */
  FlamRecording *recorded;  /* the last one, this one or one that has ended */
  guint follow_id;
  gboolean begins;    /* a capture was opened that nobody has seen yet */
  char *compare_with; /* a path: the baseline, once the capture is open */
  guint number;       /* of no other tab */
  gboolean notified;
  gint64 load_began; /* monotonic; 0: no load that a person asked for */

  AdwToastOverlay *toasts;
  FlamRecordingBar *recording_bar;
  FlamOutputPane *output;
  GtkProgressBar *progress;
  GtkStack *stack;
  FlamStartPage *start_page;
  AdwStatusPage *busy_page;
  GtkProgressBar *busy_bar;
  GtkButton *busy_cancel;
  AdwStatusPage *error_page;
  FlamCaptureView *capture_view;
  FlamHistoryView *history_view;
};

void
flam_tab_show_error (FlamTab *self, const char *title, const char *message);
/* The page that waits for a capture; without `cancellable` something else
 * can end it. */
void flam_tab_show_busy (FlamTab *self,
                         const char *title,
                         const char *description,
                         gboolean cancellable);
void flam_tab_changed (FlamTab *self);

/* Tells the desktop that something has ended, if nobody looks at the window: a
 * click shows the tab, and looking at the window takes it back. `body` may be
 * NULL. */
void flam_tab_notify (FlamTab *self, const char *title, const char *body);
/* Only where the load took so long that people turn to something else. */
void
flam_tab_notify_of_load (FlamTab *self, const char *title, const char *body);
void flam_tab_withdraw (FlamTab *self);

G_END_DECLS
