/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TAB_PRIVATE_H
#define FLAM_TAB_PRIVATE_H

/* Shared by the tab's files: flam-tab.c (the pages, opening), flam-tab-
 * recording.c (a recording from its start to its end), flam-tab-notify.c
 * (notifications of the desktop). */

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
  FlamRecording *recorded;  /* the last one, running or ended */
  guint follow_id;
  guint see_id;
  gboolean begins;    /* a capture was opened but not shown yet */
  char *compare_with; /* a path: the baseline, once the capture is open */
  guint number;       /* unique among all tabs */
  gboolean notified;
  GFileMonitor *monitor;    /* of the shown file; NULL: none */
  char *version;            /* of that file, as it was read */
  gboolean thumbnail_saved; /* of that capture */
  gint64 load_began; /* monotonic; 0: not loading at the user's request */

  const char *page; /* the one that is shown, once the tab is seen */
  char *title;      /* of the busy page or the error page */
  char *text;       /* likewise; may be NULL */
  gboolean cancellable;

  AdwToastOverlay *toasts;
  GtkBox *column;
  GtkProgressBar *progress;
  GtkStack *stack;

  /* NULL until they are needed. */
  FlamRecordingBar *recording_bar;
  FlamOutputPane *output;
  AdwStatusPage *busy_page;
  GtkProgressBar *busy_bar;
  GtkButton *busy_cancel;
  AdwStatusPage *error_page;
  FlamCaptureView *capture_view;
  FlamHistoryView *history_view;
};

void
flam_tab_show_error (FlamTab *self, const char *title, const char *message);
/* The page that waits for a capture; without `cancellable`, it is ended in
 * another way. */
void flam_tab_show_busy (FlamTab *self,
                         const char *title,
                         const char *description,
                         gboolean cancellable);
/* Changes the description of that page. */
void flam_tab_describe_busy (FlamTab *self, const char *description);
void flam_tab_changed (FlamTab *self);

/* Reports once that the file is no longer the one that is shown. */
void flam_tab_watch (FlamTab *self);
void flam_tab_unwatch (FlamTab *self);

/* Shows a desktop notification about the end of an activity, if the window is
 * not active. Clicking it shows the tab, and activating the window withdraws
 * it. `body` may be NULL. */
void flam_tab_notify (FlamTab *self, const char *title, const char *body);
/* Only if loading took so long that the user may have turned to something
 * else. */
void
flam_tab_notify_of_load (FlamTab *self, const char *title, const char *body);
void flam_tab_withdraw (FlamTab *self);

G_END_DECLS

#endif
