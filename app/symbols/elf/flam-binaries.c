/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-binaries.h"

#include "flam-debug-files.h"
#include "flam-path-access.h"

#include <string.h>

/* Limits of the search for build ids below a given directory. */
#define SCAN_DEPTH_MAX 4
#define SCAN_FILES_MAX 20000

struct _FlamBinaries
{
  char **directories;
  char *root;
  GHashTable *by_build_id; /* of all files below the directories; NULL: not
                            * scanned */
  GHashTable *debug_by_build_id; /* of those with debug information */
};

typedef struct
{
  const char *build_id;
  char *other; /* "PATH has build id X", the first that differed */
} Wanted;

FlamBinaries *
flam_binaries_new (const char *const *directories, const char *root)
{
  FlamBinaries *binaries = g_new0 (FlamBinaries, 1);

  binaries->directories = g_strdupv ((char **)directories);
  binaries->root = g_strdup (root);
  for (gsize i = 0; directories && directories[i]; i++)
    flam_path_access_grant (directories[i]);
  return binaries;
}

void
flam_binaries_free (FlamBinaries *binaries)
{
  if (!binaries)
    return;
  g_strfreev (binaries->directories);
  g_free (binaries->root);
  g_clear_pointer (&binaries->by_build_id, g_hash_table_destroy);
  g_clear_pointer (&binaries->debug_by_build_id, g_hash_table_destroy);
  g_free (binaries);
}

/* Takes ownership of `path`; returns it if the file is suitable. */
static char *
check_with (Wanted *wanted, char *path, FlamElf *opened)
{
  g_autoptr (FlamElf) elf = opened;

  if (elf && (!*wanted->build_id ||
              strcmp (wanted->build_id, flam_elf_get_build_id (elf)) == 0))
    return path;
  if (elf && !wanted->other)
    wanted->other = g_strdup_printf (
        "%s has %s",
        path,
        *flam_elf_get_build_id (elf) ? flam_elf_get_build_id (elf) : "none");
  g_free (path);
  return NULL;
}

static char *
check (Wanted *wanted, char *path)
{
  return check_with (
      wanted, path, path ? flam_elf_open_named (path, NULL) : NULL);
}

/* The root is trusted; only the name below it is checked. */
static char *
check_rooted (Wanted *wanted, const char *root, const char *name)
{
  char *path = g_strconcat (root, name, NULL);
  gboolean open = flam_path_access_check (name, NULL);

  return check_with (wanted, path, open ? flam_elf_open (path, NULL) : NULL);
}

typedef struct
{
  char *path;
  guint depth;
} Folder;

static void
keep_first (GHashTable *table, const FlamElf *elf, const char *path)
{
  const char *build_id = flam_elf_get_build_id (elf);

  if (!g_hash_table_contains (table, build_id))
    g_hash_table_insert (table, g_strdup (build_id), g_strdup (path));
}

static void
scan_entry (FlamBinaries *binaries, GQueue *folders, char *path, guint depth)
{
  g_autoptr (FlamElf) elf = NULL;

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      if (depth < SCAN_DEPTH_MAX && !g_file_test (path, G_FILE_TEST_IS_SYMLINK))
        {
          Folder *folder = g_new (Folder, 1);

          *folder = (Folder){ path, depth + 1 };
          g_queue_push_tail (folders, folder);
          return;
        }
    }
  else if ((elf = flam_elf_open (path, NULL)) && *flam_elf_get_build_id (elf))
    {
      keep_first (binaries->by_build_id, elf, path);
      if (flam_elf_has_section (elf, ".debug_info"))
        keep_first (binaries->debug_by_build_id, elf, path);
    }
  g_free (path);
}

static void
scan (FlamBinaries *binaries, const char *directory)
{
  GQueue folders = G_QUEUE_INIT;
  Folder *folder = g_new (Folder, 1);
  guint files = 0;

  *folder = (Folder){ g_strdup (directory), 0 };
  g_queue_push_tail (&folders, folder);
  while ((folder = g_queue_pop_head (&folders)))
    {
      g_autoptr (GDir) dir = g_dir_open (folder->path, 0, NULL);
      const char *name;

      while (dir && files < SCAN_FILES_MAX && (name = g_dir_read_name (dir)))
        {
          files++;
          scan_entry (binaries,
                      &folders,
                      g_build_filename (folder->path, name, NULL),
                      folder->depth);
        }
      g_free (folder->path);
      g_free (folder);
    }
}

static void
scan_all (FlamBinaries *binaries)
{
  if (binaries->by_build_id)
    return;
  binaries->by_build_id =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  binaries->debug_by_build_id =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (gsize i = 0; binaries->directories && binaries->directories[i]; i++)
    scan (binaries, binaries->directories[i]);
}

static char *
find_scanned (FlamBinaries *binaries, const char *build_id)
{
  if (!*build_id)
    return NULL;
  scan_all (binaries);
  return g_strdup (g_hash_table_lookup (binaries->by_build_id, build_id));
}

char *
flam_binaries_find_debug (FlamBinaries *binaries, const char *build_id)
{
  if (!*build_id)
    return NULL;
  scan_all (binaries);
  return g_strdup (g_hash_table_lookup (binaries->debug_by_build_id, build_id));
}

static char *
find_in_directories (FlamBinaries *binaries, const char *path, Wanted *wanted)
{
  g_autofree char *name = g_path_get_basename (path);
  char *found = NULL;

  for (gsize i = 0; !found && binaries->directories && binaries->directories[i];
       i++)
    {
      const char *directory = binaries->directories[i];

      found = check (wanted,
                     flam_debug_file_path (directory, wanted->build_id, ""));
      if (!found)
        found = check (wanted, g_build_filename (directory, path, NULL));
      if (!found)
        found = check (wanted, g_build_filename (directory, name, NULL));
    }
  return found;
}

static char *
find_in_caches (Wanted *wanted)
{
  g_autofree char *perf = g_build_filename (g_get_home_dir (), ".debug", NULL);
  char *found =
      check (wanted, flam_debug_file_path (perf, wanted->build_id, "/elf"));

  if (!found)
    found = check (
        wanted, flam_debug_file_path ("/usr/lib/debug", wanted->build_id, ""));
  if (!found)
    found = check (
        wanted,
        flam_debug_file_path ("/usr/lib/debug", wanted->build_id, ".debug"));
  return found;
}

char *
flam_binaries_find (FlamBinaries *binaries,
                    const char *path,
                    const char *build_id,
                    char **why)
{
  Wanted wanted = { .build_id = build_id };
  g_autofree char *here = g_strdup (path);
  char *found;

  if (g_str_has_suffix (here, " (deleted)"))
    here[strlen (here) - strlen (" (deleted)")] = '\0';
  found = find_in_directories (binaries, here, &wanted);
  /* The base of a relative path is unknown; only a build id can prove that the
   * file found here is the same. */
  if (!found && (*here == '/' || *build_id))
    found = binaries->root ? check_rooted (&wanted, binaries->root, here)
                           : check (&wanted, g_strdup (here));
  /* Last, since it may be a debug file, which contains less than the
   * program. */
  if (!found)
    found = find_scanned (binaries, build_id);
  if (!found && *build_id)
    found = find_in_caches (&wanted);
  if (!found && why)
    *why = wanted.other
               ? g_strdup_printf (N_ ("build ID differs: recorded %s, %s"),
                                  build_id,
                                  wanted.other)
               : g_strdup_printf (N_ ("file not found: %s"), path);
  g_free (wanted.other);
  return found;
}
