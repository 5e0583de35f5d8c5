/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The window's views, one row each. */

#include <glib-object.h>

G_BEGIN_DECLS

typedef struct
{
  const char *id;
  const char *title;    /* to be translated, as the next */
  const char *hint;     /* what is not obvious about it, in a line */
  const char *topic;    /* of the help */
  GType (*type) (void); /* a FlamPage */
  gboolean of_memory;
  gboolean in_menu;     /* in the switcher: no button of its own */
  gboolean legend;      /* it has the colors of the flame graph */
  gboolean of_baseline; /* made at once when there is something to compare */
} FlamPageRow;

/* Those for memory alone come last. */
extern const FlamPageRow flam_page_table[];
extern const guint flam_n_pages;

G_END_DECLS
