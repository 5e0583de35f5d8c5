/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LINKED_NAMES_H
#define FLAM_LINKED_NAMES_H

#include "flam-core-profile.h"

/* The same profile, with the linker's names of its functions; functions without
 * one keep their name. Never NULL. */
FlamProfile *flam_linked_names (const FlamProfile *profile);
/* The same profile with "0x..." in place of each hexadecimal number in its
 * functions' names, like difffolded.pl -s: names that differ only in an address
 * become one. Never NULL. */
FlamProfile *flam_names_without_addresses (const FlamProfile *profile);

#endif
