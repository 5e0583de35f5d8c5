/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-export-document.h"

#include "flam-core-picture.h"
#include "flam-export-options.h"
#include "flam-note.h"
#include "flam-settings.h"
#include "flam-user-colors.h"

#include <glib/gi18n.h>

#define PREVIEW_MAX_WIDTH 4000

static void
note_free (gpointer data)
{
  FlamShareNote *note = data;

  g_free (note->text);
  g_free (note->function);
  g_free (note);
}

static GPtrArray *
list_notes (FlamSession *session)
{
  GListModel *model = G_LIST_MODEL (flam_session_get_notes (session));
  GPtrArray *list = g_ptr_array_new_with_free_func (note_free);

  for (guint i = 0; i < g_list_model_get_n_items (model); i++)
    {
      g_autoptr (FlamNote) from = g_list_model_get_item (model, i);
      FlamShareNote *note = g_new0 (FlamShareNote, 1);

      note->text = g_strdup (flam_note_get_text (from));
      note->function = g_strdup (flam_note_get_function (from));
      flam_note_get_range (from, &note->from, &note->to);
      g_ptr_array_add (list, note);
    }
  return list;
}

void
flam_export_made_free (gpointer data)
{
  FlamExportMade *made = data;

  g_clear_pointer (&made->document, g_bytes_unref);
  g_free (made->losses);
  g_free (made->remains);
  g_clear_object (&made->picture);
  g_free (made);
}

FlamExportAsked *
flam_export_asked_new (FlamSession *session, const FlamExporter *exporter)
{
  FlamExportAsked *asked = g_new0 (FlamExportAsked, 1);

  asked->view_data = flam_view_data_ref (flam_session_get_view_data (session));
  asked->exporter = exporter;
  asked->title = g_strdup (flam_session_get_title (session));
  asked->notes = list_notes (session);
  asked->rules = flam_user_colors_get_rules (flam_user_colors_get ());
  if (asked->rules != NULL)
    flam_color_rules_ref (asked->rules);
  return asked;
}

void
flam_export_asked_free (gpointer data)
{
  FlamExportAsked *asked = data;

  flam_view_data_unref (asked->view_data);
  g_ptr_array_unref (asked->notes);
  g_clear_pointer (&asked->rules, flam_color_rules_unref);
  g_clear_pointer (&asked->mappings, g_variant_unref);
  g_clear_pointer (&asked->words, g_ptr_array_unref);
  g_free (asked->title);
  g_free (asked);
}

/* "Functions: 5, and 12 hashed", one line per kind. */
static char *
describe_remains (const FlamRemains *remains)
{
  GString *text = g_string_new (NULL);
  const char *label;

  for (guint row = 0;; row++)
    {
      g_autofree char *value = flam_share_describe (remains, row, &label);
      g_autofree char *shown =
          value != NULL ? flam_message_shown (value) : NULL;

      if (value == NULL)
        return g_string_free (text, FALSE);
      g_string_append_printf (
          text, "%s%s: %s", row > 0 ? "\n" : "", _ (label), shown);
    }
}

static char *
describe_losses (const FlamExportAsked *asked, const FlamExportOptions *options)
{
  const FlamViewData *view_data = asked->view_data;
  g_autofree char *losses = flam_exporter_losses (
      asked->exporter, view_data->tree->profile, view_data->selection, options);
  g_auto (GStrv) names = NULL;

  if (losses == NULL)
    return NULL;
  names = g_strsplit (losses, ", ", -1);
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *name = names[i];

      names[i] = g_strdup (_ (name));
    }
  return g_strjoinv (", ", names);
}

/* An in-memory FlamExportMade, so that its size is known before it is saved. */
static GBytes *
save_as (const FlamExporter *exporter,
         const FlamViewData *view_data,
         const FlamExportOptions *options,
         GError **error)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (FlamSink) sink = flam_sink_new (stream);

  if (!flam_exporter_save (exporter,
                           view_data->tree->profile,
                           view_data->selection,
                           options,
                           sink,
                           error) ||
      !flam_sink_finish (sink, error) ||
      !g_output_stream_close (stream, NULL, error))
    return NULL;
  return g_memory_output_stream_steal_as_bytes (
      G_MEMORY_OUTPUT_STREAM (stream));
}

/* For drawn documents: the kinds that have several shapes. */
static GdkTexture *
make_preview (const FlamExportAsked *asked,
              const FlamExportOptions *options,
              GBytes *document)
{
  const FlamExporter *png = flam_exporter_find ("png");
  g_autoptr (GBytes) bytes = NULL;

  if (!(asked->exporter->look & FLAM_PICTURE_STYLE_SHAPE) ||
      options->look.width > PREVIEW_MAX_WIDTH)
    return NULL;
  bytes = asked->exporter == png
              ? g_bytes_ref (document)
              : save_as (png, asked->view_data, options, NULL);
  return bytes != NULL ? gdk_texture_new_from_bytes (bytes, NULL) : NULL;
}

static gboolean
make_document (const FlamExportAsked *asked,
               FlamExportMade *made,
               GError **error)
{
  const FlamViewData *view_data = asked->view_data;
  const FlamExporter *exporter = asked->exporter;
  FlamExportOptions options = { .look.title = asked->title,
                                .look.colors.rules = asked->rules };
  g_autoptr (GPtrArray) sources = NULL;
  FlamRemains remains;

  if (!flam_export_options_take (&options,
                                 (const char *const *)asked->words->pdata,
                                 flam_exporter_parts (exporter),
                                 exporter->id,
                                 error))
    return FALSE;
  if (exporter->shares)
    {
      if (asked->mappings != NULL)
        {
          g_autoptr (FlamSourcePaths) paths = flam_settings_source_paths (
              asked->mappings, view_data->tree->profile, NULL, NULL);

          sources = flam_share_list_sources (view_data->tree->profile, paths);
        }
      options.share = (FlamShare){ .anonymize = asked->anonymize,
                                   .sources = sources,
                                   .notes = asked->notes,
                                   .remains = &remains };
    }
  made->document = save_as (exporter, view_data, &options, error);
  if (made->document == NULL)
    return FALSE;
  made->losses = describe_losses (asked, &options);
  made->picture = make_preview (asked, &options, made->document);
  if (exporter->shares)
    made->remains = describe_remains (&remains);
  return TRUE;
}

gpointer
flam_export_make (gpointer data, const FlamProgress *progress, GError **error)
{
  const FlamExportAsked *asked = data;
  FlamExportMade *made = g_new0 (FlamExportMade, 1);

  if (make_document (asked, made, error))
    return made;
  flam_export_made_free (made);
  return NULL;
}
