/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The vdso is an ELF image that the kernel maps into every process and that
 * lies in no file. Our own is as good as the target's when the build id is the
 * same. */

#include "flam-symbol-module.h"

/* Our own process's, or NULL. With `build_id` not "", only that one. */
FlamSymbolModule *flam_vdso_open (const char *build_id);
