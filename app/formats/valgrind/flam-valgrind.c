/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-valgrind.h"

#include "flam-text.h"

typedef struct
{
  const char *name;
  gsize name_length;
  const char *file; /* or the module's path */
  gsize file_length;
  gboolean is_module;
  guint32 line;
} Parts;

/* ":123" at the end of `text`, if there are digits and text before. */
static gboolean
cut_number (const char *text, gsize *length, guint32 *number)
{
  gsize at = *length;
  guint64 value = 0, scale = 1;

  while (at > 0 && flam_text_is_digit (text[at - 1]) && *length - at < 9)
    {
      value += scale * (text[--at] - '0');
      scale *= 10;
    }
  if (at == *length || at < 2 || text[at - 1] != ':')
    return FALSE;
  *length = at - 1;
  *number = value;
  return TRUE;
}

static void
split (const char *text, gsize length, Parts *parts)
{
  const char *open = NULL;
  guint32 first, second;

  *parts = (Parts){ .name = text, .name_length = length };
  if (length < 4 || text[length - 1] != ')')
    return;
  for (const char *p = text + length - 1; p > text && open == NULL; p--)
    if (p[0] == '(' && p[-1] == ' ')
      open = p;
  if (open == NULL || open == text + 1)
    return;
  parts->file = open + 1;
  parts->file_length = text + length - 1 - parts->file;
  if (parts->file_length > 3 && memcmp (parts->file, "in ", 3) == 0)
    {
      parts->is_module = TRUE;
      parts->file += 3;
      parts->file_length -= 3;
    }
  else if (cut_number (parts->file, &parts->file_length, &first))
    {
      parts->line = first;
      if (cut_number (parts->file, &parts->file_length, &second))
        parts->line = second;
    }
  else
    {
      parts->file = NULL;
      return;
    }
  parts->name_length = open - 1 - text;
}

static FlamId
module_named (FlamBuilder *builder, const Parts *parts, guint *flags)
{
  g_autofree char *path = NULL;
  const char *slash;
  FlamModuleId module;

  if (!parts->is_module)
    return FLAM_NONE;
  path = g_strndup (parts->file, parts->file_length);
  slash = strrchr (path, '/');
  if (g_str_has_prefix (slash != NULL ? slash + 1 : path, "vgpreload_"))
    *flags = FLAM_FUNCTION_IRRELEVANT;
  module = flam_builder_module (builder, path, "", FLAM_ADDRESS_ABSOLUTE);
  flam_builder_set_module_symbols (builder, module, FLAM_SYMBOLS_CAPTURE, NULL);
  return module;
}

FlamValgrindLocation
flam_valgrind_location (FlamBuilder *builder, const char *text, gsize length)
{
  FlamValgrindLocation place = { 0 };
  FlamFunction function = { .kind = FLAM_KIND_NATIVE };
  const char *p = text + 2, *end = text + length;
  Parts parts;

  if (length > 2 && memcmp (text, "0x", 2) == 0 &&
      flam_text_hex (&p, end, &place.address) && end - p >= 2 &&
      memcmp (p, ": ", 2) == 0)
    text = p + 2;
  split (text, end - text, &parts);
  function.module = module_named (builder, &parts, &function.flags);
  place.line = parts.line;
  if (parts.name_length == 3 && memcmp (parts.name, "???", 3) == 0)
    place.function =
        flam_builder_function_unresolved (builder, function.module);
  else
    {
      function.name =
          flam_builder_string (builder, parts.name, parts.name_length);
      if (!parts.is_module && parts.file != NULL)
        function.file =
            flam_builder_string (builder, parts.file, parts.file_length);
      place.function = flam_builder_function (builder, &function);
    }
  return place;
}

FlamStackId
flam_valgrind_stack (FlamBuilder *builder,
                     const FlamValgrindLocation *places,
                     guint n)
{
  FlamStackId stack = FLAM_NONE;
  guint depth = 0;

  for (guint i = n; i-- > 0;)
    {
      /* Calls of a recursion return to one address, and to one line. */
      gboolean inlined = i + 1 < n && places[i].address != 0 &&
                         places[i].address == places[i + 1].address &&
                         (places[i].function != places[i + 1].function ||
                          places[i].line != places[i + 1].line);
      depth = inlined ? depth + 1 : 0;
      stack = flam_builder_stack (
          builder,
          stack,
          flam_builder_frame (
              builder, places[i].function, 0, places[i].line, depth));
    }
  return stack;
}
