/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"

#include "flam-export-common.h"
#include "flam-svg.h"

#include <string.h>

/* Its first 128 characters are those of ASCII, so that the document can be
 * written with these alone. */
static gboolean
is_encoding (const char *name)
{
  static const char markup[] = "<?xml a=\"&#8722;\"?>";
  g_autofree char *converted =
      g_convert (markup, -1, name, "UTF-8", NULL, NULL, NULL);

  return g_ascii_isalpha (*name) &&
         strspn (name,
                 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                 "0123456789._-") == strlen (name) &&
         g_strcmp0 (converted, markup) == 0;
}

static gboolean
check_look (const FlamPictureStyle *look, GError **error)
{
  if (look->background != NULL && !flam_svg_is_background (look->background))
    g_set_error (error,
                 FLAM_ERROR,
                 FLAM_ERROR_INVALID,
                 N_ ("--bgcolors %s: expected yellow, blue, green, grey or "
                     "#rrggbb"),
                 look->background);
  else if (look->encoding != NULL && !is_encoding (look->encoding))
    g_set_error (error,
                 FLAM_ERROR,
                 FLAM_ERROR_INVALID,
                 N_ ("--encoding %s: expected one that contains ASCII, such as "
                     "ISO-8859-1"),
                 look->encoding);
  else
    return TRUE;
  return FALSE;
}

static gboolean
save (FlamExport *export, GError **error)
{
  g_autoptr (FlamTree) tree = flam_export_tree_in_order (
      export->profile, export->selection, export->options->look.order);

  g_autoptr (FlamChart) chart = NULL;

  if (!check_look (&export->options->look, error))
    return FALSE;
  if (export->options->look.chart)
    {
      chart = flam_export_chart (export->profile, export->selection, error);
      if (chart == NULL)
        return FALSE;
    }
  flam_svg_append_document (export->out, tree, chart, &export->options->look);
  return TRUE;
}

const FlamExporter flam_export_svg = {
  .id = "svg",
  .label = N_ ("SVG flame graph"),
  .suffix = "svg",
  .mime_type = "image/svg+xml",
  .text = TRUE,
  .look = FLAM_PICTURE_STYLE_ALL | FLAM_PICTURE_STYLE_SHAPE |
          FLAM_PICTURE_STYLE_CHART | FLAM_PICTURE_STYLE_NOTES |
          FLAM_PICTURE_STYLE_COUNT_NAME | FLAM_PICTURE_STYLE_PAPER |
          FLAM_PICTURE_STYLE_BOXES,
  .holds = FLAM_HOLDS_ALL,
  .save = save,
};
