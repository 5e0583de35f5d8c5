/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a fuzzer here is: LLVMFuzzerTestOneInput(), which a fuzz-*.c defines.
 *
 * As a test it is linked with fuzz-driver.c, `fuzz-x ROUNDS PATH...`: every
 * file at or below the paths is fed as it is and then damaged in ROUNDS - 1
 * ways. A crash, a sanitizer's word or an input that takes a minute fails; the
 * seed is printed (FLAM_SEED repeats it), the bytes are left in fuzz-crash.bin.
 *
 * As a fuzzer it is built with clang -fsanitize=fuzzer, without the driver, the
 * libraries with -fsanitize=fuzzer-no-link. */

#include <glib.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);
