/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-jit.h"

#include "flam-jitdump.h"
#include "flam-perf-map.h"
#include "flam-path-access.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NS_A_SECOND G_GINT64_CONSTANT (1000000000)

struct _FlamJit
{
  FlamJitdump *jitdump; /* or NULL */
  FlamPerfMap *map;     /* or NULL */
  GStringChunk *strings;
};

char *
flam_jit_module_path (gint32 pid)
{
  return g_strdup_printf ("[generated code of process %d]", pid);
}

gint32
flam_jit_module_pid (const char *path)
{
  gint32 pid = -1;
  char end = 0;

  if (sscanf (path, "[generated code of process %d%c", &pid, &end) != 2 ||
      end != ']')
    return -1;
  return pid;
}

/* Opens it if it is owned by the user of the process, or root, and was written
 * since the recording began. */
static FlamJitdump *
open_jitdump (gint32 pid, const char *path, gint64 since)
{
  g_autofree char *usual = g_strdup_printf ("/tmp/jit-%d.dump", pid);
  const char *file = path ? path : usual;
  struct stat info;

  if (!flam_path_access_check (file, NULL) || lstat (file, &info) != 0 ||
      !S_ISREG (info.st_mode) ||
      (info.st_uid != geteuid () && info.st_uid != 0) ||
      info.st_mtime < since / NS_A_SECOND)
    return NULL;
  return flam_jitdump_open (file, NULL);
}

static FlamPerfMap *
open_map (gint32 pid, gint64 since, GError **error)
{
  g_autoptr (FlamPerfMap) map = flam_perf_map_open_process (pid, error);

  if (map && flam_perf_map_get_time (map) < since / NS_A_SECOND)
    return flam_error_null (error,
                            FLAM_ERROR_SYSTEM,
                            N_ ("/tmp/perf-%d.map is older than the recording"),
                            pid);
  return g_steal_pointer (&map);
}

FlamJit *
flam_jit_open_process (gint32 pid,
                       const char *jitdump,
                       gint64 since,
                       GError **error)
{
  g_autoptr (FlamJit) jit = g_new0 (FlamJit, 1);

  jit->strings = g_string_chunk_new (4096);
  jit->jitdump = open_jitdump (pid, jitdump, since);
  jit->map = open_map (pid, since, jit->jitdump ? NULL : error);
  return jit->jitdump || jit->map ? g_steal_pointer (&jit) : NULL;
}

FlamJit *
flam_jit_open_in (gint32 pid, const char *const *folders)
{
  for (; folders && *folders; folders++)
    {
      g_autoptr (FlamPerfMap) map = flam_perf_map_open_in (*folders, pid);

      if (map)
        {
          FlamJit *jit = g_new0 (FlamJit, 1);
          jit->strings = g_string_chunk_new (4096);
          jit->map = g_steal_pointer (&map);
          return jit;
        }
    }
  return NULL;
}

void
flam_jit_free (FlamJit *jit)
{
  if (!jit)
    return;
  flam_jitdump_free (jit->jitdump);
  flam_perf_map_free (jit->map);
  g_string_chunk_free (jit->strings);
  g_free (jit);
}

static void
show (FlamJit *jit, const char *name, FlamJitFrame *frame)
{
  g_autofree char *function = NULL;
  g_autofree char *file = NULL;

  frame->name = name;
  frame->kind = FLAM_KIND_JIT;
  if (!*frame->file && flam_perf_map_split_v8 (name, &file, &frame->first_line))
    frame->file = g_string_chunk_insert_const (jit->strings, file);
  if (file || !flam_perf_map_split_python (name, &function, &file))
    return;
  frame->name = g_string_chunk_insert_const (jit->strings, function);
  frame->file = g_string_chunk_insert_const (jit->strings, file);
  frame->kind = FLAM_KIND_INTERPRETED;
}

gboolean
flam_jit_find (FlamJit *jit, guint64 address, guint64 time, FlamJitFrame *frame)
{
  FlamJitSymbol symbol;
  const char *name;

  *frame = (FlamJitFrame){ .file = "" };
  if (jit->jitdump && flam_jitdump_find (jit->jitdump, address, time, &symbol))
    {
      frame->file = symbol.file;
      frame->line = symbol.line;
      frame->since = symbol.since;
      show (jit, symbol.name, frame);
      return TRUE;
    }
  name = jit->map ? flam_perf_map_find (jit->map, address) : NULL;
  if (name)
    show (jit, name, frame);
  return name != NULL;
}
