/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-gecko-tables.h"

#include <string.h>

static const struct
{
  const char *table, *column;
  guint32 scale;
} columns[FLAM_GECKO_N_COLUMNS] = {
  [FLAM_GECKO_STACK_PREFIX] = { "stackTable", "prefix", 1 },
  [FLAM_GECKO_STACK_BACK] = { "stackTable", "prefixOffset", 1 },
  [FLAM_GECKO_STACK_FRAME] = { "stackTable", "frame", 1 },
  [FLAM_GECKO_FRAME_FUNC] = { "frameTable", "func", 1 },
  [FLAM_GECKO_FRAME_LINE] = { "frameTable", "line", 1 },
  [FLAM_GECKO_FRAME_LOCATION] = { "frameTable", "location", 1 },
  [FLAM_GECKO_FRAME_CATEGORY] = { "frameTable", "category", 1 },
  [FLAM_GECKO_FRAME_DEPTH] = { "frameTable", "inlineDepth", 1 },
  [FLAM_GECKO_FRAME_ADDRESS] = { "frameTable", "address", 1 },
  [FLAM_GECKO_FRAME_LIB] = { "frameTable", "lib", 1 },
  [FLAM_GECKO_FUNC_NAME] = { "funcTable", "name", 1 },
  [FLAM_GECKO_FUNC_JS] = { "funcTable", "isJS", 1 },
  [FLAM_GECKO_FUNC_FILE] = { "funcTable", "fileName", 1 },
  [FLAM_GECKO_FUNC_LINE] = { "funcTable", "lineNumber", 1 },
  [FLAM_GECKO_FUNC_SOURCE] = { "funcTable", "source", 1 },
  [FLAM_GECKO_FUNC_RESOURCE] = { "funcTable", "resource", 1 },
  [FLAM_GECKO_RESOURCE_NAME] = { "resourceTable", "name", 1 },
  [FLAM_GECKO_SOURCE_FILE] = { "sources", "filename", 1 },
  [FLAM_GECKO_SAMPLE_STACK] = { "samples", "stack", 1 },
  [FLAM_GECKO_SAMPLE_TIME] = { "samples", "time", FLAM_GECKO_MICRO },
  [FLAM_GECKO_SAMPLE_DELTA] = { "samples", "timeDeltas", FLAM_GECKO_MICRO },
  [FLAM_GECKO_SAMPLE_WEIGHT] = { "samples", "weight", FLAM_GECKO_MICRO },
  [FLAM_GECKO_SAMPLE_COUNT] = { "samples", "count", FLAM_GECKO_MILLI },
  [FLAM_GECKO_MARK_NAME] = { "markers", "name", 1 },
  [FLAM_GECKO_MARK_START] = { "markers", "startTime", FLAM_GECKO_MICRO },
  [FLAM_GECKO_MARK_END] = { "markers", "endTime", FLAM_GECKO_MICRO },
  [FLAM_GECKO_MARK_TIME] = { "markers", "time", FLAM_GECKO_MICRO },
  [FLAM_GECKO_MARK_PHASE] = { "markers", "phase", 1 },
};

FlamGeckoTables *
flam_gecko_tables_new (const FlamLoad *load)
{
  FlamGeckoTables *tables = g_new0 (FlamGeckoTables, 1);

  tables->source = load->source;
  tables->options = load->options;
  for (guint i = 0; i < FLAM_GECKO_N_COLUMNS; i++)
    flam_gecko_cells_init (&tables->column[i],
                           columns[i].scale > 1 ||
                                   i == FLAM_GECKO_FRAME_ADDRESS ||
                                   i == FLAM_GECKO_SAMPLE_COUNT
                               ? sizeof (gint64)
                               : sizeof (gint32),
                           columns[i].scale);
  tables->strings = g_array_new (FALSE, FALSE, sizeof (FlamId));
  tables->frames = g_array_new (FALSE, FALSE, sizeof (FlamId));
  tables->stacks = g_array_new (FALSE, FALSE, sizeof (FlamId));
  return tables;
}

void
flam_gecko_tables_free (FlamGeckoTables *tables)
{
  if (tables == NULL)
    return;
  for (guint i = 0; i < FLAM_GECKO_N_COLUMNS; i++)
    flam_gecko_cells_clear (&tables->column[i]);
  g_array_unref (tables->strings);
  g_array_unref (tables->frames);
  g_array_unref (tables->stacks);
  g_free (tables);
}

/* --- reading ------------------------------------------------------------- */

static void
add_string (FlamGeckoTables *tables, FlamBuilder *builder, FlamJson *json)
{
  FlamStringId string = flam_json_intern (json, builder);

  g_array_append_val (tables->strings, string);
}

/* The file's name itself, in raw profiles: becomes a row of the strings. */
static void
add_file (FlamGeckoTables *tables, FlamBuilder *builder, FlamJson *json)
{
  gint64 value = FLAM_GECKO_NOTHING;

  if (json->token == FLAM_JSON_NUMBER)
    value = flam_json_get_int (json);
  else if (json->token == FLAM_JSON_STRING)
    {
      value = tables->strings->len;
      add_string (tables, builder, json);
    }
  flam_gecko_cells_append (&tables->column[FLAM_GECKO_SOURCE_FILE], value);
}

static int
find_column (FlamJson *json, const char *table)
{
  for (int i = 0; i < FLAM_GECKO_N_COLUMNS; i++)
    if (strcmp (columns[i].table, table) == 0 &&
        flam_json_key_is (json, columns[i].column))
      return i;
  return -1;
}

static void
read_schema (FlamJson *json,
             const char *table,
             FlamGeckoSchema *schema,
             int *data)
{
  flam_json_each (json)
    {
      int column = find_column (json, table);
      gint64 place = flam_json_get_int (json);

      if (flam_json_key_is (json, "data"))
        *data = (int)CLAMP (place, -1, G_MAXINT32);
      if (column < 0 || place < 0 || place >= FLAM_GECKO_N_COLUMNS)
        continue;
      while (schema->n <= place)
        schema->column[schema->n++] = -1;
      schema->column[place] = column;
    }
}

/* Sources are few, and have texts. */
static void
read_files (FlamGeckoTables *tables,
            FlamBuilder *builder,
            FlamJson *json,
            const FlamGeckoSchema *schema)
{
  flam_json_each (json)
    {
      guint inner = flam_json_enter (json);
      guint place = 0;

      for (; flam_json_element (json, inner); place++)
        if (place < schema->n && schema->column[place] >= 0)
          add_file (tables, builder, json);
      for (; place < schema->n; place++)
        if (schema->column[place] >= 0)
          flam_gecko_cells_append (&tables->column[FLAM_GECKO_SOURCE_FILE],
                                   FLAM_GECKO_NOTHING);
    }
}

static void
read_rows (FlamGeckoTables *tables,
           FlamBuilder *builder,
           FlamJson *json,
           const FlamGeckoSchema *schema)
{
  gboolean files = FALSE;

  for (guint i = 0; i < schema->n; i++)
    files = files || schema->column[i] == FLAM_GECKO_SOURCE_FILE;
  if (files)
    read_files (tables, builder, json, schema);
  else
    flam_gecko_array_read (
        tables->column, json, schema, FALSE, tables->source, tables->options);
}

static void
read_column (FlamGeckoTables *tables,
             FlamBuilder *builder,
             FlamJson *json,
             FlamGeckoColumn column)
{
  FlamGeckoSchema schema = { { (int)column }, 1 };

  if (column != FLAM_GECKO_SOURCE_FILE)
    flam_gecko_array_read (
        tables->column, json, &schema, TRUE, tables->source, tables->options);
  else
    flam_json_each (json)
      add_file (tables, builder, json);
}

/* Rows that precede their schema are read after it. */
static void
read_late_rows (FlamGeckoTables *tables,
                FlamBuilder *builder,
                FlamJsonText rows,
                const FlamGeckoSchema *schema)
{
  g_auto (FlamJson) json = { 0 };

  flam_json_open (&json, rows.text, rows.length);
  read_rows (tables, builder, &json, schema);
}

/* --- details of markers --------------------------------------------------- */

static void
read_detail (FlamGeckoTables *tables, FlamJson *json)
{
  gint64 start = FLAM_GECKO_NOTHING, end = start, phase = start;

  flam_json_each (json)
    if (flam_json_key_is (json, "interval"))
      phase = flam_json_string_is (json, "start") ? FLAM_GECKO_MARK_BEGINS
              : flam_json_string_is (json, "end") ? FLAM_GECKO_MARK_ENDS
                                                  : FLAM_GECKO_NOTHING;
    else if (json->token == FLAM_JSON_NUMBER &&
             flam_json_key_is (json, "startTime"))
      start = flam_json_get_scaled (json, FLAM_GECKO_MICRO);
    else if (json->token == FLAM_JSON_NUMBER &&
             flam_json_key_is (json, "endTime"))
      end = flam_json_get_scaled (json, FLAM_GECKO_MICRO);
  if (phase == FLAM_GECKO_NOTHING && start != phase && end != phase)
    phase = FLAM_GECKO_MARK_WHOLE;
  else if (phase == FLAM_GECKO_NOTHING)
    start = end = FLAM_GECKO_NOTHING;
  flam_gecko_cells_append (&tables->column[FLAM_GECKO_MARK_START], start);
  flam_gecko_cells_append (&tables->column[FLAM_GECKO_MARK_END], end);
  flam_gecko_cells_append (&tables->column[FLAM_GECKO_MARK_PHASE], phase);
}

/* Column `place` of each row; -1: the array's elements themselves. */
static void
read_details (FlamGeckoTables *tables, FlamJsonText text, int place)
{
  g_auto (FlamJson) json = { 0 };
  guint depth = flam_json_open (&json, text.text, text.length);

  while (flam_json_element (&json, depth))
    if (place < 0)
      read_detail (tables, &json);
    else
      {
        guint row = flam_json_enter (&json);
        gboolean found = FALSE;

        for (int i = 0; flam_json_element (&json, row); i++)
          if (i == place)
            {
              read_detail (tables, &json);
              found = TRUE;
            }
        if (!found)
          read_detail (tables, &json);
      }
}

static gboolean
has_detail_columns (const FlamGeckoSchema *schema)
{
  for (guint i = 0; i < schema->n; i++)
    if (schema->column[i] == FLAM_GECKO_MARK_START ||
        schema->column[i] == FLAM_GECKO_MARK_PHASE)
      return TRUE;
  return FALSE;
}

static void
read_table (FlamGeckoTables *tables,
            FlamBuilder *builder,
            FlamJson *json,
            const char *table,
            FlamGeckoMeasure *measure)
{
  FlamGeckoSchema schema = { .n = 0 };
  FlamJsonText rows = { .text = "" };
  gboolean markers = strcmp (table, "markers") == 0;
  int place = -1;

  flam_json_each (json)
    {
      int column = find_column (json, table);

      if (column >= 0 && json->token == FLAM_JSON_ARRAY)
        read_column (tables, builder, json, column);
      else if (flam_json_key_is (json, "schema"))
        read_schema (json, table, &schema, &place);
      else if (flam_json_key_is (json, "data") && schema.n > 0 && !markers)
        read_rows (tables, builder, json, &schema);
      else if (flam_json_key_is (json, "data"))
        rows = flam_json_take (json);
      else if (measure != NULL && flam_json_key_is (json, "weightType"))
        *measure = flam_json_string_is (json, "tracing-ms") ? FLAM_GECKO_IS_TIME
                   : flam_json_string_is (json, "bytes")    ? FLAM_GECKO_IS_SIZE
                                                         : FLAM_GECKO_IS_COUNT;
    }
  if (rows.length > 0 && schema.n > 0)
    read_late_rows (tables, builder, rows, &schema);
  if (markers && rows.length > 0 && !has_detail_columns (&schema) &&
      tables->column[FLAM_GECKO_MARK_START].n == 0 &&
      (schema.n == 0 || place >= 0))
    read_details (tables, rows, place);
}

static void
read_strings (FlamBuilder *builder, FlamGeckoTables *tables, FlamJson *json)
{
  flam_json_each (json)
    add_string (tables, builder, json);
}

gboolean
flam_gecko_tables_read (FlamGeckoTables *tables,
                        FlamJson *json,
                        FlamBuilder *builder,
                        FlamGeckoMeasure *measure)
{
  static const char *const names[] = { "stackTable", "frameTable",
                                       "funcTable",  "resourceTable",
                                       "sources",    "samples",
                                       "markers" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (flam_json_key_is (json, names[i]))
      {
        read_table (tables, builder, json, names[i], measure);
        return TRUE;
      }
  if (!flam_json_key_is (json, "stringArray") &&
      !flam_json_key_is (json, "stringTable"))
    return FALSE;
  read_strings (builder, tables, json);
  return TRUE;
}

gint64
flam_gecko_get_id (FlamJson *json)
{
  gint64 id = -1;

  if (json->token == FLAM_JSON_NUMBER)
    id = flam_json_get_int (json);
  else if (json->token == FLAM_JSON_STRING)
    {
      const char *text = flam_json_get_string (json, NULL);
      char *end;
      id = g_ascii_strtoll (text, &end, 10);
      if (end == text)
        id = -1;
    }
  return id >= 0 && id <= G_MAXINT32 ? id : -1;
}
