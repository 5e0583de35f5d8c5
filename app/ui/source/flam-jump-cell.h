/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_JUMP_CELL_H
#define FLAM_JUMP_CELL_H

/* The part of the jump arrows that crosses one row of machine code. */

#include "flam-disassembly.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_JUMP_CELL (flam_jump_cell_get_type ())
G_DECLARE_FINAL_TYPE (FlamJumpCell, flam_jump_cell, FLAM, JUMP_CELL, GtkWidget)

GtkWidget *flam_jump_cell_new (void);
/* `is_line`: a source line before the row, which arrows only cross. */
void flam_jump_cell_set (FlamJumpCell *cell,
                         const FlamArrows *arrows,
                         gboolean is_line);

G_END_DECLS

#endif
