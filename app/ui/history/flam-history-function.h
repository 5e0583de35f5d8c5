/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HISTORY_FUNCTION_H
#define FLAM_HISTORY_FUNCTION_H

/* A button with the name of the plotted function, and a list that can be
 * searched by parts of names. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_HISTORY_FUNCTION (flam_history_function_get_type ())
G_DECLARE_FINAL_TYPE (FlamHistoryFunction,
                      flam_history_function,
                      FLAM,
                      HISTORY_FUNCTION,
                      GtkWidget)

/* Signal "changed": another function was chosen. */

/* Takes names (strings, not owned) in the order of the list. The choice is
 * kept, even if it is not among them. */
void flam_history_function_set_names (FlamHistoryFunction *chooser,
                                      const GPtrArray *names);
/* NULL: none, the whole capture. */
const char *flam_history_function_get (FlamHistoryFunction *chooser);

G_END_DECLS

#endif
