/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-instant.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* That a thread is runnable does not say that it runs: it may wait for a CPU,
 * above all one that has just been woken, and what it has used since its last
 * sample would be put on the call it slept in. What the scheduler has counted
 * at the tick and at the stop says more:
 *
 *   put on a CPU   so it was at the tick
 *   so many times
 *   the same       on a CPU, and has stayed there: what ran is what stopped
 *   more           in the queue, unless it was we who sent it there: then its
 *                  wait began as we were put on that CPU. Not if the stop is
 *                  the end of a wait: then it was woken as we were, by the same
 *                  interrupt; but for one that is known to have slept, and was
 *                  on a CPU since.
 *
 * A stop in a call that was cut off stands for the thread's way into it: the
 * INTERRUPT leaves some 3 µs after it was seen to run. One that comes so late
 * that the thread must have slept in between, although it was put on a CPU once
 * alone, was on a CPU before it slept.
 *
 * What is on another CPU runs on until the INTERRUPT arrives there: 8 to 10 µs
 * on the virtual machines it was measured on. So much at the beginning of each
 * burst of work is never seen, and so much before each system call is seen as
 * that call, at whose end an INTERRUPT on its way is found. A function that
 * runs for 30 µs after a wait gets two thirds of its share there. (Threads of
 * our own that hold a CPU would see it right; they were tried, and cost a
 * target of short waits a fifth more CPU time.)
 *
 * No instant at random is one at which we got a CPU as another thread left it:
 * the target's own, often, at the end of its work. Such ticks take no sample of
 * what runs, and we see to it that there are few. What a process in the kernel
 * does is sampled as it returns from there. */

/* A wake-up that waited no longer for its CPU found it idle, or took it. */
#define AT_ONCE (15 * 1000ll)
#define NO_WAIT (1 * 1000ll)
/* Rather a biased sample than none for so many ticks. */
#define MOST_LATE 16
/* How far apart two times of one moment are: the clock is read after the CPU
 * was taken, the stop is seen after it was made. */
#define NEAR (30 * 1000ll)
/* What is left of a call that has waited, from its wake-up to its stop. */
#define WAY_BACK (60 * 1000ll)

/* sched_setattr(2); the C library has neither the call nor the structure. */
typedef struct
{
  guint32 size;
  guint32 policy;
  guint64 flags;
  gint32 nice;
  guint32 priority;
  guint64 runtime;
  guint64 deadline;
  guint64 period;
} SchedAttr;

/* A thread with short slices of a CPU gets them sooner: the thread that runs
 * there is preempted at once, where it would go on for a ms or so. Any user may
 * (Linux 6.12; before, it changes nothing). To be preferred to others takes a
 * privilege; whoever has it comes before everybody else, who is not of the
 * real-time kind. Measured beside a program that works in bursts, on its CPU:
 * 73 % of the wake-ups wait for less than 15 µs, with short slices 93 %. */
static gboolean
ask_for_the_cpu (void)
{
  const struct sched_param first = { .sched_priority = 1 };
  SchedAttr attr = { 0 };
  gint32 nice;

  if (sched_setscheduler (0, SCHED_RR | SCHED_RESET_ON_FORK, &first) == 0)
    return TRUE;
  if (syscall (SYS_sched_getattr, 0, &attr, sizeof attr, 0) != 0)
    return FALSE;
  nice = attr.nice;
  attr.size = sizeof attr;
  attr.runtime = 100000;
  attr.nice = -20;
  if (syscall (SYS_sched_setattr, 0, &attr, 0) == 0)
    return FALSE;
  attr.nice = nice;
  syscall (SYS_sched_setattr, 0, &attr, 0);
  return FALSE;
}

static gint64
read_queued (const FlamInstant *instant)
{
  char line[96];
  char *end;
  ssize_t n =
      instant->fd >= 0 ? pread (instant->fd, line, sizeof line - 1, 0) : -1;

  if (n <= 0)
    return instant->queued;
  line[n] = '\0';
  g_ascii_strtoll (line, &end, 10);
  return g_ascii_strtoll (end, NULL, 10);
}

void
flam_instant_init (FlamInstant *instant)
{
  instant->fd = open ("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  instant->n_late = 0;
  instant->first = ask_for_the_cpu ();
}

void
flam_instant_clear (FlamInstant *instant)
{
  if (instant->fd >= 0)
    close (instant->fd);
  instant->fd = -1;
}

void
flam_instant_sleep (FlamInstant *instant)
{
  instant->queued = read_queued (instant);
}

gboolean
flam_instant_begin (FlamInstant *instant, gint64 now)
{
  instant->woke_at = now;
  instant->waited = read_queued (instant) - instant->queued;
  /* What it waits for then is the kernel, which is as good as any instant. */
  if (instant->first)
    return TRUE;
  if (instant->waited > AT_ONCE && instant->n_late < MOST_LATE)
    {
      instant->n_late++;
      return FALSE;
    }
  instant->n_late = 0;
  return TRUE;
}

/* Was it in the queue as it had been woken, or as we had sent it there? We wait
 * for a thread that is in the kernel until it leaves it: was there no wait, it
 * did not run there. */
static gboolean
may_have_been_woken (const FlamTask *task, const FlamStopContext *context)
{
  return context->waits || (context->in_call && task->tick_waited < NO_WAIT);
}

/* It was put on a CPU once since it was seen asleep, and has hardly run. */
static gboolean
is_on_its_way_back (const FlamTask *task, const FlamSchedstat *stopped)
{
  return task->interrupted.count == task->blocked_count + 1 &&
         stopped->cpu - task->blocked_cpu < WAY_BACK;
}

FlamInstantVerdict
flam_instant_judge (const FlamTask *task,
                    const FlamSchedstat *stopped,
                    const FlamStopContext *context,
                    gint64 none_at,
                    gint64 now)
{
  const FlamSchedstat *then = &task->interrupted;
  guint64 times = stopped->count - then->count;
  gint64 ran = stopped->cpu - then->cpu;
  gint64 queued = stopped->queued - then->queued;

  if (times == 0 || context->cut_off)
    return FLAM_INSTANT_RUNNING;
  if (times == 1 && none_at - ran - queued >= task->tick_at + NEAR)
    return FLAM_INSTANT_RUNNING;
  if (may_have_been_woken (task, context) && times == 1 && ran < WAY_BACK &&
      !is_on_its_way_back (task, stopped))
    return FLAM_INSTANT_QUEUED;
  return now - ran - queued >= task->tick_at - NEAR ? FLAM_INSTANT_RUNNING
                                                    : FLAM_INSTANT_QUEUED;
}
