/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "flam-preload.h"

#include <time.h>
#include <x86intrin.h>

/* Maps the control file and makes the file of the process. */
HIDDEN bool preload_map_files (void);
/* Makes a new file for this process; on failure the header is unchanged. */
HIDDEN bool preload_map_process (void);

static inline int64_t
preload_now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* Time of the clock that the header names. */
static inline uint64_t
preload_now_ticks (void)
{
  return LIKELY (preload_header->clock == FLAM_ALLOC_CLOCK_TSC)
             ? __rdtsc ()
             : (uint64_t)preload_now_ns ();
}
