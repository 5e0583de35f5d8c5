/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture-writer.h"
#include "flam-core-query.h"
#include "flam-formats.h"

/* Any profile as a .flambeau file: all of the selection, since this format is
 * lossless. */

static gboolean
save (FlamExport *export, GError **error)
{
  g_autoptr (FlamProfile) profile =
      flam_cut_new (export->profile, export->selection, error);
  g_autoptr (FlamBuilder) builder = NULL;
  g_autoptr (FlamCaptureWriter) writer = NULL;
  const guint8 *data;
  gsize size;

  if (profile == NULL)
    return FALSE;
  builder = flam_builder_new_copy (profile);
  if (!flam_share_apply (&export->options->share, builder, error))
    return FALSE;
  writer = flam_capture_writer_new (-1, builder);
  if (!flam_capture_writer_end (writer, profile->facts.duration_ns, error))
    return FALSE;
  data = flam_capture_writer_data (writer, &size);
  flam_sink_put_len (export->out, data, size);
  return TRUE;
}

const FlamExporter flam_export_flambeau = {
  .id = "flambeau",
  .label = "Flambeau",
  .suffix = "flambeau",
  .mime_type = "application/x-flambeau",
  .text = FALSE,
  .shares = TRUE,
  .holds = FLAM_HOLDS_ALL,
  .save = save,
};
