/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TEST_GO_DAMAGE_H
#define FLAM_TEST_GO_DAMAGE_H

#include <glib.h>

/* Reads an ELF file with Go's table of functions, which may be damaged: every
 * function, and what is inlined there. Whatever the bytes are, the results are
 * valid text. */
void read_all_of_go (const char *bytes, gsize size);

#endif
