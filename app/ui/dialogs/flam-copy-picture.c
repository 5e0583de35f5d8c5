/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-copy-picture.h"

#include "flam-picture.h"
#include "flam-settings.h"
#include "flam-user-colors.h"

#include <glib/gi18n.h>

#define SCALE 2

typedef struct
{
  FlamViewData *view_data;
  FlamPictureOptions picture;
  char *title;
  FlamColorRules *rules; /* NULL: none */
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  flam_view_data_unref (input->view_data);
  g_free (input->title);
  g_clear_pointer (&input->rules, flam_color_rules_unref);
  g_free (input);
}

static gpointer
make_picture (gpointer data, const FlamProgress *progress, GError **error)
{
  Input *input = data;
  GString *text = g_string_new (NULL);

  input->picture.look.title = input->title;
  input->picture.look.colors.rules = input->rules;
  if (flam_picture_to_png (
          input->view_data->tree, &input->picture, text, error))
    return g_string_free_to_bytes (text);
  g_string_free (text, TRUE);
  return NULL;
}

static void
on_picture (gpointer result, const GError *error, gpointer data)
{
  g_autoptr (GBytes) png = result;
  g_autoptr (GdkTexture) texture = NULL;

  if (png != NULL)
    texture = gdk_texture_new_from_bytes (png, NULL);
  if (texture == NULL)
    {
      flam_window_toast (data,
                         error != NULL ? error->message
                                       : _ ("The picture could not be drawn"));
      return;
    }
  gdk_clipboard_set_texture (gtk_widget_get_clipboard (GTK_WIDGET (data)),
                             texture);
  flam_window_toast (data, _ ("Picture copied"));
}

static void
end_job (gpointer job)
{
  flam_job_cancel (job);
  g_object_unref (job);
}

/* The window owns the job, and cancels it. */
static FlamJob *
picture_job (FlamWindow *window)
{
  FlamJob *job = g_object_get_data (G_OBJECT (window), "flam-picture-job");

  if (job == NULL)
    {
      job = flam_job_new ();
      g_object_set_data_full (
          G_OBJECT (window), "flam-picture-job", job, end_job);
    }
  return job;
}

void
flam_copy_picture (FlamWindow *window, FlamSession *session)
{
  Input *input;
  g_autofree char *direction =
      g_settings_get_string (flam_settings_get (), FLAM_KEY_DIRECTION);

  if (flam_session_get_view_data (session) == NULL)
    return;
  input = g_new0 (Input, 1);
  input->view_data = flam_view_data_ref (flam_session_get_view_data (session));
  input->title = g_strdup (flam_session_get_title (session));
  input->rules = flam_user_colors_get_rules (flam_user_colors_get ());
  if (input->rules != NULL)
    flam_color_rules_ref (input->rules);
  input->picture.look.colors.mode =
      flam_settings_get_palette (input->view_data->tree);
  input->picture.scale = SCALE;
  input->picture.zoom = flam_session_get_zoom (session);
  input->picture.look.shape = flam_settings_get_shape ();
  input->picture.look.direction = g_str_equal (direction, "icicle")
                                      ? FLAM_DIRECTION_ICICLE
                                      : FLAM_DIRECTION_FLAME;
  input->picture.dark =
      adw_style_manager_get_dark (adw_style_manager_get_default ());
  flam_job_start (picture_job (window),
                  make_picture,
                  input,
                  input_free,
                  (GDestroyNotify)g_bytes_unref,
                  on_picture,
                  window);
}
