/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-gecko-frames.h"

#include <string.h>

gint64
flam_gecko_get (const FlamGeckoProcess *process,
                const FlamGeckoTables *tables,
                FlamGeckoColumn column,
                gint64 row)
{
  return flam_gecko_cell (flam_gecko_cells_of (process, tables, column), row);
}

static FlamStringId
get_string (const FlamGeckoProcess *process,
            const FlamGeckoTables *tables,
            gint64 row)
{
  const GArray *strings = tables->strings;

  if (strings->len == 0)
    strings = process->shared->strings;
  return row >= 0 && row < strings->len
             ? g_array_index (strings, FlamId, (guint)row)
             : 0;
}

/* The file name of a row of the sources, which are shared. */
static FlamId
source_file (const FlamGeckoProcess *process, gint64 source)
{
  const FlamGeckoTables *shared = process->shared;

  return get_string (
      process,
      shared,
      flam_gecko_get (process, shared, FLAM_GECKO_SOURCE_FILE, source));
}

/* --- functions ----------------------------------------------------------- */

/* The number after the last `mark`, which is cut off; -1: none. */
static gint64
cut_number (char *text, char mark)
{
  char *at = strrchr (text, mark);
  gint64 number;

  if (at == NULL || at[1] == '\0' ||
      strspn (at + 1, "0123456789") != strlen (at + 1))
    return -1;
  number = MIN (g_ascii_strtoull (at + 1, NULL, 10), G_MAXINT32);
  *at = '\0';
  return number;
}

/* Splits "name (file:line:column)[source]"; the column and the row of the
 * sources may be absent. A script's top-level code has no name: "file:line". */
static void
parse_location (FlamGeckoProcess *process, FlamFunction *function)
{
  g_autofree char *text =
      g_strdup (flam_builder_get_string (process->builder, function->name));
  g_autofree char *name = NULL;
  char *place = text, *open, *loaded;
  gint64 source = -1, line, first;

  if (g_str_has_suffix (text, "]"))
    {
      text[strlen (text) - 1] = '\0';
      source = cut_number (text, '[');
    }
  open = g_strrstr (text, " (");
  if (open != NULL && g_str_has_suffix (text, ")"))
    {
      text[strlen (text) - 1] = '\0';
      *open = '\0';
      place = open + 2;
    }
  line = cut_number (place, ':');
  if (line < 0)
    return;
  first = cut_number (place, ':');
  /* "loader.js -> script.js" */
  loaded = g_strrstr (place, " -> ");
  if (loaded != NULL)
    place = loaded + 4;
  if (place == text || *text == '\0')
    name = g_strconcat ("(root scope) ", place, NULL);
  function->name =
      flam_builder_string (process->builder, name != NULL ? name : text, -1);
  function->file = source_file (process, source);
  if (function->file == 0)
    function->file = flam_builder_string (process->builder, place, -1);
  function->line = first >= 0 ? first : line;
  function->kind = FLAM_KIND_INTERPRETED;
}

/* Since version 70 a frame has its library; before, and if it has none, it
 * belongs to the resource of its function. */
static FlamModuleId
find_module (FlamGeckoProcess *process,
             const FlamGeckoTables *tables,
             gint64 row,
             gint64 func)
{
  gint64 lib = flam_gecko_get (process, tables, FLAM_GECKO_FRAME_LIB, row);
  g_autofree char *path = NULL;
  FlamStringId name;
  FlamModuleId module;

  if (lib >= 0 && lib < process->libs->len)
    name = g_array_index (process->libs, FlamId, (guint)lib);
  else
    name = get_string (
        process,
        tables,
        flam_gecko_get (
            process,
            tables,
            FLAM_GECKO_RESOURCE_NAME,
            flam_gecko_get (process, tables, FLAM_GECKO_FUNC_RESOURCE, func)));
  if (name == 0)
    return FLAM_NONE;
  path = g_strdup (flam_builder_get_string (process->builder, name));
  module = flam_builder_module (process->builder, path, "", FLAM_ADDRESS_VADDR);
  flam_builder_set_module_symbols (
      process->builder, module, FLAM_SYMBOLS_CAPTURE, "");
  return module;
}

static void
fill_function (FlamGeckoProcess *process,
               const FlamGeckoTables *tables,
               gint64 row,
               FlamFunction *function)
{
  gint64 func = flam_gecko_get (process, tables, FLAM_GECKO_FRAME_FUNC, row);
  gint64 line = flam_gecko_get (process, tables, FLAM_GECKO_FUNC_LINE, func);

  function->name =
      get_string (process,
                  tables,
                  flam_gecko_get (process, tables, FLAM_GECKO_FUNC_NAME, func));
  function->file = source_file (
      process, flam_gecko_get (process, tables, FLAM_GECKO_FUNC_SOURCE, func));
  if (function->file == 0)
    function->file = get_string (
        process,
        tables,
        flam_gecko_get (process, tables, FLAM_GECKO_FUNC_FILE, func));
  if (line > 0 && line <= G_MAXINT32)
    function->line = line;
  if (flam_gecko_get (process, tables, FLAM_GECKO_FUNC_JS, func) == 1)
    function->kind = FLAM_KIND_INTERPRETED;
  else
    function->module = find_module (process, tables, row, func);
}

/* --- frames -------------------------------------------------------------- */

/* Firefox's root of every stack, which is not code. */
static gboolean
is_root (FlamGeckoProcess *process, const FlamGeckoTables *tables, gint64 row)
{
  gint64 name =
      flam_gecko_get (process, tables, FLAM_GECKO_FRAME_LOCATION, row);

  if (process->ours)
    return FALSE;
  if (name == FLAM_GECKO_NOTHING)
    name = flam_gecko_get (
        process,
        tables,
        FLAM_GECKO_FUNC_NAME,
        flam_gecko_get (process, tables, FLAM_GECKO_FRAME_FUNC, row));
  return strcmp (flam_builder_get_string (process->builder,
                                          get_string (process, tables, name)),
                 "(root)") == 0;
}

static FlamFrameId
make_frame (FlamGeckoProcess *process,
            const FlamGeckoTables *tables,
            gint64 row)
{
  FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_NATIVE };
  gint64 category =
      flam_gecko_get (process, tables, FLAM_GECKO_FRAME_CATEGORY, row);
  gint64 line = flam_gecko_get (process, tables, FLAM_GECKO_FRAME_LINE, row);
  gint64 depth = flam_gecko_get (process, tables, FLAM_GECKO_FRAME_DEPTH, row);
  gint64 location =
      flam_gecko_get (process, tables, FLAM_GECKO_FRAME_LOCATION, row);
  gint64 address =
      flam_gecko_get (process, tables, FLAM_GECKO_FRAME_ADDRESS, row);
  const char *name;
  FlamId id;

  if (category >= 0 && category < process->n_categories)
    function.kind = process->category[category];
  if (location != FLAM_GECKO_NOTHING)
    {
      function.name = get_string (process, tables, location);
      parse_location (process, &function);
    }
  else
    fill_function (process, tables, row, &function);
  if (function.name == 0)
    function.name = flam_builder_string (process->builder, "[unknown]", -1);
  name = flam_builder_get_string (process->builder, function.name);
  /* A function that has only its address as its name, "0x7f21c0", is not merged
   * with others of its kind. */
  if (strcmp (name, "[unknown]") == 0)
    id = flam_builder_function_unresolved (process->builder, function.module);
  else
    id = flam_builder_function (process->builder, &function);
  return flam_builder_frame (
      process->builder,
      id,
      address > 0 && function.module != FLAM_NONE ? address : 0,
      line > 0 && line <= G_MAXINT32 ? line : 0,
      depth > 0 && depth <= G_MAXUINT16 ? depth : 0);
}

/* --- stacks -------------------------------------------------------------- */

static guint
n_rows (const FlamGeckoProcess *process,
        const FlamGeckoTables *tables,
        FlamGeckoColumn column)
{
  gsize n = tables->column[column].n;

  return (guint)MIN (n == 0 ? process->shared->column[column].n : n,
                     G_MAXINT32);
}

/* The row of a stack's caller, which precedes it; FLAM_GECKO_NOTHING: none.
 * Versions from 66 on count back from the stack, with 0 for none. */
static gint64
get_prefix (const FlamGeckoProcess *process,
            const FlamGeckoTables *tables,
            guint row)
{
  gint64 back = flam_gecko_get (process, tables, FLAM_GECKO_STACK_BACK, row);

  if (back == FLAM_GECKO_NOTHING)
    return flam_gecko_get (process, tables, FLAM_GECKO_STACK_PREFIX, row);
  if (back == 0)
    return FLAM_GECKO_NOTHING;
  return back > 0 ? row - back : row;
}

static void
make_stacks (FlamGeckoProcess *process, FlamGeckoTables *tables)
{
  guint n_frames = MAX (n_rows (process, tables, FLAM_GECKO_FRAME_FUNC),
                        n_rows (process, tables, FLAM_GECKO_FRAME_LOCATION));
  guint n = n_rows (process, tables, FLAM_GECKO_STACK_FRAME);

  for (guint i = 0; i < n_frames; i++)
    {
      FlamFrameId frame = make_frame (process, tables, i);
      g_array_append_val (tables->frames, frame);
    }
  for (guint i = 0; i < n; i++)
    {
      gint64 prefix = get_prefix (process, tables, i);
      gint64 frame =
          flam_gecko_get (process, tables, FLAM_GECKO_STACK_FRAME, i);
      FlamStackId stack = FLAM_NONE;

      if (prefix >= 0 && prefix < i)
        stack = g_array_index (tables->stacks, FlamId, (guint)prefix);
      process->bad +=
          prefix != FLAM_GECKO_NOTHING && (prefix < 0 || prefix >= i);
      if (frame < 0 || frame >= n_frames)
        process->bad++;
      else if (prefix != FLAM_GECKO_NOTHING ||
               !is_root (process, tables, frame))
        stack = flam_builder_stack (
            process->builder,
            stack,
            g_array_index (tables->frames, FlamId, (guint)frame));
      g_array_append_val (tables->stacks, stack);
    }
}

const GArray *
flam_gecko_stacks (FlamGeckoProcess *process, FlamGeckoTables *tables)
{
  if (tables->column[FLAM_GECKO_STACK_FRAME].n == 0)
    tables = process->shared;
  if (tables->stacks->len == 0)
    make_stacks (process, tables);
  return tables->stacks;
}
