/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-settings.h"

#include "flam-config.h"
#include "flam-core-profile.h"

/* The schema of the build tree that the program runs from; NULL: it is
 * installed. */
static GSettingsSchema *
find_built_schema (void)
{
  g_autofree char *tree = flam_build_tree ();
  g_autofree char *folder =
      tree != NULL ? g_build_filename (tree, "data", NULL) : NULL;
  g_autoptr (GSettingsSchemaSource) source =
      folder != NULL
          ? g_settings_schema_source_new_from_directory (
                folder, g_settings_schema_source_get_default (), TRUE, NULL)
          : NULL;

  return source != NULL
             ? g_settings_schema_source_lookup (source, FLAM_APP_ID, FALSE)
             : NULL;
}

GSettings *
flam_settings_get (void)
{
  static GSettings *settings;

  if (settings == NULL)
    {
      g_autoptr (GSettingsSchema) built = find_built_schema ();

      settings = built != NULL ? g_settings_new_full (built, NULL, NULL)
                               : g_settings_new (FLAM_APP_ID);
    }
  return settings;
}

void
flam_settings_push_string (const char *key, const char *text, guint max)
{
  g_auto (GStrv) old = g_settings_get_strv (flam_settings_get (), key);
  g_autoptr (GPtrArray) list = g_ptr_array_new ();

  g_ptr_array_add (list, (gpointer)text);
  for (guint i = 0; old[i] != NULL && list->len < max; i++)
    if (g_strcmp0 (old[i], text) != 0)
      g_ptr_array_add (list, old[i]);
  g_ptr_array_add (list, NULL);
  g_settings_set_strv (
      flam_settings_get (), key, (const char *const *)list->pdata);
}

void
flam_settings_apply_frames (FlamSelection *selection)
{
  GSettings *settings = flam_settings_get ();

  selection->hide_irrelevant =
      !g_settings_get_boolean (settings, FLAM_KEY_IRRELEVANT);
  selection->hide_imports =
      !g_settings_get_boolean (settings, FLAM_KEY_IMPORTS);
}

FlamSourcePaths *
flam_settings_source_paths (GVariant *mappings,
                            const FlamProfile *profile,
                            const char *folder,
                            FlamSourceNames *names)
{
  FlamSourcePaths *paths = flam_source_paths_new ();
  GVariantIter iter;
  const char *from;
  const char *to;

  g_variant_iter_init (&iter, mappings);
  while (g_variant_iter_next (&iter, "(&s&s)", &from, &to))
    {
      g_autofree char *mapping = g_strdup_printf ("%s=%s", from, to);

      flam_source_paths_add (paths, mapping);
    }
  flam_source_paths_add_profile (paths, profile);
  if (folder != NULL)
    flam_source_paths_add_root (paths, folder);
  if (names != NULL)
    flam_source_paths_set_names (paths, names);
  return paths;
}

FlamShape
flam_settings_get_shape (void)
{
  g_autofree char *word =
      g_settings_get_string (flam_settings_get (), FLAM_KEY_SHAPE);
  FlamShape shape;

  return flam_shape_from_string (word, &shape) ? shape : FLAM_SHAPE_FLAME;
}

FlamPaletteMode
flam_settings_get_palette (const FlamTree *tree)
{
  GSettings *settings = flam_settings_get ();
  g_autofree char *word = g_settings_get_string (settings, FLAM_KEY_COLORS);
  FlamPaletteMode wanted = FLAM_PALETTE_AUTO;
  FlamPaletteMode mode;

  flam_palette_mode_from_string (word, &wanted);
  mode = flam_palette_mode_of (tree, wanted);
  return wanted == FLAM_PALETTE_AUTO && mode == FLAM_PALETTE_STATE &&
                 !g_settings_get_boolean (settings, FLAM_KEY_COLOR_STATES)
             ? FLAM_PALETTE_CODE
             : mode;
}

FlamPaletteMode
flam_settings_get_chart_palette (void)
{
  g_autofree char *word =
      g_settings_get_string (flam_settings_get (), FLAM_KEY_COLORS);
  FlamPaletteMode wanted = FLAM_PALETTE_NAME;

  flam_palette_mode_from_string (word, &wanted);
  return wanted == FLAM_PALETTE_AUTO || wanted == FLAM_PALETTE_SELF
             ? FLAM_PALETTE_NAME
             : wanted;
}
