/* SPDX-License-Identifier: GPL-3.0-or-later */

/* calls SECONDS: short system calls of several kinds, one after another, with
 * page faults and computation between them: about 30 µs of each. */

#include <sys/mman.h>

#include "truth.h"

#define N_CALLS 200
#define N_READS 60
#define N_CHANGES 16
#define N_FAULTS 20
#define PAGE 4096
#define BLOCK 4096

enum
{
  SHORT,
  READ,
  CHANGE,
  FAULT,
  COMPUTE,
  N_PARTS
};
static TruthPart parts[N_PARTS] = { { "short_calls", 0 },
                                    { "read_blocks", 0 },
                                    { "change_pages", 0 },
                                    { "fault_pages", 0 },
                                    { "compute", 0 } };
static char *pages;
static int zero;

WORK (compute)

NOINLINE static void
short_calls (void)
{
  for (int i = 0; i < N_CALLS; i++)
    syscall (SYS_getppid);
  truth_sink++;
}

NOINLINE static void
read_blocks (void)
{
  char block[BLOCK];

  for (int i = 0; i < N_READS; i++)
    if (pread (zero, block, sizeof block, 0) != sizeof block)
      _exit (1);
  truth_sink++;
}

NOINLINE static void
change_pages (void)
{
  for (int i = 0; i < N_CHANGES; i++)
    if (mprotect (pages, PAGE, i & 1 ? PROT_READ | PROT_WRITE : PROT_READ) != 0)
      _exit (1);
  truth_sink++;
}

NOINLINE static void
fault_pages (void)
{
  if (madvise (pages, N_FAULTS * PAGE, MADV_DONTNEED) != 0)
    _exit (1);
  for (int i = 0; i < N_FAULTS; i++)
    ((volatile char *)pages)[i * PAGE] = 1;
  truth_sink++;
}

int
main (int argc, char **argv)
{
  TruthThread *self = truth_thread_begin ("calls");

  zero = open ("/dev/zero", O_RDONLY | O_CLOEXEC);
  pages = mmap (NULL,
                N_FAULTS * PAGE,
                PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS,
                -1,
                0);
  if (zero < 0 || pages == MAP_FAILED)
    return 1;
  truth_begin (argc, argv);
  while (truth_goes_on ())
    {
      TIMED (parts[SHORT], short_calls ());
      TIMED (parts[READ], read_blocks ());
      TIMED (parts[CHANGE], change_pages ());
      TIMED (parts[FAULT], fault_pages ());
      TIMED (parts[COMPUTE], compute (30));
    }
  truth_thread_end (self);
  return truth_end (parts, N_PARTS);
}
