/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-json.h"
#include "flam-ranges.h"
#include "flam-text.h"

#include <string.h>

/* The log of `node --prof` and V8's --prof: one line per event, in order of
 * time.
 *
 *    v8-version,11,3,244,8,…
 *    shared-library,/usr/lib/libc.so.6,0x7f80,0x7f90,0        from, to, slide
 *    code-creation,JS,10,2742841,0x36e6,167,work /a.js:5:25,0x3d84,~
 *       type, kind, µs, address, size, name, the function, how it runs: ~
 *       interpreted, ^ and + compiled quickly, * compiled well
 *    code-move,0x36e6,0x40aa        code-delete,0x36e6
 *    tick,0x19f8264,1156078,0,0x0,0,0x19fa691,0x7f8d,overflow,…
 *       pc, µs, 1 for a callback, whose address is next, else the top of the
 *       stack, what the engine did, return addresses, leaf first
 *
 * A tick is a moment and has no weight. The code at an address is that created
 * last there. An address that begins with + or - is relative to the previous
 * one. "\x2C" is a comma. A JavaScript function is the same one in all tiers.
 *
 * `node --prof-process --preprocess` makes JSON of it:
 *
 *    code    [{name, type: JS, CODE, CPP or SHARED_LIB, kind}, …]
 *    ticks   [{tm: µs, vm: what the engine did, s: [code, offset, …]}, …]
 *       leaf first; code -1: unknown, and its address in place of the offset
 *
 * Source of facts: V8's tools/tickprocessor.mjs, src/logging/log.cc. */

#define MAX_FIELDS 4096
#define LIBRARIES 0x80000000u /* values of ranges of modules */

enum
{
  STATE_GC = 1,
  STATE_IDLE = 8,
};

typedef struct
{
  const char *text;
  gsize length;
} Field;

typedef struct
{
  FlamBuilder *builder;
  FlamText text;
  FlamRanges *code; /* value: a function, or LIBRARIES + row of `modules` */
  GArray *modules;  /* FlamId */
  GArray *fields;   /* Field */
  GArray *frames;   /* FlamId: of a tick, leaf first */
  FlamThreadId thread;
  FlamFrameId collector;
  guint64 ticks;
} Reader;

/* --- fields -------------------------------------------------------------- */

static void
split (Reader *reader, const char *line, gsize length)
{
  const char *end = line + length;

  g_array_set_size (reader->fields, 0);
  while (line <= end && reader->fields->len < MAX_FIELDS)
    {
      const char *comma = memchr (line, ',', end - line);
      Field field = { line, (comma != NULL ? comma : end) - line };
      g_array_append_val (reader->fields, field);
      line = (comma != NULL ? comma : end) + 1;
    }
}

static Field
get_field (const Reader *reader, guint i)
{
  return i < reader->fields->len ? g_array_index (reader->fields, Field, i)
                                 : (Field){ "", 0 };
}

static gboolean
field_is (const Reader *reader, guint i, const char *text)
{
  Field field = get_field (reader, i);

  return field.length == strlen (text) &&
         memcmp (field.text, text, field.length) == 0;
}

/* "0x1f", "31" */
static gboolean
get_number (const Reader *reader, guint i, guint64 *value)
{
  Field field = get_field (reader, i);
  const char *p = field.text;
  const char *end = p + field.length;
  gint64 decimal;

  if (field.length > 2 && p[0] == '0' && p[1] == 'x')
    {
      p += 2;
      return flam_text_hex (&p, end, value) && p == end;
    }
  if (!flam_text_number (&p, end, &decimal) || p != end)
    return FALSE;
  *value = decimal;
  return TRUE;
}

/* Removes the quotes of older versions, and decodes "\x2C", "\u00fc", "\n",
 * "\\". */
static char *
get_text (const Reader *reader, guint i)
{
  Field field = get_field (reader, i);
  const char *p = field.text;
  const char *end = p + field.length;
  GString *text = g_string_sized_new (field.length);

  if (end - p >= 2 && *p == '"' && end[-1] == '"')
    {
      p++;
      end--;
    }
  for (; p < end; p++)
    {
      guint digits = p + 1 < end && *p == '\\' && p[1] == 'x'   ? 2
                     : p + 1 < end && *p == '\\' && p[1] == 'u' ? 4
                                                                : 0;
      const char *hex = p + 2;
      guint64 value;

      if (digits > 0 && (gsize)(end - hex) >= digits &&
          flam_text_hex (&hex, p + 2 + digits, &value) &&
          hex == p + 2 + digits && value > 0)
        {
          g_string_append_unichar (text,
                                   (value & 0xf800) == 0xd800 ? 0xfffd : value);
          p = hex - 1;
        }
      else if (*p == '\\' && p + 1 < end && (p[1] == '\\' || p[1] == 'n'))
        g_string_append_c (text, *++p == 'n' ? ' ' : '\\');
      else
        g_string_append_c (text, *p);
    }
  return g_string_free (text, FALSE);
}

/* --- code ---------------------------------------------------------------- */

/* Cuts "12:25" off "work /a.js:12:25": the line. */
static guint32
take_line (char *place)
{
  guint32 line = 0;

  for (guint i = 0; i < 2; i++)
    {
      char *colon = strrchr (place, ':');
      if (colon == NULL || !g_ascii_isdigit (colon[1]))
        break;
      line = MIN (g_ascii_strtoull (colon + 1, NULL, 10), G_MAXINT32);
      *colon = '\0';
    }
  return line;
}

static gboolean
is_javascript (const Reader *reader)
{
  static const char *const types[] = { "JS",   "LazyCompile", "Function",
                                       "Eval", "Script",      "Interpreter" };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (field_is (reader, 1, types[i]))
      return TRUE;
  return FALSE;
}

/* `text` is "work /a.js:12:25" for JavaScript; it is cut. */
static FlamFunctionId
make_function (Reader *reader,
               char *text,
               gboolean javascript,
               guint other_flags)
{
  FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_NATIVE };
  char *space = strrchr (text, ' ');

  if (javascript)
    {
      function.kind = FLAM_KIND_INTERPRETED;
      if (space != NULL)
        {
          function.line = take_line (space + 1);
          function.file = flam_builder_string (
              reader->builder,
              g_str_has_prefix (space + 1, "file://") ? space + 8 : space + 1,
              -1);
          *space = '\0';
        }
    }
  else
    function.flags = other_flags;
  function.name = flam_builder_string (
      reader->builder, *text != '\0' ? text : "(anonymous)", -1);
  return flam_builder_function (reader->builder, &function);
}

static gboolean
create_code (Reader *reader)
{
  FlamRange range = { 0 };
  g_autofree char *text = get_text (reader, 6);
  guint64 size;

  if (!get_number (reader, 4, &range.start) || !get_number (reader, 5, &size) ||
      __builtin_add_overflow (range.start, size, &range.end))
    return FALSE;
  range.value = make_function (
      reader,
      text,
      is_javascript (reader),
      field_is (reader, 1, "Builtin") ? 0 : FLAM_FUNCTION_IRRELEVANT);
  flam_ranges_add (reader->code, &range);
  return TRUE;
}

static gboolean
move_code (Reader *reader)
{
  guint64 from, to;
  const FlamRange *old;
  FlamRange range;

  if (!get_number (reader, 1, &from) || !get_number (reader, 2, &to))
    return FALSE;
  old = flam_ranges_find (reader->code, from);
  if (old == NULL || old->start != from)
    return TRUE;
  range = *old;
  range.start = to;
  if (__builtin_add_overflow (to, old->end - from, &range.end))
    return FALSE;
  flam_ranges_remove (reader->code, from, old->end);
  flam_ranges_add (reader->code, &range);
  return TRUE;
}

static gboolean
delete_code (Reader *reader)
{
  guint64 at;
  const FlamRange *old;

  if (!get_number (reader, 1, &at))
    return FALSE;
  old = flam_ranges_find (reader->code, at);
  if (old != NULL && old->start == at)
    flam_ranges_remove (reader->code, at, old->end);
  return TRUE;
}

/* The start address is that of the file's first byte. */
static gboolean
add_library (Reader *reader)
{
  g_autofree char *path = get_text (reader, 1);
  FlamRange range = { 0 };
  FlamModuleId module;

  if (!get_number (reader, 2, &range.start) ||
      !get_number (reader, 3, &range.end))
    return FALSE;
  module =
      flam_builder_module (reader->builder, path, "", FLAM_ADDRESS_FILE_OFFSET);
  range.value = LIBRARIES + reader->modules->len;
  g_array_append_val (reader->modules, module);
  flam_ranges_add (reader->code, &range);
  return TRUE;
}

/* --- ticks --------------------------------------------------------------- */

/* Callers at unknown addresses are left out, as in V8's own tool. */
static void
push_address (Reader *reader, guint64 address, gboolean leaf)
{
  const FlamRange *range = flam_ranges_find (reader->code, address);
  FlamFrameId frame;

  if (range == NULL && !leaf)
    return;
  if (range == NULL)
    frame = flam_builder_frame_of (
        reader->builder, &(FlamFunction){ .module = FLAM_NONE }, address, 0, 0);
  else if (range->value < LIBRARIES)
    frame = flam_builder_frame (reader->builder, range->value, 0, 0, 0);
  else
    frame = flam_builder_frame_of (
        reader->builder,
        &(FlamFunction){ .module = g_array_index (reader->modules,
                                                  FlamId,
                                                  range->value - LIBRARIES) },
        address - range->start + range->offset - !leaf,
        0,
        0);
  g_array_append_val (reader->frames, frame);
}

static void
push_stack (Reader *reader, guint64 pc)
{
  guint64 before = pc, number;

  for (guint i = 6; i < reader->fields->len; i++)
    {
      Field field = get_field (reader, i);
      const char *p = field.text + 1;
      const char *end = field.text + field.length;

      if (field.length > 1 && (*field.text == '+' || *field.text == '-') &&
          flam_text_hex (&p, end, &number))
        before = *field.text == '+' ? before + number : before - number;
      else if (get_number (reader, i, &number))
        before = number;
      else
        continue; /* "overflow" */
      push_address (reader, before, FALSE);
    }
}

/* Of the frames. */
static void
add_sample (Reader *reader, guint64 time, guint64 state)
{
  FlamSample sample = { .thread = reader->thread };
  gint64 one = 1;

  sample.stack = flam_load_stack (reader->builder, reader->frames);
  sample.time =
      flam_builder_limit (reader->builder, time, 0, G_MAXINT64 / 4000, NULL) *
      1000;
  if (state == STATE_IDLE)
    sample.state = FLAM_STATE_SLEEP;
  flam_builder_add_sample (reader->builder, &sample, &one);
  reader->ticks++;
}

static gboolean
add_tick (Reader *reader)
{
  guint64 pc, time, callback, top, state;

  if (!get_number (reader, 1, &pc) || !get_number (reader, 2, &time) ||
      !get_number (reader, 3, &callback) || !get_number (reader, 4, &top) ||
      !get_number (reader, 5, &state))
    return FALSE;
  g_array_set_size (reader->frames, 0);
  if (state == STATE_GC)
    g_array_append_val (reader->frames, reader->collector);
  push_address (reader, callback != 0 ? top : pc, TRUE);
  push_stack (reader, pc);
  add_sample (reader, time, state);
  return TRUE;
}

/* FALSE: one of these lines is invalid. */
static gboolean
read_line (gpointer data, FlamSlice line)
{
  Reader *reader = data;

  split (reader, line.text, line.length);
  if (field_is (reader, 0, "tick"))
    return add_tick (reader);
  if (field_is (reader, 0, "code-creation"))
    return create_code (reader);
  if (field_is (reader, 0, "code-move"))
    return move_code (reader);
  if (field_is (reader, 0, "code-delete"))
    return delete_code (reader);
  if (field_is (reader, 0, "shared-library"))
    return add_library (reader);
  return TRUE;
}

/* --- preprocessed -------------------------------------------------------- */

typedef struct
{
  FlamFunctionId function; /* FLAM_NONE: a library, */
  FlamModuleId module;     /* this one */
} Code;

static void
read_code (Reader *reader, FlamJson *json, GArray *codes)
{
  flam_json_each (json)
    {
      g_autofree char *name = NULL;
      gboolean library = FALSE, javascript = FALSE, native = FALSE;
      guint flags = FLAM_FUNCTION_IRRELEVANT;
      Code code = { FLAM_NONE, FLAM_NONE };

      flam_json_each (json)
        if (flam_json_key_is (json, "name") && name == NULL)
          name = g_strdup (flam_json_get_string (json, NULL));
        else if (flam_json_key_is (json, "type"))
          {
            library = flam_json_string_is (json, "SHARED_LIB");
            javascript = flam_json_string_is (json, "JS");
            native = flam_json_string_is (json, "CPP");
          }
        else if (flam_json_key_is (json, "kind") &&
                 flam_json_string_is (json, "Builtin"))
          flags = 0;
      if (name == NULL)
        name = g_strdup ("");
      if (library)
        code.module = flam_builder_module (
            reader->builder, name, "", FLAM_ADDRESS_FILE_OFFSET);
      else if (native) /* "t write": as in the output of nm */
        code.function = make_function (
            reader,
            g_ascii_isalpha (name[0]) && name[1] == ' ' ? name + 2 : name,
            FALSE,
            0);
      else
        code.function = make_function (reader, name, javascript, flags);
      g_array_append_val (codes, code);
    }
}

static void
push_code (Reader *reader, const GArray *codes, gint64 id, gint64 offset)
{
  gboolean leaf = reader->frames->len == 0;
  FlamFunction unknown = { .module = FLAM_NONE };
  const Code *code = NULL;
  FlamFrameId frame;

  if (id >= 0 && id < codes->len)
    code = &g_array_index (codes, Code, (guint)id);
  else if (!leaf)
    return;
  if (code != NULL)
    unknown.module = code->module;
  if (code != NULL && code->function != FLAM_NONE)
    frame = flam_builder_frame (reader->builder, code->function, 0, 0, 0);
  else
    frame = flam_builder_frame_of (
        reader->builder, &unknown, MAX (offset - !leaf, 0), 0, 0);
  g_array_append_val (reader->frames, frame);
}

static void
read_tick (Reader *reader, FlamJson *json, const GArray *codes, GArray *stack)
{
  gint64 time = 0, state = 0;

  g_array_set_size (stack, 0);
  flam_json_each (json)
    if (flam_json_key_is (json, "tm"))
      time = flam_json_get_int (json);
    else if (flam_json_key_is (json, "vm"))
      state = flam_json_get_int (json);
    else if (flam_json_key_is (json, "s"))
      flam_json_get_ints (json, stack);
  g_array_set_size (reader->frames, 0);
  for (guint i = 0; i + 1 < stack->len; i += 2)
    push_code (reader,
               codes,
               g_array_index (stack, gint64, i),
               g_array_index (stack, gint64, i + 1));
  if (state == STATE_GC)
    g_array_prepend_val (reader->frames, reader->collector);
  add_sample (reader, (guint64)MAX (time, 0), (guint64)MAX (state, 0));
}

static gboolean
load_preprocessed (FlamLoad *load, Reader *reader, GError **error)
{
  GArray *codes = flam_arena_array (load, Code);
  GArray *stack = flam_arena_array (load, gint64);
  FlamJson *json = flam_json_load (load, NULL);
  FlamJsonText ticks = { .text = "" };
  g_auto (FlamJson) inner = { 0 };

  flam_json_each (json)
    if (flam_json_key_is (json, "code"))
      read_code (reader, json, codes);
    else if (flam_json_key_is (json, "ticks"))
      ticks = flam_json_take (json);
  flam_json_open (&inner, ticks.text, ticks.length);
  flam_json_report (&inner, load->options->progress);
  flam_json_each (&inner)
    read_tick (reader, &inner, codes, stack);
  return flam_json_end (json, load, reader->ticks > 0, error);
}

/* --- the importer -------------------------------------------------------- */

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamBuilder *builder = load->builder;
  Reader reader = {
    .builder = builder,
    .thread = flam_builder_lone_thread (builder),
    .collector =
        flam_load_frame (builder, "(garbage collector)", -1, FLAM_KIND_ROOT),
    .code = flam_arena_keep (load, flam_ranges_new (), flam_ranges_free),
    .modules = flam_arena_array (load, FlamId),
    .fields = flam_arena_array (load, Field),
    .frames = flam_arena_array (load, FlamId),
  };

  flam_load_measures (builder, FLAM_STANDARD_SAMPLES);
  flam_builder_set_has_times (builder);
  if (flam_source_first_char (load->source) == '{')
    return load_preprocessed (load, &reader, error);
  return flam_text_read (
      &reader.text, load, read_line, &reader, N_ ("a log of V8"), error);
}

const FlamImporter flam_import_v8_log = {
  .id = "v8-log",
  .label = "V8 log (--prof)",
  .written_by = "node --prof",
  .suffixes = FLAM_LIST ("v8.log", ".v8log.json"),
  .mime_types = FLAM_LIST ("text/plain", "application/json"),
  .signs =
      FLAM_SIGNS (FLAM_HEAD (95, 0, 16, "v8-version,"),
                  FLAM_HEAD (85, 0, 4096, "\ncode-creation,", "shared-library"),
                  FLAM_MEMBERS (90, "code[].type", "ticks")),
  .load = load,
};
