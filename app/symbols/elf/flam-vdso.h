/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_VDSO_H
#define FLAM_VDSO_H

/* The vdso is an ELF image that the kernel maps into every process and that is
 * in no file. The vdso of this process is used for the target's if the build
 * ids are equal. */

#include "flam-symbol-module.h"

/* The vdso of this process, or NULL. If `build_id` is not "", only a vdso with
 * that build id. */
FlamSymbolModule *flam_vdso_open (const char *build_id);

#endif
