/* SPDX-License-Identifier: GPL-3.0-or-later */

/* CPU samples of the Dart VM, as its service answers getCpuSamples:
 *
 *    {"type":"CpuSamples", "samplePeriod":1000, "pid":4711,       µs
 *     "functions":[{"kind":"Dart", "resolvedUrl":"package:x/x.dart",
 *                   "function":{"name":"run",
 *                               "owner":{"type":"@Class","name":"App"}}}],
 *     "samples":[{"tid":4712, "timestamp":1000, "vmTag":"Dart",
 *                 "userTag":"Default", "stack":[0]}]}   leaf first
 *
 * alone, or as the "result" of an answer. A sample is a moment, and weighs the
 * period that ends there. Source: the Dart VM's service
 * protocol. */

#include "flam-formats.h"
#include "flam-json.h"

#include <string.h>

#define US 1000

typedef struct
{
  FlamBuilder *builder;
  FlamJson *json;
  GArray *frames;       /* FlamFrameId of each function; FLAM_NONE: not made */
  GArray *stack;        /* FlamId, leaf first */
  FlamJsonText samples; /* they may come before the functions */
  gint64 period;        /* ns */
  gint64 pid;
  guint64 bad, truncated;
} Reader;

/* --- functions ----------------------------------------------------------- */

/* "@Class" and "@Function" owners: "App.run", "main.<anonymous closure>". */
static void
read_owner (FlamJson *json, char **name)
{
  g_autofree char *own = NULL;
  gboolean shown = FALSE;

  flam_json_each (json)
    if (flam_json_key_is (json, "type"))
      shown = flam_json_string_is (json, "@Class") ||
              flam_json_string_is (json, "@Function");
    else if (flam_json_key_is (json, "name"))
      {
        g_free (own);
        own = g_strdup (flam_json_get_string (json, NULL));
      }
  if (shown && own != NULL && *own != '\0' && strcmp (own, "::") != 0)
    *name = g_steal_pointer (&own);
}

static void
read_code (Reader *reader, FlamFunction *function)
{
  FlamJson *json = reader->json;
  g_autofree char *name = NULL;
  g_autofree char *owner = NULL;
  g_autofree char *whole = NULL;

  flam_json_each (json)
    if (flam_json_key_is (json, "name"))
      {
        g_free (name);
        name = g_strdup (flam_json_get_string (json, NULL));
      }
    else if (flam_json_key_is (json, "owner"))
      {
        g_clear_pointer (&owner, g_free);
        read_owner (json, &owner);
      }
    else if (flam_json_key_is (json, "location"))
      {
        flam_json_each (json)
          if (flam_json_key_is (json, "line"))
            function->line = CLAMP (flam_json_get_int (json), 0, G_MAXINT32);
      }
  if (name == NULL || *name == '\0')
    return;
  whole = owner != NULL ? g_strconcat (owner, ".", name, NULL)
                        : g_steal_pointer (&name);
  function->name = flam_builder_string (reader->builder, whole, -1);
}

static FlamFunctionKind
kind_of (FlamJson *json)
{
  if (flam_json_string_is (json, "Dart"))
    return FLAM_KIND_JIT;
  return flam_json_string_is (json, "Tag") ? FLAM_KIND_ROOT : FLAM_KIND_NATIVE;
}

static void
read_functions (Reader *reader)
{
  FlamJson *json = reader->json;

  flam_json_each (json)
    {
      FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_JIT };
      FlamFrameId frame;

      flam_json_each (json)
        if (flam_json_key_is (json, "kind"))
          function.kind = kind_of (json);
        else if (flam_json_key_is (json, "resolvedUrl"))
          function.file = flam_json_intern (json, reader->builder);
        else if (flam_json_key_is (json, "function"))
          read_code (reader, &function);
      frame = flam_builder_frame_of (
          reader->builder, &function, 0, function.line, 0);
      g_array_append_val (reader->frames, frame);
    }
}

/* --- samples ------------------------------------------------------------- */

static void
read_stack (Reader *reader, FlamJson *json)
{
  g_array_set_size (reader->stack, 0);
  flam_json_each (json)
    {
      gint64 index = flam_json_get_int (json);

      if (json->token == FLAM_JSON_NUMBER && index >= 0 &&
          index < reader->frames->len)
        g_array_append_val (
            reader->stack,
            g_array_index (reader->frames, FlamFrameId, (guint)index));
      else
        reader->bad++;
    }
}

static gint32
get_id (gint64 id)
{
  return id >= 0 && id <= G_MAXINT32 ? (gint32)id : -1;
}

/* NULL instead of an empty text. */
static void
take_text (FlamJson *json, char **text)
{
  const char *value = flam_json_get_string (json, NULL);

  g_free (*text);
  *text = *value != '\0' ? g_strdup (value) : NULL;
}

static void
read_sample (Reader *reader, FlamJson *json)
{
  FlamSample sample = { 0 };
  FlamSampleLabel labels[2];
  g_autofree char *vm_tag = NULL;
  g_autofree char *user_tag = NULL;
  guint n = 0;
  gint64 tid = -1;

  g_array_set_size (reader->stack, 0);
  flam_json_each (json)
    if (flam_json_key_is (json, "tid"))
      tid = flam_json_get_int (json);
    else if (flam_json_key_is (json, "timestamp"))
      sample.time =
          flam_json_get_limited (json, reader->builder, US, 0, G_MAXINT64 >> 2);
    else if (flam_json_key_is (json, "truncated"))
      reader->truncated += json->token == FLAM_JSON_TRUE;
    else if (flam_json_key_is (json, "stack"))
      read_stack (reader, json);
    else if (flam_json_key_is (json, "vmTag"))
      take_text (json, &vm_tag);
    else if (flam_json_key_is (json, "userTag"))
      take_text (json, &user_tag);
  if (vm_tag != NULL)
    labels[n++] = (FlamSampleLabel){ "vmTag", vm_tag, 0, NULL };
  if (user_tag != NULL)
    labels[n++] = (FlamSampleLabel){ "userTag", user_tag, 0, NULL };
  sample.labels = flam_builder_add_labels (reader->builder, labels, n);
  sample.thread = flam_builder_thread (
      reader->builder,
      flam_builder_process (reader->builder, get_id (reader->pid), 0),
      get_id (tid),
      0);
  sample.stack = flam_load_stack (reader->builder, reader->stack);
  flam_builder_add_sample (reader->builder, &sample, &reader->period);
}

/* The members of the samples themselves, or of the answer around them. */
static void
read_members (Reader *reader, gboolean outer)
{
  FlamJson *json = reader->json;

  flam_json_each (json)
    if (flam_json_key_is (json, "samplePeriod"))
      reader->period =
          flam_json_get_limited (json, reader->builder, US, 0, G_MAXINT32);
    else if (flam_json_key_is (json, "pid"))
      reader->pid = flam_json_get_int (json);
    else if (flam_json_key_is (json, "functions"))
      read_functions (reader);
    else if (flam_json_key_is (json, "samples"))
      reader->samples = flam_json_take (json);
    else if (outer && flam_json_key_is (json, "result"))
      read_members (reader, FALSE);
}

static guint64
read_samples (Reader *reader)
{
  g_auto (FlamJson) json = { 0 };
  guint64 n = 0;

  if (reader->samples.length == 0)
    return 0;
  flam_json_open (&json, reader->samples.text, reader->samples.length);
  flam_json_each (&json)
    {
      read_sample (reader, &json);
      n++;
    }
  return n;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader reader = { .builder = load->builder,
                    .json = flam_json_load (load, NULL),
                    .frames = flam_arena_array (load, FlamFrameId),
                    .stack = flam_arena_array (load, FlamId),
                    .pid = -1 };

  read_members (&reader, TRUE);
  if (!flam_json_end (reader.json, load, reader.samples.length > 0, error))
    return FALSE;
  flam_builder_set_has_times (load->builder);
  if (reader.period > 0)
    flam_load_measures (load->builder, FLAM_STANDARD_CPU_TIME);
  else
    flam_builder_add_column (load->builder);
  flam_builder_add_standard_measure (
      load->builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  if (read_samples (&reader) == 0)
    return flam_source_invalid (
        load->source, error, N_ ("this file has no samples"));
  flam_builder_facts (load->builder)->truncated_stacks = reader.truncated;
  flam_builder_warn_count (
      load->builder,
      reader.bad,
      "%" PRIu64 " invalid number in the stacks was left out",
      "%" PRIu64 " invalid numbers in the stacks were left out");
  return TRUE;
}

const FlamImporter flam_import_dart = {
  .id = "dart",
  .label = "Dart CPU samples",
  .written_by = "getCpuSamples of the Dart VM's service",
  .suffixes = FLAM_LIST (".json"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (
      FLAM_MEMBERS (90, "type=CpuSamples", "functions", "samples"),
      FLAM_MEMBERS (90, "result.type=CpuSamples", "result.samples")),
  .load = load,
};
