/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ATTACH_PAGE_H
#define FLAM_ATTACH_PAGE_H

/* The list of processes to attach to, here or on another machine. */

#include "flam-process-list.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_ATTACH_PAGE (flam_attach_page_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamAttachPage, flam_attach_page, FLAM, ATTACH_PAGE, GtkWidget)

/* The selected FlamProcesses that can be attached to; may be empty. Signals:
 * "changed", and "activated" (double click, Enter). */
GPtrArray *flam_attach_page_get_processes (FlamAttachPage *page);
/* Whether child processes are recorded: a GtkCheckButton. */
GtkWidget *flam_attach_page_get_children (FlamAttachPage *page);
/* The machine whose processes it lists; NULL: this one. Connects to it while
 * the page is shown. "changed" is emitted. */
void flam_attach_page_set_host (FlamAttachPage *page, const char *host);
const char *flam_attach_page_get_host (FlamAttachPage *page);
/* Moves the focus to its search. */
void flam_attach_page_begin (FlamAttachPage *page);

G_END_DECLS

#endif
