/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-instant.h"

#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

/* A runnable thread need not be running: it may wait for a CPU, above all just
 * after a wake-up, and the time it has used since its last sample would then be
 * attributed to the call in which it slept. The scheduler distinguishes these
 * cases exactly. It counts how often a thread was put on a CPU (schedstat, read
 * before the INTERRUPT) and how often it left one (sched, read after it), and
 * stamps a thread with the time of either:
 *
 *   left a CPU                stamp         state at the tick
 *   once less than put on it                on another CPU
 *   as often                  the tracer's  on this CPU: one switch, from the
 *                                           thread to the tracer, stamps both
 *                                           with the same ns
 *   as often                  another       in the queue
 *
 * In 80 to 95 % of the stops that the counts at the stop leave open, the stamps
 * are equal; of the others, none is within 1 µs. The kernel moves the tracer's
 * stamp whenever it charges the tracer for its time, so that the stamp of the
 * switch is the difference of both: a tracer without real-time priority is
 * charged at every wake-up of another thread on its CPU. A thread that stopped
 * between the two looks has left its CPU as well: it was put on none since.
 *
 * Kernels without CONFIG_SCHED_DEBUG have no such file. Then the counts of
 * schedstat at the tick and at the stop are all there is, and a thread that the
 * tracer preempted in a short call is not distinguished from one just woken:
 *
 *   times on a CPU  state at the tick
 *   the same        on a CPU, and stayed there: the stopped stack is what ran
 *   more            in the queue, unless the tracer sent it there: then its
 *                   wait began when the tracer was put on that CPU. Not if the
 *                   stop is the end of a wait: then the same interrupt woke
 *                   the thread and the tracer; except for a thread that is
 *                   known to have slept, and was on a CPU since.
 *
 * A stop in an interrupted call stands for the thread's way into that call: the
 * INTERRUPT is sent some 3 µs after the thread was seen running. If the stop
 * comes so late that the thread must have slept in between, although it was put
 * on a CPU only once, the thread was on a CPU before it slept.
 *
 * A thread on another CPU runs on until the INTERRUPT arrives there: 8 to 10 µs
 * on the virtual machines where it was measured. That much at the beginning of
 * each burst of work is never sampled, and that much before each system call is
 * sampled as that call, because an INTERRUPT on its way takes effect at the end
 * of the call: calls of half a µs got three times their share. The tracer's own
 * CPU has no such delay, because the tick takes the CPU from the thread. So a
 * thread that is often in calls is only sampled there, and the tracer goes from
 * one CPU to another on which such threads are found. Threads that compute are
 * sampled from any CPU, in parallel. (Recorder threads that hold all CPUs were
 * tried, and cost a target of short waits a fifth more CPU time.)
 *
 * An instant at which the tracer got a CPU because another thread left it is
 * not random: that thread is often one of the target's, at the end of its work.
 * Such ticks take no sample of the running threads, and the tracer keeps them
 * few. With real-time priority it is random: only the kernel's own work delays
 * the tracer. The work of a process in the kernel is sampled when it returns
 * from there, or when it sleeps: most kernels do not let go of a CPU in
 * between. A thread that fell asleep on the tracer's CPU while the tracer
 * waited for it was running at the tick. Without these, fsync() had 21 points
 * too few.
 *
 * What remains are the parts of the kernel without interrupts, above all the
 * switches before and after a wait: a program that waits 1,000 times a second
 * uses 3 to 5 % of its CPU time there, which perf's clock does not see
 * either. */

/* Threads with at least this many of 65536 stops in calls are sampled on their
 * own CPU. */
#define MANY_CALLS 2048
#define CALLS_KEPT 16 /* stops */
/* Moving to another CPU takes 40 µs, so the tracer stays on one at least this
 * long, and longer if that helps. */
#define SHORT_VISIT (1 * 1000000ll)
#define LONG_VISIT (8 * 1000000ll)
/* After this long without such a thread, the tracer may run on any CPU. */
#define LAST_VISIT (50 * 1000000ll)
/* A wake-up that waited less for its CPU found it idle or preempted it. */
#define AT_ONCE (15 * 1000ll)
#define NO_WAIT (1 * 1000ll)
/* After this many ticks in such a period, a biased sample is better than
 * none. */
#define MOST_LATE 16
#define LONG_LATE (50 * 1000000ll)
/* The largest difference between two time stamps of one moment: the clock is
 * read after the CPU was taken, and the stop is seen after it happened. */
#define NEAR (30 * 1000ll)
/* The CPU time from the reading of the clock to the sleep. */
#define TO_SLEEP (20 * 1000ll)
/* Of the CPU time for a wait and a wake-up, the kernel cannot be interrupted in
 * at most one part of this many: programs that measure themselves missed 0 to
 * 35 % of it in their waits (tests/bench/bench-unseen prints what they miss
 * beside this bound, and tests/record holds it). */
#define UNSEEN_PART 2
/* The rest of a call after its wait, from the wake-up to the stop. */
#define WAY_BACK (60 * 1000ll)

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

static gboolean
read_switches (const FlamInstant *instant, FlamSwitches *switches)
{
  char text[4096];
  ssize_t n = instant->sched_fd >= 0
                  ? pread (instant->sched_fd, text, sizeof text - 1, 0)
                  : -1;

  if (n <= 0)
    return FALSE;
  text[n] = '\0';
  return flam_proc_parse_switches (text, switches);
}

void
flam_instant_init (FlamInstant *instant)
{
  FlamSwitches own;

  instant->fd = open ("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  instant->sched_fd = open ("/proc/thread-self/sched", O_RDONLY | O_CLOEXEC);
  instant->exact = read_switches (instant, &own);
  instant->n_late = 0;
  if (sched_getaffinity (0, sizeof instant->allowed, &instant->allowed) != 0)
    CPU_ZERO (&instant->allowed);
}

void
flam_instant_clear (FlamInstant *instant)
{
  if (instant->fd >= 0)
    close (instant->fd);
  if (instant->sched_fd >= 0)
    close (instant->sched_fd);
  instant->fd = instant->sched_fd = -1;
}

gint64
flam_instant_own_cpu (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &ts);
  return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

void
flam_instant_sleep (FlamInstant *instant)
{
  instant->queued = read_queued (instant);
  instant->cpu = flam_instant_own_cpu ();
}

void
flam_instant_woke (FlamInstant *instant)
{
  instant->waits_cpu += flam_instant_own_cpu () - instant->cpu;
  instant->n_waits++;
}

gint64
flam_instant_unseen (const FlamInstant *instant, guint64 n)
{
  return instant->n_waits > 0
             ? (gint64)((double)instant->waits_cpu / (double)instant->n_waits *
                        (double)n / UNSEEN_PART)
             : 0;
}

void
flam_instant_resumed (FlamInstant *instant)
{
  instant->cpu = flam_instant_own_cpu ();
}

gboolean
flam_instant_begin (FlamInstant *instant, gint64 now)
{
  instant->woke_at = now;
  instant->put_at = 0;
  instant->next_cpu = -1;
  instant->n_next = 0;
  instant->useful = FALSE;
  instant->waited = read_queued (instant) - instant->queued;
  /* The remaining wait is for the kernel, which is as good as any instant. */
  if (instant->first)
    return TRUE;
  if (instant->waited <= AT_ONCE)
    {
      instant->n_late = 0;
      return TRUE;
    }
  if (instant->n_late++ == 0)
    instant->late_since = now;
  if (instant->n_late <= MOST_LATE || now - instant->late_since < LONG_LATE)
    return FALSE;
  instant->n_late = 0;
  return TRUE;
}

gboolean
flam_instant_leaves (FlamInstant *instant, FlamTask *task)
{
  int cpu;

  if (task->calls < MANY_CALLS || !instant->exact)
    return FALSE;
  cpu = flam_task_read_cpu (task);
  if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET (cpu, &instant->allowed))
    return FALSE;
  instant->wanted_at = instant->woke_at;
  if (cpu == sched_getcpu ())
    {
      instant->useful = TRUE;
      return FALSE;
    }
  if (g_random_int_range (0, (gint32)++instant->n_next) == 0)
    instant->next_cpu = cpu;
  return TRUE;
}

static void
go_to (FlamInstant *instant, const cpu_set_t *cpus, gboolean visiting)
{
  sched_setaffinity (0, sizeof *cpus, cpus);
  instant->visiting = visiting;
  instant->visits = instant->woke_at;
  instant->useful = FALSE;
}

void
flam_instant_visit (FlamInstant *instant)
{
  gint64 stay = instant->useful ? LONG_VISIT : SHORT_VISIT;
  cpu_set_t there;

  if (instant->visiting && instant->woke_at - instant->wanted_at > LAST_VISIT)
    go_to (instant, &instant->allowed, FALSE);
  if (instant->next_cpu < 0 || instant->woke_at - instant->visits < stay)
    return;
  CPU_ZERO (&there);
  CPU_SET (instant->next_cpu, &there);
  go_to (instant, &there, TRUE);
}

/* The switch that took the thread off its CPU put the tracer on it, or it came
 * since the tracer was woken. The tracer's own stamp moves with its CPU time.
 */
static gboolean
was_preempted (FlamInstant *instant, const FlamSwitches *its)
{
  FlamSwitches own;

  if (instant->put_at == 0)
    instant->put_at = read_switches (instant, &own)
                          ? own.moved_at - (own.cpu - instant->cpu)
                          : -1;
  return its->moved_at >= instant->put_at - instant->waited &&
         its->moved_at <= instant->put_at + TO_SLEEP;
}

gboolean
flam_instant_fell_asleep (FlamInstant *instant, FlamTask *task)
{
  FlamSwitches its;

  return instant->exact && instant->waited > NO_WAIT &&
         flam_task_read_cpu (task) == sched_getcpu () &&
         flam_task_read_switches (task, &its) &&
         its.left == task->interrupted.count && was_preempted (instant, &its);
}

void
flam_instant_look (FlamInstant *instant, FlamTask *task)
{
  FlamSwitches its;
  guint64 put = task->interrupted.count;

  task->at_tick = FLAM_AT_TICK_UNKNOWN;
  if (!instant->exact || !flam_task_read_switches (task, &its))
    return;
  if (its.left + 1 == put)
    task->at_tick = FLAM_AT_TICK_ON_CPU;
  else if (its.left == put && was_preempted (instant, &its))
    task->at_tick = FLAM_AT_TICK_PREEMPTED;
  else if (its.left == put || its.left == put + 1)
    task->at_tick = FLAM_AT_TICK_QUEUED;
}

void
flam_instant_note (FlamTask *task, const FlamStopContext *context)
{
  int to = context->in_call && !context->cut_off ? G_MAXUINT16 : 0;

  task->calls = (guint16)(task->calls + (to - task->calls) / CALLS_KEPT);
}

/* Whether the thread was in the queue after a wake-up, or because the tracer
 * sent it there. The tracer waits for a thread in the kernel until the thread
 * leaves the kernel: without such a wait, the thread did not run there. */
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
                    gint64 now,
                    gboolean *estimated)
{
  const FlamSchedstat *then = &task->interrupted;
  guint64 times = stopped->count - then->count;
  gint64 ran = stopped->cpu - then->cpu;
  gint64 queued = stopped->queued - then->queued;

  *estimated = FALSE;
  if (times == 0 || context->cut_off)
    return FLAM_INSTANT_RUNNING;
  if (task->at_tick != FLAM_AT_TICK_UNKNOWN)
    return task->at_tick == FLAM_AT_TICK_QUEUED ? FLAM_INSTANT_QUEUED
                                                : FLAM_INSTANT_RUNNING;
  *estimated = TRUE;
  if (times == 1 && none_at - ran - queued >= task->tick_at + NEAR)
    return FLAM_INSTANT_RUNNING;
  if (may_have_been_woken (task, context) && times == 1 && ran < WAY_BACK &&
      !is_on_its_way_back (task, stopped))
    return FLAM_INSTANT_QUEUED;
  return now - ran - queued >= task->tick_at - NEAR ? FLAM_INSTANT_RUNNING
                                                    : FLAM_INSTANT_QUEUED;
}
