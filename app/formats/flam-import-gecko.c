/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The Firefox Profiler's files, of Firefox, samply, and everything that writes
 * for it. Two formats, many versions (firefox-devtools/profiler,
 * docs-developer/CHANGELOG-formats.md), one idea: tables of numbers.
 *
 *    samples  stack ──▶ stackTable  prefix, frame ──▶ frameTable  func, line
 *             time                                        │
 *             weight            funcTable  name, isJS, file ◀┘
 *                                          └──▶ stringArray
 *
 * Processed: a table is {"length":n,"prefix":[…],"frame":[…]}; since version
 * 56 strings, since 62 all tables but the samples may stand in "shared" and
 * not in the thread.
 * Gecko (as Firefox itself dumps): {"schema":{"prefix":0,"frame":1},
 * "data":[[null,0],…]}, and a frame has a "location" in place of a func:
 * "name (file:line)"; other processes are whole profiles in "processes".
 *
 * Members come in any order, so pieces are remembered by where they lie and
 * read when what they need is there. */

#include "flam-formats.h"

#include "flam-json.h"

#include <string.h>

#define NOTHING G_MININT64
#define MICRO 1000000 /* ms -> ns; weights are kept times this */
#define MAX_CATEGORIES 256

enum
{
  STACK_PREFIX,
  STACK_FRAME,
  FRAME_FUNC,
  FRAME_LINE,
  FRAME_LOCATION,
  FRAME_CATEGORY,
  FRAME_DEPTH,
  FRAME_ADDRESS,
  FUNC_NAME,
  FUNC_JS,
  FUNC_FILE,
  FUNC_SOURCE,
  FUNC_RESOURCE,
  RESOURCE_NAME,
  SOURCE_FILE,
  SAMPLE_STACK,
  SAMPLE_TIME,
  SAMPLE_DELTA,
  SAMPLE_WEIGHT,
  N_COLUMNS
};

static const struct
{
  const char *table, *column;
  guint32 scale;
} columns[N_COLUMNS] = {
  [STACK_PREFIX] = { "stackTable", "prefix", 1 },
  [STACK_FRAME] = { "stackTable", "frame", 1 },
  [FRAME_FUNC] = { "frameTable", "func", 1 },
  [FRAME_LINE] = { "frameTable", "line", 1 },
  [FRAME_LOCATION] = { "frameTable", "location", 1 },
  [FRAME_CATEGORY] = { "frameTable", "category", 1 },
  [FRAME_DEPTH] = { "frameTable", "inlineDepth", 1 },
  [FRAME_ADDRESS] = { "frameTable", "address", 1 },
  [FUNC_NAME] = { "funcTable", "name", 1 },
  [FUNC_JS] = { "funcTable", "isJS", 1 },
  [FUNC_FILE] = { "funcTable", "fileName", 1 },
  [FUNC_SOURCE] = { "funcTable", "source", 1 },
  [FUNC_RESOURCE] = { "funcTable", "resource", 1 },
  [RESOURCE_NAME] = { "resourceTable", "name", 1 },
  [SOURCE_FILE] = { "sources", "filename", 1 },
  [SAMPLE_STACK] = { "samples", "stack", 1 },
  [SAMPLE_TIME] = { "samples", "time", MICRO },
  [SAMPLE_DELTA] = { "samples", "timeDeltas", MICRO },
  [SAMPLE_WEIGHT] = { "samples", "weight", MICRO },
};

typedef enum
{
  IS_COUNT,
  IS_TIME,
  IS_SIZE,
  N_MEASURES
} Measure;

typedef struct
{
  const char *text;
  gsize length;
} Piece;

typedef struct
{
  GArray *column[N_COLUMNS]; /* gint64 */
  GArray *strings;           /* FlamId */
  GArray *frames;            /* FlamId; made when first asked for */
  GArray *stacks;            /* FlamId */
} Tables;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  const FlamProgress *progress;
  GError *cancelled;
  GArray *profiles; /* Piece: the document, and processes found in it */
  GPtrArray *texts; /* of processes that were texts, unescaped */
  FlamFunctionKind category[MAX_CATEGORIES];
  guint n_categories;
  Tables *shared;
  gint64 start; /* unix ns of the first profile */
  gint64 offset;
  int event[N_MEASURES]; /* -1: not seen yet */
  guint n_events;
  guint n_threads;
  guint64 samples;
  guint64 bad;
  gboolean cut;
} Gecko;

/* --- tables -------------------------------------------------------------- */

static Tables *
tables_new (void)
{
  Tables *tables = g_new0 (Tables, 1);

  for (guint i = 0; i < N_COLUMNS; i++)
    tables->column[i] = g_array_new (FALSE, FALSE, sizeof (gint64));
  tables->strings = g_array_new (FALSE, FALSE, sizeof (FlamId));
  tables->frames = g_array_new (FALSE, FALSE, sizeof (FlamId));
  tables->stacks = g_array_new (FALSE, FALSE, sizeof (FlamId));
  return tables;
}

static void
tables_free (Tables *tables)
{
  if (tables == NULL)
    return;
  for (guint i = 0; i < N_COLUMNS; i++)
    g_array_unref (tables->column[i]);
  g_array_unref (tables->strings);
  g_array_unref (tables->frames);
  g_array_unref (tables->stacks);
  g_free (tables);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Tables, tables_free)

/* The value that begins with the current token, as bytes. */
static Piece
take_piece (FlamJson *json)
{
  const char *start = (const char *)json->at - 1;

  if (json->token != FLAM_JSON_OBJECT && json->token != FLAM_JSON_ARRAY)
    return (Piece){ "", 0 };
  flam_json_skip (json);
  if (json->token == FLAM_JSON_ERROR)
    return (Piece){ start, (const char *)json->end - start };
  return (Piece){ start, (const char *)json->at - start };
}

static void
open_piece (FlamJson *json, Piece piece)
{
  flam_json_init (json, piece.text, piece.length);
  flam_json_next (json);
}

static void
add_number (GArray *into, FlamJson *json, guint32 scale)
{
  gint64 value = NOTHING;

  if (json->token == FLAM_JSON_NUMBER)
    value = flam_json_get_scaled (json, scale);
  else if (json->token == FLAM_JSON_TRUE || json->token == FLAM_JSON_FALSE)
    value = json->token == FLAM_JSON_TRUE;
  g_array_append_val (into, value);
}

static int
find_column (FlamJson *json, const char *table)
{
  for (int i = 0; i < N_COLUMNS; i++)
    if (strcmp (columns[i].table, table) == 0 &&
        flam_json_key_is (json, columns[i].column))
      return i;
  return -1;
}

static void
read_schema (FlamJson *json, const char *table, int *map)
{
  guint depth = flam_json_enter (json);

  while (flam_json_member (json, depth))
    {
      int column = find_column (json, table);
      gint64 place = flam_json_get_int (json);
      if (column >= 0 && place >= 0 && place < N_COLUMNS)
        map[place] = column;
    }
}

static void
read_rows (Tables *tables, Piece rows, const int *map)
{
  g_auto (FlamJson) json = { 0 };
  guint depth, inner;

  open_piece (&json, rows);
  depth = flam_json_enter (&json);
  while (flam_json_element (&json, depth))
    {
      gboolean has[N_COLUMNS] = { FALSE };
      gint64 nothing = NOTHING;
      guint place = 0;

      inner = flam_json_enter (&json);
      for (; flam_json_element (&json, inner); place++)
        if (place < N_COLUMNS && map[place] >= 0)
          {
            add_number (
                tables->column[map[place]], &json, columns[map[place]].scale);
            has[place] = TRUE;
          }
      for (place = 0; place < N_COLUMNS; place++)
        if (map[place] >= 0 && !has[place])
          g_array_append_val (tables->column[map[place]], nothing);
    }
}

/* `weight_type` may be NULL. */
static void
read_table (Tables *tables, FlamJson *json, const char *table, Measure *measure)
{
  guint depth = flam_json_enter (json);
  int map[N_COLUMNS];
  Piece rows = { "", 0 };

  for (guint i = 0; i < N_COLUMNS; i++)
    map[i] = -1;
  while (flam_json_member (json, depth))
    {
      int column = find_column (json, table);

      if (column >= 0 && json->token == FLAM_JSON_ARRAY)
        {
          guint inner = flam_json_enter (json);
          while (flam_json_element (json, inner))
            add_number (tables->column[column], json, columns[column].scale);
        }
      else if (flam_json_key_is (json, "schema"))
        read_schema (json, table, map);
      else if (flam_json_key_is (json, "data"))
        rows = take_piece (json);
      else if (measure != NULL && flam_json_key_is (json, "weightType"))
        *measure = flam_json_string_is (json, "tracing-ms") ? IS_TIME
                   : flam_json_string_is (json, "bytes")    ? IS_SIZE
                                                            : IS_COUNT;
    }
  if (rows.length > 0)
    read_rows (tables, rows, map);
}

static void
read_strings (Gecko *gecko, Tables *tables, FlamJson *json)
{
  guint depth = flam_json_enter (json);

  while (flam_json_element (json, depth))
    {
      gsize length;
      const char *text = flam_json_get_string (json, &length);
      FlamId string = flam_builder_string (gecko->builder, text, length);
      g_array_append_val (tables->strings, string);
    }
}

/* TRUE: the member was a table, and is read. */
static gboolean
read_member (Gecko *gecko, Tables *tables, FlamJson *json, Measure *measure)
{
  static const char *const names[] = { "stackTable", "frameTable",
                                       "funcTable",  "resourceTable",
                                       "sources",    "samples" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (flam_json_key_is (json, names[i]))
      {
        read_table (tables, json, names[i], measure);
        return TRUE;
      }
  if (!flam_json_key_is (json, "stringArray") &&
      !flam_json_key_is (json, "stringTable"))
    return FALSE;
  read_strings (gecko, tables, json);
  return TRUE;
}

/* --- frames and stacks --------------------------------------------------- */

static gint64
get (const Gecko *gecko, const Tables *tables, int column, gint64 row)
{
  const GArray *values = tables->column[column];

  if (values->len == 0 && gecko->shared != NULL)
    values = gecko->shared->column[column];
  return row >= 0 && row < values->len
             ? g_array_index (values, gint64, (guint)row)
             : NOTHING;
}

static FlamId
get_string (const Gecko *gecko, const Tables *tables, gint64 row)
{
  const GArray *strings = tables->strings;

  if (strings->len == 0 && gecko->shared != NULL)
    strings = gecko->shared->strings;
  return row >= 0 && row < strings->len
             ? g_array_index (strings, FlamId, (guint)row)
             : 0;
}

/* "name (file:line:column)" -> its parts. */
static void
parse_location (Gecko *gecko, FlamFunction *function, guint32 *line)
{
  g_autofree char *text =
      g_strdup (flam_builder_get_string (gecko->builder, function->name));
  char *open = g_strrstr (text, " (");
  char *end = text + strlen (text);
  guint numbers = 0;

  if (open == NULL || end[-1] != ')')
    return;
  *--end = '\0';
  for (char *colon; numbers < 2 && (colon = strrchr (open, ':')) != NULL &&
                    colon[1] != '\0' &&
                    strspn (colon + 1, "0123456789") == strlen (colon + 1);
       numbers++)
    {
      *line = MIN (g_ascii_strtoull (colon + 1, NULL, 10), G_MAXINT32);
      *colon = '\0';
    }
  if (numbers == 0)
    return;
  function->file = flam_builder_string (gecko->builder, open + 2, -1);
  function->name = flam_builder_string (gecko->builder, text, open - text);
  function->kind = FLAM_KIND_INTERPRETED;
}

static void
fill_function (Gecko *gecko,
               const Tables *tables,
               gint64 func,
               FlamFunction *function)
{
  gint64 source = get (gecko, tables, FUNC_SOURCE, func);
  gint64 file = source != NOTHING ? get (gecko, tables, SOURCE_FILE, source)
                                  : get (gecko, tables, FUNC_FILE, func);
  gint64 resource = get (gecko, tables, FUNC_RESOURCE, func);
  FlamId module =
      get_string (gecko, tables, get (gecko, tables, RESOURCE_NAME, resource));

  function->name =
      get_string (gecko, tables, get (gecko, tables, FUNC_NAME, func));
  function->file = get_string (gecko, tables, file);
  if (get (gecko, tables, FUNC_JS, func) == 1)
    function->kind = FLAM_KIND_INTERPRETED;
  else if (module != 0)
    {
      g_autofree char *path =
          g_strdup (flam_builder_get_string (gecko->builder, module));
      function->module =
          flam_builder_module (gecko->builder, path, "", FLAM_ADDRESS_VADDR);
      flam_builder_set_module_symbols (
          gecko->builder, function->module, FLAM_SYMBOLS_CAPTURE, "");
    }
}

static FlamId
make_frame (Gecko *gecko, const Tables *tables, gint64 row)
{
  FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_NATIVE };
  gint64 category = get (gecko, tables, FRAME_CATEGORY, row);
  gint64 line_number = get (gecko, tables, FRAME_LINE, row);
  gint64 depth = get (gecko, tables, FRAME_DEPTH, row);
  gint64 location = get (gecko, tables, FRAME_LOCATION, row);
  gint64 address = get (gecko, tables, FRAME_ADDRESS, row);
  guint32 line = 0;
  const char *name;
  FlamId id;

  if (category >= 0 && category < gecko->n_categories)
    function.kind = gecko->category[category];
  if (location != NOTHING)
    {
      function.name = get_string (gecko, tables, location);
      parse_location (gecko, &function, &line);
    }
  else
    fill_function (
        gecko, tables, get (gecko, tables, FRAME_FUNC, row), &function);
  if (line_number > 0 && line_number <= G_MAXINT32)
    line = line_number;
  if (function.name == 0)
    function.name = flam_builder_string (gecko->builder, "[unknown]", -1);
  name = flam_builder_get_string (gecko->builder, function.name);
  if (strcmp (name, "(root)") == 0)
    return FLAM_NONE;
  if (g_str_has_prefix (name, "0x") || strcmp (name, "[unknown]") == 0)
    id = flam_builder_function_unresolved (gecko->builder, function.module);
  else
    id = flam_builder_function (gecko->builder, &function);
  return flam_builder_frame (
      gecko->builder,
      id,
      address > 0 && function.module != FLAM_NONE ? address : 0,
      line,
      depth > 0 && depth <= G_MAXUINT16 ? depth : 0);
}

static guint
n_rows (const Gecko *gecko, const Tables *tables, int column)
{
  guint n = tables->column[column]->len;

  return n == 0 && gecko->shared != NULL ? gecko->shared->column[column]->len
                                         : n;
}

static void
make_stacks (Gecko *gecko, Tables *tables)
{
  guint n_frames = MAX (n_rows (gecko, tables, FRAME_FUNC),
                        n_rows (gecko, tables, FRAME_LOCATION));
  guint n = n_rows (gecko, tables, STACK_FRAME);

  for (guint i = 0; i < n_frames; i++)
    {
      FlamId frame = make_frame (gecko, tables, i);
      g_array_append_val (tables->frames, frame);
    }
  for (guint i = 0; i < n; i++)
    {
      gint64 prefix = get (gecko, tables, STACK_PREFIX, i);
      gint64 frame = get (gecko, tables, STACK_FRAME, i);
      FlamId stack = FLAM_NONE;

      if (prefix >= 0 && prefix < i)
        stack = g_array_index (tables->stacks, FlamId, (guint)prefix);
      gecko->bad += prefix != NOTHING && (prefix < 0 || prefix >= i);
      if (frame < 0 || frame >= n_frames)
        gecko->bad++;
      else if (g_array_index (tables->frames, FlamId, (guint)frame) !=
               FLAM_NONE)
        stack = flam_builder_stack (
            gecko->builder,
            stack,
            g_array_index (tables->frames, FlamId, (guint)frame));
      g_array_append_val (tables->stacks, stack);
    }
}

/* The tables that hold the stacks of these, made. */
static const GArray *
stacks_of (Gecko *gecko, Tables *tables)
{
  if (tables->column[STACK_FRAME]->len == 0 && gecko->shared != NULL)
    tables = gecko->shared;
  if (tables->stacks->len == 0)
    make_stacks (gecko, tables);
  return tables->stacks;
}

/* --- threads ------------------------------------------------------------- */

static guint
find_event (Gecko *gecko, Measure measure)
{
  static const struct
  {
    const char *id, *name;
    FlamUnit unit;
    FlamMeasureKind kind;
  } measures[N_MEASURES] = {
    { "samples", "Samples", FLAM_UNIT_COUNT, FLAM_MEASURE_CPU },
    { "wall-time", "Wall time", FLAM_UNIT_NS, FLAM_MEASURE_CPU },
    { "allocated", "Allocated", FLAM_UNIT_BYTES, FLAM_MEASURE_ALLOC },
  };

  if (gecko->event[measure] < 0)
    {
      guint index;
      gecko->event[measure] = gecko->n_events++;
      index = flam_builder_add_measure (gecko->builder,
                                        measures[measure].id,
                                        measures[measure].name,
                                        measures[measure].unit,
                                        measures[measure].kind,
                                        0,
                                        gecko->event[measure]);
      if (measure != IS_TIME)
        flam_builder_set_denominator (gecko->builder, index, MICRO);
    }
  return gecko->event[measure];
}

static void
add_samples (Gecko *gecko, Tables *tables, Measure measure, FlamId thread)
{
  const GArray *stacks = stacks_of (gecko, tables);
  guint n = tables->column[SAMPLE_STACK]->len;
  gint64 now = 0;

  for (guint i = 0; i < n; i++)
    {
      gint64 stack = get (gecko, tables, SAMPLE_STACK, i);
      gint64 time = get (gecko, tables, SAMPLE_TIME, i);
      gint64 delta = get (gecko, tables, SAMPLE_DELTA, i);
      gint64 weight = get (gecko, tables, SAMPLE_WEIGHT, i);
      FlamSample sample = { .thread = thread, .stack = FLAM_NONE };

      if (delta != NOTHING && __builtin_add_overflow (now, delta, &now))
        now = 0;
      if (__builtin_add_overflow (
              time != NOTHING ? time : now, gecko->offset, &sample.time))
        sample.time = 0;
      if (weight == NOTHING)
        weight = MICRO;
      if (stack >= 0 && stack < stacks->len)
        sample.stack = g_array_index (stacks, FlamId, (guint)stack);
      if ((stack != NOTHING && (stack < 0 || stack >= stacks->len)) ||
          weight < 0)
        {
          gecko->bad++;
          continue;
        }
      sample.event = find_event (gecko, measure);
      flam_builder_add_sample (gecko->builder, &sample, &weight);
      gecko->samples++;
    }
}

static gint64
get_id (FlamJson *json)
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

static void
read_thread (Gecko *gecko, FlamJson *json)
{
  guint depth = flam_json_enter (json);
  g_autoptr (Tables) tables = tables_new ();
  g_autofree char *name = NULL;
  g_autofree char *process_name = NULL;
  gint64 pid = -1, tid = -1;
  Measure measure = IS_COUNT;
  FlamId process, thread;

  while (flam_json_member (json, depth))
    if (read_member (gecko, tables, json, &measure))
      continue;
    else if (flam_json_key_is (json, "pid"))
      pid = get_id (json);
    else if (flam_json_key_is (json, "tid"))
      tid = get_id (json);
    else if (flam_json_key_is (json, "name") && name == NULL)
      name = g_strdup (flam_json_get_string (json, NULL));
    else if (flam_json_key_is (json, "processName") && process_name == NULL)
      process_name = g_strdup (flam_json_get_string (json, NULL));
  process = flam_builder_process (gecko->builder, pid, 0);
  /* Threads without a number, and parts of one, are told apart. */
  thread =
      flam_builder_thread (gecko->builder, process, tid, gecko->n_threads++);
  flam_builder_set_thread_name (
      gecko->builder, thread, name != NULL ? name : "");
  if (process_name != NULL)
    flam_builder_set_process_name (gecko->builder, process, process_name);
  add_samples (gecko, tables, measure, thread);
}

/* --- profiles ------------------------------------------------------------ */

static FlamFunctionKind
category_kind (FlamJson *json)
{
  static const struct
  {
    const char *name;
    FlamFunctionKind kind;
  } kinds[] = {
    { "Kernel", FLAM_KIND_KERNEL },
    { "JIT", FLAM_KIND_JIT },
    { "JavaScript", FLAM_KIND_INTERPRETED },
    { "Interpreted", FLAM_KIND_INTERPRETED },
    { "Interpreter", FLAM_KIND_INTERPRETED },
    { "Unresolved", FLAM_KIND_UNRESOLVED },
    { "Root", FLAM_KIND_ROOT },
    { "Waker", FLAM_KIND_WAKER },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (flam_json_string_is (json, kinds[i].name))
      return kinds[i].kind;
  return FLAM_KIND_NATIVE;
}

static void
read_categories (Gecko *gecko, FlamJson *json)
{
  guint depth = flam_json_enter (json);

  gecko->n_categories = 0;
  while (flam_json_element (json, depth) &&
         gecko->n_categories < MAX_CATEGORIES)
    {
      guint inner = flam_json_enter (json);
      FlamFunctionKind kind = FLAM_KIND_NATIVE;

      while (flam_json_member (json, inner))
        if (flam_json_key_is (json, "name"))
          kind = category_kind (json);
      gecko->category[gecko->n_categories++] = kind;
    }
}

static void
read_meta (Gecko *gecko, Piece piece)
{
  g_auto (FlamJson) json = { 0 };
  guint depth;
  gint64 start = 0;

  open_piece (&json, piece);
  depth = flam_json_enter (&json);
  while (flam_json_member (&json, depth))
    if (flam_json_key_is (&json, "startTime"))
      start = flam_json_get_scaled (&json, MICRO);
    else if (flam_json_key_is (&json, "categories"))
      read_categories (gecko, &json);
    else if (flam_json_key_is (&json, "product"))
      flam_builder_set_command (gecko->builder,
                                flam_json_get_string (&json, NULL));
  if (gecko->start == 0 && start > 0)
    {
      gecko->start = start;
      flam_builder_set_start (gecko->builder, start);
    }
  gecko->offset = start > 0 && gecko->start > 0 ? start - gecko->start : 0;
}

static void
read_shared (Gecko *gecko, Piece piece)
{
  g_auto (FlamJson) json = { 0 };
  guint depth;

  g_clear_pointer (&gecko->shared, tables_free);
  if (piece.length == 0)
    return;
  gecko->shared = tables_new ();
  open_piece (&json, piece);
  depth = flam_json_enter (&json);
  while (flam_json_member (&json, depth))
    read_member (gecko, gecko->shared, &json, NULL);
}

/* Old Firefox: another process's profile, as text among the threads. */
static void
add_text_profile (Gecko *gecko, FlamJson *json)
{
  gsize length;
  const char *text = flam_json_get_string (json, &length);
  Piece piece = { g_memdup2 (text, length), length };

  if (piece.text == NULL)
    return;
  g_ptr_array_add (gecko->texts, (gpointer)piece.text);
  g_array_append_val (gecko->profiles, piece);
}

static void
read_threads (Gecko *gecko, Piece piece)
{
  g_auto (FlamJson) json = { 0 };
  guint depth;

  open_piece (&json, piece);
  depth = flam_json_enter (&json);
  while (gecko->cancelled == NULL && flam_json_element (&json, depth))
    {
      if (json.token == FLAM_JSON_STRING)
        add_text_profile (gecko, &json);
      else if (json.token == FLAM_JSON_OBJECT)
        read_thread (gecko, &json);
      flam_progress_step (
          gecko->progress,
          (double)((const guint8 *)json.at - gecko->source->data) /
              gecko->source->size,
          &gecko->cancelled);
    }
}

static void
find_processes (Gecko *gecko, Piece piece)
{
  g_auto (FlamJson) json = { 0 };
  guint depth;

  open_piece (&json, piece);
  depth = flam_json_enter (&json);
  while (flam_json_element (&json, depth))
    {
      Piece process = take_piece (&json);
      if (process.length > 0)
        g_array_append_val (gecko->profiles, process);
    }
}

static void
read_profile (Gecko *gecko, Piece piece, GError **bad)
{
  g_auto (FlamJson) json = { 0 };
  Piece meta = { "", 0 }, shared = meta, threads = meta, processes = meta;
  guint depth;

  open_piece (&json, piece);
  depth = flam_json_enter (&json);
  while (flam_json_member (&json, depth))
    if (flam_json_key_is (&json, "meta"))
      meta = take_piece (&json);
    else if (flam_json_key_is (&json, "shared"))
      shared = take_piece (&json);
    else if (flam_json_key_is (&json, "threads"))
      threads = take_piece (&json);
    else if (flam_json_key_is (&json, "processes"))
      processes = take_piece (&json);
  if (bad != NULL)
    flam_json_finish (&json, gecko->source, bad);
  read_meta (gecko, meta);
  read_shared (gecko, shared);
  read_threads (gecko, threads);
  find_processes (gecko, processes);
}

static gboolean
check (Gecko *gecko, GError *bad, GError **error)
{
  if (gecko->cancelled != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&gecko->cancelled));
      return FALSE;
    }
  if (gecko->samples == 0 && bad != NULL)
    {
      g_propagate_error (error, g_error_copy (bad));
      return FALSE;
    }
  if (bad != NULL)
    {
      flam_builder_set_partial (gecko->builder, gecko->source->read_fraction);
      flam_builder_warn (gecko->builder,
                         "the rest of the file was left out: %s",
                         bad->message + strlen (gecko->source->path) + 2);
    }
  if (gecko->n_events == 0)
    find_event (gecko, IS_COUNT);
  if (gecko->bad > 0)
    flam_builder_warn (gecko->builder,
                       "%" G_GUINT64_FORMAT " stacks or samples make no sense",
                       gecko->bad);
  return TRUE;
}

static gboolean
load (const FlamSource *source,
      FlamBuilder *builder,
      const FlamLoadOptions *options,
      GError **error)
{
  Gecko gecko = {
    .source = source,
    .builder = builder,
    .progress = options->progress,
    .profiles = g_array_new (FALSE, FALSE, sizeof (Piece)),
    .texts = g_ptr_array_new_with_free_func (g_free),
    .event = { -1, -1, -1 },
  };
  Piece document = { (const char *)source->data, source->size };
  g_autoptr (GError) bad = NULL;
  gboolean ok;

  flam_builder_add_column (builder);
  flam_builder_set_has_times (builder);
  g_array_append_val (gecko.profiles, document);
  for (guint i = 0; i < gecko.profiles->len && gecko.cancelled == NULL; i++)
    read_profile (
        &gecko, g_array_index (gecko.profiles, Piece, i), i == 0 ? &bad : NULL);
  ok = check (&gecko, bad, error);
  g_clear_error (&gecko.cancelled);
  tables_free (gecko.shared);
  g_array_unref (gecko.profiles);
  g_ptr_array_unref (gecko.texts);
  return ok;
}

/* --- probe --------------------------------------------------------------- */

static gboolean
holds (const FlamSource *source, const char *word)
{
  return memmem (
             source->data, MIN (source->size, 65536), word, strlen (word)) !=
         NULL;
}

static guint
probe (const FlamSource *source)
{
  gsize start = 0;

  while (start < MIN (source->size, 4096) &&
         g_ascii_isspace (source->data[start]))
    start++;
  if (source->data[start] != '{' || !holds (source, "\"meta\""))
    return 0;
  if (holds (source, "\"preprocessedProfileVersion\""))
    return 95;
  return holds (source, "\"processType\"") && holds (source, "\"interval\"")
             ? 85
             : 0;
}

static const char *const suffixes[] = {
  ".firefox.json", ".gecko.json", ".json", NULL
};
static const char *const mime_types[] = { "application/json", NULL };

const FlamImporter flam_import_gecko = {
  .id = "gecko",
  .label = "Firefox Profiler",
  .suffixes = suffixes,
  .mime_types = mime_types,
  .probe = probe,
  .load = load,
};
