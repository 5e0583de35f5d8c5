/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flam-perf-copies.h"
#include "flam-perf-maps.h"
#include "flam-perf-thread.h"
#include "recording.h"

/* The engine that samples with perf_event_open. */

/* --- without the kernel -------------------------------------------------- */

static void
map_at (FlamPerfMaps *maps,
        guint64 start,
        guint64 end,
        guint64 offset,
        gboolean executable,
        const char *path)
{
  FlamPerfRecord record = { .kind = FLAM_PERF_MAPPED,
                            .start = start,
                            .end = end,
                            .offset = offset,
                            .device = (guint64)0xfd << 32 | 1,
                            .inode = 7,
                            .executable = executable,
                            .text = path };

  flam_perf_maps_add (maps, &record);
}

static void
assert_maps (const FlamPerfMaps *maps, const char *expected)
{
  g_autofree char *text = flam_perf_maps_text (maps);

  g_assert_cmpstr (text, ==, expected);
}

/* A later mapping replaces the ones that it covers. */
static void
test_maps (void)
{
  FlamPerfMaps *maps = flam_perf_maps_new ();
  FlamPerfMaps *copy;

  flam_perf_maps_set (maps,
                      "1000-5000 r-xp 00000000 00:1f 3 /usr/bin/a\n"
                      "5000-6000 rw-p 00004000 00:1f 3 /usr/bin/a\n");
  map_at (maps, 0x9000, 0xa000, 0x2000, TRUE, "/lib/b.so");
  map_at (maps, 0x7000, 0x8000, 0, TRUE, "//anon");
  map_at (maps, 0x2000, 0x3000, 0, TRUE, "/lib/c.so");
  copy = flam_perf_maps_copy (maps);
  assert_maps (maps,
               "1000-2000 r-xp 0 00:1f 3 /usr/bin/a\n"
               "2000-3000 r-xp 0 fd:01 7 /lib/c.so\n"
               "3000-5000 r-xp 2000 00:1f 3 /usr/bin/a\n"
               "7000-8000 r-xp 0 fd:01 7 \n"
               "9000-a000 r-xp 2000 fd:01 7 /lib/b.so\n");
  map_at (maps, 0x1800, 0x4000, 0, FALSE, "/lib/d.so");
  map_at (maps, 0x8000, 0x9800, 0, TRUE, "/lib/e.so");
  map_at (maps, 0x6000, 0x6000, 0, TRUE, "/lib/empty.so");
  assert_maps (maps,
               "1000-1800 r-xp 0 00:1f 3 /usr/bin/a\n"
               "4000-5000 r-xp 3000 00:1f 3 /usr/bin/a\n"
               "7000-8000 r-xp 0 fd:01 7 \n"
               "8000-9800 r-xp 0 fd:01 7 /lib/e.so\n"
               "9800-a000 r-xp 2800 fd:01 7 /lib/b.so\n");
  flam_perf_maps_clear (maps);
  assert_maps (maps, "");
  assert_maps (copy,
               "1000-2000 r-xp 0 00:1f 3 /usr/bin/a\n"
               "2000-3000 r-xp 0 fd:01 7 /lib/c.so\n"
               "3000-5000 r-xp 2000 00:1f 3 /usr/bin/a\n"
               "7000-8000 r-xp 0 fd:01 7 \n"
               "9000-a000 r-xp 2000 fd:01 7 /lib/b.so\n");
  flam_perf_maps_free (copy);
  flam_perf_maps_free (maps);
}

static void
take (FlamPerfThread *thread,
      FlamPerfKind kind,
      gboolean preempted,
      gint64 time,
      gboolean counts)
{
  FlamPerfRecord record = { .kind = kind, .preempted = preempted };

  flam_perf_thread_take (thread, &record, time, counts);
}

static void
test_thread (void)
{
  FlamPerfThread thread = { .state = FLAM_PERF_QUEUED, .since = 100 };

  take (&thread, FLAM_PERF_ON_CPU, FALSE, 130, TRUE);
  take (&thread, FLAM_PERF_SAMPLED, FALSE, 150, TRUE);
  g_assert_cmpint (thread.queued, ==, 30);
  g_assert_cmpint (thread.cpu, ==, 20);
  take (&thread, FLAM_PERF_OFF_CPU, TRUE, 160, TRUE);
  take (&thread, FLAM_PERF_ON_CPU, FALSE, 165, TRUE);
  take (&thread, FLAM_PERF_OFF_CPU, FALSE, 170, TRUE);
  take (&thread, FLAM_PERF_ON_CPU, FALSE, 270, TRUE);
  g_assert_cmpint (thread.queued, ==, 35);
  g_assert_cmpint (thread.slept, ==, 100);
  g_assert_cmpint (flam_perf_thread_pay (&thread), ==, 35);
  g_assert_cmpint (flam_perf_thread_pay (&thread), ==, 0);
  /* A pause does not count, and late records do no harm. */
  take (&thread, FLAM_PERF_SAMPLED, FALSE, 370, FALSE);
  take (&thread, FLAM_PERF_SAMPLED, FALSE, 360, TRUE);
  g_assert_cmpint (thread.cpu, ==, 0);
  g_assert_cmpint (thread.total, ==, 35);
  /* A record that it left its CPU was lost. */
  take (&thread, FLAM_PERF_OFF_CPU, FALSE, 380, TRUE);
  take (&thread, FLAM_PERF_SAMPLED, FALSE, 400, TRUE);
  take (&thread, FLAM_PERF_SAMPLED, FALSE, 403, TRUE);
  g_assert_cmpint (thread.slept, ==, 120);
  g_assert_cmpint (thread.cpu, ==, 13);
}

/* What is owed is spread over the samples; the end takes the rest. */
static void
test_owed (void)
{
  FlamPerfThread more = { .cpu = 20, .owed = 25 }, less = { .owed = -15 };

  g_assert_cmpint (flam_perf_thread_pay (&more), ==, 30);
  g_assert_cmpint (flam_perf_thread_pay (&more), ==, 0);
  more.cpu = 40;
  g_assert_cmpint (flam_perf_thread_pay (&more), ==, 55);
  more.owed = 5;
  g_assert_cmpint (flam_perf_thread_pay_all (&more), ==, 5);
  less.cpu = 20;
  g_assert_cmpint (flam_perf_thread_pay (&less), ==, 10);
  less.cpu = 20;
  g_assert_cmpint (flam_perf_thread_pay_all (&less), ==, 15);
  g_assert_cmpint (flam_perf_thread_pay_all (&less), ==, 0);
}

/* The first record of an attached thread shows what it did before. */
static void
test_attached_thread (void)
{
  FlamPerfThread ran = { .since = 100 }, slept = { .since = 100 };

  take (&ran, FLAM_PERF_OFF_CPU, FALSE, 130, TRUE);
  take (&slept, FLAM_PERF_ON_CPU, FALSE, 130, TRUE);
  g_assert_cmpint (ran.cpu, ==, 30);
  g_assert_cmpint (ran.slept, ==, 0);
  g_assert_cmpint (slept.cpu, ==, 0);
  g_assert_cmpint (slept.slept, ==, 30);
}

static bool
read_now (gpointer data, uint64_t address, gpointer to, gsize size)
{
  guint *n = data;

  if (address >= 0x9000)
    return false;
  memset (to, 'n', size);
  (*n)++;
  return true;
}

/* The stack first, then the copied blocks, and only then the current memory. */
static void
test_memory (void)
{
  static const guint8 stack[16] = "on the stack";
  g_autofree FlamPerfCopied *copied = g_new0 (FlamPerfCopied, 1);
  FlamPerfMemory *memory = flam_perf_memory_new ();
  FlamPerfWanted wanted = { .n = 2, .addresses = { 0x1000, 0x7000 } };
  char text[FLAM_PERF_BLOCK + 8];
  guint n = 0;

  copied->n = 3;
  copied->blocks[0].address = 0x1000;
  memset (copied->blocks[0].bytes, 'a', FLAM_PERF_BLOCK);
  copied->blocks[2].address = 0x1100;
  memset (copied->blocks[2].bytes, 'b', FLAM_PERF_BLOCK);
  flam_perf_memory_begin (memory,
                          0x1080,
                          stack,
                          sizeof stack,
                          copied,
                          (FlamRuntimeMemory){ read_now, &n });
  g_assert_true (flam_perf_memory_read (memory, 0x1083, text, 3));
  g_assert_cmpmem (text, 3, "the", 3);
  g_assert_false (flam_perf_memory_end (memory, &wanted));
  g_assert_true (flam_perf_memory_read (memory, 0x10fe, text, 4));
  g_assert_cmpmem (text, 4, "aabb", 4);
  g_assert_cmpuint (n, ==, 0);
  /* A part of each. */
  g_assert_true (
      flam_perf_memory_read (memory, 0x11ff, text, FLAM_PERF_BLOCK + 2));
  g_assert_cmpmem (text, 2, "bn", 2);
  g_assert_cmpuint (n, ==, 2);
  g_assert_false (flam_perf_memory_read (memory, 0x8fff, text, 2));
  g_assert_true (flam_perf_memory_end (memory, &wanted));
  g_assert_cmpuint (wanted.n, ==, 7);
  g_assert_cmphex (wanted.addresses[0], ==, 0x1000);
  g_assert_cmphex (wanted.addresses[2], ==, 0x1200);
  g_assert_cmphex (wanted.addresses[6], ==, 0x7000);
  g_assert_false (flam_perf_memory_end (memory, &wanted));
  flam_perf_memory_free (memory);
}

/* More blocks than there is room for: the latest ones stay. */
static void
test_wanted (void)
{
  FlamPerfMemory *memory = flam_perf_memory_new ();
  FlamPerfWanted wanted = { 0 };
  guint n = 0;
  guint8 byte;

  for (guint round = 0; round < 2; round++)
    {
      flam_perf_memory_begin (
          memory, 0, NULL, 0, NULL, (FlamRuntimeMemory){ read_now, &n });
      for (guint64 i = 1; i < 0x8000; i++)
        g_assert_true (flam_perf_memory_read (memory, i, &byte, 1));
      g_assert_cmpint (flam_perf_memory_end (memory, &wanted), ==, round == 0);
    }
  g_assert_cmpuint (wanted.n, ==, 0x7f);
  flam_perf_memory_begin (
      memory, 0, NULL, 0, NULL, (FlamRuntimeMemory){ read_now, &n });
  for (guint64 i = 0; i < 2000; i++)
    flam_perf_memory_read (memory, (i + 1000) << 8, &byte, 1);
  g_assert_true (flam_perf_memory_end (memory, &wanted));
  g_assert_cmpuint (wanted.n, ==, FLAM_PERF_BLOCKS_MAX);
  g_assert_cmphex (wanted.addresses[0], ==, 1000 << 8);
  flam_perf_memory_free (memory);
}

/* --- where it is forbidden ----------------------------------------------- */

static Recording *
record_in_sandbox (const char *const *arguments)
{
  g_autofree char *sandbox = target_path ("forbidden");
  g_autofree char *own = g_strdup (g_getenv ("FLAMBEAU_RECORDER"));
  Recording *recording;

  g_setenv ("FLAM_FORBIDDEN", own, TRUE);
  g_setenv ("FLAMBEAU_RECORDER", sandbox, TRUE);
  recording = record (arguments);
  g_setenv ("FLAMBEAU_RECORDER", own, TRUE);
  return recording;
}

static void
test_forbidden (void)
{
  g_autofree char *target = target_path ("cases");
  const char *automatic[] = { "--engine", "auto", "--", target, "child", NULL };
  const char *asked[] = { "--engine", "perf", "--", target, "child", NULL };
  g_autoptr (Recording) fallen = record_in_sandbox (automatic);
  g_autoptr (Recording) refused = record_in_sandbox (asked);

  assert_ended (fallen, 7);
  g_assert_cmpstr (fallen->profile->facts.engine, ==, "ptrace");
  g_assert_cmpstr (
      fallen->profile->facts.engine_reason, ==, flam_perf_problem (EPERM));
  g_assert_cmpint (refused->status, ==, 1);
  g_assert_null (refused->profile);
  g_assert_nonnull (strstr (refused->said, "error --engine perf: "));
}

/* Allocations need ptrace. */
static void
test_allocations (void)
{
  g_autofree char *target = target_path ("cases");
  const char *asked[] = { "--engine", "perf", "--mode", "both",
                          "--",       target, "child",  NULL };
  g_autoptr (Recording) refused = record (asked);

  g_assert_cmpint (refused->status, ==, 1);
  g_assert_nonnull (strstr (refused->said,
                            "error --engine perf: the library that records "
                            "allocations is loaded with ptrace\n"));
}

/* --- where it is permitted ----------------------------------------------- */

static gboolean
is_permitted (void)
{
  const char *obstacle = flam_perf_obstacle ();

  if (obstacle != NULL)
    g_test_skip (obstacle);
  return obstacle == NULL;
}

static gint64
module_weight (const FlamProfile *profile, const char *path)
{
  gint64 n = 0;

  for (guint32 i = 0; i < profile->samples.n; i++)
    for (FlamId at = profile->samples.stack[i]; at != FLAM_NONE;
         at = profile->stacks.prefix[at])
      {
        FlamId module =
            profile->functions
                .module[profile->frames.function[profile->stacks.frame[at]]];

        if (module == FLAM_NONE ||
            strcmp (
                flam_profile_string (profile, profile->modules.path[module]),
                path) != 0)
          continue;
        n++;
        break;
      }
  return n;
}

/* The program's system calls are the kernel's functions. */
static void
test_kernel (void)
{
  g_autofree char *target = target_path ("truth-calls");
  const char *arguments[] = { "--engine", "auto", "--rate", "1000",
                              "--",       target, "0.5",    NULL };
  g_autoptr (Recording) recording = NULL;

  if (!is_permitted ())
    return;
  recording = record (arguments);
  assert_ended (recording, 0);
  g_assert_cmpstr (recording->profile->facts.engine, ==, "perf");
  g_assert_cmpint (
      module_weight (recording->profile, "[kernel.kallsyms]"), >, 0);
  g_assert_cmpint (total_of (recording->profile, "cpu-time"),
                   ==,
                   recording->profile->facts.charged_cpu_ns);
  g_assert_cmpint (recording->profile->facts.stop_median_ns, ==, 0);
}

/* It ends as usual; its forks, threads and programs are followed. */
static void
test_ends (void)
{
  static const struct
  {
    const char *name;
    int status;
    guint threads;
  } cases[] = {
    { "child", 7, 1 },       { "crash", 128 + SIGSEGV, 1 }, { "forks", 0, 501 },
    { "exec-thread", 0, 6 }, { "leader-exits", 23, 2 },
  };

  if (!is_permitted ())
    return;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *target = target_path ("cases");
      const char *arguments[] = { "--engine", "perf",        "--",
                                  target,     cases[i].name, NULL };
      g_autoptr (Recording) recording = record (arguments);

      assert_ended (recording, cases[i].status);
      g_assert_cmpuint (recording->profile->threads.n, ==, cases[i].threads);
    }
}

/* Stacks deeper than the kernel copies. */
static void
test_deep (void)
{
  g_autofree char *target = target_path ("cases");
  const char *arguments[] = { "--engine", "perf", "--", target, "deep", NULL };
  g_autoptr (Recording) recording = NULL;

  if (!is_permitted ())
    return;
  recording = record (arguments);
  assert_ended (recording, 0);
  g_assert_cmpuint (depth_of (recording->profile, "deep"), >, 3000);
}

static Recording *
record_case (const char *name)
{
  g_autofree char *target = target_path ("cases");
  const char *arguments[] = { "--engine", "perf", "--rate", "997",
                              "--",       target, name,     NULL };
  Recording *recording = record (arguments);

  assert_ended (recording, 0);
  return recording;
}

/* The kernel's copy of a stack ends at a page that is not in memory. */
static void
test_hollow (void)
{
  g_autoptr (Recording) recording = NULL;

  if (!is_permitted ())
    return;
  recording = record_case ("hollow");
  g_assert_cmpint (
      weight_of (recording->profile, "samples", "work_below", FALSE), >, 20);
  g_assert_cmpuint (recording->profile->facts.truncated_stacks, <, 5);
}

/* It has room for 16 KiB at first. */
static void
test_wide (void)
{
  g_autoptr (Recording) recording = NULL;

  if (!is_permitted ())
    return;
  recording = record_case ("wide");
  g_assert_cmpint (
      weight_of (recording->profile, "samples", "wide", FALSE), >, 5);
  g_assert_cmpuint (recording->profile->facts.truncated_stacks, <, 2);
}

/* During an exec, a thread has no stack to copy. */
static void
test_execs (void)
{
  g_autoptr (Recording) recording = NULL;
  const FlamProfile *profile;

  if (!is_permitted ())
    return;
  recording = record_case ("execs");
  profile = recording->profile;
  g_assert_cmpuint (profile->samples.n, >, 20);
  g_assert_cmpuint (profile->facts.truncated_stacks, <, 3);
}

/* Larger copies of stacks need new events. No process begins or ends unseen
 * meanwhile, unless limits forbid both at once. */
static void
test_deep_forks (void)
{
  g_autofree char *target = target_path ("cases");
  const char *arguments[] = { "--engine", "perf", "--rate",     "1000",
                              "--",       target, "deep-forks", NULL };
  g_autoptr (Recording) recording = NULL;

  if (!is_permitted ())
    return;
  recording = record (arguments);
  assert_ended (recording, 0);
  g_assert_cmpuint (depth_of (recording->profile, "deep_forks"), ==, 1);
  if (has_warning (recording->profile, "nothing was recorded for"))
    g_test_skip ("too little memory may be locked, or too few files opened");
  else
    g_assert_cmpuint (recording->profile->threads.n, ==, 501);
}

/* The second rings are not permitted: the first are closed before. The
 * processes of the time between are missing, which is reported. */
static void
test_gap (void)
{
  g_autofree char *target = target_path ("cases");
  const char *arguments[] = { "--engine", "perf", "--rate",     "1000",
                              "--",       target, "deep-forks", NULL };
  g_autoptr (Recording) recording = NULL;

  if (!g_test_subprocess ())
    {
      if (!is_permitted ())
        return;
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_test_trap_assert_passed ();
      return;
    }
  if (prctl (PR_CAPBSET_DROP, CAP_IPC_LOCK) != 0 ||
      setrlimit (RLIMIT_MEMLOCK, &(struct rlimit){ 0, 0 }) != 0)
    return;
  recording = record (arguments);
  /* Others of this user lock memory at the moment. */
  if (recording->profile == NULL && strstr (recording->said, "locked") != NULL)
    return;
  assert_ended (recording, 0);
  g_assert_true (has_warning (recording->profile, "nothing was recorded for"));
  g_assert_cmpuint (depth_of (recording->profile, "deep_forks"), ==, 1);
}

static void
test_attach (void)
{
  pid_t pid = target_start ("cases", "spin");
  g_autofree char *text = g_strdup_printf ("%d", (int)pid);
  const char *arguments[] = { "--engine", "perf", "--pid", text, NULL };
  g_autoptr (Recording) recording = NULL;

  if (is_permitted ())
    {
      Running *running = recorder_start (arguments);

      for (guint i = 0; i < 3; i++)
        g_assert_true (recorder_wait_for (running, "status "));
      recorder_say (running, "stop");
      recording = recorder_end (running);
      assert_ended (recording, 0);
      g_assert_cmpint (
          weight_of (recording->profile, "cpu-time", "burn", FALSE), >, 0);
      g_assert_cmpint (waitpid (pid, NULL, WNOHANG), ==, 0);
    }
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/perf/quick/maps", test_maps);
  g_test_add_func ("/perf/quick/thread", test_thread);
  g_test_add_func ("/perf/quick/attached-thread", test_attached_thread);
  g_test_add_func ("/perf/quick/owed", test_owed);
  g_test_add_func ("/perf/quick/memory", test_memory);
  g_test_add_func ("/perf/quick/wanted", test_wanted);
  g_test_add_func ("/perf/quick/forbidden", test_forbidden);
  g_test_add_func ("/perf/quick/allocations", test_allocations);
  g_test_add_func ("/perf/quick/kernel", test_kernel);
  g_test_add_func ("/perf/quick/attach", test_attach);
  g_test_add_func ("/perf/ends", test_ends);
  g_test_add_func ("/perf/deep", test_deep);
  g_test_add_func ("/perf/hollow", test_hollow);
  g_test_add_func ("/perf/wide", test_wide);
  g_test_add_func ("/perf/execs", test_execs);
  g_test_add_func ("/perf/deep-forks", test_deep_forks);
  g_test_add_func ("/perf/gap", test_gap);
  return g_test_run ();
}
