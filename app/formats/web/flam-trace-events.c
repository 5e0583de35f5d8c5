/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-trace-events.h"

#include "flam-trace-samples.h"

#include "flam-text.h"

#include <string.h>

/* Times beyond this, 73 years in ns, are invalid: sums of them never
 * overflow. */
#define MAX_TIME (G_MAXINT64 / 4)
/* The limit of the search for the start of an event. */
#define MAX_LOOK (1 << 20)
/* No name of a kind of code is longer. */
#define KIND_LENGTH 11

/* One event's members, in any order. Texts are in the document. */
typedef struct
{
  char phase;
  gboolean timed;
  gboolean of_all; /* of all threads */
  FlamJsonText name;
  FlamJsonText id;
  FlamJsonText category;
  FlamTraceWho who;
  gint64 time;            /* ns */
  gint64 duration;        /* ns, or -1 */
  gint64 thread_duration; /* the same on the clock of the thread */
  FlamJsonText args;
} Event;

void
flam_trace_events_init (FlamTraceEvents *events, FlamJson *json)
{
  *events = (FlamTraceEvents){ .json = *json, .end = G_MININT64 };
  *json = (FlamJson){ 0 };
  flam_strings_init (&events->names);
  flam_column_init (&events->tasks, sizeof (FlamTraceTask));
  flam_column_init (&events->namings, sizeof (FlamTraceNaming));
  flam_column_init (&events->marks, sizeof (FlamTraceMark));
  flam_column_init (&events->counts, sizeof (FlamTraceCount));
  flam_column_init (&events->pieces, sizeof (FlamTracePiece));
  flam_column_init (&events->places, sizeof (FlamTracePlace));
  flam_interner_init (&events->task_index);
  flam_interner_init (&events->place_index);
  events->no_kind.text = "";
}

void
flam_trace_events_clear (FlamTraceEvents *events)
{
  for (gsize i = 0; i < events->tasks.n; i++)
    flam_column_clear (
        &flam_column_at (&events->tasks, FlamTraceTask, i).moments);
  flam_json_clear (&events->json);
  flam_strings_clear (&events->names);
  flam_column_clear (&events->tasks);
  flam_column_clear (&events->namings);
  flam_column_clear (&events->marks);
  flam_column_clear (&events->counts);
  flam_column_clear (&events->pieces);
  flam_column_clear (&events->places);
  flam_interner_clear (&events->task_index);
  flam_interner_clear (&events->place_index);
}

/* --- start of the events -------------------------------------------------- */

/* Whether an object has a "ph": then it is an event, and not an object in its
 * args. `*looked` grows by the bytes that were read. */
static gboolean
is_event (const guint8 *at, const guint8 *end, gsize *looked)
{
  g_auto (FlamJson) json = { 0 };
  gboolean phase = FALSE;

  flam_json_open (&json, at, MIN (end - at, MAX_LOOK - (gssize)*looked));
  flam_json_each (&json)
    phase = phase || flam_json_key_is (&json, "ph");
  *looked += json.at - at;
  return phase && json.token == FLAM_JSON_OBJECT_END;
}

/* Whether a comma precedes it. An object without a preceding comma is the first
 * of its array, or a member's value. */
static gboolean
follows_comma (const guint8 *at, const guint8 *from)
{
  while (at > from && flam_json_is_space (at[-1]))
    at--;
  return at > from && at[-1] == ',';
}

const guint8 *
flam_trace_events_find (const guint8 *at, const guint8 *end)
{
  const guint8 *from = at, *p = at;
  gsize looked = 0;

  while (looked < MAX_LOOK && p - from < MAX_LOOK &&
         (p = memchr (p, '{', end - p)) != NULL)
    if (follows_comma (p, from) && is_event (p, end, &looked))
      return p;
    else
      p++;
  return end;
}

/* --- tasks ---------------------------------------------------------------- */

static gboolean
task_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamTraceTask *a = (const FlamTraceTask *)table + row;
  const FlamTraceTask *b = key;

  return a->kind == b->kind && a->who.pid == b->who.pid &&
         a->who.pid_name == b->who.pid_name && a->id == b->id &&
         (a->id != 0 ||
          (a->who.tid == b->who.tid && a->who.tid_name == b->who.tid_name));
}

static guint32
find_task (FlamTraceEvents *events, const FlamTraceTask *wanted)
{
  const FlamTraceWho *who = &wanted->who;
  guint64 part =
      wanted->id != 0 ? wanted->id : flam_hash_mix (who->tid, who->tid_name);
  guint32 hash = flam_hash_pair (flam_hash_mix (who->pid, part),
                                 flam_hash_mix (who->pid_name, wanted->kind));
  FlamSlot *slot = flam_interner_find (
      &events->task_index, hash, task_equal, events->tasks.data, wanted);
  FlamTraceTask *task;

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, events->tasks.n };
      events->task_index.used++;
      task = flam_column_push (&events->tasks);
      *task = *wanted;
      flam_column_init (&task->moments, sizeof (FlamMoment));
    }
  return slot->id;
}

/* Few threads have most of the events. */
static guint32
find_thread (FlamTraceEvents *events, const Event *event)
{
  guint32 *recent =
      &events->recent[(guint64)event->who.tid % FLAM_TRACE_RECENT_TASKS];
  FlamTraceTask wanted = { .kind = FLAM_TRACE_THREAD, .who = event->who };

  if (*recent >= events->tasks.n ||
      !task_equal (events->tasks.data, *recent, &wanted))
    *recent = find_task (events, &wanted);
  return *recent;
}

static FlamId
intern (FlamTraceEvents *events, const FlamJsonText *text)
{
  gsize length = text->length;
  const char *bytes =
      text->escaped ? flam_json_unescape (text, &events->json.scratch, &length)
                    : text->text;

  return flam_strings_intern (&events->names, bytes, length);
}

/* Only an end needs no name. */
static FlamId
get_span_name (FlamTraceEvents *events, const Event *event)
{
  static const FlamJsonText nameless = { .text = "(anonymous)", .length = 11 };

  return intern (events, event->name.length > 0 ? &event->name : &nameless);
}

static FlamColumn *
find_moments (FlamTraceEvents *events, const Event *event)
{
  guint32 task = find_thread (events, event);

  return &flam_column_at (&events->tasks, FlamTraceTask, task).moments;
}

/* --- places --------------------------------------------------------------- */

static gboolean
place_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamTracePlace *a = (const FlamTracePlace *)table + row;
  const FlamTracePlace *b = key;

  return a->name == b->name && a->file == b->file && a->module == b->module &&
         a->line == b->line && a->kind == b->kind;
}

static gboolean
text_equal (const FlamJsonText *a, const FlamJsonText *b)
{
  return a->length == b->length && memcmp (a->text, b->text, a->length) == 0;
}

/* Whether the category is a kind of code: then Flambeau wrote the event.
 * Usually it is not, and is the same as in the previous event. */
static gboolean
find_kind (FlamTraceEvents *events, const Event *event, FlamFunctionKind *kind)
{
  if (event->category.length > KIND_LENGTH ||
      text_equal (&event->category, &events->no_kind))
    return FALSE;
  for (*kind = 0; *kind < FLAM_N_KINDS; ++*kind)
    if (flam_json_text_is (&event->category,
                           &events->json.scratch,
                           flam_function_kind_to_string (*kind)))
      return TRUE;
  events->no_kind = event->category;
  return FALSE;
}

static void
read_place (FlamTraceEvents *events, const Event *event, FlamTracePlace *place)
{
  g_auto (FlamJson) json = { 0 };

  flam_json_open (&json, event->args.text, event->args.length);
  flam_json_each (&json)
    if (flam_json_key_is (&json, "line"))
      place->line = CLAMP (flam_json_get_int (&json), 0, G_MAXINT32);
    else if (json.token == FLAM_JSON_STRING && flam_json_key_is (&json, "file"))
      place->file = intern (events, &json.string);
    else if (json.token == FLAM_JSON_STRING &&
             flam_json_key_is (&json, "module"))
      place->module = intern (events, &json.string);
}

/* 0: only the name is known. In traces of other tools, a file may be the data
 * that a span is about, and would turn each span into a function of its own. */
static guint32
find_place (FlamTraceEvents *events, const Event *event, FlamStringId name)
{
  FlamTracePlace place = { .name = name };
  FlamSlot *slot;
  guint32 hash;

  if (!find_kind (events, event, &place.kind))
    return 0;
  if (event->args.length > 0)
    read_place (events, event, &place);
  if (place.kind == FLAM_KIND_NATIVE && place.file == 0 && place.module == 0)
    return 0;
  hash = flam_hash_pair (flam_hash_mix (place.name, place.file),
                         flam_hash_mix (place.module, place.line) + place.kind);
  slot = flam_interner_find (
      &events->place_index, hash, place_equal, events->places.data, &place);
  if (slot->id == FLAM_NONE && events->places.n < FLAM_MOMENT_PLACE_MAX)
    {
      *slot = (FlamSlot){ hash, events->places.n };
      events->place_index.used++;
      flam_column_append (&events->places, FlamTracePlace, place);
    }
  return slot->id + 1;
}

/* --- rare events ---------------------------------------------------------- */

static void
add_namings (FlamTraceEvents *events, const Event *event, gboolean of_process)
{
  g_auto (FlamJson) json = { 0 };
  FlamTraceTask process = { .kind = FLAM_TRACE_PROCESS, .who = event->who };

  process.who.tid = -1;
  process.who.tid_name = 0;
  flam_json_open (&json, event->args.text, event->args.length);
  flam_json_each (&json)
    if (flam_json_key_is (&json, "name"))
      {
        FlamTraceNaming naming;

        naming.task = of_process ? find_task (events, &process)
                                 : find_thread (events, event);
        naming.name = flam_strings_intern (
            &events->names, flam_json_get_string (&json, NULL), -1);
        flam_column_append (&events->namings, FlamTraceNaming, naming);
      }
}

/* Pieces that other threads write are grouped by their id; a profile in one
 * piece has none and belongs to its event's thread. */
static void
add_piece (FlamTraceEvents *events, const Event *event)
{
  FlamTraceTask wanted = { .kind = FLAM_TRACE_PROFILE,
                           .who = event->who,
                           .id = intern (events, &event->id) };
  FlamTracePiece piece = { .who = event->who,
                           .time = event->time,
                           .args = event->args };

  piece.task = find_task (events, &wanted);
  flam_column_append (&events->pieces, FlamTracePiece, piece);
}

static void
add_mark (FlamTraceEvents *events, const Event *event, FlamTraceMarkKind kind)
{
  FlamTraceMark mark = { .time = event->time,
                         .task = find_thread (events, event),
                         .name = intern (events, &event->name),
                         .kind = kind,
                         .of_all = event->of_all };

  if (kind != FLAM_TRACE_MARK_MOMENT)
    mark.id = intern (events, &event->id);
  flam_column_append (&events->marks, FlamTraceMark, mark);
}

/* FALSE: it has no number. */
static gboolean
add_counts (FlamTraceEvents *events, const Event *event)
{
  gsize n = events->counts.n;

  if (event->timed && event->args.length > 0)
    flam_trace_counts_read (&events->counts,
                            &events->names,
                            intern (events, &event->name),
                            intern (events, &event->id),
                            &event->args,
                            (FlamTraceCount){ .time = event->time,
                                              .pid = event->who.pid,
                                              .pid_name = event->who.pid_name },
                            &events->limited);
  return events->counts.n > n;
}

/* --- events --------------------------------------------------------------- */

static gboolean
name_is (FlamTraceEvents *events, const Event *event, const char *name)
{
  return flam_json_text_is (&event->name, &events->json.scratch, name);
}

static void
see (FlamTraceEvents *events, gint64 time)
{
  events->end = MAX (events->end, time);
}

static void
use_event (FlamTraceEvents *events, const Event *event)
{
  gint64 end = G_MAXINT64;
  FlamStringId name;

  events->n++;
  switch (event->phase)
    {
    case 'X':
      if (event->duration == 0)
        break;
      see (events, event->time);
      if (event->duration > 0)
        see (events, end = event->time + event->duration);
      name = get_span_name (events, event);
      flam_moments_add_span (find_moments (events, event),
                             name,
                             find_place (events, event, name),
                             event->time,
                             end);
      return;
    case 'B':
      see (events, event->time);
      name = get_span_name (events, event);
      flam_moments_add (find_moments (events, event),
                        FLAM_MOMENT_BEGIN,
                        name,
                        find_place (events, event, name),
                        event->time);
      return;
    case 'E':
      see (events, event->time);
      flam_moments_add (find_moments (events, event),
                        FLAM_MOMENT_END,
                        intern (events, &event->name),
                        0,
                        event->time);
      return;
    case 'M':
      if (name_is (events, event, "thread_name"))
        add_namings (events, event, FALSE);
      else if (name_is (events, event, "process_name"))
        add_namings (events, event, TRUE);
      return;
    case 'P':
    case 'I':
    case 'i':
      if (name_is (events, event, "Profile") ||
          name_is (events, event, "ProfileChunk") ||
          name_is (events, event, "CpuProfile"))
        add_piece (events, event);
      else if (event->phase != 'P')
        add_mark (events, event, FLAM_TRACE_MARK_MOMENT);
      else
        break;
      return;
    case 'b':
    case 'e':
      if (!flam_json_text_is (&event->category, &events->json.scratch, "mark"))
        break;
      add_mark (events,
                event,
                event->phase == 'b' ? FLAM_TRACE_MARK_BEGIN
                                    : FLAM_TRACE_MARK_END);
      return;
    case 'C':
      if (add_counts (events, event))
        return;
      break;
    default:
      break;
    }
  events->others++;
}

/* A name is a text or a number; anything else is ignored. */
static FlamJsonText
get_text (const FlamJson *json)
{
  return json->token == FLAM_JSON_STRING || json->token == FLAM_JSON_NUMBER
             ? json->string
             : (FlamJsonText){ .text = "" };
}

/* A text of digits is a number, too: in Hermes' files. */
static void
read_id (FlamTraceEvents *events, gint64 *id, FlamStringId *name)
{
  FlamJson *json = &events->json;
  const char *p, *end;
  gsize length;

  *name = 0;
  if (json->token != FLAM_JSON_STRING)
    {
      *id = flam_json_get_int (json);
      return;
    }
  p = flam_json_get_string (json, &length);
  end = p + length;
  if (!flam_text_number (&p, end, id) || p != end)
    {
      *id = -1;
      *name = intern (events, &json->string);
    }
}

static char
first_char (FlamJson *json)
{
  gsize length;
  const char *text = flam_json_get_bytes (json, &length);

  return length > 0 ? *text : '\0';
}

static gint64
get_time (FlamTraceEvents *events, gint64 least)
{
  FlamJson *json = &events->json;
  gint64 time = flam_trace_number (json, 1000);

  if ((time > MAX_TIME || time < least) && events->limited.n++ == 0)
    events->limited.first = json->string.text;
  return CLAMP (time, least, MAX_TIME);
}

static void
read_event (FlamTraceEvents *events)
{
  FlamJson *json = &events->json;
  Event event = { .name = { .text = "" },
                  .id = { .text = "" },
                  .category = { .text = "" },
                  .who = { .pid = -1, .tid = -1 },
                  .duration = -1,
                  .thread_duration = -1,
                  .args = { .text = "" } };

  if (json->token != FLAM_JSON_OBJECT)
    return;
  flam_json_each (json)
    if (flam_json_key_is (json, "ph"))
      event.phase = first_char (json);
    else if (flam_json_key_is (json, "name"))
      event.name = get_text (json);
    else if (flam_json_key_is (json, "ts"))
      {
        event.time = get_time (events, -MAX_TIME);
        event.timed = TRUE;
      }
    else if (flam_json_key_is (json, "dur"))
      event.duration = get_time (events, 0);
    else if (flam_json_key_is (json, "tdur"))
      event.thread_duration = get_time (events, 0);
    else if (flam_json_key_is (json, "pid"))
      read_id (events, &event.who.pid, &event.who.pid_name);
    else if (flam_json_key_is (json, "tid"))
      read_id (events, &event.who.tid, &event.who.tid_name);
    else if (flam_json_key_is (json, "id"))
      event.id = get_text (json);
    else if (flam_json_key_is (json, "cat"))
      event.category = get_text (json);
    else if (flam_json_key_is (json, "s"))
      event.of_all = first_char (json) == 'g';
    else if (flam_json_key_is (json, "args"))
      event.args = flam_json_take (json);
  if (json->token == FLAM_JSON_ERROR)
    return;
  if (event.duration < 0)
    event.duration = event.thread_duration;
  if (event.timed && event.phase != 'M')
    see (events, event.time);
  use_event (events, &event);
}

gboolean
flam_trace_events_read (FlamTraceEvents *events,
                        guint depth,
                        const FlamProgress *progress,
                        GError **error)
{
  FlamJson *json = &events->json;

  flam_json_report (json, progress);
  while (flam_json_element (json, depth))
    {
      events->arrived =
          json->at - 1 == events->until && json->token == FLAM_JSON_OBJECT;
      if (G_UNLIKELY (events->arrived))
        break;
      read_event (events);
    }
  flam_json_report (json, NULL);
  if (json->cancelled == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&json->cancelled));
  return FALSE;
}
