/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_THREAD_SELECTOR_H
#define FLAM_THREAD_SELECTOR_H

/* The choice of shown threads: a button with their names, and a list to choose
 * from, process by process, by weight, each with a strip of its activity. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_THREAD_SELECTOR (flam_thread_selector_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamThreadSelector, flam_thread_selector, FLAM, THREAD_SELECTOR, GtkWidget)

void flam_thread_selector_set_session (FlamThreadSelector *selector,
                                       FlamSession *session);
/* Opens the list, with the focus in its search; Enter there selects only the
 * matching threads. */
void flam_thread_selector_open (FlamThreadSelector *selector);

G_END_DECLS

#endif
