/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-ranks.h"

#include "flam-capture-reader.h"
#include "flam-core-query.h"
#include "flam-formats.h"
#include "flam-parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define RANK "%r"
/* A recorder writes the first facts before the first samples. */
#define FIRST_BYTES (1 << 20)

/* --- names ---------------------------------------------------------------- */

/* A name without its number: "run-12.flambeau" as "run-" and ".flambeau". */
typedef struct
{
  char *before;
  char *after;
  guint64 rank;
} Name;

static void
name_clear (Name *name)
{
  g_free (name->before);
  g_free (name->after);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Name, name_clear)

gboolean
flam_ranks_is_pattern (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);

  return strstr (name, RANK) != NULL && !g_file_test (path, G_FILE_TEST_EXISTS);
}

static void
split_pattern (const char *pattern, Name *name)
{
  g_autofree char *base = g_path_get_basename (pattern);
  const char *rank = strstr (base, RANK);

  *name =
      (Name){ g_strndup (base, rank - base), g_strdup (rank + strlen (RANK)) };
}

/* FALSE: the name is another one. */
static gboolean
rank_in (const char *entry, const Name *name, guint64 *rank)
{
  gsize before = strlen (name->before), after = strlen (name->after);
  gsize length = strlen (entry);
  g_autofree char *digits = NULL;

  if (length <= before + after || !g_str_has_prefix (entry, name->before) ||
      !g_str_has_suffix (entry, name->after))
    return FALSE;
  digits = g_strndup (entry + before, length - before - after);
  return g_ascii_string_to_unsigned (digits, 10, 0, FLAM_RANK_MAX, rank, NULL);
}

typedef struct
{
  guint64 rank;
  char *path;
} File;

static int
compare_ranks (gconstpointer a, gconstpointer b)
{
  const File *x = a, *y = b;

  if (x->rank != y->rank)
    return x->rank < y->rank ? -1 : 1;
  return strcmp (x->path, y->path);
}

char **
flam_ranks_find (const char *pattern, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (pattern);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GArray) files = g_array_new (FALSE, FALSE, sizeof (File));
  g_auto (Name) name = { NULL };
  GPtrArray *paths;
  const char *entry;

  split_pattern (pattern, &name);
  while (dir != NULL && files->len < FLAM_RANKS_MAX &&
         (entry = g_dir_read_name (dir)) != NULL)
    {
      File file;

      if (!rank_in (entry, &name, &file.rank))
        continue;
      file.path = strcmp (folder, ".") == 0 && *pattern != '.'
                      ? g_strdup (entry)
                      : g_build_filename (folder, entry, NULL);
      g_array_append_val (files, file);
    }
  if (files->len == 0)
    return flam_error_null (error,
                            FLAM_ERROR_SYSTEM,
                            N_ ("%s: no file has a number in place of %%r"),
                            pattern);
  g_array_sort (files, compare_ranks);
  paths = g_ptr_array_new ();
  for (guint i = 0; i < files->len; i++)
    g_ptr_array_add (paths, g_array_index (files, File, i).path);
  g_ptr_array_add (paths, NULL);
  return (char **)g_ptr_array_free (paths, FALSE);
}

guint
flam_ranks_number (const char *pattern, const char *path)
{
  g_autofree char *entry = g_path_get_basename (path);
  g_auto (Name) name = { NULL };
  guint64 rank = 0;

  split_pattern (pattern, &name);
  rank_in (entry, &name, &rank);
  return (guint)rank;
}

/* --- the pattern of files ------------------------------------------------- */

/* The number that differs between the two names, without leading zeros. */
static gboolean
split_names (const char *a, const char *b, Name *name)
{
  gsize n = 0, end = 0, length = strlen (a);

  while (a[n] != '\0' && a[n] == b[n])
    n++;
  while (n > 0 && g_ascii_isdigit (a[n - 1]))
    n--;
  while (g_ascii_isdigit (a[n + end]))
    end++;
  if (end == 0)
    return FALSE;
  *name = (Name){ g_strndup (a, n), g_strndup (a + n + end, length - n - end) };
  return TRUE;
}

/* Whether the beginning of a capture has its rank. */
static gboolean
is_of_rank (const char *path)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureReader) reader =
      flam_capture_reader_new (path, builder);
  g_autofree guint8 *bytes = g_malloc (FIRST_BYTES);
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t n = fd >= 0 ? read (fd, bytes, FIRST_BYTES) : -1;

  if (fd >= 0)
    close (fd);
  return n > 0 && flam_capture_probe (bytes, (gsize)n) &&
         flam_capture_reader_feed (reader, bytes, (gsize)n, NULL) &&
         flam_builder_noted (builder, FLAM_FACT_RANK) != NULL;
}

char *
flam_ranks_pattern_of (const char *const *paths, guint *n_all)
{
  g_autofree char *folder = NULL, *pattern = NULL;
  g_auto (GStrv) found = NULL;
  g_auto (Name) name = { NULL };
  guint n = paths[0] != NULL ? g_strv_length ((char **)paths) : 0;
  g_autoptr (GHashTable) there = g_hash_table_new (g_str_hash, g_str_equal);

  if (n < 2)
    return NULL;
  folder = g_path_get_dirname (paths[0]);
  {
    g_autofree char *a = g_path_get_basename (paths[0]);
    g_autofree char *b = g_path_get_basename (paths[1]);
    g_autofree char *base = NULL;

    if (!split_names (a, b, &name))
      return NULL;
    base = g_strconcat (name.before, RANK, name.after, NULL);
    pattern = g_build_filename (folder, base, NULL);
  }
  if (!flam_ranks_is_pattern (pattern) ||
      (found = flam_ranks_find (pattern, NULL)) == NULL)
    return NULL;
  for (guint i = 0; found[i] != NULL; i++)
    g_hash_table_add (there, found[i]);
  for (guint i = 0; i < n; i++)
    if (!g_hash_table_contains (there, paths[i]))
      return NULL;
  *n_all = g_hash_table_size (there);
  return is_of_rank (paths[0]) ? g_steal_pointer (&pattern) : NULL;
}

/* --- reading -------------------------------------------------------------- */

typedef struct
{
  const char *const *paths;
  guint n;
  guint n_cores;
  FlamLoadOptions options;
  FlamProfile **profiles; /* one per path */
} Reading;

/* Of the first process that has one, plus 1; 0: none has. */
static guint32
rank_of (const FlamProfile *profile)
{
  for (FlamId p = 0; p < profile->processes.n; p++)
    if (profile->processes.rank[p] != 0)
      return profile->processes.rank[p];
  return 0;
}

static gboolean
check_rank (const Reading *reading, guint i, GError **error)
{
  const FlamProfile *profile = reading->profiles[i];

  if (rank_of (profile) != 0)
    return TRUE;
  if (!profile->facts.complete)
    return flam_error_set (error,
                           FLAM_ERROR_INVALID,
                           N_ ("%s: is cut off before its rank; the other "
                               "ranks can be read without it"),
                           reading->paths[i]);
  return flam_error_set (error,
                         FLAM_ERROR_INVALID,
                         N_ ("%s: is not the capture of a rank of a job; merge "
                             "adds up other captures"),
                         reading->paths[i]);
}

/* Each core reads every n_cores-th file. */
static gboolean
read_some (gpointer data,
           guint core,
           const FlamProgress *progress,
           GError **error)
{
  Reading *reading = data;

  for (guint i = core; i < reading->n; i += reading->n_cores)
    {
      FlamLoadOptions options = reading->options;

      options.progress = NULL;
      options.take_begun = NULL;
      options.jobs = 1;
      if (!flam_progress_step (progress, (double)i / reading->n, error))
        return FALSE;
      reading->profiles[i] =
          flam_formats_load (reading->paths[i], &options, error);
      if (reading->profiles[i] == NULL || !check_rank (reading, i, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
check_job (const Reading *reading, GError **error)
{
  const char *job =
      flam_facts_other (&reading->profiles[0]->facts, FLAM_FACT_JOB);

  for (guint i = 1; i < reading->n; i++)
    {
      const char *other =
          flam_facts_other (&reading->profiles[i]->facts, FLAM_FACT_JOB);

      if (g_strcmp0 (job, other) != 0)
        return flam_error_set (error,
                               FLAM_ERROR_INVALID,
                               N_ ("%s: belongs to a different job than %s"),
                               reading->paths[i],
                               reading->paths[0]);
    }
  return TRUE;
}

static gint
compare_parts (gconstpointer a, gconstpointer b, gpointer data)
{
  const FlamMergePart *one = a, *other = b;
  guint32 rank = rank_of (one->profile), next = rank_of (other->profile);

  return (rank > next) - (rank < next);
}

/* By rank, in whichever order the files were given: a shell puts 10 before 2.
 */
static FlamProfile *
join (const Reading *reading, GError **error)
{
  g_autofree FlamMergePart *parts = g_new0 (FlamMergePart, reading->n);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  if (!check_job (reading, error))
    return NULL;
  for (guint i = 0; i < reading->n; i++)
    {
      g_ptr_array_add (names, g_path_get_basename (reading->paths[i]));
      parts[i] = (FlamMergePart){ names->pdata[i], reading->profiles[i] };
    }
  g_qsort_with_data (
      parts, (gint)reading->n, sizeof *parts, compare_parts, NULL);
  return flam_merge_new (parts, reading->n, FLAM_MERGE_ALIGNED, error);
}

FlamProfile *
flam_ranks_load (const char *const *paths,
                 const FlamLoadOptions *options,
                 GError **error)
{
  Reading reading = { .paths = paths, .n = g_strv_length ((char **)paths) };
  guint jobs;
  FlamProfile *profile = NULL;

  if (options != NULL)
    reading.options = *options;
  jobs =
      reading.options.jobs > 0 ? reading.options.jobs : g_get_num_processors ();
  reading.n_cores = CLAMP (jobs, 1, MIN (reading.n, FLAM_PARTS_MAX));
  reading.profiles = g_new0 (FlamProfile *, reading.n + 1);
  if (flam_parts_read (reading.n_cores,
                       read_some,
                       &reading,
                       reading.options.progress,
                       error))
    profile = join (&reading, error);
  for (guint i = 0; i < reading.n; i++)
    g_clear_pointer (&reading.profiles[i], flam_profile_unref);
  g_free (reading.profiles);
  return profile;
}

FlamProfile *
flam_ranks_open (const char *path,
                 const FlamLoadOptions *options,
                 GError **error)
{
  g_auto (GStrv) paths = NULL;

  if (!flam_ranks_is_pattern (path))
    return flam_formats_load (path, options, error);
  paths = flam_ranks_find (path, error);
  return paths != NULL
             ? flam_ranks_load ((const char *const *)paths, options, error)
             : NULL;
}
