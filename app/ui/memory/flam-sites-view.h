/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The page of functions that allocate: what each allocated itself, or with its
 * callees, with one column per part of the memory. */

#include "flam-table-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_SITES_VIEW (flam_sites_view_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamSitesView, flam_sites_view, FLAM, SITES_VIEW, FlamTablePage)

G_END_DECLS
