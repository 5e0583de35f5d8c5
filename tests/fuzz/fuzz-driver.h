/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FUZZ_DRIVER_H
#define FLAM_FUZZ_DRIVER_H

/* A fuzzer here consists of LLVMFuzzerTestOneInput(), which a fuzz-*.c defines.
 *
 * As a test it is linked with fuzz-driver.c, `fuzz-x ROUNDS PATH...`: every
 * file at or below the paths is used unchanged and then damaged in ROUNDS - 1
 * ways; FLAM_FUZZ_TIMES multiplies ROUNDS. A crash, a sanitizer's report or an
 * input that takes a minute is a failure; the seed is printed (FLAM_SEED
 * repeats it), and the bytes are left in fuzz-crash.bin.
 *
 * As a fuzzer it is built with clang -fsanitize=fuzzer, without the driver, the
 * libraries with -fsanitize=fuzzer-no-link. */

#include <glib.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

#endif
