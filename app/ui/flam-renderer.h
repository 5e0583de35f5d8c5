/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RENDERER_H
#define FLAM_RENDERER_H

/* Which of GTK's renderers draws the windows. GTK 4 uses OpenGL if it exists,
 * even if the CPU computes it (Mesa's llvmpipe on virtual machines and remote
 * displays). In that case, GTK's cairo renderer draws the same picture with a
 * tenth of the CPU time, and needs no shader compiler at the start.
 * $GSK_RENDERER, if set, takes precedence. */

#include <gdk/gdk.h>

G_BEGIN_DECLS

/* Call around gtk_init(), while no other thread of ours runs. If no graphics
 * device exists, or the cairo renderer is requested, a temporary environment
 * variable tells GTK not to use OpenGL. Otherwise Mesa would load and start its
 * software drivers when the display is opened, which takes an eighth of the
 * program's start. */
void flam_renderer_before_init (void);
void flam_renderer_after_init (void);

/* Call before the display's first window is created. */
void flam_renderer_choose (GdkDisplay *display);

G_END_DECLS

#endif
