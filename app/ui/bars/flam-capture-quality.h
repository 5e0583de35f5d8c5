/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CAPTURE_QUALITY_H
#define FLAM_CAPTURE_QUALITY_H

/* Data that is missing from the capture: how much of the file was read, lost,
 * late and cut samples, modules without names by weight with the reason and the
 * remedy, the recorder's own share. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_CAPTURE_QUALITY (flam_capture_quality_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamCaptureQuality, flam_capture_quality, FLAM, CAPTURE_QUALITY, GtkPopover)

FlamCaptureQuality *flam_capture_quality_new (FlamSession *session);

G_END_DECLS

#endif
