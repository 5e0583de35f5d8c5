/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_COPY_PICTURE_H
#define FLAM_COPY_PICTURE_H

#include "flam-session.h"
#include "flam-window.h"

G_BEGIN_DECLS

/* Copies the flame graph with its current zoom to the clipboard. */
void flam_copy_picture (FlamWindow *window, FlamSession *session);

G_END_DECLS

#endif
