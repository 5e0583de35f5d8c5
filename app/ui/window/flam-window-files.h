/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_WINDOW_FILES_H
#define FLAM_WINDOW_FILES_H

/* Files that come into a window or leave it: choosers and drops. */

#include "flam-window.h"

G_BEGIN_DECLS

/* Lets the user choose captures, and opens them. */
void flam_window_choose_files (FlamWindow *window);
/* Lets the user choose a baseline for a session's capture, and reads it. */
void flam_window_choose_baseline (FlamWindow *window, FlamSession *session);
/* Lets the user choose a destination for a copy of the capture at `path`, and
 * writes it. */
void flam_window_choose_copy (FlamWindow *window, const char *path);
/* Opens files that are dropped on the window. */
void flam_window_accept_drops (FlamWindow *window);

/* Opens the history of the captures in a folder. */
void flam_window_choose_folder (FlamWindow *window);
/* Opens the second capture, or shows its tab, and compares it with the
 * first. */
void
flam_window_compare (FlamWindow *window, const char *base_uri, const char *uri);

G_END_DECLS

#endif
