/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The files shared with the recorder: the control file, which already exists,
 * and one file per process, which is created here. */

#include "flam-preload-files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_SIZE 4096

uint32_t *preload_forked;

static char directory[PATH_SIZE];

/* The offset is a long: the seventh argument is on the stack, where the upper
 * half of an int is undefined. */
static void *
map_file (int fd, size_t size, void *where)
{
  long at = syscall (SYS_mmap,
                     where,
                     size,
                     PROT_READ | PROT_WRITE,
                     where != NULL ? MAP_SHARED | MAP_FIXED : MAP_SHARED,
                     fd,
                     0l);

  return at == -1 ? NULL : (void *)at;
}

static char *
append (char *to, const char *text)
{
  while (*text)
    *to++ = *text++;
  *to = 0;
  return to;
}

static char *
append_number (char *to, unsigned long number)
{
  char digits[24];
  unsigned n = 0;

  do
    digits[n++] = '0' + number % 10;
  while (number /= 10);
  while (n > 0)
    *to++ = digits[--n];
  *to = 0;
  return to;
}

static bool
map_control (void)
{
  char path[PATH_SIZE + 32];
  long fd;

  append (append (path, directory), "/control");
  fd = syscall (SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0)
    return false;
  preload_control = map_file (fd, 4096, preload_control);
  syscall (SYS_close, fd);
  return preload_control != NULL &&
         preload_control->magic == FLAM_ALLOC_MAGIC &&
         preload_control->version == FLAM_ALLOC_VERSION;
}

/* DIR/PID.N, where N is the first number without a file. */
static long
create_file (void)
{
  char path[PATH_SIZE + 64];
  char *number = append (append_number (append (append (path, directory), "/"),
                                        syscall (SYS_getpid)),
                         ".");
  long fd = -1;

  for (unsigned n = 0; n < 100000; n++)
    {
      append_number (number, n);
      fd = syscall (SYS_openat,
                    AT_FDCWD,
                    path,
                    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                    0600);
      if (fd != -1 || errno != EEXIST)
        break;
    }
  return fd;
}

/* Invariant and synchronous on all processors, by the kernel's own check. */
static bool
tsc_is_usable (void)
{
  char name[16] = "";
  long fd = syscall (
      SYS_openat,
      AT_FDCWD,
      "/sys/devices/system/clocksource/clocksource0/current_clocksource",
      O_RDONLY | O_CLOEXEC,
      0);

  if (fd >= 0)
    {
      syscall (SYS_read, fd, name, sizeof name - 1);
      syscall (SYS_close, fd);
    }
  if (strncmp (name, "tsc", 3) == 0)
    return true;
#ifdef __x86_64__
  /* A paravirtual clock is based on the counter; cpuid tells whether the
   * counter is invariant. */
  if (strncmp (name, "kvm-clock", 9) == 0)
    {
      unsigned a, b, c, d;

      __asm__("cpuid"
              : "=a"(a), "=b"(b), "=c"(c), "=d"(d)
              : "a"(0x80000007), "c"(0));
      return (d & 1 << 8) != 0;
    }
#endif
  return false;
}

/* Above a limit on file sizes the kernel would send a fatal signal. */
static bool
may_be_so_large (void)
{
  struct rlimit limit;

  return getrlimit (RLIMIT_FSIZE, &limit) == 0 &&
         limit.rlim_cur >= FLAM_ALLOC_FILE_SIZE;
}

bool
preload_map_process (FlamAllocHeader *at)
{
  long fd = may_be_so_large () ? create_file () : -1;
  FlamAllocHeader *before = preload_header;
  FlamAllocHeader *header = NULL;

  if (fd < 0)
    return false;
  if (syscall (SYS_ftruncate, fd, FLAM_ALLOC_FILE_SIZE) == 0)
    header = map_file (fd, FLAM_ALLOC_FILE_SIZE, at);
  syscall (SYS_close, fd);
  if (header == NULL)
    return false;
  preload_header = header;
  preload_room_reset ();
  if (!preload_room (header, sizeof *header))
    {
      preload_header = before;
      if (at == NULL)
        syscall (SYS_munmap, header, FLAM_ALLOC_FILE_SIZE);
      return false;
    }
  header->version = FLAM_ALLOC_VERSION;
  header->pid = syscall (SYS_getpid);
  header->parent = syscall (SYS_getppid);
  header->clock = tsc_is_usable () ? FLAM_ALLOC_CLOCK_TSC : FLAM_ALLOC_CLOCK_NS;
  header->start_ns = preload_now_ns ();
  header->start_ticks = preload_now_ticks ();
  syscall (SYS_prctl, PR_GET_NAME, header->name);
  header->n_modules = 1; /* 0: unknown code */
  header->text_used = 1;
  header->n_nodes = 1;
  header->magic = FLAM_ALLOC_MAGIC;
  return true;
}

/* The variable and the one before it, LD_PRELOAD, were added by the recorder:
 * they are removed for the program and its children. */
const char *
preload_take_directory (void)
{
  size_t length = strlen (FLAM_ALLOC_ENV_DIR "=");
  char **at = environ;
  const char *found;

  while (
      at[0] != NULL &&
      (at[1] == NULL || strncmp (at[1], FLAM_ALLOC_ENV_DIR "=", length) != 0))
    at++;
  if (at[0] == NULL)
    return NULL;
  found = at[1] + length;
  do
    at[0] = at[2];
  while (*at++ != NULL);
  return found;
}

/* The child of a fork sees a zero. */
static bool
map_forked (void)
{
  if (preload_forked == NULL)
    preload_forked = preload_pages (4096);
  if (preload_forked == NULL ||
      syscall (SYS_madvise, preload_forked, 4096, MADV_WIPEONFORK) != 0)
    return false;
  *preload_forked = 1;
  return true;
}

bool
preload_is_requested (void)
{
  for (char **at = environ; at != NULL && *at != NULL; at++)
    if (strncmp (
            *at, FLAM_ALLOC_ENV_DIR "=", strlen (FLAM_ALLOC_ENV_DIR "=")) == 0)
      return true;
  return false;
}

bool
preload_map_files (const char *path)
{
  if (path == NULL || strlen (path) >= PATH_SIZE - 1)
    return false;
  append (directory, path);
  return map_forked () && map_control () && !preload_control->stopped &&
         preload_map_process (preload_header);
}

/* The kernel replaces a mapping in one step: a thread that is writing to the
 * file goes on in memory that nobody reads. */
void
preload_leave_files (void)
{
  FlamAllocControl *stopped = preload_pages (4096);

  if (preload_control == NULL || stopped == NULL)
    return;
  stopped->stopped = 1;
  syscall (SYS_mremap,
           stopped,
           4096ul,
           4096ul,
           MREMAP_MAYMOVE | MREMAP_FIXED,
           preload_control);
  if (preload_header != NULL)
    syscall (SYS_mmap,
             preload_header,
             FLAM_ALLOC_FILE_SIZE,
             PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1,
             0l);
}
