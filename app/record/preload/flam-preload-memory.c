/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The library's own memory: whole pages from the kernel, separate from the
 * target's heap. The allocations are few and large: tables, caches. */

#include "flam-preload.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

typedef struct
{
  size_t mapped;
  size_t size;
} Chunk;

/* By system call number, because mmap() is one of the hooks. */
static void *
map_pages (size_t size)
{
  long at = syscall (SYS_mmap,
                     NULL,
                     size,
                     PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                     -1,
                     0l);

  return at == -1 ? NULL : (void *)at;
}

void *
preload_pages (size_t size)
{
  return map_pages (size);
}

void
preload_release_pages (void *pages, size_t size)
{
  syscall (SYS_munmap, pages, size);
}

void *
preload_allocate (size_t size)
{
  size_t mapped = (size + sizeof (Chunk) + 4095) & ~(size_t)4095;
  Chunk *chunk;

  if (mapped < size)
    return NULL;
  chunk = map_pages (mapped);
  if (chunk == NULL)
    return NULL;
  *chunk = (Chunk){ mapped, size };
  return chunk + 1;
}

void *
preload_allocate_array (size_t n, size_t size)
{
  size_t total;

  return __builtin_mul_overflow (n, size, &total) ? NULL
                                                  : preload_allocate (total);
}

void
preload_release (void *data)
{
  Chunk *chunk;

  if (data == NULL)
    return;
  chunk = (Chunk *)data - 1;
  syscall (SYS_munmap, chunk, chunk->mapped);
}

void *
preload_reallocate (void *data, size_t size)
{
  Chunk *chunk;
  void *fresh;

  if (data == NULL)
    return preload_allocate (size);
  chunk = (Chunk *)data - 1;
  if (size <= chunk->mapped - sizeof *chunk)
    {
      chunk->size = size;
      return data;
    }
  fresh = preload_allocate (size);
  if (fresh == NULL)
    return NULL;
  memcpy (fresh, data, chunk->size);
  preload_release (data);
  return fresh;
}

bool
preload_read (uint64_t address, void *to, size_t size)
{
  struct iovec local = { to, size };
  struct iovec remote = { (void *)address, size };

  return syscall (
             SYS_process_vm_readv, getpid (), &local, 1ul, &remote, 1ul, 0ul) ==
         (long)size;
}

static void
swap (char *a, char *b, size_t size)
{
  for (size_t i = 0; i < size; i++)
    {
      char kept = a[i];

      a[i] = b[i];
      b[i] = kept;
    }
}

/* A heap: no element is less than its children, 2i + 1 and 2i + 2. */
static void
sift (char *data,
      size_t i,
      size_t n,
      size_t size,
      int (*compare) (const void *, const void *))
{
  for (size_t child; (child = 2 * i + 1) < n; i = child)
    {
      if (child + 1 < n &&
          compare (data + child * size, data + (child + 1) * size) < 0)
        child++;
      if (compare (data + i * size, data + child * size) >= 0)
        return;
      swap (data + i * size, data + child * size, size);
    }
}

void
preload_sort (void *data,
              size_t n,
              size_t size,
              int (*compare) (const void *, const void *))
{
  for (size_t i = n / 2; i-- > 0;)
    sift (data, i, n, size, compare);
  for (size_t i = n; i-- > 1;)
    {
      swap (data, (char *)data + i * size, size);
      sift (data, 0, i, size, compare);
    }
}
