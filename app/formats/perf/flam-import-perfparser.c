/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Hotspot's .perfparser: the output of its helper, which has unwound and named
 * the samples of a perf.data.
 *
 *    "QPERFSTREAM\0"   i32 version of QDataStream, little-endian
 *    u32 size, little-endian; an event of that size; …
 *
 * In an event numbers are big-endian, texts and lists begin with their u32
 * length. Strings, attributes (what was counted), locations and symbols have
 * ids, in order, before they are referred to:
 *
 *    sample    frames ──▶ location   address, file, line, parent
 *                         │ same id      │
 *                         ▼              ▼
 *                       symbol        location that it is inlined into, or the
 *                                     beginning of its function
 *
 * A location without a symbol has its parent's, which is no frame of its own.
 * Members were added at the ends of events: what is missing is 0. Source of the
 * facts: Hotspot's src/parsers/perf/perfparser.cpp. */

#include "flam-formats.h"

#include "flam-core-query.h"
#include "flam-perf-stream.h"
#include "flam-text.h"

#define MAGIC "QPERFSTREAM"
#define HEAD (sizeof MAGIC + 4)
#define NO_TEXT 0xffffffffu
/* Frames at one location: deeper inlining is cut. */
#define MAX_INLINED 256

enum
{
  THREAD_START,
  THREAD_END,
  COMMAND,
  LOCATION,
  SYMBOL,
  STRING,
  LOST,
  FEATURES,
  ERROR,
  PROGRESS,
  TRACEPOINT_FORMAT,
  ATTRIBUTES,
  CONTEXT_SWITCH,
  SAMPLE,
  TRACEPOINT_SAMPLE,
};

typedef struct
{
  FlamFunctionId function; /* FLAM_NONE: it has no symbol */
  FlamStringId file;       /* string */
  guint32 line;
  gint32 parent;
  guint64 address; /* in its module */
  gboolean has_symbol;
} Location;

typedef struct
{
  guint16 event;
  gint64 period; /* of a sample without a cost; 0: it varies */
} Attribute;

typedef struct
{
  FlamPerfStream stream;
  FlamBuilder *builder;
  GArray *strings;       /* FlamId */
  GArray *locations;     /* Location */
  GArray *attributes;    /* Attribute */
  GHashTable *events;    /* string + 1 of the name -> event + 1 */
  GHashTable *build_ids; /* path -> hex */
  GArray *stack;         /* FlamId */
} Stream;

/* --- numbers ------------------------------------------------------------- */

typedef struct
{
  const guint8 *at, *end;
  gboolean bad; /* a length went beyond the end */
} Event;

/* 0 at the end. */
static guint64
take (Event *event, guint size)
{
  guint64 value = 0;

  if ((gsize)(event->end - event->at) < size)
    {
      event->at = event->end;
      return 0;
    }
  for (guint i = 0; i < size; i++)
    value = value << 8 | event->at[i];
  event->at += size;
  return value;
}

static guint32
take_u32 (Event *event)
{
  return (guint32)take (event, 4);
}

/* 64 bits as a weight or a time. */
static gint64
take_amount (Event *event)
{
  guint64 value = take (event, 8);

  return (gint64)MIN (value, (guint64)G_MAXINT64 / 2);
}

static FlamSlice
take_text (Event *event)
{
  guint32 length = take_u32 (event);
  FlamSlice text = { (const char *)event->at, 0 };

  if (length == NO_TEXT)
    return text;
  if (length > (gsize)(event->end - event->at))
    {
      event->bad = TRUE;
      length = 0;
    }
  text.length = length;
  event->at += length;
  return text;
}

/* The number of elements of a list; none takes less than a byte. */
static guint32
take_length (Event *event)
{
  guint32 n = take_u32 (event);

  if (n == NO_TEXT)
    return 0;
  if (n > (gsize)(event->end - event->at))
    {
      event->bad = TRUE;
      return 0;
    }
  return n;
}

typedef struct
{
  guint32 pid, tid;
  gint64 time;
} Record;

static Record
take_record (Event *event)
{
  Record record;

  record.pid = take_u32 (event);
  record.tid = take_u32 (event);
  record.time = take_amount (event);
  take (event, 4); /* the CPU */
  return record;
}

static FlamStringId
take_string (Stream *stream, Event *event)
{
  guint32 id = take_u32 (event);

  return id < stream->strings->len ? g_array_index (stream->strings, FlamId, id)
                                   : 0;
}

/* --- items with ids ------------------------------------------------------ */

static gboolean
read_string (Stream *stream, Event *event)
{
  guint32 id = take_u32 (event);
  FlamSlice text = take_text (event);
  FlamStringId string;

  if (id != stream->strings->len || event->bad)
    return FALSE;
  string = flam_builder_string (
      stream->builder, text.text, (gssize)MIN (text.length, G_MAXINT32));
  g_array_append_val (stream->strings, string);
  return TRUE;
}

static gboolean
read_attributes (Stream *stream, Event *event)
{
  Attribute attribute = { 0 };
  guint32 id = take_u32 (event);
  gboolean varies;
  FlamStringId name;
  guint known;

  take (event, 4); /* perf_event_attr: type */
  take (event, 8); /* and config */
  name = take_string (stream, event);
  varies = take (event, 1) != 0;
  attribute.period = take_amount (event);
  if (varies)
    attribute.period = 0;
  if (id != stream->attributes->len || id >= G_MAXUINT16)
    return FALSE;
  known = GPOINTER_TO_UINT (
      g_hash_table_lookup (stream->events, GUINT_TO_POINTER (name + 1)));
  if (known == 0)
    {
      const char *text = flam_builder_get_string (stream->builder, name);

      known = flam_perf_stream_add_event (&stream->stream, text) + 1;
      g_hash_table_insert (stream->events,
                           GUINT_TO_POINTER (name + 1),
                           GUINT_TO_POINTER (known));
    }
  attribute.event = (guint16)(known - 1);
  g_array_append_val (stream->attributes, attribute);
  return TRUE;
}

static gboolean
read_location (Stream *stream, Event *event)
{
  Location location = { .function = FLAM_NONE };
  guint32 id = take_u32 (event);
  gint32 line;

  take (event, 8); /* the address in the process */
  location.file = take_string (stream, event);
  take (event, 4); /* the process */
  line = (gint32)take_u32 (event);
  location.line = (guint32)MAX (line, 0);
  take (event, 4); /* the column */
  location.parent = (gint32)take_u32 (event);
  location.address = take (event, 8);
  if (id != stream->locations->len || location.parent == (gint32)id)
    return FALSE;
  g_array_append_val (stream->locations, location);
  return TRUE;
}

static FlamModuleId
find_module (Stream *stream, FlamId path)
{
  const char *text = flam_builder_get_string (stream->builder, path);
  const char *build_id = g_hash_table_lookup (stream->build_ids, text);

  if (*text == '\0')
    return FLAM_NONE;
  return flam_perf_stream_module (
      &stream->stream, text, build_id != NULL ? build_id : "");
}

static gboolean
read_symbol (Stream *stream, Event *event)
{
  FlamFunction function = { .kind = FLAM_KIND_NATIVE };
  guint32 id = take_u32 (event);
  FlamId binary, path;
  Location *location;

  function.name = take_string (stream, event);
  binary = take_string (stream, event);
  path = take_string (stream, event);
  if (take (event, 1) != 0)
    function.kind = FLAM_KIND_KERNEL;
  if (id >= stream->locations->len)
    return FALSE;
  function.module = find_module (stream, path != 0 ? path : binary);
  location = &g_array_index (stream->locations, Location, id);
  location->has_symbol = function.name != 0 || function.module != FLAM_NONE;
  location->function =
      function.name != 0
          ? flam_builder_function (stream->builder, &function)
          : flam_builder_function_unresolved (stream->builder, function.module);
  return TRUE;
}

/* --- processes and symbols ----------------------------------------------- */

static FlamThreadId
find_thread (Stream *stream, const Record *record)
{
  gint32 pid = record->pid <= G_MAXINT32 ? (gint32)record->pid : -1;
  gint32 tid = record->tid <= G_MAXINT32 ? (gint32)record->tid : -1;

  return flam_builder_thread (
      stream->builder, flam_builder_process (stream->builder, pid, 0), tid, 0);
}

static gboolean
read_command (Stream *stream, Event *event)
{
  Record record = take_record (event);
  const char *name =
      flam_builder_get_string (stream->builder, take_string (stream, event));

  flam_builder_set_thread_name (
      stream->builder, find_thread (stream, &record), name);
  if (record.pid == record.tid && record.pid <= G_MAXINT32)
    flam_builder_set_process_name (
        stream->builder,
        flam_builder_process (stream->builder, (gint32)record.pid, 0),
        name);
  return TRUE;
}

/* For a process's first thread: which process started it. */
static gboolean
read_thread_start (Stream *stream, Event *event)
{
  Record record = take_record (event);
  guint32 parent = take_u32 (event);

  if (record.pid == record.tid && record.pid <= G_MAXINT32 && parent > 0 &&
      parent <= G_MAXINT32 && parent != record.pid)
    {
      /* Written separately: as arguments of one call, the compiler could
       * evaluate the two in either order. */
      guint32 process =
          flam_builder_process (stream->builder, (gint32)record.pid, 0);

      flam_builder_set_process_parent (
          stream->builder,
          process,
          flam_builder_process (stream->builder, (gint32)parent, 0));
    }
  return TRUE;
}

static gboolean
read_features (Stream *stream, Event *event)
{
  FlamSlice host = take_text (event);
  g_autofree char *name = g_strndup (host.text, host.length);
  g_autoptr (GString) command = g_string_new (NULL);
  guint32 n;

  for (guint i = 0; i < 3; i++) /* kernel, perf, architecture */
    take_text (event);
  take (event, 8); /* CPUs online and present */
  take_text (event);
  take_text (event);
  take (event, 8); /* memory */
  for (n = take_length (event); n > 0 && !event->bad; n--)
    {
      FlamSlice word = take_text (event);
      if (command->len > 0)
        g_string_append_c (command, ' ');
      g_string_append_len (command, word.text, (gssize)word.length);
    }
  for (n = take_length (event); n > 0 && !event->bad; n--)
    {
      FlamSlice id, path;
      GString *hex = g_string_new (NULL);

      take (event, 4); /* the process */
      id = take_text (event);
      path = take_text (event);
      for (gsize i = 0; i < MIN (id.length, 64); i++)
        g_string_append_printf (hex, "%02x", (guint8)id.text[i]);
      g_hash_table_insert (stream->build_ids,
                           g_strndup (path.text, path.length),
                           g_string_free (hex, FALSE));
    }
  if (event->bad)
    return FALSE;
  if (*name != '\0')
    flam_builder_set_fact (stream->builder, FLAM_FACT_HOST, name);
  if (command->len > 0)
    flam_builder_set_command (stream->builder, command->str);
  return TRUE;
}

/* --- samples ------------------------------------------------------------- */

/* Adds the frames of a location, the innermost inlined one first. */
static void
add_frames (Stream *stream, guint32 id)
{
  const Location *shown[MAX_INLINED];
  const Location *all = (const Location *)(gpointer)stream->locations->data;
  FlamFunctionId functions[MAX_INLINED];
  guint n = 0;

  for (guint i = 0; id < stream->locations->len && i < MAX_INLINED; i++)
    {
      const Location *location = &all[id];
      guint32 parent = (guint32)location->parent;

      shown[n] = location;
      functions[n] = location->function;
      if (!location->has_symbol && parent < stream->locations->len)
        {
          functions[n] = all[parent].function;
          parent = (guint32)all[parent].parent;
        }
      n++;
      id = parent;
    }
  for (guint i = 0; i < n; i++)
    {
      FlamFunctionId function =
          functions[i] != FLAM_NONE
              ? functions[i]
              : flam_builder_function_unresolved (stream->builder, FLAM_NONE);
      FlamFrameId frame = flam_builder_frame_in (stream->builder,
                                                 function,
                                                 shown[i]->address,
                                                 shown[i]->file,
                                                 shown[i]->line,
                                                 n - 1 - i);
      g_array_append_val (stream->stack, frame);
    }
}

static gboolean
read_sample (Stream *stream, Event *event)
{
  Record record = take_record (event);
  FlamSample sample = { .time = record.time };
  guint32 n;

  g_array_set_size (stream->stack, 0);
  for (n = take_length (event); n > 0; n--)
    add_frames (stream, take_u32 (event));
  take (event, 1); /* the number of guessed frames */
  n = take_length (event);
  if (event->bad || n > (gsize)(event->end - event->at) / 12)
    return FALSE;
  sample.thread = find_thread (stream, &record);
  sample.stack = flam_load_stack (stream->builder, stream->stack);
  for (; n > 0; n--)
    {
      guint32 id = take_u32 (event);
      gint64 cost = take_amount (event);
      const Attribute *attribute;

      if (id >= stream->attributes->len)
        return FALSE;
      attribute = &g_array_index (stream->attributes, Attribute, id);
      sample.event = attribute->event;
      if (cost == 0)
        cost = attribute->period;
      flam_builder_add_sample (stream->builder, &sample, &cost);
      stream->stream.samples++;
    }
  return TRUE;
}

static gboolean
read_event (Stream *stream, Event event)
{
  switch (take (&event, 1))
    {
    case THREAD_START:
      return read_thread_start (stream, &event);
    case COMMAND:
      return read_command (stream, &event);
    case LOCATION:
      return read_location (stream, &event);
    case SYMBOL:
      return read_symbol (stream, &event);
    case STRING:
      return read_string (stream, &event);
    case FEATURES:
      return read_features (stream, &event);
    case ATTRIBUTES:
      return read_attributes (stream, &event);
    case SAMPLE:
    case TRACEPOINT_SAMPLE:
      return read_sample (stream, &event);
    case LOST:
      take_record (&event);
      flam_builder_facts (stream->builder)->lost +=
          (guint64)take_amount (&event);
      return TRUE;
    default: /* ends, messages, progress, switches */
      return TRUE;
    }
}

/* --- the whole ----------------------------------------------------------- */

static void
read_record (gpointer reader, const guint8 *bytes, guint32 size)
{
  Stream *stream = reader;

  if (!read_event (stream, (Event){ bytes, bytes + size, FALSE }))
    stream->stream.bad++;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Stream stream = { .stream = { .load = load, .builder = load->builder },
                    .builder = load->builder,
                    .strings = flam_arena_array (load, FlamId),
                    .locations = flam_arena_array (load, Location),
                    .attributes = flam_arena_array (load, Attribute),
                    .events = flam_arena_table (load, FLAM_KEY_DIRECT, NULL),
                    .build_ids = flam_arena_table (load, FLAM_KEY_TEXT, g_free),
                    .stack = flam_arena_array (load, FlamId) };

  flam_builder_set_has_times (load->builder);
  flam_builder_add_column (load->builder);
  return flam_perf_stream_read (
             &stream.stream, HEAD, FALSE, read_record, &stream, error) &&
         flam_perf_stream_check (&stream.stream,
                                 N_ ("this perfparser stream has no samples"),
                                 N_ ("the stream was cut off"),
                                 error);
}

const FlamImporter flam_import_perfparser = {
  .id = "perfparser",
  .label = N_ ("Hotspot's perfparser"),
  .written_by = "hotspot-perfparser",
  .suffixes = FLAM_LIST (".perfparser"),
  .mime = { .type = "application/x-perfparser",
            .name = "Hotspot's perfparser stream",
            .globs = FLAM_LIST ("*.perfparser") },
  .signs = FLAM_SIGNS ({ FLAM_MAGIC (MAGIC), .least = HEAD, .score = 95 }),
  .load = load,
};
