/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-memray-report.h"

#include <string.h>

#include "flam-json.h"

static const char *const column_names[FLAM_MEMRAY_N_COLUMNS] = {
  "function",      "filename",  "lineno",      "value",
  "n_allocations", "thread_id", "interesting",
};

static void
init (FlamMemrayReport *report, FlamLoad *load)
{
  for (guint i = 0; i < FLAM_MEMRAY_N_COLUMNS; i++)
    report->columns[i] = flam_arena_array (load, gint64);
  report->parents = flam_arena_array (load, guint32);
  report->strings = flam_arena_array (load, FlamId);
  report->intervals = flam_arena_array (load, FlamMemrayInterval);
  report->marks = flam_arena_array (load, gint64);
  report->records = flam_arena_array (load, gint64);
}

/* --- reading ------------------------------------------------------------- */

/* Decodes &lt; &gt; &amp; &quot; &#x27; in place. */
static void
unescape_html (char *text)
{
  static const struct
  {
    const char *entity;
    char plain;
  } entities[] = {
    { "&lt;", '<' },   { "&gt;", '>' },    { "&amp;", '&' },
    { "&quot;", '"' }, { "&#x27;", '\'' }, { "&#39;", '\'' },
  };
  char *out = text;

  while (*text != '\0')
    {
      gsize length = 1;
      char c = *text;

      for (guint i = 0; c == '&' && i < G_N_ELEMENTS (entities); i++)
        if (g_str_has_prefix (text, entities[i].entity))
          {
            length = strlen (entities[i].entity);
            c = entities[i].plain;
          }
      *out++ = c;
      text += length;
    }
  *out = '\0';
}

static void
read_strings (FlamMemrayReport *report, FlamJson *json, FlamBuilder *builder)
{
  flam_json_each (json)
    {
      g_autofree char *text = g_strdup (flam_json_get_string (json, NULL));
      FlamId id;
      unescape_html (text);
      id = flam_builder_string (builder, text, -1);
      g_array_append_val (report->strings, id);
    }
}

/* A child comes after its parent; any other is not linked. */
static void
read_children (FlamMemrayReport *report, FlamJson *json)
{
  guint depth = flam_json_enter (json);
  guint32 parent = 0;

  for (; flam_json_element (json, depth); parent++)
    {
      flam_json_each (json)
        {
          gint64 child = flam_json_get_int (json);
          guint old = report->parents->len;

          /* every node is a child of one parent: at most as many as numbers */
          if (child <= parent ||
              (gsize)child > (gsize)(json->end - json->start))
            continue;
          if (child >= old)
            {
              g_array_set_size (report->parents, child + 1);
              for (guint i = old; i <= child; i++)
                g_array_index (report->parents, guint32, i) = FLAM_NONE;
            }
          g_array_index (report->parents, guint32, child) = parent;
        }
    }
}

static void
read_nodes (FlamMemrayReport *report, FlamJson *json)
{
  flam_json_each (json)
    {
      if (flam_json_key_is (json, "children"))
        read_children (report, json);
      for (guint i = 0; i < FLAM_MEMRAY_N_COLUMNS; i++)
        if (flam_json_key_is (json, column_names[i]))
          {
            flam_json_get_ints (json, report->columns[i]);
            break;
          }
    }
}

static void
read_intervals (FlamMemrayReport *report, FlamJson *json)
{
  report->temporal = TRUE;
  flam_json_each (json)
    {
      gint64 values[5] = { 0 };
      guint inner = flam_json_enter (json), n = 0;
      FlamMemrayInterval interval;

      while (flam_json_element (json, inner))
        if (n < 5)
          values[n++] =
              json->token == FLAM_JSON_NULL ? -1 : flam_json_get_int (json);
      interval = (FlamMemrayInterval){
        values[0], values[1], values[2], values[3], values[4]
      };
      if (n == 5 && interval.from >= 0)
        g_array_append_val (report->intervals, interval);
    }
}

static void
append_string (FlamMemrayReport *report,
               FlamBuilder *builder,
               guint column,
               const char *text,
               gssize length)
{
  FlamId id = flam_builder_string (builder, text, length);
  gint64 index = report->strings->len;

  g_array_append_val (report->strings, id);
  g_array_append_val (report->columns[column], index);
}

/* "work at app.py:18", or "???" */
static void
append_place (FlamMemrayReport *report, FlamBuilder *builder, const char *text)
{
  const char *at = strstr (text, " at ");
  const char *file = at != NULL ? at + strlen (" at ") : "";
  const char *colon = strrchr (file, ':');
  gint64 line = colon != NULL ? g_ascii_strtoll (colon + 1, NULL, 10) : 0;

  append_string (
      report, builder, FLAM_MEMRAY_FUNCTION, text, at != NULL ? at - text : -1);
  append_string (report,
                 builder,
                 FLAM_MEMRAY_FILE_NAME,
                 file,
                 colon != NULL ? colon - file : -1);
  g_array_append_val (report->columns[FLAM_MEMRAY_LINE], line);
}

static void
read_row (FlamMemrayReport *report, FlamJson *json, FlamBuilder *builder)
{
  g_autofree char *place = g_strdup ("???");
  g_autofree char *thread = g_strdup ("");
  gint64 size = 0, blocks = 0;

  flam_json_each (json)
    if (flam_json_key_is (json, "stack_trace"))
      {
        g_free (place);
        place = g_strdup (flam_json_get_string (json, NULL));
        unescape_html (place);
      }
    else if (flam_json_key_is (json, "tid"))
      {
        g_free (thread);
        thread = g_strdup (flam_json_get_string (json, NULL));
      }
    else if (flam_json_key_is (json, "size"))
      size = flam_json_get_int (json);
    else if (flam_json_key_is (json, "n_allocations"))
      blocks = flam_json_get_int (json);
  append_place (report, builder, place);
  append_string (report, builder, FLAM_MEMRAY_THREAD, thread, -1);
  g_array_append_val (report->columns[FLAM_MEMRAY_VALUE], size);
  g_array_append_val (report->columns[FLAM_MEMRAY_BLOCKS], blocks);
}

static void
read_table (FlamMemrayReport *report, FlamJson *json, FlamBuilder *builder)
{
  const gint64 root = 0;

  report->table = TRUE;
  for (guint i = 0; i < FLAM_MEMRAY_INTERESTING; i++)
    g_array_append_val (report->columns[i], root);
  flam_json_each (json)
    read_row (report, json, builder);
  flam_builder_warn (
      builder,
      N_ ("a table lists the places that allocate, not their callers"));
}

static void
read_packed (FlamMemrayReport *report, FlamJson *json, FlamBuilder *builder)
{
  flam_json_each (json)
    if (flam_json_key_is (json, "strings"))
      read_strings (report, json, builder);
    else if (flam_json_key_is (json, "nodes"))
      read_nodes (report, json);
    else if (flam_json_key_is (json, "intervals"))
      {
        if (json->token == FLAM_JSON_ARRAY)
          read_intervals (report, json);
      }
    else if (flam_json_key_is (json, "high_water_mark_by_snapshot"))
      flam_json_get_ints (json, report->marks);
}

/* --- nested nodes -------------------------------------------------------- */

/* A node whose members are being read; `array`: the depth of its children, 0 if
 * they are not. */
typedef struct
{
  guint node, object, array;
} OpenNode;

static gint64 *
column_at (FlamMemrayReport *report, guint column, guint node)
{
  return &g_array_index (report->columns[column], gint64, node);
}

static OpenNode
open_node (FlamMemrayReport *report, FlamJson *json, guint32 parent)
{
  guint node = report->parents->len;

  for (guint i = 0; i < FLAM_MEMRAY_N_COLUMNS; i++)
    {
      gint64 value = i == FLAM_MEMRAY_INTERESTING;

      if (i == FLAM_MEMRAY_FUNCTION || i == FLAM_MEMRAY_FILE_NAME ||
          i == FLAM_MEMRAY_THREAD)
        value = -1;
      g_array_append_val (report->columns[i], value);
    }
  g_array_append_val (report->parents, parent);
  return (OpenNode){ node, flam_json_enter (json), 0 };
}

static gint64
read_string (FlamMemrayReport *report, FlamJson *json, FlamBuilder *builder)
{
  g_autofree char *text = g_strdup (flam_json_get_string (json, NULL));
  FlamId id;

  unescape_html (text);
  id = flam_builder_string (builder, text, -1);
  g_array_append_val (report->strings, id);
  return report->strings->len - 1;
}

/* ["work","app.py","18"]; the root's line is a number, and is not used. */
static void
read_location (FlamMemrayReport *report,
               FlamJson *json,
               FlamBuilder *builder,
               guint node)
{
  guint depth = flam_json_enter (json);

  for (guint i = 0; flam_json_element (json, depth); i++)
    if (i < FLAM_MEMRAY_LINE)
      *column_at (report, i, node) = read_string (report, json, builder);
    else if (i == FLAM_MEMRAY_LINE && json->token == FLAM_JSON_STRING)
      *column_at (report, i, node) =
          g_ascii_strtoll (flam_json_get_string (json, NULL), NULL, 10);
}

static void
read_member (FlamMemrayReport *report,
             FlamJson *json,
             FlamBuilder *builder,
             OpenNode *open)
{
  if (flam_json_key_is (json, "children"))
    open->array = flam_json_enter (json);
  else if (flam_json_key_is (json, "location"))
    read_location (report, json, builder, open->node);
  else if (flam_json_key_is (json, "thread_id"))
    *column_at (report, FLAM_MEMRAY_THREAD, open->node) =
        read_string (report, json, builder);
  else if (flam_json_key_is (json, "interesting"))
    *column_at (report, FLAM_MEMRAY_INTERESTING, open->node) =
        json->token == FLAM_JSON_TRUE;
  else if (flam_json_key_is (json, "value"))
    *column_at (report, FLAM_MEMRAY_VALUE, open->node) =
        flam_json_get_int (json);
  else if (flam_json_key_is (json, "n_allocations"))
    *column_at (report, FLAM_MEMRAY_BLOCKS, open->node) =
        flam_json_get_int (json);
}

/* Members are in alphabetical order: "children" precedes the parent's other
 * members. */
static void
read_nested (FlamMemrayReport *report, FlamJson *json, FlamBuilder *builder)
{
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (OpenNode));
  OpenNode root = open_node (report, json, FLAM_NONE);

  g_array_append_val (stack, root);
  while (stack->len > 0)
    {
      OpenNode *top = &g_array_index (stack, OpenNode, stack->len - 1);

      if (top->array != 0 && flam_json_element (json, top->array))
        {
          OpenNode child = open_node (report, json, top->node);
          g_array_append_val (stack, child);
          continue;
        }
      top->array = 0;
      if (flam_json_element (json, top->object))
        read_member (report, json, builder, top);
      else
        g_array_set_size (stack, stack->len - 1);
    }
}

/* --- the page ------------------------------------------------------------ */

static void
read_records (FlamMemrayReport *report, FlamJson *json)
{
  flam_json_each (json)
    {
      guint inner = flam_json_enter (json), n = 0;
      gint64 values[3] = { 0 };

      while (flam_json_element (json, inner))
        if (n < 3)
          values[n++] = flam_json_get_int (json);
      g_array_append_vals (report->records, values, 3);
    }
}

static gboolean
find_text (const FlamSource *source, const char *text, const guint8 **after)
{
  const guint8 *found =
      memmem (source->data, source->size, text, strlen (text));

  *after = found != NULL ? found + strlen (text) : NULL;
  return found != NULL;
}

gboolean
flam_memray_report_read (FlamMemrayReport *report,
                         FlamLoad *load,
                         GError **error)
{
  const FlamSource *source = load->source;
  const guint8 *at;
  gboolean nested = !find_text (source, "packed_data = ", &at);
  FlamJson *json;

  init (report, load);
  if (nested && !find_text (source, "const data = ", &at))
    return flam_source_error (
        source,
        error,
        FLAM_ERROR_UNSUPPORTED,
        FLAM_NO_OFFSET,
        N_ ("not a flame graph or table: only reports made with “memray "
            "flamegraph” and “memray table” can be opened"));
  report->leaks = flam_source_head_has (source, 8192, "(memory leaks)");
  json = flam_json_load (load, at);
  if (json->token == FLAM_JSON_ARRAY)
    read_table (report, json, load->builder);
  else if (nested)
    read_nested (report, json, load->builder);
  else
    read_packed (report, json, load->builder);
  if (!flam_json_finish (json, source, error))
    return FALSE;
  if (find_text (source, "const inverted = ", &at))
    report->inverted = *at == 't';
  if (find_text (source, "const merge_threads = ", &at))
    report->merged = *at == 't';
  if (!find_text (source, "memory_records = ", &at))
    return TRUE;
  json = flam_json_load (load, at);
  read_records (report, json);
  return flam_json_finish (json, source, error);
}
