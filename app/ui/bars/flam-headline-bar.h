/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HEADLINE_BAR_H
#define FLAM_HEADLINE_BAR_H

/* One line above the pages: what stands out in the selection
 * (flam-headline.h). Each part is a link: a function is outlined in the graph,
 * a module in the graph by modules; a place is shown in the source; an amount
 * of memory chooses its measure, a program or a rank its threads; how far a
 * rank is from the others leads to the balance, and what the capture lacks to
 * its quality. It is not shown while a recording runs. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_HEADLINE_BAR (flam_headline_bar_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamHeadlineBar, flam_headline_bar, FLAM, HEADLINE_BAR, GtkWidget)

/* Call once. */
void flam_headline_bar_set_session (FlamHeadlineBar *bar, FlamSession *session);

G_END_DECLS

#endif
