/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "flam-core-profile.h"

/* The same profile, with the linker's names of its functions; functions without
 * one keep their name. Never NULL. */
FlamProfile *flam_linked_names (const FlamProfile *profile);
/* The same profile with "0x..." for each hexadecimal number in the names of its
 * functions, as difffolded.pl -s has it: names that differ by an address alone
 * become one. Never NULL. */
FlamProfile *flam_names_without_addresses (const FlamProfile *profile);
