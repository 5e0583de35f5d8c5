/* SPDX-License-Identifier: GPL-3.0-or-later */

/* cases NAME: situations that break a careless tracer. Each ends with status 0
 * if everything went as it does without one, otherwise with 1 and a line on
 * stderr. */

#include "cases.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

#define FAIL(...) (fprintf (stderr, __VA_ARGS__), fputc ('\n', stderr), 1)

__attribute__ ((noinline)) void
burn (long n)
{
  uint64_t a = 1;

  for (long i = 0; i < n; i++)
    {
      a = a * 6364136223846793005ull + (uint64_t)i;
      __asm__ volatile("" : "+r"(a)); /* step by step, with every compiler */
    }
  sink = a;
}

static int
status_of (pid_t pid)
{
  int status;

  while (waitpid (pid, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

/* --- signals ------------------------------------------------------------- */

static volatile sig_atomic_t received;

static void
count_signal (int sig)
{
  received++;
}

static int
signals (void)
{
  struct sigaction action = { .sa_handler = count_signal };
  const int n = 20000;

  sigaction (SIGRTMIN, &action, NULL);
  for (int i = 0; i < n; i++)
    {
      raise (SIGRTMIN);
      burn (20000);
    }
  return received == n ? 0 : FAIL ("%d of %d signals", (int)received, n);
}

static volatile sig_atomic_t ticks;

static void
count_tick (int sig)
{
  ticks++;
}

/* Uses its own profiling timer while it is profiled. */
static int
itimer (void)
{
  struct sigaction action = { .sa_handler = count_tick,
                              .sa_flags = SA_RESTART };
  struct itimerval every = { { 0, 1000 }, { 0, 1000 } };

  sigaction (SIGPROF, &action, NULL);
  setitimer (ITIMER_PROF, &every, NULL);
  while (ticks < 100)
    burn (100000);
  return 0;
}

/* Stopped by job control for 0.3 s; must not continue earlier. */
static int
stopped (void)
{
  struct timespec before, after;
  pid_t self = getpid (), helper;
  double seconds;

  burn (100000000);
  clock_gettime (CLOCK_MONOTONIC, &before);
  helper = fork ();
  if (helper == 0)
    {
      usleep (300000);
      kill (self, SIGCONT);
      _exit (0);
    }
  raise (SIGSTOP);
  clock_gettime (CLOCK_MONOTONIC, &after);
  seconds = (double)(after.tv_sec - before.tv_sec) +
            (double)(after.tv_nsec - before.tv_nsec) / 1e9;
  burn (100000000);
  status_of (helper);
  return seconds > 0.25 ? 0 : FAIL ("stopped for %.3f s only", seconds);
}

/* --- processes and threads ----------------------------------------------- */

static int
vforks (void)
{
  for (volatile int i = 0; i < 20; i++)
    {
      pid_t pid = vfork ();
      if (pid == 0)
        {
          execl ("/proc/self/exe", "cases", "child", NULL);
          _exit (99);
        }
      if (status_of (pid) != 7)
        return FAIL ("vfork %d", i);
    }
  return 0;
}

static int
slow_vfork (void)
{
  pid_t pid = vfork ();

  if (pid == 0)
    {
      struct timespec ts = { 0, 400000000 };
      syscall (SYS_nanosleep, &ts, NULL);
      _exit (5);
    }
  return status_of (pid) == 5 ? 0 : FAIL ("slow vfork");
}

static int
child (void)
{
  burn (1000000);
  return 7;
}

static int
forks (void)
{
  for (int i = 0; i < 500; i++)
    {
      pid_t pid = fork ();
      if (pid == 0)
        {
          burn (300000);
          _exit (i % 100);
        }
      if (pid < 0 || status_of (pid) != i % 100)
        return FAIL ("fork %d", i);
    }
  return 0;
}

static void *
short_body (void *data)
{
  burn (30000);
  __atomic_fetch_add ((int *)data, 1, __ATOMIC_RELAXED);
  return NULL;
}

static int
short_threads (void)
{
  int n = 0;

  for (int i = 0; i < 300; i++)
    {
      pthread_t threads[10];
      for (int k = 0; k < 10; k++)
        if (pthread_create (&threads[k], NULL, short_body, &n) != 0)
          return FAIL ("no thread %d", i * 10 + k);
      for (int k = 0; k < 10; k++)
        pthread_join (threads[k], NULL);
    }
  return n == 3000 ? 0 : FAIL ("%d of 3000 threads", n);
}

static void *
wait_body (void *data)
{
  for (;;)
    pause ();
  return NULL;
}

static int
many_threads (void)
{
  pthread_attr_t attr;
  pthread_t thread;

  pthread_attr_init (&attr);
  pthread_attr_setstacksize (&attr, 65536);
  for (int i = 0; i < 1000; i++)
    if (pthread_create (&thread, &attr, wait_body, NULL) != 0)
      return FAIL ("no thread %d", i);
  burn (1000000000);
  return 0;
}

static void *
exec_body (void *data)
{
  burn (10000000);
  execl ("/proc/self/exe", "cases", "after-exec", NULL);
  return NULL;
}

/* exec by a thread that is not the leader, while others run. */
static int
exec_thread (void)
{
  pthread_t threads[4];

  for (int i = 0; i < 3; i++)
    pthread_create (&threads[i], NULL, wait_body, NULL);
  pthread_create (&threads[3], NULL, exec_body, NULL);
  for (;;)
    burn (1000000);
  return 1;
}

static int
after_exec (void)
{
  burn (200000000);
  return 0;
}

static void *
late_body (void *data)
{
  usleep (100000);
  burn (200000000);
  exit (23);
}

static int
leader_exits (void)
{
  pthread_t thread;

  pthread_create (&thread, NULL, late_body, NULL);
  pthread_exit (NULL);
}

static int
crash (void)
{
  volatile int *volatile nowhere = (volatile int *)8;

  burn (50000000);
  *nowhere = 1;
  return 0;
}

/* A program that traces its own child, as debuggers and crash handlers do. */
static int
tracer (void)
{
  pid_t pid = fork ();
  int status;

  if (pid == 0)
    {
      if (ptrace (PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit (9);
      raise (SIGSTOP);
      _exit (3);
    }
  if (waitpid (pid, &status, 0) != pid || !WIFSTOPPED (status))
    return FAIL ("the child cannot be traced");
  ptrace (PTRACE_CONT, pid, NULL, NULL);
  return status_of (pid) == 3 ? 0 : FAIL ("tracing");
}

/* --- calls that return EINTR after a stop -------------------------------- */

static int
expect (const char *name, long result, int error)
{
  return result >= 0 || errno == error
             ? 0
             : FAIL ("%s: %s", name, strerror (errno));
}

static int
eintr (void)
{
  struct timeval limit = { 0, 150000 };
  struct timespec relative = { 0, 150000000 };
  struct epoll_event event;
  int pair[2], bad = 0, epoll = epoll_create1 (0), sem;
  char byte;
  sigset_t set;
  struct sembuf down = { 0, -1, 0 };

  socketpair (AF_UNIX, SOCK_STREAM, 0, pair);
  setsockopt (pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sem = semget (IPC_PRIVATE, 1, 0600);
  sigemptyset (&set);
  sigaddset (&set, SIGUSR2);
  sigprocmask (SIG_BLOCK, &set, NULL);
  for (int i = 0; i < 3; i++)
    {
      bad |= expect ("epoll_wait", epoll_wait (epoll, &event, 1, 150), 0);
      bad |= expect ("recv", recv (pair[0], &byte, 1, 0), EAGAIN);
      bad |= expect ("read", read (pair[0], &byte, 1), EAGAIN);
      bad |=
          expect ("semtimedop", semtimedop (sem, &down, 1, &relative), EAGAIN);
      bad |=
          expect ("sigtimedwait", sigtimedwait (&set, NULL, &relative), EAGAIN);
      bad |= expect ("nanosleep", nanosleep (&relative, NULL), 0);
    }
  semctl (sem, 0, IPC_RMID);
  return bad;
}

/* The same, repeatedly stopped by another process. */
static void *
eintr_body (void *data)
{
  *(int *)data = eintr ();
  return NULL;
}

static int
eintr_threads (void)
{
  pthread_t threads[4];
  int bad[4];

  for (int i = 0; i < 4; i++)
    pthread_create (&threads[i], NULL, eintr_body, &bad[i]);
  for (int i = 0; i < 4; i++)
    pthread_join (threads[i], NULL);
  return bad[0] | bad[1] | bad[2] | bad[3];
}

/* --- calls that a stop makes short --------------------------------------- */

#define WHOLE (1 << 20)

/* Ends with 0 if the file has the numbers from 0 on, in order, and no others:
 * nothing is lost, and nothing is there twice. */
static pid_t
start_reader (int fd, int unused, uint64_t n)
{
  static uint64_t numbers[8193]; /* the last one is never full */
  pid_t pid = fork ();
  uint64_t next = 0;
  ssize_t got, have = 0;

  if (pid != 0)
    return pid;
  close (unused);
  while ((got = read (fd, (char *)numbers + have, 65536 - (size_t)have)) > 0)
    {
      have += got;
      for (ssize_t i = 0; i < have / 8; i++)
        if (numbers[i] != next++)
          _exit (1);
      numbers[0] = numbers[have / 8];
      have %= 8;
    }
  _exit (next == n ? 0 : 2);
}

typedef ssize_t Put (int fd, const void *from);

static ssize_t
put_by_write (int fd, const void *from)
{
  return write (fd, from, WHOLE);
}

static ssize_t
put_by_send (int fd, const void *from)
{
  return send (fd, from, WHOLE, 0);
}

static ssize_t
put_by_sendfile (int fd, const void *from)
{
  int file = memfd_create ("numbers", 0);
  ssize_t n;

  if (write (file, from, WHOLE) != WHOLE)
    return -1;
  lseek (file, 0, SEEK_SET);
  n = sendfile (fd, file, NULL, WHOLE);
  close (file);
  return n;
}

static int
put_all (const char *name, Put *put, int to, int from, int times)
{
  static uint64_t numbers[WHOLE / 8];
  uint64_t next = 0;
  pid_t reader = start_reader (from, to, (uint64_t)times * (WHOLE / 8));
  int bad = 0;

  close (from);
  for (int i = 0; i < times; i++)
    {
      for (size_t k = 0; k < WHOLE / 8; k++)
        numbers[k] = next++;
      bad += put (to, numbers) != WHOLE;
    }
  close (to);
  if (status_of (reader) != 0)
    return FAIL ("%s: the bytes are others", name);
  return bad == 0 ? 0 : FAIL ("%s: %d of %d were short", name, bad, times);
}

static int
receive_all (void)
{
  static char bytes[WHOLE];
  int pair[2], bad = 0;
  pid_t writer;

  socketpair (AF_UNIX, SOCK_STREAM, 0, pair);
  writer = fork ();
  if (writer == 0)
    {
      close (pair[0]);
      for (int i = 0; i < 100 * WHOLE / 4096; i++)
        if (write (pair[1], bytes, 4096) != 4096)
          _exit (1);
      _exit (0);
    }
  close (pair[1]);
  for (int i = 0; i < 100; i++)
    bad += recv (pair[0], bytes, sizeof bytes, MSG_WAITALL) != sizeof bytes;
  close (pair[0]);
  return bad == 0 && status_of (writer) == 0
             ? 0
             : FAIL ("recv: %d were short", bad);
}

static volatile sig_atomic_t n_alarms;

static void
on_alarm (int number)
{
  (void)number;
  n_alarms++;
}

/* A signal that the program handles does end the call. */
static int
end_by_signal (void)
{
  static char bytes[WHOLE];
  struct sigaction action = { .sa_handler = on_alarm };
  struct itimerval soon = { .it_value = { 0, 100000 } };
  int ends[2], bad = 0;

  sigaction (SIGALRM, &action, NULL);
  for (int i = 0; i < 5; i++)
    {
      ssize_t n;

      if (pipe (ends) != 0)
        return 1;
      setitimer (ITIMER_REAL, &soon, NULL);
      n = write (ends[1], bytes, sizeof bytes);
      bad |= n != fcntl (ends[1], F_GETPIPE_SZ) || n_alarms != i + 1;
      close (ends[0]);
      close (ends[1]);
    }
  return bad ? FAIL ("a signal did not end the call") : 0;
}

/* One that it ignores does not, such as the end of a child. */
static int
ignore_signal (void)
{
  static char bytes[WHOLE];
  struct epoll_event event;
  int ends[2], epoll = epoll_create1 (0);
  ssize_t n;

  signal (SIGUSR1, SIG_IGN);
  if (pipe (ends) != 0)
    return 1;
  for (int i = 0; i < 3; i++)
    if (fork () == 0)
      {
        close (ends[1]);
        usleep (100000 * (useconds_t)(i + 1));
        if (i == 1)
          kill (getppid (), SIGUSR1);
        while (i == 2 && read (ends[0], bytes, sizeof bytes) > 0)
          ;
        _exit (0);
      }
  close (ends[0]);
  n = write (ends[1], bytes, sizeof bytes);
  close (ends[1]);
  if (n != WHOLE)
    return FAIL ("a signal without effect ended write() after %zd", n);
  if (fork () == 0)
    {
      usleep (50000);
      _exit (0);
    }
  if (epoll_wait (epoll, &event, 1, 200) != 0)
    return FAIL ("a signal without effect ended epoll_wait()");
  close (epoll);
  while (wait (NULL) > 0)
    ;
  return 0;
}

static int
short_calls (void)
{
  static char bytes[WHOLE];
  int ends[2], bad = 0;

  bad |= pipe (ends);
  bad |= put_all ("write", put_by_write, ends[1], ends[0], 100);
  bad |= socketpair (AF_UNIX, SOCK_STREAM, 0, ends);
  bad |= put_all ("send", put_by_send, ends[1], ends[0], 100);
  bad |= socketpair (AF_UNIX, SOCK_STREAM, 0, ends);
  bad |= put_all ("sendfile", put_by_sendfile, ends[1], ends[0], 100);
  bad |= receive_all ();
  for (int i = 0; i < 100; i++)
    if (getrandom (bytes, sizeof bytes, 0) != sizeof bytes)
      return FAIL ("getrandom");
  return bad | ignore_signal () | end_by_signal ();
}

/* --- files, rights and libraries ----------------------------------------- */

/* Its own file is deleted while it runs. */
static int
deleted (void)
{
  char path[4096];
  ssize_t n = readlink ("/proc/self/exe", path, sizeof path - 1);

  if (n < 0)
    return 1;
  path[n] = '\0';
  if (unlink (path) != 0)
    return FAIL ("%s: %s", path, strerror (errno));
  burn (600000000);
  return 0;
}

/* Gives up its rights on the way, so that /proc changes its owner. */
static int
setuids (void)
{
  burn (100000000);
  if (geteuid () == 0 && setuid (65534) != 0)
    return FAIL ("setuid: %s", strerror (errno));
  burn (200000000);
  return 0;
}

#define CALL(name)                                                             \
  __attribute__ ((noinline)) static void name (void (*work) (long), long n)    \
  {                                                                            \
    work (n);                                                                  \
    /* No tail call, and not the same code as the other. */                    \
    __asm__ volatile("# " #name);                                              \
  }
CALL (call_a)
CALL (call_b)

/* Loads two libraries in turn, and calls each from a function of its own. */
static int
load_in_turn (int times, long n_a, long n_b)
{
  for (int i = 0; i < times; i++)
    {
      const char *name = i % 2 ? "FLAM_LIBRARY_B" : "FLAM_LIBRARY_A";
      void *library = dlopen (getenv (name), RTLD_NOW);
      void (*work) (long);

      if (library == NULL)
        return FAIL ("%s", dlerror ());
      *(void **)&work = dlsym (library, "work");
      if (i % 2)
        call_b (work, n_b);
      else
        call_a (work, n_a);
      dlclose (library);
    }
  return 0;
}

/* Two libraries at the same address, one after the other. */
static int
libraries (void)
{
  return load_in_turn (2, 400000000, 400000000);
}

/* The same many times a second. */
static int
plugins (void)
{
  return load_in_turn (1000, 500000, 1500000);
}

/* A library that is in memory alone, and whose descriptor is closed. */
static int
unpacked (void)
{
  int from = open (getenv ("FLAM_LIBRARY_A"), O_RDONLY);
  int to = memfd_create ("plugin", MFD_CLOEXEC);
  char part[4096], path[64];
  void (*work) (long);
  void *library;
  ssize_t n;

  while ((n = read (from, part, sizeof part)) > 0)
    if (write (to, part, (size_t)n) != n)
      return FAIL ("%m");
  close (from);
  snprintf (path, sizeof path, "/proc/self/fd/%d", to);
  library = dlopen (path, RTLD_NOW);
  if (library == NULL)
    return FAIL ("%s", dlerror ());
  close (to);
  *(void **)&work = dlsym (library, "work");
  call_a (work, 400000000);
  return 0;
}

static void
handle_elsewhere (int sig)
{
  burn (5000000);
}

static __attribute__ ((noinline)) void
get_interrupted (void)
{
  for (int i = 0; i < 60; i++)
    raise (SIGUSR1);
}

/* The handler has a stack of its own. */
static int
alternate (void)
{
  static char room[65536];
  stack_t stack = { .ss_sp = room, .ss_size = sizeof room };
  struct sigaction action = { .sa_handler = handle_elsewhere,
                              .sa_flags = SA_ONSTACK };

  if (sigaltstack (&stack, NULL) != 0 ||
      sigaction (SIGUSR1, &action, NULL) != 0)
    return FAIL ("sigaltstack: %s", strerror (errno));
  get_interrupted ();
  return 0;
}

/* No other process may read its memory. */
static int
not_dumpable (void)
{
  if (prctl (PR_SET_DUMPABLE, 0) != 0)
    return FAIL ("prctl: %s", strerror (errno));
  burn (300000000);
  return 0;
}

/* Its files only exist in its own mount namespace. */
static int namespace(void)
{
  char self[4096];
  ssize_t n = readlink ("/proc/self/exe", self, sizeof self - 1);
  char *directory;

  if (n < 0)
    return 1;
  self[n] = '\0';
  directory = getenv ("FLAM_DIRECTORY");
  if (unshare (CLONE_NEWNS) != 0 ||
      mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount ("none", directory, "tmpfs", 0, NULL) != 0 ||
      chdir (directory) != 0)
    return 77;
  if (fork () == 0)
    {
      execlp ("cp", "cp", self, "./inside", NULL);
      _exit (1);
    }
  wait (NULL);
  execl ("./inside", "inside", "after-exec", NULL);
  return 1;
}

/* The terminal's interrupt key reaches the program, which continues for a
 * while. */
static volatile sig_atomic_t interrupted;

static void
note_interrupt (int sig)
{
  interrupted = 1;
}

static int
interrupt (void)
{
  signal (SIGINT, note_interrupt);
  if (write (2, "ready\n", 6) != 6)
    return 1;
  while (!interrupted)
    burn (100000);
  burn (100000000);
  return 42;
}

static int
spin (void)
{
  for (;;)
    burn (1000000);
  return 0;
}

/* Leaves a child process that does not end by itself. */
static int
daemon_case (void)
{
  pid_t pid = fork ();

  if (pid == 0)
    {
      close (1);
      close (2);
      return spin ();
    }
  fprintf (stderr, "child %d\n", (int)pid);
  burn (100000000);
  return 0;
}

static int
environment (void)
{
  const char *value = getenv ("FLAM_TEST");
  char directory[64];

  if (value == NULL || strcmp (value, "a b=c") != 0)
    return FAIL ("FLAM_TEST is %s", value != NULL ? value : "not set");
  if (getcwd (directory, sizeof directory) == NULL ||
      strcmp (directory, "/") != 0)
    return FAIL ("it runs in %s", directory);
  return 0;
}

/* Children without a pause, from a stack that is larger than the first copies
 * of the kernel, beside many threads, whose events take time to open. */
static int
deep_forks (void)
{
  char room[48 << 10];

  for (int i = 0; i < 200; i++)
    {
      pthread_t thread;

      if (pthread_create (&thread, NULL, wait_body, NULL) != 0)
        return FAIL ("pthread_create");
    }
  /* Memory that was never written cannot be copied. */
  memset (room, 0, sizeof room);
  __asm__ volatile("" : : "r"(room) : "memory");
  for (volatile int i = 0; i < 300; i++)
    {
      pid_t pid = fork ();

      if (pid == 0)
        _exit (7);
      if (status_of (pid) != 7)
        return FAIL ("fork %d", i);
    }
  return 0;
}

static const struct
{
  const char *name;
  int (*run) (void);
} cases[] = {
  { "signals", signals },
  { "itimer", itimer },
  { "stopped", stopped },
  { "vforks", vforks },
  { "slow-vfork", slow_vfork },
  { "child", child },
  { "forks", forks },
  { "short-threads", short_threads },
  { "many-threads", many_threads },
  { "exec-thread", exec_thread },
  { "after-exec", after_exec },
  { "leader-exits", leader_exits },
  { "crash", crash },
  { "tracer", tracer },
  { "eintr", eintr },
  { "eintr-threads", eintr_threads },
  { "short-calls", short_calls },
  { "deep", deep_stack },
  { "deep-sleep", deep_sleep },
  { "deep-forks", deep_forks },
  { "hollow", hollow },
  { "wide", wide },
  { "execs", execs },
  { "abyss", abyss },
  { "coroutines", coroutines },
  { "generated", generated },
  { "deleted", deleted },
  { "spin", spin },
  { "setuids", setuids },
  { "daemon", daemon_case },
  { "libraries", libraries },
  { "plugins", plugins },
  { "unpacked", unpacked },
  { "not-dumpable", not_dumpable },
  { "alternate", alternate },
  { "namespace", namespace },
  { "interrupt", interrupt },
  { "environment", environment },
};

int
main (int argc, char **argv)
{
  for (unsigned i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
    if (strcmp (argv[1], cases[i].name) == 0)
      return cases[i].run ();
  return 2;
}
