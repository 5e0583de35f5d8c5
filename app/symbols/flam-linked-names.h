/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "flam-core-profile.h"

/* The same profile with the names that the linker has for its functions; of
 * those without one, the name stays as it is. Never NULL. */
FlamProfile *flam_linked_names (const FlamProfile *profile);
