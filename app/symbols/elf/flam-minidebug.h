/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MINIDEBUG_H
#define FLAM_MINIDEBUG_H

/* MiniDebugInfo: distributions that strip their binaries may keep the names of
 * local functions in .gnu_debugdata, which is an ELF file with only a .symtab,
 * packed with xz. Source: GDB manual, "MiniDebugInfo". */

#include "flam-elf.h"

/* NULL if there is none, or it is damaged, or unpacks to more than 256 MiB. */
FlamElf *flam_minidebug_open (const FlamElf *elf);

#endif
