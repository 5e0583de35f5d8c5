/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What is missing from the capture: how much of the file was read, lost, late
 * and cut samples, modules without names by weight with the reason and the
 * remedy, the recorder's own share. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_TRUST (flam_trust_get_type ())
G_DECLARE_FINAL_TYPE (FlamTrust, flam_trust, FLAM, TRUST, GtkPopover)

FlamTrust *flam_trust_new (FlamSession *session);

G_END_DECLS
