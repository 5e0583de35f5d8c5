/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-python-codes.h"

#include <string.h>

/* Code units of two bytes; frames beyond this limit are not cached by unit. */
#define UNITS_MAX (1u << 20)

struct _FlamPythonCodes
{
  GHashTable *set; /* FlamPythonCode, by content */
};

static guint
code_hash (gconstpointer data)
{
  const FlamPythonCode *code = data;

  return g_str_hash (code->name) ^ g_str_hash (code->file) * 31 ^
         g_bytes_hash (code->lines) * 1021 ^ code->first_line;
}

static gboolean
code_equal (gconstpointer a, gconstpointer b)
{
  const FlamPythonCode *x = a;
  const FlamPythonCode *y = b;

  return x->first_line == y->first_line && x->version == y->version &&
         strcmp (x->name, y->name) == 0 && strcmp (x->file, y->file) == 0 &&
         g_bytes_equal (x->lines, y->lines);
}

static void
code_free (gpointer data)
{
  FlamPythonCode *code = data;

  g_free (code->name);
  g_free (code->file);
  g_bytes_unref (code->lines);
  g_clear_pointer (&code->frames, g_array_unref);
  g_free (code);
}

FlamPythonCodes *
flam_python_codes_new (void)
{
  FlamPythonCodes *codes = g_new0 (FlamPythonCodes, 1);

  codes->set = g_hash_table_new_full (code_hash, code_equal, code_free, NULL);
  return codes;
}

void
flam_python_codes_free (FlamPythonCodes *codes)
{
  g_hash_table_unref (codes->set);
  g_free (codes);
}

FlamPythonCode *
flam_python_codes_get (FlamPythonCodes *codes,
                       guint32 version,
                       const char *name,
                       const char *file,
                       guint32 first_line,
                       const guint8 *lines,
                       gsize n_lines)
{
  g_autoptr (GBytes) table = g_bytes_new (lines, n_lines);
  FlamPythonCode wanted = { .name = (char *)name,
                            .file = (char *)file,
                            .first_line = first_line,
                            .version = version,
                            .lines = table };
  FlamPythonCode *code = g_hash_table_lookup (codes->set, &wanted);

  if (code != NULL)
    return code;
  code = g_new (FlamPythonCode, 1);
  *code = wanted;
  code->name = g_strdup (name);
  code->file = g_strdup (file);
  code->lines = g_steal_pointer (&table);
  /* The caller of __init__ (3.12 on) is a code object whose file and name are
   * the same word. */
  code->hidden = strcmp (name, "__init__") == 0 && strcmp (file, name) == 0;
  code->function = FLAM_NONE;
  g_hash_table_add (codes->set, code);
  return code;
}

/* --- sampler's ----------------------------------------------------------- */

static FlamId
new_frame (FlamPythonCode *code, FlamBuilder *builder, gint64 offset)
{
  gsize size;
  const guint8 *lines = g_bytes_get_data (code->lines, &size);
  FlamRecordedFrame frame = { .file = FLAM_NONE, .module = FLAM_NONE };
  FlamFunction function = { .module = FLAM_NONE,
                            .line = code->first_line,
                            .kind = FLAM_KIND_INTERPRETED,
                            .flags = flam_python_flags (code->file) };

  if (code->function == FLAM_NONE)
    {
      function.name = flam_builder_string (builder, code->name, -1);
      function.system_name = flam_builder_string (builder, "", -1);
      function.file = flam_builder_string (builder, code->file, -1);
      code->function = flam_builder_function (builder, &function);
    }
  frame.function = code->function;
  frame.line = offset < 0
                   ? code->first_line
                   : flam_python_line (
                         code->version, lines, size, offset, code->first_line);
  return flam_builder_recorded_frame (builder, &frame);
}

FlamId
flam_python_code_frame (FlamPythonCode *code,
                        FlamBuilder *builder,
                        gint64 offset)
{
  const FlamId none = FLAM_NONE;
  gint64 unit = MAX (offset, -2) / 2 + 1;
  FlamId *frame;

  if (unit >= UNITS_MAX)
    return new_frame (code, builder, offset);
  if (code->frames == NULL)
    code->frames = g_array_new (FALSE, FALSE, sizeof (FlamId));
  while (code->frames->len <= unit)
    g_array_append_val (code->frames, none);
  frame = &g_array_index (code->frames, FlamId, unit);
  if (*frame == FLAM_NONE)
    *frame = new_frame (code, builder, offset);
  return *frame;
}
