/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FIXTURE_H
#define FLAM_FIXTURE_H

/* Profiles from text, for tests of the core: one stack per line, "A;B;C 5", or
 * "thread:A;B;C 5" for a thread with that name. */

#include "flam-core-profile.h"

G_BEGIN_DECLS

FlamProfile *flam_fixture_profile (const char *text);
/* A random profile: deep and shallow stacks, recursion, several threads,
 * times, two measures, allocations. From g_test_rand_int(). */
FlamProfile *flam_fixture_random (void);

G_END_DECLS

#endif
