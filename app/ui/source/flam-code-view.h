/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CODE_VIEW_H
#define FLAM_CODE_VIEW_H

/* The machine code of the current frame's function, one instruction per row,
 * with its cost, the source lines between them, and the targets of jumps. */

#include "flam-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_CODE_VIEW (flam_code_view_get_type ())
G_DECLARE_FINAL_TYPE (FlamCodeView, flam_code_view, FLAM, CODE_VIEW, FlamPage)

G_END_DECLS

#endif
