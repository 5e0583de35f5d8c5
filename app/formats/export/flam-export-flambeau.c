/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture-writer.h"
#include "flam-cut.h"
#include "flam-formats.h"

/* Any profile as a .flambeau file: all that is selected, since this is the form
 * that loses nothing. */

static gboolean
save (const FlamTree *tree,
      const FlamExportOptions *options,
      GString *out,
      GError **error)
{
  g_autoptr (FlamProfile) profile =
      options->selection != NULL
          ? flam_cut_new (tree->profile, options->selection, error)
          : flam_profile_ref (tree->profile);
  g_autoptr (FlamBuilder) builder = NULL;
  g_autoptr (FlamCaptureWriter) writer = NULL;
  const guint8 *data;
  gsize size;

  if (profile == NULL)
    return FALSE;
  builder = flam_builder_new_copy (profile);
  writer = flam_capture_writer_new (-1, builder);
  if (!flam_capture_writer_end (writer, profile->facts.duration_ns, error))
    return FALSE;
  data = flam_capture_writer_data (writer, &size);
  g_string_append_len (out, (const char *)data, (gssize)size);
  return TRUE;
}

const FlamExporter flam_export_flambeau = {
  .id = "flambeau",
  .label = "Flambeau",
  .suffix = "flambeau",
  .mime_type = "application/x-flambeau",
  .text = FALSE,
  .save = save,
};
