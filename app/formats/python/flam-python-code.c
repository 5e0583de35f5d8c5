/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-python-code.h"

#include "flam-python.h"

#include <string.h>

static gboolean
ends (const char *text, gsize length, const char *with)
{
  gsize n = strlen (with);

  return length > n && memcmp (text + length - n, with, n) == 0;
}

static gboolean
is_source (const char *place, gsize length)
{
  return ends (place, length, ".py") || ends (place, length, ".pyx") ||
         (length > 2 && place[0] == '<' && place[length - 1] == '>');
}

void
flam_python_set_location (FlamBuilder *builder,
                          FlamFunction *function,
                          const char *place,
                          gsize length,
                          gboolean has_line)
{
  g_autofree char *path = g_strndup (place, length);

  if (length == 0)
    return;
  if (is_source (place, length))
    {
      function->kind = FLAM_KIND_INTERPRETED;
      function->flags |= flam_python_flags (path);
    }
  if (has_line || function->kind == FLAM_KIND_INTERPRETED)
    {
      function->file = flam_builder_string (builder, path, -1);
      return;
    }
  function->module =
      flam_builder_module (builder, path, "", FLAM_ADDRESS_ABSOLUTE);
  flam_builder_set_module_symbols (
      builder, function->module, FLAM_SYMBOLS_CAPTURE, NULL);
}
