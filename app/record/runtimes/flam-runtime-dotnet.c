/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include <string.h>
#include <sys/stat.h>

#include "flam-dotnet-pdb.h"
#include "flam-dotnet.h"
#include "flam-path-access.h"
#include "flam-proc.h"
#include "flam-runtime-lines.h"

/* .NET: flam-dotnet.h. */

/* --- source lines --------------------------------------------------------- */

/* The path of the mapping with an address; NULL: it has none. */
static char *
mapped_path (pid_t pid, guint64 address)
{
  g_autofree char *maps = flam_proc_text (pid, pid, "maps");
  g_auto (GStrv) lines = g_strsplit (maps != NULL ? maps : "", "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *end;
      guint64 from = g_ascii_strtoull (lines[i], &end, 16);

      if (*end == '-' && from <= address &&
          address < g_ascii_strtoull (end + 1, NULL, 16))
        return g_strdup (strchr (lines[i], '/'));
    }
  return NULL;
}

/* NULL: it has this process's files. */
static char *
root_of (pid_t pid)
{
  g_autofree char *root = g_strdup_printf ("/proc/%d/root", (int)pid);
  g_autofree char *link = g_strdup_printf ("/proc/%d/ns/mnt", (int)pid);
  g_autofree char *mounts = g_file_read_link (link, NULL);
  g_autofree char *ours = g_file_read_link ("/proc/self/ns/mnt", NULL);
  struct stat own, its;

  return stat ("/", &own) == 0 && stat (root, &its) == 0 &&
                 own.st_dev == its.st_dev && own.st_ino == its.st_ino &&
                 g_strcmp0 (mounts, ours) == 0
             ? NULL
             : g_steal_pointer (&root);
}

static GBytes *
read_pdb (const char *root, const char *path)
{
  g_autofree char *inside =
      root != NULL ? g_strconcat (root, path, NULL) : NULL;
  gsize size;
  char *bytes;

  if (root != NULL)
    flam_path_access_grant_root (root);
  bytes = root != NULL
              ? flam_path_access_read_beneath (
                    root, inside, FLAM_DOTNET_PDB_MAX, &size, NULL)
              : flam_path_access_read (path, FLAM_DOTNET_PDB_MAX, &size, NULL);
  return bytes != NULL ? g_bytes_new_take (bytes, size) : NULL;
}

/* Beside the assembly, and where the compiler has put it. */
static GBytes *
open_pdb (gpointer data, guint64 base, const char *path)
{
  const FlamRuntimeProcess *process = data;
  g_autofree char *assembly = mapped_path (process->pid, base);
  g_autofree char *root = root_of (process->pid);
  g_autofree char *name = g_path_get_basename (path);
  GBytes *bytes = NULL;

  if (assembly != NULL)
    {
      g_autofree char *folder = g_path_get_dirname (assembly);
      g_autofree char *beside = g_build_filename (folder, name, NULL);

      bytes = read_pdb (root, beside);
    }
  return bytes == NULL && path[0] == '/' ? read_pdb (root, path) : bytes;
}

/* --- the row -------------------------------------------------------------- */

static FlamRuntimeOpened
open_process (FlamRuntimeProcess *process,
              const FlamRuntimeMemory *memory,
              const char **why,
              const char **help)
{
  FlamDotnet *dotnet;

  switch (
      flam_dotnet_open (process->file->facts, memory, process->base, &dotnet))
    {
    case FLAM_DOTNET_READY:
      flam_dotnet_set_open_pdb (dotnet, open_pdb, process);
      process->cache = dotnet;
      return FLAM_RUNTIME_OPENED;
    case FLAM_DOTNET_EARLY:
      return FLAM_RUNTIME_NOT_YET;
    default:
      *why = N_ ("its descriptor of its own structures is not valid");
      *help = N_ ("start the program with DOTNET_PerfMapEnabled=1");
      return FLAM_RUNTIME_UNREADABLE;
    }
}

static void
close_process (FlamRuntimeProcess *process)
{
  if (process->cache != NULL)
    flam_dotnet_free (process->cache);
}

/* Code in memory of its own, which may be mapped twice, and assemblies. */
static gboolean
claims (const FlamRuntimeProcess *process,
        guint64 start,
        guint64 end,
        const char *path)
{
  return flam_runtime_claims_anonymous (process, start, end, path) ||
         g_str_has_prefix (path, "/memfd:doublemapper") ||
         g_str_has_suffix (path, ".dll");
}

static FlamRuntimeStepped
step (const FlamRuntimeProcess *process,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entry,
      FlamRuntimeRegs *caller)
{
  *caller = *regs;
  return flam_dotnet_step (process->cache,
                           memory,
                           g_get_monotonic_time () * 1000,
                           caller,
                           entry)
             ? FLAM_RUNTIME_STEPPED
             : FLAM_RUNTIME_STEP_LOST;
}

static gboolean
name_function (const FlamRuntimeProcess *process,
               const FlamRuntimeEntry *entry,
               const guint8 *first,
               const FlamRuntimeMemory *memory,
               FlamRuntimeName *name)
{
  (void)first;
  return flam_dotnet_name (process->cache, memory, entry, name);
}

const FlamRuntime flam_runtime_dotnet = {
  .id = "dotnet",
  .label = ".NET",
  .compiles = TRUE,
  .find = flam_dotnet_find,
  .open = open_process,
  .close = close_process,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .name = name_function,
  .line = flam_runtime_lines_find,
  .joint = ".",
  .claims = claims,
  .step = step,
};
