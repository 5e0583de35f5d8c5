/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-file-map.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The signal handler must not take a lock or allocate memory, so its table has
 * a fixed length. A file for which there is no free slot is read instead. */
#define SLOTS 1024

typedef struct
{
  gsize first; /* 0: free; 1: being filled in */
  gsize end;
  int torn;
} Slot;

static Slot slots[SLOTS];
static struct sigaction before;
static gsize page_size;

/* --- the signal ---------------------------------------------------------- */

/* Handles a fault in a foreign mapping like the previous handler. With the
 * previous action restored, the access is repeated. */
static void
pass_on (int number, siginfo_t *info, void *context)
{
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction (number, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler (number);
  else
    {
      sigaction (number, &before, NULL);
      if (info->si_code <= 0)
        raise (number);
    }
}

static void
handle (int number, siginfo_t *info, void *context)
{
  gsize at = (gsize)info->si_addr / page_size * page_size;
  int kept = errno;

  for (guint i = 0; info->si_code > 0 && i < SLOTS; i++)
    {
      gsize first = __atomic_load_n (&slots[i].first, __ATOMIC_ACQUIRE);
      gsize end = __atomic_load_n (&slots[i].end, __ATOMIC_ACQUIRE);

      if (first <= 1 || at < first || at >= end)
        continue;
      __atomic_store_n (&slots[i].torn, 1, __ATOMIC_RELEASE);
      if (mmap ((void *)at,
                end - at,
                PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                -1,
                0) == MAP_FAILED)
        break;
      errno = kept;
      return;
    }
  pass_on (number, info, context);
}

static void
install (void)
{
  static gsize done;
  struct sigaction action = { .sa_sigaction = handle,
                              .sa_flags = SA_SIGINFO | SA_ONSTACK };

  if (!g_once_init_enter (&done))
    return;
  page_size = (gsize)sysconf (_SC_PAGESIZE);
  sigemptyset (&action.sa_mask);
  sigaction (SIGBUS, &action, &before);
  g_once_init_leave (&done, 1);
}

/* --- mappings ------------------------------------------------------------ */

static guint
take_slot (gsize first, gsize end)
{
  for (guint i = 0; i < SLOTS; i++)
    {
      gsize none = 0;

      if (!__atomic_compare_exchange_n (&slots[i].first,
                                        &none,
                                        1,
                                        FALSE,
                                        __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
        continue;
      slots[i].torn = 0;
      __atomic_store_n (&slots[i].end, end, __ATOMIC_RELEASE);
      __atomic_store_n (&slots[i].first, first, __ATOMIC_RELEASE);
      return i;
    }
  return SLOTS;
}

static gboolean
read_all (int fd, guint8 *to, gsize size)
{
  gsize done = 0;

  while (done < size)
    {
      gssize n = pread (fd, to + done, size - done, (off_t)done);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return FALSE;
      if (n == 0)
        break;
      done += (gsize)n;
    }
  return TRUE;
}

gboolean
flam_file_map_make_writable (FlamFileMap *mapping)
{
  return mprotect (mapping->data, mapping->range, PROT_READ | PROT_WRITE) == 0;
}

/* Maps over a reservation that is one page longer, so that a zero byte follows
 * even if the file fills its last page:
 *
 *    | file page | file page | file …000 | zero page |
 */
static gboolean
fill (FlamFileMap *mapping)
{
  gsize base = (gsize)mapping->data;

  mapping->slot = take_slot (base, base + mapping->range - page_size);
  if (mapping->slot == SLOTS)
    return flam_file_map_make_writable (mapping) &&
           read_all (mapping->fd, mapping->data, mapping->size);
  return mmap (mapping->data,
               mapping->size,
               PROT_READ,
               MAP_PRIVATE | MAP_FIXED,
               mapping->fd,
               0) != MAP_FAILED;
}

FlamFileMap *
flam_file_map_new (int fd, gsize size)
{
  g_autoptr (FlamFileMap) mapping = g_new0 (FlamFileMap, 1);
  void *base;

  install ();
  mapping->slot = SLOTS;
  mapping->size = size;
  mapping->fd = fcntl (fd, F_DUPFD_CLOEXEC, 3);
  if (mapping->fd < 0)
    return NULL;
  if (size > G_MAXSSIZE - 2 * page_size)
    {
      errno = EFBIG;
      return NULL;
    }
  mapping->range = (size + page_size - 1) / page_size * page_size + page_size;
  base = mmap (NULL,
               mapping->range,
               PROT_READ,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
               -1,
               0);
  if (base == MAP_FAILED)
    return NULL;
  mapping->data = base;
  if (size > 0 && !fill (mapping))
    return NULL;
  return g_steal_pointer (&mapping);
}

/* The bytes between the new end and the end of its page became zeros without a
 * signal, so the length is checked, too. */
gboolean
flam_file_map_is_whole (const FlamFileMap *mapping)
{
  struct stat info;

  if (mapping->slot < SLOTS &&
      __atomic_load_n (&slots[mapping->slot].torn, __ATOMIC_ACQUIRE))
    return FALSE;
  return fstat (mapping->fd, &info) == 0 &&
         (guint64)info.st_size >= mapping->size;
}

void
flam_file_map_free (FlamFileMap *mapping)
{
  int kept = errno;

  if (mapping == NULL)
    return;
  if (mapping->slot < SLOTS)
    __atomic_store_n (&slots[mapping->slot].first, 1, __ATOMIC_RELEASE);
  if (mapping->data != NULL)
    munmap (mapping->data, mapping->range);
  if (mapping->slot < SLOTS)
    __atomic_store_n (&slots[mapping->slot].first, 0, __ATOMIC_RELEASE);
  if (mapping->fd >= 0)
    close (mapping->fd);
  g_free (mapping);
  errno = kept;
}
