/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_WHY_EMPTY_H
#define FLAM_WHY_EMPTY_H

/* The reason why a session's selection contains nothing. */

#include "flam-session.h"

G_BEGIN_DECLS

/* A sentence; "" before a capture is open. */
const char *flam_why_empty (FlamSession *session);
/* Whether all of the capture is more than the selection. */
gboolean flam_why_empty_is_narrowed (FlamSession *session);

G_END_DECLS

#endif
