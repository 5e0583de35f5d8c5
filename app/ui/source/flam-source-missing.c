/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-source-missing.h"

#include "flam-core-picture.h"

#include <glib/gi18n.h>

#define TRIED_SHOWN 8

/* Libraries that all programs use, whose sources are rarely installed. */
static const struct
{
  const char *module; /* the beginning of its file name */
  const char *package;
} packages[] = {
  { "libc.so", "glibc" },    { "libm.so", "glibc" },
  { "libpthread", "glibc" }, { "ld-linux", "glibc" },
  { "librt.so", "glibc" },   { "libdl.so", "glibc" },
  { "libc-2", "glibc" },     { "libstdc++.so", "gcc" },
  { "libgcc_s.so", "gcc" },  { "libgomp.so", "gcc" },
  { "libglib-2", "glib" },   { "libgobject-2", "glib" },
};

static void
append_package (GString *text, const FlamSourceRequest *request)
{
  const FlamProfile *profile = request->view_data->profile;
  g_autofree char *name = request->function != FLAM_NONE
                              ? g_path_get_basename (flam_profile_module_name (
                                    profile, request->function))
                              : g_strdup ("");

  for (guint i = 0; i < G_N_ELEMENTS (packages); i++)
    if (g_str_has_prefix (name, packages[i].module))
      {
        g_string_append_c (text, '\n');
        /* Translators: a library, and its source package */
        g_string_append_printf (
            text,
            _ ("%s is built from the source package %s: unpack exactly this "
               "version and choose its folder."),
            name,
            packages[i].package);
        return;
      }
}

static char *
share_of (const FlamSourceFile *file)
{
  return flam_format_percent (
      file->missing_total,
      MAX (flam_view_data_get_total (file->request->view_data), 1));
}

/* A missing file and its share of the total, as a sentence; g_free. */
static char *
sentence (const FlamSourceFile *file, const char *path)
{
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *name = flam_format_visible (base);
  g_autofree char *share = share_of (file);

  /* Translators: a source file, and a share of the total */
  return g_strdup_printf (
      _ ("%s, with %s of the total, was not found."), name, share);
}

/* Of code that is in no file, and its share of the total. */
static char *
origin_text (const FlamSourceFile *file)
{
  g_autofree char *share = share_of (file);

  switch (file->origin)
    {
    case FLAM_SOURCE_COMMAND_LINE:
      /* Translators: a share of the total */
      return g_strdup_printf (
          _ ("%s of the total is code that was given on the command line, or "
             "as a string."),
          share);
    case FLAM_SOURCE_INPUT:
      /* Translators: a share of the total */
      return g_strdup_printf (
          _ ("%s of the total is code that was read from standard input."),
          share);
    case FLAM_SOURCE_BUILT_IN:
      /* Translators: a share of the total */
      return g_strdup_printf (
          _ ("%s of the total is code that is built into the interpreter."),
          share);
    case FLAM_SOURCE_CREATED:
    case FLAM_SOURCE_FILE:
    default:
      /* Translators: a share of the total */
      return g_strdup_printf (
          _ ("%s of the total is code that the program created while it ran."),
          share);
    }
}

char *
flam_source_missing_text (const FlamSourceFile *file)
{
  g_autofree char *first = file->origin != FLAM_SOURCE_FILE
                               ? origin_text (file)
                               : sentence (file, file->request->recorded);
  GString *text = g_string_new (first);
  guint n = file->tried != NULL ? g_strv_length (file->tried) : 0;

  if (file->origin != FLAM_SOURCE_FILE)
    return g_string_free (text, FALSE);
  g_string_append_printf (text, "\n\n%s", _ ("Searched here:"));
  for (guint i = 0; i < n && i < TRIED_SHOWN; i++)
    g_string_append_printf (text, "\n%s", file->tried[i]);
  if (n > TRIED_SHOWN)
    g_string_append_printf (text,
                            ngettext ("\nand %u more place",
                                      "\nand %u more places",
                                      n - TRIED_SHOWN),
                            n - TRIED_SHOWN);
  append_package (text, file->request);
  return g_string_free (text, FALSE);
}

char *
flam_source_missing_first_text (const FlamSourceFile *file)
{
  return file->origin != FLAM_SOURCE_FILE ? origin_text (file)
                                          : sentence (file, file->missing);
}

char *
flam_source_unknown_text (FlamViewData *view_data, FlamNodeId node)
{
  const FlamProfile *profile = view_data->profile;
  FlamFunctionId function = flam_tree_function (view_data->tree, node);
  FlamModuleId module =
      function != FLAM_NONE ? profile->functions.module[function] : FLAM_NONE;
  const char *why = "";

  if (module != FLAM_NONE)
    why = flam_profile_string (profile, profile->modules.why[module]);
  if (*why == '\0' && module != FLAM_NONE)
    why = _ ("Its module has no line numbers: it was built without debug "
             "information, or its debug symbols are not installed.");
  else if (*why == '\0')
    why = _ ("This capture does not record the source files of its functions.");
  return g_strdup (why);
}
