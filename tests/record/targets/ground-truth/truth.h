/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TEST_TRUTH_H
#define FLAM_TEST_TRUTH_H

/* A program's own measurements, to check a recording of it. It reads its
 * thread's own CPU clock before and after each of its parts. At the end it
 * writes one line each to $TRUTH or to its output, with words separated by tabs
 * and times in seconds:
 *
 *   part     NAME                        CPU time of a function and its callees
 *   early    NAME                        the same before the work began
 *   thread   NAME TID CPU WAITED LASTED  WAITED: for a CPU, by the kernel
 *   process  BEFORE CPU                  CPU time before the work began, and in
 *                                        all, its children's with it
 *
 * With $TRUTH_GO, the path of a FIFO, the work begins when a byte is read from
 * it, so that there is time to attach. */

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__ ((noinline))
#else
#define NOINLINE __attribute__ ((noinline, noclone))
#endif

typedef struct
{
  const char *name;
  int64_t ns;
} TruthPart;

typedef struct
{
  char name[16];
  int tid;
  int64_t cpu, waited, began, ended;
} TruthThread;

static TruthThread truth_threads[128];
static int truth_n_threads;
static int64_t truth_before;
static int64_t truth_cost; /* cost of reading the CPU clock */
static double truth_end_time;
static volatile uint64_t truth_sink;

static inline int64_t
truth_clock (clockid_t clock)
{
  struct timespec t;

  clock_gettime (clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* TIMED (part, call (...)): adds the call's CPU time to the part, without the
 * cost of reading the clock. */
#define TIMED(part, call)                                                      \
  do                                                                           \
    {                                                                          \
      int64_t timed_from = truth_clock (CLOCK_THREAD_CPUTIME_ID) + truth_cost; \
      call;                                                                    \
      __atomic_add_fetch (&(part).ns,                                          \
                          truth_clock (CLOCK_THREAD_CPUTIME_ID) - timed_from,  \
                          __ATOMIC_RELAXED);                                   \
    }                                                                          \
  while (0)

static inline int64_t
truth_measure_cost (void)
{
  TruthPart nothing = { "", 0 };

  for (int i = 0; i < 1000; i++)
    TIMED (nothing, (void)0);
  return nothing.ns / 1000;
}

/* A function that computes for about N µs. */
#define WORK(function)                                                         \
  NOINLINE static void function (int microseconds)                             \
  {                                                                            \
    uint64_t a = __LINE__; /* all different */                                 \
    for (int i = 0; i < 700 * microseconds; i++)                               \
      {                                                                        \
        a = a * 6364136223846793005ull + (uint64_t)i;                          \
        __asm__ volatile("" : "+r"(a)); /* the loop is not folded */           \
      }                                                                        \
    truth_sink = a;                                                            \
  }

static inline void
truth_sleep (int microseconds)
{
  struct timespec t = { 0, microseconds * 1000 };

  nanosleep (&t, NULL);
}

/* The time for which this thread has waited for a CPU. */
static inline int64_t
truth_waited (void)
{
  FILE *file = fopen ("/proc/thread-self/schedstat", "r");
  long long ran, waited = 0;

  if (file == NULL)
    return 0;
  if (fscanf (file, "%lld %lld", &ran, &waited) != 2)
    waited = 0;
  fclose (file);
  return waited;
}

/* A thread registers when it begins, and calls the returned function at its
 * end. Its time begins before its first instruction, for which it may have to
 * wait; that of main begins with the program, not with the process that called
 * exec. */
static inline TruthThread *
truth_thread_begin (const char *name)
{
  TruthThread *thread = &truth_threads[__atomic_fetch_add (
      &truth_n_threads, 1, __ATOMIC_SEQ_CST)];

  snprintf (thread->name, sizeof thread->name, "%s", name);
  pthread_setname_np (pthread_self (), thread->name);
  thread->tid = (int)syscall (SYS_gettid);
  thread->began = truth_clock (CLOCK_MONOTONIC);
  if (thread->tid != getpid ())
    thread->began -= truth_waited () + truth_clock (CLOCK_THREAD_CPUTIME_ID);
  return thread;
}

static inline void
truth_thread_end (TruthThread *thread)
{
  thread->waited = truth_waited ();
  thread->ended = truth_clock (CLOCK_MONOTONIC);
  thread->cpu = truth_clock (CLOCK_THREAD_CPUTIME_ID);
}

/* Begins the work, for the number of seconds in the program's argument. */
static inline void
truth_begin (int argc, char **argv)
{
  const char *go = getenv ("TRUTH_GO");
  int fd = go != NULL ? open (go, O_RDONLY | O_CLOEXEC) : -1;

  char byte;

  if (fd >= 0 && read (fd, &byte, 1) != 1)
    _exit (1);
  if (fd >= 0)
    close (fd);
  truth_cost = truth_measure_cost ();
  truth_before = truth_clock (CLOCK_PROCESS_CPUTIME_ID);
  truth_end_time = (double)truth_clock (CLOCK_MONOTONIC) / 1e9 +
                   (argc > 1 ? atof (argv[1]) : 2);
}

static inline int
truth_goes_on (void)
{
  return (double)truth_clock (CLOCK_MONOTONIC) / 1e9 < truth_end_time;
}

static inline int
truth_end (const TruthPart *parts, int n)
{
  const char *path = getenv ("TRUTH");
  FILE *file = path != NULL ? fopen (path, "w") : stdout;
  struct rusage children;
  double cpu = (double)truth_clock (CLOCK_PROCESS_CPUTIME_ID) / 1e9;

  getrusage (RUSAGE_CHILDREN, &children);
  cpu += (double)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
         (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) / 1e6;
  if (file == NULL)
    return 1;
  for (int i = 0; i < n; i++)
    fprintf (
        file, "part\t%s\t%.9f\n", parts[i].name, (double)parts[i].ns / 1e9);
  for (int i = 0; i < truth_n_threads; i++)
    fprintf (file,
             "thread\t%s\t%d\t%.9f\t%.9f\t%.9f\n",
             truth_threads[i].name,
             truth_threads[i].tid,
             (double)truth_threads[i].cpu / 1e9,
             (double)truth_threads[i].waited / 1e9,
             (double)(truth_threads[i].ended - truth_threads[i].began) / 1e9);
  fprintf (file, "process\t%.9f\t%.9f\n", (double)truth_before / 1e9, cpu);
  return fclose (file) != 0;
}

#endif
