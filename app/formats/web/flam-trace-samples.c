/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-trace-samples.h"

#include "flam-amount.h"

#include <string.h>

/* The limit of event names; samples of further ones are left out. */
/* Far from an overflow. */
#define MAX_TIME (G_MAXINT64 / 4)
#define MAX_EVENTS 256

typedef struct
{
  FlamStringId name;
  FlamId parent; /* the id's string, or 0 */
  FlamStackId stack;
  FlamStringId file;
  guint32 line;
  FlamFunctionKind kind;
  gboolean made;
} Frame;

void
flam_trace_samples_init (FlamTraceSamples *samples, FlamLoad *load)
{
  *samples = (FlamTraceSamples){
    .builder = load->builder,
    .frames = flam_arena_array (load, Frame),
    .by_id = flam_arena_table (load, FLAM_KEY_DIRECT, NULL),
    .threads = flam_arena_table (load, FLAM_KEY_DIRECT, NULL),
    .events = flam_arena_table (load, FLAM_KEY_DIRECT, NULL),
    .open = flam_arena_array (load, guint32),
    .n_events = 1,
  };
}

/* --- stacks -------------------------------------------------------------- */

/* Ids are numbers or texts. */
static FlamId
intern_id (FlamTraceSamples *samples, FlamJson *json)
{
  if (json->token == FLAM_JSON_NUMBER)
    return flam_builder_string (
        samples->builder, json->string.text, json->string.length);
  return flam_json_intern (json, samples->builder);
}

gint64
flam_trace_number (FlamJson *json, guint32 scale)
{
  const char *text, *p;
  gsize length;
  gint64 value = 0;
  gboolean negative;

  if (json->token != FLAM_JSON_STRING)
    return flam_json_get_scaled (json, scale);
  text = flam_json_get_string (json, &length);
  negative = *text == '-';
  p = text + negative;
  if (!flam_amount_number (&p, text + length, scale, &value))
    value = g_ascii_isdigit (*p) ? G_MAXINT64 : 0;
  return negative ? -value : value;
}

/* "work(/app/index.js:10:1)" as in Hermes' files, where the line is that of the
 * function. */
static void
cut_place (FlamTraceSamples *samples, Frame *frame)
{
  g_autofree char *name =
      g_strdup (flam_builder_get_string (samples->builder, frame->name));
  char *open = strchr (name, '(');
  char *close = strrchr (name, ')');

  if (open == NULL || open == name || close == NULL || close[1] != '\0')
    return;
  *close = '\0';
  for (guint i = 0; i < 2; i++)
    {
      char *colon = strrchr (open, ':');
      if (colon != NULL && g_ascii_isdigit (colon[1]))
        *colon = '\0';
    }
  frame->name = flam_builder_string (samples->builder, name, open - name);
  frame->file = flam_builder_string (samples->builder, open + 1, -1);
}

static void
read_frames (FlamTraceSamples *samples, FlamJsonText text)
{
  g_auto (FlamJson) json = { 0 };

  flam_json_open (&json, text.text, text.length);
  flam_json_each (&json)
    {
      Frame frame = { .stack = FLAM_NONE };
      gsize length;
      const char *key = flam_json_get_key (&json, &length);
      FlamId id = flam_builder_string (samples->builder, key, length);

      flam_json_each (&json)
        if (flam_json_key_is (&json, "name"))
          frame.name = intern_id (samples, &json);
        else if (flam_json_key_is (&json, "parent"))
          frame.parent = intern_id (samples, &json);
        else if (flam_json_key_is (&json, "line"))
          frame.line =
              (guint32)CLAMP (flam_trace_number (&json, 1), 0, G_MAXINT32);
        else if (flam_json_key_is (&json, "category") &&
                 flam_json_string_is (&json, "JavaScript"))
          frame.kind = FLAM_KIND_INTERPRETED;
      if (frame.kind == FLAM_KIND_INTERPRETED)
        cut_place (samples, &frame);
      g_array_append_val (samples->frames, frame);
      g_hash_table_insert (samples->by_id,
                           GUINT_TO_POINTER (id),
                           GUINT_TO_POINTER (samples->frames->len));
    }
}

static Frame *
find_frame (FlamTraceSamples *samples, FlamId id)
{
  guint index = GPOINTER_TO_UINT (
      g_hash_table_lookup (samples->by_id, GUINT_TO_POINTER (id)));

  return index > 0 ? &g_array_index (samples->frames, Frame, index - 1) : NULL;
}

static FlamFrameId
make_frame (FlamTraceSamples *samples, const Frame *frame)
{
  FlamFunction function = { .name = frame->name,
                            .file = frame->file,
                            .module = FLAM_NONE,
                            .kind = frame->kind };

  return flam_builder_frame_of (samples->builder, &function, 0, frame->line, 0);
}

/* Callers first: up to the nearest one that is made, then back down. A loop of
 * parents is cut where it would begin again. */
static FlamStackId
frame_stack (FlamTraceSamples *samples, FlamId id)
{
  FlamStackId stack = FLAM_NONE;
  Frame *frame;

  for (; (frame = find_frame (samples, id)) != NULL && !frame->made;
       id = frame->parent)
    {
      frame->made = TRUE;
      g_array_append_val (samples->open, id);
    }
  if (frame != NULL)
    stack = frame->stack;
  while (samples->open->len > 0)
    {
      id = g_array_index (samples->open, FlamId, samples->open->len - 1);
      frame = find_frame (samples, id);
      stack = flam_builder_stack (
          samples->builder, stack, make_frame (samples, frame));
      frame->stack = stack;
      g_array_set_size (samples->open, samples->open->len - 1);
    }
  return stack;
}

/* --- samples ------------------------------------------------------------- */

void
flam_trace_samples_see_thread (FlamTraceSamples *samples,
                               gint64 tid,
                               FlamThreadId thread)
{
  g_hash_table_insert (samples->threads,
                       GINT_TO_POINTER (CLAMP (tid, -1, G_MAXINT32)),
                       GUINT_TO_POINTER (thread + 1));
}

static FlamThreadId
find_thread (FlamTraceSamples *samples, gint64 tid)
{
  guint thread = GPOINTER_TO_UINT (g_hash_table_lookup (
      samples->threads, GINT_TO_POINTER (CLAMP (tid, -1, G_MAXINT32))));

  if (thread == 0)
    {
      thread =
          flam_builder_thread (samples->builder,
                               flam_builder_process (samples->builder, -1, 0),
                               CLAMP (tid, -1, G_MAXINT32),
                               0) +
          1;
      flam_trace_samples_see_thread (samples, tid, thread - 1);
    }
  return thread - 1;
}

/* 0: too many. */
static guint
find_event (FlamTraceSamples *samples, FlamStringId name)
{
  gpointer key = GUINT_TO_POINTER (name);
  guint event = GPOINTER_TO_UINT (g_hash_table_lookup (samples->events, key));
  g_autofree char *text = NULL;

  if (event > 0 || samples->n_events > MAX_EVENTS)
    return event;
  event = samples->n_events++;
  g_hash_table_insert (samples->events, key, GUINT_TO_POINTER (event));
  text = g_strdup (flam_builder_get_string (samples->builder, name));
  flam_builder_add_event_measure (
      samples->builder, text, FLAM_UNIT_COUNT, 0, event);
  return event;
}

static void
read_sample (FlamTraceSamples *samples, FlamJson *json)
{
  FlamSample sample = { .stack = FLAM_NONE };
  gint64 weight = 1, tid = -1;
  FlamStringId name = 0;
  FlamFrameId frame = 0;

  flam_json_each (json)
    if (flam_json_key_is (json, "tid"))
      tid = flam_trace_number (json, 1);
    else if (flam_json_key_is (json, "ts"))
      sample.time = flam_builder_limit (samples->builder,
                                        flam_trace_number (json, 1000),
                                        -MAX_TIME,
                                        MAX_TIME,
                                        json->string.text);
    else if (flam_json_key_is (json, "name"))
      name = intern_id (samples, json);
    else if (flam_json_key_is (json, "sf"))
      frame = intern_id (samples, json);
    else if (flam_json_key_is (json, "weight"))
      weight = flam_trace_number (json, 1);
  if (json->token == FLAM_JSON_ERROR)
    return;
  if (name == 0)
    name = flam_builder_string (samples->builder, "samples", -1);
  sample.event = find_event (samples, name);
  if (sample.event == 0 || weight < 0 ||
      (frame != 0 && find_frame (samples, frame) == NULL))
    {
      samples->bad++;
      return;
    }
  sample.thread = find_thread (samples, tid);
  sample.stack = frame_stack (samples, frame);
  flam_builder_add_sample (samples->builder, &sample, &weight);
}

void
flam_trace_samples_read (FlamTraceSamples *samples,
                         FlamJsonText frames,
                         FlamJsonText list)
{
  g_auto (FlamJson) json = { 0 };

  read_frames (samples, frames);
  flam_json_open (&json, list.text, list.length);
  flam_json_each (&json)
    if (json.token == FLAM_JSON_OBJECT)
      read_sample (samples, &json);
}
