/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which threads are shown: a button that says it, and a list to choose from,
 * process by process, by weight, with a strip of each one's activity. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_THREAD_SELECTOR (flam_thread_selector_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamThreadSelector, flam_thread_selector, FLAM, THREAD_SELECTOR, GtkWidget)

void flam_thread_selector_set_session (FlamThreadSelector *selector,
                                       FlamSession *session);
/* Shows the list, the keyboard in its search; Enter there shows the threads
 * that are found, alone. */
void flam_thread_selector_open (FlamThreadSelector *selector);

G_END_DECLS
