/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-history-load.h"

#include "flam-core-picture.h"
#include "flam-formats.h"

#include <string.h>
#include <sys/stat.h>

/* The share of finding the files in the progress. */
#define FINDING 0.02

/* --- finding -------------------------------------------------------------- */

typedef struct
{
  char *path;
  char *name;
  guint depth;
} Folder;

static void
folder_clear (gpointer data)
{
  Folder *folder = data;

  g_free (folder->path);
  g_free (folder->name);
}

static void
file_clear (gpointer data)
{
  FlamHistoryFile *file = data;

  g_free (file->path);
  g_free (file->name);
}

static int
compare_files (gconstpointer a, gconstpointer b)
{
  return strcmp (((const FlamHistoryFile *)a)->name,
                 ((const FlamHistoryFile *)b)->name);
}

/* The head of the data suffices; the rest is not unpacked. */
static gboolean
is_capture (const char *path)
{
  g_autoptr (FlamSource) source = flam_source_begin (path, NULL, NULL);

  return source != NULL && flam_formats_probe (source) != NULL;
}

static char *
joined (const char *folder, const char *name)
{
  return *folder != '\0' ? g_build_filename (folder, name, NULL)
                         : g_strdup (name);
}

/* Handles one entry of a folder: folders are queued, captures are listed. */
static void
add_entry (const Folder *folder,
           const char *entry,
           GArray *later,
           GArray *files)
{
  g_autofree char *path = g_build_filename (folder->path, entry, NULL);
  g_autofree char *name = joined (folder->name, entry);
  struct stat at;

  if (*entry == '.' || lstat (path, &at) != 0)
    return;
  if (S_ISDIR (at.st_mode))
    {
      Folder inner = { g_steal_pointer (&path),
                       g_steal_pointer (&name),
                       folder->depth + 1 };

      g_array_append_val (later, inner);
    }
  else if (stat (path, &at) == 0 && S_ISREG (at.st_mode) && is_capture (path))
    {
      FlamHistoryFile file = { g_steal_pointer (&path),
                               g_steal_pointer (&name),
                               TRUE };

      g_array_append_val (files, file);
    }
}

static gboolean
list_folder (const Folder *folder,
             GArray *later,
             GArray *files,
             GPtrArray *refused,
             const FlamProgress *progress,
             GError **error)
{
  g_autoptr (GError) why = NULL;
  g_autoptr (GDir) dir = g_dir_open (folder->path, 0, &why);
  const char *shown = *folder->name != '\0' ? folder->name : folder->path;
  const char *entry;

  if (dir == NULL)
    {
      flam_history_add_refusal (refused, shown, why->message);
      return TRUE;
    }
  if (folder->depth > FLAM_HISTORY_DEPTH)
    {
      flam_history_add_refusal (
          refused, shown, N_ ("nested too deeply in other folders"));
      return TRUE;
    }
  while (files->len < FLAM_HISTORY_CAPTURES &&
         (entry = g_dir_read_name (dir)) != NULL)
    {
      if (!flam_progress_step (progress, 0, error))
        return FALSE;
      add_entry (folder, entry, later, files);
    }
  return TRUE;
}

/* The captures of one folder are sorted among themselves: the order of the
 * arguments is kept. */
static gboolean
add_folder (const char *path,
            gboolean inside,
            GArray *files,
            GPtrArray *refused,
            const FlamProgress *progress,
            GError **error)
{
  g_autoptr (GArray) later = g_array_new (FALSE, FALSE, sizeof (Folder));
  Folder first = { g_strdup (path), g_strdup (inside ? "" : path), 0 };
  guint before = files->len;
  gboolean good = TRUE;

  g_array_set_clear_func (later, folder_clear);
  g_array_append_val (later, first);
  while (good && later->len > 0)
    {
      Folder folder = g_array_index (later, Folder, later->len - 1);

      /* The caller's loop frees it. */
      memset (&g_array_index (later, Folder, later->len - 1), 0, sizeof folder);
      g_array_set_size (later, later->len - 1);
      good = list_folder (&folder, later, files, refused, progress, error);
      folder_clear (&folder);
    }
  if (files->len > before)
    qsort (&g_array_index (files, FlamHistoryFile, before),
           files->len - before,
           sizeof (FlamHistoryFile),
           compare_files);
  return good;
}

GArray *
flam_history_find_files (const char *const *paths,
                         gboolean inside,
                         GPtrArray *refused,
                         const FlamProgress *progress,
                         GError **error)
{
  g_autoptr (GArray) files =
      g_array_new (FALSE, FALSE, sizeof (FlamHistoryFile));

  g_array_set_clear_func (files, file_clear);
  for (guint i = 0; paths[i] != NULL; i++)
    if (!g_file_test (paths[i], G_FILE_TEST_IS_DIR))
      {
        FlamHistoryFile file = { g_strdup (paths[i]),
                                 g_strdup (paths[i]),
                                 FALSE };

        g_array_append_val (files, file);
      }
    else if (!add_folder (paths[i], inside, files, refused, progress, error))
      return NULL;
  if (files->len >= FLAM_HISTORY_CAPTURES)
    {
      g_autofree char *why =
          g_strdup_printf (N_ ("more than %d captures; the rest were left out"),
                           FLAM_HISTORY_CAPTURES);

      flam_history_add_refusal (refused, paths[0], why);
      g_array_set_size (files, FLAM_HISTORY_CAPTURES);
    }
  return g_steal_pointer (&files);
}

void
flam_history_stamp (const char *path, gint64 *modified, gint64 *size)
{
  struct stat at;

  *modified = *size = 0;
  if (strcmp (path, "-") == 0 || stat (path, &at) != 0)
    return;
  *modified =
      at.st_mtim.tv_sec * G_GINT64_CONSTANT (1000000000) + at.st_mtim.tv_nsec;
  *size = at.st_size;
}

/* --- reading -------------------------------------------------------------- */

/* Maps the progress of one capture to that of all. */
typedef struct
{
  const FlamProgress *all;
  guint i, n;
} Part;

static gboolean
report_part (gpointer data, double fraction)
{
  const Part *part = data;

  if (part->all == NULL || part->all->report == NULL)
    return TRUE;
  return part->all->report (
      part->all->data,
      FINDING + (1 - FINDING) * (part->i + CLAMP (fraction, 0, 1)) / part->n);
}

static FlamFigures *
read_figures (const char *path,
              const FlamHistoryOptions *options,
              const FlamProgress *progress,
              GError **error)
{
  g_autoptr (FlamProfile) profile =
      options->open (path, progress, options->data, error);
  g_autoptr (FlamSelection) selection = NULL;

  if (profile == NULL)
    return NULL;
  selection = flam_selection_new ();
  selection->measure = flam_weights_default_measure (profile);
  return flam_figures_new (
      path, profile, selection, &options->keep, progress, error);
}

/* FALSE: it was cancelled. */
static gboolean
add_file (const FlamHistoryFile *file,
          const FlamHistoryOptions *options,
          const FlamProgress *progress,
          GPtrArray *captures,
          GPtrArray *refused,
          GError **error)
{
  g_autoptr (GError) why = NULL;
  gint64 modified, size;
  FlamFigures *figures = NULL;

  flam_history_stamp (file->path, &modified, &size);
  if (options->before != NULL)
    figures = (FlamFigures *)flam_history_find (
        options->before, file->path, modified, size);
  if (figures != NULL && strcmp (figures->name, file->name) == 0)
    {
      g_ptr_array_add (captures, flam_figures_ref (figures));
      return TRUE;
    }
  figures = read_figures (file->path, options, progress, &why);
  if (figures != NULL)
    {
      flam_figures_set_file (figures, file->name, modified, size);
      g_ptr_array_add (captures, figures);
      return TRUE;
    }
  if (g_error_matches (why, FLAM_ERROR, FLAM_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&why));
      return FALSE;
    }
  flam_history_add_refusal (refused, file->name, why->message);
  return TRUE;
}

FlamHistory *
flam_history_load (const char *const *paths,
                   const FlamHistoryOptions *options,
                   const FlamProgress *progress,
                   GError **error)
{
  g_autoptr (GPtrArray) captures = flam_history_new_captures ();
  g_autoptr (GPtrArray) refused = flam_history_new_refused ();
  g_autoptr (GArray) files =
      flam_history_find_files (paths, TRUE, refused, progress, error);

  for (guint i = 0; files != NULL && i < files->len; i++)
    {
      Part part = { progress, i, files->len };
      FlamProgress own = { report_part, &part };

      if (!flam_progress_step (&own, 0, error) ||
          !add_file (&g_array_index (files, FlamHistoryFile, i),
                     options,
                     &own,
                     captures,
                     refused,
                     error))
        return NULL;
    }
  if (files == NULL)
    return NULL;
  return flam_history_new (g_steal_pointer (&captures),
                           g_steal_pointer (&refused));
}
