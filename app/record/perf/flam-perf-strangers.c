/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-strangers.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flam-bpf.h"

/* Those that were not met for the longest time are forgotten. */
#define STRANGERS_MAX 8192
/* Of the first PID namespace: include/linux/proc_ns.h. */
#define FIRST_NAMESPACE 0xEFFFFFFCu

struct _FlamPerfStrangers
{
  int map; /* process -> 0 */
};

/* A program sees the numbers of the first PID namespace. */
static gboolean
is_in_first_namespace (void)
{
  struct stat own;

  return stat ("/proc/self/ns/pid", &own) == 0 && own.st_ino == FIRST_NAMESPACE;
}

static void
add_all (const FlamPerfStrangers *strangers, GHashTable *recorded)
{
  GDir *dir = g_dir_open ("/proc", 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      pid_t pid = (pid_t)g_ascii_strtoll (name, NULL, 10);

      if (pid > 0 && !g_hash_table_contains (recorded, GINT_TO_POINTER (pid)))
        flam_perf_strangers_add (strangers, pid);
    }
  if (dir != NULL)
    g_dir_close (dir);
}

FlamPerfStrangers *
flam_perf_strangers_new (GHashTable *recorded)
{
  FlamPerfStrangers *strangers;
  int map;

  if (!is_in_first_namespace ())
    {
      errno = EPERM;
      return NULL;
    }
  map = flam_bpf_make_map (BPF_MAP_TYPE_LRU_HASH, 4, 8, STRANGERS_MAX);
  if (map < 0)
    return NULL;
  strangers = g_new (FlamPerfStrangers, 1);
  strangers->map = map;
  add_all (strangers, recorded);
  return strangers;
}

void
flam_perf_strangers_free (FlamPerfStrangers *strangers)
{
  close (strangers->map);
  g_free (strangers);
}

int
flam_perf_strangers_map (const FlamPerfStrangers *strangers)
{
  return strangers->map;
}

void
flam_perf_strangers_add (const FlamPerfStrangers *strangers, pid_t pid)
{
  flam_bpf_set_element (
      strangers->map, &(guint32){ (guint32)pid }, &(guint64){ 0 });
}

void
flam_perf_strangers_remove (const FlamPerfStrangers *strangers, pid_t pid)
{
  flam_bpf_delete_element (strangers->map, &(guint32){ (guint32)pid });
}
