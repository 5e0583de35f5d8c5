/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-source-file.h"

#include "flam-fetched-source.h"
#include "flam-path-access.h"
#include "flam-settings.h"

#include <glib/gi18n.h>

#define FILE_MAX_BYTES (16 << 20)

gboolean
flam_source_can_be_alone (FlamSession *session)
{
  const FlamTree *tree = flam_session_get_tree (session);

  return tree == NULL || flam_by_is_code (tree->by) ||
         flam_by_has_tops (tree->by) ||
         !flam_session_is_current_whole (session);
}

FlamSourceRequest *
flam_source_request_new (FlamSession *session,
                         gboolean alone,
                         const char *known)
{
  FlamSourceRequest *request = g_new0 (FlamSourceRequest, 1);
  FlamViewData *view_data = flam_session_get_view_data (session);
  const char *capture = flam_session_get_path (session);
  FlamNodeId node = flam_session_get_current (session);
  FlamNodeId merged;
  FlamViewData *of;
  const char *recorded;

  request->line = flam_session_get_source_line (session, node, &recorded);
  request->view_data = flam_view_data_ref (view_data);
  request->recorded = g_strdup (recorded);
  request->function = flam_tree_function (view_data->tree, node);
  request->alone = alone && flam_source_can_be_alone (session);
  request->path = flam_session_is_current_whole (session) ? 0 : node;
  of = flam_session_get_current_of (session, &merged);
  if (of != NULL && node != 0 && of->tree->stack_node != NULL)
    {
      request->of = flam_view_data_ref (of);
      request->path = merged;
    }
  request->known = g_strdup (known);
  request->folder = capture != NULL ? g_path_get_dirname (capture) : NULL;
  request->names =
      flam_source_names_ref (flam_session_get_source_names (session));
  request->mappings =
      g_settings_get_value (flam_settings_get (), FLAM_KEY_PATH_MAPPINGS);
  return request;
}

void
flam_source_request_compare (FlamSourceRequest *request,
                             FlamBaselineCopy *base_copy,
                             FlamBaselineLines *base_lines)
{
  request->base_copy = base_copy;
  request->base_lines = base_lines;
}

void
flam_source_request_free (gpointer data)
{
  FlamSourceRequest *request = data;

  if (request == NULL)
    return;
  flam_view_data_unref (request->view_data);
  g_clear_pointer (&request->of, flam_view_data_unref);
  g_free (request->recorded);
  g_free (request->known);
  g_free (request->folder);
  flam_source_names_unref (request->names);
  g_variant_unref (request->mappings);
  flam_baseline_copy_free (request->base_copy);
  g_clear_pointer (&request->base_lines, flam_baseline_lines_unref);
  g_free (request);
}

void
flam_source_file_free (gpointer data)
{
  FlamSourceFile *file = data;

  flam_source_request_free (file->request);
  g_free (file->path);
  g_strfreev (file->tried);
  g_free (file->text);
  g_free (file->missing);
  g_clear_pointer (&file->costs, flam_source_costs_unref);
  g_free (file);
}

static char *
read_text (const char *path, GError **error)
{
  GError *wrong = NULL;
  gsize length;
  g_autofree char *bytes =
      flam_path_access_read (path, FILE_MAX_BYTES, &length, &wrong);

  if (g_error_matches (wrong, FLAM_ERROR, FLAM_ERROR_TOO_LARGE))
    {
      g_free (wrong->message);
      wrong->message = g_strdup_printf (_ ("%s: too large to show"), path);
    }
  if (wrong != NULL)
    g_propagate_error (error, wrong);
  return bytes != NULL ? g_utf8_make_valid (bytes, (gssize)length) : NULL;
}

/* A shared capture may contain its sources; NULL: not this one. g_free. */
static char *
text_inside (const FlamProfile *profile, const char *recorded)
{
  const FlamSources *rows = &profile->sources;

  for (guint32 i = 0; i < rows->n; i++)
    if (strcmp (flam_profile_string (profile, rows->path[i]), recorded) == 0)
      return g_strdup (flam_profile_string (profile, rows->text[i]));
  return NULL;
}

/* For each of the profile's strings, g_free both: which files have a source,
 * and which would have one if all of the user's own files were found. */
static guint8 *
find_sources (const FlamProfile *profile,
              FlamSourcePaths *paths,
              guint8 **wanted)
{
  const FlamFrames *frames = &profile->frames;
  guint n = flam_profile_n_strings (profile);
  guint8 *sources = g_new0 (guint8, n + 1);
  g_autofree guint8 *known = g_new0 (guint8, n + 1);
  g_autofree guint8 *own = flam_own_code_functions (profile);
  g_autoptr (FlamOwnCode) code = flam_own_code_new (profile);

  *wanted = g_new0 (guint8, n + 1);
  for (FlamId i = 0; i < profile->sources.n; i++)
    sources[profile->sources.path[i]] = FLAM_TEXT_HERE;
  for (FlamId i = 0; i < frames->n; i++)
    {
      FlamStringId file = frames->file[i];
      const char *recorded = flam_profile_string (profile, file);

      if (file != 0 && !known[file])
        {
          g_autofree char *path =
              flam_source_paths_find (paths, recorded, NULL);

          known[file] = TRUE;
          if (path != NULL)
            sources[file] = FLAM_TEXT_HERE;
          (*wanted)[file] = sources[file];
        }
      if (file == 0 || (*wanted)[file] == FLAM_TEXT_OWN ||
          !own[frames->function[i]] || !flam_own_code_has_path (code, recorded))
        continue;
      (*wanted)[file] = FLAM_TEXT_OWN;
      if (sources[file] != FLAM_TEXT_NONE)
        sources[file] = FLAM_TEXT_OWN;
    }
  return sources;
}

static gint64
total_of_file (const FlamViewData *view_data, FlamStringId file)
{
  guint n;
  g_autofree FlamFileRow *rows =
      flam_lines_files (view_data->weights, view_data->selection, &n);

  for (guint i = 0; i < n; i++)
    if (rows[i].file == file)
      return rows[i].total;
  return 0;
}

/* The same by its recorded path. */
static gint64
total_of_path (const FlamViewData *view_data, const char *recorded)
{
  const FlamFrames *frames = &view_data->profile->frames;

  for (FlamId i = 0; i < frames->n; i++)
    if (strcmp (flam_profile_string (view_data->profile, frames->file[i]),
                recorded) == 0)
      return total_of_file (view_data, frames->file[i]);
  return 0;
}

static void
take_recorded (FlamSourceRequest *request, const char *recorded)
{
  g_free (request->recorded);
  request->recorded = g_strdup (recorded);
}

static gboolean
is_one_percent (const FlamViewData *view_data, FlamStringId file)
{
  return (double)total_of_file (view_data, file) * 100 >=
         (double)flam_view_data_get_total ((FlamViewData *)view_data);
}

static gboolean
starts (const FlamProfile *profile, FlamFunctionId function)
{
  return flam_own_code_is_start (
      flam_profile_string (profile, profile->functions.name[function]));
}

/* The line that costs most, of the user's code if there is any, when no source
 * that is here has 1 % of the total. Files without a folder count, too, but not
 * the code that starts a program: of one without lines, the C library's often
 * has the only file, and nearly all of the total. */
static gboolean
find_missing (const FlamViewData *view_data,
              const guint8 *sources,
              FlamFileLineRow *first)
{
  const FlamProfile *profile = view_data->profile;
  const FlamFrames *frames = &profile->frames;
  g_autofree guint8 *own = flam_own_code_functions (profile);
  g_autofree guint8 *wanted =
      g_new0 (guint8, flam_profile_n_strings (profile) + 1);

  for (FlamId i = 0; i < frames->n; i++)
    if (frames->file[i] != 0 && wanted[frames->file[i]] != FLAM_TEXT_OWN &&
        !starts (profile, frames->function[i]))
      wanted[frames->file[i]] =
          own[frames->function[i]] ? FLAM_TEXT_OWN : FLAM_TEXT_HERE;
  return flam_lines_begin (
             view_data->weights, view_data->selection, wanted, first) &&
         sources[first->file] == FLAM_TEXT_NONE;
}

/* With no frame chosen: the costliest line that can be shown, and the file that
 * would be shown instead if it were found. */
static void
find_first (FlamSourceFile *file, FlamSourcePaths *paths)
{
  FlamSourceRequest *request = file->request;
  const FlamViewData *view_data = request->view_data;
  const FlamProfile *profile = view_data->profile;
  g_autofree guint8 *wanted = NULL;
  g_autofree guint8 *sources = find_sources (profile, paths, &wanted);
  FlamFileLineRow found, first;
  gboolean any = flam_lines_begin (
      view_data->weights, view_data->selection, sources, &found);
  gboolean enough = any && is_one_percent (view_data, found.file);
  gboolean missing =
      flam_lines_begin (
          view_data->weights, view_data->selection, wanted, &first) &&
      sources[first.file] == FLAM_TEXT_NONE;

  if (!enough && !missing)
    missing = find_missing (view_data, sources, &first);
  if (!enough && missing)
    {
      request->line = first.row.line;
      take_recorded (request, flam_profile_string (profile, first.file));
      g_free (flam_source_paths_find (paths, request->recorded, &file->tried));
      return;
    }
  if (!any)
    return;
  if (missing)
    {
      file->missing = g_strdup (flam_profile_string (profile, first.file));
      file->missing_total = total_of_file (view_data, first.file);
    }
  take_recorded (request, flam_profile_string (profile, found.file));
  file->path = flam_source_paths_find (paths, request->recorded, NULL);
  file->text = text_inside (profile, request->recorded);
  if (file->text != NULL && file->path == NULL)
    file->path = g_strdup (request->recorded);
  file->first = found.row.line;
}

gpointer
flam_source_file_work (gpointer data,
                       const FlamProgress *progress,
                       GError **error)
{
  const FlamSourceRequest *asked = data;
  FlamSourceRequest *request = g_memdup2 (asked, sizeof *asked);
  g_autoptr (FlamSourcePaths) paths = flam_settings_source_paths (
      asked->mappings, asked->view_data->profile, asked->folder, asked->names);
  FlamSourceFile *file = g_new0 (FlamSourceFile, 1);
  gboolean alone;

  flam_fetched_add_paths (paths, asked->view_data->profile, asked->function);
  request->view_data = flam_view_data_ref (asked->view_data);
  if (asked->of != NULL)
    request->of = flam_view_data_ref (asked->of);
  request->recorded = g_strdup (asked->recorded);
  request->known = g_strdup (asked->known);
  request->folder = g_strdup (asked->folder);
  request->names = flam_source_names_ref (asked->names);
  request->mappings = g_variant_ref (asked->mappings);
  request->base_copy = NULL;
  request->base_lines = asked->base_lines != NULL
                            ? flam_baseline_lines_ref (asked->base_lines)
                            : NULL;
  file->request = request;

  if (*request->recorded != '\0')
    {
      file->path =
          flam_source_paths_find (paths, request->recorded, &file->tried);
      file->text = text_inside (request->view_data->profile, request->recorded);
      if (file->text != NULL && file->path == NULL)
        {
          file->path = g_strdup (request->recorded);
          g_clear_pointer (&file->tried, g_strfreev);
        }
    }
  else
    find_first (file, paths);
  file->origin = flam_source_path_origin (
      file->missing != NULL ? file->missing : request->recorded);
  if (file->path == NULL && *request->recorded == '\0')
    return file;
  if (file->path == NULL)
    file->missing_total = total_of_path (request->view_data, request->recorded);
  /* If the units differ, the lines are shown without a comparison. */
  if (request->base_lines == NULL && asked->base_copy != NULL)
    request->base_lines = flam_baseline_lines_new (
        asked->base_copy, request->view_data, progress, NULL);
  alone = request->alone && (request->path == 0 || request->base_lines != NULL);
  file->costs =
      flam_source_costs_new (request->view_data,
                             request->recorded,
                             request->of != NULL ? request->of->tree : NULL,
                             request->alone ? request->path : 0,
                             alone ? request->function : FLAM_NONE,
                             request->base_lines);
  if (file->path == NULL || g_strcmp0 (file->path, request->known) == 0)
    {
      g_clear_pointer (&file->text, g_free);
      return file;
    }
  if (file->text == NULL)
    file->text = read_text (file->path, error);
  if (file->text == NULL)
    {
      flam_source_file_free (file);
      return NULL;
    }
  return file;
}

static void
add_mapping (const char *from, const char *to)
{
  g_autoptr (GVariant) old =
      g_settings_get_value (flam_settings_get (), FLAM_KEY_PATH_MAPPINGS);
  GVariantBuilder builder;
  GVariantIter iter;
  const char *old_from;
  const char *old_to;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(ss)"));
  g_variant_builder_add (&builder, "(ss)", from, to);
  g_variant_iter_init (&iter, old);
  while (g_variant_iter_next (&iter, "(&s&s)", &old_from, &old_to))
    if (strcmp (old_from, from) != 0 ||
        (strcmp (from, FLAM_SOURCE_RELATIVE) == 0 && strcmp (old_to, to) != 0))
      g_variant_builder_add (&builder, "(ss)", old_from, old_to);
  g_settings_set_value (flam_settings_get (),
                        FLAM_KEY_PATH_MAPPINGS,
                        g_variant_builder_end (&builder));
}

/*   recorded  /build/app/lib/sort.c
 *   found     /home/me/src/lib/sort.c    below the folder /home/me/src
 *   so that   /build/app  stands for  /home/me/src
 *
 * The folder of a relative path is where such paths are searched for. */
gboolean
flam_source_file_remember (const char *recorded, const char *folder)
{
  g_autoptr (FlamSourcePaths) paths = flam_source_paths_new ();
  g_autofree char *normal = flam_source_path_normalize (recorded);
  g_autofree char *found = NULL;
  g_autofree char *from = NULL;
  const char *tail;

  flam_source_paths_add_root (paths, folder);
  found = flam_source_paths_find (paths, recorded, NULL);
  if (found == NULL || !g_str_has_prefix (found, folder))
    return FALSE;
  if (*normal != '/')
    {
      add_mapping (FLAM_SOURCE_RELATIVE, folder);
      return TRUE;
    }
  tail = found + strlen (folder);
  if (!g_str_has_suffix (normal, tail))
    {
      tail += *tail == '/';
      if (!g_str_has_suffix (normal, tail))
        return FALSE;
    }
  from = g_strndup (normal, strlen (normal) - strlen (tail));
  add_mapping (*from != '\0' ? from : normal, *from != '\0' ? folder : found);
  return TRUE;
}
