/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The file is in memory that may be full (a container's /dev/shm is 64 MB):
 * when a page cannot be allocated, the kernel answers a write to it with
 * SIGBUS, in the middle of the program. So pages are allocated before they are
 * written, a few at a time, by a call that returns an error instead. */

#include "flam-preload.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK 16384u
#define N_CHUNKS (FLAM_ALLOC_FILE_SIZE / CHUNK + 1)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

FlamAllocHeader *preload_header;
FlamAllocControl *preload_control;

/* One bit for each chunk. */
static _Atomic uint64_t there[N_CHUNKS / 64 + 1];
static _Atomic bool full;

static inline bool
is_there (uint64_t chunk)
{
  return atomic_load_explicit (&there[chunk / 64], memory_order_relaxed) >>
             chunk % 64 &
         1;
}

static bool
fetch (uint64_t chunk)
{
  int saved = errno;
  uint64_t at = chunk * CHUNK;
  uint64_t size =
      at + CHUNK > FLAM_ALLOC_FILE_SIZE ? FLAM_ALLOC_FILE_SIZE - at : CHUNK;

  if (full)
    return false;
  /* An older kernel does not support the request. */
  if (syscall (SYS_madvise,
               (char *)preload_header + at,
               size,
               MADV_POPULATE_WRITE) != 0 &&
      errno != EINVAL)
    {
      full = true;
      if (is_there (0))
        preload_header->full = 1;
    }
  errno = saved;
  if (!full)
    atomic_fetch_or (&there[chunk / 64], 1ull << chunk % 64);
  return !full;
}

bool
preload_room (const void *data, size_t size)
{
  uint64_t at = (uint64_t)((const char *)data - (const char *)preload_header);
  uint64_t last = (at + size - 1) / CHUNK;

  for (uint64_t chunk = at / CHUNK; chunk <= last; chunk++)
    if (!is_there (chunk) && !fetch (chunk))
      return false;
  return true;
}

const void *
preload_room_end (const void *data)
{
  uint64_t at = (uint64_t)((const char *)data - (const char *)preload_header);

  return (const char *)preload_header + (at / CHUNK + 1) * CHUNK;
}

void
preload_room_reset (void)
{
  memset (there, 0, sizeof there);
  full = false;
}
