/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The window's actions for memory, and for frames that are left out at
 * first:
 *
 *   win.show-peak         what was in use at the peak
 *   win.growth            asks for two moments: what was made between them and
 *                         is still there at the second
 *   win.suppressions      asks for a file of LeakSanitizer's rules (remembered)
 *   win.weights           what the weights of a folded text are
 *   win.show-irrelevant   frames of the interpreter itself (remembered)
 *   win.show-imports      frames of import machinery (remembered) */

#include "flam-window.h"

G_BEGIN_DECLS

void flam_window_memory_install (FlamWindow *window);
/* Enables those that apply to the tab in front. */
void flam_window_memory_update (FlamWindow *window);

G_END_DECLS
