/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-picture.h"

#include <string.h>

/* --- the palette file ----------------------------------------------------- */

static const char *
path_of (const FlamCliPicture *look, const char *name)
{
  for (guint i = 0; i < FLAM_N_EXPORT_OPTIONS; i++)
    if (strcmp (flam_export_options[i].name, name) == 0)
      return look->typed[i];
  return NULL;
}

static const char *
map_path (const FlamCliPicture *look)
{
  return path_of (look, "palette-map");
}

/* Read after everything else has been checked. */
static gboolean
read_map (FlamCliPicture *look)
{
  const char *path = map_path (look);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  if (path == NULL)
    return TRUE;
  look->as.look.colors.map = look->map = flam_color_map_new ();
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    {
      flam_cli_error (_ ("%s: not a regular file"), path);
      return FALSE;
    }
  if (!g_file_get_contents (path, &text, NULL, &error))
    {
      flam_cli_follow (error);
      flam_cli_error ("%s", error->message);
    }
  else if (!flam_color_map_parse (look->map, text, &error))
    flam_cli_error ("%s: %s", path, error->message);
  return error == NULL;
}

static gboolean
read_attributes (FlamCliPicture *look)
{
  const char *path = path_of (look, "nameattr");
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  if (path == NULL)
    return TRUE;
  if (!g_file_get_contents (path, &text, NULL, &error))
    {
      flam_cli_follow (error);
      flam_cli_error ("%s", error->message);
      return FALSE;
    }
  look->as.look.attributes = look->attributes =
      flam_name_attributes_parse (text, &error);
  if (look->attributes == NULL)
    flam_cli_error ("%s: %s", path, error->message);
  return look->attributes != NULL;
}

/* --- rules ---------------------------------------------------------------- */

/* Rules from the command line come before those in the file. */
static FlamExit
take_rules (FlamCliPicture *look, const char *verb)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  look->color_rules = flam_color_rules_new ();
  for (guint i = 0; look->rules != NULL && look->rules[i] != NULL; i++)
    if (!flam_color_rules_add_line (look->color_rules, look->rules[i], &error))
      {
        g_autofree char *shown = flam_message_shown (error->message);

        return flam_cli_usage (
            _ ("%s: --color-rule %s: %s"), verb, look->rules[i], shown);
      }
  if (look->rules_file != NULL &&
      (!g_file_get_contents (look->rules_file, &text, NULL, &error) ||
       !flam_color_rules_parse (look->color_rules, text, &error)))
    {
      if (text == NULL)
        {
          flam_cli_follow (error);
          flam_cli_error ("%s", error->message);
        }
      else
        flam_cli_error ("%s: %s", look->rules_file, error->message);
      return FLAM_EXIT_REFUSED;
    }
  if (flam_color_rules_get_n (look->color_rules) > 0)
    look->as.look.colors.rules = look->color_rules;
  return FLAM_EXIT_DONE;
}

/* --- entries -------------------------------------------------------------- */

void
flam_cli_picture_clear (FlamCliPicture *look)
{
  for (guint i = 0; i < FLAM_N_EXPORT_OPTIONS; i++)
    g_free (look->typed[i]);
  g_strfreev (look->rules);
  g_free (look->rules_file);
  g_clear_pointer (&look->map, flam_color_map_free);
  g_clear_pointer (&look->attributes, flam_name_attributes_free);
  g_clear_pointer (&look->color_rules, flam_color_rules_unref);
}

GOptionEntry *
flam_cli_picture_entries (FlamCliPicture *look,
                          guint parts,
                          const GOptionEntry *own)
{
  const GOptionEntry flags[] = {
    { "color-rule",
      0,
      0,
      G_OPTION_ARG_STRING_ARRAY,
      &look->rules,
      N_ ("Color of matching functions (repeatable)"),
      "REGEX=COLOR" },
    { "color-rules",
      0,
      0,
      G_OPTION_ARG_FILENAME,
      &look->rules_file,
      N_ ("File of such rules, one per line"),
      "FILE" },
    { "negate",
      0,
      0,
      G_OPTION_ARG_NONE,
      &look->negate,
      N_ ("Use blue for growth and red for shrinking"),
      NULL },
  };
  const guint of_flags[] = { FLAM_PICTURE_STYLE_COLORS,
                             FLAM_PICTURE_STYLE_COLORS,
                             FLAM_PICTURE_STYLE_NEGATE };
  GArray *all = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));

  for (; own->long_name != NULL; own++)
    g_array_append_val (all, *own);
  for (guint i = 0; i < FLAM_N_EXPORT_OPTIONS; i++)
    {
      const FlamExportOption *option = &flam_export_options[i];
      gboolean is_switch = option->kind == FLAM_OPTION_SWITCH;
      GOptionEntry entry = {
        option->name,
        0,
        0,
        is_switch                          ? G_OPTION_ARG_NONE
        : option->kind == FLAM_OPTION_FILE ? G_OPTION_ARG_FILENAME
                                           : G_OPTION_ARG_STRING,
        is_switch ? (gpointer)&look->given[i] : (gpointer)&look->typed[i],
        option->what,
        option->argument,
      };

      if (option->part & parts)
        g_array_append_val (all, entry);
    }
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    if (of_flags[i] & parts)
      g_array_append_val (all, flags[i]);
  return (GOptionEntry *)(gpointer)g_array_free (all, FALSE);
}

/* --- checks of the input -------------------------------------------------- */

static gboolean
check_flags (const FlamCliPicture *look,
             const char *verb,
             const char *kind,
             guint parts)
{
  const char *given = NULL;

  if (look->negate && !(parts & FLAM_PICTURE_STYLE_NEGATE))
    given = "negate";
  if (look->rules_file != NULL && !(parts & FLAM_PICTURE_STYLE_COLORS))
    given = "color-rules";
  if (look->rules != NULL && !(parts & FLAM_PICTURE_STYLE_COLORS))
    given = "color-rule";
  if (given != NULL)
    flam_cli_usage (_ ("%s: --%s has no effect on %s"), verb, given, kind);
  return given == NULL;
}

FlamExit
flam_cli_picture_parse (FlamCliPicture *look,
                        const char *verb,
                        const char *kind,
                        guint parts)
{
  const char *words[FLAM_N_EXPORT_OPTIONS];
  FlamExit status;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < FLAM_N_EXPORT_OPTIONS; i++)
    words[i] = look->given[i] ? "" : look->typed[i];
  if (!check_flags (look, verb, kind, parts))
    return FLAM_EXIT_USAGE;
  if (!flam_export_options_take (&look->as, words, parts, kind, &error))
    {
      g_autofree char *shown = flam_message_shown (error->message);

      return flam_cli_usage ("%s: %s", verb, shown);
    }
  status = take_rules (look, verb);
  if (status != FLAM_EXIT_DONE)
    return status;
  look->as.look.colors.negate = look->negate;
  return read_map (look) && read_attributes (look) ? FLAM_EXIT_DONE
                                                   : FLAM_EXIT_REFUSED;
}

static void
tell_slow (const FlamColorRules *rules)
{
  for (guint i = 0; i < flam_color_rules_get_n (rules); i++)
    {
      const char *name = flam_color_rules_get_slow (rules, i);

      if (name != NULL)
        flam_cli_error (
            /* Translators: a regular expression, and the name of a function */
            _ ("the color rule “%s” takes too long on “%s” and is ignored"),
            flam_color_rules_get_pattern (rules, i),
            name);
    }
}

gboolean
flam_cli_picture_finish (const FlamCliPicture *look)
{
  g_autofree char *text =
      look->map != NULL ? flam_color_map_text (look->map) : NULL;
  FlamSink *sink;

  tell_slow (look->color_rules);
  if (text == NULL)
    return TRUE;
  sink = flam_cli_open_output (map_path (look), TRUE);
  if (sink == NULL)
    return FALSE;
  flam_sink_put (sink, text);
  return flam_cli_finish (sink, map_path (look));
}
