/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-map.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct _FlamAllocMap
{
  char *data;
  gsize size;
  FlamAllocMap *next;
  volatile sig_atomic_t cut;
};

static FlamAllocMap *maps;

static FlamAllocMap *
map_at (const char *address)
{
  for (FlamAllocMap *map = maps; map != NULL; map = map->next)
    if (address >= map->data && address < map->data + map->size)
      return map;
  return NULL;
}

/* Runs in the thread that reads; mmap() is only a system call. */
static void
on_bus_error (int sig, siginfo_t *info, void *context)
{
  char *page = (char *)((gsize)info->si_addr & ~(gsize)4095);
  FlamAllocMap *map = map_at (info->si_addr);

  if (map != NULL &&
      mmap (page,
            map->size - (gsize)(page - map->data),
            PROT_READ | PROT_WRITE,
            MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
            -1,
            0) != MAP_FAILED)
    map->cut = TRUE;
  else
    signal (SIGBUS, SIG_DFL);
}

static void
hear_bus_errors (void)
{
  struct sigaction action = { .sa_sigaction = on_bus_error,
                              .sa_flags = SA_SIGINFO };

  sigaction (SIGBUS, &action, NULL);
}

FlamAllocMap *
flam_alloc_map_new (int fd, gsize size)
{
  FlamAllocMap *map;
  struct stat st;
  void *data;

  if (fstat (fd, &st) != 0 || !S_ISREG (st.st_mode) ||
      (gsize)st.st_size != size)
    return NULL;
  data = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED)
    return NULL;
  hear_bus_errors ();
  map = g_new0 (FlamAllocMap, 1);
  map->data = data;
  map->size = size;
  map->next = maps;
  maps = map;
  return map;
}

void
flam_alloc_map_free (FlamAllocMap *map)
{
  FlamAllocMap **link = &maps;

  while (*link != map)
    link = &(*link)->next;
  *link = map->next;
  munmap (map->data, map->size);
  g_free (map);
}

gpointer
flam_alloc_map_data (const FlamAllocMap *map)
{
  return map->data;
}

gboolean
flam_alloc_map_is_cut (const FlamAllocMap *map)
{
  return map->cut != 0;
}
