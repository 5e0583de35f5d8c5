/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-source-names.h"

#include "flam-path-access.h"

#include <string.h>
#include <sys/stat.h>

/* Of the folders below a root: these many names, from the root on, and no
 * deeper. */
#define BELOW_MAX 20000
#define DEPTH_MAX 8

struct _FlamSourceNames
{
  gatomicrefcount references;
  GMutex lock;
  char **roots;      /* of `below`; NULL: not read yet */
  GHashTable *below; /* name of a file or folder -> GPtrArray of the folders
                      * that have one */
};

typedef struct
{
  char *path;
  guint depth;
} Folder;

static void
free_folder (gpointer data)
{
  Folder *folder = data;

  g_free (folder->path);
  g_free (folder);
}

static void
queue_folder (GQueue *queue, char *path, guint depth)
{
  Folder *folder = g_new (Folder, 1);

  *folder = (Folder){ path, depth };
  g_queue_push_tail (queue, folder);
}

static void
note_below (GHashTable *below, const char *name, const char *folder)
{
  GPtrArray *folders = g_hash_table_lookup (below, name);

  if (folders == NULL)
    {
      folders = g_ptr_array_new_with_free_func (g_free);
      g_hash_table_insert (below, g_strdup (name), folders);
    }
  g_ptr_array_add (folders, g_strdup (folder));
}

/* Whether it is a folder, and not a link to one, which may lead back. */
static gboolean
is_folder (const char *path)
{
  struct stat info;

  return lstat (path, &info) == 0 && S_ISDIR (info.st_mode);
}

/* Nearest to the root first; hidden folders are left out, and so are those of
 * an untrusted root that may not be accessed. */
static void
read_below (GHashTable *below, const char *root, gboolean trusted)
{
  g_autoptr (GQueue) queue = g_queue_new ();
  Folder *folder;
  guint n = 0;

  queue_folder (queue, g_strdup (root), 0);
  while ((folder = g_queue_pop_head (queue)) != NULL)
    {
      g_autoptr (GDir) dir =
          trusted || flam_path_access_check (folder->path, NULL)
              ? g_dir_open (folder->path, 0, NULL)
              : NULL;
      const char *name;

      while (dir != NULL && n < BELOW_MAX &&
             (name = g_dir_read_name (dir)) != NULL)
        {
          g_autofree char *path = NULL;

          if (*name == '.')
            continue;
          n++;
          note_below (below, name, folder->path);
          path = g_build_filename (folder->path, name, NULL);
          if (folder->depth < DEPTH_MAX && is_folder (path))
            queue_folder (queue, g_steal_pointer (&path), folder->depth + 1);
        }
      free_folder (folder);
    }
}

/* --- the names -------------------------------------------------------------
 */

FlamSourceNames *
flam_source_names_new (void)
{
  FlamSourceNames *names = g_new0 (FlamSourceNames, 1);

  g_atomic_ref_count_init (&names->references);
  g_mutex_init (&names->lock);
  return names;
}

FlamSourceNames *
flam_source_names_ref (FlamSourceNames *names)
{
  g_atomic_ref_count_inc (&names->references);
  return names;
}

void
flam_source_names_unref (FlamSourceNames *names)
{
  if (!g_atomic_ref_count_dec (&names->references))
    return;
  g_strfreev (names->roots);
  g_clear_pointer (&names->below, g_hash_table_unref);
  g_mutex_clear (&names->lock);
  g_free (names);
}

/* `folders` come before `roots`. */
static const char *
root_at (const GPtrArray *folders, const GPtrArray *roots, guint i)
{
  return i < folders->len ? folders->pdata[i] : roots->pdata[i - folders->len];
}

static gboolean
is_of_roots (const FlamSourceNames *names,
             const GPtrArray *folders,
             const GPtrArray *roots)
{
  guint n = folders->len + roots->len;

  if (names->roots == NULL || g_strv_length (names->roots) != n)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (strcmp (names->roots[i], root_at (folders, roots, i)) != 0)
      return FALSE;
  return TRUE;
}

static void
read_names (FlamSourceNames *names,
            const GPtrArray *folders,
            const GPtrArray *roots)
{
  guint n = folders->len + roots->len;

  g_strfreev (names->roots);
  g_clear_pointer (&names->below, g_hash_table_unref);
  names->roots = g_new0 (char *, n + 1);
  names->below = g_hash_table_new_full (
      g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
  for (guint i = 0; i < n; i++)
    {
      names->roots[i] = g_strdup (root_at (folders, roots, i));
      read_below (names->below, names->roots[i], i >= folders->len);
    }
}

char **
flam_source_names_find (FlamSourceNames *names,
                        const GPtrArray *folders,
                        const GPtrArray *roots,
                        const char *name)
{
  const GPtrArray *with;
  char **found;

  g_mutex_lock (&names->lock);
  if (!is_of_roots (names, folders, roots))
    read_names (names, folders, roots);
  with = g_hash_table_lookup (names->below, name);
  found = g_new0 (char *, with != NULL ? with->len + 1 : 1);
  for (guint i = 0; with != NULL && i < with->len; i++)
    found[i] = g_strdup (with->pdata[i]);
  g_mutex_unlock (&names->lock);
  return found;
}
