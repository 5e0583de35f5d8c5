/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-python.h"

#include <string.h>

typedef struct
{
  const guint8 *at;
  const guint8 *end;
} Table;

static guint
next_byte (Table *table)
{
  return table->at < table->end ? *table->at++ : 0;
}

/* Six bits per byte, the lowest first; bit 6 is set if more follow. */
static guint64
next_varint (Table *table)
{
  guint64 value = 0;
  guint shift = 0;
  guint byte;

  do
    {
      byte = next_byte (table);
      if (shift < 60)
        value |= (guint64)(byte & 63) << shift;
      shift += 6;
    }
  while (byte & 64);
  return value;
}

static gint64
next_signed (Table *table)
{
  guint64 value = next_varint (table);
  gint64 half = value >> 1;

  return value & 1 ? -half : half;
}

/* 3.11 on: an entry is a byte 1cccclll: code c, for l + 1 code units of two
 * bytes, followed by the data that c requires. */
static gint64
line_311 (Table *table, gint64 offset, gint64 line)
{
  gint64 unit = offset / 2, at = 0;

  while (table->at < table->end)
    {
      guint first = next_byte (table);
      guint code = first >> 3 & 15;

      if (first == 0)
        break;
      if (code == 14)
        {
          line += next_signed (table);
          for (guint i = 0; i < 3; i++)
            next_varint (table);
        }
      else if (code == 13)
        line += next_signed (table);
      else if (code >= 10 && code <= 12)
        {
          line += code - 10;
          next_byte (table);
          next_byte (table);
        }
      else if (code < 10)
        next_byte (table);
      at += (first & 7) + 1;
      if (at > unit)
        return line;
    }
  return 0;
}

/* 3.10: pairs of a length in bytes and a change of line, which applies first;
 * -128 for none. */
static gint64
line_310 (Table *table, gint64 offset, gint64 line)
{
  gint64 wanted = offset * 2, at = 0;

  while (table->at < table->end)
    {
      guint length = next_byte (table);
      gint8 change = next_byte (table);

      at += length;
      line += change == -128 ? 0 : change;
      if (at > wanted)
        break;
    }
  return line;
}

/* Up to 3.9: the change applies after the bytes. */
static gint64
line_39 (Table *table, gint64 offset, gint64 line)
{
  gint64 at = 0;

  while (table->at < table->end)
    {
      at += next_byte (table);
      if (at > offset)
        break;
      line += (gint8)next_byte (table);
    }
  return line;
}

guint32
flam_python_line (guint32 version,
                  const guint8 *table,
                  gsize length,
                  gint64 offset,
                  gint64 first_line)
{
  Table t = { table, table + length };
  gint64 line = CLAMP (first_line, 0, G_MAXINT32);

  if (offset < 0 || offset > G_MAXINT32)
    return 0;
  if (length > 0 && version >= 0x030b0000)
    line = line_311 (&t, offset, line);
  else if (length > 0 && version >= 0x030a0000)
    line = line_310 (&t, offset, line);
  else if (length > 0)
    line = line_39 (&t, offset, line);
  return CLAMP (line, 0, G_MAXINT32);
}

guint32
flam_python_line_at (guint32 version,
                     const guint8 *table,
                     gsize length,
                     guint64 offset,
                     guint32 first_line)
{
  gint64 at = (gint64)offset;

  return at < 0 ? first_line
                : flam_python_line (version, table, length, at, first_line);
}

bool
flam_python_is_alive (const FlamRuntimeMemory *memory, guint64 object)
{
  guint64 count;

  if (!flam_runtime_read_u64 (memory, object, &count))
    return false;
  return count != 0 && (count >> 48 != 0 || count >> 32 == 0);
}

guint
flam_python_flags (const char *file)
{
  if (strstr (file, "frozen importlib") != NULL)
    return FLAM_FUNCTION_IMPORT | FLAM_FUNCTION_IRRELEVANT;
  if (strcmp (file, "<frozen runpy>") == 0 ||
      g_str_has_suffix (file, "runpy.py"))
    return FLAM_FUNCTION_IRRELEVANT;
  return FLAM_FUNCTION_PLAIN;
}

gboolean
flam_python_is_hidden (const char *name, const char *file)
{
  return strcmp (name, "__init__") == 0 && strcmp (file, name) == 0;
}

guint
flam_python_native_flags (const char *name)
{
  static const char *const calling[] = {
    "PyEval_",
    "_PyEval_",
    "PyObject_Call",
    "_PyObject_Call",
    "_PyObject_MakeTpCall",
    "PyObject_Vectorcall",
    "_PyObject_Vectorcall",
    "PyVectorcall_Call",
    "_PyVectorcall_",
    "_PyFunction_Vectorcall",
    "_PyFunction_FastCall",
    "_PyCFunction_",
    "cfunction_",
    "method_vectorcall",
    "object_vacall",
    "slot_tp_",
    "Py_RunMain",
    "Py_Main",
    "Py_BytesMain",
    "pymain_",
    "PyRun_",
    "_PyRun_",
    "run_mod",
    "run_eval_code_obj",
    "pyrun_",
    "gen_send_ex",
    "gen_iternext",
    "gen_send",
    "builtin_exec",
    "vectorcall_",
  };
  static const char *const importing[] = {
    "PyImport_",   "_PyImport_",      "import_find_and_load", "import_name",
    "import_from", "import_all_from", "builtin___import__",
  };

  for (guint i = 0; i < G_N_ELEMENTS (calling); i++)
    if (g_str_has_prefix (name, calling[i]))
      return FLAM_FUNCTION_IRRELEVANT;
  for (guint i = 0; i < G_N_ELEMENTS (importing); i++)
    if (g_str_has_prefix (name, importing[i]))
      return FLAM_FUNCTION_IMPORT | FLAM_FUNCTION_IRRELEVANT;
  return strstr (name, "vectorcall") != NULL ? FLAM_FUNCTION_IRRELEVANT
                                             : FLAM_FUNCTION_PLAIN;
}
