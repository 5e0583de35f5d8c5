/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_VALGRIND_H
#define FLAM_VALGRIND_H

/* Code as in the output of valgrind's tools, and of tools with DHAT's format:
 *
 *    0x10941A: hold_peak() (alloc.cpp:17)
 *    0x48417B4: malloc (in /usr/libexec/valgrind/vgpreload_dhat.so)
 *    0x1: ???
 *    0x10c8: alloc::alloc (library/alloc/src/alloc.rs:86:14)
 *
 * Addresses are those of the running process and of no use later. Consecutive
 * frames with the same address are inlined into one another. */

#include "flam-core-profile.h"

typedef struct
{
  FlamFunctionId function;
  guint32 line;
  guint64 address; /* of the process; 0 unknown */
} FlamValgrindLocation;

FlamValgrindLocation
flam_valgrind_location (FlamBuilder *builder, const char *text, gsize length);

/* `places` innermost first; FLAM_NONE if there are none. */
FlamStackId flam_valgrind_stack (FlamBuilder *builder,
                                 const FlamValgrindLocation *places,
                                 guint n);

#endif
