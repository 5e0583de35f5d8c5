/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Pages of async-profiler. A flame graph is a list of calls in JavaScript, one
 * per line, callers before callees. Up to version 2
 *
 *    f(LEVEL,LEFT,WIDTH,TYPE,'java/lang/String.hashCode')
 *
 * and later, with names in a table, of which each begins with the length of
 * what it has in common with the one before, plus 32, as a character:
 *
 *    const cpool = [          f(KEY,LEVEL,LEFT,WIDTH)   a frame; KEY is the
 *    'all',                                             name times 8, and the
 *    ' java/lang/Object',                               type
 *    '1String'                u(KEY,WIDTH)    above the frame before
 *    ];                       n(KEY,WIDTH)    beside it
 *
 * where a missing WIDTH is that of the frame before. A tree is a list:
 *
 *    <li><div>[2] 12.50% 1,234 self: 0.40% 40</div><span class='t1'>
 * name</span>
 *
 * Source of facts: async-profiler's flameGraph.cpp, flame.html, tree.html. */

#include "flam-formats.h"

#include "flam-markup.h"
#include "flam-outline.h"
#include "flam-stack-text.h"
#include "flam-weights-as.h"

#include <string.h>

#define MAX_NUMBERS 8

typedef struct
{
  FlamBuilder *builder;
  FlamWeightsAs as;
  FlamText lines;
  FlamOutline outline;
  FlamThreadId thread;
  GPtrArray *names;   /* of the table */
  GHashTable *frames; /* name and type -> frame + 1 */
  gboolean in_table, has_table;
  gint64 level, width; /* of the frame before */
} Page;

/* Types by their numbers in the newer pages. */
enum
{
  INTERPRETED,
  COMPILED,
  INLINED,
  NATIVE,
  CPP,
  KERNEL,
  COMPILED_BY_C1,
  N_TYPES
};

static const FlamFunctionKind kinds[N_TYPES] = {
  [INTERPRETED] = FLAM_KIND_INTERPRETED,
  [COMPILED] = FLAM_KIND_JIT,
  [INLINED] = FLAM_KIND_JIT,
  [NATIVE] = FLAM_KIND_NATIVE,
  [CPP] = FLAM_KIND_NATIVE,
  [KERNEL] = FLAM_KIND_KERNEL,
  [COMPILED_BY_C1] = FLAM_KIND_JIT,
};

static const guint old_types[] = { COMPILED, INLINED, KERNEL, CPP, NATIVE };

/* --- frames -------------------------------------------------------------- */

static FlamFrameId
find_frame (Page *page, const char *name, guint type)
{
  g_autofree char *key = g_strdup_printf ("%u%s", type, name);
  FlamFrameId frame =
      GPOINTER_TO_UINT (g_hash_table_lookup (page->frames, key)) - 1;

  if (frame != FLAM_NONE)
    return frame;
  frame =
      flam_builder_frame (page->builder,
                          flam_builder_function_named (
                              page->builder,
                              flam_builder_string (page->builder, name, -1),
                              type < N_TYPES ? kinds[type] : FLAM_KIND_NATIVE),
                          0,
                          0,
                          type == INLINED);
  g_hash_table_insert (
      page->frames, g_steal_pointer (&key), GUINT_TO_POINTER (frame + 1));
  return frame;
}

/* The first frame is the whole, and not code. */
static gboolean
add_frame (Page *page, gint64 level, gint64 width, const char *name, guint type)
{
  gboolean whole = level == 0 && strcmp (name, "all") == 0;

  if (level < 0 || level > G_MAXINT32 || width < 0)
    return FALSE;
  flam_outline_add_at (&page->outline,
                       (guint)level,
                       page->thread,
                       whole ? FLAM_NONE : find_frame (page, name, type),
                       flam_weights_as_scale (page->as, width));
  return TRUE;
}

/* --- JavaScript ---------------------------------------------------------- */

/* The text in single quotes; FALSE: no quote begins here, or it does not
 * end. */
static gboolean
read_quoted (FlamSlice text, GString *out)
{
  g_string_truncate (out, 0);
  if (!flam_slice_begins (text, "'"))
    return FALSE;
  for (gsize i = 1; i < text.length; i++)
    {
      if (text.text[i] == '\'')
        return TRUE;
      if (text.text[i] == '\\' && i + 1 < text.length)
        i++;
      g_string_append_c (out, text.text[i]);
    }
  return FALSE;
}

/* The first `n` characters of a name. */
static char *
beginning_of (const char *name, guint n)
{
  const char *p = name;

  for (; n > 0 && *p != '\0'; n--)
    p = g_utf8_next_char (p);
  return g_strndup (name, p - name);
}

static gboolean
add_name (Page *page, FlamSlice line)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *valid = NULL;
  g_autofree char *start = NULL;
  gunichar common;

  if (!read_quoted (line, text))
    return FALSE;
  valid = g_utf8_make_valid (text->str, text->len);
  if (page->names->len == 0)
    {
      g_ptr_array_add (page->names, g_steal_pointer (&valid));
      return TRUE;
    }
  common = g_utf8_get_char (valid);
  if (common < ' ')
    return FALSE;
  start = beginning_of (page->names->pdata[page->names->len - 1],
                        MIN (common - ' ', (gunichar)G_MAXINT16));
  g_ptr_array_add (page->names,
                   g_strconcat (start, g_utf8_next_char (valid), NULL));
  return TRUE;
}

/* Parses the numbers in the parentheses and skips the rest; returns their
 * number. */
static guint
read_numbers (FlamSlice *rest, gint64 *numbers)
{
  guint n = 0;

  while (n < MAX_NUMBERS && rest->length > 0)
    {
      const char *p = rest->text;

      if (!flam_text_number (&p, rest->text + rest->length, &numbers[n]))
        break;
      n++;
      *rest = flam_slice_from (*rest, p - rest->text);
      if (!flam_slice_begins (*rest, ","))
        break;
      *rest = flam_slice_from (*rest, 1);
    }
  return n;
}

static gboolean
read_old_call (Page *page, const gint64 *numbers, guint n, FlamSlice rest)
{
  g_autoptr (GString) name = g_string_new (NULL);

  if (n != 4 || !read_quoted (rest, name))
    return FALSE;
  return add_frame (page,
                    numbers[0],
                    numbers[2],
                    name->str,
                    numbers[3] < (gint64)G_N_ELEMENTS (old_types)
                        ? old_types[numbers[3]]
                        : NATIVE);
}

static gboolean
read_call (Page *page, char function, FlamSlice rest)
{
  gint64 numbers[MAX_NUMBERS] = { 0 };
  guint n = read_numbers (&rest, numbers);
  gint64 width;

  if (function == 'f' && !page->has_table)
    return read_old_call (page, numbers, n, rest);
  if (n == 0 || numbers[0] / 8 >= page->names->len)
    return FALSE;
  width = function == 'f' ? numbers[3] : numbers[1];
  page->level = function == 'f'   ? numbers[1]
                : function == 'u' ? page->level + 1
                                  : page->level;
  page->width = width > 0 ? width : page->width;
  return add_frame (page,
                    page->level,
                    page->width,
                    page->names->pdata[numbers[0] / 8],
                    numbers[0] % 8);
}

/* --- the tree ------------------------------------------------------------ */

/* "1,234 self" */
static gboolean
read_grouped (FlamSlice text, gint64 *value)
{
  gsize n = 0;

  *value = 0;
  for (; n < text.length &&
         (flam_text_is_digit (text.text[n]) || (n > 0 && text.text[n] == ','));
       n++)
    if (text.text[n] != ',' &&
        (__builtin_mul_overflow (*value, 10, value) ||
         __builtin_add_overflow (*value, text.text[n] - '0', value)))
      return FALSE;
  return n > 0;
}

/* "[2] 12.50% 1,234 self: 0.40% 40</div><span class='t1'> name</span>" */
static gboolean
read_row (Page *page, FlamSlice row)
{
  gint64 level = flam_slice_number_after (row, "[");
  gint64 type = flam_slice_number_after (row, "<span class='t");
  gsize percent = flam_slice_find (row, "% ");
  gsize name = flam_slice_find (row, "'> ");
  g_autoptr (GString) text = g_string_new (NULL);
  FlamSlice part;
  gint64 width;

  if (level < 0 || percent == row.length || name == row.length ||
      !read_grouped (flam_slice_from (row, percent + 2), &width))
    return FALSE;
  part = flam_slice_from (row, name + 3);
  part.length = flam_slice_find (part, "</span>");
  flam_markup_unescape (text, part);
  return add_frame (page, level, width, text->str, type < 0 ? NATIVE : type);
}

/* --- the importer -------------------------------------------------------- */

static const char row_head[] = "<li><div>[";

static gboolean
read_line (gpointer data, FlamSlice line)
{
  Page *page = data;
  gsize row = flam_slice_find (line, row_head);

  if (row < line.length)
    return read_row (page, flam_slice_from (line, row + sizeof (row_head) - 2));
  if (flam_slice_is (line, "const cpool = ["))
    page->in_table = page->has_table = TRUE;
  else if (page->in_table && flam_slice_begins (line, "]"))
    page->in_table = FALSE;
  else if (page->in_table)
    return add_name (page, line);
  else if (line.length > 2 && strchr ("fun", *line.text) != NULL &&
           line.text[1] == '(')
    return read_call (page, *line.text, flam_slice_from (line, 2));
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamBuilder *builder = load->builder;
  Page *page = flam_arena_new (load, Page);

  page->builder = builder;
  page->as = flam_weights_as_of (load->source, load->options);
  page->names = flam_arena_pointers (load, g_free);
  page->frames = flam_arena_table (load, FLAM_KEY_TEXT, NULL);
  page->thread = flam_builder_lone_thread (builder);
  flam_arena_outline (load, &page->outline, FALSE);
  if (!flam_text_read (&page->lines, load, read_line, page, NULL, error))
    return FALSE;
  if (page->outline.rows->len == 0)
    return flam_source_invalid (
        load->source, error, N_ ("this async-profiler page has no frames"));
  flam_builder_add_column (builder);
  flam_weights_as_add_event (page->as, builder, "", 0);
  flam_outline_finish (&page->outline, builder);
  flam_text_warn_bad (&page->lines, builder, "async-profiler's");
  if (memmem (page->lines.start,
              page->lines.end - page->lines.start,
              "</html>",
              7) == NULL)
    flam_load_partial (load, NULL, N_ ("the file was cut off"));
  return TRUE;
}

const FlamImporter flam_import_async_profiler = {
  .id = "async-profiler",
  .label = N_ ("async-profiler page"),
  .written_by = "async-profiler, as HTML",
  .suffixes = FLAM_LIST (".html"),
  .mime_types = FLAM_LIST ("text/html"),
  .signs = FLAM_SIGNS (
      FLAM_HEAD (
          90, '<', 16 << 10, "async-profiler</a>", "const levels = Array("),
      FLAM_HEAD (85, '<', 16 << 10, "function treeView(", "ul class='tree'")),
  .load = load,
  .streams = TRUE,
};
