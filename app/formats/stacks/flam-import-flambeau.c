/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture-reader.h"
#include "flam-formats.h"

/* Flambeau's own captures. flam-capture.h shows the format. */

static guint
probe (const FlamSource *source)
{
  return flam_capture_probe (source->data, source->size) ? 100 : 0;
}

/* Damage after a valid part makes a partial capture; a recording that was never
 * closed is complete up to its end. */
static gboolean
read_blocks (const FlamSource *source,
             FlamCaptureReader *reader,
             FlamBuilder *builder,
             GError **error)
{
  g_autoptr (GError) wrong = NULL;
  const char *why =
      N_ ("the recording was interrupted; everything written is shown, "
          "without the symbols that are added at the end");
  gboolean ok =
      flam_capture_reader_feed (reader, source->data, source->size, &wrong);
  guint64 offset = flam_capture_reader_offset (reader);

  if (!ok && flam_capture_reader_n_rows (reader, FLAM_TABLE_STRINGS) == 0)
    {
      g_propagate_error (error, g_steal_pointer (&wrong));
      return FALSE;
    }
  if (!ok || !flam_capture_reader_is_complete (reader))
    flam_builder_set_partial (
        builder,
        source->size > 0 ? (double)offset / (double)source->size : 0,
        ok ? why : wrong->message);
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  g_autoptr (FlamCaptureReader) reader =
      flam_capture_reader_new (load->source->path, load->builder);

  return read_blocks (load->source, reader, load->builder, error) &&
         flam_builder_fold (load->builder, load->options->progress, error);
}

const FlamImporter flam_import_flambeau = {
  .id = "flambeau",
  .label = "Flambeau",
  .written_by = "Flambeau",
  .suffixes = FLAM_LIST ("flambeau"),
  .mime = { .type = "application/x-flambeau",
            .name = "Flambeau capture",
            .globs = FLAM_LIST ("*.flambeau"),
            .magics = FLAM_MAGICS (FLAM_BYTES (0, "FLAMBEAU")) },
  .probe = probe,
  .load = load,
};
