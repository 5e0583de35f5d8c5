/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-thumbnail.h"

#include "flam-job.h"
#include "flam-picture.h"

#include <adwaita.h>

static char *
thumbnail_path (const char *path)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  g_autofree char *hash =
      g_compute_checksum_for_string (G_CHECKSUM_SHA256, absolute, -1);
  g_autofree char *name = g_strconcat (hash, ".png", NULL);

  return g_build_filename (
      g_get_user_cache_dir (), "flambeau", "thumbnails", name, NULL);
}

GdkPaintable *
flam_thumbnail_find (const char *path)
{
  g_autofree char *file = thumbnail_path (path);

  return GDK_PAINTABLE (gdk_texture_new_from_filename (file, NULL));
}

typedef struct
{
  char *file;
  FlamTree *tree;
  gboolean dark;
} SaveInput;

static void
save_input_free (gpointer data)
{
  SaveInput *input = data;

  g_free (input->file);
  flam_tree_unref (input->tree);
  g_free (input);
}

static gpointer
save_work (gpointer data, const FlamProgress *progress, GError **error)
{
  SaveInput *input = data;
  g_autoptr (GString) png = g_string_new (NULL);
  g_autofree char *folder = g_path_get_dirname (input->file);
  FlamPictureOptions options = {
    .look.width = 3 * FLAM_THUMBNAIL_WIDTH,
    .max_height = 3 * FLAM_THUMBNAIL_HEIGHT,
    .scale = 0.5,
    .font = "Sans 6",
    .bare = TRUE,
    .dark = input->dark,
  };

  if (!flam_picture_to_png (input->tree, &options, png, error))
    return NULL;
  g_mkdir_with_parents (folder, 0700);
  if (!g_file_set_contents (input->file, png->str, (gssize)png->len, error))
    return NULL;
  return g_strdup (input->file);
}

/* A missing picture on the start page is not reported as an error. */
static void
save_done (gpointer result, const GError *error, gpointer job)
{
  if (error != NULL)
    g_debug ("thumbnail: %s", error->message);
  g_free (result);
  g_object_unref (job);
}

void
flam_thumbnail_save_async (const char *path, FlamViewData *view_data)
{
  SaveInput *input = g_new0 (SaveInput, 1);
  FlamJob *job = flam_job_new ();

  input->file = thumbnail_path (path);
  input->tree = flam_tree_ref (view_data->tree);
  input->dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  flam_job_start (
      job, save_work, input, save_input_free, g_free, save_done, job);
}
