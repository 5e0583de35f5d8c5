/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* All functions of the selection as a sortable list. */

#include "flam-table-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_FUNCTIONS_VIEW (flam_functions_view_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamFunctionsView, flam_functions_view, FLAM, FUNCTIONS_VIEW, FlamTablePage)

G_END_DECLS
