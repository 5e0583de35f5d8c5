/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The library that the recorder loads into programs, and the name of all of its
 * functions: what it costs is a row of its own, and never its caller's. */
#define FLAM_RECORDER_LIBRARY "libflambeau-alloc.so"
#define FLAM_RECORDER_NAME "[recorder]"
