/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A view of a session with a template: what all of the window's views are. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_PAGE (flam_page_get_type ())
G_DECLARE_DERIVABLE_TYPE (FlamPage, flam_page, FLAM, PAGE, GtkWidget)

struct _FlamPageClass
{
  GtkWidgetClass parent_class;
};

/* Construct property "session". The page's, until it is disposed of. */
FlamSession *flam_page_get_session (FlamPage *page);

/* Why nothing of the capture is in the picture, in a sentence. */
const char *flam_page_why_empty (FlamPage *page);

G_END_DECLS
