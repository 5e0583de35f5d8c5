/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* One window, one session: start page, progress, error, or the capture. */

#include <adwaita.h>

#include "flam-session.h"

G_BEGIN_DECLS

#define FLAM_TYPE_WINDOW (flam_window_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamWindow, flam_window, FLAM, WINDOW, AdwApplicationWindow)

FlamWindow *flam_window_new (GtkApplication *application);

/* Shows no capture and is not about to. */
gboolean flam_window_is_vacant (FlamWindow *window);
void flam_window_open (FlamWindow *window, GFile *file);
/* Records `argv` in `cwd` with `envp` ("KEY=value"; NULL: our own) at the
 * settings the dialog was last left with. */
void flam_window_record (FlamWindow *window,
                         const char *const *argv,
                         const char *cwd,
                         const char *const *envp);
void flam_window_toast (FlamWindow *window, const char *message);

/* Whether this very file is open in it. */
gboolean flam_window_shows_file (FlamWindow *window, GFile *file);

G_END_DECLS
