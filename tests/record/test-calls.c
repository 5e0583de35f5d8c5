/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flam-call-ledger.h"
#include "flam-core-query.h"
#include "flam-perf-rings.h"
#include "recording.h"

/* The results of system calls: of programs that obtain known numbers of
 * everything, and call by call. */

#define PAGE 4096

/* --- call by call -------------------------------------------------------- */

static FlamCallEvent events[FLAM_CALL_EVENTS_MAX];

static guint
enter (FlamRecordWhat what, long number, guint64 a, guint64 b, guint64 c)
{
  FlamCall call = { number, { a, b, c } };

  return flam_call_enter (what, &call, getpid (), events);
}

static guint
leave (FlamRecordWhat what, FlamCall call, gint64 result)
{
  return flam_call_leave (what, &call, getpid (), result, events);
}

static void
assert_event (guint i, FlamCallOp op, guint64 at, guint64 size)
{
  g_assert_cmpint (events[i].op, ==, op);
  g_assert_cmpuint (events[i].at, ==, at);
  g_assert_cmpuint (events[i].size, ==, size);
}

static void
test_memory_calls (void)
{
  FlamRecordWhat what = FLAM_RECORD_FAULTS;
  FlamCall map = { SYS_mmap, { 0, 5000, PROT_READ, MAP_ANONYMOUS } };
  FlamCall move = { SYS_mremap, { 0x10000, 8192, 12288, 1 } };
  FlamCall protect = { SYS_mprotect, { 0x10000, 4096, PROT_READ } };

  g_assert_cmpint (leave (what, map, 0x7000), ==, 1);
  assert_event (0, FLAM_CALL_MAP, 0x7000, 8192);
  map.arguments[3] = MAP_PRIVATE;
  g_assert_cmpint (leave (what, map, 0x7000), ==, 1);
  assert_event (0, FLAM_CALL_MAP_FILE, 0x7000, 8192);
  map.arguments[2] = PROT_NONE;
  g_assert_cmpint (leave (what, map, 0x7000), ==, 1);
  assert_event (0, FLAM_CALL_RESERVE, 0x7000, 8192);
  g_assert_cmpint (leave (what, map, -12), ==, 0);
  g_assert_cmpint (leave (FLAM_RECORD_RESOURCES, map, 0x7000), ==, 0);

  g_assert_cmpint (enter (what, SYS_munmap, 0x10000, 1, 0), ==, 1);
  assert_event (0, FLAM_CALL_UNMAP, 0x10000, 4096);
  g_assert_cmpint (enter (what, SYS_munmap, 0x10001, 1, 0), ==, 0);
  g_assert_cmpint (enter (what, SYS_munmap, 0x10000, 0, 0), ==, 0);
  g_assert_cmpint (enter (what, SYS_munmap, 0x10000, G_MAXUINT64, 0), ==, 0);
  g_assert_cmpint (
      enter (FLAM_RECORD_RESOURCES, SYS_munmap, 0x10000, 1, 0), ==, 0);

  /* A call that fails gets back the memory that its entry gave away. */
  g_assert_cmpint (enter (what, SYS_mremap, 0x10000, 8192, 12288), ==, 1);
  assert_event (0, FLAM_CALL_UNMAP, 0x10000, 8192);
  g_assert_cmpint (leave (what, move, 0x20000), ==, 1);
  assert_event (0, FLAM_CALL_MAP, 0x20000, 12288);
  g_assert_cmpint (leave (what, move, -12), ==, 1);
  assert_event (0, FLAM_CALL_MAP, 0x10000, 8192);

  g_assert_cmpint (leave (what, protect, 0), ==, 1);
  assert_event (0, FLAM_CALL_ALLOW, 0x10000, 4096);
  protect.arguments[2] = PROT_NONE;
  g_assert_cmpint (leave (what, protect, 0), ==, 1);
  assert_event (0, FLAM_CALL_FORBID, 0x10000, 4096);
  g_assert_cmpint (leave (what, (FlamCall){ SYS_brk, { 0 } }, 0x5000), ==, 1);
  assert_event (0, FLAM_CALL_BREAK, 0x5000, 0);
  g_assert_cmpint (leave (what, (FlamCall){ -1, { 0 } }, 3), ==, 0);
  g_assert_cmpint (leave (what, (FlamCall){ 511, { 0 } }, 3), ==, 0);
  g_assert_cmpint (leave (what, (FlamCall){ G_MAXINT32, { 0 } }, 3), ==, 0);
}

static void
test_descriptor_calls (void)
{
  FlamRecordWhat what = FLAM_RECORD_RESOURCES;
  int pair[2] = { 41, 42 };
  guint64 at = (guint64)(gsize)pair;

  g_assert_cmpint (leave (what, (FlamCall){ SYS_openat, { 0 } }, 7), ==, 1);
  assert_event (0, FLAM_CALL_OPEN, 7, 1);
  g_assert_cmpint (leave (what, (FlamCall){ SYS_openat, { 0 } }, -2), ==, 0);
  g_assert_cmpint (
      leave (FLAM_RECORD_FAULTS, (FlamCall){ SYS_openat, { 0 } }, 7), ==, 0);
  g_assert_cmpint (leave (what, (FlamCall){ SYS_pipe2, { at } }, 0), ==, 2);
  assert_event (0, FLAM_CALL_OPEN, 41, 1);
  assert_event (1, FLAM_CALL_OPEN, 42, 1);
  g_assert_cmpint (leave (what, (FlamCall){ SYS_pipe2, { 8 } }, 0), ==, 0);
  g_assert_cmpint (
      leave (what, (FlamCall){ SYS_socketpair, { 1, 1, 0, at } }, 0), ==, 2);
  g_assert_cmpint (leave (what, (FlamCall){ SYS_dup2, { 3, 3 } }, 3), ==, 0);
  g_assert_cmpint (leave (what, (FlamCall){ SYS_dup2, { 3, 4 } }, 4), ==, 1);
  g_assert_cmpint (
      leave (what, (FlamCall){ SYS_fcntl, { 3, F_GETFD } }, 1), ==, 0);
  g_assert_cmpint (
      leave (what, (FlamCall){ SYS_fcntl, { 3, F_DUPFD } }, 9), ==, 1);
  g_assert_cmpint (
      leave (what, (FlamCall){ SYS_signalfd4, { (guint32)-1 } }, 9), ==, 1);
  g_assert_cmpint (leave (what, (FlamCall){ SYS_signalfd4, { 9 } }, 9), ==, 0);
  g_assert_cmpint (enter (what, SYS_close, 9, 0, 0), ==, 1);
  assert_event (0, FLAM_CALL_CLOSE, 9, 1);
  g_assert_cmpint (enter (what, SYS_close_range, 3, 0xffffffff, 0), ==, 1);
  assert_event (0, FLAM_CALL_CLOSE, 3, 0xfffffffd);
  g_assert_cmpint (enter (what, SYS_close_range, 3, 2, 0), ==, 0);
  g_assert_cmpint (enter (what, SYS_close_range, 3, 9, 4), ==, 0);
}

/* The message lies about its lengths. */
static void
test_messages (void)
{
  FlamRecordWhat what = FLAM_RECORD_RESOURCES;
  guint64 control[64] = { 0 };
  struct cmsghdr *head = (struct cmsghdr *)(gpointer)control;
  struct msghdr message = { .msg_control = control,
                            .msg_controllen = sizeof control };
  FlamCall call = { SYS_recvmsg, { 0, (guint64)(gsize)&message } };
  const int numbers[] = { 5, 6, 7 };

  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN (sizeof numbers);
  memcpy (CMSG_DATA (head), numbers, sizeof numbers);
  g_assert_cmpint (leave (what, call, 1), ==, 3);
  assert_event (0, FLAM_CALL_OPEN, 5, 1);
  assert_event (2, FLAM_CALL_OPEN, 7, 1);
  head->cmsg_type = SCM_CREDENTIALS;
  g_assert_cmpint (leave (what, call, 1), ==, 0);
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = 1;
  g_assert_cmpint (leave (what, call, 1), ==, 0);
  head->cmsg_len = G_MAXSIZE;
  g_assert_cmpint (leave (what, call, 1), ==, 0);
  message.msg_controllen = G_MAXSIZE;
  head->cmsg_len = CMSG_LEN (sizeof numbers);
  g_assert_cmpint (leave (what, call, 1), <=, FLAM_CALL_EVENTS_MAX);
  message.msg_control = NULL;
  g_assert_cmpint (leave (what, call, 1), ==, 0);
}

/* --- the account --------------------------------------------------------- */

typedef enum
{
  IN_PROCESS,
  IN_CHILD, /* forked just before */
  AT_EXEC,  /* no event */
} StepKind;

typedef struct
{
  FlamCallEvent event;
  gint64 live;    /* bytes, or descriptors and threads, after it */
  gint64 highest; /* the most until then */
  StepKind kind;
} Step;

static FlamStackId
make_stack (FlamBuilder *builder)
{
  FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_NATIVE };
  FlamRecordedFrame frame = { .file = FLAM_NONE, .module = FLAM_NONE };

  function.name = flam_builder_string (builder, "f", -1);
  function.system_name = function.file = flam_builder_string (builder, "", -1);
  frame.function = flam_builder_function (builder, &function);
  return flam_builder_stack (
      builder, FLAM_NONE, flam_builder_recorded_frame (builder, &frame));
}

static void
take (FlamCallLedger *ledger,
      FlamCallSpace *space,
      FlamThreadId thread,
      gint64 time,
      const Step *step,
      FlamStackId stack)
{
  FlamCallSpace *child = NULL;

  if (step->kind == AT_EXEC)
    {
      flam_call_ledger_exec (ledger, space);
      return;
    }
  if (step->kind == IN_CHILD)
    space = child = flam_call_ledger_add_space (ledger, space);
  flam_call_ledger_take (ledger, space, thread, time, &step->event, stack);
  if (child != NULL)
    flam_call_ledger_end_space (ledger, child);
}

/* The recording of the first steps of a process, which begins with these maps
 * or with nothing. */
static FlamProfile *
record_steps (FlamRecordWhat what, const char *maps, const Step *steps, guint n)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamThreadId thread = flam_builder_append_thread (
      builder, flam_builder_append_process (builder, 1, FLAM_NONE), 1);
  FlamStackId stack = make_stack (builder);
  FlamCallLedger *ledger = flam_call_ledger_new (builder, what);
  FlamCallSpace *space = flam_call_ledger_add_space (ledger, NULL);
  FlamProfile *profile;

  if (maps != NULL)
    flam_call_space_read (space, maps);
  for (guint i = 0; i < n; i++)
    {
      flam_call_ledger_advance (ledger, i * G_GINT64_CONSTANT (1000000000));
      take (ledger,
            space,
            thread,
            i * G_GINT64_CONSTANT (1000000000),
            &steps[i],
            stack);
    }
  flam_call_ledger_finish (ledger, n * G_GINT64_CONSTANT (1000000000));
  flam_call_ledger_end_space (ledger, space);
  flam_call_ledger_free (ledger);
  flam_builder_fold_memory (builder);
  profile = flam_builder_finish (builder, NULL);
  g_assert_nonnull (profile);
  return profile;
}

/* Recordings that end after each of the steps. */
static void
assert_steps (FlamRecordWhat what, const char *maps, const Step *steps, guint n)
{
  for (guint last = 0; last < n; last++)
    {
      g_autoptr (FlamProfile) profile =
          record_steps (what, maps, steps, last + 1);
      const FlamAllocations *rows = &profile->allocations;
      gint64 live = 0, highest = 0;

      g_test_message ("step %u", last);
      for (guint32 i = 0; i < rows->n; i++)
        {
          if (rows->freed_at[i] == FLAM_NEVER)
            live += rows->count[i] * rows->size[i];
          highest += rows->at_peak[i] * rows->size[i];
        }
      g_assert_cmpint (live, ==, steps[last].live);
      g_assert_cmpint (highest, ==, steps[last].highest);
    }
}

static void
test_pages (void)
{
  static const Step steps[] = {
    { { FLAM_CALL_MAP, 0x100000, 0x10000 }, 0x10000, 0x10000 },
    { { FLAM_CALL_UNMAP, 0x104000, 0x1000 }, 0xf000, 0x10000 },
    /* A new mapping replaces what it covers. */
    { { FLAM_CALL_MAP_FILE, 0x102000, 0x4000 }, 0x10000, 0x10000 },
    { { FLAM_CALL_UNMAP, 0, 0x10000000 }, 0, 0x10000 },
    /* Reserved addresses become memory, and reserved again. */
    { { FLAM_CALL_RESERVE, 0x200000, 0x100000 }, 0, 0x10000 },
    { { FLAM_CALL_ALLOW, 0x1ff000, 0x3000 }, 0x2000, 0x10000 },
    { { FLAM_CALL_ALLOW, 0x200000, 0x4000 }, 0x4000, 0x10000 },
    { { FLAM_CALL_FORBID, 0x203000, 0x10000 }, 0x3000, 0x10000 },
    { { FLAM_CALL_ALLOW, 0x203000, 0x1000 }, 0x4000, 0x10000 },
    { { FLAM_CALL_RESERVE, 0x200000, 0x1000 }, 0x3000, 0x10000 },
    /* Addresses that a child's parent has reserved become the child's memory.
     */
    { { FLAM_CALL_ALLOW, 0x280000, 0x1000 }, 0x4000, 0x10000, IN_CHILD },
  };

  assert_steps (FLAM_RECORD_FAULTS, NULL, steps, G_N_ELEMENTS (steps));
}

static void
test_break (void)
{
  static const Step steps[] = {
    { { FLAM_CALL_BREAK, 0x500000, 0 }, 0, 0 },
    { { FLAM_CALL_BREAK, 0x521000, 0 }, 0x21000, 0x21000 },
    { { FLAM_CALL_BREAK, 0x521000, 0 }, 0x21000, 0x21000 },
    { { FLAM_CALL_BREAK, 0x510000, 0 }, 0x10000, 0x21000 },
    /* Moved during a pause. */
    { { FLAM_CALL_BREAK, 0x600000, 1 }, 0x10000, 0x21000 },
    { { FLAM_CALL_BREAK, 0x601000, 0 }, 0x11000, 0x21000 },
    { .kind = AT_EXEC, .live = 0x11000, .highest = 0x21000 },
    { { FLAM_CALL_BREAK, 0x900000, 0 }, 0x11000, 0x21000 },
  };

  assert_steps (FLAM_RECORD_FAULTS, NULL, steps, G_N_ELEMENTS (steps));
}

static void
test_attached_space (void)
{
  static const char maps[] =
      "1000-2000 r-xp 00000000 00:1f 3 /usr/bin/a\n"
      "5000-9000 rw-p 00000000 00:00 0 [heap]\n"
      "a000-f000 ---p 00000000 00:00 0 \n"
      "20000-21000 ---p 00000000 00:1f 3 /usr/lib/b.so\n";
  static const Step steps[] = {
    { { FLAM_CALL_BREAK, 0x9800, 0 }, 0x1000, 0x1000 },
    { { FLAM_CALL_ALLOW, 0xa000, 0x20000 }, 0x6000, 0x6000 },
  };

  assert_steps (FLAM_RECORD_FAULTS, maps, steps, G_N_ELEMENTS (steps));
}

static void
test_descriptors (void)
{
  static const Step steps[] = {
    { { FLAM_CALL_OPEN, 3, 1 }, 1, 1 },
    { { FLAM_CALL_OPEN, 4, 1 }, 2, 2 },
    { { FLAM_CALL_OPEN, 8, 1 }, 3, 3 },
    { { FLAM_CALL_OPEN, 9, 1 }, 4, 4 },
    { { FLAM_CALL_BEGIN_THREAD, 4, 1 }, 5, 5 },
    { { FLAM_CALL_CLOSE, 4, 1 }, 4, 5 },
    { { FLAM_CALL_CLOSE, 4, 1 }, 4, 5 },
    { { FLAM_CALL_CLOSE, 99, 1 }, 4, 5 },
    { { FLAM_CALL_OPEN, 3, 1 }, 4, 5 },
    { { FLAM_CALL_CLOSE, 8, 0xfffffff8 }, 2, 5 },
    { { FLAM_CALL_CLOSE, 0, 1 }, 2, 5 },
    { { FLAM_CALL_END_THREAD, 4, 1 }, 1, 5 },
    { { FLAM_CALL_END_THREAD, 4, 1 }, 1, 5 },
    { { FLAM_CALL_OPEN, G_MAXUINT32, 1 }, 1, 5 },
  };

  assert_steps (FLAM_RECORD_RESOURCES, NULL, steps, G_N_ELEMENTS (steps));
}

/* --- programs ------------------------------------------------------------ */

static Recording *
record_gets (const char *mode, const char *option, const char *argument)
{
  g_autofree char *target = target_path ("gets");
  const char *plain[] = { "--mode", mode, "--", target, argument, NULL };
  const char *more[] = { "--mode", mode, option, "--", target, argument, NULL };
  Recording *recording = record (option != NULL ? more : plain);

  assert_ended (recording, 0);
  g_assert_cmpint (recording->profile->facts.lost, ==, 0);
  return recording;
}

static void
assert_weight (const Recording *recording,
               const char *measure,
               const char *function,
               gint64 expected)
{
  g_test_message ("%s of %s", measure, function);
  g_assert_cmpint (
      weight_of (recording->profile, measure, function, FALSE), ==, expected);
}

static void
test_memory (void)
{
  g_autoptr (Recording) recording = record_gets ("faults", NULL, "memory");

  assert_weight (recording, "allocated", "map_kept", 100 * PAGE);
  assert_weight (recording, "leaked", "map_kept", 100 * PAGE);
  assert_weight (recording, "allocated", "map_and_unmap", 30 * PAGE);
  assert_weight (recording, "leaked", "map_and_unmap", 0);
  assert_weight (recording, "allocated", "map_and_move", 44 * PAGE);
  assert_weight (recording, "leaked", "map_and_move", 40 * PAGE);
  assert_weight (recording, "allocated", "reserve", 7 * PAGE);
  assert_weight (recording, "leaked", "reserve", 5 * PAGE);
  assert_weight (recording, "leaked", "move_break", 64 * PAGE);
  assert_weight (recording, "allocations", "map_kept", 100);
}

/* malloc takes at least as much from the kernel as it gives, and at most one
 * step of its growth more; all of it with brk. */
static void
test_malloc (void)
{
  g_autoptr (Recording) recording = record_gets ("faults", NULL, "malloc");
  gint64 bytes = weight_of (recording->profile, "allocated", "allocate", FALSE);

  g_assert_cmpint (bytes, >=, 200 * 50000);
  g_assert_cmpint (bytes, <=, 200 * 50016 + (264 << 10));
}

static gint64
told_faults (const Recording *recording)
{
  const char *told = strstr (recording->error, "faults ");

  g_assert_nonnull (told);
  return g_ascii_strtoll (told + strlen ("faults "), NULL, 10);
}

/* Every page that it touches, and as many as the kernel counts. */
static void
test_faults (void)
{
  g_autoptr (Recording) recording = NULL;
  gint64 counted;

  if (flam_perf_obstacle () != NULL)
    {
      g_test_skip (flam_perf_obstacle ());
      return;
    }
  recording = record_gets ("faults", "--exact", "memory");
  assert_weight (recording, "page-faults", "touch", 100);
  assert_weight (recording, "minor-faults", "touch", 100);
  counted = told_faults (recording);
  /* Faults after its own count, and the first ones of exec: 45 in Debian 13. */
  g_assert_cmpint (
      ABS (total_of (recording->profile, "page-faults") - counted), <=, 64);
}

static void
test_resources (void)
{
  g_autoptr (Recording) recording =
      record_gets ("resources", NULL, "resources");

  assert_weight (recording, "allocations", "open_and_leak", 10);
  assert_weight (recording, "leaked-blocks", "open_and_leak", 10);
  assert_weight (recording, "allocations", "open_and_close", 25);
  assert_weight (recording, "leaked-blocks", "open_and_close", 0);
  assert_weight (recording, "allocations", "make_pairs", 4);
  assert_weight (recording, "leaked-blocks", "make_pairs", 2);
  assert_weight (recording, "allocations", "duplicate", 3);
  assert_weight (recording, "leaked-blocks", "duplicate", 2);
  assert_weight (recording, "allocations", "receive", 3);
  assert_weight (recording, "leaked-blocks", "receive", 1);
  assert_weight (recording, "allocations", "join_threads", 5);
  assert_weight (recording, "leaked-blocks", "join_threads", 0);
  assert_weight (recording, "leaked-blocks", "forget_threads", 3);
  assert_weight (recording, "allocations", "detach_threads", 2);
  assert_weight (recording, "leaked-blocks", "detach_threads", 0);
  g_assert_cmpint (total_of (recording->profile, "leaked-blocks"), ==, 18);
}

static void
test_exec (void)
{
  g_autoptr (Recording) recording = record_gets ("resources", NULL, "again");

  assert_weight (recording, "allocations", "run_again", 4);
  assert_weight (recording, "leaked-blocks", "run_again", 2);
}

/* In a process that runs, and that runs on afterwards. */
static void
check_attached (const char *mode,
                const char *measure,
                const char *function,
                gint64 expected)
{
  g_autofree char *target = target_path ("gets");
  g_autoptr (Recording) recording = NULL;
  g_autofree char *number = NULL;
  int in[2], out[2], status;
  const char *arguments[] = { "--mode", mode, "--pid", NULL, NULL };
  Running *running = NULL;
  char byte;
  pid_t pid;

  g_assert_cmpint (pipe2 (in, O_CLOEXEC) | pipe2 (out, O_CLOEXEC), ==, 0);
  pid = fork ();
  if (pid == 0)
    {
      dup2 (in[0], 0);
      dup2 (out[1], 1);
      execl (target, target, "wait", NULL);
      _exit (1);
    }
  close (in[0]);
  close (out[1]);
  arguments[3] = number = g_strdup_printf ("%d", (int)pid);
  for (guint i = 0; i < 2; i++)
    {
      if (i == 1)
        {
          running = recorder_start (arguments);
          g_assert_true (recorder_wait_for (running, "target"));
          g_usleep (100000);
        }
      g_assert_cmpint (write (in[1], "x", 1), ==, 1);
      g_assert_cmpint (read (out[0], &byte, 1), ==, 1);
    }
  recorder_say (running, "stop");
  recording = recorder_end (running);
  g_assert_cmpint (write (in[1], "x", 1), ==, 1);
  g_assert_cmpint (read (out[0], &byte, 1), ==, 1);
  close (in[1]);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (status, ==, 0);
  assert_ended (recording, 0);
  assert_weight (recording, measure, function, expected);
}

static void
test_attached (void)
{
  check_attached ("faults", "leaked", "map_kept", 100 * PAGE);
  check_attached ("resources", "leaked-blocks", "open_and_leak", 10);
}

static void
test_engine (void)
{
  g_autofree char *target = target_path ("gets");
  const char *asked[] = { "--engine", "perf", "--mode", "faults",
                          "--",       target, "memory", NULL };
  g_autoptr (Recording) refused = record (asked);

  g_assert_cmpint (refused->status, ==, 1);
  g_assert_nonnull (
      strstr (refused->said,
              "error --engine perf: system calls are followed with "
              "ptrace\n"));
}

/* --- events -------------------------------------------------------------- */

/* The kernel's number of faults, but for those before the exec; hardware events
 * are a measure or a warning. */
static void
test_events (void)
{
  g_autofree char *target = target_path ("gets");
  const char *arguments[] = { "--engine", "perf",
                              "--events", "instructions,page-faults",
                              "--",       target,
                              "memory",   NULL };
  g_autoptr (Recording) recording = NULL;
  const FlamProfile *profile;
  gint64 faults;

  if (flam_perf_obstacle () != NULL)
    {
      g_test_skip (flam_perf_obstacle ());
      return;
    }
  recording = record (arguments);
  assert_ended (recording, 0);
  profile = recording->profile;
  faults = total_of (profile, "page-faults");
  g_test_message ("%" G_GINT64_FORMAT " faults of %" G_GINT64_FORMAT,
                  faults,
                  told_faults (recording));
  g_assert_cmpint (faults, >=, told_faults (recording) * 6 / 10);
  g_assert_cmpint (faults, <=, told_faults (recording) + 40);
  if (flam_profile_find_measure (profile, "instructions") >= 0)
    g_assert_cmpint (total_of (profile, "instructions"), >, 0);
  else
    g_assert_true (has_warning (profile, "instructions: "));
}

static const char *
label_of (const FlamProfile *profile, guint32 set)
{
  for (guint32 i = 0; i < profile->labels.n && set != 0; i++)
    if (profile->labels.set[i] == set)
      return flam_profile_string (profile, profile->labels.value[i]);
  return NULL;
}

/* Nobody but the ringer wakes the waiter; nobody in the program wakes the
 * ringer. */
static void
test_wakers (void)
{
  g_autofree char *target = target_path ("gets");
  const char *arguments[] = { "--engine", "perf", "--mode", "wall",
                              "--",       target, "wake",   NULL };
  g_autoptr (Recording) recording = NULL;
  const FlamProfile *profile;
  guint by_ringer = 0, by_others = 0, ringer = 0;

  if (flam_perf_obstacle () != NULL)
    {
      g_test_skip (flam_perf_obstacle ());
      return;
    }
  recording = record (arguments);
  assert_ended (recording, 0);
  profile = recording->profile;
  if (has_warning (profile, "sched_waking"))
    {
      g_test_skip ("the tracepoint sched_waking is not permitted");
      return;
    }
  for (FlamId t = 0; t < profile->threads.n; t++)
    {
      const char *name =
          flam_profile_string (profile, profile->threads.name[t]);
      guint32 first = profile->threads.first_sample[t];

      for (guint32 i = first; i < first + profile->threads.n_samples[t]; i++)
        {
          const char *by = profile->samples.labels != NULL
                               ? label_of (profile, profile->samples.labels[i])
                               : NULL;

          if (by == NULL)
            continue;
          if (strcmp (name, "waiter") == 0)
            *(g_str_has_prefix (by, "ringer (") ? &by_ringer : &by_others) += 1;
          else if (strcmp (name, "ringer") == 0)
            ringer += strcmp (by, "outside of the program") == 0;
        }
    }
  g_test_message ("%u, %u, %u", by_ringer, by_others, ringer);
  g_assert_cmpuint (by_ringer, >=, 40);
  g_assert_cmpuint (by_others, <=, 5);
  g_assert_cmpuint (ringer, >=, 45);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/calls/quick/memory-calls", test_memory_calls);
  g_test_add_func ("/calls/quick/descriptor-calls", test_descriptor_calls);
  g_test_add_func ("/calls/quick/messages", test_messages);
  g_test_add_func ("/calls/quick/pages", test_pages);
  g_test_add_func ("/calls/quick/break", test_break);
  g_test_add_func ("/calls/quick/attached-space", test_attached_space);
  g_test_add_func ("/calls/quick/descriptors", test_descriptors);
  g_test_add_func ("/calls/quick/memory", test_memory);
  g_test_add_func ("/calls/quick/malloc", test_malloc);
  g_test_add_func ("/calls/quick/faults", test_faults);
  g_test_add_func ("/calls/quick/resources", test_resources);
  g_test_add_func ("/calls/quick/exec", test_exec);
  g_test_add_func ("/calls/quick/attached", test_attached);
  g_test_add_func ("/calls/quick/engine", test_engine);
  g_test_add_func ("/calls/quick/events", test_events);
  g_test_add_func ("/calls/quick/wakers", test_wakers);
  return g_test_run ();
}
