/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-suppression-settings.h"

#include "flam-settings.h"

#define FILES_MAX 20

static gboolean
read_file (FlamSuppressions *rules, const char *path, GError **error)
{
  g_autofree char *text = NULL;
  gsize length;

  if (!g_file_get_contents (path, &text, &length, error))
    return FALSE;
  if (flam_suppressions_parse (rules, text, length, error))
    return TRUE;
  g_prefix_error (error, "%s: ", path);
  return FALSE;
}

gboolean
flam_suppression_settings_add (const char *path, GError **error)
{
  g_autoptr (FlamSuppressions) rules = flam_suppressions_new ();

  if (!read_file (rules, path, error))
    return FALSE;
  flam_settings_push_string (FLAM_KEY_LEAK_RULES, path, FILES_MAX);
  return TRUE;
}

gboolean
flam_suppression_settings_count (const char *path, guint *n, GError **error)
{
  g_autoptr (FlamSuppressions) rules = flam_suppressions_new ();
  gboolean good = read_file (rules, path, error);

  *n = flam_suppressions_get_n (rules);
  return good;
}

void
flam_suppression_settings_remove (const char *path)
{
  g_auto (GStrv) old =
      g_settings_get_strv (flam_settings_get (), FLAM_KEY_LEAK_RULES);
  g_autoptr (GStrvBuilder) rest = g_strv_builder_new ();
  g_auto (GStrv) left = NULL;

  for (guint i = 0; old[i] != NULL; i++)
    if (strcmp (old[i], path) != 0)
      g_strv_builder_add (rest, old[i]);
  left = g_strv_builder_end (rest);
  g_settings_set_strv (
      flam_settings_get (), FLAM_KEY_LEAK_RULES, (const char *const *)left);
}

gboolean
flam_suppression_settings_apply (FlamSelection *selection, GError **error)
{
  g_auto (GStrv) paths =
      g_settings_get_strv (flam_settings_get (), FLAM_KEY_LEAK_RULES);
  g_autoptr (FlamSuppressions) rules = flam_suppressions_new ();
  gboolean good = TRUE;

  for (guint i = 0; paths[i] != NULL; i++)
    good = read_file (rules, paths[i], good ? error : NULL) && good;
  g_clear_pointer (&selection->suppressions, flam_suppressions_unref);
  if (flam_suppressions_get_n (rules) > 0)
    selection->suppressions = g_steal_pointer (&rules);
  return good;
}
