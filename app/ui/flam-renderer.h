/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which of GTK's renderers draws the windows. GTK 4 uses OpenGL where it
 * exists, even if the CPU computes it (Mesa's llvmpipe: virtual machines,
 * remote displays). There its cairo renderer draws the same picture with a
 * tenth of the CPU time, and does not load a compiler for shaders first.
 * $GSK_RENDERER, if set, wins. */

#include <gdk/gdk.h>

G_BEGIN_DECLS

/* Around gtk_init(), while there is no other thread of ours: where no graphics
 * device exists, or the cairo renderer is asked for, GTK is told to leave
 * OpenGL alone, by an environment variable that is gone again afterwards.
 * Otherwise Mesa loads and starts its software drivers when the display is
 * opened: an eighth of what the program's start takes. */
void flam_renderer_before_init (void);
void flam_renderer_after_init (void);

/* Call before the display's first window is made. */
void flam_renderer_choose (GdkDisplay *display);

G_END_DECLS
