/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FUNCTIONS_VIEW_H
#define FLAM_FUNCTIONS_VIEW_H

/* All functions of the selection as a sortable list, and beside or below it the
 * callers, callees and places of one of them (flam-callers-view.h). */

#include "flam-table-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_FUNCTIONS_VIEW (flam_functions_view_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamFunctionsView, flam_functions_view, FLAM, FUNCTIONS_VIEW, FlamTablePage)

/* Shows the current frame's callers, with the focus on them. */
void flam_functions_view_show_callers (FlamFunctionsView *view);

G_END_DECLS

#endif
