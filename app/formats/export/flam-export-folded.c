/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"

#include "flam-dump.h"
#include "flam-export-common.h"

static gboolean
save (const FlamTree *tree,
      const FlamExportOptions *options,
      GString *out,
      GError **error)
{
  g_autofree char *text = NULL;

  if (!flam_export_check_size (tree, 0, error))
    return FALSE;
  text = flam_dump_folded (tree);
  g_string_append (out, text);
  return TRUE;
}

const FlamExporter flam_export_folded = {
  .id = "folded",
  .label = "Folded stacks",
  .suffix = "folded",
  .mime_type = "text/plain",
  .text = TRUE,
  .save = save,
};
