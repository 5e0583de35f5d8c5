/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LAYOUT_FLAM_TICKS_H
#define FLAM_LAYOUT_FLAM_TICKS_H

/* Marks of an axis of time. */

#include "flam-core-profile.h"

G_BEGIN_DECLS

/* 1, 2 or 5 times a power of ten: about one mark per 110 pixels. */
double flam_ticks_step (double span, double width);
/* No more digits than the step needs; g_free. */
char *flam_ticks_text (FlamClock clock, double time, double step);

G_END_DECLS

#endif
