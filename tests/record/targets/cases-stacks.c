/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Stacks that are deep, that change under a thread, and that lead through code
 * of no file. */

#include "cases.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

__attribute__ ((noinline)) static uint64_t
deep (int depth)
{
  volatile uint64_t r;

  if (depth == 0)
    burn (600000000);
  r = depth > 0 ? deep (depth - 1) : 1;
  return r + 1;
}

int
deep_stack (void)
{
  return deep (3000) == 3002 ? 0 : 1;
}

/* Sleeps once, below 256 KiB of stack. Not static, since compilers change such
 * a function and its name. */
int sleep_below (int depth);

__attribute__ ((noinline)) int
sleep_below (int depth)
{
  volatile char room[1024];

  room[0] = (char)depth;
  if (depth > 0)
    return sleep_below (depth - 1) + room[0];
  usleep (600000);
  return room[0];
}

int
deep_sleep (void)
{
  sleep_below (255);
  return 0;
}

/* Below pages of a new thread's stack that are not in memory. */
__attribute__ ((noinline)) static void *
work_below (void *data)
{
  volatile char room[12 << 10];

  room[0] = 1;
  burn (200000000);
  return room[0] == 1 ? data : NULL;
}

int
hollow (void)
{
  pthread_t thread;

  pthread_create (&thread, NULL, work_below, NULL);
  pthread_join (thread, NULL);
  return 0;
}

/* Below 24 KiB of stack, all of it in memory, for a short time. */
__attribute__ ((noinline)) int
wide (void)
{
  volatile char room[24 << 10];

  for (size_t i = 0; i < sizeof room; i++)
    room[i] = 1;
  burn (50000000);
  return room[0] - 1;
}

/* A program after another, each of which leaves memory to be released. */
int
execs (void)
{
  const char *text = getenv ("EXECS");
  int left = text != NULL ? atoi (text) : 60;
  size_t size = 4 << 20;
  char *memory = malloc (size), next[12];

  memset (memory, 1, size);
  snprintf (next, sizeof next, "%d", left - 1);
  setenv ("EXECS", next, 1);
  if (left > 0)
    execl ("/proc/self/exe", "cases", "execs", NULL);
  return left;
}

/* 100,000 frames deep. */
static void *
abyss_body (void *data)
{
  deep (100000);
  return NULL;
}

int
abyss (void)
{
  pthread_attr_t attr;
  pthread_t thread;

  pthread_attr_init (&attr);
  pthread_attr_setstacksize (&attr, 64 << 20);
  pthread_create (&thread, &attr, abyss_body, NULL);
  pthread_join (thread, NULL);
  return 0;
}

static ucontext_t contexts[3];

static void
coroutine (int which)
{
  for (int i = 0; i < 300; i++)
    {
      burn (1000000);
      swapcontext (&contexts[which], &contexts[3 - which]);
    }
}

int
coroutines (void)
{
  for (int i = 1; i < 3; i++)
    {
      getcontext (&contexts[i]);
      contexts[i].uc_stack.ss_sp = malloc (65536);
      contexts[i].uc_stack.ss_size = 65536;
      contexts[i].uc_link = &contexts[0];
      makecontext (&contexts[i], (void (*) (void))coroutine, 1, i);
    }
  swapcontext (&contexts[0], &contexts[1]);
  return 0;
}

/* Code that is in no file: mov $n, %rcx; loop; ret, with a frame pointer. */
int
generated (void)
{
  static const unsigned char code[] = {
    0x55, 0x48, 0x89, 0xe5,                   /* push %rbp; mov %rsp,%rbp */
    0x48, 0xc7, 0xc1, 0x00, 0x00, 0x00, 0x30, /* mov $0x30000000,%rcx */
    0x48, 0xff, 0xc9, 0x75, 0xfb,             /* dec %rcx; jnz */
    0x5d, 0xc3,                               /* pop %rbp; ret */
  };
  void *page = mmap (NULL,
                     4096,
                     PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS,
                     -1,
                     0);

  memcpy (page, code, sizeof code);
  ((void (*) (void))page) ();
  burn (1);
  return 0;
}
