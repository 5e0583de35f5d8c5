/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-spool.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define IN_MEMORY FLAM_SPOOL_IN_MEMORY
#define LOOK (G_GUINT64_CONSTANT (64) << 20)
#define AHEAD (G_GUINT64_CONSTANT (1) << 20)
#define HUGE_PAGE (G_GUINT64_CONSTANT (2) << 20)

static gboolean
system_error (GError **error, const char *what)
{
  int number = errno;
  FlamError code = number == ENOSPC || number == EDQUOT || number == EFBIG
                       ? FLAM_ERROR_TOO_LARGE
                       : FLAM_ERROR_SYSTEM;

  return flam_error_set (error, code, "%s: %s", what, g_strerror (number));
}

gboolean
flam_spool_init (FlamSpool *spool, GError **error)
{
  gsize length = FLAM_SPOOL_MAX + sysconf (_SC_PAGESIZE);
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  guint8 *all = mmap (NULL, length + HUGE_PAGE, PROT_NONE, flags, -1, 0);
  gsize before;

  *spool = (FlamSpool){ .fd = -1 };
  if (all == MAP_FAILED)
    return system_error (error, N_ ("not enough room for the unpacked file"));
  before = -(gsize)all % HUGE_PAGE;
  spool->base = all + before;
  spool->mapped = length;
  if (before > 0)
    munmap (all, before);
  munmap (spool->base + length, HUGE_PAGE - before);
  if (mprotect (spool->base, IN_MEMORY, PROT_READ | PROT_WRITE) < 0)
    return system_error (error, N_ ("not enough room for the unpacked file"));
  /* Half of the time of unpacking is page faults; without huge pages it is
   * slower. */
  madvise (spool->base, IN_MEMORY, MADV_HUGEPAGE);
  return TRUE;
}

static int
open_unlinked (void)
{
  g_autofree char *name = NULL;
  int fd = open (g_get_tmp_dir (), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

  if (fd >= 0)
    return fd;
  fd = g_file_open_tmp ("flambeau-XXXXXX", &name, NULL);
  if (fd >= 0)
    g_unlink (name);
  return fd;
}

/* The file is longer than what was written to it: whoever reads its last bytes
 * may look at those behind them, which may be on the next page. */
static gboolean
extend (FlamSpool *spool, guint64 written, GError **error)
{
  if (written < spool->length)
    return TRUE;
  spool->length = written + AHEAD;
  if (ftruncate (spool->fd, (off_t)spool->length) < 0)
    return system_error (error, N_ ("not enough room for the unpacked file"));
  return TRUE;
}

/* The whole range is mapped at once; pages beyond the file's end become valid
 * as it grows. */
static gboolean
begin_file (FlamSpool *spool, GError **error)
{
  spool->fd = open_unlinked ();
  if (spool->fd < 0)
    return system_error (
        error, N_ ("no temporary file can be created to unpack it into"));
  if (mmap (spool->base + IN_MEMORY,
            spool->mapped - IN_MEMORY,
            PROT_READ,
            MAP_SHARED | MAP_FIXED,
            spool->fd,
            0) == MAP_FAILED)
    return system_error (error, N_ ("cannot be mapped"));
  return extend (spool, 0, error);
}

/* The free space is checked before each this many bytes. */
static gboolean
have_room (FlamSpool *spool, guint64 size, GError **error)
{
  struct statvfs info;
  guint64 left;

  if (size <= spool->room)
    return TRUE;
  if (fstatvfs (spool->fd, &info) < 0)
    return system_error (
        error, N_ ("no temporary file can be created to unpack it into"));
  left = (guint64)info.f_bavail * info.f_frsize;
  if (left < FLAM_SPOOL_LEAVE + LOOK)
    return flam_error_set (
        error,
        FLAM_ERROR_TOO_LARGE,
        N_ ("not enough room for the unpacked file: %s has %" PRIu64
            " MiB left"),
        g_get_tmp_dir (),
        left >> 20);
  spool->room = MAX (size, spool->size + LOOK);
  return TRUE;
}

static gboolean
write_all (FlamSpool *spool, const guint8 *p, gsize size, GError **error)
{
  while (size > 0)
    {
      gssize n = write (spool->fd, p, size);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return system_error (error,
                             N_ ("not enough room for the unpacked file"));
      p += n;
      size -= n;
    }
  return TRUE;
}

gboolean
flam_spool_append (FlamSpool *spool,
                   const void *data,
                   gsize size,
                   GError **error)
{
  const guint8 *p = data;
  guint64 room = IN_MEMORY - MIN (spool->size, IN_MEMORY);
  gsize n = MIN (size, room);

  if (size > FLAM_SPOOL_MAX - spool->size)
    return flam_error_set (error,
                           FLAM_ERROR_TOO_LARGE,
                           N_ ("unpacks to more than %d GiB"),
                           (int)(FLAM_SPOOL_MAX >> 30));
  if (n > 0)
    memcpy (spool->base + spool->size, p, n);
  if (size >= room && spool->fd < 0 && !begin_file (spool, error))
    return FALSE;
  if (n < size && !extend (spool, spool->size + size - IN_MEMORY, error))
    return FALSE;
  if (n < size && !have_room (spool, spool->size + size, error))
    return FALSE;
  if (n < size && !write_all (spool, p + n, size - n, error))
    return FALSE;
  spool->size += size;
  return TRUE;
}

gboolean
flam_spool_seal (FlamSpool *spool, GError **error)
{
  if (spool->size < IN_MEMORY)
    return TRUE;
  if (ftruncate (spool->fd, spool->size - IN_MEMORY + 1) < 0)
    return system_error (error, N_ ("not enough room for the unpacked file"));
  return TRUE;
}

const guint8 *
flam_spool_steal (FlamSpool *spool, gsize *mapped)
{
  *mapped = spool->mapped;
  return g_steal_pointer (&spool->base);
}

void
flam_spool_clear (FlamSpool *spool)
{
  if (spool->base != NULL)
    munmap (spool->base, spool->mapped);
  if (spool->fd >= 0)
    close (spool->fd);
  *spool = (FlamSpool){ .fd = -1 };
}
