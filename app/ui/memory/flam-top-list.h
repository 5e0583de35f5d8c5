/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TOP_LIST_H
#define FLAM_TOP_LIST_H

/* The functions with most memory of one part, as links: a click selects the
 * part's measure and shows the function in the flame graph. */

#include "flam-core-picture.h"
#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_TOP_LIST (flam_top_list_get_type ())
G_DECLARE_FINAL_TYPE (FlamTopList, flam_top_list, FLAM, TOP_LIST, GtkWidget)

/* Of allocated and temporary blocks the number counts, where it is known;
 * otherwise bytes do. */
GtkWidget *flam_top_list_new (FlamSession *session, FlamMemoryPart part);
void flam_top_list_show (FlamTopList *list, const FlamMemorySummary *memory);

/* The measure of a part in bytes or blocks, or -1. */
int flam_memory_part_find_measure (const FlamProfile *profile,
                                   FlamMemoryPart part,
                                   gboolean bytes);

G_END_DECLS

#endif
