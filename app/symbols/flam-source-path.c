/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-source-path.h"

#include "flam-path-access.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits the look-ups for a hostile path of a thousand parts. */
#define TAILS_MAX 32
/* A build may have hundreds of working folders. */
#define FOLDERS_MAX 16

struct _FlamSourcePaths
{
  GPtrArray *mappings;    /* FlamPathMapping, longest `from` first */
  GPtrArray *folders;     /* char: untrusted roots, in which to search first */
  GPtrArray *roots;       /* char */
  char *copies;           /* NULL: none */
  FlamSourceNames *names; /* below the folders and the roots */
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
  paths->names = flam_source_names_new ();
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
  flam_source_names_unref (paths->names);
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

typedef struct
{
  const char *text;
  FlamSourceOrigin origin;
} Known;

/* Python, Ruby, Perl, Node.js, PHP, Lua, Julia; C compilers have a few names of
 * this kind, too. */
static const Known whole_names[] = {
  { "<string>", FLAM_SOURCE_COMMAND_LINE },
  { "-e", FLAM_SOURCE_COMMAND_LINE },
  { "-E", FLAM_SOURCE_COMMAND_LINE },
  { "[eval]", FLAM_SOURCE_COMMAND_LINE },
  { "[eval]-wrapper", FLAM_SOURCE_COMMAND_LINE },
  { "Command line code", FLAM_SOURCE_COMMAND_LINE },
  { "(command line)", FLAM_SOURCE_COMMAND_LINE },
  { "<command-line>", FLAM_SOURCE_COMMAND_LINE },
  { "none", FLAM_SOURCE_COMMAND_LINE }, /* Julia's -e */
  { "<stdin>", FLAM_SOURCE_INPUT },
  { "[stdin]", FLAM_SOURCE_INPUT },
  { "stdin", FLAM_SOURCE_INPUT },
  { "-", FLAM_SOURCE_INPUT },
  { "Standard input code", FLAM_SOURCE_INPUT },
  { "[C]", FLAM_SOURCE_BUILT_IN },
  { "<built-in>", FLAM_SOURCE_BUILT_IN },
  { "(string)", FLAM_SOURCE_CREATED },
  { "string", FLAM_SOURCE_CREATED },
  { "nofile", FLAM_SOURCE_CREATED },
};
static const Known beginnings[] = {
  { "<frozen ", FLAM_SOURCE_BUILT_IN },
  { "<internal:", FLAM_SOURCE_BUILT_IN },
  { "node:", FLAM_SOURCE_BUILT_IN },
  { "(eval", FLAM_SOURCE_CREATED },
  { "evalmachine.", FLAM_SOURCE_CREATED },
  { "[string \"", FLAM_SOURCE_CREATED },
  { "REPL[", FLAM_SOURCE_CREATED },
  { "In[", FLAM_SOURCE_CREATED },
};
static const Known ends[] = {
  { " : eval()'d code", FLAM_SOURCE_CREATED },
  { " : runtime-created function", FLAM_SOURCE_CREATED },
};

FlamSourceOrigin
flam_source_path_origin (const char *recorded)
{
  for (guint i = 0; i < G_N_ELEMENTS (whole_names); i++)
    if (strcmp (recorded, whole_names[i].text) == 0)
      return whole_names[i].origin;
  for (guint i = 0; i < G_N_ELEMENTS (beginnings); i++)
    if (g_str_has_prefix (recorded, beginnings[i].text))
      return beginnings[i].origin;
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    if (g_str_has_suffix (recorded, ends[i].text))
      return ends[i].origin;
  return *recorded == '<' && g_str_has_suffix (recorded, ">")
             ? FLAM_SOURCE_CREATED
             : FLAM_SOURCE_FILE;
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
}

void
flam_source_paths_set_names (FlamSourcePaths *paths, FlamSourceNames *names)
{
  FlamSourceNames *before = paths->names;

  paths->names = flam_source_names_ref (names);
  flam_source_names_unref (before);
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

/* A relative path may begin in any folder of a project, as those of packages
 * do: shop/Order.java in src/main/java. A name alone has to be the only one. */
static char *
find_below (const FlamSourcePaths *paths, const char *path)
{
  g_autofree char *first = g_strndup (path, strcspn (path, "/"));
  g_auto (GStrv) folders = flam_source_names_find (
      paths->names, paths->folders, paths->roots, first);

  if (strchr (path, '/') == NULL && g_strv_length (folders) > 1)
    return NULL;
  for (guint i = 0; folders[i] != NULL; i++)
    {
      g_autofree char *found = g_build_filename (folders[i], path, NULL);

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
  gboolean file = flam_source_path_origin (recorded) == FLAM_SOURCE_FILE;
  char *found = NULL;

  if (file && *path)
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
  if (file && found == NULL && *path != '/' && *path != '\0')
    found = find_below (paths, path);
  g_ptr_array_add (candidates, NULL);
  if (tried)
    *tried = (char **)g_ptr_array_free (g_steal_pointer (&candidates), FALSE);
  return found;
}
