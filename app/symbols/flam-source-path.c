/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-source-path.h"

#include "flam-path-access.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits the look-ups for a hostile path of a thousand parts. */
#define TAILS_MAX 32
/* Of the folders below a root: these many names, from the root on, and no
 * deeper. */
#define BELOW_MAX 20000
#define DEPTH_MAX 8
/* A build may have hundreds of working folders. */
#define FOLDERS_MAX 16

struct _FlamSourcePaths
{
  GPtrArray *mappings; /* FlamPathMapping, longest `from` first */
  GPtrArray *folders;  /* char: untrusted roots, in which to search first */
  GPtrArray *roots;    /* char */
  char *copies;        /* NULL: none */
  GHashTable *below;   /* name of a file or folder -> GPtrArray of the folders
                        * below the roots that have one; NULL: not read yet */
};

static void
free_mapping (gpointer data)
{
  FlamPathMapping *mapping = data;

  g_free (mapping->from);
  g_free (mapping->to);
  g_free (mapping);
}

static int
longest_first (gconstpointer a, gconstpointer b)
{
  const FlamPathMapping *x = *(FlamPathMapping *const *)a;
  const FlamPathMapping *y = *(FlamPathMapping *const *)b;
  gsize n = strlen (x->from);
  gsize m = strlen (y->from);

  return n > m ? -1 : n < m;
}

FlamSourcePaths *
flam_source_paths_new (void)
{
  FlamSourcePaths *paths = g_new0 (FlamSourcePaths, 1);

  paths->mappings = g_ptr_array_new_with_free_func (free_mapping);
  paths->folders = g_ptr_array_new_with_free_func (g_free);
  paths->roots = g_ptr_array_new_with_free_func (g_free);
  return paths;
}

void
flam_source_paths_free (FlamSourcePaths *paths)
{
  if (!paths)
    return;
  g_ptr_array_unref (paths->mappings);
  g_ptr_array_unref (paths->folders);
  g_ptr_array_unref (paths->roots);
  g_free (paths->copies);
  g_clear_pointer (&paths->below, g_hash_table_unref);
  g_free (paths);
}

char *
flam_source_path_normalize (const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, "/", -1);
  g_autoptr (GPtrArray) kept = g_ptr_array_new ();
  gboolean absolute = path[0] == '/';
  g_autofree char *joined = NULL;

  for (guint i = 0; parts[i]; i++)
    {
      const char *last =
          kept->len > 0 ? g_ptr_array_index (kept, kept->len - 1) : NULL;

      if (!*parts[i] || strcmp (parts[i], ".") == 0)
        continue;
      if (strcmp (parts[i], "..") == 0 &&
          (last ? strcmp (last, "..") != 0 : absolute))
        {
          if (last)
            g_ptr_array_set_size (kept, (gint)kept->len - 1);
          continue;
        }
      g_ptr_array_add (kept, parts[i]);
    }
  g_ptr_array_add (kept, NULL);
  joined = g_strjoinv ("/", (char **)kept->pdata);
  return absolute ? g_strconcat ("/", joined, NULL) : g_steal_pointer (&joined);
}

static char *
without_slash (const char *text)
{
  gsize n = strlen (text);

  while (n > 1 && text[n - 1] == '/')
    n--;
  return g_strndup (text, n);
}

void
flam_source_paths_add_root (FlamSourcePaths *paths, const char *root)
{
  flam_path_access_grant (root);
  g_ptr_array_add (paths->roots, without_slash (root));
  g_clear_pointer (&paths->below, g_hash_table_unref);
}

/* A daemon's working folder is "/", which holds everything. */
void
flam_source_paths_add_profile (FlamSourcePaths *paths,
                               const FlamProfile *profile)
{
  const FlamWorkingFolders *rows = &profile->working_folders;

  for (FlamId i = 0; i < rows->n && paths->folders->len < FOLDERS_MAX; i++)
    {
      const char *path = flam_profile_string (profile, rows->path[i]);
      g_autofree char *folder = without_slash (path);

      if (*folder == '/' && folder[1] != '\0' &&
          !g_ptr_array_find_with_equal_func (
              paths->folders, folder, g_str_equal, NULL))
        g_ptr_array_add (paths->folders, g_steal_pointer (&folder));
    }
  g_clear_pointer (&paths->below, g_hash_table_unref);
}

gboolean
flam_source_paths_add (FlamSourcePaths *paths, const char *text)
{
  const char *equals = strchr (text, '=');
  g_autofree char *from = NULL;
  FlamPathMapping *mapping;

  if (!equals || equals == text || !equals[1])
    return FALSE;
  if (g_str_has_prefix (text, FLAM_SOURCE_RELATIVE "="))
    {
      flam_source_paths_add_root (paths, equals + 1);
      return TRUE;
    }
  mapping = g_new0 (FlamPathMapping, 1);
  from = g_strndup (text, (gsize)(equals - text));
  mapping->from = without_slash (from);
  mapping->to = without_slash (equals + 1);
  for (guint i = 0; i < paths->mappings->len; i++)
    {
      const FlamPathMapping *old = g_ptr_array_index (paths->mappings, i);

      if (strcmp (old->from, mapping->from) == 0)
        {
          g_ptr_array_remove_index (paths->mappings, i);
          break;
        }
    }
  flam_path_access_grant (mapping->to);
  g_ptr_array_add (paths->mappings, mapping);
  g_ptr_array_sort (paths->mappings, longest_first);
  return TRUE;
}

void
flam_source_paths_set_copies (FlamSourcePaths *paths, const char *folder)
{
  flam_path_access_grant (folder);
  g_free (paths->copies);
  paths->copies = without_slash (folder);
}

static void
add_candidate (GPtrArray *candidates, char *path)
{
  for (guint i = 0; i < candidates->len; i++)
    if (strcmp (g_ptr_array_index (candidates, i), path) == 0)
      {
        g_free (path);
        return;
      }
  g_ptr_array_add (candidates, path);
}

/* The rest of `path` after `from`, if `from` ends at the end of a part. */
static const char *
rest_after (const char *path, const char *from)
{
  gsize n = strlen (from);

  if (strncmp (path, from, n) != 0)
    return NULL;
  return path[n] == '/' || path[n] == '\0' || from[n - 1] == '/' ? path + n
                                                                 : NULL;
}

static void
add_mapped (const FlamSourcePaths *paths,
            const char *path,
            GPtrArray *candidates)
{
  for (guint i = 0; i < paths->mappings->len; i++)
    {
      const FlamPathMapping *mapping = g_ptr_array_index (paths->mappings, i);
      const char *rest = rest_after (path, mapping->from);

      if (rest)
        add_candidate (candidates,
                       *rest ? g_build_filename (mapping->to, rest, NULL)
                             : g_strdup (mapping->to));
    }
}

static void
add_tails (const char *root, const char *path, GPtrArray *candidates)
{
  const char *tail = path;

  for (guint i = 0; tail && *tail && i < TAILS_MAX; i++)
    {
      add_candidate (candidates, g_build_filename (root, tail, NULL));
      tail = strchr (tail + (*tail == '/'), '/');
    }
}

static void
add_all_tails (const GPtrArray *roots, const char *path, GPtrArray *candidates)
{
  for (guint i = 0; i < roots->len; i++)
    add_tails (g_ptr_array_index (roots, i), path, candidates);
}

static gboolean
is_readable_file (const char *path)
{
  struct stat info;
  int fd = flam_path_access_open (path, &info, NULL);

  if (fd >= 0)
    close (fd);
  return fd >= 0;
}

static void
take_longer (const char **longest, const char *folder, const char *path)
{
  const char *rest = rest_after (path, folder);

  if (rest != NULL && *rest != '\0' &&
      (*longest == NULL || strlen (folder) > strlen (*longest)))
    *longest = folder;
}

char *
flam_source_paths_folder (const FlamSourcePaths *paths, const char *found)
{
  const char *longest = NULL;

  for (guint i = 0; i < paths->mappings->len; i++)
    {
      const FlamPathMapping *mapping = g_ptr_array_index (paths->mappings, i);

      take_longer (&longest, mapping->to, found);
    }
  for (guint i = 0; i < paths->folders->len; i++)
    take_longer (&longest, g_ptr_array_index (paths->folders, i), found);
  for (guint i = 0; i < paths->roots->len; i++)
    take_longer (&longest, g_ptr_array_index (paths->roots, i), found);
  if (paths->copies != NULL)
    take_longer (&longest, paths->copies, found);
  return longest != NULL ? g_strdup (longest) : g_path_get_dirname (found);
}

static const char *
first_readable (const GPtrArray *candidates)
{
  for (guint i = 0; i < candidates->len; i++)
    if (is_readable_file (g_ptr_array_index (candidates, i)))
      return g_ptr_array_index (candidates, i);
  return NULL;
}

/* The copy of a file whose path is absolute, or NULL. */
static char *
find_copy (const FlamSourcePaths *paths, const char *path)
{
  g_autofree char *copy = paths->copies != NULL && *path == '/'
                              ? g_build_filename (paths->copies, path, NULL)
                              : NULL;

  return copy != NULL && is_readable_file (copy) ? g_steal_pointer (&copy)
                                                 : NULL;
}

/* --- below the roots ------------------------------------------------------ */

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

/* A relative path may begin in any folder of a project, as those of packages
 * do: shop/Order.java in src/main/java. A name alone has to be the only one. */
static char *
find_below (FlamSourcePaths *paths, const char *path)
{
  g_autofree char *first = g_strndup (path, strcspn (path, "/"));
  const GPtrArray *folders;

  if (paths->below == NULL)
    {
      paths->below = g_hash_table_new_full (
          g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
      for (guint i = 0; i < paths->folders->len; i++)
        read_below (paths->below, g_ptr_array_index (paths->folders, i), FALSE);
      for (guint i = 0; i < paths->roots->len; i++)
        read_below (paths->below, g_ptr_array_index (paths->roots, i), TRUE);
    }
  folders = g_hash_table_lookup (paths->below, first);
  if (folders == NULL || (strchr (path, '/') == NULL && folders->len > 1))
    return NULL;
  for (guint i = 0; i < folders->len; i++)
    {
      g_autofree char *found =
          g_build_filename (g_ptr_array_index (folders, i), path, NULL);

      if (is_readable_file (found))
        return g_steal_pointer (&found);
    }
  return NULL;
}

char *
flam_source_paths_find (FlamSourcePaths *paths,
                        const char *recorded,
                        char ***tried)
{
  g_autoptr (GPtrArray) candidates = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *path = flam_source_path_normalize (recorded);
  char *found = NULL;

  if (*path)
    {
      add_mapped (paths, recorded, candidates);
      add_mapped (paths, path, candidates);
      found = g_strdup (first_readable (candidates));
      if (found == NULL)
        found = find_copy (paths, path);
      if (*path != '/')
        add_all_tails (paths->folders, path, candidates);
      add_candidate (candidates, g_strdup (path));
      add_all_tails (paths->folders, path, candidates);
      add_all_tails (paths->roots, path, candidates);
    }
  if (found == NULL)
    found = g_strdup (first_readable (candidates));
  if (found == NULL && *path != '/' && *path != '\0')
    found = find_below (paths, path);
  g_ptr_array_add (candidates, NULL);
  if (tried)
    *tried = (char **)g_ptr_array_free (g_steal_pointer (&candidates), FALSE);
  return found;
}
