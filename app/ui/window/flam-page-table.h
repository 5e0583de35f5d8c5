/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PAGE_TABLE_H
#define FLAM_PAGE_TABLE_H

/* The window's views, one row each. */

#include "flam-plot-page.h"

G_BEGIN_DECLS

typedef struct
{
  const char *id;
  const char *title;        /* to be translated, like the next one */
  const char *topic;        /* help topic */
  GType (*type) (void);     /* a FlamPage */
  const FlamPlotKind *plot; /* of a FlamPlotPage */
  gboolean of_memory;
  gboolean in_menu;     /* in the switcher: no button of its own */
  gboolean legend;      /* it uses the colors of the flame graph */
  gboolean of_baseline; /* created at once for a comparison */
} FlamPageRow;

/* Pages for memory alone come last. */
extern const FlamPageRow flam_page_table[];
extern const guint flam_n_pages;

G_END_DECLS

#endif
