/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PAGE_H
#define FLAM_PAGE_H

/* A view of a session with a template: the base class of all of the window's
 * views. It is refilled when it is stale, but only while it is visible. A page
 * may be created long after its session: it then takes over the current values
 * of the properties that it follows. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_PAGE (flam_page_get_type ())
G_DECLARE_DERIVABLE_TYPE (FlamPage, flam_page, FLAM, PAGE, GtkWidget)

struct _FlamPageClass
{
  GtkWidgetClass parent_class;
  /* Shows the session's current state. Called when the page is visible and
   * stale, which new view data makes it; its job is idle then. NULL: the page
   * follows something else. */
  void (*fill) (FlamPage *page);
  /* Moves the focus to its initial place. NULL: nowhere. */
  gboolean (*begin) (GtkWidget *page);
};

/* Construct property "session". Owned by the page until it is disposed of. */
FlamSession *flam_page_get_session (FlamPage *page);

/* Marks it as stale: fill() is called now, or as soon as it is visible. */
void flam_page_queue_fill (FlamPage *page);
/* Whether fill() has not been called yet. */
gboolean flam_page_is_stale (FlamPage *page);
/* The page's own job, cancelled by the next fill() and with the page; `done`
 * gets the page as its data. See flam_job_start(). */
void flam_page_start (FlamPage *page,
                      FlamJobWork work,
                      gpointer input,
                      GDestroyNotify input_free,
                      GDestroyNotify result_free,
                      FlamJobDone done);
/* Calls `callback` with only the page as argument, for as long as both
 * exist. */
void flam_page_follow (FlamPage *page,
                       gpointer object,
                       const char *signal,
                       GCallback callback);

/* Moves the focus to the page, if it is not there. (If grab_focus() did this,
 * Tab would pass over what precedes that place.) */
gboolean flam_page_begin (FlamPage *page);

G_END_DECLS

#endif
