/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-loader.h"

#include <elf.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "flam-proc.h"
#include "flam-stops.h"

#define AGAIN (100 * 1000000ll) /* ns, until the next search for a list */
#define AUXV_MAX 64
#define HEADERS_MAX 64
#define DYNAMIC_MAX 256
/* A list with more entries than this is circular. */
#define ENTRIES_MAX (1u << 20)

static gboolean
read_all (pid_t tid, guint64 address, gpointer to, gsize size)
{
  return flam_read_memory (tid, address, to, size) == size;
}

/* --- the list ------------------------------------------------------------ */

static gsize
read_auxv (pid_t tid, Elf64_auxv_t *values, gsize n)
{
  int fd = flam_proc_open (tid, tid, "auxv");
  ssize_t size = fd >= 0 ? read (fd, values, n * sizeof *values) : 0;

  if (fd >= 0)
    close (fd);
  return size > 0 ? (gsize)size / sizeof *values : 0;
}

/* FALSE: not available. */
static gboolean
find_headers (pid_t tid, guint64 *headers, guint64 *n)
{
  Elf64_auxv_t values[AUXV_MAX];
  gsize n_values = read_auxv (tid, values, AUXV_MAX);

  *headers = *n = 0;
  for (gsize i = 0; i < n_values; i++)
    if (values[i].a_type == AT_PHDR)
      *headers = values[i].a_un.a_val;
    else if (values[i].a_type == AT_PHNUM)
      *n = values[i].a_un.a_val;
  return *headers != 0 && *n > 0 && *n <= HEADERS_MAX;
}

/* The address of the dynamic section; 0: there is none. */
static guint64
find_dynamic (pid_t tid)
{
  Elf64_Phdr headers[HEADERS_MAX];
  guint64 at, n, base = 0, dynamic = 0;

  if (!find_headers (tid, &at, &n) ||
      !read_all (tid, at, headers, n * sizeof *headers))
    return 0;
  for (guint64 i = 0; i < n; i++)
    {
      if (headers[i].p_type == PT_PHDR)
        base = at - headers[i].p_vaddr;
      if (headers[i].p_type == PT_DYNAMIC)
        dynamic = headers[i].p_vaddr;
    }
  return dynamic != 0 ? base + dynamic : 0;
}

/* The first entry; 0: none yet. `never`: there will be none. */
static guint64
find_first (pid_t tid, gboolean *never)
{
  Elf64_Dyn entries[DYNAMIC_MAX] = { 0 };
  guint64 dynamic = find_dynamic (tid), debug = 0, map[2];

  *never = dynamic == 0;
  if (*never || flam_read_memory (tid, dynamic, entries, sizeof entries) == 0)
    return 0;
  for (guint i = 0; i < DYNAMIC_MAX && entries[i].d_tag != DT_NULL; i++)
    if (entries[i].d_tag == DT_DEBUG)
      debug = entries[i].d_un.d_ptr;
  /* The version, an int, and r_map. */
  return debug != 0 && read_all (tid, debug, map, sizeof map) ? map[1] : 0;
}

/* Follows the list to its end. FALSE: it is unreadable. */
static gboolean
go_to_last (FlamLoader *loader, pid_t tid, guint64 from)
{
  FlamLinkMap entry = { .next = from };

  for (guint i = 0; entry.next != 0; i++)
    {
      loader->last = entry.next;
      if (i == ENTRIES_MAX ||
          !read_all (tid, loader->last, &entry, sizeof entry))
        return FALSE;
    }
  loader->entry = entry;
  memset (loader->name, 0, sizeof loader->name);
  flam_read_memory (tid, entry.name, loader->name, sizeof loader->name);
  return TRUE;
}

/* --- one pass ------------------------------------------------------------ */

/* FALSE: the last entry has changed. */
static gboolean
is_same (const FlamLoader *loader, pid_t tid)
{
  FlamLinkMap entry;
  char name[sizeof loader->name] = { 0 };
  struct iovec local[] = { { &entry, sizeof entry }, { name, sizeof name } };
  struct iovec remote[] = {
    { (void *)(guintptr)loader->last, sizeof entry },
    { (void *)(guintptr)loader->entry.name, sizeof name },
  };
  ssize_t n = process_vm_readv (tid, local, 2, remote, 2, 0);

  return n >= (ssize_t)sizeof entry &&
         memcmp (&entry, &loader->entry, sizeof entry) == 0 &&
         strncmp (name, loader->name, sizeof name) == 0;
}

gboolean
flam_loader_has_news (FlamLoader *loader, pid_t tid, gint64 now)
{
  gboolean never;
  guint64 first;

  if (now < loader->look_at || (loader->last != 0 && is_same (loader, tid)))
    return FALSE;
  /* The entry may have been freed: read the list from the start. */
  first = find_first (tid, &never);
  if (first != 0 && go_to_last (loader, tid, first))
    return TRUE;
  loader->last = 0;
  loader->look_at = never ? G_MAXINT64 : now + AGAIN;
  return FALSE;
}
