/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_PRELOAD_FILES_H
#define FLAM_PRELOAD_FILES_H

#include "flam-preload.h"

#include <time.h>

/* The folder that the environment names; removes the variable. NULL: none. */
HIDDEN const char *preload_take_directory (void);
/* Maps the control file and makes the file of the process. */
HIDDEN bool preload_map_files (const char *path);
/* Makes a new file for this process; on failure the header is unchanged. `at`:
 * its address, or NULL. */
HIDDEN bool preload_map_process (FlamAllocHeader *at);
/* Replaces both with the process's own memory, at the same addresses. */
HIDDEN void preload_leave_files (void);

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
             ? flam_alloc_tsc ()
             : (uint64_t)preload_now_ns ();
}

#endif
