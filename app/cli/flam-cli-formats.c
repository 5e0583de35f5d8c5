/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

static void
json_strings (JsonBuilder *json, const char *member, const char *const *strings)
{
  json_builder_set_member_name (json, member);
  json_builder_begin_array (json);
  for (guint i = 0; strings != NULL && strings[i] != NULL; i++)
    json_builder_add_string_value (json, strings[i]);
  json_builder_end_array (json);
}

static void
print_json (void)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  json_builder_set_member_name (json, "importers");
  json_builder_begin_array (json);
  for (guint i = 0; flam_importers[i] != NULL; i++)
    {
      const FlamImporter *importer = flam_importers[i];

      json_builder_begin_object (json);
      flam_cli_json_string (json, "id", importer->id);
      flam_cli_json_string (json, "label", importer->label);
      json_strings (json, "suffixes", importer->suffixes);
      json_strings (json, "mime_types", importer->mime_types);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_set_member_name (json, "exporters");
  json_builder_begin_array (json);
  for (guint i = 0; flam_exporters[i] != NULL; i++)
    {
      json_builder_begin_object (json);
      flam_cli_json_string (json, "id", flam_exporters[i]->id);
      flam_cli_json_string (json, "label", flam_exporters[i]->label);
      flam_cli_json_string (json, "suffix", flam_exporters[i]->suffix);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_end_object (json);
  flam_cli_print_json (json);
}

static void
print_text (void)
{
  flam_cli_print (
      _ ("Opens (also compressed with gz, xz, bz2, zstd, lz4 or zip):\n"));
  for (guint i = 0; flam_importers[i] != NULL; i++)
    {
      const FlamImporter *importer = flam_importers[i];
      g_autofree char *suffixes =
          importer->suffixes ? g_strjoinv (" ", (char **)importer->suffixes)
                             : g_strdup ("");

      flam_cli_print (
          "  %-14s %-34s %s\n", importer->id, importer->label, suffixes);
    }
  flam_cli_print ("\nExports:\n");
  for (guint i = 0; flam_exporters[i] != NULL; i++)
    flam_cli_print ("  %-14s %-34s %s\n",
                    flam_exporters[i]->id,
                    flam_exporters[i]->label,
                    flam_exporters[i]->suffix);
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_auto (GStrv) files = NULL;

  if (!flam_cli_parse (
          &argc, &argv, &flam_verb_formats, options, NULL, 0, &files))
    return FLAM_EXIT_USAGE;
  if (options->json)
    print_json ();
  else
    print_text ();
  return FLAM_EXIT_DONE;
}

const FlamVerb flam_verb_formats = {
  "formats",
  "[--json]",
  N_ ("list the formats that can be opened and written"),
  run,
  TRUE
};
