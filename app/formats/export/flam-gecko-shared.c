/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-gecko-writer.h"

guint
flam_gecko_intern (FlamGeckoWriter *writer, const char *text)
{
  gpointer index;

  if (!g_hash_table_lookup_extended (writer->index, text, NULL, &index))
    {
      index = GUINT_TO_POINTER (writer->texts->len);
      g_ptr_array_add (writer->texts, (gpointer)text);
      g_hash_table_insert (writer->index, (gpointer)text, index);
    }
  return GPOINTER_TO_UINT (index);
}

/* A line's file is its function's in this format: a line in another file
 * becomes a separate function. */
static FlamId
file_of (const FlamProfile *profile, FlamId frame)
{
  FlamId file = profile->frames.file[frame];

  return file != 0 ? file
                   : profile->functions.file[profile->frames.function[frame]];
}

static void
find_functions (FlamGeckoWriter *writer, FlamExport *export)
{
  const FlamProfile *profile = writer->part->profile;
  GHashTable *rows = flam_keep_table (export, FLAM_KEY_NUMBER, NULL);

  writer->code = flam_keep_vector (export, guint32, profile->frames.n + 1);
  writer->codes = flam_keep_array (export, FlamId);
  for (FlamId i = 0; i < profile->frames.n; i++)
    {
      guint64 key =
          (guint64)profile->frames.function[i] << 32 | file_of (profile, i);
      gpointer row;

      if (!g_hash_table_lookup_extended (rows, &key, NULL, &row))
        {
          row = GUINT_TO_POINTER (writer->codes->len);
          g_hash_table_insert (rows, g_memdup2 (&key, sizeof key), row);
          g_array_append_val (writer->codes, i);
        }
      writer->code[i] = GPOINTER_TO_UINT (row);
    }
}

void
flam_gecko_writer_init (FlamGeckoWriter *writer, FlamExport *export)
{
  writer->part = export->part;
  writer->out = export->out;
  writer->index = flam_keep_table (export, FLAM_KEY_LENT, NULL);
  writer->texts = flam_keep_pointers (export, NULL);
  find_functions (writer, export);
}

/* --- columns ------------------------------------------------------------- */

/* "name":[v,v,…], with each value written by `put`. */
static void
put_column (FlamGeckoWriter *writer,
            const char *name,
            guint n,
            void (*put) (FlamGeckoWriter *, guint))
{
  flam_sink_printf (writer->out, ",\n\"%s\":[", name);
  for (guint i = 0; i < n; i++)
    {
      if (i > 0)
        flam_sink_put_c (writer->out, ',');
      put (writer, i);
    }
  flam_sink_put_c (writer->out, ']');
}

static void
put_false (FlamGeckoWriter *writer, guint i)
{
  flam_sink_put (writer->out, "false");
}

static void
put_one (FlamGeckoWriter *writer, guint i)
{
  flam_sink_put_c (writer->out, '1');
}

static void
put_number (FlamGeckoWriter *writer, guint n)
{
  if (n == 0)
    flam_gecko_put_null (writer, n);
  else
    flam_gecko_put_index (writer, n);
}

static void
put_minus_one (FlamGeckoWriter *writer, guint i)
{
  flam_sink_put (writer->out, "-1");
}

static const FlamFrames *
frames_of (const FlamGeckoWriter *writer)
{
  return &writer->part->profile->frames;
}

static FlamId
function_of (const FlamGeckoWriter *writer, guint frame)
{
  return frames_of (writer)->function[frame];
}

/* --- frames -------------------------------------------------------------- */

static void
put_address (FlamGeckoWriter *writer, guint i)
{
  guint64 address = frames_of (writer)->address[i];

  if (address == 0 || address > G_MAXINT64 >> 10)
    put_minus_one (writer, i);
  else
    flam_sink_put_int (writer->out, (gint64)address);
}

static void
put_depth (FlamGeckoWriter *writer, guint i)
{
  flam_gecko_put_index (writer, frames_of (writer)->inline_depth[i]);
}

static void
put_category (FlamGeckoWriter *writer, guint i)
{
  flam_gecko_put_index (
      writer, writer->part->profile->functions.kind[function_of (writer, i)]);
}

static void
put_function (FlamGeckoWriter *writer, guint i)
{
  flam_gecko_put_index (writer, writer->code[i]);
}

static void
put_line (FlamGeckoWriter *writer, guint i)
{
  put_number (writer, frames_of (writer)->line[i]);
}

/* --- functions ----------------------------------------------------------- */

static FlamId
code_frame (const FlamGeckoWriter *writer, guint i)
{
  return g_array_index (writer->codes, FlamId, i);
}

static FlamId
code_function (const FlamGeckoWriter *writer, guint i)
{
  return function_of (writer, code_frame (writer, i));
}

static void
put_function_name (FlamGeckoWriter *writer, guint i)
{
  const FlamProfile *profile = writer->part->profile;

  flam_gecko_put_index (
      writer,
      flam_gecko_intern_id (
          writer, profile->functions.name[code_function (writer, i)]));
}

static void
put_js (FlamGeckoWriter *writer, guint i)
{
  const FlamProfile *profile = writer->part->profile;

  flam_sink_put (writer->out,
                 profile->functions.kind[code_function (writer, i)] ==
                         FLAM_KIND_INTERPRETED
                     ? "true"
                     : "false");
}

static void
put_module (FlamGeckoWriter *writer, guint i)
{
  FlamId module =
      writer->part->profile->functions.module[code_function (writer, i)];

  if (module == FLAM_NONE)
    put_minus_one (writer, i);
  else
    flam_gecko_put_index (writer, module);
}

static void
put_function_line (FlamGeckoWriter *writer, guint i)
{
  put_number (writer,
              writer->part->profile->functions.line[code_function (writer, i)]);
}

/* Sources are numbered like the functions: one each, "" if unknown. */
static void
put_file_name (FlamGeckoWriter *writer, guint i)
{
  flam_gecko_put_index (
      writer,
      flam_gecko_intern_id (
          writer, file_of (writer->part->profile, code_frame (writer, i))));
}

static void
put_module_name (FlamGeckoWriter *writer, guint i)
{
  flam_gecko_put_index (
      writer,
      flam_gecko_intern_id (writer, writer->part->profile->modules.name[i]));
}

/* --- stacks -------------------------------------------------------------- */

static void
put_prefix (FlamGeckoWriter *writer, guint i)
{
  flam_gecko_put_id (writer, writer->part->profile->stacks.prefix[i]);
}

static void
put_stack_frame (FlamGeckoWriter *writer, guint i)
{
  flam_gecko_put_index (writer, writer->part->profile->stacks.frame[i]);
}

static void
put_strings (FlamGeckoWriter *writer)
{
  flam_sink_put (writer->out, "\"stringArray\":[");
  for (guint i = 0; i < writer->texts->len; i++)
    {
      flam_export_json_member (
          writer->out, i > 0 ? ",\n" : "\n", writer->texts->pdata[i]);
    }
  flam_sink_put (writer->out, "]}");
}

void
flam_gecko_put_shared (FlamGeckoWriter *writer)
{
  const FlamProfile *profile = writer->part->profile;
  FlamSink *out = writer->out;
  guint n = profile->frames.n;

  flam_sink_put (out, "\"shared\":{");
  flam_gecko_put_table (writer, "frameTable", n);
  put_column (writer, "address", n, put_address);
  put_column (writer, "inlineDepth", n, put_depth);
  put_column (writer, "category", n, put_category);
  put_column (writer, "subcategory", n, flam_gecko_put_zero);
  put_column (writer, "func", n, put_function);
  put_column (writer, "nativeSymbol", n, flam_gecko_put_null);
  put_column (writer, "innerWindowID", n, flam_gecko_put_zero);
  put_column (writer, "line", n, put_line);
  put_column (writer, "column", n, flam_gecko_put_null);
  flam_sink_put (out, "},\n");
  n = writer->codes->len;
  flam_gecko_put_table (writer, "funcTable", n);
  put_column (writer, "name", n, put_function_name);
  put_column (writer, "isJS", n, put_js);
  put_column (writer, "relevantForJS", n, put_false);
  put_column (writer, "resource", n, put_module);
  put_column (writer, "source", n, flam_gecko_put_index);
  put_column (writer, "lineNumber", n, put_function_line);
  put_column (writer, "columnNumber", n, flam_gecko_put_null);
  flam_sink_put (out, "},\n");
  flam_gecko_put_table (writer, "sources", n);
  put_column (writer, "id", n, flam_gecko_put_null);
  put_column (writer, "filename", n, put_file_name);
  put_column (writer, "startLine", n, put_one);
  put_column (writer, "startColumn", n, put_one);
  put_column (writer, "sourceMapURL", n, flam_gecko_put_null);
  flam_sink_put (out, "},\n");
  n = profile->stacks.n;
  flam_gecko_put_table (writer, "stackTable", n);
  put_column (writer, "prefix", n, put_prefix);
  put_column (writer, "frame", n, put_stack_frame);
  flam_sink_put (out, "},\n");
  n = profile->modules.n;
  flam_gecko_put_table (writer, "resourceTable", n);
  put_column (writer, "lib", n, flam_gecko_put_index);
  put_column (writer, "name", n, put_module_name);
  put_column (writer, "host", n, flam_gecko_put_null);
  put_column (writer, "type", n, put_one); /* a library */
  flam_sink_put (out,
                 "},\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],"
                 "\"address\":[],\"name\":[],\"functionSize\":[]},\n");
  put_strings (writer);
}
