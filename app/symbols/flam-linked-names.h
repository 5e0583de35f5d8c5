/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "flam-core-profile.h"

/* The same profile with the names that the linker has for its functions; of
 * those without one, the name stays as it is. Never NULL. */
FlamProfile *flam_linked_names (const FlamProfile *profile);
/* The same profile with "0x..." for each hexadecimal number in the names of its
 * functions, as difffolded.pl -s has it: names that differ by an address alone
 * become one. Never NULL. */
FlamProfile *flam_names_without_addresses (const FlamProfile *profile);
