/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_WINDOW_MEMORY_H
#define FLAM_WINDOW_MEMORY_H

/* The window's actions for memory, and for frames that are hidden by default:
 *
 *   win.show-peak         memory in use at the peak
 *   win.growth            asks for two moments: memory allocated between them
 *                         and still in use at the second
 *   win.suppressions      asks for a file of LeakSanitizer's rules (remembered)
 *   win.weights           the meaning of a folded text's weights
 *   win.show-irrelevant   frames of the interpreter itself (remembered)
 *   win.show-imports      frames of import machinery (remembered) */

#include "flam-window.h"

G_BEGIN_DECLS

void flam_window_memory_install (FlamWindow *window);
/* Enables the actions that apply to the tab in front. */
void flam_window_memory_update (FlamWindow *window);

G_END_DECLS

#endif
