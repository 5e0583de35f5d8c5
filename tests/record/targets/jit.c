/* SPDX-License-Identifier: GPL-3.0-or-later */

/* jit: makes a function, runs it, makes another at the same address, and runs
 * that for a third of the time; tells so in /tmp/jit-PID.dump (app/symbols/
 * flam-jitdump.h has its form). Both are one loop. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const unsigned char code[] = {
  0x55, 0x48, 0x89, 0xe5,       /* push %rbp; mov %rsp,%rbp */
  0x48, 0x89, 0xf9,             /* mov %rdi,%rcx */
  0x48, 0xff, 0xc9, 0x75, 0xfb, /* dec %rcx; jnz */
  0x5d, 0xc3,                   /* pop %rbp; ret */
};

static uint64_t
now (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void
put_header (FILE *dump)
{
  struct
  {
    uint32_t magic, version, size, machine, nothing, pid;
    uint64_t time, flags;
  } header = { 0x4A695444, 1, 40, 62, 0, (uint32_t)getpid (), now (), 0 };

  fwrite (&header, sizeof header, 1, dump);
}

static void
put_load (FILE *dump, const char *name, const void *address, uint64_t index)
{
  struct
  {
    uint32_t id, size;
    uint64_t time;
    uint32_t pid, tid;
    uint64_t vma, address, code_size, index;
  } load = { .time = now (),
             .pid = (uint32_t)getpid (),
             .tid = (uint32_t)getpid (),
             .vma = (uintptr_t)address,
             .address = (uintptr_t)address,
             .code_size = sizeof code,
             .index = index };

  load.size = (uint32_t)(sizeof load + strlen (name) + 1 + sizeof code);
  fwrite (&load, sizeof load, 1, dump);
  fwrite (name, strlen (name) + 1, 1, dump);
  fwrite (code, sizeof code, 1, dump);
}

int
main (void)
{
  char path[64];
  FILE *dump;
  void *page = mmap (NULL,
                     4096,
                     PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS,
                     -1,
                     0);

  snprintf (path, sizeof path, "/tmp/jit-%d.dump", (int)getpid ());
  dump = fopen (path, "wb");
  if (page == MAP_FAILED || dump == NULL)
    return 1;
  memcpy (page, code, sizeof code);
  put_header (dump);
  put_load (dump, "first", page, 0);
  ((void (*) (uint64_t))page) (900000000);
  put_load (dump, "second", page, 1);
  ((void (*) (uint64_t))page) (300000000);
  return fclose (dump) != 0;
}
