/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Walks its own stack and compares it with libgcc's: in recursion, in a frame
 * of variable size, in a large one, in a callback of the C library, and in a
 * signal handler that interrupts a function which calls none.
 * test-unwind-aarch64.py compiles it in several ways and runs it under
 * qemu-user. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <unwind.h>

#include <fcntl.h>
#include <sys/mman.h>

#include "flam-mapping.h"
#include "flam-unwind-space.h"

#ifndef ONLY_FRAMES
#define ONLY_FRAMES 0 /* 1: this program's functions have no table */
#endif
#define LIMIT 1024
#define NOP 0xd503201fu
#define NOP_SIZE 4
#define MOV_X8_139 0xd2801168u

static const char *what;
static unsigned n_compared;
static volatile unsigned sink;
static volatile int done;

/* --- the code of this process --------------------------------------------
 *
 * qemu's signal trampoline is at the start of a page of its own. The kernel's
 * is in the vdso behind a nop, in which a handler's return address - 1 is;
 * here, it is read as if it had one. */

static char maps[1 << 20];
static size_t maps_size;

static void
read_maps (void)
{
  int fd = open ("/proc/self/maps", O_RDONLY);
  ssize_t n;

  maps_size = 0;
  while ((n = read (fd, maps + maps_size, sizeof maps - maps_size)) > 0)
    maps_size += (size_t)n;
  close (fd);
}

/* A row is found by bisection. */
static void
check_order (const FlamUnwindTable *table, const char *path)
{
  const FlamUnwindRow *rows = flam_unwind_table_rows (table);

  for (uint32_t i = 1; i < table->n_rows; i++)
    if (rows[i].pc <= rows[i - 1].pc)
      {
        printf ("%s: row %u at %x, after %x\n",
                path,
                i,
                rows[i].pc,
                rows[i - 1].pc);
        exit (1);
      }
}

static const FlamUnwindTable *
table_of (const FlamMapping *mapping)
{
  FlamUnwindTable *table = NULL;
  const char *why = "cannot be read";
  char path[4096] = "";
  struct stat st;
  int fd;

  if (ONLY_FRAMES && (uint64_t)table_of >= mapping->start &&
      (uint64_t)table_of < mapping->end)
    return NULL;
  if (mapping->length > 0 && mapping->path[0] == '/')
    {
      memcpy (path, mapping->path, mapping->length);
      fd = open (path, O_RDONLY);
      if (fd >= 0 && fstat (fd, &st) == 0)
        {
          void *file =
              mmap (NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

          table = flam_unwind_table_new_file (file, (size_t)st.st_size, &why);
        }
      if (!table)
        printf ("%s: %s\n", path, why);
    }
  else
    {
      size_t size = mapping->end - mapping->start;
      uint32_t *code = malloc (NOP_SIZE + size);
      FlamUnwindSegment segment = { .size = NOP_SIZE + size,
                                    .code = (const uint8_t *)code };
      FlamUnwindSections sections = { .segments = &segment, .n_segments = 1 };

      *code = NOP;
      memcpy (code + 1, (const void *)mapping->start, size);
      table = flam_unwind_table_new (&sections, &why);
    }
  if (table)
    check_order (table, path);
  return table;
}

static FlamUnwindSpace *
make_space (void)
{
  FlamUnwindSpace *space = flam_unwind_space_new ();
  const char *at = maps;
  FlamMapping mapping;

  read_maps ();
  while (flam_mapping_next (&at, maps + maps_size, &mapping))
    if (mapping.executable)
      {
        bool is_file = mapping.length > 0 && mapping.path[0] == '/';

        flam_unwind_space_add (space,
                               mapping.start - (is_file ? 0 : NOP_SIZE),
                               mapping.end,
                               is_file ? mapping.offset : 0,
                               table_of (&mapping),
                               NULL);
      }
  return space;
}

static uint64_t
end_of_stack (uint64_t sp)
{
  const char *at = maps;
  FlamMapping mapping;

  while (flam_mapping_next (&at, maps + maps_size, &mapping))
    if (sp >= mapping.start && sp < mapping.end)
      return mapping.end;
  return sp;
}

/* --- comparing ----------------------------------------------------------- */

typedef struct
{
  uint64_t pcs[LIMIT];
  size_t n;
} Stack;

static _Unwind_Reason_Code
take_frame (struct _Unwind_Context *context, void *data)
{
  Stack *stack = data;
  int before = 0;
  uint64_t ip = _Unwind_GetIPInfo (context, &before);

  if (stack->n < LIMIT && ip != 0)
    stack->pcs[stack->n++] = before ? ip : ip - 1;
  return _URC_NO_REASON;
}

/* libgcc does not tell that the trampoline was never called. */
static int
is_same (uint64_t ours, uint64_t theirs)
{
  return ours == theirs || (ours == theirs + 1 && ours % 4 == 0 &&
                            *(const uint32_t *)ours == MOV_X8_139);
}

__attribute__ ((noinline)) static void
compare (void)
{
  static FlamUnwindSpace *space;
  static FlamUnwindCache *cache;
  static uint64_t all[FLAM_UNWIND_N_REGS];
  static Stack theirs, ours;
  FlamUnwindMemory memory;
  FlamUnwindRegs regs;
  FlamUnwindEnd end;

  if (!space)
    {
      space = make_space ();
      cache = flam_unwind_cache_new ();
    }
  read_maps ();
  theirs.n = 0;
  _Unwind_Backtrace (take_frame, &theirs);
  __asm__ volatile("stp x29, x30, [%0, #232]\n\t"
                   "mov x9, sp\n\t"
                   "adr x10, .\n\t"
                   "stp x9, x10, [%0, #248]"
                   :
                   : "r"(all)
                   : "x9", "x10", "memory");
  memory = (FlamUnwindMemory){
    .copy = (const void *)all[FLAM_UNWIND_SP],
    .base = all[FLAM_UNWIND_SP],
    .size = end_of_stack (all[FLAM_UNWIND_SP]) - all[FLAM_UNWIND_SP],
  };
  regs = (FlamUnwindRegs){ .pc = all[FLAM_UNWIND_PC],
                           .sp = all[FLAM_UNWIND_SP],
                           .bp = all[FLAM_UNWIND_FP],
                           .all = all };
  ours.n = flam_unwind_walk (
      space, cache, &memory, &regs, ours.pcs, NULL, LIMIT, &end);
  /* The first frame is this one, at two places in it. */
  for (size_t i = 1; i < ours.n || i < theirs.n; i++)
    if (i >= ours.n || i >= theirs.n || !is_same (ours.pcs[i], theirs.pcs[i]))
      {
        printf ("%s: frame %zu of %zu is %llx, of %zu of libgcc %llx\n",
                what,
                i,
                ours.n,
                i < ours.n ? (unsigned long long)ours.pcs[i] : 0ull,
                theirs.n,
                i < theirs.n ? (unsigned long long)theirs.pcs[i] : 0ull);
        exit (1);
      }
  if (end != FLAM_UNWIND_ROOT)
    {
      printf ("%s: the walk ended with %d\n", what, (int)end);
      exit (1);
    }
  printf ("%s: %zu frames\n", what, ours.n);
  n_compared++;
}

/* --- stacks -------------------------------------------------------------- */

__attribute__ ((noinline)) static unsigned
recurse (unsigned depth)
{
  unsigned result;

  if (depth == 0)
    {
      compare ();
      return 1;
    }
  result = recurse (depth - 1) + depth;
  sink += result;
  return result;
}

__attribute__ ((noinline)) static void
vary (unsigned size)
{
  char *room = __builtin_alloca (size);

  memset (room, 1, size);
  compare ();
  sink += (unsigned)room[size / 2];
}

__attribute__ ((noinline)) static void
fill (void)
{
  char room[70000];

  memset (room, 1, sizeof room);
  compare ();
  sink += (unsigned)room[sink % sizeof room];
}

static int
compare_numbers (const void *a, const void *b)
{
  static int once;

  if (!once++)
    compare ();
  return *(const int *)a - *(const int *)b;
}

static void
on_signal (int number)
{
  compare ();
  done = 1;
}

/* A leaf, whose return address is in x30 alone. */
__attribute__ ((noinline)) static void
spin (void)
{
  while (!done)
    sink++;
}

int
main (void)
{
  struct sigaction action = { .sa_handler = on_signal };
  struct itimerval soon = { .it_value = { 0, 20000 } };
  int numbers[] = { 3, 1, 2 };

  what = "recursion";
  recurse (300);
  what = "variable frame";
  vary (sink % 7 * 16 + 1000);
  what = "large frame";
  fill ();
  what = "callback";
  qsort (numbers, 3, sizeof *numbers, compare_numbers);
  /* The frame pointer in a leaf without a table is its caller's. */
  if (ONLY_FRAMES)
    return n_compared == 4 ? 0 : 1;
  what = "signal in a leaf";
  sigaction (SIGALRM, &action, NULL);
  setitimer (ITIMER_REAL, &soon, NULL);
  spin ();
  return n_compared == 5 ? 0 : 1;
}
