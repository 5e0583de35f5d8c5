/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A one-line hint about the visible page, until it is dismissed, which is
 * permanent for that page alone. It takes its own space and covers nothing.
 *
 * Signal "dismissed": the button that had the focus is gone. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_HINT_BAR (flam_hint_bar_get_type ())
G_DECLARE_FINAL_TYPE (FlamHintBar, flam_hint_bar, FLAM, HINT_BAR, GtkWidget)

/* `page` is the id that is dismissed; `text` is translated already. */
void
flam_hint_bar_set_page (FlamHintBar *bar, const char *page, const char *text);

G_END_DECLS
