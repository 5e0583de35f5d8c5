/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PRIORITY_H
#define FLAM_PRIORITY_H

/* The calling thread's priority over others that want its CPU: by its own
 * privilege, or by RealtimeKit, the system service that gives sound servers
 * theirs. */

#include <glib.h>

/* Takes the highest priority that the privileges of the process allow. FALSE:
 * it is not of the real-time kind. */
gboolean flam_priority_take (void);
/* Asks RealtimeKit for real-time priority, or for a higher one of the common
 * kind, for the calling thread. Returns at once; the answer, if any, takes
 * effect some ms later. Such a thread must sleep every now and then: otherwise
 * it loses the priority. To be called once. */
void flam_priority_request (void);
/* Whether the calling thread has real-time priority now. */
gboolean flam_priority_is_first (void);

#endif
