/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which of GTK's renderers draws the windows. GTK 4 uses OpenGL where it
 * exists, even if the CPU computes it (Mesa's llvmpipe: virtual machines,
 * remote displays). There its cairo renderer draws the same picture with a
 * tenth of the CPU time, and does not load a compiler for shaders first. */

#include <gdk/gdk.h>

G_BEGIN_DECLS

/* Call before the display's first window is made. $GSK_RENDERER, if set,
   wins. */
void flam_renderer_choose (GdkDisplay *display);

G_END_DECLS
