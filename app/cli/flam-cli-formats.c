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

/* "FLR\\x00": with the escapes that descriptions of MIME types also use. */
static void
json_magic (JsonBuilder *json, guint offset, const char *bytes, guint size)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < size; i++)
    if (g_ascii_isprint (bytes[i]) && bytes[i] != '\\')
      g_string_append_c (text, bytes[i]);
    else
      g_string_append_printf (text, "\\x%02x", (guint8)bytes[i]);
  json_builder_begin_object (json);
  flam_cli_json_int (json, "offset", offset);
  flam_cli_json_string (json, "bytes", text->str);
  json_builder_end_object (json);
}

/* The format's own MIME type. */
static void
json_mime (JsonBuilder *json, const FlamImporter *importer)
{
  const FlamMagic *magics = importer->mime.magics;
  const FlamSign *signs = importer->signs;

  json_builder_set_member_name (json, "mime");
  json_builder_begin_object (json);
  flam_cli_json_string (json, "type", importer->mime.type);
  flam_cli_json_string (json, "name", importer->mime.name);
  json_strings (json, "globs", importer->mime.globs);
  json_builder_set_member_name (json, "magic");
  json_builder_begin_array (json);
  for (guint i = 0; signs != NULL && signs[i].score > 0; i++)
    if (signs[i].magic != NULL)
      json_magic (json, 0, signs[i].magic, signs[i].magic_size);
  for (guint i = 0; magics != NULL && magics[i].size > 0; i++)
    json_magic (json, magics[i].offset, magics[i].bytes, magics[i].size);
  json_builder_end_array (json);
  json_builder_end_object (json);
}

static void
json_importer (JsonBuilder *json, const FlamImporter *importer)
{
  json_builder_begin_object (json);
  flam_cli_json_string (json, "id", importer->id);
  flam_cli_json_string (json, "label", importer->label);
  flam_cli_json_string (json, "written_by", importer->written_by);
  json_strings (json, "suffixes", importer->suffixes);
  if (importer->mime.type != NULL)
    json_mime (json, importer);
  json_strings (json, "mime_types", importer->mime_types);
  json_builder_end_object (json);
}

static void
print_json (void)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  json_builder_set_member_name (json, "importers");
  json_builder_begin_array (json);
  for (guint i = 0; flam_importers[i] != NULL; i++)
    json_importer (json, flam_importers[i]);
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
