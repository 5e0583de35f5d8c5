/* SPDX-License-Identifier: GPL-3.0-or-later */

/* jit [blocks]: generates a function, runs it, generates another at the same
 * address, and runs that for a third of the time; records this in /tmp/jit-
 * PID.dump (the format is in app/symbols/jit/flam-jitdump.h). Both are one
 * loop; with "blocks", one call of block(). */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const unsigned char loop[] = {
  0x55, 0x48, 0x89, 0xe5,       /* push %rbp; mov %rsp,%rbp */
  0x48, 0x89, 0xf9,             /* mov %rdi,%rcx */
  0x48, 0xff, 0xc9, 0x75, 0xfb, /* dec %rcx; jnz */
  0x5d, 0xc3,                   /* pop %rbp; ret */
};
static const unsigned char call[] = {
  0x55, 0x48, 0x89, 0xe5, /* push %rbp; mov %rsp,%rbp */
  0xff, 0xd7,             /* call *%rdi */
  0x5d, 0xc3,             /* pop %rbp; ret */
};

static void *volatile kept;

__attribute__ ((noinline)) static void
block (void)
{
  kept = malloc (1000);
}

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
put_load (FILE *dump,
          const char *name,
          const void *address,
          size_t size,
          uint64_t index)
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
             .code_size = size,
             .index = index };

  load.size = (uint32_t)(sizeof load + strlen (name) + 1 + size);
  fwrite (&load, sizeof load, 1, dump);
  fwrite (name, strlen (name) + 1, 1, dump);
  fwrite (address, size, 1, dump);
}

/* The times of allocations are exact to 10 ms. */
static void
pause_a_while (void)
{
  struct timespec a_while = { 0, 50000000 };

  nanosleep (&a_while, NULL);
}

static void
make_blocks (FILE *dump, void *page)
{
  void (*function) (void (*) (void)) = (void (*) (void (*) (void)))page;

  memcpy (page, call, sizeof call);
  put_load (dump, "first", page, sizeof call, 0);
  pause_a_while ();
  for (int i = 0; i < 30; i++)
    function (block);
  pause_a_while ();
  put_load (dump, "second", page, sizeof call, 1);
  pause_a_while ();
  for (int i = 0; i < 10; i++)
    function (block);
}

static void
spin (FILE *dump, void *page)
{
  void (*function) (uint64_t) = (void (*) (uint64_t))page;

  memcpy (page, loop, sizeof loop);
  put_load (dump, "first", page, sizeof loop, 0);
  function (900000000);
  put_load (dump, "second", page, sizeof loop, 1);
  function (300000000);
}

int
main (int argc, char **argv)
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
  put_header (dump);
  if (argc > 1 && strcmp (argv[1], "blocks") == 0)
    make_blocks (dump, page);
  else
    spin (dump, page);
  return fclose (dump) != 0;
}
